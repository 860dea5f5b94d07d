package recall_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/robotmem/robotmem-go/consolidate"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/text"
)

// Diversity chooses what a comparison of all hits chooses, and reads fewer memories.
func TestDiversityReadsWhatItNeeds(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	words := strings.Fields("gripper glass wet dry shelf table mug bolt camera force valve pump hose station left right slow fast cold warm")
	s := kitchen()
	s.memories = nil
	for range 100 {
		content := "tray"
		for range 6 {
			content += " " + words[rng.IntN(len(words))]
		}
		s.learn(content, nil)
	}
	all, _ := ask(t, s, robotmem.RecallRequest{Query: "tray of the wet glass on the shelf", N: 100}, nil)
	for _, diversity := range []float64{0.2, 0.5, 0.8, 1} {
		t.Run(fmt.Sprint(diversity), func(t *testing.T) {
			s.loads = 0
			_, got := ask(t, s, robotmem.RecallRequest{Query: "tray of the wet glass on the shelf", N: 10, Diversity: diversity}, nil)
			if want := mostDiverse(all.Memories, diversity, 10); !slices.Equal(got, want) {
				t.Errorf("got %v, want %v", got, want)
			}
			if diversity < 0.5 && s.loads > 50 {
				t.Errorf("%d of 100 memories were read for 10", s.loads)
			}
		})
	}
}

// mostDiverse is maximal marginal relevance over all memories, whose scores are of the first.
func mostDiverse(all []robotmem.Memory, diversity float64, n int) (chosen []int64) {
	rest, near := slices.Clone(all), make([]float64, len(all))
	for len(chosen) < n {
		pick, top := 0, 0.0
		for i := range rest {
			if gain := (1-diversity)*(*rest[i].Score) - diversity*near[i]; i == 0 || gain > top {
				pick, top = i, gain
			}
		}
		m := rest[pick]
		chosen = append(chosen, m.MemoryID)
		rest, near = slices.Delete(rest, pick, pick+1), slices.Delete(near, pick, pick+1)
		for i := range rest {
			near[i] = max(near[i], consolidate.Jaccard(text.Stems(m.Content), text.Stems(rest[i].Content)))
		}
	}
	return chosen
}
