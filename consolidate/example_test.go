package consolidate_test

import (
	"fmt"

	"github.com/robotmem/robotmem-go/consolidate"
)

func Example() {
	a := consolidate.Statement{Sequence: []string{"hold", "glass"}, Terms: []string{"glass", "hold"}, Words: []string{"glass", "hold"}}
	switch v, similarity := consolidate.Compare(a, a); v {
	case consolidate.Duplicate: // count the sighting
		fmt.Println("duplicate", similarity)
	case consolidate.Contradicts: // store it, name the other
		fmt.Println("contradiction", similarity)
	}
	// Output: duplicate 1
}
