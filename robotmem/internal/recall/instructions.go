package recall

import (
	"context"

	"github.com/robotmem/robotmem-go/classify"
)

// A text that speaks to the model that reads it is a memory like any other and is found. But it comes after the facts
// that answer nearly as well: a copy of a fact with an order to the model must not take its place.

const (
	// instructPool is the number of best hits that are examined.
	instructPool = 64
	// instructShare is the share of the score of a text that instructs which a fact needs to come before it.
	instructShare = 0.5
)

// instructionsLast moves the hits that instruct a model behind the facts of comparable scores. Nothing is left out.
func instructionsLast(ctx context.Context, r *run, hits []hit) ([]hit, error) {
	if otherOrder := r.timeOrder() || r.SpatialSort != nil || r.Like != nil; len(r.Content) == 0 || otherOrder {
		return hits, nil
	}

	// Almost always none of the hits of the answer instructs, and no others are loaded.
	first := -1
	examined := min(len(hits), r.N)
	if err := r.load(ctx, hits[:examined]); err != nil {
		return nil, err
	}

	for i := range hits[:examined] {
		if hits[i].instructs() {
			first = i
			break
		}
	}
	if first < 0 {
		return hits, nil
	}

	examined = min(len(hits), max(examined, instructPool))
	if err := r.load(ctx, hits[:examined]); err != nil {
		return nil, err
	}

	var (
		facts, instructions, others []hit
		least                       = instructShare * hits[first].score
	)
	for i := first; i < examined; i++ {
		switch h := hits[i]; {
		case h.instructs():
			instructions = append(instructions, h)
		case h.score >= least:
			facts = append(facts, h)
		default:
			others = append(others, h)
		}
	}

	// The scores order the answer, so those of the moved hits go with the places and not with the hits.
	moved := append(append(facts, instructions...), others...)
	for i := range moved {
		moved[i].score = hits[first+i].score
	}
	copy(hits[first:examined], moved)

	return hits, nil
}

func (h *hit) instructs() bool { return h.memory != nil && classify.Instructs(h.memory.Content) }
