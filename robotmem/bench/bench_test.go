package bench

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/local"
)

// A bench measures every kind of call, with vectors where a question needs them, and leaves nothing behind.
func TestFactsMeasuresEveryKindOfCall(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	t.Setenv("TMP", temp)
	opened := []bool{}
	open := func(ctx context.Context, path string, embedder robotmem.Embedder) (*local.Node, error) {
		opened = append(opened, embedder != nil)
		return local.Open(ctx, path, local.Options{Embedder: embedder, Durability: local.DurabilityNormal})
	}

	r, err := Facts(t.Context(), Least, "normal", open, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Measures) != 9 || r.Facts != Least || r.FileBytes == 0 || r.Durability != "normal" {
		t.Errorf("got %+v", r)
	}
	for _, m := range r.Measures {
		if m.Calls == 0 || m.PerSecond <= 0 || m.P50 > m.P99 {
			t.Errorf("%s: %+v", m.Name, m)
		}
	}
	if len(opened) != 3 || opened[0] || !opened[1] || !opened[2] {
		t.Errorf("opened with embedders: %v, want none first, then two", opened)
	}
	if left, _ := filepath.Glob(filepath.Join(temp, "*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}
