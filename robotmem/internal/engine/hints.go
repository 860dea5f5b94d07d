package engine

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/bits-and-blooms/bitset"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/admin"
	"github.com/robotmem/robotmem-go/robotmem/internal/filter"
	"github.com/robotmem/robotmem-go/robotmem/internal/index"
	"github.com/robotmem/robotmem-go/robotmem/internal/recall"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
	"github.com/robotmem/robotmem-go/robotmem/spelling"
)

// Hints implements recall.Source. It notes what no memory has, filters that exclude each other,
// and an empty collection: a controller must be able to distinguish a typing error from an empty
// result.
func (s *source) Hints(ctx context.Context, q *recall.Query, in recall.Set) (hints []string, err error) {
	note := func(format string, args ...any) { hints = append(hints, fmt.Sprintf(format, args...)) }

	// A hint must not tell the caller of memories that it may not read.
	readable := cmp.Or(robotmem.CallerOf(ctx).Collections, robotmem.AllCollections)
	if q.Collection != robotmem.AllCollections && s.index.Columns.Active(q.Collection) == 0 {
		if elsewhere := s.index.Columns.Active(readable); elsewhere > 0 {
			note("collection: %s is empty, other collections hold %d memories; use * for all", q.Collection, elsewhere)
		}
		return hints, nil
	}

	if hints, err = s.filterHints(ctx, s.c, q.Filter, in.Count() == 0); err != nil {
		return nil, err
	}

	// A path or a value that no memory has explains an empty answer well enough.
	if q.AsOf == nil && len(hints) == 0 {
		if err := s.excluding(q, in.Count(), note); err != nil {
			return nil, err
		}
	}

	// Dims reads all collections, so only a caller that may read them all gets these hints.
	if at := q.SpatialSort; at != nil && readable == robotmem.AllCollections {
		switch dims, err := s.index.Columns.Dims(s.c, at.Field); {
		case err != nil:
			return nil, err
		case len(dims) == 0:
			note("spatial_sort: no memory has coordinates at %s", at.Field)
		case len(dims) == 1 && !filter.ComparesDims(at, dims[0]):
			note("spatial_sort: coordinates at %s have %d dimensions, the target has %d", at.Field, dims[0],
				len(at.Target))
		}
	}

	return hints, nil
}

// filterHints says what no memory has of what a filter asks for: paths, or if nothing passes the filter, values.
func (n *Engine) filterHints(
	ctx context.Context, c *store.Conn, of *filter.Condition, isEmpty bool,
) (hints []string, err error) {
	if of == nil {
		return nil, nil
	}

	note := func(format string, args ...any) { hints = append(hints, fmt.Sprintf(format, args...)) }
	readable := cmp.Or(robotmem.CallerOf(ctx).Collections, robotmem.AllCollections)
	all, err := n.index.List(c, index.Listing{Scope: index.Scope{Collection: readable}, Status: "all"})
	if err != nil {
		return nil, err
	}

	if err = n.unknownPaths(c, of, all, note); err == nil && len(hints) == 0 && isEmpty {
		err = n.unmetConditions(c, of, all, note)
	}

	return hints, err
}

// emptyHints are filterHints for an operation that found nothing.
func (n *Engine) emptyHints(ctx context.Context, c *store.Conn, of robotmem.Object) ([]string, error) {
	condition, err := filter.Parse(of)
	if err != nil {
		return nil, err
	}
	return n.filterHints(ctx, c, condition, true)
}

// unknownPaths notes the paths of a filter that no memory of a set has, each with the path that it may mean.
func (n *Engine) unknownPaths(c *store.Conn, of *filter.Condition, set *bitset.BitSet, note func(string, ...any)) error {
	var known []string

	for _, path := range slices.DeleteFunc(of.Paths(), filter.OwnField) {
		having, err := n.index.Columns.Having(c, &filter.Condition{Op: "$exists", Path: path}, set)
		if err != nil {
			return err
		}
		if having.Any() {
			continue
		}

		if known == nil {
			paths, _, err := n.index.Columns.ContextPaths(c, set, index.PathsAsked{Limit: index.MaxPaths})
			if err != nil {
				return err
			}

			for i := range paths {
				known = append(known, paths[i].Path)
			}
		}

		meant := spelling.NearestPath(path, known)
		if meant != "" {
			meant = "; did you mean " + meant + "?"
		}
		note("context_filter: no memory has %s%s", path, meant)
	}

	return nil
}

// unmetConditions notes the conditions that no memory of a set meets, each with what the memories have at its path, if
// that differs in kind, in unit or in spelling from what the condition compares with.
func (n *Engine) unmetConditions(c *store.Conn, of *filter.Condition, set *bitset.BitSet, note func(string, ...any)) error {
	var failed error

	of.Required(func(leaf *filter.Condition) {
		if failed != nil || filter.OwnField(leaf.Path) {
			return
		}

		met, err := n.index.Narrow(c, leaf, set, n.Now())
		if err != nil || met.Any() {
			failed = err
			return
		}

		paths, _, err := n.index.Columns.ContextPaths(c, set, index.PathsAsked{
			Prefix: leaf.Path, Wanted: func(path string) bool { return path == leaf.Path },
		})
		if err != nil || len(paths) == 0 {
			failed = err
			return
		}

		p := &paths[0]
		if p.Values, failed = n.index.Columns.PathValues(c, p, set); failed != nil {
			return
		}
		if why := unmet(leaf, p); why != "" {
			note("context_filter: %s", why)
		}
	})

	return failed
}

