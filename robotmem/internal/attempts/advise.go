package attempts

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/bits-and-blooms/bitset"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/admin"
	"github.com/robotmem/robotmem-go/robotmem/internal/advise"
	"github.com/robotmem/robotmem-go/robotmem/internal/filter"
	"github.com/robotmem/robotmem-go/robotmem/internal/index"
	"github.com/robotmem/robotmem-go/robotmem/internal/record"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
	"github.com/robotmem/robotmem-go/robotmem/internal/text"
	"github.com/robotmem/robotmem-go/robotmem/internal/units"
)

const (
	maxAdvisePaths = 24 // context paths that are read, those of most memories
	maxQueryTerms  = 64
	// An attempt is of another task if its words of the query weigh less than this share of
	// those of the best attempt: sameTask if enough attempts reach it, else similarTask.
	sameTask, similarTask = 0.8, 0.6
	enoughOfTask          = 10
	// duringPath is where what rules find in messages names the goal that it happened in. The outcome of that
	// goal is the attempt.
	duringPath = "event.during"
	// Facts of this rule say that a place was passed at which something had gone wrong.
	rulePath, passedRule = "event.rule", "danger-passed"
)

// Source has the indexes and settings that the attempts are collected with.
type Source struct {
	Index    *index.Index
	Outcomes []string // the context paths that may state an outcome
	Now      time.Time
}

// Advise answers a question from the attempts in a snapshot. It fails with index.ErrPostingsDropped if a repair has
// dropped the posting lists meanwhile.
func Advise(from Source, c *store.Conn, r *robotmem.AdviseRequest, res *robotmem.AdviseResponse) error {
	q := &advice{Source: from, c: c, AdviseRequest: r}
	return q.answer(res)
}

// advice collects the attempts of one question.
type advice struct {
	Source
	*robotmem.AdviseRequest
	c        *store.Conn
	attempts []advise.Attempt
	episodes map[int64]Episode // attempts that are whole episodes, by memory
	repeats  []int             // by attempt, how often it was made
	columns  []index.Values    // by attempt; the parameters first
	offsets  map[int64][]float64
	without  int // memories that state an outcome and no parameter
	stated   adviseStates
	notes    []string
}

func (q *advice) note(format string, args ...any) {
	q.notes = append(q.notes, fmt.Sprintf(format, args...))
}

