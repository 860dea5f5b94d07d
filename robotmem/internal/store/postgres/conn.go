package postgres

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

// conn runs the statements of a store in one transaction. A statement without an answer is queued and sent with the
// next one that has an answer, because a round trip takes longer than most statements.
type conn struct {
	*pgx.Conn
	prepared map[store.Query]*statement // of the connection
	ctx      context.Context            // of SetInterrupt
	caller   context.Context            // of the caller of Read; none for a transaction that writes
	ids      map[string]int64           // the last ids that were given, by table; nil unless it writes
	wrote    bool                       // a statement of this transaction may have changed something
	failed   error                      // of a statement: the server has ended the transaction
	answers  map[store.Query]*answer    // of queries with the head once, in a transaction that reads one snapshot

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
	// fetchRows is how many rows of a whole table are in memory at a time.
	fetchRows = 4096
)

// statement is a prepared statement. Its description is nil for a query that has nothing to do here.
type statement struct {
	*pgconn.StatementDescription
	once    bool    // its answer is kept for the transaction
	inParts bool    // its rows are fetched in parts
	idOf    string  // the table whose next id is its last parameter
	formats []int16 // of its columns: bytes as bytes, everything else as text
}

// within returns a context that ends after a time, or with the deadline of ctx. The grace lets most statements end that
// have begun by then.
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

// Exec implements store.SQL.
func (c *conn) Exec(q store.Query, args ...any) error {
	c.wrote = true
	st, err := c.statement(q)
	if err == nil {
		err = c.add(st, args)
	}
	if err != nil || len(c.texts) < mostWaiting && c.bytes < mostWaitingBytes {
		return err
	}
	_, err = c.send(nil)

	return err
}

// Changed implements store.SQL.
func (c *conn) Changed(q store.Query, args ...any) (int64, error) {
	st, err := c.statement(q)
	if err != nil {
		return 0, err
	}
	tag, err := c.run(st, args, nil)
	return tag.RowsAffected(), err
}

// Insert implements store.SQL. The ids of a tenant are dense, as those of a file: indexes in
// memory are by id.
func (c *conn) Insert(q store.Query, args ...any) (int64, error) {
	st, err := c.statement(q)
	if err != nil {
		return 0, err
	}
	if st.idOf == "" || c.ids == nil {
		return 0, fmt.Errorf("postgres: %s gives no id, or does not write", q)
	}

	// Ids are counted here and stored once at the end of the transaction, so a new row needs no round trip.
	id := c.ids[st.idOf] + 1
	if err = c.Exec(q, append(args, id)...); err == nil {
		c.ids[st.idOf] = id
	}

	return id, err
}

