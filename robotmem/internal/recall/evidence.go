package recall

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	lru "github.com/hashicorp/golang-lru/v2"
	"github.com/robotmem/robotmem-go/consolidate"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/record"
	"github.com/robotmem/robotmem-go/robotmem/internal/text"
)

// What happened decides between hits of nearly equal relevance, and only between these: a memory
// moves before a better ranked one if it has every word of the query that the other has, in its text
// or its context, and
//
//   - it has more of them, or
//   - it is a later observation of the same subject (the charger was moved), or
//   - it ended as the query asks (what worked, what failed) and the other in the opposite way, or
//   - the episodes that used it went better.
//
// A text above statementBytes is no single statement: that it has one more word of the query says
// little, so it stays where it is.
const (
	evidencePool   = 5    // at least so many hits are compared
	evidenceMost   = 10   // at most so many: each is compared with each
	nearShare      = 0.5  // of the score of words of the better ranked one; below it is not nearly equal
	moreShare      = 0.6  // likewise, for a memory that has more words of the query
	nearCosine     = 0.05 // difference of cosines
	betterRecord   = 0.2  // difference of reliability
	sameSubject    = 0.3  // share of common words of texts about one subject
	subjectWords   = 2    // least words that a text shares with a text about a change
	statementBytes = 1000
)

// byEvidence orders the best hits.
func byEvidence(ctx context.Context, r *run, hits []hit) ([]hit, error) {
	if len(r.Content) == 0 || r.timeOrder() || r.SpatialSort != nil || r.Like != nil || r.weightOf(Evidence, 1) == 0 || len(hits) < 2 {
		return hits, nil
	}
	pool, rest, err := r.first(ctx, hits, min(max(r.N, evidencePool), evidenceMost), anyHit)
	if err != nil {
		return nil, err
	}
	number := strings.ContainsAny(strings.Join(r.Content, " "), digits)
	scores := make([]float64, len(pool)) // they stay where they are: the best is first
	for i := range pool {
		h := &pool[i]
		if scores[i] = h.score; len(h.memory.Content) <= statementBytes {
			r.findWords(h)
			h.subject = newSubject(h.memory)
			has, subject := h.has, h.subject // h moves
			h.covered = sync.OnceValue(func() map[string]bool { return covered(has, subject, number) })
		}
	}
	asked := ""
	if success, failure := text.Asks(r.Query.Query); success {
		asked = robotmem.OutcomeSuccess
	} else if failure {
		asked = robotmem.OutcomeFailure
	}
	for i := 1; i < len(pool); i++ {
		for j := i; j > 0 && prefers(&pool[j], &pool[j-1], asked); j-- {
			pool[j], pool[j-1] = pool[j-1], pool[j]
		}
	}
	for i := range pool {
		pool[i].score = scores[i]
	}
	return append(pool, rest...), nil
}

// prefers reports whether b comes before a, which is ranked before it. asked is the outcome that the
// query asks for, or "".
func prefers(b, a *hit, asked string) bool {
	if a.subject == nil || b.subject == nil || b.words < nearShare*a.words || a.cosine != nil && (b.cosine == nil || *b.cosine < *a.cosine-nearCosine) {
		return false
	}
	missing, more := difference(a.covered(), b.covered()), difference(b.covered(), a.covered())
	if missing > len(a.has)/2 {
		return false
	}
	if newer, sure := replaces(b.subject, a.subject); newer != 0 && (missing == 0 || sure) {
		return newer > 0
	}
	if x, y := a.memory.Outcome, b.memory.Outcome; asked != "" && x != y && (x == asked || y == asked) && more >= missing {
		return y == asked
	}
	if missing > 0 {
		return false
	}
	if more > 0 && b.words >= moreShare*a.words {
		return true
	}
	return reliability(b.memory)-reliability(a.memory) >= betterRecord ||
		b.memory.Tier != consolidate.TierSuspect && a.memory.Tier == consolidate.TierSuspect
}

