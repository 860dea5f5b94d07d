//go:build !nomodel

package embedding_test

import (
	"context"
	"errors"
	"io"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/embedding"
)

// auto is the model in the program, but for a memory that has vectors of another one.
func TestAutoIsTheModelInTheProgram(t *testing.T) {
	for bound, want := range map[string]string{"": embedding.BuiltinModel(), embedding.BuiltinModel(): embedding.BuiltinModel(), "ollama:nomic-embed-text": ""} {
		e, err := embedding.Open("auto", embedding.Options{OllamaURL: "127.0.0.1:9", Models: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		e.(interface{ Bind(model string) }).Bind(bound)
		if got := e.State().Model; got != want {
			t.Errorf("bound to %q: got %q, want %q", bound, got, want)
		}
		if err := e.(io.Closer).Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestBuiltin(t *testing.T) {
	e := open(t, "builtin", embedding.Options{})
	vectors, err := e.Embed(t.Context(), robotmem.ForMemory, []string{"no Wi-Fi coverage in the stairwell", "the arm dropped a cup"})
	if err != nil || len(vectors) != 2 || len(vectors[0]) != 384 {
		t.Fatal(len(vectors), err)
	}
	asked, err := e.Embed(t.Context(), robotmem.ForQuestion, []string{"哪里没有无线网络"})
	if err != nil {
		t.Fatal(err)
	}
	near, far := 0.0, 0.0
	for i, x := range asked[0] {
		near += float64(x) * float64(vectors[0][i])
		far += float64(x) * float64(vectors[1][i])
	}
	if near < far+0.02 {
		t.Errorf("the right text has cosine %.3f, the other %.3f", near, far)
	}

	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := e.Embed(ended, robotmem.ForMemory, []string{"a text"}); !errors.Is(err, robotmem.Unavailable) {
		t.Errorf("a call that has ended: %v", err)
	}
}

// After a text the threads of memories rest, and a question does not wait for them.
func TestMemoriesTakeTheirShareOfACore(t *testing.T) {
	e := open(t, "builtin", embedding.Options{CPU: embedding.MinCPU})
	if _, err := e.Embed(t.Context(), robotmem.ForMemory, []string{"the arm dropped a cup on the second shelf of the kitchen"}); err != nil {
		t.Fatal(err)
	}
	asked, cancelAsked := context.WithTimeout(t.Context(), time.Minute)
	defer cancelAsked()
	if _, err := e.Embed(asked, robotmem.ForQuestion, []string{"what fell?"}); err != nil {
		t.Errorf("a question waited: %v", err)
	}
	soon, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := e.Embed(soon, robotmem.ForMemory, []string{"the gripper closed"}); !errors.Is(err, robotmem.Unavailable) {
		t.Errorf("the second text came within a hundredth of a core: %v", err)
	}
}

func TestSeveralCores(t *testing.T) {
	texts := []string{"a cup", "a door", "an arm", "a shelf", "a wheel", "a lidar", "a map", "a battery", "a dock"}
	var want [][]float32
	for _, cpu := range []float64{1, 1.5, 4} {
		e := open(t, "builtin", embedding.Options{CPU: cpu})
		got, err := e.Embed(t.Context(), robotmem.ForMemory, texts)
		if err != nil {
			t.Fatal(err)
		}
		if want == nil {
			want = got
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%v cores (-one +got):\n%s", cpu, diff)
		}
	}
}

func TestShareOutOfRange(t *testing.T) {
	for _, cpu := range []float64{-1, 0.001, 65, math.NaN(), math.Inf(1)} {
		var failed *robotmem.Error
		if _, err := embedding.Open("builtin", embedding.Options{CPU: cpu}); !errors.As(err, &failed) || failed.Field != "embed_cpu" {
			t.Errorf("%v: %v", cpu, err)
		}
	}
}

// Whatever a robot stores has a vector.
func TestAnyTextHasAVector(t *testing.T) {
	control := make([]byte, 0, 64)
	for c := range byte(32) {
		control = append(control, c, 'x')
	}
	var scripts strings.Builder
	for i := range 10_000 {
		scripts.WriteRune(rune(0xA1 + i*11)) // letters and signs of most scripts below U+1AE00
	}
	e := open(t, "builtin", embedding.Options{})
	for name, text := range map[string]string{
		"16 KiB":          strings.Repeat("the gripper slipped on wet glass. ", 482),
		"one word":        strings.Repeat("ab", 1<<10),
		"pictures":        strings.Repeat("🤖🔋", 200),
		"scripts":         scripts.String(),
		"control":         string(control),
		"invalid UTF-8":   "wet \xff\xfe glass",
		"zero width":      "\u200b\u200d\ufeff",
		"nul":             "\x00",
		"combining marks": "e" + strings.Repeat("\u0301", 500),
	} {
		got, err := e.Embed(t.Context(), robotmem.ForMemory, []string{text})
		if err != nil || len(got) != 1 || len(got[0]) != 384 {
			t.Errorf("%s: %d vectors, %v", name, len(got), err)
		}
	}
}
