package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/ncruces/go-sqlite3"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/admin"
	"github.com/robotmem/robotmem-go/robotmem/internal/lexical"
	"github.com/robotmem/robotmem-go/robotmem/internal/recall"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
	"github.com/robotmem/robotmem-go/robotmem/internal/store/sqlite"
	"github.com/robotmem/robotmem-go/robotmem/robotmemtest/rounds"
)

// countdown is a context whose deadline passes at a chosen check.
type countdown struct {
	context.Context
	left *int
}

func (c countdown) Err() error {
	if *c.left--; *c.left < 0 {
		return context.DeadlineExceeded
	}
	return nil
}

func TestDeadlineDuringAPlaceRecall(t *testing.T) {
	t.Parallel()
	e := openTest(t, Options{})
	for i := range 3 {
		_, _ = e.Learn(t.Context(), &robotmem.LearnRequest{Insight: fmt.Sprintf("shelf %d", i), Context: robotmem.Object{"spatial": map[string]any{"position": []any{i, 0}}}})
	}
	for n := range 200 {
		func() {
			defer func() {
				if p := recover(); p != nil {
					t.Errorf("deadline at look %d: panic: %v", n, p)
				}
			}()
			left := n
			_, _ = e.Recall(countdown{t.Context(), &left}, &robotmem.RecallRequest{Query: "shelf", SpatialSort: &robotmem.SpatialSort{Field: "spatial.position", Target: []float64{0, 0}}})
		}()
	}
}

func TestFailuresOfAnOldSnapshot(t *testing.T) {
	t.Parallel()
	e := openTest(t, Options{})
	for i := range 100 {
		_, _ = e.Learn(t.Context(), &robotmem.LearnRequest{Insight: fmt.Sprintf("try%d went wrong", i), Context: robotmem.Object{"task": map[string]any{"success": false}}})
	}
	if _, err := e.RecentFailures(t.Context(), &admin.RecentFailuresRequest{}); err != nil { // the condition is kept
		t.Fatal(err)
	}
	err := e.Store.Read(t.Context(), func(c *store.Conn) error {
		if _, err := c.Changes(); err != nil { // the snapshot begins
			return err
		}
		if _, err := e.Learn(context.Background(), &robotmem.LearnRequest{Insight: "one more", Context: robotmem.Object{"task": map[string]any{"success": false}}}); err != nil {
			return err
		}
		if _, err := e.Recall(context.Background(), &robotmem.RecallRequest{Query: "one"}); err != nil {
			return err
		}
		return e.recentFailures(c, &admin.RecentFailuresRequest{Collection: "*", Limit: 10}, &robotmem.ListResponse{})
	})
	if err != nil {
		t.Errorf("recent failures while others learn: %v", err)
	}
}

func TestRecallOfAnOldSnapshot(t *testing.T) {
	t.Parallel()
	e := openTest(t, Options{})
	for i := range 3 {
		_, _ = e.Learn(t.Context(), &robotmem.LearnRequest{Insight: fmt.Sprintf("lesson learned %d", i), Context: robotmem.Object{"task": map[string]any{"success": false}}})
	}
	err := e.Store.Read(t.Context(), func(c *store.Conn) error {
		if _, err := c.Changes(); err != nil { // the snapshot begins
			return err
		}
		// meanwhile another caller learns, and a third recalls
		if _, err := e.Learn(context.Background(), &robotmem.LearnRequest{Insight: "lesson learned 3", Context: robotmem.Object{"task": map[string]any{"success": false}}}); err != nil {
			return err
		}
		if _, err := e.Recall(context.Background(), &robotmem.RecallRequest{Query: "lesson"}); err != nil {
			return err
		}
		if err := e.recentFailures(c, &admin.RecentFailuresRequest{Collection: "*", Limit: 10}, &robotmem.ListResponse{}); err != nil {
			t.Errorf("recent failures: %v", err)
		}
		q, err := recall.Parse(&robotmem.RecallRequest{Collection: "default", Type: "fact", N: 2}, e.Now())
		if err != nil {
			return err
		}
		res, err := (&source{Engine: e}).answer(t.Context(), c, q)
		if err != nil {
			return err
		}
		if len(res.Memories) != 2 {
			t.Errorf("newest 2 of 3 (or 4): got %d", len(res.Memories))
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

func TestKeptFiltersWhileOthersWrite(t *testing.T) { // -race
	e := openTest(t, Options{})
	var b robotmem.LearnBatchRequest
	for i := range 5000 {
		b.Items = append(b.Items, robotmem.LearnRequest{Insight: fmt.Sprintf("item%d", i), Context: robotmem.Object{"i": i}})
	}
	if _, err := e.LearnBatch(t.Context(), &b); err != nil {
		t.Fatal(err)
	}
	stop := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
			}
			e.index.Columns.Mu.Lock() // what sync does for a memory that changed
			e.index.Columns.ChangeContexts(17, `{"i":17}`)
			e.index.Columns.Mu.Unlock()
		}
	})
	for k := range rounds.Of(50, 300) {
		_, _ = e.Recall(context.Background(), &robotmem.RecallRequest{ContextFilter: robotmem.Object{"i": map[string]any{"$gt": k}}, N: 1})
	}
	close(stop)
	wg.Wait()
}

