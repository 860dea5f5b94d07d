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

// A robot's memory has twins: memories that say the same attribute with another value or another outcome,
// "8 m: blurred" and "12 m: sharp", 22 bar then and 25 bar now. Words cannot order them, so the kind of
// the question does. Among the best hits, a memory moves before the one above it if
//
//   - it outdates the other (consolidate.Outdates), or is a later one about the same that says that something has
//     changed, unless the question is about what went wrong or when, or
//   - both report attempts at the same, by their words or by their vectors, and it ended as the question
//     asks: as a success, unless the question is about what went wrong, or
//   - the question asks for the last time, and it is a later one of nearly equal relevance, or
//   - it has every word of the question that the other has, in its text or its context, and more of
//     them, or
//   - it has every word of the question that the other has, and the episodes that used it went better.
//
// A text above statementBytes is no single statement, so it stays where it is. Nothing is dropped.
const (
	evidencePool   = 5    // at least so many hits are compared
	evidenceMost   = 8    // at most so many: each is compared with each
	twinShare      = 0.4  // of the score of words of the better ranked one; a twin below it stays
	latestShare    = 0.5  // likewise, for the last time that something happened
	nearShare      = 0.5  // likewise, for a memory with a better record
	hardlyFarther  = 0.15 // difference of two cosines to the question, as Scale.lift
	twinNearness   = 1.5  // of the vectors of two memories, as Scale.nearness: they are about the same
	betterRecord   = 0.2  // difference of reliability
	sameAttempt    = 0.1  // share of common words of texts about attempts at the same
	sameStory      = 0.5  // likewise, if both outcomes are read from the texts alone
	sameValue      = 0.1  // likewise, of texts about one value at two times
	moreShare      = 0.6  // of the score of words, for a memory that has more words of the query
	statementBytes = 1000
)

// byEvidence orders the best hits.
func byEvidence(ctx context.Context, r *run, hits []hit) ([]hit, error) {
	if len(r.Content) == 0 || r.timeOrder() || r.SpatialSort != nil || r.Like != nil || r.weightOf(Evidence, 1) == 0 || len(hits) < 2 {
		return hits, nil
	}

	pool, rest, err := r.first(ctx, hits, r.comparable(hits), anyHit)
	if err != nil {
		return nil, err
	}

	if r.vectors {
		if err := r.addVectors(ctx, pool); err != nil {
			return nil, err
		}
	}

	number := strings.ContainsAny(strings.Join(r.Content, " "), digits)

	// They stay where they are: the best is first.
	scores := make([]float64, len(pool))
	for i := range pool {
		h := &pool[i]
		if scores[i] = h.score; len(h.memory.Content) <= statementBytes {
			r.findWords(h)
			h.subject = newSubject(h.memory)
			has, subject := h.has, h.subject // h moves
			h.covered = sync.OnceValue(func() map[string]bool { return covered(has, subject, number) })
		}
	}

	for i := 1; i < len(pool); i++ {
		for j := i; j > 0 && r.prefers(&pool[j], &pool[j-1], r.kind); j-- {
			pool[j], pool[j-1] = pool[j-1], pool[j]
		}
	}

	for i := range pool {
		pool[i].score = scores[i]
	}

	return append(pool, rest...), nil
}

// addVectors sets the vectors of loaded hits.
func (r *run) addVectors(ctx context.Context, hits []hit) error {
	ids := make([]int64, len(hits))
	for i := range hits {
		ids[i] = hits[i].id
	}

	// The lists are there: a deadline ends nothing now.
	stored, err := r.src.Vectors(context.WithoutCancel(ctx), ids)
	for i := range hits {
		hits[i].vector = stored[hits[i].id]
	}

	return err
}

// comparable returns how many of the best hits are compared: those of the answer, and of the next ones those
// whose words may make them a twin of the best.
func (r *run) comparable(hits []hit) int {
	n := min(max(r.N, evidencePool), evidenceMost, len(hits))
	for n < min(evidenceMost, len(hits)) && hits[n].words >= twinShare*hits[0].words {
		n++
	}
	return n
}

