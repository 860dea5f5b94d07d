package sqlite

import (
	_ "embed"
	"sync"

	"github.com/robotmem/robotmem-go/robotmem/internal/store"
)

//go:embed queries.sql
var queriesFile string

// texts returns the texts of all queries.
var texts = sync.OnceValues(func() (map[store.Query]store.Statement, error) { return store.ParseTexts(queriesFile) })

// namedConn is a connection that runs the queries of package store by their names.
type namedConn struct{ *Conn }

var _ store.SQL = namedConn{}

// statement returns the prepared statement of a query, nil for one that has nothing to do in a file.
func (c namedConn) statement(q store.Query) (*stmt, error) {
	// prepared, which checks this for a new statement, is not called for a known one.
	if s, known := c.named[q]; known {
		return s, c.mayRun()
	}

	sql, err := TextOf(q)
	if err != nil || sql == "" {
		return nil, err
	}
	s, err := c.prepared(sql)
	if err != nil {
		return nil, err
	}
	c.named[q] = s

	return s, nil
}

// Exec implements store.SQL. The text of a query without parameters may hold several statements.
func (c namedConn) Exec(q store.Query, args ...any) error {
	if len(args) > 0 {
		return c.Query(q, args, func(store.Row) error { return nil })
	}

	sql, err := TextOf(q)
	if err != nil || sql == "" {
		return err
	}

	return c.Conn.Exec(sql)
}

// Changed implements store.SQL. It returns the number of rows that the query has changed.
func (c namedConn) Changed(q store.Query, args ...any) (int64, error) {
	before := c.TotalChanges()
	err := c.Exec(q, args...)
	return c.TotalChanges() - before, err
}

// Insert implements store.SQL. It returns the id of the row that the query has inserted.
func (c namedConn) Insert(q store.Query, args ...any) (int64, error) {
	err := c.Exec(q, args...)
	return c.LastInsertRowID(), err
}

// Query implements store.SQL.
func (c namedConn) Query(q store.Query, args []any, row func(store.Row) error) error {
	s, err := c.statement(q)
	if err != nil || s == nil {
		return err
	}
	return run(s, args, row)
}

// Describe returns how many parameters a query takes and how many columns its rows have. It fails for a text that
// does not fit the tables. Both are 0 for a query that has nothing to do in a file.
func (c namedConn) Describe(q store.Query) (params, columns int, err error) {
	s, err := c.statement(q)
	if err != nil || s == nil {
		return 0, 0, err
	}

	return s.BindCount(), s.ColumnCount(), nil
}

// TextOf returns the SQL text of a query, "" if the query has nothing to do in a file.
func TextOf(q store.Query) (string, error) {
	all, err := texts()
	if err != nil {
		return "", err
	}
	t, err := store.Find(all, q)
	return t.SQL, err
}
