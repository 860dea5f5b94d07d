package postgres

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/files"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
)

// database holds the tables of one tenant. One goroutine writes: callers that wait at the same time
// share a commit, as with a file. Other nodes that write for the tenant wait for the lock of its row.
type database struct {
	pool     *pgxpool.Pool
	tenant   int64
	group    *store.Store
	patience time.Duration // how long a write waits for a server that takes it
	payloads string        // the folder of large payloads, and the name of the memory
	health   *health
	log      *slog.Logger
	onClose  func()

	*store.Queue[store.SQL]
	commits atomic.Int64
	name    string // of this writer in the table of commits
	number  int64  // of its last transaction; only the writer uses it
}

var _ store.Database = (*database)(nil)

type job = store.Job[store.SQL]

const (
	retryPause = 50 * time.Millisecond
	// beginTime bounds the begin of a transaction, which waits for nothing but the network.
	beginTime = 5 * time.Second
	// commitTime bounds a commit, which waits for a standby. It is asked for after that.
	commitTime = 10 * time.Second
)

// errUndecided is store.ErrUndecided with what a caller of a server can do.
var errUndecided = &robotmem.Error{Kind: robotmem.Unavailable, Err: robotmem.Hide("the PostgreSQL server did not answer in time; "+
	"what was asked may be stored yet, or not; look for it before you repeat it", store.ErrUndecided)}

// beginWrite begins a transaction that writes. If its connection is lost, the server must not keep the
// lock of the tenant for long.
const beginWrite = "BEGIN; SET LOCAL idle_in_transaction_session_timeout = '10s'"

func newDatabase(
	s *Server, tenant int64, payloads string, patience time.Duration, group *store.Store, log *slog.Logger,
	onClose func(),
) *database {
	d := &database{
		pool: s.Pool, health: s.health, tenant: tenant, group: group, payloads: payloads, patience: patience, log: log, onClose: onClose,
		name: rand.Text(), Queue: store.NewQueue[store.SQL](),
	}
	d.Serve(d.writer)
	return d
}

// forgetWriters deletes the numbers of writers that have ended. A writer that is still active writes its number again.
const forgetWriters = `DELETE FROM robotmem.commits WHERE writer IN
	(SELECT writer FROM robotmem.commits WHERE at < now() - interval '1 day' FOR UPDATE SKIP LOCKED); `

// plans caches the prepared statements of a connection. The server plans a statement once, by the sizes that its tables
// have then: for an empty table every index is as good as the right one. So plans are made again when the connection is
// twice as old as it was then.
type plans struct {
	prepared map[store.Query]*statement
	since    time.Time     // when the connection was opened
	age      time.Duration // the age of the connection at which plans were discarded last
}

// firstPlans is the age of a connection at which its plans are discarded for the first time.
const firstPlans = 500 * time.Millisecond

func (p *plans) old() bool {
	age := time.Since(p.since)
	if age < max(firstPlans, 2*p.age) {
		return false
	}
	p.age = age
	return true
}

// acquire takes a connection and begins a transaction of the tenant.
func (d *database) acquire(ctx context.Context, begin string) (*pgxpool.Conn, *conn, error) {
	p, err := d.pool.Acquire(ctx)
	if err != nil {
		return nil, nil, err
	}

	// The statements belong to the connection, which serves many transactions.
	data := p.Conn().PgConn().CustomData()
	kept, ok := data["plans"].(*plans)
	if !ok {
		kept = &plans{prepared: map[store.Query]*statement{}, since: time.Now()}
		data["plans"] = kept
	}

	c := &conn{Conn: p.Conn(), prepared: kept.prepared, ctx: ctx, caller: ctx}
	if kept.old() {
		begin += "; DISCARD PLANS"
	}

	limited, cancel := within(ctx, beginTime)
	defer cancel()

	// The tenant holds for this transaction only, because the pool gives the connection to other tenants afterwards.
	// Row-level security compares the rows with it.
	_, err = p.Conn().PgConn().Exec(limited,
		begin+"; SELECT set_config('robotmem.tenant', '"+strconv.FormatInt(d.tenant, 10)+"', true)").ReadAll()
	if err != nil {
		d.release(p)
		return nil, nil, err
	}

	return p, c, nil
}

