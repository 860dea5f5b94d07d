package jsonl

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/robotmem/robotmem-go/robotmem"
)

const (
	// batchRows is the most lines that a node commits in one transaction. A batch is
	// therefore stored whole or not at all.
	batchRows  = 500
	batchBytes = 8 << 20 // well below the limit of a request
	maxLine    = 8 << 20 // bytes; the largest insight and context with escapes are smaller
)

// Counts counts the lines of an import.
type Counts struct {
	Lines      int64 `json:"lines"` // blank lines too
	Created    int64 `json:"created"`
	Duplicates int64 `json:"duplicates"`
	Bad        int64 `json:"bad"`
}

// Options are the options of Import. The zero value works.
type Options struct {
	// KeepDuplicates also stores lines that say what is known.
	KeepDuplicates bool
	// State lets an interrupted import continue. Without it the import begins with the first line.
	State *State
	// Refused is called for each bad line.
	Refused func(line int64, reason string)
	// Progress is called with the number of bytes that each batch had.
	Progress func(bytes int64)
}

// Import learns the facts of in. A bad line is counted, reported and left out. An end of ctx
// takes effect after the batch that was begun, so that the counts are exact. The reader must
// be an [io.Seeker] if there is a State.
func Import(ctx context.Context, svc robotmem.Service, in io.Reader, o Options) (counts Counts, err error) {
	if o.Refused == nil {
		o.Refused = func(int64, string) {}
	}
	im := &importer{svc: svc, o: o}
	start := int64(0)
	if s := o.State; s != nil {
		im.counts, start = s.Counts, s.Start
		if _, err := in.(io.Seeker).Seek(start, io.SeekStart); err != nil {
			return im.counts, fmt.Errorf("seeking to the end of the last import: %w", err)
		}
		defer func() {
			if err != nil {
				err = errors.Join(err, s.save())
			}
		}()
	}
	lines := &lineReader{in: bufio.NewReaderSize(in, 1<<20), offset: start, number: im.counts.Lines}
	for {
		if err := ctx.Err(); err != nil {
			return im.counts, err
		}
		b, err := readBatch(lines)
		if err != nil || b.lines == 0 {
			return im.counts, err
		}
		if err := im.batch(context.WithoutCancel(ctx), b); err != nil {
			return im.counts, err
		}
		if o.Progress != nil {
			o.Progress(b.end - b.start)
		}
	}
}

type importer struct {
	svc    robotmem.Service
	o      Options
	counts Counts
}

// batch learns a batch, unless an interrupted import has stored it.
func (im *importer) batch(ctx context.Context, b *batch) error {
	s := im.o.State
	if s == nil {
		return im.learn(ctx, b)
	}
	stored := int64(0)
	// An interrupted import had begun this batch. Without KeepDuplicates the memory
	// recognizes lines that are sent again.
	if s.Start < s.End && im.o.KeepDuplicates {
		var err error
		if stored, err = s.stored(ctx, im.svc, b); err != nil {
			return err
		}
	}
	if stored > 0 {
		im.counts.Lines += b.lines
		im.counts.Created += stored
		im.counts.Bad += int64(len(b.bad)+len(b.items)) - stored
	} else {
		if err := s.begin(ctx, im.svc, b, im.counts, im.o.KeepDuplicates); err != nil {
			return err
		}
		if err := im.learn(ctx, b); err != nil {
			return err
		}
	}
	s.Start, s.End, s.Counts = b.end, b.end, im.counts
	return nil
}

// learn stores a batch. An error of the node, unlike that of an item, ends the import.
func (im *importer) learn(ctx context.Context, b *batch) error {
	counts := im.counts
	counts.Lines += b.lines
	for _, bad := range b.bad {
		im.o.Refused(bad.number, bad.reason)
	}
	counts.Bad += int64(len(b.bad))
	results, err := im.send(ctx, b.items)
	if err != nil {
		return err
	}
	for i, item := range results {
		switch e := item.Error; {
		case e == nil && item.Status == "created":
			counts.Created++
		case e == nil:
			counts.Duplicates++
		case e.Kind == robotmem.Unavailable, e.Kind == robotmem.Internal, e.Kind == robotmem.Corrupt:
			return &robotmem.Error{Op: "import", Kind: e.Kind, Err: errors.New(e.Detail)}
		default:
			counts.Bad++
			im.o.Refused(b.numbers[i], robotmem.Errorf(e.Kind, e.Field, "%s", e.Detail).Error())
		}
	}
	im.counts = counts
	return nil
}

// send learns items as they are written.
func (im *importer) send(ctx context.Context, items []json.RawMessage) ([]robotmem.BatchResult, error) {
	if len(items) == 0 {
		return nil, nil
	}
	request, err := json.Marshal(map[string]any{"items": items, "keep_duplicates": im.o.KeepDuplicates})
	if err != nil {
		return nil, err
	}
	answer, err := robotmem.OpByName("learn_batch").Call(ctx, im.svc, request)
	if err != nil {
		return nil, err
	}
	return answer.(*robotmem.LearnBatchResponse).Results, nil
}

// batch is a run of lines that is learnt in one request.
type batch struct {
	start, end int64 // offsets in the file
	lines      int64 // blank ones too
	items      []json.RawMessage
	numbers    []int64 // the line of each item
	bad        []badLine
}

type badLine struct {
	number int64
	reason string
}

var byteOrderMark = []byte("\xef\xbb\xbf")

// readBatch reads the next lines. The same offset gives the same batch. After the last line
// the batch has no lines.
func readBatch(r *lineReader) (*batch, error) {
	b := &batch{start: r.offset, end: r.offset}
	for len(b.items) < batchRows && b.lines < 4*batchRows && b.end-b.start < batchBytes {
		line, long, err := r.next()
		if err == io.EOF {
			return b, nil
		}
		if err != nil {
			return nil, fmt.Errorf("reading line %d: %w", r.number+1, err)
		}
		b.lines++
		b.end = r.offset
		if r.number == 1 {
			line = bytes.TrimPrefix(line, byteOrderMark)
		}
		reason := jsonFault(line)
		if long {
			reason = fmt.Sprintf("is longer than %d MiB", maxLine>>20)
		}
		switch {
		case len(line) == 0 && !long:
		case reason != "":
			b.bad = append(b.bad, badLine{r.number, reason})
		default:
			b.items = append(b.items, line)
			b.numbers = append(b.numbers, r.number)
		}
	}
	return b, nil
}

// jsonFault says why a line is not JSON, "" if it is. The node checks the object itself.
func jsonFault(line []byte) string {
	if !utf8.Valid(line) {
		return "is not UTF-8"
	}
	var raw json.RawMessage
	if err := json.Unmarshal(line, &raw); err != nil {
		return "is not JSON: " + strings.TrimPrefix(err.Error(), "json: ")
	}
	return ""
}

// lineReader reads lines of bounded length and counts lines and bytes.
type lineReader struct {
	in     *bufio.Reader
	offset int64 // of the next line
	number int64 // of the last line
}

// next returns the next line without its end. If a line is too long it returns the beginning
// of the line and long is true. At the end of the input the error is io.EOF.
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
