package local

import (
	"math"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/text"
	"github.com/robotmem/robotmem-go/robotmem/internal/vector"
)

// Relevance is absolute: how likely a memory answers the question, whatever else
// was found. Each kind of evidence is turned into a likelihood by a logistic
// curve that was fitted to the judged questions of the evaluation sets (see
// docs/recall.md), and the better of the two counts: words that agree need no
// vector to confirm them, nor the other way round.

// logistic is the likelihood 1 / (1 + exp(-(offset + slope·x))).
type logistic struct{ offset, slope float64 }

func (l logistic) at(x float64) float64 { return 1 / (1 + math.Exp(-(l.offset + l.slope*x))) }

var (
	byCoverage = logistic{-7.03, 8.98} // of the share of the question's words
	byCosine   = logistic{-5.02, 8.29} // of the cosine, lifted
)

// relevance of a hit, 0 to 1; 1 when the question has neither words nor a
// vector.
func (q *question) relevance(h *hit) float64 {
	if len(q.content) == 0 && h.cosine == nil {
		return 1
	}
	likely := 0.0
	if len(q.content) > 0 {
		likely = byCoverage.at(q.coverage(h.memory))
	}
	if h.cosine != nil {
		likely = max(likely, byCosine.at(lifted(*h.cosine, q.usual)))
	}
	return likely
}

// lifted is how far a cosine is above what is usual, 1 for the same direction.
// Any two texts are a little alike to a model, and to some models more than a
// little.
func lifted(cosine, usual float64) float64 { return (cosine - usual) / max(1e-6, 1-usual) }

// coverage is the share of the question's words that a memory holds.
func (q *question) coverage(m *robotmem.Memory) float64 {
	wanted := make(map[string]bool, len(q.content)) // by stem: found yet?
	var initial [256]bool                           // stemming leaves the first letter
	for _, t := range q.content {
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
		if !initial[t[0]] && q.typing == nil {
			continue
		}
		stem := text.Stem(t)
		asked := hold(stem)
		for _, of := range other[stem] {
			hold(text.Stem(of))
		}
		if !asked && q.typing != nil && q.typing.Begins(stem) {
			longer = true
		}
	}
	if longer { // it stands for the word that it may become
		for _, t := range q.typing.Stands {
			hold(text.Stem(t))
		}
	}
	return float64(n) / float64(len(wanted))
}

// compare works out the cosine of a hit that the list of vectors does not name,
// because it lies too far down there.
func (q *question) compare(c *conn, h *hit) error {
	if h.cosine != nil || q.unit == nil {
		return nil
	}
	return c.vectors(&q.model, []int64{h.id}, func(_ int64, raw []byte) error {
		stored, err := vector.Decode(raw)
		if err != nil {
			return err
		}
		sum := 0.0
		for i, x := range stored {
			sum += float64(x) * float64(q.unit[i])
		}
		h.cosine = &sum
		return nil
	})
}
