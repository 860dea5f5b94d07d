package engine

import (
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/robotmem/robotmem-go/robotmem"
)

// facts returns n facts as robots store them: a template, numbers in the text and in the
// context, a place, an outcome.
func facts(n int) []robotmem.LearnRequest {
	objects := []string{"wet glass", "ceramic mug", "steel bolt", "foam cube", "paper box", "plastic bottle", "rubber hose", "wooden block"}
	verbs := []string{"holds", "drops", "crushes", "lifts", "slides", "tilts"}
	surfaces := []string{"table", "conveyor", "shelf", "tray", "bin", "pallet"}
	out := make([]robotmem.LearnRequest, n)
	for i := range out {
		f := float64(i%397)/10 + 1
		out[i] = robotmem.LearnRequest{
			Insight: fmt.Sprintf("grip_force=%.1f N %s the %s on the %s when the camera sees object %d near station %d", f, verbs[i%6], objects[i/7%8], surfaces[i/3%6], i%911, i%53),
			Context: robotmem.Object{
				"params":  map[string]any{"grip_force": f, "trial": i},
				"task":    map[string]any{"success": i%3 != 0, "name": "pick"},
				"spatial": map[string]any{"position": []any{float64(i%100) / 10, float64(i/100%100) / 10, float64(i/10000) / 10}, "frame_id": "map"},
			},
		}
	}
	return out
}

func BenchmarkLearn(b *testing.B) {
	e := openTest(b, Options{})
	requests := facts(b.N)
	b.ResetTimer()
	for i := range requests {
		if _, err := e.Learn(b.Context(), &requests[i]); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkLearnBatch reports the time per fact in a batch of 5,000.
func BenchmarkLearnBatch(b *testing.B) {
	e := openTest(b, Options{})
	requests := facts(b.N)
	b.ResetTimer()
	for len(requests) > 0 {
		n := min(5000, len(requests))
		if _, err := e.LearnBatch(b.Context(), &robotmem.LearnBatchRequest{Items: requests[:n]}); err != nil {
			b.Fatal(err)
		}
		requests = requests[n:]
	}
}

func BenchmarkPrepare(b *testing.B) {
	e := openTest(b, Options{})
	requests := facts(b.N)
	b.ResetTimer()
	for i := range requests {
		if _, err := e.learnRecord(&requests[i]); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkRecall(b *testing.B) {
	e := openTest(b, Options{})
	requests := facts(20_000)
	for start := 0; start < len(requests); start += 5000 {
		if _, err := e.LearnBatch(b.Context(), &robotmem.LearnBatchRequest{Items: requests[start : start+5000]}); err != nil {
			b.Fatal(err)
		}
	}
	for _, bb := range []struct {
		name string
		req  robotmem.RecallRequest
	}{
		{"words", robotmem.RecallRequest{Query: "hold ceramic mug on shelf"}},
		{"words, rare filter", robotmem.RecallRequest{Query: "hold ceramic mug on shelf", ContextFilter: robotmem.Object{"params.grip_force": 12.5}}},
		{"words, broad filter", robotmem.RecallRequest{Query: "hold ceramic mug on shelf", ContextFilter: robotmem.Object{"task.success": true}}},
		{"rare filter", robotmem.RecallRequest{ContextFilter: robotmem.Object{"params.grip_force": 12.5}}},
		{"broad filter", robotmem.RecallRequest{ContextFilter: robotmem.Object{"task.success": true}}},
		{"nearest", robotmem.RecallRequest{SpatialSort: &robotmem.SpatialSort{Field: "spatial.position", Target: []float64{3, 4, 0}}}},
	} {
		b.Run(bb.name, func(b *testing.B) {
			for b.Loop() {
				res, err := e.Recall(b.Context(), &bb.req)
				if err != nil || res.Total != 5 {
					b.Fatal(res, err)
				}
			}
		})
	}
}

// BenchmarkLearnCallers measures eight concurrent callers on a large file.
func BenchmarkLearnCallers(b *testing.B) {
	e := openTest(b, Options{})
	requests := facts(50_000 + b.N)
	for start := 0; start < 50_000; start += 5000 {
		if _, err := e.LearnBatch(b.Context(), &robotmem.LearnBatchRequest{Items: requests[start : start+5000]}); err != nil {
			b.Fatal(err)
		}
	}
	rest := requests[50_000:]
	b.ResetTimer()
	b.SetParallelism(4)
	var next atomic.Int64
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if _, err := e.Learn(b.Context(), &rest[next.Add(1)-1]); err != nil {
				b.Error(err)
			}
		}
	})
}

// BenchmarkEndSession ends sessions of five facts beside 1,000 others.
func BenchmarkEndSession(b *testing.B) {
	e := openTest(b, Options{})
	requests := facts(1000)
	if _, err := e.LearnBatch(b.Context(), &robotmem.LearnBatchRequest{Items: requests}); err != nil {
		b.Fatal(err)
	}
	n := 0
	for b.Loop() {
		b.StopTimer()
		s, err := e.StartSession(b.Context(), &robotmem.StartSessionRequest{})
		if err != nil {
			b.Fatal(err)
		}
		for j := range 5 {
			n++
			if _, err := e.Learn(b.Context(), &robotmem.LearnRequest{Insight: fmt.Sprintf("session fact %d %d about pump %d pressure %d bar", n, j, n*7, n*3), SessionID: s.SessionID, Context: requests[n%1000].Context}); err != nil {
				b.Fatal(err)
			}
		}
		if _, err := e.Recall(b.Context(), &robotmem.RecallRequest{Query: "mug camera", SessionID: s.SessionID}); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
		if _, err := e.EndSession(b.Context(), &robotmem.EndSessionRequest{SessionID: s.SessionID}); err != nil {
			b.Fatal(err)
		}
	}
}
