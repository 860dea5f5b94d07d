package robotmemtest

import (
	"fmt"
	"testing"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/admin"
)

var pagingCases = []testCase{
	{"ListGoesOnWhileOthersWrite", func(t *testing.T, s robotmem.Service) {
		var want []int64
		for i := range 7 {
			want = append([]int64{learn(t, s, "listed fact", object{"i": i})}, want...)
		}

		var got []int64

		r := &robotmem.ListRequest{Limit: 2}
		for {
			res := do(t, s.List, r)
			got = append(got, ids(res.Memories)...)
			if res.Total < 7 || res.Limit != 2 || (r.Cursor == "") != (res.Page == 1) {
				t.Errorf("total %d, limit %d, page %d", res.Total, res.Limit, res.Page)
			}
			if res.Next == "" {
				break
			}
			learn(t, s, "learnt meanwhile", object{"i": len(got)})
			r.Cursor = res.Next
		}

		equal(t, "all that were there, each once", got, want)
		equal(t, "next of a last page that is full", do(t, s.List, &robotmem.ListRequest{Limit: 10}).Next, "")
	}},
	{"SessionsGoOnWhileOthersStart", func(t *testing.T, s robotmem.Service) {
		var want, got []string
		for range 5 {
			want = append([]string{start(t, s, "lab")}, want...)
		}

		start(t, s, "elsewhere")

		r := &robotmem.SessionsRequest{Limit: 2, Collection: "lab"}
		for {
			res := do(t, s.Sessions, r)
			for _, e := range res.Sessions {
				got = append(got, e.SessionID)
			}
			if res.Next == "" {
				break
			}
			start(t, s, "lab")
			r.Cursor = res.Next
		}

		equal(t, "sessions", got, want)
	}},
	{"AnEpisodeGoesOnInTheOrderItWasLived", func(t *testing.T, s robotmem.Service) {
		session := start(t, s, "")

		var want, got []int64

		for i := range 6 { // two at each time, the later ones with an earlier time
			id := created(t, s,
				&robotmem.LearnRequest{
					Insight: "step", Context: robotmem.Object{"i": i}, SessionID: session,
					ObservedAt: at(-time.Duration(i/2) * time.Hour),
				})
			want = append(want, id)
		}

		want = []int64{want[4], want[5], want[2], want[3], want[0], want[1]}

		r := &admin.SessionMemoriesRequest{SessionID: session, Limit: 3}
		for {
			res := do(t, s.SessionMemories, r)
			got = append(got, ids(res.Memories)...)
			if res.Next == "" {
				break
			}
			created(t, s,
				&robotmem.LearnRequest{
					Insight: "earlier than all", Context: robotmem.Object{"n": len(got)}, SessionID: session,
					ObservedAt: at(-24 * time.Hour),
				})
			r.Cursor = res.Next
		}

		equal(t, "replay", got, want)
	}},
	{"ACursorOfAnotherListIsRefused", func(t *testing.T, s robotmem.Service) {
		session := start(t, s, "")
		start(t, s, "")

		for i := range 3 {
			created(t, s, &robotmem.LearnRequest{Insight: "step", Context: robotmem.Object{"i": i}, SessionID: session})
		}

		listed := do(t, s.List, &robotmem.ListRequest{Limit: 1}).Next
		sessions := do(t, s.Sessions, &robotmem.SessionsRequest{Limit: 1}).Next
		replay := do(t, s.SessionMemories, &admin.SessionMemoriesRequest{SessionID: session, Limit: 1}).Next
		if listed == "" || sessions == "" || replay == "" {
			t.Fatalf("next is %q, %q, %q; want one of each", listed, sessions, replay)
		}

		for name, cursor := range map[string]string{
			"of sessions": sessions, "of an episode": replay, "no cursor": "x", "with a tail": listed + "A",
			"cut off": listed[:len(listed)-2], "padded": listed + "=",
		} {
			t.Run(name, func(t *testing.T) {
				refused(t, s.List, &robotmem.ListRequest{Cursor: cursor}, robotmem.Invalid, "cursor", "leave")
			})
		}

		refused(t, s.Sessions, &robotmem.SessionsRequest{Cursor: listed}, robotmem.Invalid, "cursor", "list")
		refused(t, s.SessionMemories, &admin.SessionMemoriesRequest{SessionID: session, Cursor: listed},
			robotmem.Invalid, "cursor", "list")
		refused(t, s.List, &robotmem.ListRequest{Cursor: listed, Type: "fact"}, robotmem.Invalid, "cursor",
			"other filters")
		refused(t, s.List, &robotmem.ListRequest{Cursor: listed, Page: 2}, robotmem.Invalid, "page", "cursor")
		refused(t, s.List, &robotmem.ListRequest{Cursor: listed, BeforeID: 3}, robotmem.Invalid, "before_id", "cursor")
		equal(t, "with another limit", len(do(t, s.List, &robotmem.ListRequest{Cursor: listed, Limit: 2}).Memories), 2)
	}},
	{"ListOfASessionAndOfTags", func(t *testing.T, s robotmem.Service) {
		session := start(t, s, "lab")
		tagged := func(i int, session string, tags ...string) int64 {
			return created(t, s,
				&robotmem.LearnRequest{Insight: fmt.Sprint("fact number ", i), SessionID: session, Tags: tags})
		}

		a, b, c := tagged(1, session, "wet"), tagged(2, session, "wet", "cold"), tagged(3, "", "wet", "cold")
		for name, tt := range map[string]struct {
			r    robotmem.ListRequest
			want []int64
		}{
			"of the session":  {robotmem.ListRequest{SessionID: session}, []int64{b, a}},
			"wet":             {robotmem.ListRequest{Tags: []string{"wet"}}, []int64{c, b, a}},
			"wet and cold":    {robotmem.ListRequest{Tags: []string{"wet", "cold"}}, []int64{c, b}},
			"both":            {robotmem.ListRequest{Tags: []string{"cold"}, SessionID: session}, []int64{b}},
			"of nobody's tag": {robotmem.ListRequest{Tags: []string{"dry"}}, []int64{}},
		} {
			res := do(t, s.List, &tt.r)
			equal(t, name, ids(res.Memories), tt.want)
			equal(t, name+": total", res.Total, int64(len(tt.want)))
		}

		d := created(t, s, &robotmem.LearnRequest{
			Insight: "fact number 4", Context: robotmem.Object{"force": "12 N", "task": object{"success": false}},
		})
		do(t, s.Forget, &robotmem.ForgetRequest{MemoryID: d, Reason: "test"})
		e := created(t, s, &robotmem.LearnRequest{Insight: "fact number 5", Context: robotmem.Object{"force": "9 N"}})

		for name, tt := range map[string]struct {
			filter, status string
			want           []int64
		}{
			"force":               {`{"force":{"$lt":"20 N"}}`, "", []int64{e}},
			"force, all":          {`{"force":{"$lt":0.02}}`, "all", []int64{}},
			"force in kN, all":    {`{"force":{"$lt":"0.02 kN"}}`, "all", []int64{e, d}},
			"outcome, forgotten":  {`{"task.success":false}`, "invalidated", []int64{d}},
			"a page of something": {`{"force":{"$exists":false}}`, "", []int64{c, b, a}},
		} {
			res := do(t, s.List, &robotmem.ListRequest{ContextFilter: robotmem.ParseObject(tt.filter), Status: tt.status})
			equal(t, name, ids(res.Memories), tt.want)
		}

		misspelt := robotmem.Object{"Force": object{"$lt": "20 N"}}
		meant := []string{"context_filter: no memory has Force; did you mean force?"}
		equal(t, "notes of list", do(t, s.List, &robotmem.ListRequest{ContextFilter: misspelt}).Notes, meant)
		equal(t, "notes of aggregate", do(t, s.Aggregate, &robotmem.AggregateRequest{ContextFilter: misspelt}).Notes, meant)
		equal(t, "first note of advise",
			do(t, s.Advise, &robotmem.AdviseRequest{Query: "fact", ContextFilter: misspelt}).Notes[:1], meant)

		first := do(t, s.List, &robotmem.ListRequest{ContextFilter: robotmem.Object{"force": object{"$exists": false}}, Limit: 2})
		second := do(t, s.List, &robotmem.ListRequest{
			ContextFilter: robotmem.Object{"force": object{"$exists": false}}, Limit: 2, Cursor: first.Next,
		})
		equal(t, "page of a filter", ids(second.Memories), []int64{a})
		refused(t, s.List, &robotmem.ListRequest{ContextFilter: robotmem.Object{"force": object{"$lt": "9,5 N"}}},
			robotmem.Invalid, "context_filter", "9.5 N")

		refused(t, s.List, &robotmem.ListRequest{SessionID: noSession}, robotmem.NotFound, "session_id")
		refused(t, s.List, &robotmem.ListRequest{SessionID: " first"}, robotmem.Invalid, "session_id")
		refused(t, s.List, &robotmem.ListRequest{Tags: []string{"not a tag"}}, robotmem.Invalid, "tags[0]")
	}},
}
