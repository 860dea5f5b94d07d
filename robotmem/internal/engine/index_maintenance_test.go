package engine

import (
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/admin"
	"github.com/robotmem/robotmem-go/robotmem/internal/index"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
	"github.com/robotmem/robotmem-go/robotmem/internal/store/sqlite"
	"github.com/robotmem/robotmem-go/robotmem/robotmemtest/rounds"
)

// A file that was closed with loaded indexes opens from their snapshots, and changes
// after a snapshot are applied.
func TestIndexesAreStoredAndReadBack(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("one goroutine at a time: nothing for -race")
	}
	path := t.TempDir() + "/m.db"
	open := func() *Engine {
		t.Helper()
		e, err := openFile(t.Context(), path, Options{Embedder: newWordEmbedder("test:words", 64)}, fast)
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	e := open()
	rng := rand.New(rand.NewPCG(6, 6))
	oracleFill(t, e, rng, index.SnapshotLeast+500)
	embedded(t, e)
	var questions []*robotmem.RecallRequest
	var want [][]int64
	for range 50 {
		q := oracleQuestion(rng)
		_, ids := recalled(t, e, q)
		questions, want = append(questions, q), append(want, ids)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}

	e = open()
	defer e.Close()
	err := e.Store.Read(t.Context(), func(c *store.Conn) error {
		for _, name := range []string{store.ColumnsSnapshot, store.PostingsSnapshot, store.VectorsSnapshot} {
			n := int64(0)
			revision, err := c.LoadSnapshot(name, func(in io.Reader) (err error) {
				n, err = io.Copy(io.Discard, in)
				return err
			})
			if err != nil || revision == 0 || n < 1000 {
				t.Errorf("snapshot %s: revision %d, %d bytes, %v", name, revision, n, err)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Warm(t.Context()); err != nil {
		t.Fatal(err)
	}
	for i, q := range questions {
		if _, got := recalled(t, e, q); !slices.Equal(got, want[i]) {
			t.Fatalf("question %+v: got %v, before it was closed %v", q, got, want[i])
		}
	}
	// The snapshot holds none of the next thousand.
	req := &robotmem.LearnBatchRequest{}
	for i := range 1000 {
		req.Items = append(req.Items, robotmem.LearnRequest{Insight: fmt.Sprintf("afterwards number %d", i), Context: robotmem.Object{"later": i}})
	}
	if _, err := e.LearnBatch(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	embedded(t, e)
	res, _ := recalled(t, e, &robotmem.RecallRequest{Query: "afterwards number 777", N: 1})
	if res.Mode != "hybrid" || res.Memories[0].Content != "afterwards number 777" {
		t.Errorf("mode %s, found %q", res.Mode, res.Memories[0].Content)
	}
}

// A recall waits until the posting lists are loaded, at most until its deadline.
func TestRecallWaitsForTheIndex(t *testing.T) {
	e := openTest(t, Options{})
	learnAll(t, e, "wet glass slips", "dry glass holds", "the door is blocked")
	e.index.LoadMu.Lock() // loading has to wait
	unlock := sync.OnceFunc(e.index.LoadMu.Unlock)
	defer unlock()
	res, none := recalled(t, e, &robotmem.RecallRequest{Query: "glass slips", DeadlineMS: 500})
	if len(none) != 0 || !slices.Equal(res.Degraded, []string{"bm25: " + robotmem.Detail(index.ErrPostingsNotLoaded)}) {
		t.Errorf("within the deadline: found %v, degraded %v", none, res.Degraded)
	}
	found := make(chan map[int64]bool)
	go func() {
		res, err := e.Recall(t.Context(), &robotmem.RecallRequest{Query: "glass slips"})
		if err != nil || len(res.Degraded) > 0 {
			t.Errorf("%+v, %v", res, err)
		}
		ids := map[int64]bool{}
		for _, m := range res.Memories {
			ids[m.MemoryID] = true
		}
		found <- ids
	}()
	select {
	case got := <-found:
		t.Errorf("answered %v without the index", got)
	case <-time.After(50 * time.Millisecond):
	}
	unlock()
	if got := <-found; len(got) != 2 || !got[1] || !got[2] {
		t.Errorf("found %v, want 1 and 2", got)
	}
}

// A recall whose index cannot be loaded reports that and returns.
func TestRecallNamesAnIndexThatCannotBeLoaded(t *testing.T) {
	t.Parallel()
	e := openTest(t, Options{})
	learnAll(t, e, "wet glass slips")
	err := e.Store.Write(t.Context(), func(tx *store.Tx) error {
		return sqlite.FileOf(tx.Conn).Exec("ALTER TABLE memories RENAME COLUMN scope_files TO gone")
	})
	if err != nil {
		t.Fatal(err)
	}
	res, found := recalled(t, e, &robotmem.RecallRequest{Query: "glass slips"})
	if len(found) != 0 || len(res.Degraded) != 1 || !strings.HasPrefix(res.Degraded[0], "bm25: ") {
		t.Errorf("found %v, degraded %v", found, res.Degraded)
	}
}

// Close during all background work neither hangs nor loses acknowledged writes.
func TestCloseWhileTheKeeperWorks(t *testing.T) {
	t.Parallel()
	repeats, memories := rounds.Of(2, 5), rounds.Of(1000, 2500)
	if testing.Short() { // under -race everything takes fifteen times as long
		repeats, memories = 2, 200
	}
	for round := range repeats {
		path := t.TempDir() + "/m.db"
		e, err := openFile(t.Context(), path, Options{Embedder: newWordEmbedder("test:words", 64)}, fast)
		if err != nil {
			t.Fatal(err)
		}
		rng := rand.New(rand.NewPCG(uint64(round), 1))
		all := oracleFill(t, e, rng, memories)
		recalled(t, e, oracleQuestion(rng))
		time.Sleep(time.Duration(rng.IntN(50)) * time.Millisecond)
		closed := make(chan error, 1)
		go func() { closed <- e.Close() }()
		select {
		case err := <-closed:
			if err != nil {
				t.Fatal(err)
			}
		case <-time.After(30 * time.Second):
			t.Fatal("Close hangs")
		}
		if e, err = openFile(t.Context(), path, Options{}); err != nil {
			t.Fatal(err)
		}
		s, err := e.Stats(t.Context(), nil)
		if err != nil || s.Total != int64(len(all)) {
			t.Errorf("after reopening: %+v, %v, want %d", s, err, len(all))
		}
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// A recall beside repairs, which drop every index, finds what it finds without them.
func TestRecallBesideRepairs(t *testing.T) {
	t.Parallel()
	e := openTest(t, Options{})
	learnAll(t, e, "the ladle hangs left of the sink")
	for i := range 300 {
		learnAll(t, e, fmt.Sprintf("fact %d about cup %d", i, i*7))
	}
	repaired := make(chan struct{})
	go func() {
		defer close(repaired)
		for range rounds.Of(5, 15) {
			if _, err := e.Repair(t.Context(), &admin.RepairRequest{}); err != nil {
				t.Error(err)
			}
		}
	}()
	for running := true; running; {
		select {
		case <-repaired:
			running = false
		default:
		}
		if res, found := recalled(t, e, &robotmem.RecallRequest{Query: "ladle"}); len(found) != 1 || len(res.Degraded) > 0 {
			t.Errorf("found %v, degraded %v", found, res.Degraded)
		}
	}
}
