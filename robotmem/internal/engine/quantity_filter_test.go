package engine

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/budget"
	"github.com/robotmem/robotmem-go/robotmem/internal/filter"
	"github.com/robotmem/robotmem-go/robotmem/internal/index"
	"github.com/robotmem/robotmem-go/robotmem/internal/recall"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
	"github.com/robotmem/robotmem-go/robotmem/internal/store/sqlite"
	"github.com/robotmem/robotmem-go/robotmem/internal/units"
	"github.com/robotmem/robotmem-go/robotmem/robotmemtest/rounds"
)

func grip(v any) robotmem.Object { return robotmem.Object{"params": map[string]any{"grip_force": v}} }

// Contexts as robots write them, and whether each passes a limit of 15 N.
var grips = []struct {
	name  string
	value any
	below bool // 15 N
}{
	{"newtons", "12.5 N", true},
	{"without a blank", "12.5N", true},
	{"kilonewtons", "0.0125 kN", true},
	{"pounds", "3.2 lbf", true},
	{"more pounds", "3.4 lbf", false},
	{"a pair", map[string]any{"value": 12.5, "unit": "N"}, true},
	{"a pair in another unit", map[string]any{"value": 20, "unit": "kN"}, false},
	{"a negative one", "-3 N", true},
	{"the limit", "15 N", false},
	{"the limit otherwise", "15000 mN", false},
	{"above", "20 N", false},
	{"a number without a unit", 12.5, true},
	{"a number as text", "12.5", true},
	{"a high number", 16, false},
	{"a torque", "12.5 N·m", false},
	{"an unknown unit", "3 blips", false},
	{"a text", "weak", false},
	{"a text with a number", "12 N on wet glass", false},
	{"a pair and more", map[string]any{"value": 12.5, "unit": "N", "sensor": "left"}, true},
	{"a pair of texts", map[string]any{"value": "12.5", "unit": "N"}, true},
	{"a list", []any{"12.5 N"}, false},
	{"null", nil, false},
	{"true", true, false},
}