// prefers reports whether b comes before a, which is ranked before it, for a question of a kind.
func (r *run) prefers(b, a *hit, kind func() text.Kind) bool {
	if a.subject == nil || b.subject == nil {
		return false
	}
	if !r.near(b, a, min(twinShare, nearShare)) {
		return false
	}
	// The memory that the question quotes, or that has its number or most of its words, is what is asked for.
	if asksFor(a, b) || a.verbatim() || 2*difference(a.covered(), b.covered()) > len(a.has) {
		return false
	}

	if r.near(b, a, twinShare) {
		if newer := replaces(b, a); newer != 0 {
			return newer > 0
		}

		// A question that asks for neither is answered by relevance, but for opposite outcomes.
		x, y := worth(a.memory.Outcome, isRule(a.memory), kind()), worth(b.memory.Outcome, isRule(b.memory), kind())
		asked := kind() != text.Plain || x*y < 0
		if x != y && asked && (r.attemptsAtTheSame(b, a) || r.outcomesOfOne(b, a)) {
			return y > x
		}
	}

	if r.changed(b, a, kind) {
		return true
	}
	if r.near(b, a, latestShare) && r.oneValue(b, a, kind()) {
		return b.memory.ObservedAt.After(a.memory.ObservedAt)
	}

	if !r.near(b, a, nearShare) {
		return false
	}

	missing, more := difference(a.covered(), b.covered()), difference(b.covered(), a.covered())
	if missing > 0 {
		return false
	}
	if r.reranked { // which has judged the texts, but has not seen the contexts
		more -= newWords(b.has, a.covered())
	}
	if more > 0 && b.words >= moreShare*a.words && r.asNear(b, a) {
		return true
	}

	return reliability(b.memory)-reliability(a.memory) >= betterRecord ||
		b.memory.Tier != consolidate.TierSuspect && a.memory.Tier == consolidate.TierSuspect
}

// verbatim reports whether the question is the text of a memory: it is what is looked for.
func (h *hit) verbatim() bool {
	return len(h.covered()) == len(h.has) && len(h.subject.stems()) <= len(h.has)
}

// asksFor reports whether a has a number of the question that b lacks: the question is about this value.
func asksFor(a, b *hit) bool {
	x, y := a.covered(), b.covered()
	for word := range x {
		if !y[word] && strings.ContainsAny(word, digits) {
			return true
		}
	}

	return false
}

// oneValue reports whether two memories may state one value at two times, and the question asks for the later
// one: they are alike, and each has two thirds of the words of the question that the other has. What is so now
// is also told by memories about the same in other words.
func (r *run) oneValue(b, a *hit, kind text.Kind) bool {
	if kind != text.Latest && kind != text.Now {
		return false
	}
	if kind == text.Now && r.aboutTheSame(a, b) {
		return true
	}
	if consolidate.Jaccard(a.subject.stems(), b.subject.stems()) < sameValue || !r.asNear(b, a) {
		return false
	}
	x, y := a.covered(), b.covered()
	both := len(x) - difference(x, y)

	return both > 0 && 3*both >= 2*max(len(x), len(y))
}

// changed reports whether a memory says that what an earlier one states has changed: it names a change, has
// every word of the question that the other has or is about the same, and no part of the context differs.
func (r *run) changed(b, a *hit, kind func() text.Kind) bool {
	if isRule(a.memory) || !b.memory.ObservedAt.After(a.memory.ObservedAt) || !b.subject.change() || a.subject.change() {
		return false
	}
	if difference(a.covered(), b.covered()) > 0 && !r.aboutTheSame(a, b) {
		return false
	}
	if _, differ, _ := compareLeaves(a.subject.leaves(), b.subject.leaves()); differ > 0 {
		return false
	}

	return kind() == text.Plain || kind() == text.Works || kind() == text.Now
}

// near reports whether b has a share of the score of a, which is ranked before it: of its words, and is as near
// by its vector; or of both together, if the two are about the same.
func (r *run) near(b, a *hit, share float64) bool {
	if b.words >= share*a.words && r.asNear(b, a) {
		return true
	}
	return b.text > 0 && b.text >= share*a.text && r.aboutTheSame(a, b)
}

// asNear reports whether b is hardly farther from the question than a by its vector.
func (r *run) asNear(b, a *hit) bool {
	return a.cosine == nil || b.cosine != nil && r.usual.lift(*b.cosine) >= r.usual.lift(*a.cosine)-hardlyFarther
}

// aboutTheSame reports whether the vectors of two memories are nearer than those of other memories.
func (r *run) aboutTheSame(a, b *hit) bool {
	if a.vector == nil || b.vector == nil {
		return false
	}

	cosine := 0.0
	for i, f := range a.vector {
		cosine += float64(f * b.vector[i])
	}

	return r.usual.nearness(cosine) >= twinNearness
}

