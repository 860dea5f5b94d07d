package engine

import (
	"context"
	"testing"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
)

// The last vector was deleted by an update and the embedder fails: a node that opens now
// still finishes loading the vector index.
func TestCodesAreInStepWithoutTheLastVector(t *testing.T) {
	path := t.TempDir() + "/m.db"
	w := newWordEmbedder("test:words", 64)
	e, err := openFile(t.Context(), path, Options{Embedder: w})
	if err != nil {
		t.Fatal(err)
	}
	learnAll(t, e, "the gripper holds wet glass")
	embedded(t, e)
	learnAll(t, e, "battery low in aisle four")
	embedded(t, e)
	w.set(func() { w.err = robotmem.Errorf(robotmem.Unavailable, "", "connection refused") })
	if _, err := e.Update(t.Context(), &robotmem.UpdateRequest{MemoryID: 2, NewContent: "battery full"}); err != nil {
		t.Fatal(err)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	if e, err = openFile(t.Context(), path, Options{Embedder: w}); err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	start := time.Now()
	if err := e.Warm(ctx); err != nil {
		t.Errorf("after %v: %v", time.Since(start), err)
	}
}
