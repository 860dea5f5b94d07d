package local

import (
	"bytes"
	"context"
	"flag"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sync/errgroup"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/admin"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
	"github.com/robotmem/robotmem-go/robotmem/internal/store/sqlite"
)

var updatePlans = flag.Bool("update-plans", false, "write testdata/plans.txt")

// TestQueryPlans compares the query plan of every statement that a day of use prepares
// with testdata/plans.txt, so that a scan of a whole table appears in a review.
func TestQueryPlans(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine at a time: nothing for -race")
	}
	e := openTest(t, Options{Embedder: newWordEmbedder("test:words", 64)})
	useEverything(t, e)
	var mu sync.Mutex // guards statements
	var statements []string
	note := func(c *store.Conn) error {
		mu.Lock()
		defer mu.Unlock()
		statements = append(statements, sqlite.FileOf(c).Statements()...)
		return nil
	}
	var readers errgroup.Group
	for range 16 { // more than the pool has readers, so that all of them are asked
		readers.Go(func() error {
			return e.Store.Read(t.Context(), func(c *store.Conn) error {
				time.Sleep(20 * time.Millisecond)
				return note(c)
			})
		})
	}
	if err := readers.Wait(); err != nil {
		t.Fatal(err)
	}
	if err := e.Store.WriteAlone(t.Context(), note); err != nil {
		t.Fatal(err)
	}
	slices.Sort(statements)
	var out bytes.Buffer
	for _, sql := range slices.Compact(statements) {
		verb, _, _ := strings.Cut(strings.TrimSpace(sql), " ")
		if !slices.Contains([]string{"SELECT", "INSERT", "UPDATE", "DELETE", "WITH"}, verb) {
			continue
		}
		plan := ""
		err := e.Store.Read(t.Context(), func(c *store.Conn) error {
			return c.Query("EXPLAIN QUERY PLAN "+sql, nil, func(s store.Row) error {
				plan += "    " + s.ColumnText(3) + "\n"
				return nil
			})
		})
		if err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
		if plan != "" {
			out.WriteString(strings.Join(strings.Fields(sql), " ") + "\n" + plan)
		}
	}
	const golden = "testdata/plans.txt"
	if *updatePlans {
		if err := os.WriteFile(golden, out.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), out.String()); diff != "" {
		t.Errorf("the plans differ from %s; look at them, then go test ./robotmem/local -run QueryPlans -update-plans (-want +got):\n%s", golden, diff)
	}
}

// useEverything calls each operation at least once.
func useEverything(t *testing.T, e *Node) {
	t.Helper()
	s := ask(t, e.StartSession, &robotmem.StartSessionRequest{Collection: "arm", Context: robotmem.Object{"task": "lift a glass"}})
	for _, insight := range []string{"the wet glass slips at 5 N", "the wet glass slips at 6 N", "12 N hold the wet glass", "the charger stands left of the door"} {
		ask(t, e.Learn, &robotmem.LearnRequest{Insight: insight, SessionID: s.SessionID, Tags: []string{"mine"}, Context: robotmem.Object{
			"params": map[string]any{"grip_force": "12 N"}, "task": map[string]any{"success": true}, "spatial": map[string]any{"position": []any{1, 2, 0}}}})
	}
	ask(t, e.LearnBatch, &robotmem.LearnBatchRequest{Items: []robotmem.LearnRequest{{Insight: "the door opens to the left"}, {Insight: "the door opens to the right"}}})
	p := ask(t, e.SavePerception, &robotmem.SavePerceptionRequest{Description: "a trace", Data: "t,fx\n1,2\n2,3\n", PerceptionType: "tactile", Origin: "bag/1", SessionID: s.SessionID})
	embedded(t, e)
	then := time.Now()
	for _, r := range []robotmem.RecallRequest{
		{Query: "wet glass", Collection: "*", SessionID: s.SessionID},
		{Query: "wet glass", Collection: "*", Tags: []string{"mine"}, ContextFilter: robotmem.Object{"params.grip_force": map[string]any{"$gt": "10 N"}}},
		{Collection: "*", SpatialSort: &robotmem.SpatialSort{Field: "spatial.position", Target: []float64{0, 0, 0}}},
		{Collection: "*", Like: &robotmem.Like{MemoryID: p.MemoryID}},
		{Query: "glass", Collection: "*", AsOf: &then},
	} {
		ask(t, e.Recall, &r)
	}
	ask(t, e.Update, &robotmem.UpdateRequest{MemoryID: 2, NewContent: "the wet glass slips at 7 N"})
	yes := true
	ask(t, e.Pin, &admin.PinRequest{MemoryID: 2, Pinned: &yes})
	ask(t, e.Forget, &robotmem.ForgetRequest{MemoryID: 1, Reason: "wrong"})
	ask(t, e.Restore, &robotmem.MemoryRequest{MemoryID: 1})
	ask(t, e.Forget, &robotmem.ForgetRequest{MemoryID: 4, Reason: "wrong", Purge: true})
	ask(t, e.History, &robotmem.MemoryRequest{MemoryID: 2})
	ask(t, e.Data, &robotmem.MemoryRequest{MemoryID: p.MemoryID})
	ask(t, e.List, &robotmem.ListRequest{Tags: []string{"mine"}})
	ask(t, e.Paths, &admin.PathsRequest{})
	ask(t, e.Places, &robotmem.PlacesRequest{})
	ask(t, e.RecentFailures, &admin.RecentFailuresRequest{})
	ask(t, e.Incidents, &admin.IncidentsRequest{})
	ask(t, e.Sessions, &robotmem.SessionsRequest{})
	ask(t, e.Sessions, &robotmem.SessionsRequest{Outcome: robotmem.OutcomeFailure, Robot: "arm-7", Sort: "task"})
	ask(t, e.Session, &robotmem.SessionRequest{SessionID: s.SessionID})
	score := 0.8
	ask(t, e.EndSession, &robotmem.EndSessionRequest{SessionID: s.SessionID, OutcomeScore: &score, UsedMemoryIDs: []int64{2, 3}})
	ask(t, e.Stats, nil)
	ask(t, e.Retain, &admin.RetainRequest{Budgets: []admin.Budget{{MaxBytes: 1 << 30}}})
	ask(t, e.Doctor, &admin.DoctorRequest{Deep: true})
}

// ask calls an operation that must succeed.
func ask[Req, Res any](t *testing.T, call func(context.Context, *Req) (*Res, error), r *Req) *Res {
	t.Helper()
	res, err := call(t.Context(), r)
	if err != nil {
		t.Fatalf("%T: %v", r, err)
	}
	return res
}