// release gives a connection back, without its transaction.
func (d *database) release(p *pgxpool.Conn) {
	if p.Conn().PgConn().TxStatus() != 'I' {
		ctx, cancel := context.WithTimeout(context.Background(), statementTime)
		defer cancel()
		// The pool closes a connection in a transaction.
		_, _ = p.Exec(ctx, "ROLLBACK")
	}
	p.Release()
}

func (d *database) Read(ctx context.Context, f func(store.SQL) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}

	release, open := d.Hold()
	if !open {
		return store.ErrClosed
	}

	defer release()

	for until := time.Now().Add(d.patience); ; time.Sleep(retryPause) {
		// A read is repeated only before f has run, because f may have filled in a part of its answer.
		began := false

		err := func() error {
			p, c, err := d.acquire(ctx, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
			if err != nil {
				return err
			}
			defer d.release(p)
			began, c.answers = true, map[store.Query]*answer{}

			return f(c)
		}()
		switch {
		case err != nil && ctx.Err() != nil:
			return ctx.Err()
		case err == nil || began || !lost(err) || time.Now().After(until):
			return d.explained(err)
		}
	}
}

func (d *database) Write(ctx context.Context, f func(store.SQL) error) error {
	return d.submit(ctx, &job{Run: f})
}

func (d *database) WriteInTime(ctx context.Context, f func(store.SQL) error) error {
	return d.submit(ctx, &job{Run: f, InTime: true})
}

func (d *database) WriteAlone(ctx context.Context, f func(store.SQL) error) error {
	return d.submit(ctx, &job{Run: f})
}

func (d *database) submit(ctx context.Context, j *job) error {
	err := d.Submit(ctx, j)
	if err == store.ErrUndecided {
		return errUndecided
	}
	return d.explained(err)
}

// writer serves jobs until there are no more.
func (d *database) writer(jobs <-chan *job) {
	for j := range jobs {
		group := []*job{j}
		for len(jobs) > 0 && len(group) < store.JobsPerCommit {
			group = append(group, <-jobs)
		}
		group = slices.DeleteFunc(group, func(j *job) bool { return !j.Claim() })
		if len(group) > 0 {
			d.commit(group)
		}
	}
}

// commit runs a group in one transaction. If that fails it is undone and each job is tried alone.
// A job may run twice, but commits once: after a lost connection the server is asked what became
// of the transaction.
func (d *database) commit(group []*job) {
	until := group[len(group)-1].Queued.Add(d.patience)
	if least := time.Now().Add(min(d.patience, beginTime)); until.Before(least) {
		// The jobs before it were slow. A group gets at least the time to begin a transaction.
		until = least
	}

	// cause is the error of the last try that the end of the patience did not cut short.
	var cause error

	for {
		results, unknown, err := d.try(group, until)
		if err != nil {
			d.group.Undone()
			d.demoted(err)
		}
		if cause == nil || !errors.Is(err, context.DeadlineExceeded) {
			cause = err
		}

		// The server may have committed, and a repetition would then store the jobs twice.
		if unknown {
			committed, known := d.settled(until)
			if !known {
				err = errUndecided
			} else if committed {
				d.group.Committed()
				err = nil
			}
		}
		if err != nil && lost(err) && time.Now().Before(until) {
			time.Sleep(retryPause)
			continue
		}

		switch {
		case err == nil:
			d.commits.Add(1)

			for i, j := range group {
				j.Answer(results[i])
			}
		case err == errUndecided:
			for _, j := range group {
				j.Answer(err)
			}

		// Without the server each job would fail alone too.
		case len(group) == 1 || lost(err):
			for _, j := range group {
				j.Answer(cause)
			}
		default:
			for _, j := range group {
				d.commit([]*job{j})
			}
		}

		return
	}
}

// demoted closes the connections to a server that takes writes no longer, unless err says something else. The server of
// a new connection is checked, and an old one would fail at each write while reads succeed.
func (d *database) demoted(err error) {
	if told := (*pgconn.PgError)(nil); errors.As(err, &told) && told.Code == readOnly {
		d.health.failing(err)
		d.pool.Reset()
	}
}

