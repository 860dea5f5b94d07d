package engine

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/admin"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
	"github.com/robotmem/robotmem-go/robotmem/internal/store/sqlite"
)

// Four days of a robot, with a new node each day: the buckets count the memories stored
// and the recalls made in them, including those of an earlier run and those that are not
// stored yet.
func TestActivityByHourAndDay(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("one goroutine: the race run has nothing to find in it")
	}
	now := time.Date(2026, 3, 1, 22, 30, 0, 0, time.FixedZone("", 3600))
	path := t.TempDir() + "/m.db"
	var e *Engine
	reopen := func() {
		t.Helper()
		var err error
		if e, err = openFile(t.Context(), path, Options{Clock: func() time.Time { return now }}); err != nil {
			t.Fatal(err)
		}
	}
	ask := func(r *robotmem.RecallRequest) {
		t.Helper()
		if _, err := e.Recall(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	reopen()
	for i := range 4 {
		for j := range i + 1 {
			l := &robotmem.LearnRequest{Insight: fmt.Sprintf("fact %d of day %d", j, i), Collection: "arm", Context: robotmem.Object{"task": map[string]any{"success": j > 0}}}
			if _, err := e.Learn(t.Context(), l); err != nil {
				t.Fatal(err)
			}
			ask(&robotmem.RecallRequest{Query: "fact", Collection: "arm"})
		}
		ask(&robotmem.RecallRequest{Query: "zebra", Collection: "*"})
		if i == 1 { // of an hour that has counts already
			e.counters.flush(t.Context(), e)
			ask(&robotmem.RecallRequest{Query: "zebra", Collection: "arm"})
		}
		if i < 3 {
			if err := e.Close(); err != nil {
				t.Fatal(err)
			}
			now = now.AddDate(0, 0, 1)
			reopen()
		}
	}
	defer e.Close()
	show := func(r *admin.ActivityRequest) (out []string) {
		t.Helper()
		a, err := e.Activity(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range a.Buckets {
			if b != (admin.ActivityBucket{From: b.From}) {
				out = append(out, fmt.Sprintf("%s %d+%d failed %d asked %d nothing %d", b.From.Format("02T15"), b.Facts, b.Perceptions, b.Failures, b.Recalls, b.ZeroHits))
			}
		}
		return append(out, fmt.Sprintf("%s to %s, %d", a.From.Format(time.RFC3339), a.To.Format(time.RFC3339), len(a.Buckets)))
	}
	for name, tt := range map[string]struct {
		r    admin.ActivityRequest
		want []string
	}{
		"of all by the day": {admin.ActivityRequest{Days: 3, Bucket: "day"}, []string{
			"02T00 2+0 failed 1 asked 4 nothing 2", "03T00 3+0 failed 1 asked 4 nothing 1", "04T00 4+0 failed 1 asked 5 nothing 1",
			"2026-03-02T00:00:00Z to 2026-03-05T00:00:00Z, 3"}},
		"of one by the hour": {admin.ActivityRequest{Days: 2, Collection: "arm"}, []string{
			"03T21 3+0 failed 1 asked 3 nothing 0", "04T21 4+0 failed 1 asked 4 nothing 0",
			"2026-03-02T22:00:00Z to 2026-03-04T22:00:00Z, 48"}},
		"of another": {admin.ActivityRequest{Days: 9, Collection: "leg"}, []string{"2026-02-24T00:00:00Z to 2026-03-05T00:00:00Z, 9"}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, show(&tt.r)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	stats, err := e.Stats(t.Context(), &admin.StatsRequest{})
	if err != nil || stats.Recalls != 15 || stats.ZeroHits != 5 {
		t.Errorf("%d recalls, %d of nothing, %v", stats.Recalls, stats.ZeroHits, err)
	}
}

// A caller with invented collection names must not make the file grow with each name.
func TestRecallsInNoCollectionTakeOneRow(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("one goroutine: the race run has nothing to find in it")
	}
	e, err := openFile(t.Context(), t.TempDir()+"/m.db", Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	if _, err := e.Learn(t.Context(), &robotmem.LearnRequest{Insight: "the door opens inwards", Collection: "arm"}); err != nil {
		t.Fatal(err)
	}
	names := []string{"arm", "*", robotmem.DefaultCollection}
	for i := range 50 {
		names = append(names, fmt.Sprintf("made-up-%d", i))
	}
	for _, name := range names {
		if _, err := e.Recall(t.Context(), &robotmem.RecallRequest{Query: "zebra", Collection: name}); err != nil {
			t.Fatal(err)
		}
	}
	e.counters.flush(t.Context(), e)
	var rows int64
	if err := e.Store.Read(t.Context(), func(c *store.Conn) (err error) {
		rows, err = sqlite.FileOf(c).Number("SELECT count(*) FROM recall_hours")
		return err
	}); err != nil || rows > 8 { // four, or twice that when the hour ends meanwhile
		t.Errorf("%d rows, %v, of three collections and what is none", rows, err)
	}
	for collection, want := range map[string]int64{"*": int64(len(names)), "arm": 1, robotmem.DefaultCollection: 1} {
		a, err := e.Activity(t.Context(), &admin.ActivityRequest{Collection: collection})
		if err != nil {
			t.Fatal(err)
		}
		var got int64
		for _, b := range a.Buckets {
			got += b.Recalls
		}
		if got != want {
			t.Errorf("%s: %d recalls, want %d", collection, got, want)
		}
	}
}

// What is being written is counted once, before and after its commit.
func TestCountsBeingWritten(t *testing.T) {
	e, err := openFile(t.Context(), t.TempDir()+"/memory.db", Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	recalls := func() int64 {
		stats, err := e.Stats(t.Context(), &admin.StatsRequest{})
		if err != nil {
			t.Fatal(err)
		}
		return stats.Recalls
	}
	if _, err := e.Recall(t.Context(), &robotmem.RecallRequest{Query: "zebra"}); err != nil {
		t.Fatal(err)
	}
	before := e.counters.pending()
	taken := e.counters.take()
	if got := recalls(); got != 1 {
		t.Errorf("%d recalls while they are written, want 1", got)
	}
	if err := e.Store.Write(t.Context(), taken.store); err != nil {
		t.Fatal(err)
	}
	if got := recalls(); got != 1 {
		t.Errorf("%d recalls once they are committed, want 1", got)
	}
	e.counters.done(taken, nil)
	if got := recalls(); got != 1 {
		t.Errorf("%d recalls once they are written, want 1", got)
	}
	if err := e.Store.Read(t.Context(), func(c *store.Conn) error {
		missing, err := before(c)
		if missing.Recalls != 0 {
			t.Errorf("a reader from before the write misses %d recalls of a snapshot that has them", missing.Recalls)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
}
