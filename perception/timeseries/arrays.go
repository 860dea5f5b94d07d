package timeseries

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"

	"github.com/robotmem/robotmem-go/perception/internal/npy"
	"github.com/robotmem/robotmem-go/perception/media"
)

// maxJSONHeader bounds what is decoded beside the samples: names, units, rates.
const maxJSONHeader = 64 << 10

var errNotJSON = errors.New("the data is not valid JSON")

// readJSON decodes nothing before its size is known, since a decoded value can take
// many times the memory of its text.
func readJSON(data []byte) (*Series, error) {
	data = bytes.TrimSpace(data)
	if !json.Valid(data) {
		return nil, errNotJSON
	}
	if data[0] != '{' {
		return ParseMatrix(data)
	}

	var object map[string]json.RawMessage
	if err := json.Unmarshal(data, &object); err != nil {
		return nil, fmt.Errorf("the JSON object is not a trace: %w", err)
	}
	if object["samples"] == nil {
		return nil, errors.New("the JSON object has no samples")
	}

	s, err := ParseMatrix(object["samples"])
	if err != nil {
		return nil, err
	}

	// The header is read after the samples, since it only counts if it fits their width.
	own := media.Metadata{}

	for _, key := range []string{"kind", "channels", "units", "rate_hz", "sample_interval_s", "duration_s"} {
		raw := object[key]

		var v any
		if len(raw) > 0 && len(raw) <= maxJSONHeader && json.Unmarshal(raw, &v) == nil {
			own[key] = v
		}
	}

	s.describe(own)

	return s, nil
}

var errMixed = errors.New("the JSON is neither a list of numbers nor a list of lists of numbers")

// ParseMatrix reads [[1, 2], [3, 4]] or [1, 2, 3] from valid JSON, so that only the
// kinds of the tokens must be checked. null is a missing reading. A decoder into
// [][]float64 would take twenty times the memory of the text; this takes four times.
func ParseMatrix(data []byte) (*Series, error) {
	s := &Series{Values: make([]float64, 0, min(bytes.Count(data, []byte(","))+1, len(data)/2+1, maxReadings))}
	depth, row := 0, 0

	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == ',':
		case c == '[':
			depth++
			row = len(s.Values)
			if depth > 2 {
				return nil, errors.New("the JSON lists are nested deeper than samples and channels")
			}
			if depth == 2 && s.Width == 0 && len(s.Values) > 0 {
				return nil, errMixed
			}
		case c == ']':
			if depth == 2 {
				n := len(s.Values) - row
				if n == 0 {
					return nil, errors.New("a sample has no readings")
				}
				if s.Width != 0 && n != s.Width {
					return nil, fmt.Errorf("a sample has %d readings where the first has %d", n, s.Width)
				}
				s.Width = n
			}
			depth--
		case c == '-' || c == 'n' || '0' <= c && c <= '9':
			// A number between rows: [[1, 2], 3].
			if depth == 0 || depth == 1 && s.Width != 0 {
				return nil, errMixed
			}

			end := i + 1
			for end < len(data) && data[end] > ' ' && data[end] != ',' && data[end] != ']' {
				end++
			}
			v := math.NaN()
			if c != 'n' {
				var err error
				if v, err = strconv.ParseFloat(string(data[i:end]), 64); err != nil {
					return nil, errors.New("a number is too large for a reading")
				}
			}
			if len(s.Values) == maxReadings {
				return nil, errTooLong
			}
			s.Values = append(s.Values, v)
			i = end - 1
		default:
			return nil, errors.New("the JSON holds more than lists of numbers")
		}
	}

	if len(s.Values) == 0 {
		return nil, errEmpty
	}

	s.Width = max(s.Width, 1)

	return s, nil
}

