package recall

import (
	"cmp"
	"context"
	"maps"
	"math"
	"slices"
	"sync"

	"github.com/robotmem/robotmem-go/robotmem"
)

// Words and vectors judge the same text, so they become one list, by score:
//
//	w₁ √f bm25/max(bm25) + w₂ vectorShare (1 + min(1, fewMemories/n)) max(0, z)
//
// where f, from 0 to 1, is the weighted share of the question's words that the best memory has. A question in
// another language finds few of its words, so they count less. z is the cosine on the question's own scale:
// by how many standard deviations it is above the mean of the n memories that pass the filters. So no constant
// depends on the model. The weights w are 1 unless the configuration sets them.
//
// A memory then gets a share of the scores of the memories before and after it in its
// episode: what was said or done next often answers a question. The parameters were chosen
// on the evaluation sets by cross-validation, see docs/explanation/recall.md.
const (
	vectorShare    = 0.15
	fewMemories    = 64 // up to so many memories a vector counts twice, because their word statistics are unreliable
	neighbourShare = 0.1
	// sureScore is added to both scores of words whose ratio is f. Among a handful of memories a word that half of
	// them have weighs nothing, and without this constant the ratio would have no meaning.
	sureScore = 0.5
)

// FusionRRF as Config.Fusion keeps words and vectors apart, as lists of ranks.
const FusionRRF = "rrf"

// byScore merges the lists of words and of vectors into one by score, unless the configuration keeps
// them apart. The two lists stay as parts of it, for explain.
func (r *run) byScore(ctx context.Context) error {
	words, near := r.named(ListWords), r.named(ListVector)
	if r.Fusion == FusionRRF || words == nil || len(words.items) == 0 || r.stopOnly != nil || r.weight(*words) == 0 {
		return nil
	}

	scores := byID(words.items)
	combined := near != nil && len(near.items) > 0 && r.weight(*near) > 0
	if combined {
		// Both lists are complete, so the deadline no longer applies: the scores that they lack are few.
		var err error
		if scores, err = r.combine(context.WithoutCancel(ctx), words.items, near.items); err != nil {
			return err
		}
	}

	share := r.weightOf(Neighbours, neighbourShare)
	withNeighbours := share > 0 && r.addNeighbourScores(scores, share)
	// Without vectors and episodes, the list of words already has this order.
	if !withNeighbours && !combined {
		return nil
	}

	text := list{name: ListText, items: make([]Ranked, 0, len(scores))}
	for id, score := range scores {
		text.items = append(text.items, Ranked{id, score})
	}

	slices.SortFunc(text.items, Larger)
	words.part = true
	if near != nil {
		near.part = true
	}

	r.lists = slices.Insert(r.lists, 0, text)
	r.trace(ListText, len(text.items))

	return nil
}

// share returns the weight of vectors relative to words.
func (s Scale) share() float64 { return vectorShare * (1 + min(1, fewMemories/float64(max(s.Of, 1)))) }

// named returns the list of the run with a name, or nil.
func (r *run) named(name string) *list {
	for i := range r.lists {
		if r.lists[i].name == name {
			return &r.lists[i]
		}
	}
	return nil
}

// combine returns the scores of the memories that are in either of two lists. It computes the
// score of a memory for the list that lacks it, because a list lacks a memory also if it was cut before it.
func (r *run) combine(ctx context.Context, words, near []Ranked) (map[int64]float64, error) {
	r.scores, r.cosines = byID(words), byID(near)
	without := func(items []Ranked, have map[int64]float64) []Ranked {
		return slices.DeleteFunc(slices.Clone(items), func(item Ranked) bool { _, ok := have[item.ID]; return ok })
	}
	noWords, far := without(near, r.scores), without(words, r.cosines)

	// Both lookups are restricted to the missing memories, so they are short. They run concurrently.
	var (
		lookup           sync.WaitGroup
		scores, cosines  []Ranked
		scored, compared error
	)
	lookup.Go(func() { scores, scored = r.src.Lexical(ctx, r.Query, r.set.only(noWords), r.words(), len(noWords)) })
	if len(far) > 0 {
		cosines, compared = r.src.Nearest(ctx, r.Query, r.set.only(far), len(far))
	}

	lookup.Wait()
	if err := cmp.Or(scored, compared); err != nil {
		return nil, err
	}

	maps.Copy(r.scores, byID(scores))
	maps.Copy(r.cosines, byID(cosines))

	// Dividing the best score by √f multiplies the normalized scores by it. f is left out for an unfinished word,
	// because the score of a full match is not known.
	best := words[0].Value / r.weightOf(ListWords, 1)
	if full := r.src.Full(r.Query, Words{Terms: r.Content}); full > words[0].Value && r.Typing == nil {
		best /= math.Sqrt((words[0].Value + sureScore) / (full + sureScore))
	}

	vectors := r.weightOf(ListVector, 1) * r.usual.share()

	sums := make(map[int64]float64, len(r.scores)+len(r.cosines))
	for id, score := range r.scores {
		sums[id] = score / best
	}

	for id, cosine := range r.cosines {
		sums[id] += vectors * max(0, r.usual.lift(cosine))
	}

	r.texts = maps.Clone(sums)

	return sums, nil
}

func byID(items []Ranked) map[int64]float64 {
	out := make(map[int64]float64, len(items))
	for _, item := range items {
		out[item.ID] = item.Value
	}
	return out
}

// addNeighbourScores adds a share of each score to those of the memories before and after in the same
// episode. It reports whether any memory is in an episode.
func (r *run) addNeighbourScores(scores map[int64]float64, share float64) bool {
	around := r.src.Around(r.set, slices.Collect(maps.Keys(scores)), 1)
	// A share is taken of the own score only, so that scores do not travel along an episode.
	own := maps.Clone(scores)
	// The order of the ids is fixed, because the rounding of a sum of floats depends on the order.
	for _, id := range slices.Sorted(maps.Keys(around)) {
		for _, other := range slices.Concat(around[id].Before, around[id].After) {
			if _, found := own[other]; found {
				scores[other] += share * own[id]
			}
		}
	}

	return len(around) > 0
}

// addContext adds the texts of the neighbours that the request asks for.
func (r *run) addContext(ctx context.Context, answers []robotmem.Memory) error {
	if r.ContextWindow == 0 {
		return nil
	}

	texts := map[int64]string{}
	ids := make([]int64, len(answers))

	for i := range answers {
		ids[i] = answers[i].MemoryID
		// A neighbour that is an answer itself is named without its text, which the answer already has.
		texts[ids[i]] = ""
	}

	around := r.src.Around(Set{}, ids, r.ContextWindow)

	var others []hit

	for _, a := range around {
		for _, id := range slices.Concat(a.Before, a.After) {
			if _, known := texts[id]; !known {
				// A cosine is set so that load does not compute one, which nobody reads here.
				others = append(others, hit{id: id, cosine: new(float64)})
			}
		}
	}

	if err := r.load(ctx, others); err != nil {
		return err
	}

	for _, h := range others {
		if h.memory != nil {
			texts[h.id] = h.memory.Content
		}
	}

	shown := func(ids []int64) (out []robotmem.Neighbour) {
		for _, id := range ids {
			if text, readable := texts[id]; readable {
				out = append(out, robotmem.Neighbour{MemoryID: id, Text: text})
			}
		}
		return out
	}
	for i := range answers {
		a := around[ids[i]]
		slices.Reverse(a.Before)
		answers[i].Before, answers[i].After = shown(a.Before), shown(a.After)
	}

	return nil
}
