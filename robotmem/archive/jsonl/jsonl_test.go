package jsonl

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/admin"
	"github.com/robotmem/robotmem-go/robotmem/local"
)

func openNode(t *testing.T, path string) *local.Node {
	t.Helper()
	m, err := local.Open(t.Context(), path, local.Options{Durability: local.DurabilityNormal})
	must(t, err)
	t.Cleanup(func() { must(t, m.Close()) })
	return m
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// dyingService stores batches until its last one, which it stores without an answer or, when
// lost, not at all.
type dyingService struct {
	robotmem.Service
	batches int
	lost    bool
}

func (d *dyingService) LearnBatch(ctx context.Context, r *robotmem.LearnBatchRequest) (*robotmem.LearnBatchResponse, error) {
	d.batches--
	if d.batches > 0 || !d.lost {
		res, err := d.Service.LearnBatch(ctx, r)
		if d.batches > 0 || err != nil {
			return res, err
		}
	}
	return nil, &robotmem.Error{Op: "learn_batch", Kind: robotmem.Unavailable, Err: errors.New("the power went")}
}

// TestImportResumesWithoutDoubling interrupts an import in the middle of a batch: stored or
// not, the second run ends with every line once.
func TestImportResumesWithoutDoubling(t *testing.T) {
	for _, lost := range []bool{false, true} {
		t.Run(fmt.Sprintf("lost=%t", lost), func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			db := filepath.Join(dir, "memory.db")
			m := openNode(t, db)
			lines := filepath.Join(dir, "facts.jsonl")
			var b strings.Builder
			for i := range 3 * batchRows {
				if i == batchRows {
					b.WriteString("{\"insight\":\"x\",\"unknown\":1}\n") // the batch begins with a bad line
				}
				fmt.Fprintf(&b, "{\"insight\":\"the same text in groups of seven: %d\"}\n", i/7)
			}
			must(t, os.WriteFile(lines, []byte(b.String()), 0o644))
			if err := importWith(t, db, lines, &dyingService{m, 2, lost}); err == nil {
				t.Fatal("the first run succeeded, want it to be interrupted")
			}
			// Another writer is no sign that the batch was stored.
			_, err := m.Learn(t.Context(), &robotmem.LearnRequest{Insight: "meanwhile, elsewhere"})
			must(t, err)
			must(t, importWith(t, db, lines, m))
			stats, err := m.Stats(t.Context(), &admin.StatsRequest{})
			must(t, err)
			if got, want := stats.Total, int64(3*batchRows+1); got != want {
				t.Errorf("%d facts, want %d", got, want)
			}
		})
	}
}

// importWith runs one import into m.
func importWith(t *testing.T, db, path string, m robotmem.Service) error {
	t.Helper()
	f, err := os.Open(path)
	must(t, err)
	defer f.Close()
	state, err := OpenState(f, db, "")
	must(t, err)
	if _, err := Import(t.Context(), m, f, Options{KeepDuplicates: true, State: state}); err != nil {
		return err
	}
	return state.Remove()
}

func TestLineReaderBoundsLines(t *testing.T) {
	long := strings.Repeat("x", maxLine+1)
	r := &lineReader{in: bufio.NewReader(strings.NewReader("one\r\n" + long + "\ntwo"))}
	for i, want := range []struct {
		text string
		long bool
	}{{"one", false}, {"", true}, {"two", false}} {
		line, isLong, err := r.next()
		if err != nil || isLong != want.long || !isLong && string(line) != want.text {
			t.Errorf("line %d: %.10q %t %v, want %q %t", i+1, line, isLong, err, want.text, want.long)
		}
	}
	if _, _, err := r.next(); err != io.EOF {
		t.Errorf("after the last line: %v, want io.EOF", err)
	}
	if want := int64(len("one\r\n") + len(long) + len("\ntwo")); r.offset != want || r.number != 3 {
		t.Errorf("offset %d line %d, want %d line 3", r.offset, r.number, want)
	}
}

// busyService changes the memory while it is listed: after the first call another fact is
// learnt, and after the third, which lists the second page, two of its facts are forgotten.
type busyService struct {
	*local.Node
	pages int
	t     *testing.T
}

func (b *busyService) List(ctx context.Context, r *robotmem.ListRequest) (*robotmem.ListResponse, error) {
	res, err := b.Node.List(ctx, r)
	b.pages++
	switch b.pages {
	case 1:
		_, lerr := b.Learn(ctx, &robotmem.LearnRequest{Insight: "a new one"})
		must(b.t, lerr)
	case 3:
		for _, m := range res.Memories[:2] {
			_, ferr := b.Forget(ctx, &robotmem.ForgetRequest{MemoryID: m.MemoryID, Reason: "test"})
			must(b.t, ferr)
		}
	}
	return res, err
}

