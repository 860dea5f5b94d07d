package mcp

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"regexp"
)

// lineReader reads messages, one a line. It passes over blank lines, a byte
// order mark and CR before LF, and takes a last line without LF.
type lineReader struct {
	in    *bufio.Reader
	limit int
}

var bom = []byte("\xef\xbb\xbf")

// next returns the next message, io.EOF after the last, or a *longLine for one
// over the limit, which has been read to its end.
func (r *lineReader) next() ([]byte, error) {
	for {
		line, err := r.line()
		line = bytes.TrimSpace(bytes.TrimPrefix(line, bom))
		if len(line) > 0 && (err == nil || err == io.EOF) {
			return line, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

func (r *lineReader) line() ([]byte, error) {
	var line []byte
	for {
		part, err := r.in.ReadSlice('\n')
		if len(line)+len(bytes.TrimRight(part, "\r\n")) > r.limit {
			return nil, r.skip(append(line, part...), err)
		}
		line = append(line, part...)
		if err != bufio.ErrBufferFull {
			return line, err
		}
	}
}

// tailBytes of a message that is too long are kept: some clients write the id
// last.
const tailBytes = 256

// skip reads the rest of a line that is too long and keeps only its ends.
func (r *lineReader) skip(read []byte, err error) error {
	long := &longLine{head: read[:min(len(read), 64<<10)], tail: lastBytes(read)}
	for err == bufio.ErrBufferFull {
		var part []byte
		part, err = r.in.ReadSlice('\n')
		long.tail = lastBytes(append(long.tail, part...))
	}
	if err != nil && err != io.EOF {
		return err
	}
	return long
}

func lastBytes(b []byte) []byte { return bytes.Clone(b[max(0, len(b)-tailBytes):]) }

// longLine is a message over the limit.
type longLine struct{ head, tail []byte }

func (l *longLine) Error() string { return "the message is too long" }

// idAtEnd finds an id that is the last member of a message.
var idAtEnd = regexp.MustCompile(`"id"\s*:\s*(-?\d+|"[^"\\]*")\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*$`)

// id is the request's id, so that its caller does not wait for ever; nil if
// neither end of the message shows it.
func (l *longLine) id() any {
	dec := json.NewDecoder(bytes.NewReader(l.head))
	if _, err := dec.Token(); err == nil {
		for dec.More() {
			key, err := dec.Token()
			if err != nil {
				break
			}
			var value any
			if dec.Decode(&value) != nil {
				break
			}
			if key == "id" && isID(value) {
				return value
			}
		}
	}
	if m := idAtEnd.FindSubmatch(l.tail); m != nil {
		var value any
		if json.Unmarshal(m[1], &value) == nil {
			return value
		}
	}
	return nil
}

func isID(v any) bool {
	switch v.(type) {
	case string, float64:
		return true
	}
	return false
}
