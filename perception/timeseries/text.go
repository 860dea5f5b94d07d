package timeseries

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/robotmem/robotmem-go/perception/media"
)

// ReadTable reads a table of numbers without giving a meaning to its columns: the names of the
// channels are the header. Blank lines and comments (#) are skipped. Quotes around a field are removed;
// they do not protect a separator. The first line is the header if any of its fields is not a number,
// and so is a comment before it that has as many fields, as ASL and EuRoC datasets have it. A few rows
// that do not fit, such as a short one or the header again, are left out and counted.
func ReadTable(data []byte) (*Series, error) {
	s, t, line := &Series{}, table{}, 0
	// Excel begins UTF-8 texts with a byte order mark, which would become part of the first name.
	data = bytes.TrimPrefix(data, []byte("\ufeff"))

	// The first row that does not fit.
	var unfit error

	for text := range textLines(data) {
		line++
		text = bytes.TrimSpace(text)
		if len(text) == 0 {
			continue
		}
		if text[0] == '#' {
			if t.separator == 0 {
				t.comment = text
			}
			continue
		}
		if t.separator == 0 {
			t.separator = separatorOf(text)
			// A number and its separator take at least two bytes, so the readings take at
			// most four times the memory of the text.
			room := bytes.Count(data, []byte("\n")) + bytes.Count(data, []byte{t.separator}) + 1
			s.Values = make([]float64, 0, min(room, len(data)/2+1, maxReadings))
		}
		err := s.addRow(&t, t.split(text))
		if errors.Is(err, errTooLong) {
			return nil, fmt.Errorf("line %d: %w", line, err)
		}
		if err != nil {
			s.Skipped++
			unfit = cmp.Or(unfit, fmt.Errorf("line %d: %w", line, err))
		}
	}

	// Where many rows do not fit, the text is no table.
	if unfit != nil && s.Skipped*minRowsPerSkipped > s.rows() {
		return nil, unfit
	}
	if len(s.Values) == 0 {
		return nil, errEmpty
	}

	return s, nil
}

// minRowsPerSkipped is the least number of rows for each row that does not fit.
const minRowsPerSkipped = 10

// rows is Len of a table that may be empty.
func (s *Series) rows() int { return len(s.Values) / max(s.Width, 1) }

// textLines returns the lines of a text, which end in a line feed, in both characters, or, if there
// is no line feed at all, in a carriage return.
func textLines(data []byte) iter.Seq[[]byte] {
	if bytes.IndexByte(data, '\n') < 0 && bytes.IndexByte(data, '\r') >= 0 {
		return bytes.SplitSeq(data, []byte("\r"))
	}
	return bytes.Lines(data)
}

// table has the rules by which the lines of a table are read.
type table struct {
	separator byte   // ' ' is any run of spaces
	comment   []byte // the last one before the first row
	fields    [][]byte
	first     time.Time // the first stamp; later ones are seconds since it
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
func (s *Series) addRow(t *table, fields [][]byte) error {
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
		v, ok := t.reading(field)
		if !ok {
			v, ok = s.stamp1970(t, i, field)
		}
		if !ok && isFirst {
			s.Values, s.Channels = s.Values[:0], texts(fields)
			return nil
		}
		if !ok {
			// Remove the readings of the row that were added before the wrong field, or all later samples would be
			// shifted.
			s.Values = s.Values[:before]
			return fmt.Errorf("field %d is not a number: %q", i+1, media.Clean(string(field), media.MaxName))
		}
		s.Values = append(s.Values, v)
	}

	if isFirst {
		s.nameByComment(t)
	}

	return nil
}

func texts(fields [][]byte) []string {
	out := make([]string, len(fields))
	for i, field := range fields {
		out[i] = string(field)
	}
	return out
}

// nameByComment takes the names of the channels from a comment before the first row, such as
// "#timestamp [ns],w_RS_S_x [rad s^-1]". Words between spaces are names only after the time.
func (s *Series) nameByComment(t *table) {
	comment := bytes.TrimSpace(bytes.TrimLeft(t.comment, "#"))
	if len(comment) == 0 {
		return
	}
	names := texts((&table{separator: t.separator}).split(comment))
	if len(names) != s.Width || t.separator == ' ' && !slices.Contains(timeNames, strings.ToLower(names[0])) {
		return
	}

	for _, name := range names {
		if _, ok := t.reading([]byte(name)); ok {
			// A row that is commented out.
			return
		}
	}
	s.Channels, s.Commented = names, true
}