// lock locks the row of the tenant and returns the last ids that were given. A writer of the tenant
// on another node waits.
func (d *database) lock(c *conn) (ids map[string]int64, err error) {
	ctx, cancel := c.within()
	defer cancel()
	text := ""
	err = c.QueryRow(ctx, "SELECT ids FROM robotmem.tenants WHERE id = $1 FOR UPDATE", d.tenant).Scan(&text)
	if err == nil {
		err = json.Unmarshal([]byte(text), &ids)
	}

	return ids, err
}

// try runs a group. It reports whether it is unknown if the transaction was committed.
func (d *database) try(group []*job, until time.Time) (results []error, unknown bool, err error) {
	ctx, cancel := context.WithDeadline(context.Background(), until)
	p, c, err := d.acquire(ctx, beginWrite)
	cancel()
	if err != nil {
		return nil, false, err
	}

	defer d.release(p)

	// From here on no deadline of a caller may end the transaction, which belongs to the whole group.
	c.ctx, c.caller = context.Background(), context.Background()
	if c.ids, err = d.lock(c); err != nil {
		return nil, false, err
	}

	before := maps.Clone(c.ids)
	if err := d.group.Begin(c); err != nil {
		return nil, false, err
	}

	results = make([]error, len(group))
	for i, j := range group {
		c.wrote = false
		results[i] = j.Run(c)

		// A job that fails before it has written anything does not affect the others.
		if c.failed != nil || results[i] != nil && c.wrote {
			return nil, false, cmp.Or(results[i], c.failed)
		}

		// The job may have set a context of its own.
		c.ctx = context.Background()
	}

	if err := d.group.Commit(c); err != nil {
		return nil, false, err
	}

	if !maps.Equal(before, c.ids) {
		given, _ := json.Marshal(c.ids) // numbers
		if err := c.Exec(store.SetTenantIDs, string(given), d.tenant); err != nil {
			return nil, false, err
		}
	}

	if _, err := c.send(nil); err != nil { // the queued statements
		return nil, false, err
	}

	d.number++
	forget := ""
	if d.number == 1 {
		forget = forgetWriters
	}

	// The number is committed with the jobs, so that settled can ask for it if the answer is lost.
	err = d.end(p, forget+fmt.Sprintf(`INSERT INTO robotmem.commits(writer, number) VALUES ('%s', %d)
		ON CONFLICT (writer) DO UPDATE SET number = excluded.number, at = excluded.at; COMMIT`, d.name, d.number))
	if err == nil {
		d.group.Committed()
	}

	told := (*pgconn.PgError)(nil)

	// Without an answer of the server nobody knows whether it has committed.
	return results, err != nil && (lost(err) || !errors.As(err, &told)), err
}

// end ends a transaction with some statements. It fails if a commit was cut short on the server, which
// is then committed, but may not have reached a standby.
func (d *database) end(p *pgxpool.Conn, sql string) error {
	ctx, cancel := context.WithTimeout(context.Background(), commitTime)
	defer cancel()

	// A commit that no longer waits for its standby succeeds with a warning.
	delete(p.Conn().PgConn().CustomData(), warned)
	_, err := p.Conn().PgConn().Exec(ctx, sql).ReadAll()
	if text := p.Conn().PgConn().CustomData()[warned]; err == nil && text != nil {
		return fmt.Errorf("fleet: commit: %w: %v", net.ErrClosed, text)
	}

	return err
}

// settled asks what became of the last transaction, whose connection was lost. Its id on the server
// would not tell: a standby that was promoted gives the ids again that had not reached it. The lock of
// the tenant waits for a transaction that is not at its end, and as a commit is durable with all before
// it, that of the question makes sure of the answer.
func (d *database) settled(until time.Time) (committed, known bool) {
	for {
		last := int64(0)
		err := func() error {
			ctx, cancel := context.WithTimeout(context.Background(), beginTime)
			defer cancel()
			p, c, err := d.acquire(ctx, beginWrite)
			if err != nil {
				return err
			}
			defer d.release(p)
			c.ctx, c.caller = context.Background(), context.Background()
			if _, err := d.lock(c); err != nil {
				return err
			}
			err = c.QueryRow(ctx, "SELECT coalesce((SELECT number FROM robotmem.commits WHERE writer = $1), 0)",
				d.name).Scan(&last)
			if err != nil {
				return err
			}

			return d.end(p, "COMMIT")
		}()
		if err == nil {
			return last == d.number, true
		}
		if time.Now().After(until) {
			return false, false
		}
		time.Sleep(retryPause)
	}
}

