package eval

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/robotmem/robotmem-go/robotmem"
)

const (
	ownKept  = 0.5 // share of the words of a sentence that its question keeps
	ownLeast = 3   // least number of words of a question
	ownRunes = 3   // characters that are kept or dropped together where no spaces divide words
)

// OwnSet is a data set of memories, with a question for each that is long enough: its longest
// sentence, without about half of its words. The same seed makes the same questions.
func OwnSet(memories []robotmem.Memory, seed uint64) *Set {
	s := &Set{Name: "own memories", Judged: map[string]Judged{}}

	for i := range memories {
		m := &memories[i]
		id := fmt.Sprint(m.MemoryID)
		meta := map[string]any{"conv": m.Collection, "session": m.SessionID}
		s.Docs = append(s.Docs, Item{ID: id, Text: m.Content, Meta: meta})
		words, separator := ownWords(m.Content)

		// A generator for each memory keeps its question the same when others are added or removed.
		rng := rand.New(rand.NewPCG(seed, uint64(m.MemoryID)))

		var asked []string

		for _, w := range words {
			if rng.Float64() < ownKept {
				asked = append(asked, w)
			}
		}

		// A question that is the whole sentence would be found by its text alone.
		if len(asked) >= ownLeast && len(asked) < len(words) {
			s.Queries = append(s.Queries, Item{ID: id, Text: strings.Join(asked, separator), Meta: meta})
			s.Judged[id] = Judged{id: 1}
		}
	}

	return s
}

// ownWords divides the longest sentence of a text at spaces, or into groups of characters if it has none. The
// words are to be joined by separator.
func ownWords(text string) (words []string, separator string) {
	sentences := strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune("!?。！？\n", r) })
	byLength := func(a, b string) int { return utf8.RuneCountInString(a) - utf8.RuneCountInString(b) }
	longest := slices.MaxFunc(append(sentences, ""), byLength) // "" for a text without sentences

	words = strings.Fields(longest)
	if len(words) > 1 {
		return words, " "
	}

	words = nil
	for group := range slices.Chunk([]rune(longest), ownRunes) {
		words = append(words, string(group))
	}

	return words, ""
}
