package recall

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

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
const (
	evidencePool = 5    // at least so many hits are compared
	nearShare    = 0.5  // of the score of words of the better ranked one; below it is not nearly equal
	moreShare    = 0.6  // likewise, for a memory that has more words of the query
	nearCosine   = 0.05 // difference of cosines
	betterRecord = 0.2  // difference of reliability
	sameSubject  = 0.3  // share of common words of texts about one subject
	subjectWords = 2    // common words of a text and of one that says what has changed
)

// byEvidence orders the best hits.
func byEvidence(ctx context.Context, r *run, hits []hit) ([]hit, error) {
	if len(r.Content) == 0 || r.timeOrder() || r.SpatialSort != nil || r.Like != nil || r.noEvidence() || len(hits) < 2 {
		return hits, nil
	}
	var pool, rest []hit
	for i := range hits {
		if len(pool) == max(r.N, evidencePool) {
			rest = hits[i:]
			break
		}
		h := hits[i]
		ok, err := r.load(ctx, &h)
		if err != nil {
			return nil, err
		}
		if ok {
			h.has = r.found(h.memory)
			h.covered = r.coveredBy(&h)
			pool = append(pool, h)
		}
	}
	scores := make([]float64, len(pool)) // they stay where they are: the best is first
	for i := range pool {
		scores[i] = pool[i].score
	}
	success, failure := text.Asks(r.Query.Query)
	for i := 1; i < len(pool); i++ {
		for j := i; j > 0 && prefers(&pool[j], &pool[j-1], success, failure); j-- {
			pool[j], pool[j-1] = pool[j-1], pool[j]
		}
	}
	for i := range pool {
		pool[i].score = scores[i]
	}
	return append(pool, rest...), nil
}

// noEvidence reports whether the user has switched this off.
func (r *run) noEvidence() bool {
	w, set := r.Weights[Evidence]
	return set && w == 0
}

