package local

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/bits-and-blooms/bitset"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/advise"
	"github.com/robotmem/robotmem-go/robotmem/internal/filter"
	"github.com/robotmem/robotmem-go/robotmem/internal/index"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
	"github.com/robotmem/robotmem-go/robotmem/internal/text"
)

const (
	// maxAdvisePaths is how many context paths are read, those of most memories.
	maxAdvisePaths = 24
	// leastRelevance is the share of the query that an attempt must have of what the best
	// one has; below it the attempt is of another task.
	leastRelevance = 0.5
	maxQueryTerms  = 64
)

// taskPaths hold the name of a task, outcomePaths the outcome.
var (
	taskPaths    = []string{"task.name", "task", "task.type", "task.goal"}
	outcomePaths = []string{"task.success", "success", "task.outcome", "outcome", "task.result", "result", "status", "task.score", "task.status"}
)

// Advise implements Service.
func (n *Node) Advise(ctx context.Context, req *robotmem.AdviseRequest) (res *robotmem.AdviseResponse, err error) {
	start := time.Now()
	if req.Query+req.Task != "" {
		if err := n.index.AwaitPostings(ctx); err != nil {
			return nil, err
		}
	}
	err = read(ctx, n, "advise", req, func(c *store.Conn, r *robotmem.AdviseRequest) (err error) {
		q := &advice{Node: n, c: c, AdviseRequest: r}
		res, err = q.answer()
		return err
	})
	if err != nil {
		return nil, err
	}
	res.QueryMS = millis(time.Since(start))
	return res, nil
}

// advice collects the attempts of one question.
type advice struct {
	*Node
	*robotmem.AdviseRequest
	c        *store.Conn
	attempts []advise.Attempt
	columns  []index.Values
	notes    []string
}

func (q *advice) note(format string, args ...any) {
	q.notes = append(q.notes, fmt.Sprintf(format, args...))
}

func (q *advice) answer() (*robotmem.AdviseResponse, error) {
	set, err := q.matching(q.c, q.Collection, q.ContextFilter, nil, nil)
	if err != nil {
		return nil, err
	}
	rows := q.index.Columns.ObservedTimes(set)
	scores, err := q.scores(rowIDs(rows))
	if err != nil {
		return nil, err
	}
	known := bitset.New(set.Len())
	for i, row := range rows {
		if !math.IsNaN(scores[i]) {
			q.attempts = append(q.attempts, advise.Attempt{ID: row.ID, Observed: row.NS, Score: scores[i], Weight: 1})
			known.Set(uint(row.ID))
		}
	}
	parameters, err := q.readColumns(known)
	if err != nil {
		return nil, err
	}
	unknown := len(rows) - len(q.attempts)
	if err := q.weigh(known); err != nil {
		return nil, err
	}
	columns := make([]advise.Column, len(q.columns))
	for i := range q.columns {
		columns[i] = advise.Column(q.columns[i])
	}
	seed := uint64(q.Seed)
	if q.Explore && seed == 0 {
		seed = rand.Uint64()
	}
	res := advise.Advise(q.attempts, columns[:parameters], columns[parameters:], advise.Options{
		Goal: q.Goal, MinAttempts: q.NMin, Explore: q.Explore, Rand: rand.New(rand.NewPCG(seed, 1)),
	})
	res.Unknown, res.Notes = unknown, append(res.Notes, q.notes...)
	return res, nil
}

// matching returns the active memories that pass the filters.
func (n *Node) matching(c *store.Conn, collection string, object robotmem.Object, after, before *time.Time) (*bitset.BitSet, error) {
	condition, err := filter.Parse(object)
	if err != nil {
		return nil, err
	}
	if err := n.index.Columns.Sync(c); err != nil {
		return nil, err
	}
	now := n.Now()
	set, err := n.index.Admit(c, index.Selection{Scope: index.Scope{Collection: collection}, After: after, Before: before, Now: now})
	if err != nil {
		return nil, err
	}
	return n.index.Narrow(c, condition, set, now)
}

func rowIDs(rows []store.TimedID) []int64 {
	ids := make([]int64, len(rows))
	for i := range rows {
		ids[i] = rows[i].ID
	}
	return ids
}

// outcomesOf returns how each attempt ended, 0 to 1, or NaN.
func (n *Node) outcomesOf(c *store.Conn, ids []int64) ([]float64, error) {
	values, err := n.index.Columns.ValuesOf(c, []string{"task.success"}, ids)
	if err != nil {
		return nil, err
	}
	of := make([]float64, len(values[0].Values))
	for i, v := range values[0].Values {
		of[i] = math.NaN()
		switch v {
		case true:
			of[i] = 1
		case false:
			of[i] = 0
		}
	}
	out := make([]float64, len(ids))
	for i, code := range values[0].Of {
		out[i] = of[code]
	}
	return out, nil
}

