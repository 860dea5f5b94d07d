package local

import (
	"fmt"

	"github.com/ncruces/go-sqlite3"
	"github.com/robotmem/robotmem-go/robotmem/internal/filter"
)

// explainNothing says, when nothing was found, what in the question can never
// find anything: a path that no memory has, a target of another number of
// dimensions, a collection that holds nothing. A controller must not take a
// slip of the pen for "nothing worked here".
func (e *Engine) explainNothing(c *conn, q *question) error {
	note := func(format string, args ...any) { q.degraded = append(q.degraded, fmt.Sprintf(format, args...)) }
	if q.Collection != "*" && e.index.roster.active(q.Collection) == 0 {
		if elsewhere := e.index.roster.active("*"); elsewhere > 0 {
			note("collection: %s holds nothing, other collections hold %d; * looks in all", q.Collection, elsewhere)
		}
		return nil
	}
	for _, path := range q.filter.Paths(nil) {
		known, err := c.Number("SELECT count(*) FROM (SELECT 1 FROM paths WHERE path = ?1 OR substr(path, 1, length(?1) + 1) = ?1 || '.' LIMIT 1)", path)
		if err != nil {
			return err
		}
		if known == 0 && !filter.OwnField(path) {
			note("context_filter: no memory has %s", path)
		}
	}
	if q.SpatialSort == nil {
		return nil
	}
	path, err := c.knownPath(q.SpatialSort.Field)
	if err != nil {
		return err
	}
	var dims []int
	err = c.Query("SELECT DISTINCT 2 + (z IS NOT NULL) FROM points WHERE path_id = ? ORDER BY 1", []any{path}, func(s *sqlite3.Stmt) error {
		dims = append(dims, s.ColumnInt(0))
		return nil
	})
	switch {
	case err != nil:
		return err
	case len(dims) == 0:
		note("spatial_sort: no memory has coordinates at %s", q.SpatialSort.Field)
	case len(dims) == 1 && dims[0] != len(q.SpatialSort.Target):
		note("spatial_sort: coordinates at %s have %d dimensions, the target has %d", q.SpatialSort.Field, dims[0], len(q.SpatialSort.Target))
	}
	return nil
}
