package embedding_test

import (
	"errors"
	"io"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/embedding"
)

// clock is a clock that tests set.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func newClock() *clock { return &clock{now: time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)} }

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// hasty advances the clock by ten seconds with each call, so that an event that is
// due in minutes happens at once.
func (c *clock) hasty() time.Time {
	c.advance(10 * time.Second)
	return c.Now()
}

func (c *clock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// open opens an embedder that is closed with the test.
func open(t testing.TB, spec string, o embedding.Options) robotmem.Embedder {
	t.Helper()
	e, err := embedding.Open(spec, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.(io.Closer).Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	bindElsewhere(e)
	return e
}

// bindElsewhere makes auto that of a memory with vectors of another model than the one in the program.
func bindElsewhere(e robotmem.Embedder) {
	if auto, ok := e.(interface{ Bind(model string) }); ok {
		auto.Bind("another:model")
	}
}

func embed(t testing.TB, e robotmem.Embedder, purpose robotmem.Purpose, texts ...string) [][]float32 {
	t.Helper()
	vectors, err := e.Embed(t.Context(), purpose, texts)
	if err != nil {
		t.Fatal(err)
	}
	return vectors
}

// largestDifference is the largest difference between numbers of a and b.
func largestDifference(t testing.TB, a, b []float32) float64 {
	t.Helper()
	if len(a) != len(b) {
		t.Fatalf("vectors of %d and %d numbers", len(a), len(b))
	}
	largest := 0.0
	for i := range a {
		largest = max(largest, math.Abs(float64(a[i]-b[i])))
	}
	return largest
}

func TestRealOllama(t *testing.T) {
	t.Parallel()
	server := startOllama(t)
	server.CreateModel("tiny")
	now := newClock()
	options := embedding.Options{OllamaURL: server.URL, Clock: now.Now, QuestionTimeout: 20 * time.Second}
	e := open(t, "ollama:tiny", options)

	t.Run("vectors", func(t *testing.T) {
		texts := []string{"wet glass slips at 12.5 N", "the door opens to the left", "wet glass slips at 12.5 N", "湿玻璃会滑"}
		batch := embed(t, e, robotmem.ForMemory, texts...)
		for i, v := range batch {
			if got, want := len(v), ggufDim; got != want {
				t.Errorf("vector %d has %d numbers, want %d", i, got, want)
			}
			if slices.ContainsFunc(v, func(x float32) bool { return math.IsNaN(float64(x)) || math.IsInf(float64(x), 0) }) {
				t.Errorf("vector %d is not finite: %v", i, v)
			}
			single := embed(t, e, robotmem.ForMemory, texts[i])[0]
			if got := largestDifference(t, v, single); got > 1e-4 {
				t.Errorf("text %d differs by %g alone and in a batch", i, got)
			}
		}
		if got := largestDifference(t, batch[0], batch[2]); got > 1e-4 {
			t.Errorf("equal texts differ by %g", got)
		}
		if got := largestDifference(t, batch[0], batch[1]); got < 1e-2 {
			t.Errorf("different texts differ by %g only", got)
		}
		question := embed(t, e, robotmem.ForQuestion, texts[0])[0]
		if got := largestDifference(t, question, batch[0]); got > 1e-4 {
			t.Errorf("a model without prompts has another vector for a question: %g", got)
		}
	})

	t.Run("more texts than a batch", func(t *testing.T) {
		texts := make([]string, 70)
		for i := range texts {
			texts[i] = strings.Repeat("door ", i%7+1) + "opens"
		}
		vectors := embed(t, e, robotmem.ForMemory, texts...)
		for i := 7; i < len(texts); i++ {
			if got := largestDifference(t, vectors[i], vectors[i-7]); got > 1e-4 {
				t.Fatalf("equal texts %d and %d differ by %g", i-7, i, got)
			}
		}
	})

	t.Run("a long text", func(t *testing.T) {
		if got := len(embed(t, e, robotmem.ForMemory, strings.Repeat("grip force ", 50_000))[0]); got != ggufDim {
			t.Errorf("got %d numbers, want %d", got, ggufDim)
		}
	})

	t.Run("a blank text", func(t *testing.T) {
		_, err := e.Embed(t.Context(), robotmem.ForMemory, []string{"door", " \n"})
		if !errors.Is(err, robotmem.Invalid) || !strings.Contains(err.Error(), "texts: one") {
			t.Errorf("got %v, want Invalid that names the texts", err)
		}
	})

	t.Run("an unknown model", func(t *testing.T) {
		e := open(t, "ollama:no-such-model", options)
		_, err := e.Embed(t.Context(), robotmem.ForMemory, []string{"door"})
		if !errors.Is(err, robotmem.NotFound) && !errors.Is(err, robotmem.Unavailable) || !strings.Contains(err.Error(), "`ollama pull no-such-model`") {
			t.Errorf("got %v, want the pull command", err)
		}
	})

	t.Run("auto", func(t *testing.T) {
		hasty := options
		hasty.Clock = newClock().hasty
		e := open(t, "auto", hasty)
		if got := waitForModel(t, e); got != "ollama:tiny" {
			t.Errorf("got %q, want ollama:tiny", got)
		}
		embed(t, e, robotmem.ForQuestion, "door")
	})

	t.Run("a crash", func(t *testing.T) {
		server.Stop()
		_, err := e.Embed(t.Context(), robotmem.ForQuestion, []string{"what slips?"})
		if !errors.Is(err, robotmem.Unavailable) || !strings.Contains(err.Error(), "`ollama serve`") {
			t.Errorf("got %v, want Unavailable with the command that starts it", err)
		}
		state := e.State()
		if !strings.Contains(state.Reason, "`ollama serve`") || !state.Until.Equal(now.Now().Add(time.Minute)) {
			t.Errorf("got the state %+v, want a minute's pause with a reason", state)
		}
		server.Start()
		if _, err := e.Embed(t.Context(), robotmem.ForQuestion, []string{"what slips?"}); !errors.Is(err, robotmem.Unavailable) {
			t.Errorf("got %v within the pause, want Unavailable", err)
		}
		now.advance(time.Minute)
		embed(t, e, robotmem.ForQuestion, "what slips?")
		if got, want := e.State(), (robotmem.EmbedderState{Model: "ollama:tiny"}); got != want {
			t.Errorf("got the state %+v, want %+v", got, want)
		}
	})
}

// waitForModel returns the model of an embedder once it has found one.
func waitForModel(t testing.TB, e robotmem.Embedder) string {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		if model := e.State().Model; model != "" {
			return model
		}
	}
	t.Fatal("no model was found")
	return ""
}
