package lexical_test

import (
	"fmt"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/robotmem/robotmem-go/robotmem/internal/lexical"
)

func TestFrequent(t *testing.T) {
	x := lexical.New(fts5)
	var put []lexical.Document
	for i := range 12 {
		d := lexical.Document{ID: int64(i), Collection: []string{"a", "b"}[i%2], Terms: []string{"grip"}}
		for k := range 4 {
			if i%(k+1) == 0 {
				d.Terms = append(d.Terms, fmt.Sprint("s", k))
			}
		}
		put = append(put, d)
	}
	x.Apply(put, nil)
	begins := func(prefix string) func(string) bool {
		return func(stem string) bool { return strings.HasPrefix(stem, prefix) }
	}
	for _, tt := range []struct {
		collection string
		n          int
		prefix     string
		want       []string
	}{
		{lexical.All, 9, "s", []string{"s0", "s1", "s2", "s3"}}, // in 12, 6, 4 and 3 documents
		{lexical.All, 2, "s", []string{"s0", "s1"}},
		{lexical.All, 1, "", []string{"grip"}}, // as many as s0
		{lexical.All, 0, "s", []string{}},
		{"a", 9, "s", []string{"s0", "s1", "s3", "s2"}}, // in 6, 6, 3 and 2
		{"b", 9, "s", []string{"s0", "s2"}},
		{"c", 9, "s", []string{}},
		{"a", 9, "x", []string{}},
	} {
		if diff := gocmp.Diff(tt.want, x.Frequent(tt.collection, tt.n, begins(tt.prefix))); diff != "" {
			t.Errorf("%+v (-want +got):\n%s", tt, diff)
		}
	}
}

// The longer words of an unfinished one weigh as one term together, and each less
// than the word as typed.
func TestUnfinishedWordIsOneWord(t *testing.T) {
	x := lexical.New(fts5)
	var put []lexical.Document
	var longer []string
	add := func(id int64, terms ...string) {
		for len(terms) < 80 {
			terms = append(terms, fmt.Sprint("other", id))
		}
		put = append(put, lexical.Document{ID: id, Collection: "a", Terms: terms})
	}
	for i := range 60 {
		longer = append(longer, fmt.Sprint("slip", i))
		add(int64(100+i), longer[i])
	}
	add(1, "slip")
	add(2, append([]string{"wet"}, longer[:1]...)...)
	add(3, longer[:30]...)
	add(4, "wet")
	add(5, "slip", longer[0])
	x.Apply(put, nil)
	hits := x.Search(lexical.Query{Collection: "a", Terms: []string{"wet", "slip"}, Unfinished: &lexical.Unfinished{Whole: []string{"slip"}, Longer: longer}})
	score := map[int64]float64{}
	for _, h := range hits {
		score[h.ID] = h.Score
	}
	if score[2] <= score[4] || score[3] >= score[4] {
		t.Errorf("wet with a longer word %v, wet %v, thirty longer words %v: want them in this order", score[2], score[4], score[3])
	}
	if score[1] <= score[100] || score[1] <= score[3] || score[5] != score[1] {
		t.Errorf("the word %v, a longer one %v, thirty %v, the word and a longer one %v", score[1], score[100], score[3], score[5])
	}
	alone := lexical.Query{Collection: "a", Terms: []string{"wet", "slip"}}
	finished := x.Search(alone)
	alone.Unfinished = &lexical.Unfinished{Whole: []string{"slip"}, Longer: []string{"slippery"}}
	if diff := gocmp.Diff(finished, x.Search(alone)); diff != "" {
		t.Errorf("a word that begins no other (-finished +unfinished):\n%s", diff)
	}
}
