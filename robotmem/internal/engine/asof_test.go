package engine

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
)

func TestAsOfConfidence(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	e := openTest(t, Options{Clock: func() time.Time { return now }})
	ask := func(at *time.Time) int {
		res, err := e.Recall(t.Context(), &robotmem.RecallRequest{Query: "shelf", AsOf: at})
		if err != nil {
			t.Fatal(err)
		}
		return res.Total
	}
	_, _ = e.Learn(t.Context(), &robotmem.LearnRequest{Insight: "shelf nine leans"})
	now = now.AddDate(0, 0, 200)
	then := now
	before := ask(nil)
	now = now.AddDate(0, 0, 100)
	_, _ = e.Learn(t.Context(), &robotmem.LearnRequest{Insight: "shelf nine leans"}) // sighted again
	if after := ask(&then); after != before {
		t.Errorf("on day 200 it had faded (%d found); as_of day 200 finds %d", before, after)
	}
}

// A past state without tags has an empty list, as JSON needs it.
func TestAsOfWithoutTags(t *testing.T) {
	t.Parallel()
	e := openTest(t, Options{})
	learnAll(t, e, "shelf nine leans")
	then := time.Now()
	if _, err := e.Update(t.Context(), &robotmem.UpdateRequest{MemoryID: 1, NewContent: "shelf nine stands"}); err != nil {
		t.Fatal(err)
	}
	res, err := e.Recall(t.Context(), &robotmem.RecallRequest{Query: "shelf", AsOf: &then})
	if err != nil || res.Total != 1 || res.Memories[0].Content != "shelf nine leans" || res.Memories[0].Tags == nil {
		t.Errorf("recall %+v, %v", res, err)
	}
}

func TestAsOfLikeness(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	e := openTest(t, Options{Clock: func() time.Time { return now }})
	save := func(k int) int64 {
		var csv strings.Builder
		csv.WriteString("t,fx,fy,fz\n")
		for i := range 50 {
			fmt.Fprintf(&csv, "%d,%d,1,2\n", i, i%k)
		}
		p, err := e.SavePerception(t.Context(), &robotmem.SavePerceptionRequest{Description: "trace", Data: csv.String(), PerceptionType: "tactile"})
		if err != nil {
			t.Fatal(err)
		}
		return p.MemoryID
	}
	a, b := save(5), save(6)
	now = now.Add(time.Hour)
	then := now
	find := func() int {
		res, err := e.Recall(t.Context(), &robotmem.RecallRequest{Like: &robotmem.Like{MemoryID: a}, AsOf: &then})
		if err != nil {
			t.Fatal(err)
		}
		return res.Total
	}
	l1 := find()
	now = now.Add(time.Hour)
	_, _ = e.Forget(t.Context(), &robotmem.ForgetRequest{MemoryID: b, Reason: "x"})
	if l2 := find(); l2 != l1 {
		t.Errorf("likeness as of then: %d at the time, %d now", l1, l2)
	}
}

func TestAsOfTags(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	e := openTest(t, Options{Clock: func() time.Time { return now }})
	l, err := e.Learn(t.Context(), &robotmem.LearnRequest{Insight: "the gripper slipped, friction was low"})
	if err != nil {
		t.Fatal(err)
	}
	now = now.Add(time.Hour)
	then := now
	now = now.Add(time.Hour)
	if _, err := e.Update(t.Context(), &robotmem.UpdateRequest{MemoryID: l.MemoryID, NewContent: "nothing of note"}); err != nil {
		t.Fatal(err)
	}
	res, err := e.Recall(t.Context(), &robotmem.RecallRequest{Tags: l.AutoInferred.Tags[:1], AsOf: &then})
	if err != nil || res.Total != 1 {
		t.Errorf("%d memories with the tags of then, %v", res.Total, err)
	}
}

// A memory used exactly at as_of has not decayed at that time, whether it is still
// active or has been forgotten since.
func TestAsOfTheMomentOfAUse(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	e := openTest(t, Options{Clock: func() time.Time { return now }})
	l, _ := e.Learn(t.Context(), &robotmem.LearnRequest{Insight: "shelf nine leans"})
	now = now.AddDate(0, 0, 200)
	used := now
	_, _ = e.Learn(t.Context(), &robotmem.LearnRequest{Insight: "shelf nine leans"}) // sighted again
	now = now.AddDate(0, 0, 100)
	ask := func() int {
		res, err := e.Recall(t.Context(), &robotmem.RecallRequest{Query: "shelf", AsOf: &used})
		if err != nil {
			t.Fatal(err)
		}
		return res.Total
	}
	before := ask()
	if _, err := e.Forget(t.Context(), &robotmem.ForgetRequest{MemoryID: l.MemoryID, Reason: "test"}); err != nil {
		t.Fatal(err)
	}
	if after := ask(); before != 1 || after != 1 {
		t.Errorf("as of the day on which it was seen again: %d found while it is active, %d once it is forgotten; want 1", before, after)
	}
}

// A context that is invalid today may have been stored earlier: a recall with as_of must
// not fail because of it.
func TestAsOfWithAContextOfOldRules(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	e := openTest(t, Options{Clock: func() time.Time { return now }})
	pose := poseContext(map[string]any{"position": []any{1, 2, 3}, "orientation": []any{0, 0, 0, 0}})
	if _, err := e.Learn(t.Context(), &robotmem.LearnRequest{Insight: "shelf nine leans", Context: pose}); robotmem.KindOf(err) != robotmem.Invalid {
		t.Fatalf("the pose is taken today: %v", err)
	}
	rec, err := e.records.RecordFor("fact", "shelf nine leans", pose)
	if err != nil {
		t.Fatal(err)
	}
	rec.Collection = robotmem.DefaultCollection
	var id int64
	if err := e.Store.Write(t.Context(), func(tx *store.Tx) (err error) { id, _, err = tx.Insert(rec); return err }); err != nil {
		t.Fatal(err)
	}
	then := now.Add(time.Hour)
	now = then.Add(time.Hour)
	if _, err := e.Forget(t.Context(), &robotmem.ForgetRequest{MemoryID: id, Reason: "test"}); err != nil {
		t.Fatal(err)
	}
	res, err := e.Recall(t.Context(), &robotmem.RecallRequest{Query: "shelf", AsOf: &then})
	if err != nil || res.Total != 1 {
		t.Errorf("got %+v, %v; want the fact as it was", res, err)
	}
}
