package engine

import (
	"errors"
	"io"
	"testing"

	"github.com/robotmem/robotmem-go/robotmem/internal/index"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
)

// A node may still store the vector snapshot of a model that another node has dropped:
// this must neither prevent nor replace the snapshot of a later model.
func TestCodesOfADroppedModelKeepNoneOut(t *testing.T) {
	t.Parallel()
	w := newWordEmbedder("test:words", 64)
	e := openTest(t, Options{Embedder: w})
	learnAll(t, e, "the gripper holds wet glass")
	embedded(t, e)
	e.index.Vectors.Mu.RLock()
	book, m := e.index.Vectors.Codebook, e.index.Vectors.Model
	e.index.Vectors.Mu.RUnlock()
	save := func(m store.Model) error {
		return e.Store.SaveSnapshot(t.Context(), store.VectorsSnapshot, index.CodesRevision(m.ID, m.Seq), 0, func(w io.Writer) error { return index.WriteCodes(w, book, m) })
	}
	gone, late := m, m
	gone.Seq, late.ID = 1_000_000, m.ID+1
	if err := save(gone); err != nil {
		t.Fatal(err)
	}
	if err := save(late); err != nil {
		t.Errorf("the later model's: %v", err)
	}
	if err := save(gone); !errors.Is(err, store.ErrSuperseded) {
		t.Errorf("the dropped model's again: %v, want %v", err, store.ErrSuperseded)
	}
	if err := e.index.RestoreVectors(t.Context(), late); err != nil || e.index.Vectors.Codes.Len() != 1 || e.index.Vectors.Model.Seq != late.Seq {
		t.Errorf("restored %d codes up to %d (%v)", e.index.Vectors.Codes.Len(), e.index.Vectors.Model.Seq, err)
	}
}
