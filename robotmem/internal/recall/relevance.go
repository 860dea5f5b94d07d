package recall

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/filter"
	"github.com/robotmem/robotmem-go/robotmem/internal/text"
)

// Relevance is absolute: the probability that a memory answers the query, independent of the
// other results. Two logistic curves, fitted to the judged queries of the evaluation sets (see
// docs/explanation/recall.md), map the coverage of the query's words and the cosine to a probability.
// Relevance is the larger of the two, because either kind of evidence is sufficient.

// logistic is the probability 1 / (1 + exp(-(offset + slope·x))).
type logistic struct{ offset, slope float64 }

func (l logistic) at(x float64) float64 { return 1 / (1 + math.Exp(-(l.offset + l.slope*x))) }

var (
	byCoverage = logistic{-7.03, 8.98} // of the share of the query's words
	byCosine   = logistic{0.20, 0.68}  // of the nearness of the vectors
)

// standsOut is the lift above which a cosine counts as near even if the stored texts are so alike that none is
// nearer to another than usual. Three of four questions about something else have a smaller lift.
const standsOut = 3

// relevance returns the relevance of a loaded hit, 0 to 1. It is 1 if the query has
// neither words nor an embedding.
func (r *run) relevance(h *hit) float64 {
	if len(r.Content) == 0 && h.cosine == nil {
		return 1
	}

	probability := 0.0
	if len(r.Content) > 0 {
		r.findWords(h)
		n := 0

		for _, found := range h.has {
			if found {
				n++
			}
		}
		probability = byCoverage.at(float64(n) / float64(len(h.has)))
	}

	if h.cosine != nil {
		p := max(r.usual.nearness(*h.cosine), r.usual.lift(*h.cosine)-standsOut)
		probability = max(probability, byCosine.at(p))
	}

	return probability
}

// adjusted maps the usual cosine of two texts to 0 and the cosine 1 to 1. The usual
// cosine is above 0 and depends on the model.
func adjusted(cosine, usual float64) float64 { return (cosine - usual) / max(1e-6, 1-usual) }

// findWords sets the field has of a loaded hit: by stem of each query word, whether the text contains it. Later calls
// do nothing.
func (r *run) findWords(h *hit) {
	if h.has != nil {
		return
	}

	// By stem: whether it was found.
	wanted := make(map[string]bool, len(r.Content))

	// Stemming does not change the first byte, so a term of the text with another first byte need not be stemmed.
	var initial [256]bool

	for _, t := range r.Content {
		wanted[text.Stem(t)] = false
		initial[t[0]] = true
	}

	// By stem of a quantity in another unit: the terms of the query that it equals.
	other := map[string][]string{}

	for _, e := range r.equivalents {
		stem := text.Stem(e.Term)
		other[stem] = append(other[stem], e.Of...)
		initial[e.Term[0]] = true
	}

	longer := false
	markFound := func(stem string) (asked bool) {
		found, asked := wanted[stem]
		if asked && !found {
			wanted[stem] = true
		}
		return asked
	}

	for _, t := range text.Terms(h.memory.Content + "\n" + h.memory.Summary) {
		if !initial[t[0]] && r.Typing == nil {
			continue
		}
		stem := text.Stem(t)

		asked := markFound(stem)
		for _, of := range other[stem] {
			markFound(text.Stem(of))
		}
		if !asked && r.Typing != nil && r.Typing.Begins(stem) {
			longer = true
		}
	}

	// A memory that has a word with the typed prefix counts as one that has the typed word.
	if longer {
		for _, t := range r.Typing.Stands {
			markFound(text.Stem(t))
		}
	}

	h.has = wanted
}

// noteOtherMaps adds a remark to degraded if memories were found by coordinates of
// a map other than the map of the calling episode.
func (r *run) noteOtherMaps(answers []robotmem.Memory) {
	if r.SpatialSort == nil || r.MapID == "" {
		return
	}
	n, others := 0, map[string]bool{}

	for i := range answers {
		places := filter.PlacesFor(r.SpatialSort, answers[i].Context)
		if answers[i].Distance == nil || len(places) == 0 {
			continue
		}
		if id := places[0].MapID; id != "" && id != r.MapID {
			n++
			others[id] = true
		}
	}
	if n == 0 {
		return
	}
	r.degraded = append(r.degraded, fmt.Sprintf(
		"place: %d answers lie on another map (%s) than the session (%s); ask for one with map_id",
		n, strings.Join(slices.Sorted(maps.Keys(others)), ", "), r.MapID))
}
