package perception

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// decodeText reads a table of numbers: one sample a line. Blank lines and
// comments (#) are skipped, quotes around a field too. The first line is a
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
	begun   bool // the first line that is no comment has been read
	fields  [][]byte
	header  []string
	comment []byte
}

// start finds the separator in the first line. A semicolon goes before a comma,
// which may then be a decimal comma and is refused as such.
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
	t.s.values = make([]float64, 0, min(room, len(data)/2+1))
}

func (t *table) split(line []byte) [][]byte {
	t.fields = t.fields[:0]
	line = bytes.TrimSpace(line)
	for {
		var end, next int
		if t.sep == ' ' {
			if end = bytes.IndexAny(line, " \t\v\f"); end >= 0 {
				next = len(line) - len(bytes.TrimLeft(line[end:], " \t\v\f"))
			}
		} else if end = bytes.IndexByte(line, t.sep); end >= 0 {
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

func unquote(field []byte) []byte {
	field = bytes.TrimSpace(field)
	if len(field) >= 2 && field[0] == '"' && field[len(field)-1] == '"' {
		field = bytes.TrimSpace(field[1 : len(field)-1])
	}
	return field
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
	for i, field := range fields {
		v, ok := parseReading(field)
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
