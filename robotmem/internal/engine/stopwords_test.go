package engine

import (
	"slices"
	"testing"

	"github.com/robotmem/robotmem-go/robotmem"
)

// With a failing embedder the response equals that of a node without one.
func TestFailingEmbedderHidesNoStopWords(t *testing.T) {
	t.Parallel()
	w := newWordEmbedder("test:words", 64)
	with, without := openTest(t, Options{Embedder: w}), openTest(t, Options{})
	for _, e := range []*Engine{with, without} {
		learnAll(t, e, "this is the one", "battery low in aisle four")
	}
	embedded(t, with)
	w.set(func() { w.err = robotmem.Errorf(robotmem.Unavailable, "", "connection refused") })
	req := &robotmem.RecallRequest{Query: "is the xylophone"}
	_, want := recalled(t, without, req)
	res, got := recalled(t, with, req)
	if !slices.Equal(got, want) {
		t.Errorf("with a failing embedder %v (%s %v), without one %v", got, res.Mode, res.Degraded, want)
	}
}
