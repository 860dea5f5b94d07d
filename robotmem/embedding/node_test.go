package embedding_test

import (
	"io"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/embedding"
	"github.com/robotmem/robotmem-go/robotmem/local"
)

// A node recalls by meaning with Ollama, by words while the server is down, and
// computes the missing vectors when it is back.
func TestNodeWithOllama(t *testing.T) {
	t.Parallel()
	server := startOllama(t)
	server.CreateModel("tiny")
	var mu sync.Mutex
	now := time.Now()
	clock := func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		return now
	}
	embedder, err := embedding.Open("ollama:tiny", embedding.Options{OllamaURL: server.URL, Clock: clock})
	if err != nil {
		t.Fatal(err)
	}
	defer embedder.(io.Closer).Close()
	node, err := local.Open(t.Context(), filepath.Join(t.TempDir(), "memory.db"), local.Options{Embedder: embedder, Clock: clock})
	if err != nil {
		t.Fatal(err)
	}
	defer node.Close()
	learn := func(insights ...string) {
		t.Helper()
		for _, s := range insights {
			if _, err := node.Learn(t.Context(), &robotmem.LearnRequest{Insight: s}); err != nil {
				t.Fatalf("learn %q: %v", s, err)
			}
		}
	}
	recall := func(query string) *robotmem.RecallResponse {
		t.Helper()
		res, err := node.Recall(t.Context(), &robotmem.RecallRequest{Query: query, N: 3, Explain: true})
		if err != nil {
			t.Fatalf("recall %q: %v", query, err)
		}
		return res
	}
	backlog := func(want func(n int64) bool) {
		t.Helper()
		for deadline := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
			s, err := node.Stats(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			if s.Embedder == "ollama:tiny" && want(s.Backlog) {
				return
			}
			if time.Now().After(deadline) {
				t.Fatalf("the backlog stays at %d: %+v", s.Backlog, embedder.State())
			}
		}
	}
	none := func(n int64) bool { return n == 0 }

	learn("grip_force=12.5 N holds wet glass", "the battery lasts forty trips", "aisle four is blocked at noon")
	backlog(none)
	res := recall("wet glass")
	if res.Mode != "hybrid" || len(res.Degraded) != 0 || res.Memories[0].MemoryID != 1 {
		t.Fatalf("with the server: mode %s, degraded %v, %d memories", res.Mode, res.Degraded, res.Total)
	}

	server.Stop()
	res = recall("how long does the battery last")
	if res.Mode != "bm25_only" || len(res.Degraded) != 1 || !strings.Contains(res.Degraded[0], "ollama serve") || res.Memories[0].MemoryID != 2 {
		t.Fatalf("with the server dead: mode %s, degraded %q", res.Mode, res.Degraded)
	}
	start := time.Now()
	learn("the door to the lab sticks", "lidar is blind in fog")
	if took := time.Since(start); took > 5*time.Second {
		t.Errorf("learn waited %v for a dead embedder", took)
	}
	backlog(func(n int64) bool { return n == 2 })
	d, err := node.Doctor(t.Context(), nil)
	if err != nil || !d.Healthy || d.Status != "warn" {
		t.Errorf("the doctor says %+v, %v", d, err)
	}
	if state := embedder.State(); state.Reason == "" || !state.Until.After(clock()) {
		t.Errorf("the embedder says %+v", state)
	}

	server.Start()
	if res = recall("lidar"); res.Mode != "bm25_only" {
		t.Errorf("before the pause is over: mode %s", res.Mode)
	}
	mu.Lock()
	now = now.Add(10 * time.Minute)
	mu.Unlock()
	learn("marker nine corrects the drift") // rouses the worker
	backlog(none)
	res = recall("blind in fog")
	if res.Mode != "hybrid" || res.Memories[0].MemoryID != 5 || len(res.Memories[0].Found) != 3 {
		t.Errorf("with the server back: mode %s, degraded %v, %+v", res.Mode, res.Degraded, res.Memories[0].Found)
	}
}
