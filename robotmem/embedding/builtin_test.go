//go:build !nomodel

package embedding_test

import (
	"context"
	"errors"
	"io"
	"testing"

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
