package engine

import (
	"fmt"
	"testing"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
)

// The command that recall names for another dimension works.
func TestReembedTakesANewDimensionOfTheSameModel(t *testing.T) {
	t.Parallel()
	w := newWordEmbedder("test:words", 64)
	e := openTest(t, Options{Embedder: w})
	learnAll(t, e, "the gripper holds wet glass", "battery low in aisle four")
	embedded(t, e)
	w.set(func() { w.dims = 32 })
	if err := e.Reembed(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	embedded(t, e)
	res, _ := recalled(t, e, &robotmem.RecallRequest{Query: "wet glass", N: 1})
	if res.Mode != "hybrid" {
		t.Errorf("mode %s, degraded %v", res.Mode, res.Degraded)
	}
}

// The worker completes the model of an interrupted first reembed.
func TestInterruptedFirstReembedIsTakenUpByTheWorker(t *testing.T) {
	path := t.TempDir() + "/m.db"
	a, err := openFile(t.Context(), path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	learnAll(t, a, "the gripper holds wet glass", "battery low in aisle four")
	// The state after the first page of a reembed, when the process is killed.
	a.embeddings.Embedder = newWordEmbedder("test:words", 64)
	if _, err := a.embeddings.BindModel(t.Context(), "test:words", store.ModelFilling); err != nil {
		t.Fatal(err)
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	b, err := openFile(t.Context(), path, Options{Embedder: newWordEmbedder("test:words", 64)})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	for end := time.Now().Add(6 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		res, _ := recalled(t, b, &robotmem.RecallRequest{Query: "wet glass", N: 1})
		if res.Mode == "hybrid" {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("still %s %v", res.Mode, res.Degraded)
		}
	}
}

// What the worker embeds beside a reembed counts as done.
func TestReembedCountsWhatTheWorkerDid(t *testing.T) {
	path := t.TempDir() + "/m.db"
	a, err := openFile(t.Context(), path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	items := make([]robotmem.LearnRequest, 3000)
	for i := range items {
		items[i].Insight = fmt.Sprintf("grasp %d of the wet glass", i)
	}
	if _, err := a.LearnBatch(t.Context(), &robotmem.LearnBatchRequest{Items: items}); err != nil {
		t.Fatal(err)
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}

	b, err := openFile(t.Context(), path, Options{Embedder: newWordEmbedder("test:words", 64)})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	var last, all int64
	if err := b.Reembed(t.Context(), func(done, total int64) { last, all = done, total }); err != nil {
		t.Fatal(err)
	}
	if last != all {
		t.Errorf("%d of %d are said to be embedded", last, all)
	}
}
