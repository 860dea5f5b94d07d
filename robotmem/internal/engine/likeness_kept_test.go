package engine

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/robotmem/robotmem-go/perception"
	"github.com/robotmem/robotmem-go/perception/recorder"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/admin"
	"github.com/robotmem/robotmem-go/robotmem/internal/index"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
)

// sameAsFile compares the cached traces of two channels with the file and returns their
// number.
func sameAsFile(t *testing.T, e *Engine, step string) int {
	t.Helper()
	const kind, length = "trace/v2/2", 2 * 64
	n := 0
	err := e.Store.Read(t.Context(), func(c *store.Conn) error {
		var want, got []string
		note := func(to *[]string) func(int64, []float32) {
			return func(id int64, vector []float32) { *to = append(*to, fmt.Sprint(id, vector)) }
		}
		if err := c.EachFeatures(kind, 0, length, note(&want)); err != nil {
			return err
		}
		n = len(want)
		for range 2 { // as it comes, and as it is kept
			got = nil
			if err := e.index.Features.Each(c, kind, length, note(&got)); err != nil {
				return err
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s: %d vectors are kept, the file has %d others", step, len(got), len(want))
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// The feature cache reflects every kind of change, also of another node.
func TestKeptFeaturesFollowTheFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "memory.db")
	var nodes []*Engine
	for range 2 {
		e, err := openFile(t.Context(), path, Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer e.Close()
		nodes = append(nodes, e)
	}
	rng := rand.New(rand.NewPCG(7, 75))
	most := 0
	check := func(step string) {
		t.Helper()
		for k, e := range nodes {
			most = max(most, sameAsFile(t, e, fmt.Sprintf("%s, node %d", step, k)))
		}
	}
	check("empty")
	for round := range 30 {
		e := nodes[rng.IntN(2)]
		switch step := rng.IntN(6); step {
		case 0, 1:
			saveTraces(t, e, rng, 1+rng.IntN(4))
			check("saved")
		case 2: // its features come after those of what is saved next
			r := recorder.Recorded{Item: perception.Item{Type: "tactile", MediaType: "text/csv", Data: []byte(trace(rng, 2, 30))}, Description: "recorded", ObservedAt: streamStart}
			if err := e.Keep(t.Context(), recorder.Batch{Items: []recorder.Recorded{r, r}}); err != nil {
				t.Fatal(err)
			}
			saveTraces(t, nodes[rng.IntN(2)], rng, 1)
			check("recorded")
			waitComparable(t, e)
			check("worked out")
		case 3:
			retained(t, e, &admin.RetainRequest{Budgets: []admin.Budget{{Collection: []string{"a", "b"}[rng.IntN(2)], MaxBytes: 1 + rng.Int64N(1500)}}, Apply: true})
			check("evicted")
		case 4:
			if round%3 == 0 {
				if _, err := e.Repair(t.Context(), nil); err != nil {
					t.Fatal(err)
				}
				check("repaired")
			}
		case 5:
			waitComparable(t, e)
			if err := e.Store.Write(t.Context(), (*store.Tx).DropFeatures); err != nil {
				t.Fatal(err)
			}
			check("dropped")
			for after, n := int64(0), 1; n > 0; {
				var err error
				if n, err = e.maintenance.FillFeatures(t.Context(), &after, nil); err != nil {
					t.Fatal(err)
				}
			}
			check("made anew")
		}
	}
	if most < 10 {
		t.Errorf("at most %d traces: the test tests nothing", most)
	}
}

// A kind of features that exceeds the cache is read from the file and uses no memory.
func TestWhatDoesNotFitIsRead(t *testing.T) {
	t.Parallel()
	e := openTest(t, Options{})
	rng := rand.New(rand.NewPCG(7, 76))
	ids := saveTraces(t, e, rng, 30)
	const room = 3 * (8 + 4*2*64)
	if err := e.Store.Read(t.Context(), func(c *store.Conn) (err error) {
		_, err = e.index.Features.Follow(c, "none", 1)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	e.index.Features.Bytes = index.MaxKeptFeatures - room
	n := sameAsFile(t, e, "too many")
	if kept, known := e.index.Features.Kinds["trace/v2/2"]; n < 4 || !known || kept != nil || e.index.Features.Bytes != index.MaxKeptFeatures-room {
		t.Errorf("of %d traces %v are kept in %d bytes", n, kept, e.index.Features.Bytes-index.MaxKeptFeatures+room)
	}
	if _, got := recalled(t, e, &robotmem.RecallRequest{Collection: "*", Like: &robotmem.Like{MemoryID: ids[0]}, N: 3}); len(got) != 3 {
		t.Errorf("like the first: %v", got)
	}
}

// Concurrent recalls and changes.
func TestKeptFeaturesAreSharedSafely(t *testing.T) {
	t.Parallel()
	e := openTest(t, Options{})
	rng := rand.New(rand.NewPCG(7, 77))
	ids := saveTraces(t, e, rng, 20)
	var wg sync.WaitGroup
	for k := range 4 {
		wg.Go(func() {
			for range 30 {
				res, err := e.Recall(t.Context(), &robotmem.RecallRequest{Collection: "*", Like: &robotmem.Like{MemoryID: ids[k]}, N: 3})
				if err != nil || res.Total != 3 {
					t.Errorf("recall: %+v, %v", res, err)
				}
			}
		})
	}
	saveTraces(t, e, rng, 15)
	for range 5 {
		if err := e.Store.Write(t.Context(), (*store.Tx).BeginFeatureEpoch); err != nil {
			t.Fatal(err)
		}
	}
	wg.Wait()
	sameAsFile(t, e, "in the end")
}
