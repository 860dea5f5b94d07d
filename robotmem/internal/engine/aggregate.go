package engine

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/attempts"
	"github.com/robotmem/robotmem-go/robotmem/internal/index"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
)

func (n *Engine) Aggregate(ctx context.Context, req *robotmem.AggregateRequest) (*robotmem.AggregateResponse, error) {
	return read(ctx, n, "aggregate", req, func(c *store.Conn, r *robotmem.AggregateRequest, res *robotmem.AggregateResponse) (err error) {
		if err = n.aggregate(c, r, res); err == nil && res.Memories == 0 {
			res.Notes, err = n.emptyHints(ctx, c, r.ContextFilter)
		}
		return err
	})
}

func (n *Engine) aggregate(c *store.Conn, r *robotmem.AggregateRequest, res *robotmem.AggregateResponse) error {
	set, err := n.matching(c,
		index.Selection{Scope: index.Scope{Collection: r.Collection}, After: r.After, Before: r.Before},
		r.ContextFilter)
	if err != nil {
		return err
	}

	rows := n.index.Columns.ObservedTimes(set)
	outcomes := make([]any, len(rows))
	n.index.Columns.OwnValues("outcome", rows, outcomes)
	episodes, err := attempts.OfEpisodes(n.index, c, rows)
	if err != nil {
		return err
	}

	type key [4]any

	keys, groups := make([]key, len(rows)), map[key]*robotmem.OutcomeGroup{}
	for k, path := range r.GroupBy {
		column, err := n.groupColumn(c, path, rows)
		if err != nil {
			return err
		}

		for i, v := range column {
			// The row stands for a whole attempt here, whose outcome belongs to the episode and is not in the column.
			if e, whole := episodes[rows[i].ID]; whole && path == "outcome" {
				v = e.Outcome
			}
			keys[i][k] = v
		}
		if len(rows) > 0 && !slices.ContainsFunc(column, func(v any) bool { return v != nil }) {
			res.Notes = append(res.Notes, "group_by: no memory that matches has "+path)
		}
	}

	for i, row := range rows {
		g := groups[keys[i]]
		if g == nil {
			g = &robotmem.OutcomeGroup{Group: robotmem.Object{}}
			for k, path := range r.GroupBy {
				g.Group[path] = keys[i][k]
			}
			groups[keys[i]] = g
		}
		g.Memories++
		if e, whole := episodes[row.ID]; whole {
			outcomes[i] = e.Outcome
			g.FromEpisodes++
		}

		switch outcomes[i] {
		case robotmem.OutcomeSuccess:
			g.Successes++
		case robotmem.OutcomeFailure:
			g.Failures++
		case robotmem.OutcomePartial:
			g.Partial++
		default:
			g.Unknown++
		}
		if at := time.Unix(0, row.NS).UTC(); at.After(g.Last) {
			g.Last = at
		}
	}

	res.Groups = []robotmem.OutcomeGroup{}
	for _, g := range groups {
		res.Groups = append(res.Groups, *g)
	}

	// The keys of a map come in random order: the last comparison makes equal groups come in the same order each time.
	slices.SortFunc(res.Groups, func(a, b robotmem.OutcomeGroup) int {
		return cmp.Or(cmp.Compare(b.Memories, a.Memories), b.Last.Compare(a.Last),
			cmp.Compare(fmt.Sprint(a.Group), fmt.Sprint(b.Group)))
	})
	res.Memories, res.More = len(rows), max(0, len(res.Groups)-r.Limit)
	if res.Groups = res.Groups[:len(res.Groups)-res.More]; res.More > 0 {
		res.Notes = append(res.Notes,
			fmt.Sprintf("%d smaller groups are left out; raise limit, or narrow with context_filter", res.More))
	}

	return nil
}

// groupColumn returns the value that each memory is grouped by; nil for none.
func (n *Engine) groupColumn(c *store.Conn, path string, rows []store.TimedID) ([]any, error) {
	out := make([]any, len(rows))

	switch path {
	case "confidence", "observed_at":
		return nil, robotmem.Errorf(robotmem.Invalid, "group_by",
			"%s differs for each memory; group by day, or narrow with context_filter, after and before", path)
	case "day":
		for i := range rows {
			out[i] = time.Unix(0, rows[i].NS).UTC().Format(time.DateOnly)
		}
	case "collection", "category", "type", "perception_type", "session_id", "outcome":
		n.index.Columns.OwnValues(path, rows, out)
	default:
		values, err := n.index.Columns.ValuesOf(c, []string{path}, store.IDsOf(rows))
		if err != nil {
			return nil, err
		}

		for i, code := range values[0].Of {
			out[i] = values[0].Values[code]

			// The numbers are in the usual unit of the path, which the group must show.
			if x, ok := out[i].(float64); ok && values[0].Unit != "" {
				out[i] = fmt.Sprint(x, " ", values[0].Unit)
			}
		}
	}

	return out, nil
}
