package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
	"github.com/robotmem/robotmem-go/robotmem/internal/store/sqlite"
)

// Two connections that read the vectors of one recall give what its own snapshot has, each once,
// whatever was written since and when one of them fails.
func TestVectorsReadByTwoConnections(t *testing.T) {
	t.Parallel()
	e := openTest(t, Options{Embedder: newWordEmbedder("test:words", 64)})
	var texts []string
	var ids []int64
	for i := range 200 {
		texts = append(texts, fmt.Sprintf("drawer %d of cabinet %d sticks", i, i*i))
		ids = append(ids, int64(i+1))
	}
	learnAll(t, e, texts...)
	embedded(t, e)
	read := func(c *store.Conn, m *store.Model) map[int64][]byte {
		got := map[int64][]byte{}
		err := e.Store.Vectors(c, m, ids, func(id int64, raw []byte) error {
			if got[id] != nil {
				t.Errorf("vector %d came twice", id)
			}
			got[id] = bytes.Clone(raw)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	var before map[int64][]byte
	err := e.Store.Read(t.Context(), func(c *store.Conn) error {
		m, err := c.PresentModel() // begins the snapshot
		if err != nil {
			return err
		}
		before = read(c, &m)
		if len(before) != len(ids) {
			t.Errorf("%d vectors of %d", len(before), len(ids))
		}
		for id := int64(150); id < 160; id++ { // other vectors
			if _, err := e.Update(t.Context(), &robotmem.UpdateRequest{MemoryID: id, NewContent: fmt.Sprintf("a lamp above shelf %d", id)}); err != nil {
				return err
			}
		}
		embedded(t, e)
		err = e.Store.Write(t.Context(), func(tx *store.Tx) error {
			return sqlite.FileOf(tx.Conn).Exec("DELETE FROM vectors_" + strconv.FormatInt(m.ID, 10) + " WHERE memory_id % 9 = 2")
		})
		if err != nil {
			return err
		}
		if after := read(c, &m); !maps.EqualFunc(before, after, bytes.Equal) {
			t.Error("the snapshot has other vectors after a write")
		}
		var whileHeld func() error
		whileHeld = func() error { // takes all other connections
			wait, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
			defer cancel()
			err := e.Store.Read(wait, func(*store.Conn) error { return whileHeld() })
			if wait.Err() != nil && errors.Is(err, context.DeadlineExceeded) {
				if after := read(c, &m); !maps.EqualFunc(before, after, bytes.Equal) {
					t.Error("one connection reads other vectors than two")
				}
				return nil
			}
			return err
		}
		if err := whileHeld(); err != nil {
			return err
		}
		for _, failing := range []int64{2, 199} { // in the half of each connection
			var seen []int64
			broken := errors.New("broken")
			err := e.Store.Vectors(c, &m, ids, func(id int64, _ []byte) error {
				if id == failing {
					return broken
				}
				seen = append(seen, id)
				return nil
			})
			if slices.Sort(seen); !errors.Is(err, broken) || len(slices.Compact(slices.Clone(seen))) != len(seen) {
				t.Errorf("vector %d fails: %v after %d", failing, err, len(seen))
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	err = e.Store.Read(t.Context(), func(c *store.Conn) error {
		m, err := c.PresentModel()
		if err != nil {
			return err
		}
		if after := read(c, &m); len(after) >= len(ids) || bytes.Equal(after[155], before[155]) {
			t.Error("the writes have changed nothing")
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