// worth orders twins for a question of a kind, by their outcome; a rule is what a question about failures
// asks for.
func worth(outcome string, rule bool, kind text.Kind) int {
	order := map[string]int{robotmem.OutcomeSuccess: 2, robotmem.OutcomePartial: 1, robotmem.OutcomeFailure: -1}[outcome]
	if kind == text.Wrong || kind == text.Counts {
		order = -order
		if rule {
			order = 2
		}
	}

	return order
}

func isRule(m *robotmem.Memory) bool { return m.Category == "constraint" || m.Pinned }

// attemptsAtTheSame reports whether two memories report attempts, or one of them a rule, at the same.
func (r *run) attemptsAtTheSame(b, a *hit) bool {
	x, y := a.subject, b.subject
	if x.Type != "fact" || y.Type != "fact" || x.Outcome == robotmem.OutcomeUnknown && y.Outcome == robotmem.OutcomeUnknown {
		return false
	}
	if (fromText(a) || fromText(b)) && !r.asNear(b, a) {
		return false
	}
	_, differ, values := compareLeaves(x.leaves(), y.leaves())
	if differ > 1 {
		return false
	}
	least := sameAttempt
	if fromText(a) && fromText(b) {
		// Talk is full of what worked and what broke.
		least = sameStory
	}

	return values > 0 || consolidate.Jaccard(x.stems(), y.stems()) >= least
}

// outcomesOfOne reports whether two memories of known outcome are about the same, and not both only talk of it.
func (r *run) outcomesOfOne(b, a *hit) bool {
	known := func(h *hit) bool { return h.memory.Type == "fact" && h.memory.Outcome != robotmem.OutcomeUnknown }
	return known(a) && known(b) && !(fromText(a) && fromText(b)) && r.aboutTheSame(a, b)
}

// fromText reports whether the outcome of a memory was read from its text.
func fromText(h *hit) bool { return h.subject.OutcomeSource == record.FromText }

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
			// Numbers differ.
			if len(part) <= 64 && IsText(part) {
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
	stemsOf, _  = lru.New[string, []string](1 << 12)           // of paths and values of contexts
	claims, _   = lru.New[string, *consolidate.Claim](1 << 11) // by uid and version
	wordsOfPath = strings.NewReplacer("_", " ", ".", " ")
)

// Forget empties the caches, which may hold texts of a purged memory.
func Forget() {
	stemsOf.Purge()
	claims.Purge()
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

// newWords counts the words that are found in a text and not among those of another memory.
func newWords(inText, others map[string]bool) (n int) {
	for word, found := range inText {
		if found && !others[word] {
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
	stems  func() []string
	claim  func() *consolidate.Claim
	change func() bool // whether it says that something has changed
}

func newSubject(m *robotmem.Memory) *subject {
	s := &subject{
		Memory: m,
		leaves: sync.OnceValue(func() map[string]string { return leaves(m.Context) }),
		stems:  sync.OnceValue(func() []string { return text.Stems(m.Content) }),
		change: sync.OnceValue(func() bool { return record.NamesChange(m.Content) }),
	}
	s.claim = sync.OnceValue(func() *consolidate.Claim {
		key := fmt.Sprint(m.UID, " ", m.Version)
		if m.UID == "" {
			return record.ClaimOf(m, s.leaves())
		}
		return kept(claims, key, func(string) *consolidate.Claim { return record.ClaimOf(m, s.leaves()) })
	})

	return s
}

// replaces returns 1 if b outdates a, -1 if a outdates b, otherwise 0.
func replaces(b, a *hit) (newer int) {
	if a.subject == nil || b.subject == nil || a.memory.Type != "fact" || b.memory.Type != "fact" {
		return 0
	}
	newer = b.memory.ObservedAt.Compare(a.memory.ObservedAt)
	if newer == 0 || !shareWord(a.has, b.has) {
		// Facts about one attribute answer a question by a common word.
		return 0
	}

	early, late := a, b
	if newer < 0 {
		early, late = b, a
	}
	if !consolidate.Outdates(early.subject.claim(), late.subject.claim()) {
		return 0
	}

	return newer
}

// shareWord reports whether two memories have a word of the question in common.
func shareWord(a, b map[string]bool) bool {
	for word, found := range a {
		if found && b[word] {
			return true
		}
	}
	return false
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

// TextLeaves returns the texts, numbers and lists of a context by path, without flags, in lower case.
func TextLeaves(context robotmem.Object) map[string]string { return leaves(context) }

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
			newer := replaces(&hits[i], &hits[j])
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
			// Without reading the others.
			return nil, nil
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
