package recall

import (
	"context"
	"strings"
	"sync"

	"github.com/robotmem/robotmem-go/consolidate"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/record"
	"github.com/robotmem/robotmem-go/robotmem/internal/text"
)

// Twins are memories that state the same attribute with another value or another outcome: "8 m: blurred" and
// "12 m: sharp", or 22 bar at first and 25 bar later. Their words do not tell which of them answers a question,
// so they are ordered by the kind of the question. Among the best hits, a memory moves before the one above it if
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
	otherOrder := r.timeOrder() || r.SpatialSort != nil || r.Like != nil
	if len(r.Content) == 0 || otherOrder || r.weightOf(Evidence, 1) == 0 || len(hits) < 2 {
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

	// Each score stays at its rank, so that the scores of the answer fall although the hits are reordered.
	scores := make([]float64, len(pool))
	for i := range pool {
		h := &pool[i]
		scores[i] = h.score

		if len(h.memory.Content) <= statementBytes {
			r.findWords(h)
			h.subject = newSubject(h.memory)

			// The closure must not read h, because the sort below moves other hits to its place.
			has, subject := h.has, h.subject
			h.matchedWords = sync.OnceValue(func() map[string]bool { return matchedWords(has, subject, number) })
		}
	}

	// A hit rises only past neighbours over which it is preferred. prefers is no total order, so a general sort
	// cannot be used.
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

	// The deadline limits only the signals. They are complete, and the rest of the recall is short.
	stored, err := r.src.Vectors(context.WithoutCancel(ctx), ids)
	for i := range hits {
		hits[i].vector = stored[hits[i].id]
	}

	return err
}

// comparable returns the number of best hits that are compared: those of the answer, and the next ones as long as
// their scores of words are high enough for a twin of the best.
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
	// What a document says is neither outdated by what the robot has learnt, nor the other way round.
	if a.memory.Type == robotmem.TypeDocument || b.memory.Type == robotmem.TypeDocument {
		return false
	}
	if !r.near(b, a, min(twinShare, nearShare)) {
		return false
	}
	// The question asks for a if it quotes a, names a number that only a has, or has more than half of its words
	// only in a.
	missing := difference(a.matchedWords(), b.matchedWords())
	if hasAskedNumber(a, b) || a.verbatim() || 2*missing > len(a.has) {
		return false
	}

	// A later value of the same attribute decides before the outcomes do.
	if r.near(b, a, twinShare) {
		if newer := replaces(b, a); newer != 0 {
			return newer > 0
		}

		// If the question asks for no outcome, only opposite outcomes change the order by relevance.
		x := outcomeOrder(a.memory.Outcome, isRule(a.memory), kind())
		y := outcomeOrder(b.memory.Outcome, isRule(b.memory), kind())
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

	// The remaining reasons apply only to a memory that has every word of the question that the other has.
	if missing > 0 {
		return false
	}

	// A reranker has judged the texts but has not seen the contexts, so only words of the context count after it.
	more := difference(b.matchedWords(), a.matchedWords())
	if r.reranked {
		more -= newWords(b.has, a.matchedWords())
	}
	if more > 0 && b.words >= moreShare*a.words && r.asNear(b, a) {
		return true
	}

	return reliability(b.memory)-reliability(a.memory) >= betterRecord ||
		b.memory.Tier != consolidate.TierSuspect && a.memory.Tier == consolidate.TierSuspect
}

// verbatim reports whether the question is the text of the memory.
func (h *hit) verbatim() bool {
	return len(h.matchedWords()) == len(h.has) && len(h.subject.stems()) <= len(h.has)
}

// hasAskedNumber reports whether a has a number of the question that b lacks. The question then asks for the value
// of a.
func hasAskedNumber(a, b *hit) bool {
	x, y := a.matchedWords(), b.matchedWords()
	for word := range x {
		if !y[word] && strings.ContainsAny(word, digits) {
			return true
		}
	}

	return false
}