func TestManyOpenOneFile(t *testing.T) {
	t.Parallel()
	path := t.TempDir() + "/m.db"
	e, err := openFile(t.Context(), path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	_ = e.Close()
	bad := 0
	var mu sync.Mutex
	for range rounds.Of(10, 40) {
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				e, err := openFile(t.Context(), path, Options{})
				if err != nil {
					mu.Lock()
					bad++
					var x *sqlite3.Error
					errors.As(err, &x)
					if bad < 4 {
						t.Log(err, x)
					}
					mu.Unlock()
					return
				}
				if _, err := e.Learn(t.Context(), &robotmem.LearnRequest{Insight: "x"}); err != nil {
					t.Error(err)
				}
				if err := e.Close(); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
	}
	if bad > 0 {
		t.Errorf("%d opens failed", bad)
	}
}

func TestALockCostsAGroupItsTimeOnce(t *testing.T) {
	e := openTest(t, Options{}, waiting(200*time.Millisecond))
	db, err := sqlite.OpenPlain(e.Store.Path(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	// The engine may still be writing what it begins with.
	if err := errors.Join(db.BusyTimeout(10*time.Second), db.Exec("BEGIN IMMEDIATE")); err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Go(func() {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			_, _ = e.Learn(ctx, &robotmem.LearnRequest{Insight: fmt.Sprint("x", i)})
		})
	}
	wg.Wait()
	if d := time.Since(start); d > 2500*time.Millisecond { // one after another they would wait 4 s
		t.Errorf("lock limit 200 ms, callers' deadline 1 s; the last caller waited %v", d)
	}
	_ = db.Exec("ROLLBACK")
}

func TestColdStartWithDeadlines(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine and many memories: nothing for -race")
	}
	e := openTest(t, Options{})
	for range rounds.Of(1, 3) {
		var b robotmem.LearnBatchRequest
		b.KeepDuplicates = true
		for i := range 10000 {
			b.Items = append(b.Items, robotmem.LearnRequest{Insight: fmt.Sprintf("shelf %d", i), Context: robotmem.Object{"k": i}})
		}
		if _, err := e.LearnBatch(t.Context(), &b); err != nil {
			t.Fatal(err)
		}
	}
	f, err := openFile(t.Context(), e.Store.Path(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	ok := 0
	for range 100 {
		if _, err := f.Recall(t.Context(), &robotmem.RecallRequest{Query: "shelf", DeadlineMS: 20}); err == nil {
			ok++
		} else if ok == 0 {
			_ = err
		}
	}
	start := time.Now()
	_, err = f.Recall(t.Context(), &robotmem.RecallRequest{Query: "shelf"})
	t.Logf("%d of 100 answered within 20 ms; one without a deadline took %v (%v)", ok, time.Since(start), err)
	again := 0
	for range 100 {
		if _, err := f.Recall(t.Context(), &robotmem.RecallRequest{Query: "shelf 77", DeadlineMS: 20}); err == nil {
			again++
		}
	}
	t.Logf("then %d of 100", again)
	if ok == 0 {
		t.Error("a node whose callers all set a deadline never answers")
	}
}

// A snapshot that is ahead of the tables, which somebody has put back, would hide what is learnt since.
func TestASnapshotAheadOfTheTablesIsDropped(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "memory.db")
	e, err := openFile(t.Context(), path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	learnAll(t, e, "the gripper holds wet glass", "battery low in aisle four")
	if _, err := e.Recall(t.Context(), &robotmem.RecallRequest{Query: "glass", ContextFilter: robotmem.Object{"a": "b"}}); err != nil {
		t.Fatal(err)
	}
	for name, write := range map[string]func(io.Writer) error{
		store.PostingsSnapshot: func(w io.Writer) error { return lexical.New(lexical.Bm25Params).Freeze().Write(w) },
		store.ColumnsSnapshot:  e.index.Columns.Freeze().Write,
	} {
		if err := e.Store.SaveSnapshot(t.Context(), name, 1001, 0, write); err != nil {
			t.Fatal(name, err)
		}
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}

	for _, insight := range []string{"door blocked by a pallet", "the crane squeaks"} { // also after a snapshot was stored anew
		e, err = openFile(t.Context(), path, Options{})
		if err != nil {
			t.Fatal(err)
		}
		learnAll(t, e, insight)
		for _, query := range []string{insight, "the gripper holds wet glass"} {
			res, err := e.Recall(t.Context(), &robotmem.RecallRequest{Query: query, N: 1})
			if err != nil || res.Total != 1 || res.Memories[0].Content != query {
				t.Errorf("%q is not found: %v, %v", query, res, err)
			}
		}
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	}
}
