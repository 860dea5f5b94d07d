// Package media holds what all formats of perceptions share: the payload with its
// metadata, the words and figures of a summary, and the forms in which numbers and
// pictures are returned. It is the lowest package of the tree; the packages of the
// formats import it, and package perception imports these.
package media

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"mime"
	"slices"
	"strings"

	"golang.org/x/text/encoding/unicode"
)

// The media types that this tree gives to formats that have no registered one, and
// the one that says nothing.
const (
	TypeMCAP        = "application/vnd.mcap"
	TypeNPY         = "application/x-npy"
	TypeNPZ         = "application/x-npz"
	TypePCD         = "application/x-pcd"
	TypePLY         = "application/x-ply"
	TypePointCloud2 = "application/x-pointcloud2" // data of a ROS sensor_msgs/PointCloud2
	TypeSamples     = "application/x-samples"     // an array of numbers without a header
	TypePixels      = "image/x-raw"               // pixels without a header
	TypeBytes       = "application/octet-stream"
)

// The first bytes of formats that more than one package recognises.
const (
	NPYMagic  = "\x93NUMPY"
	MCAPMagic = "\x89MCAP0\r\n"
)

// Payload is the bytes of a perception with what the caller knows of them.
type Payload struct {
	Type     string // media type in lower case, without parameters
	Data     []byte // the payload, or its first bytes
	Size     int64  // bytes of the whole payload; 0 means len(Data)
	Metadata Metadata
}

// New returns a payload whose media type has lost its parameters.
func New(mediaType string, data []byte, size int64, metadata map[string]any) Payload {
	base, _, err := mime.ParseMediaType(mediaType)
	if err != nil {
		base, _, _ = strings.Cut(mediaType, ";")
	}
	return Payload{strings.ToLower(strings.TrimSpace(base)), data, size, metadata}
}

// IsHead reports whether Data holds only the first bytes of the payload.
func (p Payload) IsHead() bool { return p.Size > int64(len(p.Data)) }

// Whole returns an error if Data holds only the first bytes of the payload.
func (p Payload) Whole() error {
	if p.IsHead() {
		return fmt.Errorf("only the first %d of %d bytes of the payload are here", len(p.Data), p.Size)
	}
	return nil
}

// Encoding says which reader fits a payload of text or numbers.
type Encoding int

// The encodings.
const (
	Opaque   Encoding = iota // none of the others
	Table                    // CSV and TSV
	FreeText                 // any other text
	JSON
	NPY
	NPZ
)

// IsNPZ reports whether data begins as a .npz file: a zip whose first entry is a .npy file.
func IsNPZ(data []byte) bool {
	// The length of the header of a file in a zip, up to the name of the file.
	const header = 30
	if !bytes.HasPrefix(data, []byte("PK\x03\x04")) || len(data) < header {
		return false
	}
	name := data[header:][:min(int(binary.LittleEndian.Uint16(data[26:])), len(data)-header)]
	return bytes.HasSuffix(name, []byte(".npy"))
}

// Encoding decides by the bytes if they prove a format, and otherwise by the
// media type, of which several may stand for one format.
func (p Payload) Encoding() Encoding {
	switch t := p.Type; {
	case bytes.HasPrefix(p.Data, []byte(NPYMagic)):
		return NPY
	case IsNPZ(p.Data):
		return NPZ
	case t == "text/csv" || t == "text/tab-separated-values":
		return Table
	case t == "application/json" || t == "text/json" || strings.HasSuffix(t, "+json"):
		return JSON
	case strings.HasPrefix(t, "text/"):
		return FreeText
	}

	return Opaque
}

// WholeText returns text without a byte order mark. UTF-16 is decoded if all of the text is here.
func (p Payload) WholeText() []byte {
	if p.IsHead() || !bytes.HasPrefix(p.Data, []byte("\xff\xfe")) && !bytes.HasPrefix(p.Data, []byte("\xfe\xff")) {
		return bytes.TrimPrefix(p.Data, []byte("\ufeff"))
	}
	text, err := unicode.UTF16(unicode.LittleEndian, unicode.ExpectBOM).NewDecoder().Bytes(p.Data)
	if err != nil {
		return p.Data
	}

	return text
}

// WholeLines returns text without a byte order mark and, of the first bytes of a
// payload, without the last line, which may be cut.
func (p Payload) WholeLines() []byte {
	data := p.WholeText()
	if p.IsHead() {
		data = data[:bytes.LastIndexByte(data, '\n')+1]
	}
	return data
}

// Metadata is the caller's JSON object. Numbers are json.Number, float64 or int.
type Metadata map[string]any

// Text returns the string at a key, "" if there is none.
func (m Metadata) Text(key string) string {
	s, _ := m[key].(string)
	return s
}

// IsKind reports whether the key kind holds this word, in any case.
func (m Metadata) IsKind(kind string) bool { return strings.EqualFold(m.Text("kind"), kind) }

// Unit returns the key units if it is a string, cleaned for a summary, and otherwise the default.
func (m Metadata) Unit(otherwise string) string {
	return cmp.Or(Clean(m.Text("units"), MaxName), otherwise)
}

// Order is big-endian if is_bigendian is true or a number other than 0.
func (m Metadata) Order() binary.ByteOrder {
	if n, _ := Number(m["is_bigendian"]); n != 0 || m["is_bigendian"] == true {
		return binary.BigEndian
	}
	return binary.LittleEndian
}

// Number returns a JSON number, however the caller decoded it.
func Number(v any) (float64, bool) {
	switch v := v.(type) {
	case json.Number:
		f, err := v.Float64()
		return f, err == nil
	case float64:
		return v, true
	case int:
		return float64(v), true
	case int64:
		return float64(v), true
	}

	return 0, false
}

// Integer returns a whole number from 0 to limit.
func Integer(v any, limit int64) (int64, bool) {
	f, ok := Number(v)
	if !ok || !(f >= 0 && f <= float64(limit)) || f != math.Trunc(f) {
		return 0, false
	}
	return int64(f), true
}

// Texts returns a list of strings.
func Texts(v any) ([]string, bool) {
	switch v := v.(type) {
	case []string:
		return slices.Clone(v), true
	case []any:
		out := make([]string, len(v))
		for i, e := range v {
			s, ok := e.(string)
			if !ok {
				return nil, false
			}
			out[i] = s
		}

		return out, true
	}

	return nil, false
}