func (q *advice) answer(res *robotmem.AdviseResponse) error {
	set, err := q.Index.Matching(q.c,
		index.Selection{Scope: index.Scope{Collection: q.Collection}, After: q.After, Before: q.Before, Now: q.Now},
		q.ContextFilter)
	if err != nil {
		return err
	}

	// What was said during an attempt is no attempt of its own. That a robot passed a dangerous place is one at that place,
	// and a part of a goal elsewhere.
	parts := robotmem.Object{duringPath: map[string]any{"$exists": true}}
	if q.SpatialSort == nil {
		parts = robotmem.Object{"$or": []any{map[string]any(parts), map[string]any{rulePath: passedRule}}}
	}
	during, err := q.Index.Narrowed(q.c, set, parts, q.Now)
	if err != nil {
		return err
	}
	if during.Any() {
		set = set.Difference(during)
	}

	words := q.Query
	if q.Task != "" {
		named := make([]any, len(record.TaskPaths))
		for i, path := range record.TaskPaths {
			named[i] = map[string]any{path: q.Task}
		}
		of, err := q.Index.Narrowed(q.c, set, robotmem.Object{"$or": named}, q.Now)
		if err != nil {
			return err
		}

		// If no context names the task, the words of the task select the attempts.
		if of.Any() {
			set = of
		} else {
			words += " " + q.Task
		}
	}

	rows := q.Index.Columns.ObservedTimes(set)
	scores, err := q.scores(rows)
	if err != nil {
		return err
	}

	// An episode has an outcome and no number, so it is an attempt only for the goal success.
	if q.Goal == "success" {
		if q.episodes, err = OfEpisodes(q.Index, q.c, rows); err != nil {
			return err
		}
	}

	n, known := 0, bitset.New(set.Len())

	for i, row := range rows {
		if e, whole := q.episodes[row.ID]; whole {
			scores[i] = scoreOf[e.Outcome]
		}
		if !math.IsNaN(scores[i]) {
			rows[n], scores[n] = row, scores[i]
			n++
		}
	}

	unknown := len(rows) - n
	for i, times := range q.Index.Columns.Sightings(rows[:n]) {
		// An episode is one attempt, however often its memory was learnt.
		if _, whole := q.episodes[rows[i].ID]; whole {
			times = 1
		}

		// A perception that a fact describes has 0 sightings.
		if times > 0 {
			known.Set(uint(rows[i].ID))
			q.attempts = append(q.attempts,
				advise.Attempt{ID: rows[i].ID, Observed: rows[i].NS, Score: scores[i], Weight: 1})
			q.repeats = append(q.repeats, times)
		}
	}

	parameters, err := q.readColumns(known)
	if err != nil {
		return err
	}

	ids := make([]int64, len(q.attempts))
	for i := range q.attempts {
		ids[i] = q.attempts[i].ID
	}

	// Only the contexts of sessions have some of the parameters. Their columns are added, and the parameters are moved
	// to the front again.
	q.columns, parameters = overlay(q.columns, parameters, q.episodes, ids)
	parameters = q.parametersFirst(parameters)
	if err := errors.Join(q.weighWords(words), q.weighPlaces(known)); err != nil {
		return err
	}

	// The weights come first, so that attempts at other tasks are not counted as being without parameters.
	q.dropWithoutParameters(parameters)
	q.unfold()

	columns := make([]advise.Column, len(q.columns))
	for i := range q.columns {
		columns[i] = advise.Column(q.columns[i])
	}

	seed := uint64(q.Seed)
	if q.Explore && seed == 0 {
		seed = rand.Uint64()
	}

	states := q.states()
	*res = *advise.Advise(q.attempts, columns, parameters, q.offsets, states, q.AdviseRequest,
		rand.New(rand.NewPCG(seed, 1)))
	if res.Evidence == "good" && len(states) < q.stated.asked {
		// A given state is unknown to the attempts, so their evidence is of other states.
		res.Evidence = "weak"
	}

	res.Unknown, res.Notes = unknown, append(res.Notes, q.notes...)
	res.FromEpisodes = len(q.episodes)

	return nil
}

// scoreOf maps an outcome to a score.
var scoreOf = map[string]float64{robotmem.OutcomeSuccess: 1, robotmem.OutcomePartial: 0.5, robotmem.OutcomeFailure: 0}

// dropWithoutParameters removes the memories that state no parameter, if others do: an outcome
// without a setting is no attempt.
func (q *advice) dropWithoutParameters(parameters int) {
	if parameters == 0 {
		return
	}

	dropped := 0

	for i := range q.attempts {
		if q.attempts[i].Weight == 0 {
			continue
		}
		states := slices.ContainsFunc(q.columns[:parameters], func(v index.Values) bool { return v.Of[i] != 0 })
		if !states {
			q.attempts[i].Weight = 0
			dropped++
		}
	}

	if dropped > 0 {
		q.without = dropped
		q.note("%d memories state an outcome and none of the parameters; they are no attempts", dropped)
	}
}

// scores returns the outcomes, 0 to 1, or the numbers of the goal; NaN where there is none.
func (q *advice) scores(rows []store.TimedID) ([]float64, error) {
	switch {
	case q.Goal == "success":
		return q.Index.Columns.Scores(rows), nil
	case q.Goal == advise.GoalNear && q.SpatialSort == nil:
		return nil, robotmem.Errorf(robotmem.Invalid, "goal",
			"near needs spatial_sort: the field where attempts hold the place that they reached, the place asked for as target, and max_distance")
	case q.Goal == advise.GoalNear:
		return slices.Repeat([]float64{1}, len(rows)), nil // weighPlaces sets them
	}

	path := strings.TrimPrefix(q.Goal, "-")
	if filter.OwnField(path) {
		return nil, robotmem.Errorf(robotmem.Invalid, "goal",
			"must be success or a context path that holds numbers, such as -task.duration_s, not %q", path)
	}

	values, err := q.Index.Columns.ValuesOf(q.c, []string{path}, store.IDsOf(rows))
	if err != nil {
		return nil, err
	}

	out, numbers, example := make([]float64, len(rows)), 0, any(nil)

	for i, code := range values[0].Of {
		x, ok := values[0].Values[code].(float64)
		if out[i] = x; ok {
			numbers++
			continue
		}
		out[i], example = math.NaN(), cmp.Or(values[0].Values[code], example)
	}

	if numbers == 0 && len(rows) > 0 {
		return nil, robotmem.Errorf(robotmem.Invalid, "goal",
			"needs numbers, and no memory that matches has a number at %s%s; name a path with numbers, see paths, or success",
			path, exampleText(example))
	}

	return out, nil
}

