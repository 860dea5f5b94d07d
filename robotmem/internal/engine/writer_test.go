package engine

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
	"github.com/robotmem/robotmem-go/robotmem/internal/store/sqlite"
)

// Waiting callers share a commit, and one that fails does not affect the others.
func TestWritersShareACommit(t *testing.T) {
	e := openTest(t, Options{})
	hold := make(chan struct{})
	started := make(chan struct{})
	go func() {
		_ = e.Store.Write(context.Background(), func(*store.Tx) error { close(started); <-hold; return nil })
	}()
	<-started
	var wg sync.WaitGroup
	errs := make([]error, 40)
	for i := range errs {
		wg.Go(func() {
			errs[i] = e.Store.Write(context.Background(), func(tx *store.Tx) error {
				rec, err := e.records.Prepare("fact", fmt.Sprintf("written by caller %d", i), nil)
				if err != nil {
					return err
				}
				rec.Collection = "shared"
				if err := e.learn(tx, rec, false, &robotmem.LearnResponse{}); err != nil {
					return err
				}
				if i%4 == 0 {
					return robotmem.Errorf(robotmem.Invalid, "test", "refused after writing")
				}
				return nil
			})
		})
	}
	for e.Store.Waiting() < len(errs) {
		time.Sleep(time.Millisecond) // until all of them wait
	}
	close(hold)
	wg.Wait()
	for i, err := range errs {
		if (err != nil) != (i%4 == 0) {
			t.Errorf("caller %d: %v", i, err)
		}
	}
	res, err := e.Recall(t.Context(), &robotmem.RecallRequest{Query: "written", Collection: "shared", N: 100})
	if err != nil || res.Total != 30 {
		t.Errorf("%d facts stored, want 30 (%v)", res.Total, err)
	}
	d, err := e.Doctor(t.Context(), nil)
	if err != nil || !d.Healthy {
		t.Errorf("doctor: %+v, %v", d, err)
	}
}

// A caller whose deadline passes does not wait for the writes before it, and its write
// is not stored.
func TestWithdrawnWrite(t *testing.T) {
	e := openTest(t, Options{})
	hold := make(chan struct{})
	started := make(chan struct{})
	done := make(chan error)
	go func() {
		done <- e.Store.Write(context.Background(), func(*store.Tx) error { close(started); <-hold; return nil })
	}()
	<-started
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	_, err := e.Learn(ctx, &robotmem.LearnRequest{Insight: "too late"})
	if !errors.Is(err, robotmem.Unavailable) {
		t.Errorf("got %v, want unavailable", err)
	}
	close(hold)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	res, err := e.Recall(t.Context(), &robotmem.RecallRequest{Query: "late"})
	if err != nil || res.Total != 0 {
		t.Errorf("%d facts stored, want none (%v)", res.Total, err)
	}
}

// Repair rebuilds every index, also one that cannot be read.
func TestRepair(t *testing.T) {
	t.Parallel()
	e := openTest(t, Options{})
	for i := range 30 {
		_, err := e.Learn(t.Context(), &robotmem.LearnRequest{Insight: fmt.Sprintf("shelf %d is blocked", i), Tags: []string{"mine"}, Context: robotmem.Object{"params": map[string]any{"i": i}, "spatial": map[string]any{"position": []any{i, 0}}}})
		if err != nil {
			t.Fatal(err)
		}
	}
	if _, err := e.Forget(t.Context(), &robotmem.ForgetRequest{MemoryID: 3, Reason: "test"}); err != nil {
		t.Fatal(err)
	}
	for _, damage := range []string{
		"DELETE FROM memories_fts WHERE rowid = 5",
		"INSERT INTO memories_fts(rowid, content) VALUES (77, 'nobody')",
		"UPDATE memories_fts_data SET block = x'00112233' WHERE id > 10",
		"DELETE FROM signatures",
	} {
		t.Run(damage, func(t *testing.T) {
			fillFullText(t, e)
			if err := e.Store.Write(t.Context(), func(tx *store.Tx) error { return sqlite.FileOf(tx.Conn).Exec(damage) }); err != nil {
				t.Fatal(err)
			}
			d, err := e.Doctor(t.Context(), nil)
			if err != nil || d.Healthy {
				t.Fatalf("doctor does not see it: %+v, %v", d, err)
			}
			r, err := e.Repair(t.Context(), nil)
			if err != nil || !r.Doctor.Healthy {
				t.Fatalf("repair: %+v, %v", r, err)
			}
			res, err := e.Recall(t.Context(), &robotmem.RecallRequest{Query: "blocked", N: 100, Tags: []string{"mine"}, ContextFilter: robotmem.Object{"params.i": map[string]any{"$gte": 0}}})
			if err != nil || res.Total != 29 {
				t.Errorf("%d memories after repair, want 29 (%v)", res.Total, err)
			}
		})
	}
}
