package robotmemtest

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
)

// filtered are the contexts of the filter tests. The key "i" of a memory is its
// index in this list.
var filtered = []object{
	{"i": 0, "task": object{"success": true}, "params": object{"force": 10, "mode": "slow"}},
	{"i": 1, "task": object{"success": false}, "params": object{"force": json.Number("12.50"), "mode": "fast"}},
	{"i": 2, "task": object{"success": true}, "params": object{"force": 15, "mode": "slow"}, "robot": "arm-1"},
	{"i": 3, "params": object{"force": "12.5"}, "category": "mine"},
	{"i": 4, "params": object{"力": 1, "a b": object{"c'd": "quoted"}}},
	{"i": 5, "id": json.Number("9007199254740993")},
}

var filterCases = []testCase{
	{"Operators", func(t *testing.T, s robotmem.Service) {
		id := learnFiltered(t, s)
		for _, tt := range []struct {
			filter string
			want   []int
		}{
			{`{"task.success":true}`, []int{0, 2}},
			{`{"task":{"success":true}}`, []int{0, 2}},
			{`{"task.success":{"$eq":false}}`, []int{1}},
			{`{"robot":"arm-1"}`, []int{2}},
			{`{"i":3}`, []int{3}},
			{`{"i":3.0}`, []int{3}},
			{`{"params.force":12.5}`, []int{1, 3}},
			{`{"params.force":1.25e1}`, []int{1, 3}},
			{`{"params.force":"12.5"}`, []int{1, 3}},
			{`{"id":9007199254740993}`, []int{5}},
			{`{"params.mode":{"$ne":"slow"}}`, []int{1, 3, 4, 5}},
			{`{"params.force":{"$lt":12.5}}`, []int{0}},
			{`{"params.force":{"$lte":12.5}}`, []int{0, 1, 3}},
			{`{"params.force":{"$gt":12.5}}`, []int{2}},
			{`{"params.force":{"$gte":12.5}}`, []int{1, 2, 3}},
			{`{"params.force":{"$gte":10,"$lt":15}}`, []int{0, 1, 3}},
			{`{"i":{"$in":[1,4,99]}}`, []int{1, 4}},
			{`{"i":{"$in":[]}}`, []int{}},
			{`{"params.mode":{"$in":["fast",10,true]}}`, []int{1}},
			{`{"i":{"$nin":[0,1,2]}}`, []int{3, 4, 5}},
			{`{"params.mode":{"$nin":["slow"]}}`, []int{1, 3, 4, 5}},
			{`{"params.mode":{"$exists":true}}`, []int{0, 1, 2}},
			{`{"params.mode":{"$exists":false}}`, []int{3, 4, 5}},
			{`{"params":{"$exists":false}}`, []int{5}},
			{`{"params.mode":"slow","task.success":true,"params.force":{"$gt":11}}`, []int{2}},
			{`{"$and":[{"params.mode":"slow"},{"params.force":{"$lt":11}}]}`, []int{0}},
			{`{"$or":[{"i":1},{"robot":"arm-1"},{"params.force":10}]}`, []int{0, 1, 2}},
			{`{"$not":{"task.success":true}}`, []int{1, 3, 4, 5}},
			{`{"$not":{"$or":[{"i":{"$lt":4}},{"i":5}]}}`, []int{4}},
			{`{"i":{"$lt":4},"$or":[{"task.success":true},{"params.force":"12.5"}]}`, []int{0, 1, 2, 3}},
			{`{"params.力":1}`, []int{4}},
			{`{"params.a b.c'd":"quoted"}`, []int{4}},
		} {
			checkFilter(t, s, id, tt.filter, tt.want)
		}
	}},
	{"MissingPathsAndOtherTypesDoNotMatch", func(t *testing.T, s robotmem.Service) {
		id := learnFiltered(t, s)

		all := []int{0, 1, 2, 3, 4, 5}
		for _, tt := range []struct {
			filter string
			want   []int
		}{
			{`{"no.path":1}`, []int{}},
			{`{"no.path":{"$lt":1}}`, []int{}},
			{`{"no.path":{"$gte":0}}`, []int{}},
			{`{"no.path":{"$in":[1]}}`, []int{}},
			{`{"no.path":{"$exists":true}}`, []int{}},
			{`{"no.path":{"$exists":false}}`, all},
			{`{"no.path":{"$ne":1}}`, all},
			{`{"no.path":{"$nin":[1]}}`, all},
			{`{"$not":{"no.path":1}}`, all},
			{`{"task.success":"true"}`, []int{}},
			{`{"task.success":1}`, []int{}},
			{`{"i":"1"}`, []int{1}},
			{`{"i":true}`, []int{}},
			{`{"params.mode":{"$gt":5}}`, []int{}},
			{`{"params":{"$lt":5}}`, []int{}},
			{`{"params.mode.deeper":"slow"}`, []int{}},
			{`{"x' OR 1=1 --":1}`, []int{}},
			{`{"i":{"$eq":"' OR 1=1 --"}}`, []int{}},
		} {
			checkFilter(t, s, id, tt.filter, tt.want)
		}
	}},
	{"QuantitiesCompareInAnyUnit", func(t *testing.T, s robotmem.Service) {
		var id []int64
		for _, force := range []any{
			"12.5 N", "0.015 kN", object{"value": 9, "unit": "N"}, "3 lbf", 12.5, "12.5 Nm", "firm",
		} {
			id = append(id,
				learn(t, s, fmt.Sprintf("filtered fact %v", force), object{"params": object{"force": force}}))
		}

		for _, tt := range []struct {
			filter string
			want   []int
		}{
			{`{"params.force":"12.5 N"}`, []int{0, 4}},
			{`{"params.force":"0.0125 kN"}`, []int{0, 4}},
			{`{"params.force":{"$eq":{"value":15,"unit":"N"}}}`, []int{1}},
			{`{"params.force":{"$lt":"13 N"}}`, []int{0, 2, 4}},
			{`{"params.force":{"$gte":"0.0125 kN"}}`, []int{0, 1, 3, 4}},
			{`{"params.force":{"$gt":"10 N","$lt":"14 N"}}`, []int{0, 3, 4}},
			{`{"params.force":{"$in":["15 N","9 N"]}}`, []int{1, 2}},
			{`{"params.force":{"$ne":"12.5 N"}}`, []int{1, 2, 3, 5, 6}},
			{`{"params.force":{"$lt":"20 Nm"}}`, []int{5}},
			{`{"params.force":12.5}`, []int{0, 4}},
			{`{"params.force":{"$lt":13}}`, []int{0, 2, 4}},
			{`{"params.force":{"$lt":"13"}}`, []int{0, 2, 4}},
			{`{"params.force":{"$not":{"$lt":13}}}`, []int{1, 3}},
			{`{"params.force.value":{"$lt":"0.013 kN"}}`, []int{2}},
			{`{"params.force":"firm"}`, []int{6}},
		} {
			checkFilter(t, s, id, tt.filter, tt.want)
		}

		res := recall(t, s, &robotmem.RecallRequest{ContextFilter: robotmem.Object{"params.force": 12.5}})
		equal(t, "interpreted", res.Interpreted,
			[]string{"context_filter: a number without a unit at params.force is taken in N, as most quantities there"})
	}},
	{"BoundsWithoutAnOrderAreRefused", func(t *testing.T, s robotmem.Service) {
		for _, context := range []object{
			{"force": "12.5 N", "n": 3, "mode": "slow", "day": "2026-05-01", "grip": "12 N"},
			{"force": "20 N", "n": 4, "mode": "fast", "day": "2026-07-01", "grip": "weak"},
		} {
			learn(t, s, "filtered fact "+context["mode"].(string), object{"params": context})
		}

		for filter, words := range map[string][]string{
			`{"params.force":{"$lt":"9,5 N"}}`:             {"params.force", `"9,5 N"`, "no quantity", `did you mean "9.5 N"?`},
			`{"params.force":{"$gte":"fifteen"}}`:          {"params.force", "fifteen", `such as "9.5 N"`},
			`{"params.force":{"$not":{"$gt":"9mms"}}}`:     {"9mms", "no quantity"},
			`{"$or":[{"a":1},{"params.n":{"$lt":"3,5"}}]}`: {"params.n", "no number", `did you mean "3.5"?`},
			`{"confidence":{"$gt":"high"}}`:                {"confidence", "high", "no number", "0.8"},
			`{"observed_at":{"$lt":"15 N"}}`:               {"observed_at", "15 N", "no time", "2026-"},
		} {
			f := robotmem.ParseObject(filter)
			_, err := s.Recall(t.Context(), &robotmem.RecallRequest{ContextFilter: f})
			checkFilterRefused(t, err, words)
			if _, err = s.Aggregate(t.Context(), &robotmem.AggregateRequest{ContextFilter: f}); !errors.Is(err, ErrNotOffered) {
				checkFilterRefused(t, err, words)
			}
		}

		// Texts have their own order, and where some values are texts the answer says what it compares.
		for filter, want := range map[string]string{
			`{"params.mode":{"$lt":"g"}}`:      "fast",
			`{"params.day":{"$gt":"2026-06"}}`: "fast",
			`{"params.grip":{"$lte":"weak"}}`:  "fast",
		} {
			res := recall(t, s, &robotmem.RecallRequest{ContextFilter: robotmem.ParseObject(filter)})
			if len(res.Memories) != 1 || !strings.HasSuffix(res.Memories[0].Content, want) {
				t.Errorf("%s: got %v, want the one with %s", filter, res.Memories, want)
			}
			equal(t, filter+" has a note", strings.Contains(strings.Join(res.Notes, ""), "no quantity"),
				strings.Contains(filter, "weak"))
		}
	}},
	{"AMetreIs1000Millimetres", func(t *testing.T, s robotmem.Service) {
		var id []int64
		for _, width := range []any{"1000 mm", "1001 mm", "1 m", object{"value": 100, "unit": "cm"}} {
			id = append(id, learn(t, s, fmt.Sprintf("filtered fact %v", width), object{"width": width}))
		}
		checkFilter(t, s, id, `{"width":"1 m"}`, []int{0, 2, 3})
		checkFilter(t, s, id, `{"width":"1000 mm"}`, []int{0, 2, 3})
		checkFilter(t, s, id, `{"width":{"$gt":"1 m"}}`, []int{1})
	}},
	{"AMemorysOwnFieldsWin", func(t *testing.T, s robotmem.Service) {
		id := learnFiltered(t, s)
		m := do(t, s.Get, &robotmem.MemoryRequest{MemoryID: id[3]})
		checkFilter(t, s, id, `{"category":"mine"}`, []int{})
		checkFilter(t, s, id, fmt.Sprintf(`{"category":%q,"i":3}`, m.Category), []int{3})
		checkFilter(t, s, id, `{"confidence":{"$gte":0.5}}`, []int{0, 1, 2, 3, 4, 5})
		checkFilter(t, s, id, `{"confidence":{"$gt":1}}`, []int{})
		checkFilter(t, s, id, `{"perception_type":{"$exists":true}}`, []int{})
		after := day.Add(4 * time.Hour).Format(time.RFC3339)
		checkFilter(t, s, id, fmt.Sprintf(`{"observed_at":{"$gte":%q}}`, after), []int{4, 5})
		session := do(t, s.StartSession, &robotmem.StartSessionRequest{}).SessionID
		in := created(t, s, &robotmem.LearnRequest{Insight: "within", SessionID: session})
		equal(t, "session_id",
			recalled(t, s, &robotmem.RecallRequest{ContextFilter: robotmem.Object{"session_id": session}}), []int64{in})
	}},
	{"BadFiltersAreInvalid", func(t *testing.T, s robotmem.Service) {
		learnFiltered(t, s)

		many, deep := robotmem.Object{}, robotmem.Object{"i": 1}
		for i := range 33 {
			many[fmt.Sprint("c", i)] = i
		}

		for range 20 {
			deep = robotmem.Object{"$not": map[string]any(deep)}
		}

		for _, tt := range []struct {
			filter robotmem.Object
			words  []string
		}{
			{robotmem.Object{"i": object{"$regex": "x"}}, []string{"$regex", "$exists"}},
			{robotmem.Object{"$nor": []any{}}, []string{"$nor"}},
			{robotmem.Object{"$and": []any{object{"i": object{"$near": 1}}}}, []string{"$near"}},
			{robotmem.Object{"i": object{"$in": 1}}, []string{"$in"}},
			{robotmem.Object{"i": object{"$exists": "yes"}}, []string{"$exists"}},
			{robotmem.Object{"$or": object{"i": 1}}, []string{"$or"}},
			{many, []string{"32"}},
			{deep, []string{"8"}},
		} {
			_, err := s.Recall(t.Context(), &robotmem.RecallRequest{ContextFilter: tt.filter})
			t.Run(fmt.Sprintf("%.40v", tt.filter), func(t *testing.T) { checkFilterRefused(t, err, tt.words) })
		}

		delete(many, "c32")
		recall(t, s, &robotmem.RecallRequest{ContextFilter: many})
		recall(t, s,
			&robotmem.RecallRequest{ContextFilter: robotmem.Object{"$not": object{"$and": []any{object{"$not": object{"i": 1}}}}}})
	}},
	{"FollowsUpdates", func(t *testing.T, s robotmem.Service) {
		id := learn(t, s, grip, object{"i": 1})
		do(t, s.Update,
			&robotmem.UpdateRequest{MemoryID: id, NewContent: "now otherwise", Context: robotmem.Object{"i": 2}})
		equal(t, "old value", recalled(t, s, &robotmem.RecallRequest{ContextFilter: robotmem.Object{"i": 1}}),
			[]int64{})
		equal(t, "new value", recalled(t, s, &robotmem.RecallRequest{ContextFilter: robotmem.Object{"i": 2}}),
			[]int64{id})
	}},
}

