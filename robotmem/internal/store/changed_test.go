package store_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/budget"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
	"github.com/robotmem/robotmem-go/robotmem/internal/store/sqlite"
	"github.com/robotmem/robotmem-go/robotmem/local"
)

// A damaged page ends a scan. The rows before it are not visited again, and those after
// it are visited.
func TestEachChangedVisitsRowsOnceBesideADamagedPage(t *testing.T) {
	const memories, pageSize = 300, 4096
	path := filepath.Join(t.TempDir(), "memory.db")
	n, err := local.Open(t.Context(), path, local.Options{Durability: local.DurabilityNormal})
	if err != nil {
		t.Fatal(err)
	}
	for i := range memories {
		if _, err := n.Learn(t.Context(), &robotmem.LearnRequest{Insight: fmt.Sprintf("torque %d.5 Nm on joint %d", i, i%7)}); err != nil {
			t.Fatal(err)
		}
	}
	if err := n.Close(); err != nil {
		t.Fatal(err)
	}
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for at := pageSize; ; at += pageSize { // the page of a fact in the middle
		const leaf = 13
		if page := file[at : at+pageSize]; page[0] == leaf && bytes.Contains(page, []byte("defaultfacttorque 150.5")) {
			clear(page)
			break
		}
	}
	if err := os.WriteFile(path, file, 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := sqlite.OpenTables(t.Context(), path, sqlite.ConnOptions{ReadOnly: true, CacheKiB: budget.ReaderCacheKiB})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	visits := map[int64]int{}
	f, err := c.EachChanged(store.Changes{Page: store.ChangedTexts, One: store.TextOf}, 0, 2*memories, func(s store.Row) error {
		visits[s.ColumnInt64(0)]++
		return nil
	})
	if err != nil || len(f.Unread) == 0 || f.Rows != memories || len(visits)+len(f.Unread) != memories {
		t.Fatalf("visited %d of %d, %+v, %v", len(visits), memories, f, err)
	}
	for id, times := range visits {
		if times != 1 {
			t.Errorf("memory %d was visited %d times", id, times)
		}
	}
}
