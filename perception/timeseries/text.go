package timeseries

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/robotmem/robotmem-go/perception/media"
)

// ReadTable reads a table of numbers without giving a meaning to its columns: the names of the
// channels are the header. Blank lines and comments (#) are skipped. Quotes around a field are removed;
// they do not protect a separator. The first line is the header if any of its fields is not a number.
func ReadTable(data []byte) (*Series, error) {
	s, t, line := &Series{}, table{}, 0
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	for text := range bytes.Lines(data) {
		line++
		text = bytes.TrimSpace(text)
		if len(text) == 0 || text[0] == '#' {
			continue
		}
		if t.separator == 0 {
			t.separator = separatorOf(text)
			// A number and its separator take at least two bytes, so the readings take at
			// most four times the memory of the text.
			room := bytes.Count(data, []byte("\n")) + bytes.Count(data, []byte{t.separator}) + 1
			s.Values = make([]float64, 0, min(room, len(data)/2+1, maxReadings))
		}
		if err := s.addRow(t.split(text)); err != nil {
			return nil, fmt.Errorf("line %d: %w", line, err)
		}
	}
	if len(s.Values) == 0 {
		return nil, errEmpty
	}
	return s, nil
}

// table is how the lines of a table are read.
type table struct {
	separator byte // ' ' is any run of spaces
	fields    [][]byte
}

// separatorOf finds the separator in the first line. A tab or a semicolon wins over a comma.
func separatorOf(line []byte) byte {
	for _, separator := range []byte("\t;,") {
		if bytes.IndexByte(line, separator) >= 0 {
			return separator
		}
	}
	return ' '
}

// split returns the fields of a line without the quotes around them.
func (t *table) split(line []byte) [][]byte {
	t.fields = t.fields[:0]
	if t.separator == ' ' {
		t.fields = slices.AppendSeq(t.fields, bytes.FieldsSeq(line))
	} else {
		t.fields = slices.AppendSeq(t.fields, bytes.SplitSeq(line, []byte{t.separator}))
	}
	for i, field := range t.fields {
		t.fields[i] = bytes.Trim(bytes.TrimSpace(field), `"`)
	}
	return t.fields
}

// addRow adds a sample. If a field of the first row is not a number, they name the channels.
func (s *Series) addRow(fields [][]byte) error {
	before, isFirst := len(s.Values), s.Width == 0
	if isFirst {
		s.Width = len(fields)
	}
	if len(fields) != s.Width {
		return fmt.Errorf("has %d fields where the lines above have %d", len(fields), s.Width)
	}
	if before+len(fields) > maxReadings {
		return errTooLong
	}
	for i, field := range fields {
		v, ok := parseReading(field)
		if !ok && isFirst {
			s.Values, s.Channels = s.Values[:0], make([]string, len(fields))
			for c, name := range fields {
				s.Channels[c] = string(name)
			}
			return nil
		}
		if !ok {
			return fmt.Errorf("field %d is not a number: %q", i+1, media.Clean(string(field), media.MaxName))
		}
		s.Values = append(s.Values, v)
	}
	return nil
}

// parseReading returns NaN for an empty field, which is a missing reading.
func parseReading(field []byte) (float64, bool) {
	if len(field) == 0 {
		return math.NaN(), true
	}
	v, err := strconv.ParseFloat(string(field), 64)
	return v, err == nil
}

// nameChannels takes the names and units of the channels from the header. The first channel that is a
// time is removed and gives the rate.
func (s *Series) nameChannels() {
	if s.Channels == nil {
		return
	}
	units := make([]string, s.Width)
	for c, name := range s.Channels {
		s.Channels[c], units[c] = SplitUnit(name)
	}
	s.setUnits(units)
	for c := range s.Channels {
		if seconds, ok := s.timeScale(c); ok && s.Width > 1 {
			s.takeTime(c, seconds)
			return
		}
	}
}

// SplitUnit splits "Fx (N)" and "Fx [N]" into the name and its unit.
func SplitUnit(name string) (string, string) {
	for _, pair := range []string{"()", "[]"} {
		open := strings.LastIndexByte(name, pair[0])
		if open > 0 && name[len(name)-1] == pair[1] {
			return strings.TrimSpace(name[:open]), strings.TrimSpace(name[open+1 : len(name)-1])
		}
	}
	return name, ""
}

// maxPlainSeconds is the largest time without a unit that is in seconds. Larger
// ones are milliseconds, or smaller units, since 1970.
const maxPlainSeconds = 1e11

// TimeUnits are the seconds in each unit of time.
var TimeUnits = map[string]float64{
	"s": 1, "sec": 1, "secs": 1, "second": 1, "seconds": 1,
	"ms": 1e-3, "msec": 1e-3, "us": 1e-6, "µs": 1e-6, "usec": 1e-6, "ns": 1e-9, "nsec": 1e-9,
}

// timeScale reports whether a channel is a time, and returns the seconds in its
// unit; 0 if the unit is not known.
func (s *Series) timeScale(c int) (float64, bool) {
	name, unit, _ := strings.Cut(strings.ToLower(s.Channels[c]), "_")
	if !slices.Contains([]string{"t", "time", "timestamp", "stamp"}, name) {
		return 0, false
	}
	// T may also be a temperature. A time never falls.
	for i := range s.Len() {
		if v := s.at(i, c); !media.Finite(v) || i > 0 && v < s.at(i-1, c) {
			return 0, false
		}
	}
	if c < len(s.Units) && s.Units[c] != "" {
		unit = strings.ToLower(s.Units[c])
	}
	if unit == "" && math.Abs(s.at(s.Len()-1, c)) >= maxPlainSeconds {
		return 0, true
	}
	// Any other word makes it another quantity, such as t_motor.
	seconds, ok := TimeUnits[cmp.Or(unit, "s")]
	return seconds, ok
}

// takeTime makes times of a channel, with the rate if time passes and its unit is known.
func (s *Series) takeTime(c int, seconds float64) {
	defer s.dropChannel(c)
	n, start := s.Len(), s.at(0, c)
	span := (s.at(n-1, c) - start) * seconds
	if !(span > 0) || math.IsInf(span, 1) {
		return
	}
	s.SetRate(float64(n-1) / span)
	s.Stamps = make([]float64, n)
	for i := range s.Stamps {
		s.Stamps[i] = (s.at(i, c) - start) * seconds
	}
}

func (s *Series) dropChannel(c int) {
	out := s.Values[:0]
	for i := range s.Len() {
		row := s.Row(i)
		out = append(append(out, row[:c]...), row[c+1:]...)
	}
	s.Values, s.Width, s.Channels = out, s.Width-1, slices.Delete(s.Channels, c, c+1)
	if units := s.Units; units != nil {
		s.Units = nil
		s.setUnits(slices.Delete(units, c, c+1))
	}
}