// quantityNode returns a node with grips and so many other memories.
func quantityNode(t *testing.T, others int) *Engine {
	t.Helper()
	e := openTest(t, Options{})
	req := &robotmem.LearnBatchRequest{}
	for _, g := range grips {
		req.Items = append(req.Items, robotmem.LearnRequest{Insight: g.name, Context: grip(g.value)})
	}
	for i := range others {
		req.Items = append(req.Items, robotmem.LearnRequest{Insight: fmt.Sprintf("other %d", i)})
	}
	if _, err := e.LearnBatch(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	return e
}

func gripNames(t *testing.T, e *Engine, filter robotmem.Object) []string {
	t.Helper()
	res, err := e.Recall(t.Context(), &robotmem.RecallRequest{ContextFilter: filter, MinConfidence: new(float64), N: 100})
	if err != nil {
		t.Fatal(err)
	}
	names := []string{}
	for _, m := range res.Memories {
		if !strings.HasPrefix(m.Content, "other") {
			names = append(names, m.Content)
		}
	}
	slices.Sort(names)
	return names
}

// Reading each of a few memories and the index for many memories return the same.
func TestQuantitiesCompareAcrossUnits(t *testing.T) {
	t.Parallel()
	var below []string
	for _, g := range grips {
		if g.below {
			below = append(below, g.name)
		}
	}
	but := func(without ...string) (out []string) {
		for _, g := range grips {
			if !slices.Contains(without, g.name) {
				out = append(out, g.name)
			}
		}
		return out
	}
	force := func(v any) robotmem.Object { return robotmem.Object{"params.grip_force": v} }
	limits := []string{"the limit", "the limit otherwise"}
	above := []string{"above", "more pounds", "a pair in another unit", "a high number"}
	other := []string{"a torque", "an unknown unit", "a text", "a text with a number", "a list", "null", "true"}
	half := []string{"newtons", "without a blank", "kilonewtons", "a pair", "a pair and more", "a pair of texts", "a number without a unit", "a number as text"}
	nodes := map[string]*Engine{"few": quantityNode(t, 0), "many": quantityNode(t, index.FewMemories)}
	for _, tt := range []struct {
		name   string
		filter robotmem.Object
		want   []string
	}{
		{"$lt", force(map[string]any{"$lt": "15 N"}), below},
		{"$lt in another unit", force(map[string]any{"$lt": "0.015 kN"}), below},
		{"$lt as a pair", force(map[string]any{"$lt": map[string]any{"value": 15, "unit": "N"}}), below},
		{"$lte", force(map[string]any{"$lte": "15 N"}), append(slices.Clone(below), limits...)},
		{"$gt", force(map[string]any{"$gt": "15 N"}), above},
		{"$gte", force(map[string]any{"$gte": "15 N"}), append(slices.Clone(above), limits...)},
		{"a range", force(map[string]any{"$gt": "12 N", "$lt": "13 N"}), half},
		{"a range without units", force(map[string]any{"$gt": 12, "$lt": "13"}), half},
		{"equality", force("15 N"), limits},
		{"$eq in another unit", force(map[string]any{"$eq": "0.015 kN"}), limits},
		{"$eq as a pair", force(map[string]any{"$eq": map[string]any{"unit": "N", "value": 15.0}}), limits},
		{"$ne", force(map[string]any{"$ne": "15 N"}), but(limits...)},
		{"$in", force(map[string]any{"$in": []any{"15 N", "20000 N", "weak", 12.5}}), append(append([]string{"a pair in another unit", "a text"}, limits...), half...)},
		{"$nin", force(map[string]any{"$nin": []any{"15 N", "weak"}}), but(append([]string{"a text"}, limits...)...)},
		{"$not", force(map[string]any{"$not": map[string]any{"$lt": "15 N"}}), append(slices.Clone(above), limits...)},
		{"$not without a unit", force(map[string]any{"$not": map[string]any{"$lt": 15}}), append(slices.Clone(above), limits...)},
		{"$not twice", robotmem.Object{"$not": force(map[string]any{"$not": map[string]any{"$lt": "15"}})}, below},
		{"$not of a range", force(map[string]any{"$not": map[string]any{"$gt": 12, "$lt": 13}}), but(append(slices.Clone(half), other...)...)},
		{"$not of another path", robotmem.Object{"$not": robotmem.Object{"params.speed": map[string]any{"$lt": 15}}}, but()},
		{"$exists", force(map[string]any{"$exists": true}), but()},
		{"$exists not", force(map[string]any{"$exists": false}), nil},
		{"a plain limit", force(map[string]any{"$lt": 15}), below},
		{"a limit as text", force(map[string]any{"$lt": "15"}), below},
		{"a plain number", force(12.5), half},
		{"a number as text", force("12.5"), half},
		{"a plain number below a unit", force(map[string]any{"$in": []any{12.5}}), half},
		{"an unknown unit", force(map[string]any{"$lt": "5 blips"}), []string{"an unknown unit"}},
		{"an unknown unit of another name", force(map[string]any{"$lt": "5 blops"}), nil},
		{"a text is equal to itself", force("12 N on wet glass"), []string{"a text with a number"}},
		{"the number of a pair", robotmem.Object{"params.grip_force.value": map[string]any{"$lt": 15}}, []string{"a pair", "a pair and more", "a pair of texts"}},
		{"the number of a pair with its unit", robotmem.Object{"params.grip_force.value": "0.0125 kN"}, []string{"a pair", "a pair and more", "a pair of texts"}},
		{"the number of a pair in another unit", robotmem.Object{"params.grip_force.value": map[string]any{"$gt": 1000}}, []string{"a pair in another unit"}},
	} {
		slices.Sort(tt.want)
		if tt.want == nil {
			tt.want = []string{}
		}
		t.Run(tt.name, func(t *testing.T) {
			for name, e := range nodes {
				for range 2 { // without and with the column in memory
					if diff := cmp.Diff(tt.want, gripNames(t, e, tt.filter)); diff != "" {
						t.Errorf("among %s (-want +got):\n%s", name, diff)
					}
				}
			}
		})
	}
}

func TestQuantitiesFollowChanges(t *testing.T) {
	t.Parallel()
	e := quantityNode(t, index.FewMemories+10)
	limit := robotmem.Object{"params.grip_force": map[string]any{"$gt": "900 N"}}
	ask := func(step string, want ...string) {
		t.Helper()
		if got := gripNames(t, e, limit); !slices.Equal(got, append([]string{"a pair in another unit"}, want...)) {
			t.Errorf("%s: got %q, want %q as well", step, got, want)
		}
	}
	ask("at first")
	res, err := e.Learn(t.Context(), &robotmem.LearnRequest{Insight: "strong", Context: grip("1 kN")})
	if err != nil {
		t.Fatal(err)
	}
	ask("learnt", "strong")
	update := func(text string, context robotmem.Object) {
		t.Helper()
		if _, err := e.Update(t.Context(), &robotmem.UpdateRequest{MemoryID: res.MemoryID, NewContent: text, Context: context}); err != nil {
			t.Fatal(err)
		}
	}
	update("weaker", grip("1 N"))
	ask("updated to less")
	update("stronger", grip(map[string]any{"value": 2, "unit": "kN"}))
	ask("updated to more", "stronger")
	update("strongest", nil)
	ask("updated in words", "strongest")
	if _, err := e.Forget(t.Context(), &robotmem.ForgetRequest{MemoryID: res.MemoryID, Reason: "test"}); err != nil {
		t.Fatal(err)
	}
	ask("forgotten")
	if _, err := e.Restore(t.Context(), &robotmem.MemoryRequest{MemoryID: res.MemoryID}); err != nil {
		t.Fatal(err)
	}
	ask("restored", "strongest")
	healthy(t, e)
	if _, err := e.Repair(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	healthy(t, e)
	e.index.Columns.Contexts = nil
	ask("repaired", "strongest")
}

func randomQuantity(rng *rand.Rand) any {
	number := []any{rng.IntN(8), float64(rng.IntN(80)) / 10, -rng.IntN(4)}[rng.IntN(3)]
	unit := []string{"N", "mN", "kN", "lbf", "blip", "blips", "m", "mm", "N·m", "Nm", "°C", "K", "%", "min", "s"}[rng.IntN(15)]
	switch rng.IntN(9) {
	case 0:
		return number
	case 5:
		return fmt.Sprint(number)
	case 1:
		return map[string]any{"value": number, "unit": unit}
	case 2:
		return map[string]any{"value": number, "unit": unit, "more": rng.IntN(2)}
	case 3:
		return fmt.Sprintf("%v%s", number, unit)
	case 4:
		return []any{nil, true, "N", "12 of N", []any{1, 2}, map[string]any{}, "−3 N", "1e3 mN", "５ N", "1/2 N", "⅔ m"}[rng.IntN(11)]
	}
	return fmt.Sprintf("%v %s", number, unit)
}

func randomQuantityFilter(rng *rand.Rand, depth int) robotmem.Object {
	path := []string{"a", "b.c", "b", "d.e", "b.c.value", "a.unit"}[rng.IntN(6)]
	switch k := rng.IntN(9); {
	case depth > 0 && k == 0:
		return robotmem.Object{"$and": []any{randomQuantityFilter(rng, depth-1), randomQuantityFilter(rng, depth-1)}}
	case depth > 0 && k == 1:
		return robotmem.Object{"$or": []any{randomQuantityFilter(rng, depth-1), randomQuantityFilter(rng, depth-1)}}
	case depth > 0 && k == 2:
		return robotmem.Object{"$not": randomQuantityFilter(rng, depth-1)}
	case k == 3:
		return robotmem.Object{path: map[string]any{[]string{"$in", "$nin"}[rng.IntN(2)]: []any{randomQuantity(rng), randomQuantity(rng)}}}
	case k == 4:
		return robotmem.Object{path: map[string]any{"$exists": rng.IntN(2) == 0}}
	}
	return robotmem.Object{path: map[string]any{[]string{"$eq", "$ne", "$lt", "$lte", "$gt", "$gte"}[rng.IntN(6)]: randomQuantity(rng)}}
}

// Random contexts and filters: reading each memory, the index, and the filter cache
// return the same.
func TestQuantityFiltersEqualBruteForce(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("one goroutine at a time: nothing for -race")
	}
	rng := rand.New(rand.NewPCG(3, 15))
	e := openTest(t, Options{})
	req := &robotmem.LearnBatchRequest{KeepDuplicates: true}
	for i := range 600 {
		c := robotmem.Object{"i": i, "a": randomQuantity(rng)}
		if rng.IntN(2) == 0 {
			c["b"] = map[string]any{"c": randomQuantity(rng)}
		} else {
			c["b.c"] = randomQuantity(rng)
		}
		if rng.IntN(3) == 0 {
			c["d"] = map[string]any{"e": randomQuantity(rng)}
		}
		req.Items = append(req.Items, robotmem.LearnRequest{Insight: fmt.Sprintf("fact %d", i), Context: c})
	}
	if _, err := e.LearnBatch(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	l, err := e.List(t.Context(), &robotmem.ListRequest{Limit: 1000})
	if err != nil || len(l.Memories) != 600 {
		t.Fatal(len(l.Memories), err)
	}
	unit := bruteUnits(l.Memories)
	dividing, filters := 0, rounds.Of(100, 1500)
	refused := 0
	for i := range filters {
		asked := randomQuantityFilter(rng, 2)
		node, err := filter.Parse(asked)
		if err != nil {
			t.Fatalf("%v: %v", asked, err)
		}
		want := []int64{}
		for j := range l.Memories {
			m := &l.Memories[j]
			if node.Match(&filter.View{Memory: m, Unit: unit}) {
				want = append(want, m.MemoryID)
			}
		}
		if i%2 == 0 {
			e.index.Columns.Contexts = nil
		}
		got := []int64{}
		err = e.Store.Read(t.Context(), func(c *store.Conn) error {
			q := &recall.Query{RecallRequest: robotmem.RecallRequest{Collection: "*", MinConfidence: new(float64), N: 1}, Filter: node, Now: time.Now()}
			set, _, err := (&source{Engine: e, c: c}).Filter(t.Context(), q)
			if err != nil {
				return err
			}
			for _, m := range e.index.Columns.ObservedTimes(set.Present) {
				got = append(got, m.ID)
			}
			return nil
		})
		if errors.Is(err, robotmem.Invalid) && strings.Contains(err.Error(), "compares with") {
			refused++ // a bound without an order
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		slices.Sort(want)
		slices.Sort(got)
		if !slices.Equal(want, got) {
			t.Fatalf("asked %d %v: %d wanted, %d found: %s", i, asked, len(want), len(got), cmp.Diff(want, got))
		}
		if len(want) > 0 && len(want) < len(l.Memories) {
			dividing++
		}
	}
	if refused > filters/4 {
		t.Errorf("%d of %d filters were refused", refused, filters)
	}
	if dividing < filters/5 {
		t.Errorf("only %d filters divided the memories", dividing)
	}
}

// A file from a version without quantities returns the same as a new one.
func TestQuantitiesOfOlderFiles(t *testing.T) {
	t.Parallel()
	for _, name := range olderFiles(t) {
		t.Run(name, func(t *testing.T) {
			path := t.TempDir() + "/memory.db"
			unpack(t, name, path)
			c, err := sqlite.OpenTables(t.Context(), path, sqlite.ConnOptions{CacheKiB: budget.ReaderCacheKiB, Normal: true})
			if err != nil {
				t.Fatal(err)
			}
			for i, g := range grips {
				if err := insertOldFact(c.Conn, int64(1000+i), g.name, grip(g.value)); err != nil {
					t.Fatal(err)
				}
			}
			for i := range index.FewMemories + 10 {
				if err := insertOldFact(c.Conn, int64(2000+i), fmt.Sprintf("other %d", i), nil); err != nil {
					t.Fatal(err)
				}
			}
			if err := c.Close(); err != nil {
				t.Fatal(err)
			}
			e, err := openFile(t.Context(), path, Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer e.Close()
			want := []string{}
			for _, g := range grips {
				if g.below {
					want = append(want, g.name)
				}
			}
			slices.Sort(want)
			got := gripNames(t, e, robotmem.Object{"params.grip_force": map[string]any{"$lt": "15 N"}})
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("below 15 N (-want +got):\n%s", diff)
			}
			if strings.Contains(name, "v2") { // written by that version
				for _, filter := range []robotmem.Object{{"params.limit": map[string]any{"$lt": "16 N"}}, {"params.speed": "0.25 m/s"}} {
					res, err := e.Recall(t.Context(), &robotmem.RecallRequest{Collection: "arm", ContextFilter: filter, MinConfidence: new(float64)})
					if err != nil || res.Total != 1 || res.Memories[0].MemoryID != 1 {
						t.Errorf("%v: %+v, %v", filter, res, err)
					}
				}
			}
		})
	}
}

// bruteUnits returns the unit of a number without one at a path, from all memories.
func bruteUnits(all []robotmem.Memory) func(path string) string {
	number := regexp.MustCompile(`^\s*[-+−]?[0-9.]+([eE][-+]?[0-9]+)?\s*`)
	unitOf := func(v any) string {
		object, _ := v.(map[string]any)
		_, err := strconv.ParseFloat(fmt.Sprint(object["value"]), 64)
		unit, _ := object["unit"].(string)
		if text, isText := v.(string); isText {
			if _, ok := units.Parse(text); ok {
				return number.ReplaceAllString(text, "")
			}
		} else if _, ok := units.Of(1, unit); ok && err == nil {
			return unit
		}
		return ""
	}
	known := map[string]string{}
	return func(path string) string {
		if unit, ok := known[path]; ok {
			return unit
		}
		counts, names := map[units.Quantity]int{}, map[units.Quantity]string{}
		for _, m := range all {
			first := ""
			var collect func(o map[string]any, path string)
			collect = func(o map[string]any, path string) {
				for key, v := range o {
					if key == path && path == "value" && unitOf(o) != "" {
						v = o
					}
					inner, _ := v.(map[string]any)
					if key == path && unitOf(v) != "" {
						first = unitOf(v)
					} else if rest, ok := strings.CutPrefix(path, key+"."); ok {
						collect(inner, rest)
					}
				}
			}
			collect(m.Context, path)
			if one, ok := units.Of(1, first); ok {
				counts[one]++
				names[one] = first
			}
		}
		var best units.Quantity
		for q, n := range counts {
			if n > counts[best] || n == counts[best] && (q.Unit < best.Unit || q.Unit == best.Unit && q.Value < best.Value) {
				best = q
			}
		}
		known[path] = names[best]
		return known[path]
	}
}

// olderFiles are the stored files of versions without quantities.
func olderFiles(t *testing.T) []string {
	t.Helper()
	return []string{"../../local/testdata/v1.db.gz", "../../local/testdata/v2.db.gz"}
}

// insertOldFact stores a fact as versions 1 and 2 did.
func insertOldFact(c *store.Conn, id int64, text string, context robotmem.Object) error {
	raw := "{}"
	if context != nil {
		_, data, err := context.Normalize("context", robotmem.MaxContext)
		if err != nil {
			return err
		}
		raw = data
	}
	err := sqlite.FileOf(c).Exec(`INSERT INTO memories(id, uid, collection, type, content, human_summary, context, category, content_hash, valid_from, observed_at, created_at, updated_at, revision)
		SELECT ?1, 'u' || ?1, 'default', 'fact', ?2, ?2, ?3, 'code', randomblob(16), t, t, t, t, ?1 FROM (SELECT '2026-01-01T00:00:00.000000000Z' AS t)`, id, text, raw)
	if err != nil {
		return err
	}
	return sqlite.FileOf(c).Exec("INSERT INTO memories_fts(rowid, content, human_summary, scope_files, scope_entities) VALUES (?, ?, '', '', '')", id, text)
}
