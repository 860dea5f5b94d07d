package engine

import (
	"context"
	"time"

	"github.com/bits-and-blooms/bitset"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/attempts"
	"github.com/robotmem/robotmem-go/robotmem/internal/index"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
)

func (n *Engine) Advise(ctx context.Context, req *robotmem.AdviseRequest) (res *robotmem.AdviseResponse, err error) {
	start := time.Now()
	if err := n.isAsked(req.Scope); err != nil {
		return nil, robotmem.Wrap("advise", err)
	}

	err = n.withWords(ctx, req.Query+req.Task != "", func(missing error) error {
		// Attempts are found by their words, so there is no answer without the posting lists.
		if missing != nil {
			return missing
		}
		res, err = read(ctx, n, "advise", req, func(c *store.Conn, r *robotmem.AdviseRequest, res *robotmem.AdviseResponse) error {
			from := attempts.Source{Index: n.index, Outcomes: n.records.Rules.Outcomes().AllPaths(), Now: n.Now()}
			if err := attempts.Advise(from, c, r, res); err != nil || res.Attempts > 0 {
				return err
			}
			hints, err := n.emptyHints(ctx, c, r.ContextFilter)
			res.Notes = append(hints, res.Notes...)

			return err
		})

		return err
	})
	if err != nil {
		return nil, err
	}

	res.QueryMS = millis(time.Since(start))

	return res, nil
}

// matching returns the active memories of a selection that pass a filter, as of now.
func (n *Engine) matching(c *store.Conn, from index.Selection, object robotmem.Object) (*bitset.BitSet, error) {
	from.Now = n.Now()
	return n.index.Matching(c, from, object)
}
