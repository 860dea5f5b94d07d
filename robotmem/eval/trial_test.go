package eval_test

import (
	"context"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/eval"
)

// polyglot gives the two sentences of a pair near vectors in the languages that it knows, and
// random vectors in others. It refuses Korean.
type polyglot struct{ calls uint64 }

func (p *polyglot) State() robotmem.EmbedderState {
	return robotmem.EmbedderState{Model: "test:polyglot"}
}

func (p *polyglot) Embed(_ context.Context, _ robotmem.Purpose, texts []string) ([][]float32, error) {
	p.calls++
	rng := rand.New(rand.NewPCG(7, p.calls))
	vectors := make([][]float32, len(texts))
	for i, text := range texts {
		if strings.ContainsRune(text, '컵') {
			return nil, robotmem.Errorf(robotmem.Invalid, "texts[0]", "is not known")
		}
		v := make([]float32, 64)
		for d := range v {
			v[d] = float32(rng.NormFloat64())
		}
		if strings.ContainsAny(text, "abcdefgh") {
			v[i/2] += 50
		}
		vectors[i] = v
	}
	return vectors, nil
}

func TestTryEmbedderTellsWhichLanguagesWork(t *testing.T) {
	trial, err := eval.TryEmbedder(t.Context(), &polyglot{})
	if err != nil {
		t.Fatal(err)
	}
	if len(trial.FoundOf5) != 8 || trial.Model != "test:polyglot" || trial.TextsPerSecond <= 0 {
		t.Errorf("got %+v, want eight languages", trial)
	}
	for language, found := range trial.FoundOf5 {
		want := strings.Contains("English Spanish French German", language)
		if got := slices.Contains(trial.Works, language); got != want || want && found != 5 {
			t.Errorf("%s works %v with %d pairs, want %v", language, got, found, want)
		}
	}
	if want := "use it for memories in English, Spanish, French, German; "; !strings.HasPrefix(trial.Advice, want) {
		t.Errorf("the advice is %q, want %q", trial.Advice, want)
	}
}

func TestOwnSetAsksEachMemoryInItsCollection(t *testing.T) {
	set := eval.OwnSet([]robotmem.Memory{{MemoryID: 7, Collection: "hall", Content: "the gripper slips on wet glass when it is cold in the hall"}, {MemoryID: 8, Collection: "hall", Content: "short"}}, 1)
	if len(set.Docs) != 2 || len(set.Queries) != 1 || set.Queries[0].Meta["conv"] != "hall" || set.Judged["7"]["7"] != 1 {
		t.Errorf("got %+v", set)
	}
}
