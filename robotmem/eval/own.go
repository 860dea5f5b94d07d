package eval

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/robotmem/robotmem-go/robotmem"
)

// Question is a question that one memory answers.
type Question struct {
	Text       string
	Collection string
	MemoryID   int64
}

const (
	ownKept  = 0.5 // share of the words of a sentence that its question keeps
	ownLeast = 3   // words of a question
	ownRunes = 3   // characters that are kept or dropped together where no spaces divide words
)

// OwnQuestions makes a question from each memory that is long enough: its longest sentence,
// without about half of its words. The same seed makes the same questions.
func OwnQuestions(memories []robotmem.Memory, seed uint64) (out []Question) {
	for i := range memories {
		m := &memories[i]
		words, spaces := ownWords(m.Content)
		rng := rand.New(rand.NewPCG(seed, uint64(m.MemoryID)))
		var kept []string
		for _, w := range words {
			if rng.Float64() < ownKept {
				kept = append(kept, w)
			}
		}
		if len(kept) >= ownLeast && len(kept) < len(words) {
			out = append(out, Question{strings.Join(kept, spaces), m.Collection, m.MemoryID})
		}
	}
	return out
}

// ownWords divides the longest sentence of a text at spaces, or into groups of characters.
func ownWords(text string) (words []string, spaces string) {
	sentences := strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune("!?。！？\n", r) })
	longest := slices.MaxFunc(append(sentences, ""), func(a, b string) int { return utf8.RuneCountInString(a) - utf8.RuneCountInString(b) })
	if words = strings.Fields(longest); len(words) > 1 {
		return words, " "
	}
	words = nil
	for group := range slices.Chunk([]rune(longest), ownRunes) {
		words = append(words, string(group))
	}
	return words, ""
}

// OwnResult are the figures of each way to rank.
type OwnResult struct {
	Questions int           `json:"questions"`
	Ways      []ListFigures `json:"ways"`
}

// AskOwn asks the questions in several ways.
func AskOwn(ctx context.Context, questions []Question, ways []List, progress func(done, total int)) (*OwnResult, error) {
	out := make([]ListFigures, len(ways))
	for i, q := range questions {
		for k, way := range ways {
			start, conf := time.Now(), anyConf
			res, err := way.Service.Recall(ctx, &robotmem.RecallRequest{Query: q.Text, Collection: q.Collection, N: depth, MinConfidence: &conf, ParseTime: new(false)})
			if err != nil {
				return nil, fmt.Errorf("the question %q: %w", q.Text, err)
			}
			f := &out[k].Figures
			f.QueryMS += float64(time.Since(start).Microseconds()) / 1000
			ranked := make([]string, len(res.Memories))
			for n, m := range res.Memories {
				ranked[n] = fmt.Sprint(m.MemoryID)
			}
			f.add(ranked, Judged{fmt.Sprint(q.MemoryID): 1})
		}
		progress(i+1, len(questions))
	}
	for k := range out {
		out[k].Name = ways[k].Name
		out[k].mean(len(questions))
	}
	return &OwnResult{len(questions), out}, nil
}