func (d *database) ReadOnly() string    { return "" }
func (d *database) Writable() error     { return nil }
func (d *database) InPlace() error      { return nil }
func (d *database) Path() string        { return d.payloads }
func (d *database) Files() files.Memory { return files.At(d.payloads) }

func (d *database) Written() (commits, bytes int64) { return d.commits.Load(), 0 }

func (d *database) DiskFull(field string, cause error) error {
	return robotmem.Errorf(robotmem.Unavailable, field,
		"the disk of the payloads is full (%s); nothing was stored; free some space and try again",
		robotmem.Reason(cause))
}

func (d *database) Close() error {
	if d.Queue.Close() {
		d.onClose()
	}
	return nil
}

// readOnly is the code of a standby, or of a primary that was demoted.
const readOnly = "25006"

// lost reports whether the server was not reached, or is one that takes no writes for now.
func lost(err error) bool {
	if told := (*pgconn.PgError)(nil); errors.As(err, &told) {
		switch told.Code {
		case readOnly,
			"57P01", "57P02", "57P03", // it shuts down, crashed or starts
			"25P03",          // it has waited too long for the next statement of a transaction
			"40001", "40P01", // two transactions in each other's way
			"08000", "08003", "08006", "08001", "08004":
			return true
		}

		return false
	}

	var network net.Error

	return errors.As(err, &network) || errors.Is(err, net.ErrClosed) || errors.Is(err, pgconn.ErrConnClosed) || pgconn.SafeToRetry(err) || pgconn.Timeout(err) ||
		errors.As(err, new(*pgconn.ConnectError)) || isEOF(err)
}

// explained logs what callers are not told.
func (d *database) explained(err error) error {
	told := Explain(err)
	if errors.Is(told, robotmem.Internal) {
		d.log.Error("the database failed", "err", err)
	}
	return told
}

// serverError marks an error of the server, for the log.
type serverError struct{ error }

// Unwrap lets errors.As find the code of the server.
func (e *serverError) Unwrap() error { return e.error }

// Explain gives an error of the server its kind and a text for callers, without SQL.
func Explain(err error) error {
	told := (*pgconn.PgError)(nil)
	if known := (*robotmem.Error)(nil); err == nil || errors.As(err, &known) || !errors.As(err, &told) && !lost(err) {
		return err
	}

	code := ""

	switch {
	case errors.Is(err, pgconn.ErrReadOnlyConnection):
		code = readOnly
	case told != nil:
		code = told.Code
	}

	kind, text := robotmem.Unavailable, ""

	switch code {
	case "53100":
		text = "the disk of the PostgreSQL server is full; nothing was stored; free some space and try again"
	case "57014", "55P03":
		text = "the PostgreSQL server did not finish in time; nothing was stored; try again"
	case readOnly:
		text = "the PostgreSQL server is a standby, which is read-only; nothing was stored; name the primary too in --db, or promote the standby"
	case "42P01", "3F000":
		text = "the database has no tables of robotmem; start a node whose user may create them"
	case "53300":
		text = "the PostgreSQL server takes no more connections; raise max_connections or lower pool_max_conns in --db"
	case "22021", "22P05":
		kind, text = robotmem.Invalid, "a text has the character U+0000, which PostgreSQL does not store; leave it out"
	case "54000":
		kind, text = robotmem.TooLarge, "a name is longer than the PostgreSQL server can index; shorten it"
	case "28000", "28P01", "3D000", "42501":
		text = "the PostgreSQL server refuses it (" + told.Message +
			"); check the user, the password and the database of --db"
	default:
		if strings.Contains(err.Error(), noTLS) {
			text = "the PostgreSQL server has no TLS, and passwords and memories would pass in the clear; give it a certificate, or add sslmode=disable to --db if the network is trusted"
			break
		}
		if text = "no PostgreSQL server that takes writes was reached; nothing was stored; check that it runs and --db"; !lost(err) {
			kind, text = robotmem.Internal, "an internal error; see the node's log"
		}
	}

	return &robotmem.Error{Kind: kind, Err: robotmem.Hide(text, &serverError{err})}
}
