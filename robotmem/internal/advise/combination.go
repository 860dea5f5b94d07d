package advise

import (
	"encoding/binary"

	"github.com/robotmem/robotmem-go/consolidate"
	"github.com/robotmem/robotmem-go/robotmem"
)

// combination is a setting of all parameters and the attempts that had it.
type combination struct {
	level
	latest       int // the last of the attempts
	weight, good float64
}

// bestCombination returns the exact combination of all parameters with the highest lower bound of
// its rate, of those that were tried at least twice and did not only fail; nil for none. Of equals
// it is the one that was tried last. What works in each parameter alone need not work together.
// The bound is of the weights, as that of the suggestion is, so that what worked long ago and fails
// now does not win; the counts are exact.
func bestCombination(columns []Column, attempts []Attempt, s *scale) *robotmem.Combination {
	if len(columns) == 0 {
		return nil
	}

	// Of a value: 12.5 N and 0.0125 kN are one.
	number := map[any]uint32{}

	var found []*combination
	of := map[string]int{}

	for i := len(attempts) - 1; i >= 0; i-- {
		var key []byte
		stated := false

		for k := range columns {
			v := columns[k].Values[columns[k].Of[i]]
			if _, known := number[v]; !known {
				number[v] = uint32(len(number))
			}
			key = binary.LittleEndian.AppendUint32(key, number[v])
			stated = stated || v != nil
		}
		if !stated {
			continue
		}
		n, known := of[string(key)]
		if !known {
			n = len(found)
			of[string(key)], found = n, append(found, &combination{latest: i})
		}
		weight := attempts[i].Weight * (1 - attempts[i].forgotten)
		found[n].add(&attempts[i], s)
		found[n].weight += weight
		found[n].good += weight * attempts[i].Score
	}

	var best *combination

	bound := 0.0
	for _, f := range found {
		if low, _ := consolidate.Wilson(f.good, f.weight); f.n > 1 && f.good > 0 && low > bound {
			best, bound = f, low
		}
	}

	if best == nil {
		return nil
	}

	counts := s.estimate(best.score, float64(best.n)-best.score)
	out := &robotmem.Combination{Parameters: robotmem.Object{}, Estimate: counts, MemoryIDs: best.ids}

	for k := range columns {
		c := &columns[k]
		if v := c.Values[c.Of[best.latest]]; v != nil {
			out.Parameters[c.Path] = c.written(v)
		}
	}

	return out
}
