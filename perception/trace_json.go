package perception

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
)

// maxJSONHeader bounds what is decoded beside the samples: names, units, rates.
const maxJSONHeader = 64 << 10

var errNotJSON = errors.New("the data is no valid JSON")

// traceObject is the JSON object form. Nothing in it is decoded before its size
// is known, since a decoded value can take many times the room of its text.
type traceObject struct {
	Kind           json.RawMessage `json:"kind"`
	Channels       json.RawMessage `json:"channels"`
	Units          json.RawMessage `json:"units"`
	RateHz         json.RawMessage `json:"rate_hz"`
	SampleInterval json.RawMessage `json:"sample_interval_s"`
	Duration       json.RawMessage `json:"duration_s"`
	Samples        json.RawMessage `json:"samples"`
}

func decodeJSON(data []byte) (*series, error) {
	data = bytes.TrimSpace(data)
	if !json.Valid(data) {
		return nil, errNotJSON
	}
	if data[0] != '{' {
		return decodeMatrix(data)
	}
	var o traceObject
	if err := json.Unmarshal(data, &o); err != nil {
		return nil, fmt.Errorf("the JSON object is no trace: %w", err)
	}
	if o.Samples == nil {
		return nil, errors.New("the JSON object has no samples")
	}
	s, err := decodeMatrix(o.Samples)
	if err != nil {
		return nil, err
	}
	own := map[string]any{}
	for key, raw := range map[string]json.RawMessage{
		"kind": o.Kind, "channels": o.Channels, "units": o.Units,
		"rate_hz": o.RateHz, "sample_interval_s": o.SampleInterval, "duration_s": o.Duration,
	} {
		var v any
		if len(raw) == 0 || len(raw) > maxJSONHeader || json.Unmarshal(raw, &v) != nil {
			continue
		}
		own[key] = v
	}
	s.describe(own)
	return s, nil
}

// decodeMatrix reads [[1, 2], [3, 4]] or [1, 2, 3] from JSON that is known to be
// valid, so that all that is left to tell apart is the kind of each token. null
// is a missing reading. A decoder into [][]float64 would need twenty times the
// room of the text; this needs four.
func decodeMatrix(data []byte) (*series, error) {
	s := &series{values: make([]float64, 0, min(bytes.Count(data, []byte(","))+1, len(data)/2+1))}
	depth, row := 0, 0
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == ',':
		case c == '[':
			depth++
			row = len(s.values)
			if depth > 2 {
				return nil, errors.New("the JSON lists are nested deeper than samples and channels")
			}
			if depth == 2 && s.width == 0 && len(s.values) > 0 {
				return nil, errMixed
			}
		case c == ']':
			if depth == 2 {
				n := len(s.values) - row
				if n == 0 {
					return nil, errors.New("a sample has no readings")
				}
				if s.width != 0 && n != s.width {
					return nil, fmt.Errorf("a sample has %d readings where the first has %d", n, s.width)
				}
				s.width = n
			}
			depth--
		case c == '-' || c == 'n' || '0' <= c && c <= '9':
			if depth == 0 || depth == 1 && s.width != 0 {
				return nil, errMixed
			}
			end := i + 1
			for end < len(data) && data[end] > ' ' && data[end] != ',' && data[end] != ']' {
				end++
			}
			v, err := jsonReading(data[i:end])
			if err != nil {
				return nil, err
			}
			s.values = append(s.values, v)
			i = end - 1
		default:
			return nil, errors.New("the JSON holds more than lists of numbers")
		}
	}
	if len(s.values) == 0 {
		return nil, errEmptyTrace
	}
	s.width = max(s.width, 1)
	return s, nil
}

var errMixed = errors.New("the JSON is no list of numbers, nor one of lists of numbers")

func jsonReading(text []byte) (float64, error) {
	if text[0] == 'n' {
		return math.NaN(), nil
	}
	v, err := strconv.ParseFloat(string(text), 64)
	if err != nil {
		return 0, errors.New("a number is too large for a reading")
	}
	return v, nil
}
