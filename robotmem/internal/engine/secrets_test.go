package engine

import (
	"errors"
	"strings"
	"testing"

	"github.com/robotmem/robotmem-go/robotmem"
)

// pat is put together here, so that no scanner of this repository takes it for a real one.
var pat = "ghp_" + "x7Qd29LmVbKpRt5WzYcNfHs83JgTaE4uDqXo"

func TestSecretsInTexts(t *testing.T) {
	ask := func() *robotmem.LearnRequest {
		return &robotmem.LearnRequest{
			Insight: "push to the fork with " + pat,
			Context: robotmem.Object{
				"env":    map[string]any{"notes": []any{"first", "use " + pat}},
				"params": map[string]any{"force": 12.5},
				"steps":  []any{map[string]any{"command": []any{[]any{"git", "push", pat}}}},
			},
		}
	}

	for policy, want := range map[string]struct {
		stored, told bool
		err          error
	}{"": {true, true, nil}, "warn": {true, true, nil}, "mask": {false, true, nil}, "off": {true, false, nil}, "refuse": {err: robotmem.Invalid}} {
		e := openTest(t, Options{Secrets: policy})
		res, err := e.Learn(t.Context(), ask())
		if !errors.Is(err, want.err) {
			t.Fatalf("%s: %v", policy, err)
		}
		if err != nil {
			if strings.Contains(err.Error(), pat) {
				t.Errorf("the error repeats the secret: %v", err)
			}
			if all, _ := e.List(t.Context(), &robotmem.ListRequest{}); len(all.Memories) > 0 {
				t.Errorf("%s: it is stored", policy)
			}
			continue
		}

		m, err := e.Get(t.Context(), &robotmem.MemoryRequest{MemoryID: res.MemoryID})
		if err != nil {
			t.Fatal(err)
		}
		context, err := robotmem.EncodeJSON(m.Context)
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(m.Content+string(context), pat); n != 3 && want.stored || n != 0 && !want.stored {
			t.Errorf("%s: %q %s", policy, m.Content, context)
		}
		if !strings.Contains(string(context), "12.5") || !strings.Contains(string(context), "first") {
			t.Errorf("%s: the context became %s", policy, context)
		}
		notes := strings.Join(res.Interpreted, "\n")
		if strings.Contains(notes, "github-pat") != want.told || strings.Contains(notes, pat) {
			t.Errorf("%s: told %q", policy, notes)
		}
	}

	e := openTest(t, Options{Secrets: "mask"})
	first, err := e.Learn(t.Context(), &robotmem.LearnRequest{Insight: "the fork wants a token"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.Update(t.Context(), &robotmem.UpdateRequest{MemoryID: first.MemoryID, NewContent: "the fork wants " + pat}); err != nil {
		t.Fatal(err)
	}
	saved, err := e.SavePerception(t.Context(), &robotmem.SavePerceptionRequest{Description: "the screen shows " + pat})
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range []int64{first.MemoryID, saved.MemoryID} {
		m, err := e.Get(t.Context(), &robotmem.MemoryRequest{MemoryID: id})
		if err != nil || !strings.HasSuffix(m.Content, "[secret: github-pat]") {
			t.Errorf("%q, %v", m.Content, err)
		}
	}
	if _, err := openFile(t.Context(), t.TempDir()+"/m.db", Options{Secrets: "maybe"}); !errors.Is(err, robotmem.Invalid) {
		t.Errorf("an unknown policy: %v", err)
	}
}
