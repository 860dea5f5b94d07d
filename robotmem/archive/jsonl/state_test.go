package jsonl

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/admin"
)

// An interrupted import goes on only in the memory that holds what it has stored. Another one, such as a backup that
// was restored meanwhile, gets every line.
func TestInterruptedImportOfAReplacedMemory(t *testing.T) {
	const rows = 3 * batchRows
	lines := &strings.Builder{}
	for i := range rows {
		fmt.Fprintf(lines, "{\"insight\":\"robot %d has a gripper\"}\n", i)
	}

	tests := map[string]struct {
		keep   bool
		before int    // facts of the memory that is there afterwards
		same   bool   // it is the one that was imported into
		note   string // in what the import says, or in its error
		fails  bool
	}{
		"the same":                            {same: true, note: "going on after line 520"},
		"the same, every line kept":           {same: true, keep: true, note: "going on after line 520"},
		"an empty one":                        {note: "the memory no longer holds the 520 lines"},
		"another with as many facts":          {before: 1000, note: "beginning with the first line"},
		"an empty one, every line kept":       {keep: true, note: "remove DIR/memory.db.import-", fails: true},
		"another with facts, every line kept": {keep: true, before: 1000, note: "from the first line again", fails: true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			db, path := filepath.Join(dir, "memory.db"), filepath.Join(dir, "facts.jsonl")
			must(t, os.WriteFile(path, []byte(lines.String()), 0o600))

			var said []string
			run := func(svc robotmem.Service) (Counts, error) {
				f, err := os.Open(path)
				must(t, err)
				defer f.Close()
				state, err := OpenState(f, db, "")
				must(t, err)
				return Import(t.Context(), svc, f, Options{State: state, KeepDuplicates: tt.keep, Note: func(text string) { said = append(said, text) }})
			}
			first := openNode(t, db)
			if _, err := run(&dyingService{Service: first, batches: 3, lost: true}); err == nil || len(said) > 0 {
				t.Fatalf("the first import ended with %v and said %q", err, said)
			}

			there := first
			if !tt.same {
				there = openNode(t, filepath.Join(dir, "other.db"))
			}
			for i := range tt.before {
				_, err := there.Learn(t.Context(), &robotmem.LearnRequest{Insight: fmt.Sprintf("door %d is open", i)})
				must(t, err)
			}
			counts, err := run(there)
			if tt.fails {
				if !errors.Is(err, robotmem.Conflict) || !strings.Contains(strings.ReplaceAll(err.Error(), dir, "DIR"), tt.note) {
					t.Errorf("got %v", err)
				}
				return
			}
			must(t, err)
			if len(said) != 1 || !strings.Contains(said[0], tt.note) {
				t.Errorf("it said %q, want %q", said, tt.note)
			}
			stats, err := there.Stats(t.Context(), &admin.StatsRequest{})
			must(t, err)
			if stats.Total != int64(rows+tt.before) || counts.Created != rows {
				t.Errorf("the memory holds %d facts, of which the import claims %d", stats.Total, counts.Created)
			}
		})
	}
}

// An import that its caller ends goes on after the last batch that was stored.
func TestEndedImportGoesOnAfterItsLastBatch(t *testing.T) {
	dir := t.TempDir()
	db, path := filepath.Join(dir, "memory.db"), filepath.Join(dir, "facts.jsonl")
	lines := &strings.Builder{}
	for i := range batchRows + firstRows + 1 {
		fmt.Fprintf(lines, "{\"insight\":\"robot %d has a gripper\"}\n", i)
	}
	must(t, os.WriteFile(path, []byte(lines.String()), 0o600))
	m := openNode(t, db)

	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var said string
	for _, ctx := range []context.Context{ctx, t.Context()} {
		f, err := os.Open(path)
		must(t, err)
		defer f.Close()
		state, err := OpenState(f, db, "")
		must(t, err)
		_, err = Import(ctx, m, f, Options{State: state, Note: func(text string) { said = text }, Progress: func(n int64) {
			if n > 0 {
				cancel()
			}
		}})
		if (err != nil) != (ctx.Err() != nil) {
			t.Fatal(err)
		}
	}
	if want := fmt.Sprintf("going on after line %d", firstRows); said != want {
		t.Errorf("it said %q, want %q", said, want)
	}
}
