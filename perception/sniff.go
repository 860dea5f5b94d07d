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

// maxMediaType is two names of 127 characters, the limit of RFC 6838, with the slash.
const maxMediaType = 255

var errMediaType = errors.New("is not a media type; give one such as image/png, or omit it to detect the type from the data")

// Sniff returns the media type of data. A declared type counts, in its canonical form, unless
// it is "" or application/octet-stream; it is not compared with the data. Otherwise the bytes
// decide. Unknown bytes are text/plain; charset=utf-8 if they are UTF-8, and otherwise
// application/octet-stream. Sniff fails only if declared is malformed.
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
	t := mime.FormatMediaType(base, params)
	// mime also accepts a single word (a content disposition) and a range (*/*).
	kind, sub, _ := strings.Cut(base, "/")
	if err != nil || kind == "" || sub == "" || strings.Contains(base, "*") || t == "" {
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
	case media.IsNPZ(data):
		return media.TypeNPZ
	case bytes.HasPrefix(data, []byte("fLaC")):
		// The library does not recognise a file with only a STREAMINFO block.
		return "audio/flac"
	case bytes.HasPrefix(data, []byte(media.MCAPMagic)):
		return media.TypeMCAP
	case pointcloud.IsPCD(data):
		return media.TypePCD
	case pointcloud.IsPLY(data):
		return media.TypePLY
	}

	t := mimetype.Detect(data).String()
	// The library looks at the first few kilobytes of text only.
	if t == "text/plain; charset=utf-8" && !utf8.Valid(data) {
		return media.TypeBytes
	}
	if t == "text/plain" {
		return "text/plain; charset=utf-8"
	}

	return t
}
