package engine

import (
	"bytes"
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/budget"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
	"github.com/robotmem/robotmem-go/robotmem/internal/store/sqlite"
)

const laterText = "zqxsecret that somebody still reads"

// A reader that uses the log delays the end of a purge, which the response reports. The
// memory is deleted, and the next node that opens the file completes the purge.
func TestPurgeIsFinishedLater(t *testing.T) {
	e := openTest(t, Options{}, waiting(50*time.Millisecond))
	path := e.Store.Path()
	learnAll(t, e, laterText, "something else")
	reader, err := sqlite.OpenTables(t.Context(), path, sqlite.ConnOptions{CacheKiB: budget.ReaderCacheKiB})
	if err != nil {
		t.Fatal(err)
	}
	if err := reader.File.Exec("BEGIN"); err != nil {
		t.Fatal(err)
	}
	if _, err := reader.File.Number("SELECT count(*) FROM memories"); err != nil {
		t.Fatal(err)
	}
	res, err := e.Forget(t.Context(), &robotmem.ForgetRequest{MemoryID: 1, Reason: "asked for", Purge: true})
	if err != nil || !strings.HasPrefix(res.Purged.OldPages, "pending: another program reads") {
		t.Fatalf("purge answers %+v, %v", res, err)
	}
	if _, err := e.Get(t.Context(), &robotmem.MemoryRequest{MemoryID: 1}); robotmem.KindOf(err) != robotmem.NotFound {
		t.Errorf("it is still there: %v", err)
	}
	if err := reader.Close(); err != nil {
		t.Fatal(err)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	next, err := openFile(t.Context(), path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := next.Close(); err != nil {
			t.Error(err)
		}
	}()
	waitScrubbed(t, next)
	if holds(t, path, "zqxsecret") {
		t.Error("it is in the file still")
	}
}

// A cancellation or a crash between the two parts of a purge leaves a purge that is
// completed later.
func TestPurgeSurvivesAnInterruption(t *testing.T) {
	t.Parallel()
	e := openTest(t, Options{})
	path := e.Store.Path()
	learnAll(t, e, laterText, "something else")
	err := e.Store.Write(t.Context(), func(tx *store.Tx) error {
		m, err := tx.Memory(1, tx.Now)
		if err == nil {
			_, err = tx.Purge(m, "asked for")
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if err := e.Store.WriteAlone(t.Context(), func(c *store.Conn) error { return e.maintenance.RewriteAlone(gone, c, 1) }); err == nil {
		t.Fatal("an interrupted rewriting is done")
	}
	if d, err := e.Doctor(t.Context(), nil); err != nil || !d.Healthy {
		t.Errorf("doctor in between: %+v, %v", d, err)
	}
	if err := e.maintenance.Scrub(t.Context()); err != nil {
		t.Fatal(err)
	}
	waitScrubbed(t, e)
	if holds(t, path, "zqxsecret") {
		t.Error("it is in the file still")
	}
}

func waitScrubbed(t *testing.T, e *Engine) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		var left int64
		if err := e.Store.Read(t.Context(), func(c *store.Conn) (err error) { left, err = c.ToScrub(); return err }); err != nil {
			t.Fatal(err)
		}
		if left == 0 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal("the purge is never finished")
		}
	}
}

func holds(t *testing.T, path, word string) bool {
	t.Helper()
	for _, suffix := range []string{"", "-wal"} {
		data, err := os.ReadFile(path + suffix)
		if err == nil && bytes.Contains(data, []byte(word)) {
			return true
		}
	}
	return false
}
