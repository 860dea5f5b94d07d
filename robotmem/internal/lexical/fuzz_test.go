package lexical_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/bits-and-blooms/bitset"
	gocmp "github.com/google/go-cmp/cmp"
	"github.com/robotmem/robotmem-go/robotmem/internal/lexical"
)

// FuzzSearch reads its bytes as a sequence of puts, removals and queries, and
// compares each answer with the model's.
func FuzzSearch(f *testing.F) {
	f.Add([]byte("\x00\x01\x23\x45\x00\x02\x23\x99\x03\x12\x01\x01\x00\x03\x23\x00"))
	f.Add([]byte("abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz"))
	f.Fuzz(func(t *testing.T, data []byte) {
		x := lexical.New(fts5)
		x.SetLimit(3)
		m := &model{docs: map[int64]lexical.Document{}, params: fts5}
		next := func() int {
			if len(data) == 0 {
				return 0
			}
			b := data[0]
			data = data[1:]
			return int(b)
		}
		words := func(n int) (terms []string) {
			for range n {
				terms = append(terms, fmt.Sprint(next()%12))
			}
			return terms
		}
		for len(data) > 0 {
			op := next()
			collection := []string{"a", "b", lexical.All}[op/4%3]
			switch op % 4 {
			case 0, 1:
				if collection == lexical.All {
					collection = "a"
				}
				put := []lexical.Document{{ID: int64(next() % 40), Collection: collection, Terms: words(next() % 12)}}
				x.Apply(put, nil)
				m.apply(put, nil)
			case 2:
				remove := []int64{int64(next() % 40)}
				x.Apply(nil, remove)
				m.apply(nil, remove)
			case 3:
				q := lexical.Query{Collection: collection, Terms: words(1 + next()%4), N: next() % 5}
				slices.Sort(q.Terms)
				q.Terms = slices.Compact(q.Terms)
				if longer := next(); longer%3 == 0 {
					q.Unfinished = &lexical.Unfinished{Whole: q.Terms[:1], Longer: []string{"longer", fmt.Sprint(9 + longer%4)}}
				}
				if share := next(); share%2 == 0 {
					q.Within = bitset.New(0)
					for id := range 40 {
						if share/2>>(id%7)&1 == 0 {
							q.Within.Set(uint(id))
						}
					}
				}
				if diff := gocmp.Diff(x.Search(q), m.search(q)); diff != "" {
					t.Fatalf("%+v (-got +want):\n%s", q, diff)
				}
			}
		}
	})
}
