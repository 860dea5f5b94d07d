package vector_test

import (
	"testing"

	"github.com/robotmem/robotmem-go/robotmem/internal/vector"
)

// Of a large rescore few vectors are read, and the nearest ten are those of reading all.
func TestFewOfTheRescoreAreRead(t *testing.T) {
	const rescore, asked = 3000, 40
	draw := clustered(96, 200, 3)
	s := makeSet(96, 12_000, draw)
	x := index(t, s)
	x.SetRescore(rescore)
	reads, found := 0, 0.0
	for _, q := range questions(asked, draw) {
		hits, err := x.Search(vector.Query{Vector: q, N: 12}, func(ids []int64, each func(int64, []byte) error) error {
			reads += len(ids)
			return s.load(ids, each)
		})
		must(t, err)
		found += recall(hits, exact(s, q, 10, nil))
	}
	if reads > asked*rescore*2/3 {
		t.Errorf("%d reads a question, want fewer than two thirds of %d", reads/asked, rescore)
	}
	if found < 0.995*asked {
		t.Errorf("found %.4f of the nearest ten", found/asked)
	}
}
