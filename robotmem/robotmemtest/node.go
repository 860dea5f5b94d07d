package robotmemtest

import (
	"fmt"
	"slices"
	"testing"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/admin"
)

var nodeCases = []testCase{
	{"ListPages", func(t *testing.T, s robotmem.Service) {
		var all []int64
		for i := range 7 {
			all = append([]int64{created(t, s, &robotmem.LearnRequest{Insight: "listed fact", Context: robotmem.Object{"i": i}, Collection: fmt.Sprint("c", i%2)})}, all...)
		}

		var got []int64

		for page := 1; page <= 4; page++ {
			res := do(t, s.List, &robotmem.ListRequest{Page: page, Limit: 3})
			if res.Total != 7 || res.Page != page || res.Limit != 3 {
				t.Errorf("page %d: total %d, page %d, limit %d", page, res.Total, res.Page, res.Limit)
			}
			got = append(got, ids(res.Memories)...)
		}
		equal(t, "all, newest first", got, all)
		equal(t, "of one collection", len(do(t, s.List, &robotmem.ListRequest{Collection: "c1"}).Memories), 3)
		refused(t, s.List, &robotmem.ListRequest{Page: -1}, robotmem.Invalid, "page")
		refused(t, s.List, &robotmem.ListRequest{Limit: 1001}, robotmem.Invalid, "limit")
	}},
	{"ListFilters", func(t *testing.T, s robotmem.Service) {
		fact := learn(t, s, grip, nil)
		gone := learn(t, s, "soon forgotten", nil)
		seen := do(t, s.SavePerception,
			&robotmem.SavePerceptionRequest{Description: "seen there", PerceptionType: "auditory"}).MemoryID
		do(t, s.Forget, &robotmem.ForgetRequest{MemoryID: gone, Reason: "x"})

		category := do(t, s.Get, &robotmem.MemoryRequest{MemoryID: fact}).Category
		for name, tt := range map[string]struct {
			r    robotmem.ListRequest
			want []int64
		}{
			"active unless told": {robotmem.ListRequest{}, []int64{seen, fact}},
			"invalidated":        {robotmem.ListRequest{Status: "invalidated"}, []int64{gone}},
			"all":                {robotmem.ListRequest{Status: "all"}, []int64{seen, gone, fact}},
			"facts":              {robotmem.ListRequest{Type: "fact"}, []int64{fact}},
			"auditory":           {robotmem.ListRequest{PerceptionType: "auditory"}, []int64{seen}},
			"tactile":            {robotmem.ListRequest{PerceptionType: "tactile"}, []int64{}},
			"category":           {robotmem.ListRequest{Category: category, Type: "fact"}, []int64{fact}},
			"confidence of 0":    {robotmem.ListRequest{ConfidenceMax: new(0.0)}, []int64{}},
			"confidence from 0":  {robotmem.ListRequest{ConfidenceMin: new(0.0)}, []int64{seen, fact}},
			"of today":           {robotmem.ListRequest{Days: 1}, []int64{seen, fact}},
		} {
			equal(t, name, ids(do(t, s.List, &tt.r).Memories), tt.want)
		}

		refused(t, s.List, &robotmem.ListRequest{Status: "gone"}, robotmem.Invalid, "status")
	}},
	{"Counts", func(t *testing.T, s robotmem.Service) {
		created(t, s, &robotmem.LearnRequest{Insight: "one", Collection: "a"})
		created(t, s, &robotmem.LearnRequest{Insight: "the arm must never stop here", Collection: "b"})
		gone := created(t, s, &robotmem.LearnRequest{Insight: "three", Collection: "b"})
		do(t, s.SavePerception, &robotmem.SavePerceptionRequest{Description: "a view", Data: "12345", Collection: "b"})
		do(t, s.Forget, &robotmem.ForgetRequest{MemoryID: gone, Reason: "x"})
		start(t, s, "b")
		st := do(t, s.Stats, &admin.StatsRequest{})
		equal(t, "total", st.Total, int64(3))
		equal(t, "invalidated", st.ByStatus["invalidated"], int64(1))
		equal(t, "facts", st.ByType["fact"], int64(2))
		equal(t, "constraints", st.ByCategory["constraint"], int64(1))
		equal(t, "sessions", st.Sessions, int64(1))
		equal(t, "last day", st.LastDay >= 3, true)
		equal(t, "payload bytes", st.PayloadBytes > 0, true)
		equal(t, "a backlog without an embedder", st.Backlog, int64(0))
		equal(t, "free bytes of the disk", st.DiskFreeBytes > 0, true)

		for _, w := range st.Workers {
			if w.Name == "" || w.Detail == "" ||
				!slices.Contains([]string{"idle", "working", "waiting", "off"}, w.Status) {
				t.Errorf("worker %+v", w)
			}
		}

		equal(t, "workers", len(st.Workers) >= 4, true)

		cols := map[string]admin.CollectionCount{}
		for _, c := range do(t, s.Collections, &admin.CollectionsRequest{}).Collections {
			cols[c.Collection] = c
		}

		equal(t, "a", cols["a"], admin.CollectionCount{Collection: "a", Active: 1, Total: 1})
		equal(t, "b", cols["b"], admin.CollectionCount{Collection: "b", Active: 2, Total: 3, Sessions: 1})

		cats := map[string]int64{}
		for _, c := range do(t, s.Categories, &admin.CategoriesRequest{}).Categories {
			cats[c.Category] = c.Count
		}

		equal(t, "constraints by categories", cats["constraint"], int64(1))

		for _, c := range do(t, s.Categories, &admin.CategoriesRequest{Collection: "a"}).Categories {
			if c.Category == "constraint" {
				t.Error("a category of b is counted for a")
			}
		}
	}},
	{"RecentFailures", func(t *testing.T, s robotmem.Service) {
		failed := learn(t, s, "the drawer jammed", object{"task": object{"success": false}})
		learn(t, s, "the drawer opened", object{"task": object{"success": true}})
		lesson := learn(t, s, "lesson learned: postmortem of the jam", nil)
		equal(t, "newest first", ids(do(t, s.RecentFailures, &admin.RecentFailuresRequest{}).Memories),
			[]int64{lesson, failed})
		equal(t, "limit", len(do(t, s.RecentFailures, &admin.RecentFailuresRequest{Limit: 1}).Memories), 1)
		equal(t, "elsewhere", len(do(t, s.RecentFailures, &admin.RecentFailuresRequest{Collection: "other"}).Memories),
			0)
	}},
	{"DoctorIsContent", func(t *testing.T, s robotmem.Service) {
		session := start(t, s, "")
		for i, text := range repeated {
			noted(t, s, session, text, object{"spatial": object{"position": []any{1, 2}}, "even": i%2 == 0})
		}

		id := learn(t, s, grip, nil)
		do(t, s.Update, &robotmem.UpdateRequest{MemoryID: id, NewContent: "grip_force=13 N holds wet glass"})
		do(t, s.Forget, &robotmem.ForgetRequest{MemoryID: learn(t, s, "soon gone", nil), Reason: "x"})
		do(t, s.SavePerception, &robotmem.SavePerceptionRequest{Description: "large view", DataBase64: everyByte(2048)})
		end(t, s, session)
		healthy := func(d admin.DoctorResponse) {
			t.Helper()
			if !d.Healthy || d.Status == "fail" || len(d.Checks) == 0 {
				t.Errorf("got %+v", d)
			}

			for _, c := range d.Checks {
				if c.Name == "" || c.Detail == "" || c.Status != "ok" && c.Remedy == "" {
					t.Errorf("check %+v: a part is missing", c)
				}
			}
		}
		healthy(*do(t, s.Doctor, &admin.DoctorRequest{}))
		ask := &robotmem.RecallRequest{Query: "wet glass 13 N", N: 10}
		place := &robotmem.RecallRequest{SpatialSort: near(1, 2)}
		before, beforeByPlace := recalled(t, s, ask), recalled(t, s, place)
		res := do(t, s.Repair, &admin.RepairRequest{})
		if len(res.Repaired) == 0 {
			t.Error("repair names nothing")
		}

		healthy(res.Doctor)
		equal(t, "recall after repair", recalled(t, s, ask), before)
		equal(t, "place after repair", recalled(t, s, place), beforeByPlace)
	}},
	{"RecallsAreCounted", func(t *testing.T, s robotmem.Service) {
		learn(t, s, grip, nil)
		recall(t, s, &robotmem.RecallRequest{Query: grip})
		recall(t, s, &robotmem.RecallRequest{Query: "zebra quartz"})
		// The file may get the counters seconds later; stats has them immediately.
		st := do(t, s.Stats, &admin.StatsRequest{})
		equal(t, "recalls", st.Recalls, int64(2))
		equal(t, "zero hits", st.ZeroHits, int64(1))
	}},
}