func reliability(m *robotmem.Memory) float64 {
	if m.Reliability == nil || m.Tier == consolidate.TierNew {
		return 0
	}
	return *m.Reliability
}

// covered returns the words of the query that a memory has, in its text or its context. Without a
// number in the query no number of the context is one.
func covered(inText map[string]bool, s *subject, number bool) map[string]bool {
	out := maps.Clone(inText)
	maps.DeleteFunc(out, func(_ string, found bool) bool { return !found })
	if len(out) == len(inText) {
		return out
	}
	for path, v := range s.leaves() {
		for _, part := range []string{wordsOfPath.Replace(path), strings.ReplaceAll(v, "_", " ")} {
			var stems []string
			if len(part) <= 64 && IsText(part) { // numbers differ
				stems = kept(stemsOf, part, text.Stems)
			} else if number || strings.Trim(part, digits+"+-., ") != "" {
				stems = text.Stems(part)
			}
			for _, word := range stems {
				if _, asked := inText[word]; asked {
					out[word] = true
				}
			}
		}
	}
	return out
}

const digits = "0123456789"

// What many memories have in common, and what takes most of a recall of long texts.
var (
	stemsOf, _    = lru.New[string, []string](1 << 12) // of paths and values of contexts
	statements, _ = lru.New[string, consolidate.Statement](1 << 9)
	wordsOfPath   = strings.NewReplacer("_", " ", ".", " ")
)

// Forget empties the caches, which may hold texts of a purged memory.
func Forget() {
	stemsOf.Purge()
	statements.Purge()
}

// kept returns f(key), from the cache if it is there.
func kept[V any](cache *lru.Cache[string, V], key string, f func(string) V) V {
	v, known := cache.Get(key)
	if !known {
		v = f(key)
		cache.Add(key, v)
	}
	return v
}

// difference counts the words that a has and b has not.
func difference(a, b map[string]bool) (n int) {
	for word := range a {
		if !b[word] {
			n++
		}
	}
	return n
}

// subject is what a memory is compared by. What it takes time to compute is computed once,
// when it is needed.
type subject struct {
	*robotmem.Memory
	leaves func() map[string]string // of its context
	states func() bool              // whether the text states a change
	stems  func() []string
	stated func() consolidate.Statement
}

func newSubject(m *robotmem.Memory) *subject {
	return &subject{
		Memory: m,
		leaves: sync.OnceValue(func() map[string]string { return leaves(m.Context) }),
		states: sync.OnceValue(func() bool { return text.StatesChange(m.Content) }),
		stems:  sync.OnceValue(func() []string { return text.Stems(m.Content) }),
		stated: sync.OnceValue(func() consolidate.Statement { return kept(statements, m.Content, record.StatementOf) }),
	}
}

// replaces returns 1 if b replaces a as the present value of one subject, -1 if a replaces b, otherwise
// 0. sure means that their contexts name one subject, and not their words alone.
func replaces(b, a *subject) (newer int, sure bool) {
	if a == nil || b == nil || a.Type != "fact" || b.Type != "fact" {
		return 0, false
	}
	newer = b.ObservedAt.Compare(a.ObservedAt)
	early, late := a, b
	if newer < 0 {
		early, late = b, a
	}
	attempts := a.Outcome != robotmem.OutcomeUnknown || b.Outcome != robotmem.OutcomeUnknown
	if attempts && !late.states() {
		return 0, false
	}
	same, differ, values := compareLeaves(a.leaves(), b.leaves())
	if differ > 0 {
		return 0, false
	}
	changed := late.states() && (same > 0 || common(a.stems(), b.stems()) >= subjectWords)
	if !changed && !attempts { // two attempts are not two values
		verdict, _ := consolidate.Compare(early.stated(), late.stated())
		changed = verdict == consolidate.Contradicts || values > 0 && (same > 0 || consolidate.Jaccard(a.stems(), b.stems()) >= sameSubject)
	}
	if !changed {
		newer = 0
	}
	return newer, same > 0
}

// common counts the words that two texts share.
func common(a, b []string) (n int) {
	for _, word := range a {
		if _, shared := slices.BinarySearch(b, word); shared {
			n++
		}
	}
	return n
}

