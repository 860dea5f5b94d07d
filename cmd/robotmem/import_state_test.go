package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/robotmem/robotmem-go/robotmem"
)

// dyingService stores batches until its last one, which it stores without
// saying so or, when lost, not at all.
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
	return nil, &robotmem.Error{Op: "learn_batch", Kind: robotmem.Unavailable, Err: fmt.Errorf("the power went")}
}

// TestImportResumesWithoutDoubling interrupts an import in the middle of a
// batch: stored or not, the second run ends with every line once.
func TestImportResumesWithoutDoubling(t *testing.T) {
	for _, lost := range []bool{false, true} {
		t.Run(fmt.Sprintf("lost=%t", lost), func(t *testing.T) {
			dir := t.TempDir()
			a := &app{Stdout: io.Discard, Stderr: io.Discard}
			a.Config.DB = filepath.Join(dir, "memory.db")
			m, err := a.Open(t.Context(), a.Config.DB)
			if err != nil {
				t.Fatal(err)
			}
			defer m.Close()
			lines := filepath.Join(dir, "facts.jsonl")
			var b strings.Builder
			for i := range 3 * importRows {
				if i == importRows {
					b.WriteString("{\"insight\":\"x\",\"unknown\":1}\n") // the batch begins with a bad line
				}
				fmt.Fprintf(&b, "{\"insight\":\"the same text in groups of seven: %d\"}\n", i/7)
			}
			if err := os.WriteFile(lines, []byte(b.String()), 0o644); err != nil {
				t.Fatal(err)
			}
			if err := importWith(t, a, lines, &dyingService{m, 2, lost}); err == nil {
				t.Fatal("the first run succeeded, want it to be interrupted")
			}
			// Another writer is no sign that the batch was stored.
			if _, err := m.Learn(t.Context(), &robotmem.LearnRequest{Insight: "meanwhile, elsewhere"}); err != nil {
				t.Fatal(err)
			}
			if err := importWith(t, a, lines, m); err != nil {
				t.Fatal(err)
			}
			stats, err := m.Stats(t.Context(), &robotmem.StatsRequest{})
			if err != nil {
				t.Fatal(err)
			}
			if got, want := stats.Total, int64(3*importRows+1); got != want {
				t.Errorf("%d facts, want %d", got, want)
			}
		})
	}
}

// importWith runs one import into m as the command does.
func importWith(t *testing.T, a *app, path string, m robotmem.Service) error {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	state, err := a.openImportState(f, true)
	if err != nil {
		t.Fatal(err)
	}
	r := &importer{a: a, m: m, op: robotmem.OpByName("learn_batch"), bar: a.newProgress("import", 0), state: state, keep: true}
	if _, err := r.resume(t.Context(), f); err != nil {
		t.Fatal(err)
	}
	if err := r.run(t.Context()); err != nil {
		return err
	}
	return state.remove()
}

func TestLineReaderBoundsLines(t *testing.T) {
	long := strings.Repeat("x", maxLine+1)
	r := newLineReader(strings.NewReader("one\r\n"+long+"\ntwo"), 0, 0)
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
