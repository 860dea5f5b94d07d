package engine

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
)

// Another process ends its reembed and drops the model of this one after its last text
// was embedded.
func TestReembedThatLostItsModelDropsNoOther(t *testing.T) {
	t.Parallel()
	path := t.TempDir() + "/m.db"
	a, err := openFile(t.Context(), path, Options{Embedder: newWordEmbedder("test:first", 64)})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	learnAll(t, a, "the gripper holds wet glass", "battery low in aisle four")
	embedded(t, a)
	b, err := openFile(t.Context(), path, Options{Embedder: newWordEmbedder("test:second", 32)})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	err = b.Reembed(t.Context(), func(done, total int64) {
		if done == total && total > 0 { // all are there; another process is faster with its own model
			werr := a.Store.Write(t.Context(), func(tx *store.Tx) error {
				m, err := tx.PresentModel()
				if err != nil {
					return err
				}
				return tx.Promote(m.ID)
			})
			if werr != nil {
				t.Error(werr)
			}
		}
	})
	if !errors.Is(err, robotmem.Conflict) {
		t.Errorf("%v, want a conflict", err)
	}
	rerr := a.Store.Read(t.Context(), func(c *store.Conn) error {
		m, err := c.PresentModel()
		if m.Name != "test:first" {
			t.Errorf("the present model is %q", m.Name)
		}
		return err
	})
	if rerr != nil {
		t.Fatal(rerr)
	}
}

// A reembed whose model is dropped by another one fails with an explanation.
func TestReembedWhoseTableIsDroppedIsAConflict(t *testing.T) {
	t.Parallel()
	path := t.TempDir() + "/m.db"
	a, err := openFile(t.Context(), path, Options{Embedder: newWordEmbedder("test:first", 64)})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	var texts []string
	for i := range 600 {
		texts = append(texts, fmt.Sprintf("fact number %d of the gripper", i))
	}
	learnAll(t, a, texts...)
	embedded(t, a)
	b, err := openFile(t.Context(), path, Options{Embedder: newWordEmbedder("test:second", 32)})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	var once sync.Once
	err = b.Reembed(t.Context(), func(done, _ int64) {
		if done > 0 {
			once.Do(func() {
				_ = a.Store.Write(t.Context(), func(tx *store.Tx) error {
					m, err := tx.PresentModel()
					if err != nil {
						return err
					}
					return tx.Promote(m.ID)
				})
			})
		}
	})
	if !errors.Is(err, robotmem.Conflict) {
		t.Errorf("%v, want a conflict", err)
	}
}