// stamp1970 reads a date and a time as seconds since the first one of the table. One column may hold them.
func (s *Series) stamp1970(t *table, column int, field []byte) (float64, bool) {
	// The lengths exclude most texts before the layouts are tried one by one.
	if s.stamped > 0 && s.stamped != column+1 || len(field) < len("2006-01-02T15:04") || len(field) > 40 {
		return 0, false
	}

	for _, layout := range stampLayouts {
		at, err := time.Parse(layout, string(field))
		if err != nil {
			continue
		}
		if s.stamped == 0 {
			s.stamped, t.first = column+1, at
		}

		return at.Sub(t.first).Seconds(), true
	}

	return 0, false
}

// stampLayouts are the layouts of ISO 8601, with and without a zone. Fractions of a second are read with each.
var stampLayouts = []string{
	time.RFC3339, "2006-01-02 15:04:05Z07:00", "2006-01-02T15:04:05Z0700", "2006-01-02 15:04:05 -0700",
	"2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006/01/02 15:04:05",
}

// reading reads a number. Where semicolons or tabs separate the fields, a comma is the decimal
// separator.
func (t *table) reading(field []byte) (float64, bool) {
	if v, ok := parseReading(field); ok {
		return v, true
	}
	if t.separator != ';' && t.separator != '\t' || bytes.Count(field, []byte(",")) != 1 ||
		bytes.IndexByte(field, '.') >= 0 {
		return 0, false
	}

	return parseReading(bytes.Replace(field, []byte(","), []byte("."), 1))
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
	// A column of dates is a time whatever its name.
	if c := s.stamped - 1; c >= 0 && s.Width > 1 && s.neverFalls(c) {
		if s.Channels != nil {
			defer s.splitUnits()
		}
		s.takeTime(c, 1)
		return
	}
	if s.Channels == nil {
		return
	}
	s.splitUnits()

	for c := range s.Channels {
		if seconds, ok := s.timeScale(c); ok && s.Width > 1 {
			s.takeTime(c, seconds)
			return
		}
	}
}

// splitUnits takes the units out of the names of the channels.
func (s *Series) splitUnits() {
	units := make([]string, s.Width)
	for c, name := range s.Channels {
		s.Channels[c], units[c] = SplitUnit(name)
	}
	s.setUnits(units)
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

// SinceEpoch returns the seconds in the unit of a clock that counts from 1970, by its size: seconds up
// to 1e11, then milliseconds, microseconds and nanoseconds. 1e11 seconds are the year 5138, and 1e11
// milliseconds the year 1973.
func SinceEpoch(last float64) float64 {
	unit := 1.0
	for limit := 1e11; math.Abs(last) >= limit && unit > 1e-9; limit *= 1e3 {
		unit /= 1e3
	}
	return unit
}

// timeNames are the names of a channel that is a time.
var timeNames = []string{"t", "time", "timestamp", "stamp"}

// TimeUnits are the seconds in each unit of time.
var TimeUnits = map[string]float64{
	"s": 1, "sec": 1, "secs": 1, "second": 1, "seconds": 1,
	"ms": 1e-3, "msec": 1e-3, "us": 1e-6, "µs": 1e-6, "usec": 1e-6, "ns": 1e-9, "nsec": 1e-9,
}

// timeScale reports whether a channel is a time, and returns the seconds in its
// unit; 0 if the unit is not known.
func (s *Series) timeScale(c int) (float64, bool) {
	name, unit, _ := strings.Cut(strings.ToLower(s.Channels[c]), "_")
	// T may also be a temperature. A time never falls.
	if !slices.Contains(timeNames, name) || !s.neverFalls(c) {
		return 0, false
	}
	if c < len(s.Units) && s.Units[c] != "" {
		unit = strings.ToLower(s.Units[c])
	}
	if unit == "" {
		return SinceEpoch(s.at(s.Len()-1, c)), true
	}
	// Any other word makes it another quantity, such as t_motor.
	seconds, ok := TimeUnits[cmp.Or(unit, "s")]

	return seconds, ok
}

// neverFalls reports whether each reading of a channel is a number and none is below the one before.
func (s *Series) neverFalls(c int) bool {
	for i := range s.Len() {
		if v := s.at(i, c); !media.Finite(v) || i > 0 && v < s.at(i-1, c) {
			return false
		}
	}
	return true
}

// takeTime makes times of a channel, with the rate if time passes and its unit is known.
func (s *Series) takeTime(c int, seconds float64) {
	// The column is dropped even if its times give no rate: a constant time is no reading.
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
	s.Values, s.Width = out, s.Width-1
	if s.Channels != nil {
		s.Channels = slices.Delete(s.Channels, c, c+1)
	}
	// setUnits compares with the new width, and drops units that are all unknown after the time's unit is gone.
	if units := s.Units; units != nil {
		s.Units = nil
		s.setUnits(slices.Delete(units, c, c+1))
	}
}