// Query implements store.SQL. It reads all rows before it calls row, which may run queries, or
// those of a whole table in parts.
func (c *conn) Query(q store.Query, args []any, row func(store.Row) error) error {
	st, err := c.statement(q)
	if err != nil {
		return err
	}
	if st.once && c.answers != nil {
		if err := c.askOnce(q); err != nil {
			return err
		}
		return c.answers[q].visit(row)
	}

	var a answer
	if !st.inParts {
		if _, err := c.run(st, args, a.read); err != nil {
			return err
		}
		return a.visit(row)
	}

	if err := c.bind(st, args); err != nil {
		return err
	}

	c.cursors++
	cursor := "rows" + strconv.Itoa(c.cursors)

	// DECLARE waits for the first FETCH, so that both are one round trip.
	c.waiting.ExecParams("DECLARE "+cursor+" NO SCROLL CURSOR FOR "+st.SQL, c.params.ParamValues, st.ParamOIDs,
		c.params.ParamFormats, nil)
	c.texts = append(c.texts, st.SQL)

	for done := false; !done; {
		a.rows = a.rows[:0]
		c.waiting.ExecParams("FETCH "+strconv.Itoa(fetchRows)+" FROM "+cursor, nil, nil, nil, st.formats)
		c.texts = append(c.texts, st.SQL)
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

	// Nobody needs the answer, so CLOSE is sent with the next statement.
	c.wait("CLOSE " + cursor)

	return nil
}

// askOnce asks a query unless its answer is known. The first time it asks all queries that most transactions ask.
func (c *conn) askOnce(q store.Query) error {
	if err := cmp.Or(c.failed, c.ctx.Err()); err != nil || c.answers[q] != nil {
		return err
	}

	asked := []store.Query{q}
	if len(c.answers) == 0 {
		asked = onceAsked()
	}

	// All are prepared first, because preparing a statement sends those that wait.
	for _, q := range asked {
		if _, err := c.statement(q); err != nil {
			return err
		}
	}

	var got []*answer

	for _, q := range asked {
		if err := c.add(c.prepared[q], nil); err != nil {
			return err
		}
		a := &answer{}
		c.answers[q], got = a, append(got, a)
	}

	_, err := c.sendReading(func(after int, r *pgconn.ResultReader) {
		if after < len(got) {
			got[len(got)-1-after].read(r)
		}
	})

	return err
}

// answer holds the rows of a statement.
type answer struct {
	fields []pgconn.FieldDescription
	rows   [][][]byte
}

func (a *answer) read(r *pgconn.ResultReader) {
	a.fields = r.FieldDescriptions()
	for r.NextRow() {
		a.rows = append(a.rows, copied(r.Values()))
	}

	// The next statement takes the memory of the descriptions.
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

// run runs a statement, after those that wait, and reads its rows.
func (c *conn) run(st *statement, args []any, read func(*pgconn.ResultReader)) (tag pgconn.CommandTag, err error) {
	if err := c.add(st, args); err != nil || st.StatementDescription == nil {
		return tag, err
	}
	return c.send(read)
}

// add adds a statement to the waiting ones.
func (c *conn) add(st *statement, args []any) error {
	if st.StatementDescription == nil {
		return nil
	}
	if err := c.bind(st, args); err != nil {
		return err
	}
	c.waiting.ExecStatement(st.StatementDescription, c.params.ParamValues, c.params.ParamFormats, st.formats)

	c.texts = append(c.texts, st.SQL)
	for _, v := range c.params.ParamValues {
		c.bytes += len(v)
	}
	// A statement that returns no rows may have changed some.
	c.wrote = c.wrote || len(st.Fields) == 0

	return nil
}

// bind encodes the parameters of a statement.
func (c *conn) bind(st *statement, args []any) error {
	if err := cmp.Or(c.failed, c.ctx.Err()); err != nil {
		return err
	}

	bound := make([]any, len(args))
	for i, a := range args {
		// SQLite converts truth values and numbers to the type of the column. The server does not.
		if b, ok := a.(bool); ok && i < len(st.ParamOIDs) && st.ParamOIDs[i] != pgtype.BoolOID {
			a = int64(0)
			if b {
				a = int64(1)
			}
		}
		if n, ok := a.(int64); ok && i < len(st.ParamOIDs) && st.ParamOIDs[i] == pgtype.TextOID {
			a = strconv.FormatInt(n, 10)
		}
		bound[i] = a
	}

	if err := c.params.Build(c.TypeMap(), st.StatementDescription, bound); err != nil {
		return fmt.Errorf("%w: in %s", err, st.SQL)
	}

	return nil
}

// statement prepares a query, once for the connection.
func (c *conn) statement(q store.Query) (*statement, error) {
	if st := c.prepared[q]; st != nil {
		return st, nil
	}
	if err := cmp.Or(c.failed, c.ctx.Err()); err != nil {
		return nil, err
	}

	// Preparing is a round trip of its own, and the order of the statements must stay.
	if _, err := c.send(nil); err != nil {
		return nil, err
	}

	all, err := texts()
	if err != nil {
		return nil, err
	}
	text, err := store.Find(all, q)
	if err != nil {
		return nil, err
	}
	st := &statement{}

	for _, head := range text.Heads {
		table, gives := strings.CutPrefix(head, headID)
		switch {
		case gives:
			st.idOf = table
		case head == headOnce:
			st.once = true
		case head == headParts:
			st.inParts = true
		}
	}
	if text.SQL == "" {
		c.prepared[q] = st
		return st, nil
	}

	ctx, cancel := c.within()
	defer cancel()
	d, err := c.Prepare(ctx, "s"+strconv.Itoa(len(c.prepared)), text.SQL)
	if err != nil {
		// An error ends the transaction on the server, so no further statement can run in it.
		c.failed = fmt.Errorf("%w: in %s", err, text.SQL)
		return nil, c.failed
	}

	st.StatementDescription, st.formats = d, make([]int16, len(d.Fields))
	for i, f := range d.Fields {
		if f.DataTypeOID == pgtype.ByteaOID {
			st.formats[i] = pgx.BinaryFormatCode
		}
	}

	c.prepared[q] = st

	return st, nil
}

// Describe returns how many parameters a query takes, and how many columns its rows have. It fails for a text that
// does not fit the tables. In a query that has nothing to do here both are 0. The id of a new row does not count:
// Insert gives it.
func (c *conn) Describe(q store.Query) (params, columns int, err error) {
	st, err := c.statement(q)
	if err != nil || st.StatementDescription == nil {
		return 0, 0, err
	}
	params = len(st.ParamOIDs)
	if st.idOf != "" {
		params--
	}

	return params, len(st.Fields), nil
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

	// The lists are emptied before the call, so that no statement is sent twice.
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
