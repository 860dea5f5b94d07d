package recall

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/robotmem/robotmem-go/classify"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/record"
	"github.com/robotmem/robotmem-go/robotmem/internal/text"
)

// A surprise is a memory that is tied to the answers and not to the words of the question: it shares a rare word with
// one of them, such as the name of a part. Its score is relevance × (1 − obviousness).

const (
	surpriseSeeds = 5  // answers whose words are looked for
	surpriseWords = 24 // rare words of these
	surprisePool  = 60 // candidates
	// A tie is a word that at most one of tieRare memories has, or tieFew memories in all.
	tieRare = 20
	tieFew  = 6
	// tooObvious is the share of the words of the question from which on a memory is no surprise.
	tooObvious  = 0.5
	leastTied   = 0.1 // relevance
	surpriseRow = 60  // tokens of its line
)

// Vocabulary tells how many memories there are, and how many of them have a stem.
type Vocabulary struct {
	Rows    int
	Holders func(stem string) int
}

// rare reports whether a stem ties two memories together: few have it, and it is neither a number nor a stop word.
func (v *Vocabulary) rare(stem string) bool {
	n := v.Holders(stem)
	return n >= 2 && n <= max(tieFew, v.Rows/tieRare) && longEnough(stem) && !text.Stop(stem) && !text.Common(stem) &&
		strings.Trim(stem, digits+".,%") != ""
}

// longEnough reports whether a stem can be a name: "wt" is only a part of WT-08, and of WT-10.
func longEnough(stem string) bool {
	const letters = 4
	han := strings.ContainsFunc(stem, func(r rune) bool { return unicode.Is(unicode.Han, r) })

	return len([]rune(stem)) >= letters || han && len([]rune(stem)) > 1 || strings.ContainsAny(stem, digits)
}

// weight is the inverse document frequency of a stem.
func (v *Vocabulary) weight(stem string) float64 {
	return math.Log1p(float64(v.Rows) / float64(max(1, v.Holders(stem))))
}

// seeds are the first answers. One that is hardly relevant ties nothing.
func seeds(answers []robotmem.Memory) []robotmem.Memory {
	const leastRelevant = 0.05

	n := min(len(answers), surpriseSeeds)
	for i := 1; i < n; i++ {
		if r := answers[i].Relevance; r != nil && *r < leastRelevant {
			return answers[:i]
		}
	}

	return answers[:n]
}

// stemsOfMemory returns the stems of a text and of its context.
func stemsOfMemory(m *robotmem.Memory) []string {
	return record.Distinct(append(text.Stems(m.Content), record.ContextStems(m.Context)...))
}

// TiesOf returns a request for memories that share a rare word with the answers to another request, nil if the answers
// have none.
func TiesOf(req *robotmem.RecallRequest, answers []robotmem.Memory, v *Vocabulary) *robotmem.RecallRequest {
	asked := text.Stems(req.Query)
	weights := map[string]float64{}

	for i := range seeds(answers) {
		for _, stem := range stemsOfMemory(&answers[i]) {
			if !slices.Contains(asked, stem) && v.rare(stem) {
				weights[stem] += v.weight(stem)
			}
		}
	}

	words := make([]string, 0, len(weights))
	for stem := range weights {
		words = append(words, stem)
	}
	slices.SortFunc(words, func(a, b string) int {
		return cmp.Or(cmp.Compare(weights[b], weights[a]), strings.Compare(a, b))
	})

	if len(words) == 0 {
		return nil
	}

	ties := *req
	ties.Query = strings.Join(words[:min(len(words), surpriseWords)], " ")
	ties.N, ties.Surprise, ties.Detail, ties.Explain, ties.ContextWindow = surprisePool, 0, "", false, 0
	ties.ParseTime, ties.AsYouType, ties.SpatialSort, ties.Like = new(false), false, nil, nil
	ties.MinRelevance, ties.Diversity = 0, 0

	return &ties
}