func readNPY(data []byte) (*Series, error) {
	h, err := npy.Parse(data)
	if err != nil {
		return nil, err
	}

	e, ok := npy.Lookup(h.Descr)
	if !ok {
		return nil, fmt.Errorf("the .npy element type %s is not read as a trace; use %s", h.Descr, npy.Names)
	}

	if len(h.Shape) != 1 && len(h.Shape) != 2 {
		hint := ""
		if len(h.Shape) == 3 {
			hint = "; rows, columns and colours of a picture need metadata kind image"
		}
		return nil, fmt.Errorf("the .npy array has %d dimensions; a trace has one or two%s", len(h.Shape), hint)
	}

	rows, width := h.Shape[0], append(h.Shape, 1)[1]
	switch count := int64(rows) * int64(width); { // both are below 2^31
	case count == 0:
		return nil, errEmpty
	case count > int64(len(h.Rest)/e.Size):
		return nil, fmt.Errorf("the .npy array needs %d elements of %d bytes; the file has %d bytes of them", count,
			e.Size, len(h.Rest))
	case count > maxReadings:
		return nil, errTooLong
	}

	return &Series{Width: width, Values: e.Floats(h.Rest, rows*width)}, nil
}

// Raw samples are the elements of an array without a header, sample after sample,
// as a recorder can append them. The metadata says what they are:
//
//	{"dtype": "<f4", "shape": [1000, 6], "rate_hz": 1000, "channels": ["Fx", ...]}

// isRaw reports whether metadata makes an array of bytes that say nothing.
func isRaw(in media.Payload) bool {
	if in.Type != media.TypeSamples && in.Type != media.TypeBytes {
		return false
	}
	return in.Metadata["dtype"] != nil || in.Metadata["shape"] != nil
}

func readRaw(in media.Payload) (*Series, error) {
	descr := "<f4"
	if in.Metadata["dtype"] != nil {
		descr = in.Metadata.Text("dtype")
	}

	e, ok := npy.Lookup(descr)
	if !ok {
		return nil, fmt.Errorf("metadata dtype %q is not read; use %s", media.Clean(descr, media.MaxName), npy.Names)
	}
	if len(in.Data)%e.Size != 0 {
		return nil, fmt.Errorf("%d bytes are not a whole number of %s elements, which take %d each", len(in.Data),
			descr, e.Size)
	}

	count, width := len(in.Data)/e.Size, 1
	// Without a shape the names are the only sign of how many readings make a sample.
	if names, ok := media.Texts(in.Metadata["channels"]); ok && len(names) > 0 {
		width = len(names)
	}

	switch {
	case count == 0:
		return nil, errEmpty
	case count > maxReadings:
		return nil, errTooLong
	}

	if given := in.Metadata["shape"]; given != nil {
		rows, columns, err := rawShape(given)
		if err != nil {
			return nil, err
		}
		// Neither factor is above maxReadings, so the product does not overflow.
		if rows*columns != int64(count) {
			return nil, fmt.Errorf("shape [%d, %d] of %s needs %d bytes; the data has %d", rows, columns, descr,
				rows*columns*int64(e.Size), len(in.Data))
		}
		width = int(columns)
	}

	if count%width != 0 {
		return nil, fmt.Errorf("%d readings are not a whole number of samples of %d channels", count, width)
	}

	return &Series{Width: width, Values: e.Floats(in.Data, count)}, nil
}

// rawShape reads [samples, channels], or [samples] of one channel.
func rawShape(given any) (rows, columns int64, err error) {
	list, _ := given.([]any)
	// A caller in Go gives []int, JSON gives []any.
	if whole, ok := given.([]int); ok {
		for _, n := range whole {
			list = append(list, n)
		}
	}

	dims := [2]int64{1: 1}

	ok := len(list) == 1 || len(list) == 2
	for i := 0; ok && i < len(list); i++ {
		dims[i], ok = media.Integer(list[i], maxReadings)
		ok = ok && dims[i] > 0
	}

	if !ok {
		return 0, 0, fmt.Errorf("metadata shape must be [samples, channels], whole numbers of 1 to %d", maxReadings)
	}

	return dims[0], dims[1], nil
}
