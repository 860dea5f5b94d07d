package engine

import (
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"sync"
	"testing"

	"github.com/robotmem/robotmem-go/robotmem"
)

func TestAnOriginIsStoredOnceInACollection(t *testing.T) {
	t.Parallel()
	e := openTest(t, Options{})
	for _, size := range []int{0, 1000, 400_000} { // nothing, in the file, in the folder
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			origin := fmt.Sprintf("bag.mcap#%d", size)
			named := func(r *robotmem.SavePerceptionRequest) {
				r.Origin, r.Collection = origin, "arm"
				if size == 0 {
					r.DataBase64 = nil
				}
			}
			first := savePayload(t, e, noise(1, size), named)
			// What else it says now does not count.
			second := savePayload(t, e, noise(2, size), func(r *robotmem.SavePerceptionRequest) { named(r); r.Description = "said in other words" })
			if first.Status != "created" || second.Status != "duplicate" {
				t.Errorf("got %s and %s, want created and duplicate", first.Status, second.Status)
			}
			second.Status = first.Status
			if !reflect.DeepEqual(second, first) {
				t.Errorf("the second time: %+v, want %+v", second, first)
			}
			other := savePayload(t, e, noise(1, size), func(r *robotmem.SavePerceptionRequest) { named(r); r.Collection = "leg" })
			if other.Status != "created" || other.MemoryID == first.MemoryID {
				t.Errorf("in another collection: %+v", other)
			}
			// A session brings its collection.
			s, err := e.StartSession(t.Context(), &robotmem.StartSessionRequest{Collection: "arm"})
			if err != nil {
				t.Fatal(err)
			}
			again := savePayload(t, e, noise(3, size), func(r *robotmem.SavePerceptionRequest) { named(r); r.Collection, r.SessionID = "", s.SessionID })
			if again.Status != "duplicate" || again.MemoryID != first.MemoryID {
				t.Errorf("within a session of the collection: %+v", again)
			}
		})
	}
	if files, stray := folderFiles(t, e); files != 1 || len(stray) > 0 {
		t.Errorf("%d files and %v, want one", files, stray)
	}
	healthy(t, e)
}

func TestAForgottenOriginStaysForgotten(t *testing.T) {
	t.Parallel()
	e := openTest(t, Options{})
	named := func(r *robotmem.SavePerceptionRequest) { r.Origin = "frame 7" }
	first := savePayload(t, e, noise(1, 100), named)
	if _, err := e.Forget(t.Context(), &robotmem.ForgetRequest{MemoryID: first.MemoryID, Reason: "blurred"}); err != nil {
		t.Fatal(err)
	}
	if again := savePayload(t, e, noise(1, 100), named); again.Status != "duplicate" || again.MemoryID != first.MemoryID {
		t.Errorf("importing it again answers %+v", again)
	}
}

// Two nodes that import the same file at the same time store it once.
func TestTwoNodesRaceForAnOrigin(t *testing.T) {
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
	const origins, callers = 12, 6
	ids := make([][callers]int64, origins)
	created := make([][callers]bool, origins)
	var wg sync.WaitGroup
	for k := range callers {
		wg.Go(func() {
			for i := range origins {
				// The bytes differ, as those of a live topic would: the file of
				// whoever comes second must go.
				res, err := nodes[k%2].SavePerception(t.Context(), &robotmem.SavePerceptionRequest{
					Description: fmt.Sprintf("frame %d", i), DataBase64: noise(uint64(100*k+i), 300_000), Origin: fmt.Sprint(i),
				})
				if err != nil {
					t.Errorf("caller %d, origin %d: %v", k, i, err)
					continue
				}
				ids[i][k], created[i][k] = res.MemoryID, res.Status == "created"
			}
		})
	}
	wg.Wait()
	for i := range ids {
		n := 0
		for k := range callers {
			if ids[i][k] != ids[i][0] {
				t.Errorf("origin %d is memory %d and %d", i, ids[i][0], ids[i][k])
			}
			if created[i][k] {
				n++
			}
		}
		if n != 1 {
			t.Errorf("origin %d was created %d times", i, n)
		}
	}
	if rows, perceptions := payloadRows(t, nodes[0]); rows != origins || perceptions != origins {
		t.Errorf("%d payloads and %d perceptions of %d origins", rows, perceptions, origins)
	}
	if files, stray := folderFiles(t, nodes[0]); files != origins || len(stray) > 0 {
		t.Errorf("%d files and %v of %d origins", files, stray, origins)
	}
	healthy(t, nodes[0])
}

func TestASessionWithAnOriginIsContinued(t *testing.T) {
	t.Parallel()
	e := openTest(t, Options{})
	start := func(collection, origin string) (*robotmem.StartSessionResponse, error) {
		return e.StartSession(t.Context(), &robotmem.StartSessionRequest{Collection: collection, Origin: origin})
	}
	first, err := start("arm", "episode 1")
	if err != nil || first.Status != "started" {
		t.Fatal(first, err)
	}
	for _, tt := range []struct{ name, collection, origin, status string }{
		{"the same", "arm", "episode 1", "continued"},
		{"another origin", "arm", "episode 2", "started"},
		{"another collection", "leg", "episode 1", "started"},
		{"no origin", "arm", "", "started"},
		{"no origin again", "arm", "", "started"},
	} {
		got, err := start(tt.collection, tt.origin)
		if err != nil || got.Status != tt.status || (got.SessionID == first.SessionID) != (tt.status == "continued") {
			t.Errorf("%s: %+v, %v; want %s", tt.name, got, err, tt.status)
		}
	}
	if s, err := e.Sessions(t.Context(), &robotmem.SessionsRequest{}); err != nil || s.Total != 5 {
		t.Errorf("%d sessions, %v; want 5", s.Total, err)
	}
	if _, err := e.EndSession(t.Context(), &robotmem.EndSessionRequest{SessionID: first.SessionID}); err != nil {
		t.Fatal(err)
	}
	if got, err := start("arm", "episode 1"); !errors.Is(err, robotmem.Conflict) {
		t.Errorf("once it has ended: %+v, %v; want a conflict", got, err)
	}
}
