package embedding

import (
	"fmt"
	"math"
	"sync"
)

// guard checks answers. A vector of another length or with a NaN in it would
// be stored and spoil every search after it.
type guard struct {
	mu  sync.Mutex
	dim int // of every answer so far, 0 before the first
}

// badAnswer is an answer that was read but cannot be used.
type badAnswer struct{ text string }

func (e *badAnswer) Error() string { return e.text }

// check reports what keeps vectors from being the answer for n texts.
func (g *guard) check(vectors [][]float32, n int) error {
	if len(vectors) != n {
		return &badAnswer{fmt.Sprintf("answered %d vectors for %d texts", len(vectors), n)}
	}
	if n == 0 {
		return nil
	}
	dim := len(vectors[0])
	for i, v := range vectors {
		if len(v) == 0 || len(v) != dim {
			return &badAnswer{fmt.Sprintf("answered vectors of %d and %d numbers at once", dim, len(v))}
		}
		zero := true
		for _, x := range v {
			if f := float64(x); math.IsNaN(f) || math.IsInf(f, 0) {
				return &badAnswer{fmt.Sprintf("answered a number that is not finite for text %d of %d", i+1, n)}
			}
			zero = zero && x == 0
		}
		if zero {
			return &badAnswer{fmt.Sprintf("answered nothing but zeros for text %d of %d", i+1, n)}
		}
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.dim != 0 && g.dim != dim {
		return &badAnswer{fmt.Sprintf("answered vectors of %d numbers, and of %d before", dim, g.dim)}
	}
	g.dim = dim
	return nil
}
