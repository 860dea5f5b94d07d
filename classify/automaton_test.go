package classify

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The automaton is compared with searching each literal at each place.
func TestAutomatonFindsWhatASearchFinds(t *testing.T) {
	type hit struct {
		ID    int32
		Start int
		End   int
	}
	rng := rand.New(rand.NewPCG(1, 2))
	draw := func(n int) string {
		var b strings.Builder
		for range n {
			b.WriteString([]string{"a", "b", "ab", " ", "是", "不", "\xe6"}[rng.IntN(7)])
		}
		return b.String()
	}
	for round := range 300 {
		var literals []string
		for range 1 + rng.IntN(8) {
			if l := normal(draw(1 + rng.IntN(4))); l != "" && !slices.Contains(literals, l) {
				literals = append(literals, l)
			}
		}
		// One space for each run, so that a plain search has no trouble.
		text := normal(draw(60))
		var got, want []hit
		newAutomaton(literals).scan([]byte(text), func(id int32, end int) {
			got = append(got, hit{id, startOf([]byte(text), end, literals[id]), end})
		})
		for end := range len(text) + 1 {
			for id, l := range literals {
				if strings.HasSuffix(text[:end], l) {
					want = append(want, hit{int32(id), end - len(l), end})
				}
			}
		}
		byEnd := func(a, b hit) int { return (a.End-b.End)*1000 + int(a.ID-b.ID) }
		slices.SortFunc(got, byEnd)
		slices.SortFunc(want, byEnd)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("round %d, literals %q in %q (-want +got):\n%s", round, literals, text, diff)
		}
	}
}

func TestAutomatonTakesAnyWhiteSpaceForASpace(t *testing.T) {
	text := []byte("x must \t\r\n never y")
	var got []int
	newAutomaton([]string{"must never"}).scan(text, func(_ int32, end int) {
		got = append(got, startOf(text, end, "must never"), end)
	})
	if diff := cmp.Diff([]int{2, 16}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestFoldKeepsOffsets(t *testing.T) {
	for text, want := range map[string]string{
		"ABC xyz":         "abc xyz",
		"ÉÄß":             "éäß",
		"Ж是Ａ":             "ж是ａ",
		"\u0130K\u212aA":  "\u0130k\u212aa",
		"\xffA\xe4\xb8B":  "\xffa\xe4\xb8b",
		"A\x00B":          "a\x00b",
		"":                "",
		"\u1e9e\u023aZ":   "\u1e9e\u023az",
		"Ꙁ\U00010400\xf0": "ꙁ\U00010428\xf0",
	} {
		if got := string(fold(nil, text)); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}
