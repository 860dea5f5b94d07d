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

// Relevance is absolute: how likely a memory answers the query, whatever else was
// found. Each kind of evidence is turned into a likelihood by a logistic curve
// that was fitted to the judged queries of the evaluation sets (see
// docs/recall.md), and the better of the two counts: words that agree need no
// vector to confirm them, nor the other way round.

// logistic is the likelihood 1 / (1 + exp(-(offset + slope·x))).
type logistic struct{ offset, slope float64 }

func (l logistic) at(x float64) float64 { return 1 / (1 + math.Exp(-(l.offset + l.slope*x))) }

var (
	byCoverage = logistic{-7.03, 8.98} // of the share of the query's words
	byCosine   = logistic{-5.02, 8.29} // of the cosine, lifted
)

// relevance of a loaded hit, 0 to 1; 1 when the query has neither words nor an
// embedding.
func (r *run) relevance(h *hit) float64 {
	if len(r.Content) == 0 && h.cosine == nil {
		return 1
	}
	likely := 0.0
	if len(r.Content) > 0 {
		likely = byCoverage.at(r.coverage(h.memory))
	}
	if h.cosine != nil {
		likely = max(likely, byCosine.at(lifted(*h.cosine, r.usual)))
	}
	return likely
}

// lifted is how far a cosine is above what is usual, 1 for the same direction. Any
// two texts are a little alike to a model, and to some models more than a little.
func lifted(cosine, usual float64) float64 { return (cosine - usual) / max(1e-6, 1-usual) }

// coverage is the share of the query's words that a memory holds.
func (q *Query) coverage(m *robotmem.Memory) float64 {
	wanted := make(map[string]bool, len(q.Content)) // by stem: found yet?
	var initial [256]bool                           // stemming leaves the first letter
	for _, t := range q.Content {
		wanted[text.Stem(t)] = false
		initial[t[0]] = true
	}
	other := map[string][]string{} // by stem of a quantity in another unit
	for _, e := range q.equivalents {
		stem := text.Stem(e.Term)
		other[stem] = append(other[stem], e.Of...)
		initial[e.Term[0]] = true
	}
	n, longer := 0, false
	hold := func(stem string) (asked bool) {
		found, asked := wanted[stem]
		if asked && !found {
			wanted[stem] = true
			n++
		}
		return asked
	}
	for _, t := range text.Terms(m.Content + "\n" + m.Summary) {
		if !initial[t[0]] && q.Typing == nil {
			continue
		}
		stem := text.Stem(t)
		asked := hold(stem)
		for _, of := range other[stem] {
			hold(text.Stem(of))
		}
		if !asked && q.Typing != nil && q.Typing.Begins(stem) {
			longer = true
		}
	}
	if longer { // it stands for the word that it may become
		for _, t := range q.Typing.Stands {
			hold(text.Stem(t))
		}
	}
	return float64(n) / float64(len(wanted))
}

// nameOtherMaps says when answers were found by coordinates of another map than
// the one that the asking episode is on.
func (r *run) nameOtherMaps(answers []robotmem.Memory) {
	if r.SpatialSort == nil || r.MapID == "" {
		return
	}
	n, others := 0, map[string]bool{}
	for i := range answers {
		_, places := filter.Flatten(answers[i].Context)
		for _, p := range places {
			if answers[i].Distance != nil && p.Path == r.SpatialSort.Field && p.MapID != "" && p.MapID != r.MapID {
				n++
				others[p.MapID] = true
			}
		}
	}
	if n == 0 {
		return
	}
	r.degraded = append(r.degraded, fmt.Sprintf("place: %d answers lie on another map (%s) than the session (%s); ask for one with map_id",
		n, strings.Join(slices.Sorted(maps.Keys(others)), ", "), r.MapID))
}
