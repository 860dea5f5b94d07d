package markdown

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/archive"
)

const fence = "---\n"

// sessionNote holds the fields of a session's file.
type sessionNote struct {
	Kind string `json:"robotmem"`
	archive.Session
	Sum string `json:"hash"`
}

// memoryNote holds the fields of a memory's file, whose body is the content.
type memoryNote struct {
	Kind string `json:"robotmem"`
	archive.Memory
	Content string `json:"content,omitempty"`
	Beside  string `json:"payload_file,omitempty"`
	Sum     string `json:"hash"`
}

// WriteFrontMatter writes each field of a record in a line of its own, as JSON. It is YAML too.
func WriteFrontMatter(out *bytes.Buffer, record any) error {
	data, err := robotmem.EncodeJSON(record)
	if err != nil {
		return err
	}
	out.WriteString(fence)

	dec := json.NewDecoder(bytes.NewReader(data))
	for _, err = dec.Token(); err == nil && dec.More(); {
		name, _ := dec.Token() // encoded above

		var value json.RawMessage
		err = dec.Decode(&value)
		fmt.Fprintf(out, "%s: %s\n", name, value)
	}
	out.WriteString(fence)

	return err
}

// frontMatter matches the front matter with its two fences, or the first fence if it is the only one.
var frontMatter = regexp.MustCompile(`(?ms)\A---\r?\n(?:(.*?)^---\r*$\n?)?`)

// CutFrontMatter divides a file. Without front matter fields is nil and body is the whole file.
func CutFrontMatter(data []byte) (fields map[string]json.RawMessage, body []byte, err error) {
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))

	at := frontMatter.FindSubmatchIndex(data)
	switch {
	case !utf8.Valid(data):
		return nil, nil, errors.New("is not UTF-8 text; convert it")
	case at == nil:
		return nil, data, nil
	case at[2] < 0:
		return nil, nil, fmt.Errorf("line %d: the front matter has no end; a line of --- ends it",
			1+bytes.Count(data, []byte("\n")))
	}
	fields, err = readFields(string(data[at[2]:at[3]]))

	return fields, data[at[1]:], err
}

// HasFrontMatter reports whether a file begins with front matter, as notes do. A Markdown file without it is a document.
func HasFrontMatter(head []byte) bool {
	return frontMatter.Match(bytes.TrimPrefix(head, []byte("\xef\xbb\xbf")))
}

// NoteText returns the text of an exported file, without the empty line after the front matter and
// the line break at the end.
func NoteText(body []byte) string {
	text := strings.TrimPrefix(strings.TrimPrefix(string(body), "\r"), "\n")
	return strings.TrimSuffix(strings.TrimSuffix(text, "\n"), "\r")
}

// decode decodes fields. Those that a record does not have are refused.
func decode(fields map[string]json.RawMessage, record any) error {
	data, _ := robotmem.EncodeJSON(fields) // they were JSON
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	dec.DisallowUnknownFields()
	err := dec.Decode(record)
	if at := (*json.UnmarshalTypeError)(nil); errors.As(err, &at) {
		return fmt.Errorf("%s: a %s does not fit there", at.Field[strings.Index(at.Field, ".")+1:], at.Value)
	}
	if err != nil {
		return errors.New(strings.TrimPrefix(err.Error(), "json: "))
	}

	return nil
}

// readFields reads the fields of front matter, NAME: VALUE in a line each. A value is JSON,
// which keeps the spelling of its numbers, or a text; without one, a list of points follows.
// The first line of the front matter is the second one of the file.
func readFields(data string) (map[string]json.RawMessage, error) {
	fields := map[string]json.RawMessage{}
	lists := map[string][]json.RawMessage{}

	number, last := 1, ""
	for line := range strings.Lines(data) {
		number++
		line = strings.TrimRight(line, "\r\n")
		name, text, isField := strings.Cut(line, ":")
		item, isItem := strings.CutPrefix(strings.TrimSpace(line), "- ")

		// An item belongs to the last field, if that has no value of its own.
		switch {
		case strings.TrimSpace(line) == "":
			continue
		case isItem && last != "":
			name, text = last, item
		case !isField || name == "" || strings.TrimSpace(name) != name:
			return nil, fmt.Errorf("line %d: must be a field with its value in one line, such as tags: [\"lid\"]",
				number)
		case fields[name] != nil:
			return nil, fmt.Errorf("line %d: %s was given twice", number, name)
		}

		value, err := readValue(strings.TrimSpace(text))
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", number, err)
		}

		switch {
		case isItem && name == last:
			lists[name] = append(lists[name], value)
			continue
		case string(value) == "null":
			last = name
		default:
			last = ""
		}
		fields[name] = value
	}

	for name, list := range lists {
		fields[name], _ = json.Marshal(list) // of JSON
	}

	return fields, nil
}

// readValue returns the JSON of a value, null for none.
func readValue(text string) (json.RawMessage, error) {
	switch {
	case text == "":
		return json.RawMessage("null"), nil
	case json.Valid([]byte(text)):
		return json.RawMessage(text), nil
	case strings.ContainsRune("\"'[{&*!|>", rune(text[0])):
		// These begin a form of YAML that is not read. As plain text its value would be wrong.
		return nil, fmt.Errorf("%.40q is neither JSON in one line nor plain text; write [\"lid\"] or {\"x\":1}", text)
	}

	return robotmem.EncodeJSON(text)
}
