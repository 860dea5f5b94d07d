package jsonl

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
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
	// KeepDuplicates also stores lines whose facts are stored already.
	KeepDuplicates bool
	// State lets an interrupted import continue. Without it the import begins with the first line.
	State *State
	// Refused is called for each bad line, or each bad value of an array. The unit is line or value.
	Refused func(unit string, number int64, reason string)
	// Note is called with what becomes of an interrupted import, before its first line.
	Note func(text string)
	// Lines says that the text has one request a line in UTF-8, as this program writes it. The format
	// of the text is then not detected.
	Lines bool
	// Progress is called with the number of bytes that each batch had, and those that were imported before.
	Progress func(bytes int64)
}

// Import learns the facts of in. A bad line is counted, reported and left out. An end of ctx
// takes effect after the batch that was begun, so that the counts are exact. The reader must
// be an [io.Seeker] if there is a State.
func Import(ctx context.Context, svc robotmem.Service, in io.Reader, o Options) (counts Counts, err error) {
	if o.Refused == nil {
		o.Refused = func(string, int64, string) {}
	}

	im := &importer{svc: svc, o: o}
	l := &layout{text: in, unit: "line", verbatim: true}
	if !o.Lines {
		if l, err = layoutOf(in); err != nil {
			return im.counts, err
		}
	}

	im.unit = l.unit
	start := int64(0)
	if s := o.State; s != nil {
		var note string
		if note, err = s.resume(ctx, svc, o.KeepDuplicates); err != nil {
			return s.Counts, err
		}
		if o.Note != nil && note != "" {
			o.Note(note)
		}
		if o.Progress != nil {
			o.Progress(s.Start)
		}

		im.counts, start = s.Counts, s.Start
		if err := l.skipTo(in, start); err != nil {
			return im.counts, fmt.Errorf("seeking to the end of the last import: %w", err)
		}
		// The state is kept after every error, so that the next call continues. A file that holds no requests at all
		// has nothing to continue.
		defer func() {
			switch {
			case errors.Is(err, ErrNoRequests):
				err = errors.Join(err, s.Remove())
			case err != nil:
				err = errors.Join(err, s.save())
			}
		}()
	}

	lines := &lineReader{in: bufio.NewReaderSize(l.text, 1<<20), offset: start, number: im.counts.Lines}

	for {
		if err := ctx.Err(); err != nil {
			return im.counts, err
		}
		b, err := readBatch(lines)
		if err == nil && b.lines == 0 && im.counts.Lines == 0 {
			return im.counts, errNothing
		}
		if err != nil || b.lines == 0 {
			return im.counts, err
		}

		// A batch that was sent is finished, because its counts would otherwise be unknown.
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
	unit   string // line or value
}

// where names a line or a value.
func (im *importer) where(number int64) string { return fmt.Sprintf("%s %d", im.unit, number) }

// ErrNoRequests means that the first lines of a text are all no learn requests, so that the others
// are not read.
var ErrNoRequests = errors.New("is no file of learn requests")

// errNothing is the error of a text without a line, as an interrupted copy leaves.
var errNothing = &robotmem.Error{
	Op: "import", Kind: robotmem.Invalid, Field: "file", Err: fmt.Errorf("is empty, so that it %w", ErrNoRequests),
}

// firstRows are the lines that decide whether a text is one of learn requests.
const firstRows = 20

// noRequests is the error of a text whose first lines are all bad.
func (im *importer) noRequests(bad []badLine) error {
	err := fmt.Errorf("it %w: none of its first %d can be learnt (%s: %s); "+
		"write one request a line, such as {\"insight\": \"the gripper slips below 8 N\"}, "+
		"and save the file of a sensor with robotmem save-perception --file",
		ErrNoRequests, len(bad), im.where(bad[0].number), bad[0].reason)

	return &robotmem.Error{Op: "import", Kind: robotmem.Invalid, Field: "file", Err: err}
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

	// Batches are atomic: if one line of it is stored, all good lines are.
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
	results, err := im.send(ctx, b.items)
	if err != nil {
		return err
	}

	bad := b.bad
	s := im.o.State

	for i, item := range results {
		if s != nil && item.Error == nil {
			s.learnt(item.LearnResponse)
		}

		switch e := item.Error; {
		case e == nil && item.Status == "created":
			counts.Created++
		case e == nil:
			counts.Duplicates++
		case e.Kind == robotmem.Unavailable, e.Kind == robotmem.Internal, e.Kind == robotmem.Corrupt:
			return &robotmem.Error{Op: "import", Kind: e.Kind, Err: errors.New(e.Detail)}
		default:
			bad = append(bad, badLine{b.numbers[i], robotmem.Errorf(e.Kind, e.Field, "%s", e.Detail).Error()})
		}
	}

	slices.SortFunc(bad, func(x, y badLine) int { return cmp.Compare(x.number, y.number) })

	// If the first lines are all bad, the file holds something else. A short file of lines that begin with a brace may
	// instead be a few requests with a mistake.
	allBad := len(bad) > 0 && len(bad) == len(b.items)+len(b.bad)
	if !im.o.Lines && b.start == 0 && allBad && (len(bad) >= firstRows || b.foreign()) {
		return im.noRequests(bad)
	}

	for _, one := range bad {
		im.o.Refused(im.unit, one.number, one.reason)
	}

	counts.Bad += int64(len(bad))
	im.counts = counts

	return nil
}

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
	braced     bool // a line begins with a brace
}

// foreign reports whether no line begins with a brace, as a request does.
func (b *batch) foreign() bool { return !b.braced }

type badLine struct {
	number int64
	reason string
}

// readBatch reads the next lines. The same offset gives the same batch. After the last line
// the batch has no lines.
func readBatch(r *lineReader) (*batch, error) {
	b := &batch{start: r.offset, end: r.offset}

	// The first batch is small, so that a file of something else is refused early.
	rows := batchRows
	if b.start == 0 {
		rows = firstRows
	}

	for len(b.items)+len(b.bad) < rows && b.lines < 4*batchRows && b.end-b.start < batchBytes {
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
		b.braced = b.braced || bytes.HasPrefix(line, []byte("{"))
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
	if reason, ok := bytes.CutPrefix(line, []byte(brokenMark)); ok {
		return "is not JSON: " + string(reason)
	}
	if !utf8.Valid(line) {
		return "is not UTF-8"
	}

	var raw json.RawMessage
	if err := json.Unmarshal(line, &raw); err != nil {
		return "is not JSON: " + strings.TrimPrefix(err.Error(), "json: ")
	}
	if half := robotmem.LoneSurrogate(line); half != "" {
		return "holds " + half + ", half of a surrogate pair, which is no character"
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

		// The rest of a line that is too long is read and dropped, so that the next line is found.
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