// TestExportMissesNothingWhileTheMemoryChanges pages through 2.5 pages.
func TestExportMissesNothingWhileTheMemoryChanges(t *testing.T) {
	m := openNode(t, filepath.Join(t.TempDir(), "memory.db"))
	req := &robotmem.LearnBatchRequest{KeepDuplicates: true}
	var want []string
	for i := range listPage*2 + listPage/2 {
		text := fmt.Sprintf("fact %d", i)
		want = append(want, text)
		req.Items = append(req.Items, robotmem.LearnRequest{Insight: text})
	}
	_, err := m.LearnBatch(t.Context(), req)
	must(t, err)

	var out bytes.Buffer
	must(t, Export(t.Context(), &busyService{m, 0, t}, &out, "", nil))
	var got []string
	for line := range bytes.Lines(out.Bytes()) {
		var item robotmem.LearnRequest
		must(t, json.Unmarshal(line, &item))
		got = append(got, item.Insight)
	}
	end := len(want) - listPage // of the second page
	want = slices.Delete(want, end-2, end)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("exported (-want +got):\n%s", diff)
	}
	pages, _, err := listPages(t.Context(), m, "")
	if err != nil || len(pages) != 3 {
		t.Errorf("%d pages, %v", len(pages), err)
	}
}

// damagedService leaves a memory out of each page, as a node does with one that cannot be read.
type damagedService struct{ robotmem.Service }

func (d damagedService) List(ctx context.Context, r *robotmem.ListRequest) (*robotmem.ListResponse, error) {
	res, err := d.Service.List(ctx, r)
	if err == nil {
		res.Memories = res.Memories[1:]
	}
	return res, err
}

func TestExportContinuesAfterADamagedMemory(t *testing.T) {
	m := openNode(t, filepath.Join(t.TempDir(), "memory.db"))
	req := &robotmem.LearnBatchRequest{KeepDuplicates: true}
	for i := range listPage + 2 {
		req.Items = append(req.Items, robotmem.LearnRequest{Insight: fmt.Sprintf("fact %d", i)})
	}
	_, err := m.LearnBatch(t.Context(), req)
	must(t, err)
	var out bytes.Buffer
	must(t, Export(t.Context(), damagedService{m}, &out, "", nil))
	if got, want := bytes.Count(out.Bytes(), []byte("\n")), listPage; got != want {
		t.Errorf("exported %d facts, want %d", got, want)
	}
}

