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
	Columns        json.RawMessage `json:"columns"`
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
	s, err := o.readings()
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
	if o.Columns != nil {
		s.adoptTime()
	}
	return s, nil
}

func (o traceObject) readings() (*series, error) {
	switch {
	case o.Samples != nil:
		return decodeMatrix(o.Samples)
	case o.Columns != nil:
		return decodeColumns(o.Columns)
	}
	return nil, errors.New("the JSON object has neither samples nor columns")
}

// decodeColumns reads {"Fx": [1, 2], "Fy": [3, 4]}, from JSON that is known to
// be valid, in the order of the text.
func decodeColumns(data []byte) (*series, error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	if open, err := dec.Token(); err != nil || open != json.Delim('{') {
		return nil, errors.New("the JSON columns are no object of lists")
	}
	s := &series{}
	var across []float64 // column by column
	rows := 0
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return nil, errNotJSON
		}
		name, _ := key.(string)
		var raw json.RawMessage
		if err := dec.Decode(&raw); err != nil {
			return nil, errNotJSON
		}
		column, err := decodeMatrix(raw)
		if err == nil && column.nested {
			err = errors.New("holds lists where numbers are due")
		}
		if err == nil && s.width > 0 && column.len() != rows {
			err = fmt.Errorf("has %d readings where the first has %d", column.len(), rows)
		}
		if err == nil && len(across)+column.len() > maxReadings {
			err = errTooLong
		}
		if err != nil {
			return nil, fmt.Errorf("column %q: %w", clean(name, maxNameRunes), err)
		}
		rows = column.len()
		s.channels, across, s.width = append(s.channels, name), append(across, column.values...), s.width+1
	}
	if s.width == 0 {
		return nil, errEmptyTrace
	}
	s.values = rowsOf(across, rows)
	return s, nil
}

// rowsOf turns columns of the given length, one after the other, into samples.
func rowsOf(across []float64, rows int) []float64 {
	width := len(across) / rows
	if width == 1 || rows == 1 {
		return across
	}
	values := make([]float64, len(across))
	for i, v := range across {
		values[i%rows*width+i/rows] = v
	}
	return values
}

// decodeMatrix reads [[1, 2], [3, 4]] or [1, 2, 3] from JSON that is known to be
// valid, so that all that is left to tell apart is the kind of each token. null
// is a missing reading. A decoder into [][]float64 would need twenty times the
// room of the text; this needs four.
func decodeMatrix(data []byte) (*series, error) {
	s := &series{values: make([]float64, 0, min(bytes.Count(data, []byte(","))+1, len(data)/2+1, maxReadings))}
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
			if len(s.values) == maxReadings {
				return nil, errTooLong
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
	s.nested = s.width > 0
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