// exampleText shows a value that stands where numbers were asked for, nothing if no memory has one.
func exampleText(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return fmt.Sprintf(" (one has %.100q)", v)
	case units.Quantity:
		return fmt.Sprintf(" (one has the quantity %v %s)", v.Value, v.Unit)
	}

	return " (one has a truth value, a list or an object)"
}

// readColumns reads the paths that the attempts have, and returns how many of them are parameters:
// those that the request names, with or without params before them, else those below params. What is
// given is no parameter.
func (q *advice) readColumns(set *bitset.BitSet) (parameters int, err error) {
	outcomes := q.Outcomes

	// Neither the outcome nor the goal may explain itself.
	paths, _, err := q.Index.Columns.ContextPaths(q.c, set, index.PathsAsked{Wanted: func(path string) bool {
		return !slices.Contains(outcomes, path) && path != strings.TrimPrefix(q.Goal, "-")
	}})
	if err != nil {
		return 0, err
	}

	paths = slices.DeleteFunc(paths, func(p admin.ContextPath) bool {
		return !slices.ContainsFunc(p.Kinds,
			func(kind string) bool { return kind == "number" || kind == "text" || kind == "bool" })
	})

	// The limit below drops the paths of the fewest memories.
	slices.SortStableFunc(paths, func(a, b admin.ContextPath) int { return cmp.Compare(b.Memories, a.Memories) })

	var known []string
	for _, p := range paths {
		known = append(known, p.Path)
	}

	if err := q.resolve(known); err != nil {
		return 0, err
	}

	var named, given, others []string

	for _, path := range known {
		switch {
		case q.stated.given[path] != nil:
			given = append(given, path)
		case q.isParameter(path):
			named = append(named, path)
		default:
			others = append(others, path)
		}
	}

	all := slices.Concat(named, given, others)
	if len(all) == 0 {
		return 0, nil
	}

	if len(all) > maxAdvisePaths {
		q.note("only %d of %d context paths were compared, those of most attempts; name others in parameters",
			maxAdvisePaths, len(all))

		// The given states stay, so the parameters are cut.
		named = named[:min(len(named), maxAdvisePaths-len(given))]
		all = slices.Concat(named, given, others)[:maxAdvisePaths]
	}

	ids := make([]int64, len(q.attempts))
	for i := range q.attempts {
		ids[i] = q.attempts[i].ID
	}

	q.columns, err = q.Index.Columns.ValuesOf(q.c, all, ids)

	return min(len(named), len(all)), err
}

