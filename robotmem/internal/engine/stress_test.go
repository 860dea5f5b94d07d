package engine

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/maintenance"
	"github.com/robotmem/robotmem-go/robotmem/robotmemtest/rounds"
)

// Two nodes on one file: one switches between models, both store, update, forget and
// recall, a third one is opened and closed. Only documented errors occur.
func TestReembedBesideAnotherNode(t *testing.T) {
	t.Parallel()
	path := t.TempDir() + "/m.db"
	open := func(w robotmem.Embedder) *Engine {
		e, err := openFile(t.Context(), path, Options{Embedder: w})
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	a := open(newWordEmbedder("test:first", 16))
	defer a.Close()
	var texts []string
	for i := range 300 {
		texts = append(texts, fmt.Sprintf("fact number %d of the gripper", i))
	}
	learnAll(t, a, texts...)
	embedded(t, a)
	b := open(newWordEmbedder("test:second", 16))
	defer b.Close()
	var stop atomic.Bool
	var wg sync.WaitGroup
	for k, e := range []*Engine{a, b} {
		wg.Go(func() {
			for !stop.Load() {
				if err := e.Reembed(t.Context(), func(int64, int64) {}); err != nil && !errors.Is(err, robotmem.Conflict) {
					t.Errorf("reembed %d: %v", k, err)
				}
			}
		})
		wg.Go(func() {
			for i := 0; !stop.Load(); i++ {
				res, err := e.Recall(t.Context(), &robotmem.RecallRequest{Query: fmt.Sprintf("fact number %d of the gripper", i%300), N: 1})
				if err != nil {
					t.Errorf("recall %d: %v", k, err)
				} else if res.Total != 1 {
					t.Errorf("recall %d found nothing: %s %v", k, res.Mode, res.Degraded)
				}
				for _, d := range res.Degraded {
					if d == "vector: an internal error; see the node's log" {
						t.Error(d)
					}
				}
			}
		})
		wg.Go(func() {
			for i := 0; !stop.Load(); i++ {
				if _, err := e.Update(t.Context(), &robotmem.UpdateRequest{MemoryID: int64(1 + i%300), NewContent: fmt.Sprintf("fact number %d of the gripper", i%300)}); err != nil {
					t.Errorf("update %d: %v", k, err)
				}
				if _, err := e.Learn(t.Context(), &robotmem.LearnRequest{Insight: fmt.Sprintf("more about %d from %d", i, k), Context: robotmem.Object{"i": i, "k": k}}); err != nil {
					t.Errorf("learn %d: %v", k, err)
				}
				if _, err := e.Doctor(t.Context(), nil); err != nil {
					t.Errorf("doctor %d: %v", k, err)
				}
				time.Sleep(5 * time.Millisecond)
			}
		})
	}
	wg.Go(func() {
		for !stop.Load() {
			c := open(newWordEmbedder("test:third", 16))
			_, _ = c.Recall(t.Context(), &robotmem.RecallRequest{Query: "gripper"})
			_, _ = c.Repair(t.Context(), nil)
			if err := c.Close(); err != nil {
				t.Error(err)
			}
			time.Sleep(300 * time.Millisecond)
		}
	})
	time.Sleep(time.Duration(rounds.Of(500, 8000)) * time.Millisecond)
	stop.Store(true)
	wg.Wait()
	d, err := a.Doctor(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range d.Checks {
		if c.Status == maintenance.CheckFail {
			t.Errorf("%+v", c)
		}
	}
}
