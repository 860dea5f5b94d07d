package engine

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/ncruces/go-sqlite3"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/admin"
)

// holdLock holds a file's write lock as another process does, until it is released.
func holdLock(t *testing.T, path string) (letGo func()) {
	t.Helper()
	other, err := sqlite3.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { other.Close() })
	if err := other.Exec("BEGIN IMMEDIATE"); err != nil {
		t.Fatal(err)
	}
	return func() {
		t.Helper()
		if err := other.Exec("ROLLBACK"); err != nil {
			t.Fatal(err)
		}
	}
}

func openAt(t *testing.T, path string, o Options, edits ...fileOption) *Engine {
	t.Helper()
	e, err := openFile(t.Context(), path, o, edits...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	return e
}

// A caller whose context ends while another process has the lock returns then, not at
// the lock's time limit, and has stored nothing.
func TestWithdrawnWhileTheLockIsHeld(t *testing.T) {
	path := filepath.Join(t.TempDir(), "memory.db")
	e := openAt(t, path, Options{}, waiting(time.Hour))
	letGo := holdLock(t, path)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := e.Learn(ctx, &robotmem.LearnRequest{Insight: "too late"}); !errors.Is(err, robotmem.Unavailable) {
		t.Errorf("got %v, want unavailable", err)
	}
	letGo()
	if _, err := e.Learn(t.Context(), &robotmem.LearnRequest{Insight: "in time"}); err != nil {
		t.Error(err)
	}
	res, err := e.List(t.Context(), &robotmem.ListRequest{})
	if err != nil || res.Total != 1 {
		t.Errorf("%d facts, want 1 (%v)", res.Total, err)
	}
}

// Callers that arrive while the writer waits for the lock share the next commit.
func TestCallersJoinThoseWhoWaitForTheLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "memory.db")
	e := openAt(t, path, Options{}, waiting(time.Hour))
	if _, err := e.Learn(t.Context(), &robotmem.LearnRequest{Insight: "before the lock"}); err != nil {
		t.Fatal(err)
	}
	letGo := holdLock(t, path)
	var wg sync.WaitGroup
	for i := range 40 {
		wg.Go(func() {
			if _, err := e.Learn(context.Background(), &robotmem.LearnRequest{Insight: fmt.Sprintf("fact %d of those that wait", i)}); err != nil {
				t.Error(err)
			}
		})
		for i == 0 && e.Store.Waiting() > 0 {
			time.Sleep(time.Millisecond) // until the writer waits with the first
		}
	}
	joined := func() bool { return e.Store.Waiting() == 0 }
	for deadline := time.Now().Add(30 * time.Second); !joined() && time.Now().Before(deadline); {
		time.Sleep(time.Millisecond)
	}
	if !joined() {
		t.Errorf("%d callers still stand outside", e.Store.Waiting())
	}
	letGo()
	wg.Wait()
	res, err := e.List(t.Context(), &robotmem.ListRequest{})
	if err != nil || res.Total != 41 {
		t.Errorf("%d facts, want 41 (%v)", res.Total, err)
	}
}

// A node can open and read while another process has the lock.
func TestOpensWhileTheLockIsHeld(t *testing.T) {
	path := filepath.Join(t.TempDir(), "memory.db")
	e := openAt(t, path, Options{})
	if _, err := e.Learn(t.Context(), &robotmem.LearnRequest{Insight: "the gripper holds"}); err != nil {
		t.Fatal(err)
	}
	holdLock(t, path)
	late, err := openFile(t.Context(), path, Options{}, waiting(20*time.Millisecond))
	if err != nil {
		t.Fatal(err)
	}
	defer late.Close()
	if res, err := late.Recall(t.Context(), &robotmem.RecallRequest{Query: "gripper"}); err != nil || res.Total != 1 {
		t.Errorf("%d memories, want 1 (%v)", res.Total, err)
	}
	if _, err := late.Learn(t.Context(), &robotmem.LearnRequest{Insight: "the gripper lets go"}); !errors.Is(err, robotmem.Unavailable) {
		t.Errorf("learn: %v, want unavailable", err)
	}
}

// What was recalled for an episode is told at once, also while another process writes.
func TestSessionWhileTheLockIsHeld(t *testing.T) {
	path := filepath.Join(t.TempDir(), "memory.db")
	e := openAt(t, path, Options{}, waiting(time.Hour))
	s, err := e.StartSession(t.Context(), &robotmem.StartSessionRequest{})
	if err != nil {
		t.Fatal(err)
	}
	fact, err := e.Learn(t.Context(), &robotmem.LearnRequest{Insight: "the gripper holds wet glass"})
	if err != nil {
		t.Fatal(err)
	}
	letGo := holdLock(t, path)
	defer letGo()
	if _, err := e.Recall(t.Context(), &robotmem.RecallRequest{Query: "wet glass", ForSession: s.SessionID}); err != nil {
		t.Fatal(err)
	}
	got, err := e.Session(t.Context(), &robotmem.SessionRequest{SessionID: s.SessionID})
	if err != nil || len(got.Recalled) != 1 || got.Recalled[0].MemoryID != fact.MemoryID {
		t.Errorf("recalled %+v, %v", got, err)
	}
	days, err := e.Activity(t.Context(), &admin.ActivityRequest{Days: 1})
	if err != nil {
		t.Fatal(err)
	}
	recalls := int64(0)
	for _, b := range days.Buckets {
		recalls += b.Recalls
	}
	if recalls != 1 {
		t.Errorf("%d recalls, want 1", recalls)
	}
}
