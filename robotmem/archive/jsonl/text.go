package jsonl

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/unicode"
)

// Facts come as lines, and also as a JSON array, as JSON printed over several lines, or in UTF-16, as
// PowerShell writes what it redirects. Everything but lines of UTF-8 is converted to them.

var byteOrderMark = []byte("\xef\xbb\xbf")

// layoutBytes decide the layout of a text.
const layoutBytes = 64 << 10

// layout is how a text holds its requests.
type layout struct {
	text     io.Reader
	unit     string // line or value: what is counted
	verbatim bool   // the text is that of the file, byte for byte
}

// layoutOf finds the layout of a text and converts it to lines of UTF-8.
func layoutOf(in io.Reader) (*layout, error) {
	l := &layout{unit: "line", verbatim: true}
	head, r, err := peek(in)
	if err != nil {
		return nil, err
	}

	// The layout is that of the decoded text, so it is peeked again.
	if utf16 := wideEncoding(head); utf16 != nil {
		l.verbatim = false
		if head, r, err = peek(utf16.NewDecoder().Reader(r)); err != nil {
			return nil, err
		}
	}

	if isJSONText(bytes.TrimPrefix(head, byteOrderMark)) {
		l.verbatim, l.unit = false, "value"
		l.text = newValues(r, head)
		return l, nil
	}

	l.text = r

	return l, nil
}

// skipTo passes over the bytes that an earlier import has read.
func (l *layout) skipTo(in io.Reader, start int64) error {
	if !l.verbatim {
		_, err := io.CopyN(io.Discard, l.text, start)
		return err
	}
	_, err := in.(io.Seeker).Seek(start, io.SeekStart)
	l.text = in

	return err
}

// peek returns the first bytes of a text, and a reader of all of it.
func peek(in io.Reader) ([]byte, *bufio.Reader, error) {
	r := bufio.NewReaderSize(in, layoutBytes)
	head, err := r.Peek(layoutBytes)
	if err != nil && err != io.EOF {
		return nil, nil, fmt.Errorf("reading line 1: %w", err)
	}
	return head, r, nil
}

// wideEncoding returns the encoding of a text in UTF-16, with a mark or with JSON in its first character,
// nil of any other text.
func wideEncoding(head []byte) encoding.Encoding {
	switch {
	case bytes.HasPrefix(head, []byte("\xff\xfe")),
		bytes.HasPrefix(head, []byte("{\x00")),
		bytes.HasPrefix(head, []byte("[\x00")):
		return unicode.UTF16(unicode.LittleEndian, unicode.UseBOM)
	case bytes.HasPrefix(head, []byte("\xfe\xff")),
		bytes.HasPrefix(head, []byte("\x00{")),
		bytes.HasPrefix(head, []byte("\x00[")):
		return unicode.UTF16(unicode.BigEndian, unicode.UseBOM)
	}

	return nil
}

// Recognizes reports whether a file begins as a text in UTF-16.
func Recognizes(head []byte) bool { return wideEncoding(head) != nil }

// isJSONText reports whether a text is an array, or an object that goes over several lines.
func isJSONText(head []byte) bool {
	head = bytes.TrimLeft(head, " \t\r\n")
	if len(head) == 0 || head[0] != '[' && head[0] != '{' {
		return false
	}
	if head[0] == '[' {
		return true
	}
	line, _, several := bytes.Cut(head, []byte("\n"))
	if !several || json.Valid(line) {
		return false
	}

	// The first line alone is no value. If the text begins with a value, or with a part of one that head cuts off, its
	// values go over several lines.
	var first json.RawMessage
	err := json.NewDecoder(bytes.NewReader(head)).Decode(&first)

	return err == nil || errors.Is(err, io.ErrUnexpectedEOF)
}

// values converts the elements of an array, or one value after another, to one line each. What cannot
// be read becomes the last line, as it is, so that it is reported as a bad one.
type values struct {
	in      *boundedReader
	dec     *json.Decoder
	array   bool
	pending []byte
	ended   bool
}

func newValues(text io.Reader, head []byte) *values {
	if bytes.HasPrefix(head, byteOrderMark) {
		_, _ = io.CopyN(io.Discard, text, int64(len(byteOrderMark))) // which are there
	}
	v := &values{in: &boundedReader{r: text, left: maxValue}}
	v.dec = json.NewDecoder(v.in)
	v.array = bytes.HasPrefix(bytes.TrimLeft(bytes.TrimPrefix(head, byteOrderMark), " \t\r\n"), []byte("["))
	if v.array {
		// The bracket, which is there.
		_, _ = v.dec.Token()
	}

	return v
}

// maxValue bounds what is read for one value: the decoder holds all of it.
const maxValue = 2 * maxLine

var errLongValue = fmt.Errorf("a value is longer than %d MiB", maxValue>>20)

// boundedReader fails after so many bytes.
type boundedReader struct {
	r    io.Reader
	left int
}

func (b *boundedReader) Read(p []byte) (int, error) {
	if b.left == 0 {
		return 0, errLongValue
	}
	n, err := b.r.Read(p[:min(len(p), b.left)])
	b.left -= n
	return n, err
}

func (v *values) Read(p []byte) (int, error) {
	for len(v.pending) == 0 {
		if v.ended {
			return 0, io.EOF
		}
		if err := v.next(); err != nil {
			return 0, err
		}
	}
	n := copy(p, v.pending)
	v.pending = v.pending[n:]

	return n, nil
}

// next puts the line of the next value into pending.
func (v *values) next() error {
	v.in.left = maxValue
	if v.array && !v.dec.More() {
		_, err := v.dec.Token()
		if err == nil { // the closing bracket
			v.array, v.ended = false, true
			return v.after()
		}

		return v.broken(err)
	}

	var raw json.RawMessage
	err := v.dec.Decode(&raw)
	if err == io.EOF && !v.array {
		v.ended = true
		return nil
	}

	if err != nil {
		return v.broken(err)
	}

	// Lines are the unit of the import, so a value must not contain a line break.
	line := &bytes.Buffer{}
	if err := json.Compact(line, raw); err != nil {
		return v.broken(err)
	}

	v.pending = append(line.Bytes(), '\n')

	return nil
}

// after reports what follows an array.
func (v *values) after() error {
	var raw json.RawMessage
	if err := v.dec.Decode(&raw); err != io.EOF {
		v.pending = []byte(brokenMark + "text follows the end of the array\n")
	}
	return nil
}

// brokenMark begins a line that says why a text ends. No line of JSON begins so.
const brokenMark = "\x00"

// broken ends the text with a line that says why it ends.
func (v *values) broken(err error) error {
	syntax := (*json.SyntaxError)(nil)
	if !errors.As(err, &syntax) && err != io.EOF && !errors.Is(err, io.ErrUnexpectedEOF) &&
		!errors.Is(err, errLongValue) {
		return err // of the file
	}
	v.ended = true
	reason := strings.ReplaceAll(err.Error(), "\n", " ")
	v.pending = []byte(brokenMark + reason + "\n")

	return nil
}
