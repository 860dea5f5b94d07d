package fleet

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/robotmem/robotmem-go/robotmem/internal/sqlite"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
)

// conn runs the statements of a store in one transaction.
type conn struct {
	*pgx.Conn
	prepared map[string]*pgconn.StatementDescription // of the connection, by statement
	ctx      context.Context                         // of SetInterrupt
	caller   context.Context                         // who waits for the transaction; not for one that writes
	ids      map[string]int64                        // the last ids that were given, by table; nil unless it writes
	wrote    bool                                    // a statement of this transaction has changed something
}

var _ store.SQL = (*conn)(nil)

// statementTime bounds a statement, beside the server's own limit: a server that is gone
// does not answer at all.
const statementTime = 30 * time.Second

// within returns a context that ends after a time, or with the deadline of ctx. What has begun by then is
// mostly done in the grace.
func within(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	end := time.Now().Add(d)
	if at, ok := ctx.Deadline(); ok && at.Add(undecidedGrace).Before(end) {
		end = at.Add(undecidedGrace)
	}
	return context.WithDeadline(context.WithoutCancel(ctx), end)
}

// SetInterrupt implements store.SQL. A statement that has begun is completed, because an error
// would end the transaction.
func (c *conn) SetInterrupt(ctx context.Context) context.Context {
	old := c.ctx
	c.ctx = ctx
	return old
}

func (c *conn) Exec(sql string, args ...any) error {
	_, err := c.Changed(sql, args...)
	return err
}

func (c *conn) Changed(sql string, args ...any) (int64, error) {
	tag, err := c.run(sql, args, nil)
	return tag.RowsAffected(), err
}

// Insert implements store.SQL. The ids of a tenant are dense, as those of a file: indexes in
// memory are by id.
func (c *conn) Insert(sql string, args ...any) (int64, error) {
	head, values, ok := strings.Cut(sql, ") VALUES (")
	table, columns, named := strings.Cut(strings.TrimPrefix(head, "INSERT INTO "), "(")
	if !ok || !named || c.ids == nil {
		return 0, fmt.Errorf("fleet: not an insert of one row: %s", sql)
	}
	id := c.ids[table] + 1
	err := c.Exec("INSERT INTO "+table+"("+columns+", id) VALUES ("+strings.TrimSuffix(values, ")")+",?)", append(args, id)...)
	if err == nil {
		c.ids[table] = id
	}
	return id, err
}

// Query implements store.SQL. It reads all rows before it calls row, which may run statements.
func (c *conn) Query(sql string, args []any, row func(sqlite.Row) error) error {
	var all [][][]byte
	var fields []pgconn.FieldDescription
	_, err := c.run(sql, args, func(r pgx.Rows) {
		if fields == nil {
			fields = r.FieldDescriptions()
		}
		raw := r.RawValues()
		size := 0
		for _, v := range raw {
			size += len(v)
		}
		buf, values := make([]byte, 0, size), make([][]byte, len(raw))
		for i, v := range raw {
			if v != nil {
				start := len(buf)
				buf = append(buf, v...)
				values[i] = buf[start:len(buf):len(buf)]
			}
		}
		all = append(all, values)
	})
	if err != nil {
		return err
	}
	for i := range all {
		switch err := row(&rowOf{fields, all[i]}); err {
		case nil:
		case io.EOF:
			return nil
		default:
			return err
		}
		all[i] = nil
	}
	return nil
}

func (c *conn) One(sql string, args []any, row func(sqlite.Row)) (found bool, err error) {
	err = c.Query(sql, args, func(r sqlite.Row) error {
		found = true
		row(r)
		return io.EOF
	})
	return found, err
}

func (c *conn) Number(sql string, args ...any) (n int64, err error) {
	_, err = c.One(sql, args, func(r sqlite.Row) { n = r.ColumnInt64(0) })
	return n, err
}

