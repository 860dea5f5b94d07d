package recall

import (
	"context"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/text"
)

const (
	// matchShare is the least score of a match, as a share of the best score. Words are joined by OR, so that most
	// memories share some word with a long question.
	matchShare = 0.5
	// maxCounted limits the memories whose outcomes are counted without a query.
	maxCounted = 100_000
)

// matching counts all memories that match, not only those of the answer, and their outcomes. It does so for two
// kinds of questions: those that ask how often something happened, and those without words, for which all
// memories match that the filters admit.
func (r *run) matching(ctx context.Context, res *robotmem.RecallResponse) {
	var ids []int64

	switch {
	case r.Like != nil || r.SpatialSort != nil:
		return

	case r.timeOrder():
		res.Matching = r.set.Count()
		if res.Matching > maxCounted {
			return
		}

		for id := range r.set.Present.EachSet() {
			ids = append(ids, int64(id))
		}

	case len(r.Content) > 0 && !r.newest && r.kind() == text.Counts:
		items, err := r.src.Lexical(ctx, r.Query, r.set, r.words(), -1)
		if err != nil {
			// The count is left out. The lexical signal has failed too, and degraded names it.
			return
		}

		for _, item := range items {
			if item.Value < matchShare*items[0].Value {
				break
			}
			ids = append(ids, item.ID)
		}
		res.Matching = len(ids)

	default:
		return
	}

	res.Counts = map[string]int{}

	for _, id := range ids {
		outcome := r.src.Row(id).Outcome
		if outcome == "" {
			outcome = robotmem.OutcomeUnknown
		}
		res.Counts[outcome]++
	}
}
