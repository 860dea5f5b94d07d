package engine

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/recall"
	"github.com/robotmem/robotmem-go/robotmem/internal/record"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
	"github.com/robotmem/robotmem-go/robotmem/internal/text"
)

// While its last word is typed, a query finds the memories with any of the complete
// words, or with any word that starts like the last one.
func TestTypingFindsWhatBeginsSo(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("one goroutine: the race run has nothing to find in it")
	}
	rng := rand.New(rand.NewPCG(11, 12))
	e := openTest(t, Options{})
	memories := randomMemories(t, e, rng, 300)
	if err := e.Warm(t.Context()); err != nil {
		t.Fatal(err)
	}
	words := strings.Fields("gripper wet glass slips torque battery blocked drift 3 12.5")
	for range 60 {
		first, last := words[rng.IntN(len(words))], words[rng.IntN(len(words))]
		query := first + " " + last[:1+rng.IntN(len(last))]
		u := text.Typing(query)
		var want []int64
		for _, m := range memories {
			whole := []string{text.Stem(first)}
			if u != nil {
				for _, t := range u.Terms {
					whole = append(whole, text.Stem(t))
				}
			}
			inContext := slices.ContainsFunc(record.ContextStems(m.Context), func(s string) bool { return slices.Contains(whole, s) })
			if m.Status == "active" && (inContext || slices.ContainsFunc(text.Terms(m.Content), func(w string) bool {
				stem := text.Stem(w)
				return stem == text.Stem(first) || u != nil && (u.Begins(stem) || slices.Contains(u.Terms, w))
			})) {
				want = append(want, m.MemoryID)
			}
		}
		zero := 0.0
		var got []int64
		err := e.Store.Read(t.Context(), func(c *store.Conn) error {
			q, err := recall.Parse(&robotmem.RecallRequest{Query: query, Collection: "*", AsYouType: true, MinConfidence: &zero}, e.Now())
			if err != nil {
				return err
			}
			s := &source{Engine: e, c: c}
			set, _, err := s.Filter(t.Context(), q)
			if err != nil {
				return err
			}
			index, err := e.index.Postings.At(c)
			if err != nil {
				return err
			}
			for _, r := range searchWords(index, "*", set, recall.Words{Terms: q.Content, Typing: q.Typing}, contextWeight, -1) {
				got = append(got, r.ID)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		slices.Sort(got)
		if slices.Sort(want); !slices.Equal(got, want) {
			t.Fatalf("%q: got %d memories, want %d\n%v\n%v", query, len(got), len(want), got, want)
		}
	}
}

// Each recall waits until the posting lists are loaded.
func TestTypingAfterTheIndexIsDropped(t *testing.T) {
	t.Parallel()
	e := openTest(t, Options{})
	learnAll(t, e, "the floor is slippery", "the floor is dry")
	for range 20 {
		e.index.Drop()
		res, ids := recalled(t, e, &robotmem.RecallRequest{Query: "slipp", AsYouType: true})
		if !slices.Equal(ids, []int64{1}) || len(res.Degraded) > 0 {
			t.Fatalf("got %v, want 1: %v", ids, res.Degraded)
		}
	}
}

func TestTypingIsNotCounted(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("one goroutine: the race run has nothing to find in it")
	}
	e := openTest(t, Options{})
	learnAll(t, e, "the floor is slippery")
	for _, typing := range []bool{true, true, false, true} {
		if _, ids := recalled(t, e, &robotmem.RecallRequest{Query: "slippery", AsYouType: typing}); len(ids) != 1 {
			t.Fatal("nothing found")
		}
	}
	e.counters.flush(t.Context(), e)
	m, err := e.Get(t.Context(), &robotmem.MemoryRequest{MemoryID: 1})
	if err != nil || m.ReturnCount != 1 {
		t.Errorf("returned %d times, %v; want once", m.ReturnCount, err)
	}
}

// With an embedder, words and vectors are searched in parallel.
func TestTypingBesideVectors(t *testing.T) {
	t.Parallel()
	e := openTest(t, Options{Embedder: newWordEmbedder("test:words", 16)})
	learnAll(t, e, "the floor is slippery", "the battery is low")
	embedded(t, e)
	if err := e.Warm(t.Context()); err != nil {
		t.Fatal(err)
	}
	res, _ := recalled(t, e, &robotmem.RecallRequest{Query: "slipp", AsYouType: true, Explain: true})
	if res.Mode != "hybrid" || len(res.Memories) == 0 || res.Memories[0].MemoryID != 1 ||
		!slices.ContainsFunc(res.Memories[0].Found, func(l robotmem.ListEntry) bool { return l.List == recall.ListWords }) {
		t.Errorf("mode %s, memories %+v; want the first by words too", res.Mode, res.Memories)
	}
}

// At each typed letter the completions are as relevant as the whole word: a relevance
// threshold does not change the results from letter to letter.
func TestTypingStaysRelevant(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("one goroutine: the race run has nothing to find in it")
	}
	e := openTest(t, Options{})
	words := strings.Fields("12.5 192.168.1.10 v1.2.3 /opt/robot/config.yaml front-left gripping grip_force")
	for _, word := range words {
		if _, err := e.Learn(t.Context(), &robotmem.LearnRequest{Insight: "the arm knows " + word}); err != nil {
			t.Fatal(err)
		}
	}
	if err := e.Warm(t.Context()); err != nil {
		t.Fatal(err)
	}
	for i, word := range words {
		for end := 1; end <= len(word); end++ {
			if word[end-1] == '/' {
				continue // nothing is begun yet
			}
			res, err := e.Recall(t.Context(), &robotmem.RecallRequest{Query: "arm " + word[:end], AsYouType: true, MinRelevance: 0.5, N: 10})
			if err != nil {
				t.Fatal(err)
			}
			if !slices.ContainsFunc(res.Memories, func(m robotmem.Memory) bool { return m.MemoryID == int64(i+1) }) {
				t.Errorf("%q of %q finds %d, and not what holds it", word[:end], word, len(res.Memories))
			}
		}
	}
}