// run runs a statement and reads its rows.
func (c *conn) run(sql string, args []any, row func(pgx.Rows)) (tag pgconn.CommandTag, err error) {
	if err := c.ctx.Err(); err != nil {
		return tag, err
	}
	waits := c.caller
	if _, ends := c.ctx.Deadline(); !ends {
		waits = c.ctx // it is to be completed, whoever waits
	}
	ctx, cancel := within(waits, statementTime)
	defer cancel()
	if ignored(sql) {
		return tag, nil
	}
	s, ok := c.prepared[sql]
	if !ok {
		text := translated(sql)
		if s, err = c.Prepare(ctx, "s"+strconv.Itoa(len(c.prepared)), text); err != nil {
			return tag, fmt.Errorf("%w: in %s", err, text)
		}
		c.prepared[sql] = s
	}
	all := make([]any, 0, len(args)+1)
	formats := make(pgx.QueryResultFormats, len(s.Fields))
	for i, f := range s.Fields {
		if f.DataTypeOID == pgtype.ByteaOID {
			formats[i] = pgx.BinaryFormatCode
		}
	}
	all = append(all, formats)
	for i, a := range args {
		if b, ok := a.(bool); ok && i < len(s.ParamOIDs) && s.ParamOIDs[i] != pgtype.BoolOID {
			a = int64(0)
			if b {
				a = int64(1)
			}
		}
		if n, ok := a.(int64); ok && i < len(s.ParamOIDs) && s.ParamOIDs[i] == pgtype.TextOID {
			a = strconv.FormatInt(n, 10)
		}
		all = append(all, a)
	}
	rows, err := c.Conn.Query(ctx, s.Name, all...)
	if err != nil {
		return tag, err
	}
	for rows.Next() {
		if row != nil {
			row(rows)
		}
	}
	rows.Close()
	tag = rows.CommandTag()
	c.wrote = c.wrote || !tag.Select()
	if err := rows.Err(); err != nil {
		return tag, fmt.Errorf("%w: in %s", err, s.SQL)
	}
	return tag, nil
}

// rowOf is a row as the server sent it: bytes as bytes, everything else as text.
type rowOf struct {
	fields []pgconn.FieldDescription
	values [][]byte
}

var _ sqlite.Row = (*rowOf)(nil)

func (r *rowOf) ColumnType(i int) sqlite.Type {
	switch {
	case r.values[i] == nil:
		return sqlite.Null
	case r.fields[i].DataTypeOID == pgtype.ByteaOID:
		return sqlite.Blob
	}
	switch r.fields[i].DataTypeOID {
	case pgtype.Int2OID, pgtype.Int4OID, pgtype.Int8OID, pgtype.BoolOID, pgtype.NumericOID:
		return sqlite.Integer
	case pgtype.Float4OID, pgtype.Float8OID:
		return sqlite.Float
	}
	return sqlite.Text
}

func (r *rowOf) ColumnInt64(i int) int64 {
	text := string(r.values[i])
	if r.fields[i].DataTypeOID == pgtype.BoolOID {
		if text == "t" {
			return 1
		}
		return 0
	}
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return n
	}
	f, _ := strconv.ParseFloat(text, 64)
	return int64(f)
}

func (r *rowOf) ColumnBool(i int) bool { return r.ColumnInt64(i) != 0 }
func (r *rowOf) ColumnInt(i int) int   { return int(r.ColumnInt64(i)) }

func (r *rowOf) ColumnFloat(i int) float64 {
	f, _ := strconv.ParseFloat(string(r.values[i]), 64)
	return f
}

func (r *rowOf) ColumnText(i int) string           { return string(r.values[i]) }
func (r *rowOf) ColumnRawText(i int) []byte        { return r.values[i] }
func (r *rowOf) ColumnRawBlob(i int) []byte        { return r.values[i] }
func (r *rowOf) ColumnCount() int                  { return len(r.values) }
func (r *rowOf) ColumnName(i int) string           { return r.fields[i].Name }
func (r *rowOf) ColumnBlob(i int, b []byte) []byte { return append(b[:0], r.values[i]...) }

func (r *rowOf) Columns(...any) error { return errors.ErrUnsupported }
