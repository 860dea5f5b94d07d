package local

import (
	"slices"
	"testing"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/recall"
)

// A text that the model refused because of a fixed error gets its vector from a reembed.
func TestReembedTriesRefusedTextsAgain(t *testing.T) {
	w := newWordEmbedder("test:words", 64)
	w.refuse = "glass"
	e := openTest(t, Options{Embedder: w})
	learnAll(t, e, "the gripper holds wet glass", "battery low")
	embedded(t, e)
	w.set(func() { w.refuse = "" })
	if err := e.Reembed(t.Context(), func(int64, int64) {}); err != nil {
		t.Fatal(err)
	}
	embedded(t, e)
	res, ids := recalled(t, e, &robotmem.RecallRequest{Query: "glass wet", N: 1, Explain: true})
	if !slices.ContainsFunc(res.Memories[0].Found, func(f robotmem.ListEntry) bool { return f.List == recall.ListVector }) {
		t.Errorf("%v found by %v only", ids, res.Memories[0].Found)
	}
}
