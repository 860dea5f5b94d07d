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

// named is a connection that runs the queries of package store by their names.
type named struct{ *Conn }

var _ store.SQL = named{}

// text returns the text of a query.
func (c *Conn) text(q store.Query) (string, error) {
	if sql, known := c.named[q]; known {
		return sql, nil
	}

	all, err := texts()
	if err != nil {
		return "", err
	}
	t, err := store.Find(all, q)
	if err != nil {
		return "", err
	}
	c.named[q] = t.SQL

	return t.SQL, nil
}

// Exec implements store.SQL.
func (c named) Exec(q store.Query, args ...any) error {
	sql, err := c.text(q)
	if err != nil {
		return err
	}
	return c.Conn.Exec(sql, args...)
}

// Changed implements store.SQL.
func (c named) Changed(q store.Query, args ...any) (int64, error) {
	before := c.TotalChanges()
	err := c.Exec(q, args...)
	return c.TotalChanges() - before, err
}

// Insert implements store.SQL.
func (c named) Insert(q store.Query, args ...any) (int64, error) {
	err := c.Exec(q, args...)
	return c.LastInsertRowID(), err
}

// Query implements store.SQL.
func (c named) Query(q store.Query, args []any, row func(store.Row) error) error {
	sql, err := c.text(q)
	if err != nil {
		return err
	}
	return c.Conn.Query(sql, args, row)
}

// One implements store.SQL.
func (c named) One(q store.Query, args []any, row func(store.Row)) (bool, error) {
	sql, err := c.text(q)
	if err != nil {
		return false, err
	}
	return c.Conn.One(sql, args, row)
}

// Number implements store.SQL.
func (c named) Number(q store.Query, args ...any) (int64, error) {
	sql, err := c.text(q)
	if err != nil {
		return 0, err
	}
	return c.Conn.Number(sql, args...)
}

// Describe returns how many parameters a query takes and how many columns its rows have. It fails for a text that
// does not fit the tables. In a query that has nothing to do here both are 0.
func (c named) Describe(q store.Query) (params, columns int, err error) {
	sql, err := c.text(q)
	if err != nil || sql == "" {
		return 0, 0, err
	}
	s, err := c.prepared(sql)
	if err != nil {
		return 0, 0, err
	}

	return s.BindCount(), s.ColumnCount(), nil
}

// TextOf returns the text of a query.
func TextOf(q store.Query) (string, error) {
	all, err := texts()
	if err != nil {
		return "", err
	}
	t, err := store.Find(all, q)
	return t.SQL, err
}
