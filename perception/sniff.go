package perception

import (
	"bytes"
	"errors"
	"fmt"
	"mime"
	"strings"
	"unicode/utf8"

	"github.com/gabriel-vasile/mimetype"

	"github.com/robotmem/robotmem-go/perception/media"
	"github.com/robotmem/robotmem-go/perception/pointcloud"
)

// maxMediaType is twice the 127 characters that RFC 6838 allows a name, with
// the slash; no type in use comes near.
const maxMediaType = 255

var errMediaType = errors.New("is no media type; give one such as image/png, or leave it out and the data decides")

// Sniff returns the media type of data: declared, in its canonical spelling, if
// it is a media type and not application/octet-stream, which says nothing; else
// what the bytes show. Bytes that show nothing are text/plain; charset=utf-8 if
// they are UTF-8 and application/octet-stream otherwise.
//
// The error says that declared is malformed. A declared type is believed, not
// checked against the data.
func Sniff(data []byte, declared string) (string, error) {
	if strings.TrimSpace(declared) == "" {
		return sniff(data), nil
	}
	t, err := canonicalType(declared)
	if err != nil {
		return "", err
	}
	if t == media.TypeBytes || strings.HasPrefix(t, media.TypeBytes+";") {
		return sniff(data), nil
	}
	return t, nil
}

func canonicalType(declared string) (string, error) {
	if len(declared) > maxMediaType {
		return "", fmt.Errorf("of %d bytes %w", len(declared), errMediaType)
	}
	base, params, err := mime.ParseMediaType(declared)
	// mime also takes a lone word (a content disposition) and a range (*/*).
	kind, sub, ok := strings.Cut(base, "/")
	if err != nil || !ok || kind == "" || sub == "" || strings.Contains(base, "*") {
		return "", fmt.Errorf("%q %w", declared, errMediaType)
	}
	t := mime.FormatMediaType(base, params)
	if t == "" {
		return "", fmt.Errorf("%q %w", declared, errMediaType)
	}
	return t, nil
}

func sniff(data []byte) string {
	switch {
	case len(data) == 0:
		return media.TypeBytes
	case bytes.HasPrefix(data, []byte(media.NPYMagic)):
		return media.TypeNPY
	case bytes.HasPrefix(data, []byte("fLaC")):
		// The library misses a file whose only metadata is the stream's own.
		return "audio/flac"
	case bytes.HasPrefix(data, []byte(media.MCAPMagic)):
		return media.TypeMCAP
	case pointcloud.IsPCD(data):
		return media.TypePCD
	case pointcloud.IsPLY(data):
		return media.TypePLY
	}
	t := mimetype.Detect(data).String()
	// The library judges text by the first few kilobytes alone.
	if t == "text/plain; charset=utf-8" && !utf8.Valid(data) {
		return media.TypeBytes
	}
	if t == "text/plain" {
		return "text/plain; charset=utf-8"
	}
	return t
}