// prefers reports whether b comes before a, which is ranked before it.
func prefers(b, a *hit, success, failure bool) bool {
	missing, more := difference(a.covered, b.covered), difference(b.covered, a.covered)
	if b.words < nearShare*a.words || a.cosine != nil && (b.cosine == nil || *b.cosine < *a.cosine-nearCosine) || missing > len(a.has)/2 {
		return false
	}
	if newer, replaced := replaces(b.memory, a.memory); replaced {
		return newer
	}
	if missing > 0 {
		return false
	}
	if more > 0 && b.words >= moreShare*a.words {
		return true
	}
	if record.Opposite(a.memory.Outcome, b.memory.Outcome) && success != failure {
		return success == (b.memory.Outcome == robotmem.OutcomeSuccess)
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

// coveredBy returns the words of the query that a memory holds, in its text or its context.
func (r *run) coveredBy(h *hit) map[string]bool {
	out, missing := map[string]bool{}, 0
	for word, found := range h.has {
		if out[word] = found; !found {
			missing++
		}
	}
	if missing == 0 || len(h.memory.Context) == 0 {
		return out
	}
	for path, v := range leaves(h.memory.Context) {
		for _, word := range text.Stems(strings.NewReplacer("_", " ", ".", " ").Replace(path) + " " + strings.ReplaceAll(v[1:], "_", " ")) {
			if _, asked := out[word]; asked {
				out[word] = true
			}
		}
	}
	return out
}

// difference counts the words that a has and b has not.
func difference(a, b map[string]bool) (n int) {
	for word, found := range a {
		if found && !b[word] {
			n++
		}
	}
	return n
}

// replaces reports whether one of two memories replaces the other as the present value of one subject,
// and whether that is b.
func replaces(b, a *robotmem.Memory) (newer, replaced bool) {
	if a.Type != "fact" || b.Type != "fact" || a.ObservedAt.Equal(b.ObservedAt) {
		return false, false
	}
	early, late := a, b
	if newer = b.ObservedAt.After(a.ObservedAt); !newer {
		early, late = b, a
	}
	replaced = text.StatesChange(late.Content) && about(early, late) || revalued(early, late)
	return newer, replaced
}

// about reports whether two facts are about one subject: the identity in their contexts agrees, and
// they share words.
func about(a, b *robotmem.Memory) bool {
	same, differ, _ := compareContexts(a.Context, b.Context)
	return differ == 0 && (same > 0 || common(a, b) >= subjectWords)
}

// common counts the words that two texts share.
func common(a, b *robotmem.Memory) (n int) {
	words := text.Stems(b.Content)
	for _, word := range text.Stems(a.Content) {
		if _, shared := slices.BinarySearch(words, word); shared {
			n++
		}
	}
	return n
}

// revalued reports whether two facts without an outcome give one parameter two values.
func revalued(a, b *robotmem.Memory) bool {
	if a.Outcome != robotmem.OutcomeUnknown || b.Outcome != robotmem.OutcomeUnknown {
		return false // two attempts, not two values
	}
	same, differ, values := compareContexts(a.Context, b.Context)
	if values > 0 && differ == 0 && (same > 0 || consolidate.Jaccard(text.Stems(a.Content), text.Stems(b.Content)) >= sameSubject) {
		return true
	}
	verdict, _ := consolidate.Compare(record.StatementOf(a.Content), record.StatementOf(b.Content))
	return verdict == consolidate.Contradicts && differ == 0
}

// compareContexts counts the texts and flags that two contexts share and that differ, and the numbers and
// coordinates that differ.
func compareContexts(a, b robotmem.Object) (same, differ, values int) {
	x, y := leaves(a), leaves(b)
	for path, v := range x {
		w, ok := y[path]
		switch {
		case !ok, slices.Contains(versions, path[strings.LastIndexByte(path, '.')+1:]):
		case v == w && v[0] == 't':
			same++
		case v != w && v[0] == 't' && w[0] == 't':
			differ++
		case v != w:
			values++
		}
	}
	return same, differ, values
}

// versions are keys whose values change without another subject.
var versions = []string{"map", "map_id", "firmware", "version", "fw", "status", "result", "outcome"}

// leaves returns the values of a context by path: t and a text, or n and a number or list. Texts that begin
// with a digit are numbers.
func leaves(context robotmem.Object) map[string]string {
	out := map[string]string{}
	var walk func(prefix string, m map[string]any)
	walk = func(prefix string, m map[string]any) {
		for key, v := range m {
			switch v := v.(type) {
			case map[string]any:
				walk(prefix+key+".", v)
			case string:
				if v != "" && (v[0] >= '0' && v[0] <= '9' || v[0] == '-') {
					out[prefix+key] = "n" + v
				} else {
					out[prefix+key] = "t" + strings.ToLower(v)
				}
			case json.Number:
				out[prefix+key] = "n" + string(v)
			case []any:
				out[prefix+key] = fmt.Sprint("n", v)
			}
		}
	}
	walk("", context)
	return out
}

// noteConflicts names, for each answer, the answers that it replaces or that replace it.
func noteConflicts(answers []robotmem.Memory) {
	for i := range answers {
		for j := range i {
			newer, replaced := replaces(&answers[i], &answers[j])
			if !replaced {
				continue
			}
			note := func(of, other *robotmem.Memory, newer bool) {
				reason := "an earlier value of the same"
				if newer {
					reason = "a later value of the same"
				}
				of.Conflicts = append(of.Conflicts, robotmem.ConflictWith{MemoryID: other.MemoryID, Reason: reason, Newer: newer})
			}
			note(&answers[j], &answers[i], newer)
			note(&answers[i], &answers[j], !newer)
		}
	}
}

const (
	warnPool  = 20 // best hits among which attempts are counted
	warnLeast = 3  // failed attempts that are worth a warning
)

// warnings names attempts of the same task and parameters that all failed.
func (r *run) warnings(ctx context.Context, hits []hit) (out []string, err error) {
	failures := 0
	hits = slices.Clone(hits[:min(warnPool, len(hits))])
	for i := range hits {
		if r.src.Outcome(hits[i].id) == robotmem.OutcomeFailure {
			failures++
		}
	}
	if failures < warnLeast || len(r.Content) == 0 {
		return nil, nil
	}
	type attempts struct {
		failed    []int64
		succeeded bool
		what      string
	}
	all := map[string]*attempts{}
	for i := range hits {
		outcome := r.src.Outcome(hits[i].id)
		if outcome == robotmem.OutcomeUnknown {
			continue
		}
		ok, err := r.load(ctx, &hits[i])
		if err != nil {
			return nil, err
		}
		if !ok {
			continue
		}
		key, what := attemptOf(hits[i].memory)
		if what == "" {
			continue
		}
		a := all[key]
		if a == nil {
			a = &attempts{what: what}
			all[key] = a
		}
		if outcome == robotmem.OutcomeFailure {
			a.failed = append(a.failed, hits[i].id)
		} else {
			a.succeeded = true
		}
	}
	for _, key := range slices.Sorted(maps.Keys(all)) {
		if a := all[key]; len(a.failed) >= warnLeast && !a.succeeded {
			out = append(out, fmt.Sprintf("%s failed %d times and never succeeded: memories %s", a.what, len(a.failed), strings.Trim(fmt.Sprint(a.failed), "[]")))
		}
	}
	return out, nil
}

// attemptOf returns what makes an attempt the same as another: its task and parameters.
func attemptOf(m *robotmem.Memory) (key, what string) {
	task, _ := m.Context.At("task.name")
	if task == nil {
		task, _ = m.Context["task"].(string)
	}
	params, _ := m.Context["params"].(map[string]any)
	if len(params) == 0 {
		return "", ""
	}
	data, err := robotmem.CanonicalJSON(params)
	if err != nil {
		return "", ""
	}
	if task == nil || task == "" {
		task = "an attempt"
	}
	what = fmt.Sprintf("%v with %s", task, data)
	return what, what
}