// fewValues is how many values of a path a hint names.
const fewValues = 5

// unmet says why a condition does not hold for any of the values at its path, "" if it is not known.
func unmet(leaf *filter.Condition, p *admin.ContextPath) string {
	numbers := slices.Equal(p.Kinds, []string{"number"}) || p.Unit != "" // quantities are texts, too

	if unit := leaf.Unit(); unit != "" && numbers && unit != p.Unit {
		if p.Unit == "" {
			return fmt.Sprintf("the numbers at %s have no unit; compare with a number without one, not with %s", p.Path, unit)
		}
		return fmt.Sprintf("%s is stored in %s, and %s is no unit of the same kind", p.Path, p.Unit, unit)
	}

	asked, isText := leaf.AskedText()

	switch {
	case !isText:
		return ""
	case slices.Equal(p.Kinds, []string{"bool"}):
		return fmt.Sprintf("%s is true or false, and %q is a text; write true or false without quotes", p.Path, asked)
	case numbers:
		return fmt.Sprintf("%q at %s is no number and no quantity%s; %s is stored in %s",
			asked, p.Path, filter.MeantBy(asked), p.Path, cmp.Or(p.Unit, "numbers"))
	}

	var texts []string

	for _, v := range p.Values {
		text, isText := v.Value.(string)
		if isText && spelling.Loose(text) == spelling.Loose(asked) {
			return fmt.Sprintf("no memory has %q at %s; did you mean %q?", asked, p.Path, text)
		}
		if isText {
			texts = append(texts, text)
		}
	}

	if near := spelling.Nearest(asked, texts); len(near) > 0 {
		return fmt.Sprintf("no memory has %q at %s; did you mean %q?", asked, p.Path, near[0])
	}
	if len(texts) == 0 || len(texts) > fewValues {
		return ""
	}

	return fmt.Sprintf("no memory has %q at %s; there are %s", asked, p.Path, strings.Join(texts, ", "))
}

// excluding notes the conditions that no memory meets, or how many meet each if none meets all.
// passed is the number of memories that do.
func (s *source) excluding(q *recall.Query, passed int, note func(string, ...any)) error {
	total, counts, none := int(s.index.Columns.Active(q.Collection)), []string{}, false

	var known []string
	for _, c := range s.index.Columns.Categories(q.Collection) {
		known = append(known, c.Category)
	}

	for _, one := range []struct {
		what, hint string
		index.Selection
		tags   []string
		filter *filter.Condition
	}{
		{
			what: "session_id", hint: "; the episode has none",
			Selection: index.Selection{Scope: index.Scope{Session: q.SessionID}},
		},
		{
			what: "category " + q.Category, hint: "; there are " + strings.Join(known, ", "),
			Selection: index.Selection{Scope: index.Scope{Category: q.Category}},
		},
		{what: "type " + q.Type, Selection: index.Selection{Scope: index.Scope{Kind: q.Type}}},
		{
			what:      "perception_type " + q.PerceptionType,
			Selection: index.Selection{Scope: index.Scope{Perception: q.PerceptionType}},
		},
		{what: "min_confidence", Selection: index.Selection{Scope: index.Scope{MinConfidence: *q.MinConfidence}}},
		{what: "time", hint: "; none was observed then", Selection: index.Selection{After: q.After, Before: q.Before}},
		{what: "tags " + strings.Join(q.Tags, " "), tags: q.Tags},
		{what: "context_filter", filter: q.Filter},
	} {
		// Each condition is tried alone, so that the hint names the one to change.
		one.Collection, one.Now = q.Collection, q.Now
		set, err := s.index.Admit(s.c, one.Selection)
		if err == nil {
			set, err = s.index.Narrow(s.c, one.filter, s.index.Columns.Tagged(one.tags, set), q.Now)
		}
		if err != nil {
			return err
		}

		switch n := int(set.Count()); {
		case n == total: // not given, or excludes nothing
		case n == 0:
			none = true
			note("%s: no memory passes%s", one.what, one.hint)
		default:
			counts = append(counts, fmt.Sprintf("%s %d", one.what, n))
		}
	}

	switch {
	case none || len(counts) == 0:
	case passed == 0:
		note("filters: no memory passes all; of %d pass %s", total, strings.Join(counts, ", "))
	case len(q.Content) > 0 && q.SpatialSort == nil && q.MinRelevance == 0:
		note("query: %d memories pass the filters, and none of them has a word of the query", passed)
	}

	return nil
}
