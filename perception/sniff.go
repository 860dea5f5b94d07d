package perception

import (
	"bytes"
	"errors"
	"fmt"
	"mime"
	"strings"
	"unicode/utf8"

	"github.com/gabriel-vasile/mimetype"
)

// The media types that are found here, not by the mimetype library. MCAP's and
// FLAC's are registered; the others have none, so theirs are marked by the x-.
const (
	typeMCAP  = "application/vnd.mcap"
	typeFLAC  = "audio/flac"
	typeNPY   = "application/x-npy"
	typePCD   = "application/x-pcd"
	typePLY   = "application/x-ply"
	typeBytes = "application/octet-stream"
)

const (
	npyMagic  = "\x93NUMPY"
	mcapMagic = "\x89MCAP0\r\n"
	flacMagic = "fLaC"
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
	if t == typeBytes || strings.HasPrefix(t, typeBytes+";") {
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
		return typeBytes
	case bytes.HasPrefix(data, []byte(npyMagic)):
		return typeNPY
	case bytes.HasPrefix(data, []byte(flacMagic)):
		// The library misses a file whose only metadata is the stream's own.
		return typeFLAC
	case bytes.HasPrefix(data, []byte(mcapMagic)):
		return typeMCAP
	case isPCD(data):
		return typePCD
	case isPLY(data):
		return typePLY
	}
	t := mimetype.Detect(data).String()
	// The library judges text by the first few kilobytes alone.
	if t == "text/plain; charset=utf-8" && !utf8.Valid(data) {
		return typeBytes
	}
	if t == "text/plain" {
		return "text/plain; charset=utf-8"
	}
	return t
}

// isPCD looks at the first line that is no comment: files of the Point Cloud
// Library begin with the comment "# .PCD", but need not.
func isPCD(data []byte) bool {
	head := data[:min(len(data), maxCloudHeader)]
	for line := range bytes.Lines(head) {
		line = bytes.TrimSpace(line)
		if len(line) == 0 || line[0] == '#' {
			continue
		}
		return bytes.HasPrefix(line, []byte("VERSION ")) &&
			(bytes.Contains(head, []byte("\nFIELDS ")) || bytes.Contains(head, []byte("\nCOLUMNS ")))
	}
	return false
}

func isPLY(data []byte) bool {
	first, rest, ok := bytes.Cut(data[:min(len(data), maxCloudHeader)], []byte("\n"))
	return ok && string(bytes.TrimRight(first, "\r")) == "ply" && bytes.Contains(rest, []byte("format "))
}
