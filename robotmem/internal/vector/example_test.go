package vector_test

import (
	"fmt"

	"github.com/bits-and-blooms/bitset"

	"github.com/robotmem/robotmem-go/robotmem/internal/vector"
)

func Example() {
	table := map[int64][]float32{1: {1, 0}, 2: {0.6, 0.8}, 3: {-1, 0}}
	load := func(ids []int64, each func(id int64, raw []byte) error) error {
		for _, id := range ids {
			if v, ok := table[id]; ok {
				if err := each(id, vector.Encode(v)); err != nil {
					return err
				}
			}
		}
		return nil
	}

	var mean vector.MeanBuilder
	for _, v := range table {
		if err := mean.Add(v); err != nil {
			fmt.Println(err)
		}
	}
	x := vector.New(2, mean.Mean())
	for id, v := range table {
		if err := x.Put(id, v); err != nil {
			fmt.Println(err)
		}
	}

	question := []float32{0, 1}
	hits, err := x.Search(vector.Query{Vector: question, N: 2}, load)
	fmt.Println(hits, err)
	hits, err = x.Search(vector.Query{Vector: question, N: 2, Within: bitset.New(4).Set(3)}, load)
	fmt.Println(hits, err)
	// Output:
	// [{2 0.8007560297846794} {1 0}] <nil>
	// [{3 0}] <nil>
}
