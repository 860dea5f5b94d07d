package fleet

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/robotmem/robotmem-go/robotmem/internal/store"
)

// conn runs the statements of a store in one transaction. A statement whose answer nobody needs
// waits, and is sent with the next that has one: a round trip takes longer than most statements.
type conn struct {
	*pgx.Conn
	prepared map[string]*statement // of the connection, by the text of the store
	ctx      context.Context       // of SetInterrupt
	caller   context.Context       // of the caller of Read; none for a transaction that writes
	ids      map[string]int64      // the last ids that were given, by table; nil unless it writes
	wrote    bool                  // a statement of this transaction may have changed something
	failed   error                 // of a statement: the server has ended the transaction
	answers  map[string]*answer    // of statements without parameters, in a transaction that reads one snapshot

	waiting pgconn.Batch
	texts   []string // of the waiting statements
	bytes   int      // of their parameters
	params  pgx.ExtendedQueryBuilder
	cursors int
}

var _ store.SQL = (*conn)(nil)

const (
	// statementTime bounds a round trip, beside the server's own limit: a server that is gone
	// does not answer at all.
	statementTime = 30 * time.Second
	// Statements are sent at the latest when so many wait, or with so many bytes.
	mostWaiting, mostWaitingBytes = 256, 1 << 20
	// mostKept is how many rows of an answer are kept for the rest of a transaction.
	mostKept = 64
	// fetchRows is how many rows of a whole table are in memory at a time.
	fetchRows = 4096
)

// statement is a prepared statement.
type statement struct {
	*pgconn.StatementDescription
	formats []int16 // of its columns: bytes as bytes, everything else as text
}

