package perception

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// decodeText reads a table of numbers: one sample a line. Blank lines and
// comments (#) are skipped; a field in quotes may hold the separator, but no
// line break. The first line is a
// header if any of its fields is no number; a comment just above the first
// sample is one if it has as many fields, as numpy.savetxt writes it.
func decodeText(data []byte, minSamples int) (*series, error) {
	t := table{s: &series{}}
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	line := 0
	for text := range bytes.Lines(data) {
		line++
		text = bytes.Trim(text, "\r\n\v\f ")
		if len(bytes.TrimSpace(text)) == 0 {
			continue
		}
		if text[0] == '#' {
			if len(t.s.values) == 0 {
				t.comment = text[1:]
			}
			continue
		}
		if t.sep == 0 {
			t.start(text, data)
		}
		if err := t.add(text); err != nil {
			return nil, fmt.Errorf("line %d: %w", line, err)
		}
	}
	if t.s.width == 0 || len(t.s.values) == 0 {
		return nil, errEmptyTrace
	}
	if t.s.len() < minSamples {
		return nil, fmt.Errorf("the text holds %d sample; a trace in plain text has at least %d", t.s.len(), minSamples)
	}
	t.name()
	return t.s, nil
}

type table struct {
	s       *series
	sep     byte // ' ' stands for any run of blanks
	point   byte // the decimal mark, once one has been seen
	begun   bool // the first line that is no comment has been read
	fields  [][]byte
	header  []string
	comment []byte
}

// start finds the separator in the first line. A tab or a semicolon goes before
// a comma, which is then a decimal comma.
func (t *table) start(line, data []byte) {
	t.sep = ' '
	for _, sep := range []byte("\t;,") {
		if bytes.IndexByte(bytes.TrimSpace(line), sep) >= 0 {
			t.sep = sep
			break
		}
	}
	// A number and what divides it from the next take two bytes at least, so
	// the readings take at most four times the memory of the text.
	room := bytes.Count(data, []byte("\n")) + bytes.Count(data, []byte{t.sep}) + 1
	t.s.values = make([]float64, 0, min(room, len(data)/2+1, maxReadings))
}

func (t *table) split(line []byte) [][]byte {
	t.fields = t.fields[:0]
	line = bytes.TrimSpace(line)
	for {
		quoted := quotedField(line)
		var end, next int
		if t.sep == ' ' {
			if end = bytes.IndexAny(line[quoted:], " \t\v\f"); end >= 0 {
				end += quoted
				next = len(line) - len(bytes.TrimLeft(line[end:], " \t\v\f"))
			}
		} else if end = bytes.IndexByte(line[quoted:], t.sep); end >= 0 {
			end += quoted
			next = end + 1
		}
		if end < 0 {
			t.fields = append(t.fields, unquote(line))
			return t.fields
		}
		t.fields = append(t.fields, unquote(line[:end]))
		line = line[next:]
	}
}

// quotedField is how far the quotes go that the line begins with; within them a
// quote is doubled (RFC 4180). 0 where there are none, or no closing one.
func quotedField(line []byte) int {
	start := len(line) - len(bytes.TrimLeft(line, " "))
	if start == len(line) || line[start] != '"' {
		return 0
	}
	for i := start + 1; i < len(line); i++ {
		if line[i] != '"' {
			continue
		}
		if i+1 == len(line) || line[i+1] != '"' {
			return i + 1
		}
		i++
	}
	return 0
}

func unquote(field []byte) []byte {
	field = bytes.TrimSpace(field)
	if len(field) < 2 || field[0] != '"' || field[len(field)-1] != '"' {
		return field
	}
	return bytes.TrimSpace(bytes.ReplaceAll(field[1:len(field)-1], []byte(`""`), []byte(`"`)))
}

func (t *table) add(line []byte) error {
	fields := t.split(line)
	first := !t.begun
	t.begun = true
	if t.s.width == 0 {
		t.s.width = len(fields)
	}
	if len(fields) != t.s.width {
		return fmt.Errorf("has %d fields where the lines above have %d", len(fields), t.s.width)
	}
	before := len(t.s.values)
	if before+len(fields) > maxReadings {
		return errTooLong
	}
	for i, field := range fields {
		v, ok := t.reading(field)
		if !ok && first {
			t.s.values = t.s.values[:before]
			t.header = make([]string, len(fields))
			for j := range fields {
				t.header[j] = string(fields[j])
			}
			return nil
		}
		if !ok {
			return fmt.Errorf("field %d is no number: %q", i+1, clean(string(field[:min(len(field), 4*maxNameRunes)]), maxNameRunes))
		}
		t.s.values = append(t.s.values, v)
	}
	return nil
}

// reading takes a number whose decimal mark is that of the numbers before it.
// Where both a comma and a point occur one of them may part the thousands, and
// which is not to be known.
func (t *table) reading(field []byte) (v float64, ok bool) {
	mark := byte('.')
	if (t.sep == ';' || t.sep == '\t') && bytes.IndexByte(field, ',') >= 0 {
		mark = ','
		if bytes.IndexByte(field, '.') >= 0 {
			return 0, false
		}
		field = bytes.Replace(field, []byte(","), []byte("."), 1)
	}
	if v, ok = parseReading(field); !ok || bytes.IndexByte(field, '.') < 0 {
		return v, ok
	}
	if t.point == 0 {
		t.point = mark
	}
	return v, t.point == mark
}

// parseReading takes an empty field for a missing reading.
func parseReading(field []byte) (float64, bool) {
	if len(field) == 0 {
		return math.NaN(), true
	}
	v, err := strconv.ParseFloat(string(field), 64)
	return v, err == nil
}

// name gives the channels the names and units of the header, and lets a column
// of times become the rate.
func (t *table) name() {
	if t.header == nil && t.comment != nil {
		for _, field := range t.split(t.comment) {
			if _, isNumber := parseReading(field); isNumber {
				return
			}
			t.header = append(t.header, string(field))
		}
	}
	if len(t.header) != t.s.width {
		return
	}
	units := make([]string, len(t.header))
	for c, name := range t.header {
		t.header[c], units[c] = splitUnit(name)
	}
	t.s.channels = t.header
	if strings.Join(units, "") != "" {
		t.s.units = units
	}
	t.s.adoptTime()
}

// splitUnit parts "Fx (N)" and "Fx [N]" into the name and its unit.
func splitUnit(name string) (string, string) {
	for _, pair := range []string{"()", "[]"} {
		open := strings.LastIndexByte(name, pair[0])
		if open > 0 && name[len(name)-1] == pair[1] {
			return strings.TrimSpace(name[:open]), strings.TrimSpace(name[open+1 : len(name)-1])
		}
	}
	return name, ""
}
