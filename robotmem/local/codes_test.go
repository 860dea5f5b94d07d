package local

import (
	"errors"
	"io"
	"testing"
)

// A node may still store the codes of a model that another has dropped: that
// keeps no later model's out, and never replaces them.
func TestCodesOfADroppedModelKeepNoneOut(t *testing.T) {
	w := newWordEmbedder("test:words", 64)
	e := openTest(t, Options{Embedder: w})
	learnAll(t, e, "the gripper holds wet glass")
	embedded(t, e)
	e.index.vectors.mu.RLock()
	book, m := e.index.vectors.codebook, e.index.vectors.model
	e.index.vectors.mu.RUnlock()
	save := func(m model) error {
		return e.store.saveSnapshot(t.Context(), codesSnapshot, codesRevision(m.id, m.seq), 0, func(w io.Writer) error { return writeCodes(w, book, m) })
	}
	gone, late := m, m
	gone.seq, late.id = 1_000_000, m.id+1
	if err := save(gone); err != nil {
		t.Fatal(err)
	}
	if err := save(late); err != nil {
		t.Errorf("the later model's: %v", err)
	}
	if err := save(gone); !errors.Is(err, errSuperseded) {
		t.Errorf("the dropped model's again: %v, want %v", err, errSuperseded)
	}
	if err := e.index.restoreCodes(t.Context(), late); err != nil || e.index.vectors.codes.Len() != 1 || e.index.vectors.model.seq != late.seq {
		t.Errorf("restored %d codes up to %d (%v)", e.index.vectors.codes.Len(), e.index.vectors.model.seq, err)
	}
}
