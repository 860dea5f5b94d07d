package robotmemtest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
)

var recallCases = []testCase{
	{"TheFirstMemoryIsFoundWhereNothingWasBefore", func(t *testing.T, s robotmem.Service) {
		asked := []robotmem.RecallRequest{{Query: "wet glass"}, {Query: "wet glass", Type: "fact"}, {Type: "fact"}}
		for _, r := range asked {
			equal(t, "of an empty memory", recalled(t, s, &r), []int64{})
		}

		id := learn(t, s, grip, nil)
		for _, r := range asked {
			equal(t, fmt.Sprintf("%+v", r), recalled(t, s, &r), []int64{id})
		}
	}},
	{"ByWords", func(t *testing.T, s robotmem.Service) {
		glass := learn(t, s, grip, nil)
		floor := learn(t, s, "the floor of the corridor is slippery after rain", nil)
		learn(t, s, "battery lasts four hours when idle", nil)
		equal(t, "one word of several", recalled(t, s, &robotmem.RecallRequest{Query: "hold wet glass juice"}),
			[]int64{glass})
		equal(t, "another form of the word", recalled(t, s, &robotmem.RecallRequest{Query: "raining corridors"}),
			[]int64{floor})
		equal(t, "no word shared", recalled(t, s, &robotmem.RecallRequest{Query: "zebra quartz"}), []int64{})
		equal(t, "best first", recalled(t, s, &robotmem.RecallRequest{Query: "slippery floor wet"}),
			[]int64{floor, glass})
	}},
	{"ChineseWords", func(t *testing.T, s robotmem.Service) {
		slip := learn(t, s, "夹爪在湿玻璃上打滑", nil)
		learn(t, s, "电池在空闲时可用四小时", nil)

		for _, query := range []string{"打滑", "玻璃", "夹爪打滑怎么办"} {
			equal(t, query, recalled(t, s, &robotmem.RecallRequest{Query: query}), []int64{slip})
		}
	}},
	{"NumbersAndUnits", func(t *testing.T, s robotmem.Service) {
		spaced := learn(t, s, "grip at 12.5 N was firm", nil)
		glued := learn(t, s, "grip at 17.5N was firm", nil)
		learn(t, s, "grip at 125 N was firm", nil)

		for query, want := range map[string]int64{"12.5N": spaced, "12.5 N": spaced, "17.5 N": glued, "17.5N": glued} {
			if got := recalled(t, s, &robotmem.RecallRequest{Query: query}); len(got) == 0 || got[0] != want {
				t.Errorf("%q: got %v, want %d first", query, got, want)
			}
		}
	}},
	{"ANumberInAnotherUnit", func(t *testing.T, s robotmem.Service) {
		shelf := learn(t, s, "the shelf is 1000 mm wide", nil)
		table := learn(t, s, "the table is 1.001 m wide", nil)
		pause := learn(t, s, "a pause of 90 s cools the motor", nil)
		box := learn(t, s, "箱子重2千克", nil)
		learn(t, s, "a gap of 3 mm stays open", nil)

		for query, want := range map[string]int64{
			"1 m": shelf, "100cm": shelf, "wide 1001 mm": table, "1.5 minutes": pause, "1.5 min": pause, "2000g": box,
			"2公斤": box,
		} {
			if got := recalled(t, s, &robotmem.RecallRequest{Query: query}); len(got) == 0 || got[0] != want {
				t.Errorf("%q: got %v, want %d first", query, got, want)
			}
		}
		same := recall(t, s, &robotmem.RecallRequest{Query: "shelf 1000 mm"}).Memories[0].Relevance
		if other := recall(t, s, &robotmem.RecallRequest{Query: "shelf 100 cm"}).Memories[0].Relevance; same == nil ||
			other == nil || *same != *other {
			t.Errorf("relevance %v in millimetres, %v in centimetres", same, other)
		}
	}},
	{"Identifiers", func(t *testing.T, s robotmem.Service) {
		servo := learn(t, s, "servo MX-64AT overheats", nil)
		joint := learn(t, s, "joint_3 drifts by two counts an hour", nil)
		file := learn(t, s, "planner.py retries without a pause", nil)
		learn(t, s, "joint_4 is steady", nil)

		for query, want := range map[string]int64{
			"MX-64AT": servo, "mx-64at": servo, "joint_3": joint, "planner.py": file,
		} {
			if got := recalled(t, s, &robotmem.RecallRequest{Query: query}); len(got) == 0 || got[0] != want {
				t.Errorf("%q: got %v, want %d first", query, got, want)
			}
		}
	}},
	{"ScoresAreRelativeToTheBest", func(t *testing.T, s robotmem.Service) {
		for i := range 8 {
			learn(t, s, strings.Repeat("filler ", i)+"wet glass slips", object{"i": i})
		}

		for _, r := range []*robotmem.RecallRequest{
			{Query: "wet glass", N: 8},
			{Query: "wet glass", N: 3},
			{ContextFilter: robotmem.Object{"i": object{"$gte": 0}}, N: 8},
		} {
			res := recall(t, s, r)

			last := 1.0
			for i, m := range res.Memories {
				if m.Score == nil || *m.Score > last || i == 0 && *m.Score != 1 {
					t.Fatalf("memory %d of %d: score %v after %v; want 1 first, and falling", i, len(res.Memories),
						m.Score, last)
				}
				last = *m.Score
			}
		}
	}},
	{"TiesBreakByTime", func(t *testing.T, s robotmem.Service) {
		var want []int64
		for i := range 9 {
			want = append([]int64{learn(t, s, "the same words", object{"i": 9 - i})}, want...)
		}
		equal(t, "order", recalled(t, s, &robotmem.RecallRequest{Query: "words", N: 9}), want)
		equal(t, "cut", recalled(t, s, &robotmem.RecallRequest{Query: "words", N: 4}), want[:4])
	}},
	{"RealBeatsSimulated", func(t *testing.T, s robotmem.Service) {
		sim := learn(t, s, "push the drawer slowly", object{"env": object{"sim_or_real": "sim"}})
		actual := learn(t, s, "push the drawer slowly", object{"env": object{"sim_or_real": "real"}})
		equal(t, "order", recalled(t, s, &robotmem.RecallRequest{Query: "drawer"}), []int64{actual, sim})
	}},
	{"TheOneSuccessAmongFailures", func(t *testing.T, s robotmem.Service) {
		if n := failures(t, s, 300); n != 300 {
			t.Fatalf("%d failures stored, want 300", n)
		}
		want := []int64{learn(t, s, "a long story about many things that happened before the drawer finally was pushed open", object{"task": object{"success": true}})}

		filter := robotmem.Object{"task.success": true}
		for name, r := range map[string]*robotmem.RecallRequest{
			"words, one":    {Query: "push the drawer", ContextFilter: filter, N: 1},
			"words, many":   {Query: "push the drawer", ContextFilter: filter, N: 100},
			"without words": {ContextFilter: filter, N: 1},
		} {
			equal(t, name, recalled(t, s, r), want)
		}
	}},
	{"MinConfidence", func(t *testing.T, s robotmem.Service) {
		id := learn(t, s, grip, nil)

		sure := do(t, s.Get, &robotmem.MemoryRequest{MemoryID: id}).Confidence
		for _, tt := range []struct {
			min  float64
			want []int64
		}{{0, []int64{id}}, {sure - 0.01, []int64{id}}, {sure + 0.01, []int64{}}, {1, []int64{}}} {
			equal(t, fmt.Sprint("min_confidence ", tt.min),
				recalled(t, s, &robotmem.RecallRequest{Query: grip, MinConfidence: &tt.min}), tt.want)
		}
		refused(t, s.Recall, &robotmem.RecallRequest{Query: "x", MinConfidence: new(1.01)}, robotmem.Invalid,
			"min_confidence", "between 0 and 1")
		refused(t, s.Recall, &robotmem.RecallRequest{Query: "x", MinConfidence: new(-0.01)}, robotmem.Invalid,
			"min_confidence")
	}},
	{"TimeWindow", func(t *testing.T, s robotmem.Service) {
		var id []int64
		for i := range 5 {
			id = append(id,
				created(t, s,
					&robotmem.LearnRequest{
						Insight: "hourly reading", Context: robotmem.Object{"i": i},
						ObservedAt: at(time.Duration(i) * time.Hour),
					}))
		}

		for name, tt := range map[string]struct {
			after, before *time.Time
			want          []int64
		}{
			"after is inclusive":  {at(3 * time.Hour), nil, id[3:]},
			"before is exclusive": {nil, at(2 * time.Hour), id[:2]},
			"both":                {at(time.Hour), at(3 * time.Hour), id[1:3]},
			"a nanosecond":        {at(2*time.Hour + 1), at(3*time.Hour + 1), id[3:4]},
			"empty":               {at(2 * time.Hour), at(2 * time.Hour), nil},
		} {
			for _, query := range []string{"", "reading"} {
				got := sortedIDs(recalled(t, s, &robotmem.RecallRequest{Query: query, After: tt.after, Before: tt.before, N: 10}))
				equal(t, name+" "+query, got, append([]int64{}, tt.want...))
			}
		}
	}},
	{"Collections", func(t *testing.T, s robotmem.Service) {
		a := created(t, s, &robotmem.LearnRequest{Insight: grip, Collection: "a"})
		b := created(t, s, &robotmem.LearnRequest{Insight: grip, Collection: "b"})

		d := created(t, s, &robotmem.LearnRequest{Insight: grip})
		for name, want := range map[string][]int64{
			"a": {a}, "b": {b}, "": {d}, "default": {d}, "*": {d, b, a}, "none": {},
		} {
			equal(t, "collection "+name, recalled(t, s, &robotmem.RecallRequest{Query: grip, Collection: name}), want)
		}
		refused(t, s.Recall, &robotmem.RecallRequest{Query: "x", Collection: "a b"}, robotmem.Invalid, "collection")
		if res, ok := try(t, s.Search, &robotmem.SearchRequest{Q: grip}); ok {
			equal(t, "search looks everywhere", ids(res.Memories), []int64{d, b, a})
			equal(t, "search in one", ids(do(t, s.Search, &robotmem.SearchRequest{Q: grip, Collection: "b"}).Memories),
				[]int64{b})
			equal(t, "top_k", len(do(t, s.Search, &robotmem.SearchRequest{Q: grip, TopK: 2}).Memories), 2)
		}
	}},
	{"TypeCategoryAndTags", func(t *testing.T, s robotmem.Service) {
		fact := created(t, s,
			&robotmem.LearnRequest{Insight: "glass must never be gripped dry", Tags: []string{"one", "two"}})
		plain := created(t, s, &robotmem.LearnRequest{Insight: "glass seen on the table", Tags: []string{"one"}})
		image := do(t, s.SavePerception,
			&robotmem.SavePerceptionRequest{Description: "glass on a tray", Data: "x"}).MemoryID
		trace := do(t, s.SavePerception,
			&robotmem.SavePerceptionRequest{
				Description: "glass under force", PerceptionType: "tactile", Data: "x",
			}).MemoryID

		category := do(t, s.Get, &robotmem.MemoryRequest{MemoryID: fact}).Category
		for name, tt := range map[string]struct {
			r    robotmem.RecallRequest
			want []int64
		}{
			"facts":        {robotmem.RecallRequest{Type: "fact"}, []int64{fact, plain}},
			"perceptions":  {robotmem.RecallRequest{Type: "perception"}, []int64{image, trace}},
			"tactile":      {robotmem.RecallRequest{PerceptionType: "tactile"}, []int64{trace}},
			"category":     {robotmem.RecallRequest{Category: category}, []int64{fact}},
			"no category":  {robotmem.RecallRequest{Category: "nope"}, []int64{}},
			"one tag":      {robotmem.RecallRequest{Tags: []string{"one"}}, []int64{fact, plain}},
			"all the tags": {robotmem.RecallRequest{Tags: []string{"one", "two"}}, []int64{fact}},
		} {
			for _, query := range []string{"", "glass"} {
				r := tt.r
				r.Query = query
				equal(t, name+" "+query, sortedIDs(recalled(t, s, &r)), tt.want)
			}
		}

		refused(t, s.Recall, &robotmem.RecallRequest{Query: "x", Type: "idea"}, robotmem.Invalid, "type",
			"fact, perception")
		refused(t, s.Recall, &robotmem.RecallRequest{Query: "x", PerceptionType: "smell"}, robotmem.Invalid,
			"perception_type")
	}},
	{"HowMany", func(t *testing.T, s robotmem.Service) {
		for i := range 7 {
			learn(t, s, "the same words", object{"i": i})
		}
		equal(t, "five unless told", len(recalled(t, s, &robotmem.RecallRequest{Query: "words"})), 5)
		equal(t, "one", len(recalled(t, s, &robotmem.RecallRequest{Query: "words", N: 1})), 1)
		equal(t, "all there are", len(recalled(t, s, &robotmem.RecallRequest{Query: "words", N: 100})), 7)
		equal(t, "the most there can be", len(recalled(t, s, &robotmem.RecallRequest{Query: "words", N: 101})), 7)
		refused(t, s.Recall, &robotmem.RecallRequest{Query: "words", N: -1}, robotmem.Invalid, "n", "between 1 and 100")
	}},
	{"NothingToGoByIsInvalid", func(t *testing.T, s robotmem.Service) {
		learn(t, s, grip, nil)

		for _, r := range []*robotmem.RecallRequest{
			{}, {Query: " \t"}, {N: 5, Explain: true}, {ContextFilter: robotmem.Object{}},
		} {
			refused(t, s.Recall, r, robotmem.Invalid, "query")
		}
	}},
	{"WithoutWordsNewestFirst", func(t *testing.T, s robotmem.Service) {
		var want []int64

		for i, hour := range []int{3, 1, 4, 2} {
			created(t, s,
				&robotmem.LearnRequest{
					Insight: "reading", Context: robotmem.Object{"i": i, "kind": "r"},
					ObservedAt: at(time.Duration(hour) * time.Hour),
				})
		}
		res := recall(t, s, &robotmem.RecallRequest{ContextFilter: robotmem.Object{"kind": "r"}})
		equal(t, "mode", res.Mode, "structured")

		for _, m := range res.Memories {
			want = append(want, m.ObservedAt.Unix())
		}
		if len(want) != 4 || !slices.IsSortedFunc(want, func(a, b int64) int { return int(b - a) }) {
			t.Errorf("observed at %v, want the four, newest first", want)
		}
	}},
	{"ExplainSaysHow", func(t *testing.T, s robotmem.Service) {
		learn(t, s, grip, nil)
		plain := recall(t, s, &robotmem.RecallRequest{Query: "glass"})
		if plain.Stages != nil || len(plain.Memories) != 1 || plain.Memories[0].Found != nil {
			t.Errorf("explained unasked: %+v", plain)
		}
		res := recall(t, s, &robotmem.RecallRequest{Query: "glass", Explain: true})
		if len(res.Stages) == 0 || len(res.Memories) != 1 || len(res.Memories[0].Found) == 0 {
			t.Fatalf("got %+v", res)
		}

		for _, st := range res.Stages {
			if st.Stage == "" || st.Kept < 0 || st.MS < 0 {
				t.Errorf("stage %+v", st)
			}
		}
		equal(t, "list", res.Memories[0].Found[0].List, "bm25")
		equal(t, "mode without an embedder", res.Mode, "bm25_only")
	}},
	{"NoQueryFails", func(t *testing.T, s robotmem.Service) {
		id := learn(t, s, grip, nil)
		for _, query := range []string{
			`"`, `""`, `'`, `"wet glass`, `wet AND`, `OR`, `NOT glass`, `NEAR(wet glass, 2)`, `wet*`, `*`, `content:wet`, `{a b}: c`,
			`^wet`, `(((`, `-glass`, `+glass`, `glass; DROP TABLE memories`, `%`, `\`, "a\x00b", "🦾", "...", "。", strings.Repeat("(", 500),
		} {
			res := recall(t, s, &robotmem.RecallRequest{Query: query})
			if strings.Contains(query, "glass") && !slices.Equal(ids(res.Memories), []int64{id}) {
				t.Errorf("%q: got %v, want %d", query, ids(res.Memories), id)
			}
		}
		huge := strings.Repeat("lorem ipsum ", 20_000) + "glass"
		equal(t, "a huge query", recalled(t, s, &robotmem.RecallRequest{Query: huge}), []int64{id})
		refused(t, s.Recall, &robotmem.RecallRequest{Query: "a\xff"}, robotmem.Invalid, "query")
	}},
	{"ACarriedMemoryIsWhole", func(t *testing.T, s robotmem.Service) {
		ctx := object{
			"params": object{"f": 1}, "spatial": object{"position": []any{1, 2}}, "robot": object{"id": "a"},
			"task": object{"success": true}, "env": "lab", "own": 1,
		}
		res := do(t, s.Learn, &robotmem.LearnRequest{Insight: grip, Context: ctx, ObservedAt: at(0)})
		m := recall(t, s, &robotmem.RecallRequest{Query: grip}).Memories[0]
		if m.UID != res.UID || m.Type != "fact" || m.Content != grip || m.Summary == "" || m.Category == "" ||
			m.Confidence <= 0 || m.Relevance == nil || m.Collection != "default" || !m.ObservedAt.Equal(day) {
			t.Errorf("got %+v", m)
		}
		equal(t, "context", any(object(m.Context)), asJSON(t, ctx))

		for name, pair := range map[string][2]any{
			"params": {m.Params, ctx["params"]}, "spatial": {m.Spatial, ctx["spatial"]},
			"robot": {m.Robot, ctx["robot"]}, "task": {m.Task, ctx["task"]}, "env": {m.Env, "lab"},
		} {
			equal(t, name, pair[0], asJSON(t, pair[1]))
		}
		long := learn(t, s, "a summary is short: "+strings.Repeat("日本 ", 400), nil)
		got := recall(t, s, &robotmem.RecallRequest{Query: "summary", N: 1}).Memories[0]
		if n := len([]rune(got.Summary)); got.MemoryID != long || n > 300 {
			t.Errorf("memory %d with a summary of %d characters", got.MemoryID, n)
		}
	}},
	{"Ranges", func(t *testing.T, s robotmem.Service) {
		refused(t, s.Recall, &robotmem.RecallRequest{Query: "x", Diversity: 1.5}, robotmem.Invalid, "diversity")
		refused(t, s.Recall, &robotmem.RecallRequest{Query: "x", MinRelevance: -1}, robotmem.Invalid, "min_relevance")
		refused(t, s.Recall, &robotmem.RecallRequest{Query: "x", DeadlineMS: -1}, robotmem.Invalid, "deadline_ms")
		refused(t, s.Recall, &robotmem.RecallRequest{Query: "x", SessionID: " first"}, robotmem.Invalid, "session_id")
		id := learn(t, s, grip, nil)
		equal(t, "diversity and a deadline",
			recalled(t, s, &robotmem.RecallRequest{Query: grip, Diversity: 1, DeadlineMS: 60_000}), []int64{id})
	}},
}

// failures stores failed attempts at the same task and returns their number.
func failures(t *testing.T, s robotmem.Service, n int) int {
	t.Helper()

	items := make([]robotmem.LearnRequest, n)
	for i := range items {
		items[i] = robotmem.LearnRequest{
			Insight: "push the drawer", Context: robotmem.Object{"task": object{"success": false}, "i": i},
		}
	}

	stored := 0
	if res, ok := try(t, s.LearnBatch, &robotmem.LearnBatchRequest{Items: items}); ok {
		for _, r := range res.Results {
			if r.Error == nil && r.Status == "created" {
				stored++
			}
		}
		return stored
	}

	for i := range items {
		created(t, s, &items[i])
		stored++
	}

	return stored
}