// within returns a context that ends after a time, or with the deadline of ctx. What has begun by then is
// mostly done in the grace.
func within(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	end := time.Now().Add(d)
	if at, ok := ctx.Deadline(); ok && at.Add(store.UndecidedGrace).Before(end) {
		end = at.Add(store.UndecidedGrace)
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

// wait adds a statement without parameters to the waiting ones.
func (c *conn) wait(text string) {
	c.waiting.ExecParams(text, nil, nil, nil, nil)
	c.texts = append(c.texts, text)
}

func (c *conn) Exec(sql string, args ...any) error {
	c.wrote = true
	if err := c.add(sql, args); err != nil || len(c.texts) < mostWaiting && c.bytes < mostWaitingBytes {
		return err
	}
	_, err := c.send(nil)
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

// Query implements store.SQL. It reads all rows before it calls row, which may run statements, or
// those of a whole table in parts.
func (c *conn) Query(sql string, args []any, row func(store.Row) error) error {
	if c.answers != nil && len(args) == 0 && !ignored(sql) {
		if err := c.askOnce(sql); err != nil {
			return err
		}
		known := c.answers[sql]
		if len(known.rows) > mostKept {
			delete(c.answers, sql)
		}

		return known.visit(row)
	}

	var a answer
	if !wholeTable(sql) {
		if _, err := c.run(sql, args, a.read); err != nil {
			return err
		}
		return a.visit(row)
	}

	s, err := c.bind(sql, args)
	if err != nil {
		return err
	}

	c.cursors++
	cursor := "rows" + strconv.Itoa(c.cursors)
	c.waiting.ExecParams("DECLARE "+cursor+" NO SCROLL CURSOR FOR "+s.SQL, c.params.ParamValues, s.ParamOIDs, c.params.ParamFormats, nil)
	c.texts = append(c.texts, s.SQL)

	for done := false; !done; {
		a.rows = a.rows[:0]
		c.waiting.ExecParams("FETCH "+strconv.Itoa(fetchRows)+" FROM "+cursor, nil, nil, nil, s.formats)
		c.texts = append(c.texts, s.SQL)
		if _, err := c.send(a.read); err != nil {
			return err
		}
		done = len(a.rows) < fetchRows
		if err := a.visit(func(r store.Row) error {
			err := row(r)
			done = done || errors.Is(err, io.EOF)
			return err
		}); err != nil {
			return err
		}
	}

	c.wait("CLOSE " + cursor)

	return nil
}

// askOnce asks a statement without parameters unless its answer is known. The first time it asks
// those too that are asked most.
func (c *conn) askOnce(sql string) error {
	if err := cmp.Or(c.failed, c.ctx.Err()); err != nil || c.answers[sql] != nil {
		return err
	}

	texts := []string{sql}
	if len(c.answers) == 0 {
		texts = append(texts, slices.DeleteFunc(slices.Clone(store.FirstAsked), func(s string) bool { return s == sql })...)
	}

	// Before any of them waits: preparing a statement sends those that wait.
	for _, text := range texts {
		if _, err := c.statement(text); err != nil {
			return err
		}
	}

	var got []*answer

	for _, text := range texts {
		if err := c.add(text, nil); err != nil {
			return err
		}
		a := &answer{}
		c.answers[text], got = a, append(got, a)
	}

	_, err := c.sendReading(func(after int, r *pgconn.ResultReader) {
		if after < len(got) {
			got[len(got)-1-after].read(r)
		}
	})

	return err
}

// answer is what a statement answered.
type answer struct {
	fields []pgconn.FieldDescription
	rows   [][][]byte
}

func (a *answer) read(r *pgconn.ResultReader) {
	a.fields = r.FieldDescriptions()
	for r.NextRow() {
		a.rows = append(a.rows, copied(r.Values()))
	}
	a.fields = slices.Clone(a.fields)
}

// copied copies a row, whose memory the next one takes.
func copied(values [][]byte) [][]byte {
	size := 0
	for _, v := range values {
		size += len(v)
	}

	buf, out := make([]byte, 0, size), make([][]byte, len(values))
	for i, v := range values {
		if v != nil {
			start := len(buf)
			buf = append(buf, v...)
			out[i] = buf[start:len(buf):len(buf)]
		}
	}

	return out
}

// visit calls row for each row until it fails.
func (a *answer) visit(row func(store.Row) error) error {
	for _, values := range a.rows {
		switch err := row(&rowOf{a.fields, values}); err {
		case nil:
		case io.EOF:
			return nil
		default:
			return err
		}
	}

	return nil
}

func (c *conn) One(sql string, args []any, row func(store.Row)) (found bool, err error) {
	err = c.Query(sql, args, func(r store.Row) error {
		found = true
		row(r)
		return io.EOF
	})
	return found, err
}

func (c *conn) Number(sql string, args ...any) (n int64, err error) {
	_, err = c.One(sql, args, func(r store.Row) { n = r.ColumnInt64(0) })
	return n, err
}

// run runs a statement, after those that wait, and reads its rows.
func (c *conn) run(sql string, args []any, read func(*pgconn.ResultReader)) (tag pgconn.CommandTag, err error) {
	if err := c.add(sql, args); err != nil || ignored(sql) {
		return tag, err
	}
	return c.send(read)
}

// add adds a statement to the waiting ones.
func (c *conn) add(sql string, args []any) error {
	if ignored(sql) {
		return nil
	}
	s, err := c.bind(sql, args)
	if err != nil {
		return err
	}
	c.waiting.ExecStatement(s.StatementDescription, c.params.ParamValues, c.params.ParamFormats, s.formats)

	c.texts = append(c.texts, s.SQL)
	for _, v := range c.params.ParamValues {
		c.bytes += len(v)
	}
	c.wrote = c.wrote || !strings.HasPrefix(s.SQL, "SELECT ")

	return nil
}

// bind prepares a statement, and encodes its parameters.
func (c *conn) bind(sql string, args []any) (*statement, error) {
	if err := cmp.Or(c.failed, c.ctx.Err()); err != nil {
		return nil, err
	}

	s, err := c.statement(sql)
	if err != nil {
		return nil, err
	}

	bound := make([]any, len(args))
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
		bound[i] = a
	}

	if err := c.params.Build(c.TypeMap(), s.StatementDescription, bound); err != nil {
		return nil, fmt.Errorf("%w: in %s", err, s.SQL)
	}

	return s, nil
}

// statement prepares a statement of a store, once for the connection. Those that wait may make a
// table that it names.
func (c *conn) statement(sql string) (*statement, error) {
	if s := c.prepared[sql]; s != nil {
		return s, nil
	}
	if _, err := c.send(nil); err != nil {
		return nil, err
	}

	ctx, cancel := c.within()
	defer cancel()
	text := translated(sql)
	d, err := c.Prepare(ctx, "s"+strconv.Itoa(len(c.prepared)), text)
	if err != nil {
		c.failed = fmt.Errorf("%w: in %s", err, text)
		return nil, c.failed
	}

	s := &statement{d, make([]int16, len(d.Fields))}
	for i, f := range d.Fields {
		if f.DataTypeOID == pgtype.ByteaOID {
			s.formats[i] = pgx.BinaryFormatCode
		}
	}

	c.prepared[sql] = s

	return s, nil
}

// within returns the context of a round trip. It has no deadline of the caller if the store has set a
// context without one, for statements that must be completed.
func (c *conn) within() (context.Context, context.CancelFunc) {
	waits := c.caller
	if _, ends := c.ctx.Deadline(); !ends {
		waits = c.ctx
	}
	return within(waits, statementTime)
}

// send sends the waiting statements and reads the rows of the last. It returns the tag of the last.
func (c *conn) send(read func(*pgconn.ResultReader)) (tag pgconn.CommandTag, err error) {
	return c.sendReading(func(after int, r *pgconn.ResultReader) {
		if after == 0 && read != nil {
			read(r)
		}
	})
}

// sendReading sends the waiting statements and calls read for each, with how many come after it.
func (c *conn) sendReading(read func(after int, r *pgconn.ResultReader)) (tag pgconn.CommandTag, err error) {
	if len(c.texts) == 0 || c.failed != nil {
		return tag, c.failed
	}

	ctx, cancel := c.within()
	defer cancel()
	batch, texts := c.waiting, c.texts
	c.waiting, c.texts, c.bytes = pgconn.Batch{}, texts[:0], 0
	results := c.PgConn().ExecBatch(ctx, &batch)
	done := 0

	for results.NextResult() && err == nil {
		r := results.ResultReader()
		read(len(texts)-1-done, r)
		if tag, err = r.Close(); err == nil {
			done++
		}
	}

	if err = cmp.Or(err, results.Close()); err != nil {
		c.failed = fmt.Errorf("%w: in %s", err, texts[min(done, len(texts)-1)])
		return tag, c.failed
	}

	return tag, nil
}

// rowOf is a row as the server sent it: bytes as bytes, everything else as text.
type rowOf struct {
	fields []pgconn.FieldDescription
	values [][]byte
}

var _ store.Row = (*rowOf)(nil)

func (r *rowOf) ColumnType(i int) store.Type {
	switch {
	case r.values[i] == nil:
		return store.Null
	case r.fields[i].DataTypeOID == pgtype.ByteaOID:
		return store.Blob
	}

	switch r.fields[i].DataTypeOID {
	case pgtype.Int2OID, pgtype.Int4OID, pgtype.Int8OID, pgtype.BoolOID, pgtype.NumericOID:
		return store.Integer
	case pgtype.Float4OID, pgtype.Float8OID:
		return store.Float
	}

	return store.Text
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
