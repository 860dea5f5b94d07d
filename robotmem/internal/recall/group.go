package recall

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/record"
	"github.com/robotmem/robotmem-go/robotmem/internal/text"
)

// leastAlike is the least number of memories that differ in their numbers alone and become one line.
const leastAlike = 3

// Group is a line for several memories that differ in their numbers alone.
type Group struct {
	Memories []robotmem.Memory // the first stands for all
	Text     string            // "8 alike, 1 to 8 Nm"
}

// Gather joins memories whose texts have the same words and other numbers: eight attempts from 1 to 8 Nm are
// one line. The first of each group stands for it.
func Gather(all []robotmem.Memory) (kept []robotmem.Memory, of map[int64]Group) {
	groups, order := map[string][]robotmem.Memory{}, []string{}

	for _, m := range all {
		st := record.StatementOf(m.Content)
		key := strings.Join(st.Words, " ")
		if len(st.Words) == 0 {
			key = m.Content
		}
		if groups[key] == nil {
			// The memories come sorted by their fit, and the order of a map would lose that.
			order = append(order, key)
		}
		groups[key] = append(groups[key], m)
	}

	of = map[int64]Group{}

	for _, key := range order {
		group := groups[key]
		if len(group) < leastAlike {
			kept = append(kept, group...)
			continue
		}
		kept = append(kept, group[0])
		of[group[0].MemoryID] = Group{group, rangeOf(group)}
	}

	return kept, of
}

// rangeOf describes how many memories are alike, and the range of the first quantity that differs: in "gripper 3
// slipped at 8 N" the force, if the gripper is the same.
func rangeOf(group []robotmem.Memory) string {
	count := fmt.Sprintf("%d alike", len(group))
	all := make([][]text.Quantity, len(group))

	shortest := math.MaxInt

	for i := range group {
		all[i] = text.Quantities(group[i].Content)
		shortest = min(shortest, len(all[i]))
	}

	for at := range shortest {
		low, high, ok := spread(all, at)
		if ok && low < high {
			return strings.TrimSpace(fmt.Sprintf("%s, %g to %g %s", count, low, high, all[0][at].Unit))
		}
	}

	return count
}

// spread returns the least and the greatest of the quantities at a place; ok is false if they have several units.
func spread(all [][]text.Quantity, at int) (low, high float64, ok bool) {
	low, high = math.Inf(1), math.Inf(-1)

	for i := range all {
		q := all[i][at]
		value, err := strconv.ParseFloat(q.Value, 64)
		if err != nil || q.Unit != all[0][at].Unit {
			return 0, 0, false
		}
		low, high = min(low, value), max(high, value)
	}

	return low, high, true
}
