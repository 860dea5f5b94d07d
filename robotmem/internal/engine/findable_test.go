package engine_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/text"
	"github.com/robotmem/robotmem-go/robotmem/local"
	"pgregory.net/rapid"
)

// TestEveryWordStaysFindable learns random texts of few words in an episode and ends it.
// Every content word of every text then finds an active memory that holds it, whether its
// own text was stored, counted as a sighting or superseded. A direction, an order, a
// negation and a state stay too: for every text an active memory has its content sequence
// as a subsequence.
func TestEveryWordStaysFindable(t *testing.T) {
	e, err := local.Open(t.Context(), t.TempDir()+"/memory.db", local.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	checks, duplicates, superseded := 0, 0, 0
	defer func() {
		if checks >= 100 && (duplicates == 0 || superseded == 0) {
			t.Errorf("%d duplicates, %d superseded: the test tests nothing", duplicates, superseded)
		}
	}()
	vocabularies := [][]string{
		strings.Fields("the gripper arm left right holds glass wet cup cups not on under red closed close 5mm 10mm again"),
		strings.Fields("der Greifer hält nicht an aus Tasse links rechts drücken drucken nasse wieder"),
		strings.Fields("夹爪 左侧 右侧 从 不 的 杯子 湿 玻璃 了 上 下 水 果 再次"),
		strings.Fields("グリッパー が を 左 右 コップ 滑る 滑らない 箱 に の"),
	}
	rapid.Check(t, func(t *rapid.T) {
		checks++
		vocabulary := rapid.SampledFrom(vocabularies).Draw(t, "vocabulary")
		space := " "
		if vocabulary[0][0] >= 0x80 {
			space = ""
		}
		collection := fmt.Sprintf("c%d", checks)
		s, err := e.StartSession(t.Context(), &robotmem.StartSessionRequest{Collection: collection})
		if err != nil {
			t.Fatal(err)
		}
		req := &robotmem.LearnBatchRequest{}
		said := map[string][]string{} // words of each text
		base := rapid.SliceOfN(rapid.SampledFrom(vocabulary), 2, 7).Draw(t, "base")
		for range rapid.IntRange(3, 10).Draw(t, "facts") {
			words := slices.Clone(base)
			for range rapid.IntRange(0, 3).Draw(t, "changes") {
				i, w := rapid.IntRange(0, len(words)-1).Draw(t, "at"), rapid.SampledFrom(vocabulary).Draw(t, "word")
				switch rapid.IntRange(0, 2).Draw(t, "change") {
				case 0:
					words[i] = w
				case 1:
					words = slices.Insert(words, i, w)
				default:
					if len(words) > 1 {
						words = slices.Delete(words, i, i+1)
					}
				}
			}
			insight := strings.Join(words, space)
			said[insight] = words
			req.Items = append(req.Items, robotmem.LearnRequest{Insight: insight, SessionID: s.SessionID})
		}
		res, err := e.LearnBatch(t.Context(), req)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range res.Results {
			if r.Error != nil {
				t.Fatal(*r.Error)
			}
			if r.Status == "duplicate" {
				duplicates++
			}
		}
		ended, err := e.EndSession(t.Context(), &robotmem.EndSessionRequest{SessionID: s.SessionID})
		if err != nil {
			t.Fatal(err)
		}
		superseded += ended.Consolidated.SupersededCount
		list, err := e.List(t.Context(), &robotmem.ListRequest{Collection: collection, Limit: 100})
		if err != nil {
			t.Fatal(err)
		}
		for insight, words := range said {
			mine := text.Core(insight)
			if !slices.ContainsFunc(list.Memories, func(m robotmem.Memory) bool { return slices.Equal(mine, text.Core(m.Content)) }) {
				t.Fatalf("nothing says %q: left are %v", insight, textsOf(list.Memories))
			}
			for _, w := range words {
				terms, _ := text.Query(w)
				if len(terms) == 0 || len(text.Core(w)) == 0 { // stop words and "again"
					continue
				}
				found, err := e.Recall(t.Context(), &robotmem.RecallRequest{Query: w, Collection: collection, N: 100})
				if err != nil {
					t.Fatal(err)
				}
				holds := func(m robotmem.Memory) bool {
					stems := text.Stems(m.Content)
					return !slices.ContainsFunc(text.Stems(w), func(stem string) bool { return !slices.Contains(stems, stem) })
				}
				if !slices.ContainsFunc(found.Memories, holds) {
					t.Fatalf("%q of %q finds %v, left are %v", w, insight, textsOf(found.Memories), textsOf(list.Memories))
				}
			}
		}
	})
}

func textsOf(ms []robotmem.Memory) (out []string) {
	for _, m := range ms {
		out = append(out, m.Content)
	}
	return out
}