// scores returns the outcomes or the numbers of the goal, NaN where there is none.
func (q *advice) scores(ids []int64) ([]float64, error) {
	if q.Goal.Success() {
		return q.outcomesOf(q.c, ids)
	}
	if filter.OwnField(q.Goal.Path) {
		return nil, robotmem.Errorf(robotmem.Invalid, "goal", "must be success or a context path that holds numbers, such as -task.duration_s, not %q", q.Goal.Path)
	}
	values, err := q.index.Columns.ValuesOf(q.c, []string{q.Goal.Path}, ids)
	if err != nil {
		return nil, err
	}
	out, numbers, texts, example := make([]float64, len(ids)), 0, 0, any(nil)
	for i, code := range values[0].Of {
		x, ok := values[0].Values[code].(float64)
		switch {
		case ok:
			out[i], numbers = x, numbers+1
			continue
		case values[0].Values[code] != nil:
			texts, example = texts+1, values[0].Values[code]
		}
		out[i] = math.NaN()
	}
	switch {
	case numbers == 0 && texts > 0:
		return nil, robotmem.Errorf(robotmem.Invalid, "goal", "needs numbers, and %s holds %#v and no number in %d memories; name a path with numbers, or success", q.Goal.Path, example, texts)
	case numbers == 0 && len(ids) > 0:
		return nil, robotmem.Errorf(robotmem.Invalid, "goal", "no memory that matches has a number at %q; the goal is success or a context path with numbers, see paths", q.Goal.Path)
	case texts > 0:
		q.note("goal: %d memories have no number at %s, such as %#v; they do not count", texts, q.Goal.Path, example)
	}
	return out, nil
}

// readColumns reads the paths that the attempts have, the parameters first, and returns
// their number.
func (q *advice) readColumns(set *bitset.BitSet) (parameters int, err error) {
	paths, err := q.index.Columns.ContextPaths(q.c, set, func(path string) bool {
		return !slices.Contains(outcomePaths, path) && (q.Goal.Success() || path != q.Goal.Path)
	})
	if err != nil {
		return 0, err
	}
	paths = slices.DeleteFunc(paths, func(p robotmem.ContextPath) bool {
		return !slices.ContainsFunc(p.Kinds, func(kind string) bool { return kind == "number" || kind == "text" || kind == "bool" })
	})
	isParameter := q.parameterPaths(paths)
	slices.SortStableFunc(paths, func(a, b robotmem.ContextPath) int {
		rank := func(p robotmem.ContextPath) int { return map[bool]int{false: 1}[isParameter(p)] }
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(b.Memories, a.Memories))
	})
	if len(paths) > maxAdvisePaths {
		q.note("only %d of %d context paths were compared, those of most attempts; name others in parameters", maxAdvisePaths, len(paths))
		paths = paths[:maxAdvisePaths]
	}
	names := make([]string, len(paths))
	for i, p := range paths {
		if names[i] = p.Path; isParameter(p) {
			parameters++
		}
	}
	if len(names) == 0 {
		return 0, nil
	}
	ids := make([]int64, len(q.attempts))
	for i := range q.attempts {
		ids[i] = q.attempts[i].ID
	}
	q.columns, err = q.index.Columns.ValuesOf(q.c, names, ids)
	return parameters, err
}

// parameterPaths says which paths are parameters: those that the request names, with or
// without params before them, else those below params, else numbers outside the sections
// that describe the situation.
func (q *advice) parameterPaths(paths []robotmem.ContextPath) func(robotmem.ContextPath) bool {
	has := func(test func(robotmem.ContextPath) bool) bool { return slices.ContainsFunc(paths, test) }
	below := func(p robotmem.ContextPath) bool { return strings.HasPrefix(p.Path, "params.") }
	if len(q.Parameters) > 0 {
		named := []string{}
		for _, name := range q.Parameters {
			if !has(func(p robotmem.ContextPath) bool { return p.Path == name }) {
				if !has(func(p robotmem.ContextPath) bool { return p.Path == "params."+name }) {
					q.note("parameters: no attempt has a number, text or truth value at %s", name)
				}
				name = "params." + name
			}
			named = append(named, name)
		}
		return func(p robotmem.ContextPath) bool { return slices.Contains(named, p.Path) }
	}
	if has(below) {
		return below
	}
	return func(p robotmem.ContextPath) bool {
		section, _, _ := strings.Cut(p.Path, ".")
		return !slices.Contains([]string{"spatial", "robot", "task", "env"}, section) && (p.Unit != "" || p.Kinds[0] == "number")
	}
}

