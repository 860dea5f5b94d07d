package lexical_test

import (
	"fmt"

	"github.com/robotmem/robotmem-go/robotmem/internal/lexical"
)

func Example() {
	x := lexical.New(func(averageLength float64) lexical.Params {
		return lexical.Params{K1: 1.2, B: 0.75}
	})
	x.Apply([]lexical.Document{
		{ID: 1, Collection: "arm", Terms: []string{"grip", "slip", "wet", "grip"}},
		{ID: 2, Collection: "arm", Terms: []string{"grip", "firm"}},
		{ID: 3, Collection: "base", Terms: []string{"wheel", "slip"}},
	}, nil)
	for _, hit := range x.Search(lexical.Query{Collection: "arm", Terms: []string{"wet", "grip"}, N: 10}) {
		fmt.Println(hit.ID)
	}
	// Output:
	// 1
	// 2
}
