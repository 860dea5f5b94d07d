package engine

import (
	"context"
	"testing"

	"github.com/robotmem/robotmem-go/robotmem"
)

// sharedEmbedder returns the same slice to every caller.
type sharedEmbedder struct {
	*wordEmbedder
	one []float32
}

func (s *sharedEmbedder) Embed(_ context.Context, _ robotmem.Purpose, texts []string) ([][]float32, error) {
	out := make([][]float32, len(texts))
	for i := range out {
		out[i] = s.one
	}
	return out, nil
}

func TestVectorsOfTheEmbedderAreLeftAsTheyAre(t *testing.T) {
	t.Parallel()
	s := &sharedEmbedder{newWordEmbedder("test:words", 4), []float32{3, 4, 0, 0}}
	e := openTest(t, Options{Embedder: s})
	learnAll(t, e, "the gripper holds wet glass")
	embedded(t, e)
	if s.one[0] != 3 {
		t.Errorf("the embedder's own vector became %v", s.one)
	}
}