// weigh sets the weights by task, words and place, and drops the attempts of weight 0.
func (q *advice) weigh(set *bitset.BitSet) error {
	words := q.Query
	if q.Task != "" && !q.ofTask() {
		words += " " + q.Task
	}
	if err := q.weighWords(words); err != nil || q.SpatialSort == nil {
		q.drop()
		return err
	}
	near, _, err := q.index.Columns.Near(q.c, q.SpatialSort, set, len(q.attempts))
	if err != nil {
		return err
	}
	distances, sorted := map[int64]float64{}, []float64{}
	for _, item := range near {
		distances[item.ID] = item.Value
		sorted = append(sorted, item.Value)
	}
	slices.Sort(sorted)
	width := 0.0
	switch {
	case q.SpatialSort.MaxDistance != nil:
		width = *q.SpatialSort.MaxDistance / 2
	case len(sorted) > 0:
		width = sorted[len(sorted)/2]
	}
	for i := range q.attempts {
		d, ok := distances[q.attempts[i].ID]
		if !ok {
			q.attempts[i].Weight = 0
		} else if width > 0 {
			q.attempts[i].Weight *= math.Exp(-d * d / (2 * width * width))
		}
	}
	q.drop()
	return nil
}

// ofTask keeps the attempts of the named task; false if there are none.
func (q *advice) ofTask() bool {
	for _, v := range q.columns {
		if !slices.Contains(taskPaths, v.Path) {
			continue
		}
		is := make([]bool, len(v.Values))
		for code, value := range v.Values {
			name, _ := value.(string)
			is[code] = strings.EqualFold(strings.TrimSpace(name), strings.TrimSpace(q.Task))
		}
		if !slices.Contains(is, true) {
			continue
		}
		for i, code := range v.Of {
			if !is[code] {
				q.attempts[i].Weight = 0
			}
		}
		return true
	}
	return false
}

// weighWords weighs each attempt by the words of the query that its text or its context
// has: the sum of their inverse document frequencies (as of BM25) among the attempts,
// divided by the largest sum and squared. A flag that is true has the words of its name.
func (q *advice) weighWords(query string) error {
	content, _ := text.Query(query)
	if len(content) == 0 || len(q.attempts) == 0 {
		return nil
	}
	words, err := q.index.Postings.At(q.c)
	if err != nil {
		return err
	}
	if words == nil {
		return index.ErrPostingsNotLoaded
	}
	stems := text.Stems(strings.Join(content[:min(len(content), maxQueryTerms)], " "))
	stems = stems[:min(len(stems), maxQueryTerms)]
	has := make([]uint64, len(q.attempts)) // a bit for each word
	for k, stem := range stems {
		texts := words.Having(q.Collection, stem)
		for i := range q.attempts {
			if texts.Test(uint(q.attempts[i].ID)) {
				has[i] |= 1 << k
			}
		}
	}
	for _, v := range q.columns {
		bits := make([]uint64, len(v.Values))
		for code, value := range v.Values {
			if value == true {
				value = v.Path[strings.LastIndexByte(v.Path, '.')+1:]
			}
			if name, ok := value.(string); ok {
				for _, stem := range text.Stems(strings.ReplaceAll(name, "_", " ")) {
					if k := slices.Index(stems, stem); k >= 0 {
						bits[code] |= 1 << k
					}
				}
			}
		}
		for i, code := range v.Of {
			has[i] |= bits[code]
		}
	}
	n, idf, missing := float64(len(has)), make([]float64, len(stems)), []string{}
	for k := range stems {
		df := 0.0
		for _, bits := range has {
			df += float64(bits >> k & 1)
		}
		if idf[k] = math.Log(1 + (n-df+0.5)/(df+0.5)); df == 0 {
			missing = append(missing, stems[k])
		}
	}
	if len(missing) > 0 {
		q.note("query: no attempt mentions %s", strings.Join(missing, ", "))
	}
	sums, best := make([]float64, len(has)), 0.0
	for i, bits := range has {
		for k := range stems {
			sums[i] += idf[k] * float64(bits>>k&1)
		}
		best = max(best, sums[i])
	}
	for i := range sums {
		share := sums[i] / max(best, math.SmallestNonzeroFloat64)
		if q.attempts[i].Weight *= share * share; share < leastRelevance {
			q.attempts[i].Weight = 0
		}
	}
	return nil
}

// drop removes the attempts of weight 0.
func (q *advice) drop() {
	for k := range q.columns {
		of := q.columns[k].Of[:0]
		for i, code := range q.columns[k].Of {
			if q.attempts[i].Weight > 0 {
				of = append(of, code)
			}
		}
		q.columns[k].Of = of
	}
	q.attempts = slices.DeleteFunc(q.attempts, func(a advise.Attempt) bool { return a.Weight <= 0 })
}
