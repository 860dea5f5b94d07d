package engine

import (
	"testing"
)

// The reembed of another process drops the model that the background maintenance is
// about to load.
func TestKeeperOutlivesADroppedModel(t *testing.T) {
	t.Parallel()
	w := newWordEmbedder("test:words", 64)
	e := openTest(t, Options{Embedder: w})
	learnAll(t, e, "the gripper holds wet glass")
	embedded(t, e)
	before := e.index.Vectors.Codes.Len()
	if err := e.index.FollowVectors(t.Context(), 99); err != nil {
		t.Fatal(err)
	}
	if got := e.index.Vectors.Codes.Len(); got != before || before != 1 {
		t.Errorf("%d codes, %d before", got, before)
	}
}
