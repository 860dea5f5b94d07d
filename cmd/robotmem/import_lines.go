package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

const (
	// importRows is what the memory commits as one: a batch of the importer is
	// then stored whole or not at all.
	importRows  = 500
	importBytes = 8 << 20 // a batch fits a request to a node with room to spare
	maxLine     = 8 << 20 // more than the largest insight and context, escaped
)

// lineReader reads lines of bounded length and knows where it is.
type lineReader struct {
	in     *bufio.Reader
	offset int64 // of the next line
	number int64 // of the last line
}

func newLineReader(in io.Reader, offset, number int64) *lineReader {
	return &lineReader{in: bufio.NewReaderSize(in, 1<<20), offset: offset, number: number}
}

// next returns the next line without its end. Of a line that is too long it
// returns the beginning, with long true. The end of the input is io.EOF.
func (r *lineReader) next() (line []byte, long bool, err error) {
	for {
		part, err := r.in.ReadSlice('\n')
		r.offset += int64(len(part))
		if len(line)+len(part) <= maxLine {
			line = append(line, part...)
		} else {
			long = true
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if err == io.EOF && (len(line) > 0 || long) {
			err = nil
		}
		if err == nil {
			r.number++
		}
		return bytes.TrimSpace(line), long, err
	}
}

// importBatch is what is learnt at once.
type importBatch struct {
	start, end int64 // bytes of the file
	count      int64 // lines, blank ones too
	items      []json.RawMessage
	numbers    []int64 // the line of each item
	bad        []badLine
}

type badLine struct {
	line   int64
	reason string
}

var byteOrderMark = []byte("\xef\xbb\xbf")

// read collects the next lines.
func (r *importer) read() (*importBatch, error) {
	b := &importBatch{start: r.lines.offset, end: r.lines.offset}
	for len(b.items) < importRows && b.count < 4*importRows && b.end-b.start < importBytes {
		line, long, err := r.lines.next()
		if err == io.EOF {
			return b, nil
		}
		if err != nil {
			return nil, fmt.Errorf("reading line %d: %w", r.lines.number+1, err)
		}
		b.count++
		b.end = r.lines.offset
		if r.lines.number == 1 {
			line = bytes.TrimPrefix(line, byteOrderMark)
		}
		switch reason := jsonFault(line); {
		case long:
			b.bad = append(b.bad, badLine{r.lines.number, fmt.Sprintf("is longer than %s", sizeText(maxLine))})
		case len(line) == 0:
		case reason != "":
			b.bad = append(b.bad, badLine{r.lines.number, reason})
		default:
			b.items = append(b.items, line)
			b.numbers = append(b.numbers, r.lines.number)
		}
	}
	return b, nil
}

// jsonFault says why a line is no JSON, "" if it is. What the object holds is
// the memory's to judge.
func jsonFault(line []byte) string {
	if !utf8.Valid(line) {
		return "is not UTF-8"
	}
	if json.Valid(line) {
		return ""
	}
	var any json.RawMessage
	err := json.Unmarshal(line, &any)
	return fmt.Sprintf("is not JSON: %s", strings.TrimPrefix(fmt.Sprint(err), "json: "))
}

// request is the batch as one request, with the lines as they were written.
func (b *importBatch) request(keepDuplicates bool) (json.RawMessage, error) {
	return json.Marshal(struct {
		Items          []json.RawMessage `json:"items"`
		KeepDuplicates bool              `json:"keep_duplicates"`
	}{b.items, keepDuplicates})
}