// FuzzLines reads any bytes as lines: each that is not blank is either an item with its own
// bytes, or bad with a reason.
func FuzzLines(f *testing.F) {
	for _, seed := range []string{
		"", "{\"insight\":\"a\"}\n\n\xef\xbb\xbf{\"insight\":\"b\"}\r\nnot json\n[1]\n{\"insight\":", "\xff\n", "{}{}", "db: memory.db\nembedder: none\n", "\t",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(checkLines)
}

func checkLines(t *testing.T, data []byte) {
	r := &lineReader{in: bufio.NewReader(bytes.NewReader(data))}
	items, bad := 0, 0
	for {
		b, err := readBatch(r)
		must(t, err)
		if b.lines == 0 {
			break
		}
		for i, item := range b.items {
			if !json.Valid(item) || i > 0 && b.numbers[i] <= b.numbers[i-1] {
				t.Errorf("line %d: %q", b.numbers[i], item)
			}
		}
		for _, line := range b.bad {
			if line.reason == "" {
				t.Errorf("line %d is bad without a reason", line.number)
			}
		}
		if _, err := json.Marshal(b.items); err != nil {
			t.Error(err)
		}
		items, bad = items+len(b.items), bad+len(b.bad)
	}
	if r.offset != int64(len(data)) {
		t.Errorf("%d of %d bytes were read", r.offset, len(data))
	}
	written := 0
	for line := range strings.SplitSeq(strings.TrimPrefix(string(data), "\xef\xbb\xbf"), "\n") {
		if strings.TrimSpace(line) != "" {
			written++
		}
	}
	if items+bad != written {
		t.Errorf("%d lines are written, %d are items and %d bad", written, items, bad)
	}
}

// hookedService calls before with the number of each List.
type hookedService struct {
	robotmem.Service
	calls  int
	before func(call int)
}

func (h *hookedService) List(ctx context.Context, r *robotmem.ListRequest) (*robotmem.ListResponse, error) {
	h.calls++
	h.before(h.calls)
	return h.Service.List(ctx, r)
}

// A fact that is restored while the pages are read moves no other one out of them.
func TestExportWhileAFactIsRestored(t *testing.T) {
	m, err := local.Open(t.Context(), filepath.Join(t.TempDir(), "memory.db"), local.Options{})
	must(t, err)
	defer m.Close()
	n := 2*listPage + 100
	var ids []int64
	for i := 0; i < n; i += 500 {
		r := &robotmem.LearnBatchRequest{KeepDuplicates: true}
		for k := i; k < min(i+500, n); k++ {
			r.Items = append(r.Items, robotmem.LearnRequest{Insight: fmt.Sprintf("fact number %d", k)})
		}
		res, err := m.LearnBatch(t.Context(), r)
		must(t, err)
		for _, one := range res.Results {
			ids = append(ids, one.MemoryID)
		}
	}
	restored := ids[n-listPage/2]
	_, err = m.Forget(t.Context(), &robotmem.ForgetRequest{MemoryID: restored, Reason: "to be restored"})
	must(t, err)
	h := &hookedService{Service: m, before: func(call int) {
		if call == 5 { // the first page is read for the second time
			_, err := m.Restore(t.Context(), &robotmem.MemoryRequest{MemoryID: restored})
			must(t, err)
		}
	}}
	var out bytes.Buffer
	must(t, Export(t.Context(), h, &out, "", nil))
	if got := bytes.Count(out.Bytes(), []byte("\n")); got < n-1 || h.calls < 5 {
		t.Errorf("%d of %d facts in %d calls", got, n, h.calls)
	}
}

// A page of facts that cannot be read ends neither the export nor the program.
func TestExportBesideAnUnreadablePage(t *testing.T) {
	m, err := local.Open(t.Context(), filepath.Join(t.TempDir(), "memory.db"), local.Options{})
	must(t, err)
	defer m.Close()
	n := 2*listPage + 100
	r := &robotmem.LearnBatchRequest{KeepDuplicates: true}
	for i := range n {
		r.Items = append(r.Items, robotmem.LearnRequest{Insight: fmt.Sprintf("fact number %d", i)})
	}
	_, err = m.LearnBatch(t.Context(), r)
	must(t, err)
	var out bytes.Buffer
	must(t, Export(t.Context(), unreadablePage{m}, &out, "", nil))
	if got := bytes.Count(out.Bytes(), []byte("\n")); got != n-listPage {
		t.Errorf("%d facts, want %d", got, n-listPage)
	}
}

// unreadablePage leaves out all memories of the second page.
type unreadablePage struct{ robotmem.Service }

func (u unreadablePage) List(ctx context.Context, r *robotmem.ListRequest) (*robotmem.ListResponse, error) {
	res, err := u.Service.List(ctx, r)
	if err == nil && r.Cursor != "" && len(res.Memories) == listPage {
		res.Memories = nil
	}
	return res, err
}

// What a caller may give to learn comes back from an export and an import, but for the episode and the name of
// the call.
func TestExportKeepsEveryFieldOfLearn(t *testing.T) {
	m := openNode(t, filepath.Join(t.TempDir(), "memory.db"))
	at := time.Date(2026, 3, 1, 14, 5, 0, 0, time.UTC)
	pinned := true
	given := robotmem.LearnRequest{
		Insight: "the lid jammed", Context: robotmem.Object{"cell": "A"}, Collection: "arm7", Tags: []string{"lid"},
		ObservedAt: &at, Pinned: &pinned, Outcome: "failure", Source: "shift report",
	}
	v := reflect.ValueOf(given)
	for i := range v.NumField() {
		if name := v.Type().Field(i).Name; v.Field(i).IsZero() && name != "SessionID" && name != "RequestID" && name != "Supersedes" && v.Type().Field(i).IsExported() {
			t.Errorf("the test does not set %s", name)
		}
	}
	_, err := m.Learn(t.Context(), &given)
	must(t, err)

	var out bytes.Buffer
	must(t, Export(t.Context(), m, &out, "", nil))
	var got robotmem.LearnRequest
	must(t, json.Unmarshal(out.Bytes(), &got))
	if diff := cmp.Diff(given, got); diff != "" {
		t.Errorf("exported (-want +got):\n%s", diff)
	}
}
