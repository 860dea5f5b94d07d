package robotmemtest

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/admin"
)

// typed recalls with an unfinished last word.
func typed(query string) *robotmem.RecallRequest {
	return &robotmem.RecallRequest{Query: query, AsYouType: true, N: 100}
}

// settled waits until the node has loaded its text index. Until then, degraded says
// that not all words with the prefix are found.
func settled(t *testing.T, s robotmem.Service) {
	t.Helper()

	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		if r := do(t, s.Recall, typed("settled")); len(r.Degraded) == 0 {
			return
		} else if time.Now().After(deadline) {
			t.Fatal(r.Degraded)
		}
	}
}

var typingCases = []testCase{
	{"EveryKeyFinds", func(t *testing.T, s robotmem.Service) {
		settled(t, s)
		slip := learn(t, s, "the wet glass slipped while gripping it", nil)
		battery := learn(t, s, "batteries run low in the cold store", object{"params": object{"grip_force": 1}})
		force := learn(t, s, "grip_force=12.5 N is enough", nil)

		han := learn(t, s, "夹爪的力太小", nil)
		for query, want := range map[string][]int64{
			"s": {slip, battery}, "sl": {slip}, "slippe": {slip}, "SLIPPED": {slip},
			"grippi": {slip, force}, "gri": {slip, force}, "grip_fo": {slip, force}, "grip_force=1": {slip, force}, "12.": {force},
			"batterie": {battery}, "battery": {battery}, "cold st": {battery}, "夹": {han}, "夹爪": {han}, "夹爪 gla": {slip, han},
		} {
			equal(t, query, sortedIDs(recalled(t, s, typed(query))), want)
		}

		for _, query := range []string{"sli ", "sli!", "slx", "lip"} {
			equal(t, query, recalled(t, s, typed(query)), []int64{})
		}

		r := typed("sli")
		r.AsYouType = false
		equal(t, "a finished word", recalled(t, s, r), []int64{})
	}},
	{"TheWordItselfComesFirst", func(t *testing.T, s robotmem.Service) {
		settled(t, s)
		learn(t, s, "station 53 is closed", nil)
		five := learn(t, s, "station 5 is closed", nil)
		learn(t, s, "station 500 is closed", nil)
		res := recall(t, s, typed("station 5"))
		if len(res.Memories) != 3 || res.Memories[0].MemoryID != five || *res.Memories[1].Score >= 1 {
			t.Errorf("got %v, want all three and %d first", ids(res.Memories), five)
		}

		for _, m := range res.Memories {
			if *m.Relevance < 0.5 {
				t.Errorf("%q: relevance %v, though it has both words", m.Content, *m.Relevance)
			}
		}
	}},
	{"ManyWordsDoNotDrownOne", func(t *testing.T, s robotmem.Service) {
		settled(t, s)
		wet := learn(t, s, "wet glass on the table", nil)

		all := "the robot has seen"
		for i := range 40 {
			all += fmt.Sprintf(" part%c%c", 'a'+i%26, 'a'+i/26)
			learn(t, s, fmt.Sprintf("the bin holds part%c%c", 'a'+i%26, 'a'+i/26), object{"i": i})
		}
		learn(t, s, all, nil)
		equal(t, "first", recalled(t, s, typed("wet glass par"))[0], wet)
	}},
	{"AsTheFinishedWord", func(t *testing.T, s robotmem.Service) {
		settled(t, s)

		for i := range 30 {
			learn(t, s, fmt.Sprintf("wet glass slips at %d N on shelf %d", i%7, i%3), object{"i": i})
			learn(t, s, fmt.Sprintf("the torque is %d Nm", i), object{"i": i})
		}
		finished := typed("shelf torque slips")
		finished.AsYouType = false
		got, want := recall(t, s, typed("shelf torque slips")), recall(t, s, finished)
		equal(t, "ids", ids(got.Memories), ids(want.Memories))

		for i := range want.Memories {
			equal(t, "score", *got.Memories[i].Score, *want.Memories[i].Score)
		}
	}},
	{"WithinFilters", func(t *testing.T, s robotmem.Service) {
		var even []int64

		for i := range 40 {
			id := created(t, s,
				&robotmem.LearnRequest{
					Insight: fmt.Sprintf("slippery floor in aisle %d", i), Context: object{"even": i%2 == 0},
					ObservedAt: at(time.Duration(i) * time.Hour),
				})
			if i%2 == 0 && i >= 10 {
				even = append(even, id)
			}
		}
		r := typed("slipp")
		r.ContextFilter, r.After = robotmem.Object{"even": true}, at(10*time.Hour)
		equal(t, "filtered", sortedIDs(recalled(t, s, r)), even)
	}},
	{"AsOf", func(t *testing.T, s robotmem.Service) {
		id := learn(t, s, "the floor is slippery", nil)
		then := do(t, s.Get, &robotmem.MemoryRequest{MemoryID: id}).CreatedAt.Add(time.Millisecond)
		time.Sleep(5 * time.Millisecond)
		do(t, s.Update, &robotmem.UpdateRequest{MemoryID: id, NewContent: "the floor is dry"})
		equal(t, "now", recalled(t, s, typed("slipp")), []int64{})
		r := typed("slipp")
		r.AsOf = &then
		equal(t, "then", recalled(t, s, r), []int64{id})
	}},
	{"IsNotCounted", func(t *testing.T, s robotmem.Service) {
		learn(t, s, "the floor is slippery", nil)

		for _, query := range []string{"s", "sl", "slippery ", "nothing"} {
			recall(t, s, typed(query))
		}
		recall(t, s, &robotmem.RecallRequest{Query: "slippery"})
		recall(t, s, &robotmem.RecallRequest{Query: "nothing"})
		if st, ok := try(t, s.Stats, &admin.StatsRequest{}); ok && (st.Recalls != 2 || st.ZeroHits != 1) {
			t.Errorf("%d recalls, %d of them without a hit, are counted; want 2 and 1", st.Recalls, st.ZeroHits)
		}
	}},
	{"TimeWordsAreFinished", func(t *testing.T, s robotmem.Service) {
		id := created(t, s,
			&robotmem.LearnRequest{Insight: "the floor is slippery", ObservedAt: new(time.Now().Add(-time.Minute))})
		r := typed("slippery today")
		r.ParseTime = new(true)
		if got := recalled(t, s, r); !slices.Equal(got, []int64{id}) && time.Now().Hour() > 0 {
			t.Errorf("got %v, want %d", got, id)
		}
		r = typed("slip today")
		r.ParseTime = new(true)
		equal(t, "slip is finished", recalled(t, s, r), []int64{})
	}},
}