// oneValue reports whether two memories may state one value at two times, and the question asks for the later
// one: their texts are similar, and each has two thirds of the words of the question that the other has. A
// question about the present state also accepts memories about the same in other words.
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
	x, y := a.matchedWords(), b.matchedWords()
	both := len(x) - difference(x, y)

	return both > 0 && 3*both >= 2*max(len(x), len(y))
}

// changed reports whether a memory says that what an earlier one states has changed: it names a change, has
// every word of the question that the other has or is about the same, and no part of the context differs.
func (r *run) changed(b, a *hit, kind func() text.Kind) bool {
	later := b.memory.ObservedAt.After(a.memory.ObservedAt)
	if isRule(a.memory) || !later || !b.subject.change() || a.subject.change() {
		return false
	}
	if difference(a.matchedWords(), b.matchedWords()) > 0 && !r.aboutTheSame(a, b) {
		return false
	}
	if _, differ, _ := compareLeaves(a.subject.leaves(), b.subject.leaves()); differ > 0 {
		return false
	}

	return kind() == text.Plain || kind() == text.Works || kind() == text.Now
}

// near reports whether the score of b is at least a share of the score of a, which is ranked before it. The scores
// are those of words if b is as near to the question by its vector, or those of words and vectors together if the
// two memories are about the same.
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

// outcomeOrder orders twins by their outcome, for a question of a kind. For a question about failures, rules come
// first and failures come before successes.
func outcomeOrder(outcome string, rule bool, kind text.Kind) int {
	order := map[string]int{
		robotmem.OutcomeSuccess: 2,
		robotmem.OutcomePartial: 1,
		robotmem.OutcomeFailure: -1,
	}[outcome]
	if kind == text.Wrong || kind == text.Counts {
		order = -order
		if rule {
			order = 2
		}
	}

	return order
}

func isRule(m *robotmem.Memory) bool {
	return (m.Category == "constraint" || m.Pinned) && !record.Proposed(m)
}

// attemptsAtTheSame reports whether two memories report attempts, or one of them a rule, at the same.
func (r *run) attemptsAtTheSame(b, a *hit) bool {
	x, y := a.subject, b.subject
	bothUnknown := x.Outcome == robotmem.OutcomeUnknown && y.Outcome == robotmem.OutcomeUnknown
	if x.Type != "fact" || y.Type != "fact" || bothUnknown {
		return false
	}
	if (fromText(a) || fromText(b)) && !r.asNear(b, a) {
		return false
	}

	// Attempts at the same may differ in one text of the context, such as the tool, and in any number of values.
	_, differ, values := compareLeaves(x.leaves(), y.leaves())
	if differ > 1 {
		return false
	}

	// Conversations often mention success and failure, so outcomes that were read from texts alone need more
	// common words.
	least := sameAttempt
	if fromText(a) && fromText(b) {
		least = sameStory
	}

	return values > 0 || consolidate.Jaccard(x.stems(), y.stems()) >= least
}

// outcomesOfOne reports whether two memories of known outcome are about the same, and at least one of the outcomes
// was stated and not read from a text.
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

// difference counts the words that a has and b does not have.
func difference(a, b map[string]bool) (n int) {
	for word := range a {
		if !b[word] {
			n++
		}
	}
	return n
}

// newWords counts the words that were found in a text and that another memory does not have.
func newWords(inText, others map[string]bool) (n int) {
	for word, found := range inText {
		if found && !others[word] {
			n++
		}
	}
	return n
}

// replaces returns 1 if b outdates a, -1 if a outdates b, otherwise 0.
func replaces(b, a *hit) (newer int) {
	if a.subject == nil || b.subject == nil || a.memory.Type != "fact" || b.memory.Type != "fact" {
		return 0
	}

	// Two facts about one attribute that answer a question share a word of it. This check is cheap, and claims are
	// not.
	newer = b.memory.ObservedAt.Compare(a.memory.ObservedAt)
	if newer == 0 || !shareWord(a.has, b.has) {
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