// weighPlaces weighs each attempt by its distance d from the place asked for: exp(-d²/2w²),
// where w is half of max_distance, or the median distance. If the goal is to be near, this
// is the score instead, and all attempts with a place weigh the same.
func (q *advice) weighPlaces(set *bitset.BitSet) error {
	if q.SpatialSort == nil {
		return nil
	}

	target, most := q.SpatialSort.Target, math.Inf(1)
	if q.SpatialSort.MaxDistance != nil {
		most = *q.SpatialSort.MaxDistance
	}

	q.offsets = map[int64][]float64{}
	distances, sorted := slices.Repeat([]float64{math.NaN()}, len(q.attempts)), []float64{0}
	err := q.Index.Columns.EachPlace(q.c, q.SpatialSort, set, func(id int64, xyz []float64, d float64) {
		// The set holds the ids of the attempts only, which are in the order of their ids.
		i, _ := slices.BinarySearchFunc(q.attempts, id,
			func(a advise.Attempt, id int64) int { return cmp.Compare(a.ID, id) })
		if distances[i], sorted = d, append(sorted, d); d <= most {
			q.offsets[id] = slices.Clone(xyz[:len(target)])
			for k := range target {
				q.offsets[id][k] -= target[k]
			}
		}
	})
	slices.Sort(sorted)
	width := most / 2
	if q.SpatialSort.MaxDistance == nil {
		width = sorted[len(sorted)/2]
	}

	for i, d := range distances {
		a, weight := &q.attempts[i], 0.0
		if d <= most {
			weight = math.Exp(-d * d / max(2*width*width, math.SmallestNonzeroFloat64))
		}
		if q.Goal == advise.GoalNear && !math.IsNaN(d) {
			a.Score, weight = weight, 1
		}
		a.Weight *= weight
	}

	return err
}

// weighWords weighs each attempt by the share of the words of the query that its text or
// its context has, of those that the best attempt has, squared. A flag that is true has
// the words of its name, and an episode those of the texts of all its memories.
func (q *advice) weighWords(query string) error {
	content, _ := text.Query(query)
	stems := text.Stems(strings.Join(content, " "))
	stems = stems[:min(len(stems), maxQueryTerms)]
	if len(stems) == 0 || len(q.attempts) == 0 {
		return nil
	}

	words, err := q.Index.Postings.At(q.c)
	if err != nil {
		return err
	}
	if words == nil {
		return index.ErrPostingsDropped
	}

	// maxQueryTerms keeps the words within 64 bits.
	has := make([]uint64, len(q.attempts)) // a bit for each word
	for k, stem := range stems {
		texts := words.Having(q.Collection, stem)
		for i := range q.attempts {
			id := q.attempts[i].ID
			said := func(id int64) bool { return texts.Test(uint(id)) }
			if said(id) || slices.ContainsFunc(q.episodes[id].Members, said) {
				has[i] |= 1 << k
			}
		}
	}

	for _, v := range q.columns {
		// The words of a value are looked up once, not for each attempt that has it.
		named := make([]uint64, len(v.Values))
		for code, value := range v.Values {
			name, _ := value.(string)
			if value == true {
				name = v.Path[strings.LastIndexByte(v.Path, '.')+1:]
			}
			if name == "" {
				continue
			}

			for _, stem := range text.Stems(strings.ReplaceAll(name, "_", " ")) {
				if k := slices.Index(stems, stem); k >= 0 {
					named[code] |= 1 << k
				}
			}
		}

		for i, code := range v.Of {
			has[i] |= named[code]
		}
	}

	best, same := 0, 0
	for _, words := range has {
		best = max(best, bits.OnesCount64(words))
	}

	shares := make([]float64, len(has))
	for i, words := range has {
		if shares[i] = float64(bits.OnesCount64(words)) / float64(max(best, 1)); shares[i] >= sameTask {
			same++
		}
	}

	least := similarTask
	if same >= enoughOfTask {
		least = sameTask
	}

	for i, share := range shares {
		if q.attempts[i].Weight *= share * share; share < least {
			q.attempts[i].Weight = 0
		}
	}

	return nil
}

// unfold removes the attempts of weight 0, and repeats those that were made more than once.
func (q *advice) unfold() {
	left := 0

	for i := range q.attempts {
		if q.attempts[i].Weight <= 0 {
			q.repeats[i] = 0
			left++

			// The answer says how many of the attempts that it used are episodes.
			delete(q.episodes, q.attempts[i].ID)
		}
	}

	for k := range q.columns {
		q.columns[k].Of = repeated(q.columns[k].Of, q.repeats)
	}
	q.attempts = repeated(q.attempts, q.repeats)
	if left -= q.without; left > 0 {
		q.note("%d attempts of other tasks or places were left out", left)
	}
}

// repeated returns the values, each so often as the counts say.
func repeated[T any](values []T, counts []int) []T {
	out := make([]T, 0, len(values))
	for i, v := range values {
		for range counts[i] {
			out = append(out, v)
		}
	}

	return out
}