// CompareContexts counts the texts and flags that two contexts share and that differ, and the numbers and
// coordinates that differ.
func CompareContexts(a, b robotmem.Object) (same, differ, values int) {
	return compareLeaves(leaves(a), leaves(b))
}

func compareLeaves(x, y map[string]string) (same, differ, values int) {
	for path, v := range x {
		w, ok := y[path]
		switch {
		case !ok, slices.Contains(versions, path[strings.LastIndexByte(path, '.')+1:]):
		case v == w && IsText(v):
			same++
		case v != w && IsText(v) && IsText(w):
			differ++
		case v != w:
			values++
		}
	}
	return same, differ, values
}

// versions are keys whose values change without another subject.
var versions = []string{"map", "map_id", "firmware", "version", "fw", "status", "result", "outcome"}

// leaves returns the texts, numbers and lists of a context by path, without flags.
func leaves(context robotmem.Object) map[string]string {
	out := map[string]string{}
	for _, l := range Leaves("", map[string]any(context)) {
		if l.Value != "true" && l.Value != "false" {
			out[l.Path] = strings.ToLower(l.Value)
		}
	}
	return out
}

// noteConflicts names, for each of the first answers, those that it replaces or that replace it.
func noteConflicts(answers []robotmem.Memory, hits []hit) {
	for i := range hits[:min(len(hits), evidenceMost)] {
		for j := range i {
			newer, _ := replaces(hits[i].subject, hits[j].subject)
			if newer == 0 {
				continue
			}
			late, early := &answers[i], &answers[j]
			if newer < 0 {
				late, early = early, late
			}
			early.Conflicts = append(early.Conflicts, robotmem.ConflictWith{MemoryID: late.MemoryID, Reason: "a later value of the same", Newer: true})
			late.Conflicts = append(late.Conflicts, robotmem.ConflictWith{MemoryID: early.MemoryID, Reason: "an earlier value of the same"})
		}
	}
}

const (
	warnFirst = 5  // best hits of which two are the same failed attempt, if there is something to warn of
	warnPool  = 20 // best hits among which attempts are counted
	warnLeast = 3  // failed attempts that are worth a warning
)

// warnings names attempts of the same task and parameters that all failed.
func (r *run) warnings(ctx context.Context, hits []hit) (out []string, err error) {
	if len(r.Content) == 0 {
		return nil, nil
	}
	failed, succeeded, repeated := map[string][]int64{}, map[string]bool{}, false // by attempt
	hits = hits[:min(warnPool, len(hits))]
	for i := range hits {
		h := &hits[i]
		if i == warnFirst && !repeated {
			return nil, nil // without reading the others
		}
		if h.Outcome == robotmem.OutcomeUnknown {
			continue
		}
		if ok, err := r.loadAhead(ctx, hits, i, warnFirst); err != nil {
			return nil, err
		} else if !ok {
			continue
		}
		if what := attemptOf(h.memory); what == "" {
			continue
		} else if h.Outcome == robotmem.OutcomeFailure {
			failed[what] = append(failed[what], h.id)
			repeated = repeated || len(failed[what]) > 1
		} else {
			succeeded[what] = true
		}
	}
	for _, what := range slices.Sorted(maps.Keys(failed)) {
		if ids := failed[what]; len(ids) >= warnLeast && !succeeded[what] {
			out = append(out, fmt.Sprintf("%s failed %d times and never succeeded: memories %s", what, len(ids), strings.Trim(fmt.Sprint(ids), "[]")))
		}
	}
	return out, nil
}

// attemptOf returns the task and the parameters of an attempt, "" without parameters.
func attemptOf(m *robotmem.Memory) string {
	params, _ := m.Context["params"].(map[string]any)
	data, err := robotmem.CanonicalJSON(params)
	if err != nil || len(params) == 0 {
		return ""
	}
	return fmt.Sprintf("%s with %s", cmp.Or(record.TaskOf(m.Context), "an attempt"), data)
}