// Surprises returns up to n of the candidates that are tied to the answers and are not obvious, the best first.
func Surprises(
	query string, answers, candidates []robotmem.Memory, v *Vocabulary, n int, now time.Time,
) []robotmem.Surprise {
	type scored struct {
		robotmem.Surprise
		score float64
	}

	asked := text.Stems(query)
	w := NewWriter(candidates, now)

	var all []scored

	for i := range candidates {
		m := &candidates[i]
		same := func(a robotmem.Memory) bool { return a.MemoryID == m.MemoryID }
		if slices.ContainsFunc(answers, same) || classify.Instructs(m.Content) {
			continue
		}

		own := stemsOfMemory(m)
		obvious := shareOf(asked, own)
		answer, shared, relevance := tie(own, asked, answers, v)
		if obvious >= tooObvious || answer == nil || relevance < leastTied {
			continue
		}

		all = append(all, scored{robotmem.Surprise{
			MemoryID: m.MemoryID, Line: w.Line(m, surpriseRow),
			Because: fmt.Sprintf("shares %s with %d%s", strings.Join(wordsOf(m, shared), " and "), answer.MemoryID, besideIn(m, answer)),
		}, relevance * (1 - obvious)})
	}

	slices.SortStableFunc(all, func(a, b scored) int { return cmp.Compare(b.score, a.score) })

	out := []robotmem.Surprise{}
	for i := range all[:min(len(all), n)] {
		out = append(out, all[i].Surprise)
	}

	return out
}

func shareOf(asked, own []string) float64 {
	if len(asked) == 0 {
		return 0
	}

	n := 0

	for _, stem := range asked {
		if slices.Contains(own, stem) {
			n++
		}
	}

	return float64(n) / float64(len(asked))
}

// tie returns the answer that a memory is tied to most, the rare words that both have, the rarest first, and how much of the
// answer they are: the share of the weights of its words, 0 to 1.
func tie(own, asked []string, answers []robotmem.Memory, v *Vocabulary) (to *robotmem.Memory, shared []string, most float64) {
	for i := range seeds(answers) {
		var (
			common     []string
			sum, whole float64
		)

		for _, stem := range stemsOfMemory(&answers[i]) {
			weight := v.weight(stem)
			whole += weight
			if slices.Contains(own, stem) && !slices.Contains(asked, stem) && v.rare(stem) {
				common = append(common, stem)
				sum += weight
			}
		}

		if whole > 0 && sum/whole > most {
			to, shared, most = &answers[i], common, sum/whole
		}
	}

	slices.SortFunc(shared, func(a, b string) int {
		return cmp.Or(cmp.Compare(v.Holders(a), v.Holders(b)), cmp.Compare(len(b), len(a)), strings.Compare(a, b))
	})

	return to, shared, most
}

// besideIn says how two memories lie in time, if they lie close together.
func besideIn(m, answer *robotmem.Memory) string {
	apart := m.ObservedAt.Sub(answer.ObservedAt)
	switch {
	case m.SessionID != "" && m.SessionID == answer.SessionID:
		return ", of the same episode"
	case apart.Abs() < time.Second || apart.Abs() > time.Hour: // what was imported together was stored together
		return ""
	case apart < 0:
		return ", within the hour before"
	}

	return ", within the hour after"
}

// wordsOf returns words of a memory that have the stems, without other spellings of one word.
func wordsOf(m *robotmem.Memory, stems []string) (words []string) {
	terms := append(text.Terms(m.Content), text.Terms(contextText(m.Context))...)

	for _, stem := range stems {
		word := stem
		if i := slices.IndexFunc(terms, func(t string) bool { return text.Stem(t) == stem }); i >= 0 {
			word = terms[i]
		}
		// "WT-08" is also indexed as "wt08", and by its parts.
		part := func(w string) bool { return strings.Contains(joined.Replace(w), joined.Replace(word)) }
		if !slices.ContainsFunc(words, part) {
			words = append(words, word)
		}
	}

	return words[:min(len(words), 2)]
}

var joined = strings.NewReplacer("-", "", "_", "")

func contextText(context robotmem.Object) string {
	var parts []string
	for _, l := range Leaves("", map[string]any(context)) {
		parts = append(parts, l.Path, l.Value)
	}
	slices.Sort(parts)

	return strings.Join(parts, " ")
}