func learnFiltered(t *testing.T, s robotmem.Service) []int64 {
	t.Helper()

	var id []int64
	for i, ctx := range filtered {
		id = append(id,
			created(t, s,
				&robotmem.LearnRequest{
					Insight: "filtered fact", Context: ctx, ObservedAt: at(time.Duration(i) * time.Hour),
				}))
	}

	return id
}

// checkFilter tests a filter without and with a query. Both must give the same memories.
func checkFilter(t *testing.T, s robotmem.Service, id []int64, filter string, want []int) {
	t.Helper()

	var f robotmem.Object
	if err := json.Unmarshal([]byte(filter), &f); err != nil {
		t.Fatal(err)
	}

	wantIDs := []int64{}
	for _, i := range want {
		wantIDs = append(wantIDs, id[i])
	}

	for _, query := range []string{"", "fact"} {
		got := sortedIDs(recalled(t, s, &robotmem.RecallRequest{Query: query, ContextFilter: f, N: 100}))
		equal(t, fmt.Sprintf("%s with %q", filter, query), got, wantIDs)
	}
}

// checkFilterRefused accepts context_filter or a field inside it as the field of the error.
func checkFilterRefused(t *testing.T, err error, words []string) {
	t.Helper()

	var e *robotmem.Error
	if !errors.As(err, &e) || !strings.HasPrefix(e.Field, "context_filter") {
		t.Errorf("got %v, want context_filter to be invalid", err)
		return
	}
	checkRefused(t, err, robotmem.Invalid, e.Field, words...)
}
