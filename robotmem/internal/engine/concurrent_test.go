package engine

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"sync"
	"testing"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/index"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
)

// Concurrent callers of all operations on two nodes with one file: calls fail only
// because of each other's changes, and the indexes equal the tables afterwards.
func TestConcurrentCalls(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "memory.db")
	var engines []*Engine
	for range 2 {
		e, err := openFile(t.Context(), path, Options{}, fast)
		if err != nil {
			t.Fatal(err)
		}
		engines = append(engines, e)
	}
	ctx := t.Context()
	var wg sync.WaitGroup
	for worker := range 8 {
		e := engines[worker%2]
		rng := rand.New(rand.NewPCG(uint64(worker), 1))
		wg.Go(func() {
			for i := range 60 {
				id := int64(1 + rng.IntN(80))
				var err error
				switch rng.IntN(9) {
				case 0, 1, 2:
					_, err = e.Learn(ctx, &robotmem.LearnRequest{Insight: fmt.Sprintf("aisle %d is blocked by crate %d", rng.IntN(40), i), Context: robotmem.Object{"spatial": map[string]any{"position": []any{i, worker}}}})
				case 3:
					_, err = e.Recall(ctx, &robotmem.RecallRequest{Query: "blocked crate", ContextFilter: robotmem.Object{"spatial.position": map[string]any{"$exists": true}}, SpatialSort: &robotmem.SpatialSort{Field: "spatial.position", Target: []float64{1, 1}, Mode: "fused"}})
				case 4:
					_, err = e.Update(ctx, &robotmem.UpdateRequest{MemoryID: id, NewContent: fmt.Sprintf("aisle %d is open", rng.IntN(40))})
				case 5:
					_, err = e.Forget(ctx, &robotmem.ForgetRequest{MemoryID: id, Reason: "test"})
				case 6:
					_, err = e.Restore(ctx, &robotmem.MemoryRequest{MemoryID: id})
				case 7:
					_, err = e.SavePerception(ctx, &robotmem.SavePerceptionRequest{Description: "a picture of the aisle", Data: fmt.Sprint(rng.IntN(5))})
				case 8:
					var s *robotmem.StartSessionResponse
					if s, err = e.StartSession(ctx, &robotmem.StartSessionRequest{}); err == nil {
						for range 4 {
							_, err = e.Learn(ctx, &robotmem.LearnRequest{Insight: fmt.Sprintf("shelf note %d", rng.IntN(3)), SessionID: s.SessionID, Context: robotmem.Object{"n": i}})
						}
						if err == nil {
							_, err = e.EndSession(ctx, &robotmem.EndSessionRequest{SessionID: s.SessionID})
						}
					}
				}
				if err != nil && !errors.Is(err, robotmem.NotFound) && !errors.Is(err, robotmem.Conflict) {
					t.Errorf("worker %d: %v", worker, err)
				}
			}
		})
	}
	wg.Wait()
	for _, e := range engines {
		d, err := e.Doctor(ctx, nil)
		if err != nil || !d.Healthy {
			t.Errorf("doctor: %+v, %v", d, err)
		}
		s, err := e.Stats(ctx, nil)
		if err != nil || s.Total < 50 {
			t.Errorf("stats: %+v, %v", s, err)
		}
	}
	held := func(e *Engine) []store.TimedID {
		set := e.index.Columns.Admit(index.Selection{Scope: index.Scope{Collection: "*"}})
		return e.index.Columns.ObservedTimes(set)
	}
	a, b := held(engines[0]), held(engines[1])
	if fmt.Sprint(a) != fmt.Sprint(b) {
		t.Errorf("the engines hold different memories: %d and %d", len(a), len(b))
	}
	for _, e := range engines {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	}
}
