package engine

import (
	"context"
	"fmt"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/robotmem/robotmem-go/robotmem"
)

// A batch is not prepared for a caller that has left.
func TestABatchEndsWhenItsCallerLeaves(t *testing.T) {
	e, err := openFile(t.Context(), filepath.Join(t.TempDir(), "memory.db"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	req := &robotmem.LearnBatchRequest{}
	for i := range 10_000 {
		req.Items = append(req.Items, robotmem.LearnRequest{Insight: fmt.Sprintf("the gripper needs %d.5 N for the glass at shelf %d", i, i%7), Context: robotmem.Object{"params": map[string]any{"force": i}}})
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, err := e.LearnBatch(ctx, req); robotmem.KindOf(err) != robotmem.Unavailable {
		t.Errorf("%v, want unavailable", err)
	}
	runtime.ReadMemStats(&after)
	if took := after.TotalAlloc - before.TotalAlloc; took > 32<<20 {
		t.Errorf("%d MiB were allocated", took>>20)
	}
}
