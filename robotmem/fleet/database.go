package fleet

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/sqlite"
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
	log      *slog.Logger
	onClose  func()

	jobs    chan *job
	done    chan struct{}
	commits atomic.Int64

	closing sync.RWMutex // held for reading by every call, for writing by Close
	closed  bool
}

var _ store.Database = (*database)(nil)

type job struct {
	run     func(store.SQL) error
	queued  time.Time
	done    chan error  // buffered, so that the writer never waits for a caller
	claimed atomic.Bool // by the writer that runs it, or the caller that withdraws it
}

const (
	waitingJobs   = 256 // callers that may wait before further ones block
	jobsPerCommit = 128 // bounds how long the first caller of a group waits
	// undecidedGrace is how long a caller waits past the end of its time for a commit that has begun.
	undecidedGrace = 100 * time.Millisecond
	retryPause     = 50 * time.Millisecond
)

func newDatabase(pool *pgxpool.Pool, tenant int64, payloads string, patience time.Duration, group *store.Store, log *slog.Logger, onClose func()) *database {
	d := &database{pool: pool, tenant: tenant, group: group, payloads: payloads, patience: patience, log: log, onClose: onClose, jobs: make(chan *job, waitingJobs), done: make(chan struct{})}
	go d.writer()
	return d
}

// acquire takes a connection and begins a transaction of the tenant.
func (d *database) acquire(ctx context.Context, begin string) (*pgxpool.Conn, *conn, error) {
	p, err := d.pool.Acquire(ctx)
	if err != nil {
		return nil, nil, err
	}
	data := p.Conn().PgConn().CustomData()
	prepared, ok := data["prepared"].(map[string]*statement)
	if !ok {
		prepared = map[string]*statement{}
		data["prepared"] = prepared
	}
	c := &conn{Conn: p.Conn(), prepared: prepared, ctx: ctx}
	c.begin(begin, d.tenant)
	return p, c, nil
}

// release gives a connection back, without its transaction.
func (d *database) release(p *pgxpool.Conn) {
	if p.Conn().PgConn().TxStatus() != 'I' {
		ctx, cancel := context.WithTimeout(context.Background(), statementTime)
		defer cancel()
		_, _ = p.Exec(ctx, "ROLLBACK") // the pool closes a connection in a transaction
	}
	p.Release()
}

func (d *database) Read(ctx context.Context, f func(store.SQL) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	d.closing.RLock()
	defer d.closing.RUnlock()
	if d.closed {
		return sqlite.ErrClosed
	}
	for until := time.Now().Add(d.patience); ; time.Sleep(retryPause) {
		began := false
		err := func() error {
			p, c, err := d.acquire(ctx, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
			if err != nil {
				return err
			}
			defer d.release(p)
			err = f(c)
			if began = c.begun; !began { // also if f did without
				err = cmp.Or(err, c.failed)
			}
			return err
		}()
		if err == nil || began || !lost(err) || time.Now().After(until) || ctx.Err() != nil {
			return d.explained(err)
		}
	}
}

func (d *database) Write(ctx context.Context, f func(store.SQL) error) error {
	return d.submit(ctx, f, false)
}

func (d *database) WriteInTime(ctx context.Context, f func(store.SQL) error) error {
	return d.submit(ctx, f, true)
}

func (d *database) WriteAlone(ctx context.Context, f func(store.SQL) error) error {
	return d.submit(ctx, f, false)
}

func (d *database) submit(ctx context.Context, f func(store.SQL) error, inTime bool) error {
	j := &job{run: f, queued: time.Now(), done: make(chan error, 1)}
	d.closing.RLock()
	if d.closed {
		d.closing.RUnlock()
		return sqlite.ErrClosed
	}
	select {
	case d.jobs <- j:
	case <-ctx.Done():
	}
	d.closing.RUnlock()
	select {
	case err := <-j.done:
		return d.explained(err)
	case <-ctx.Done():
	}
	if j.claimed.CompareAndSwap(false, true) {
		return ctx.Err() // withdrawn before the writer had begun it
	}
	if !inTime {
		return d.explained(<-j.done)
	}
	select {
	case err := <-j.done:
		return d.explained(err)
	case <-time.After(undecidedGrace):
		return sqlite.ErrUndecided
	}
}

// writer serves jobs until there are no more.
func (d *database) writer() {
	defer close(d.done)
	for j := range d.jobs {
		group := []*job{j}
		for more := true; more && len(group) < jobsPerCommit; {
			select {
			case next, ok := <-d.jobs:
				if more = ok; ok {
					group = append(group, next)
				}
			default:
				more = false
			}
		}
		claimed := group[:0]
		for _, j := range group {
			if j.claimed.CompareAndSwap(false, true) {
				claimed = append(claimed, j)
			}
		}
		if len(claimed) > 0 {
			d.commit(claimed)
		}
	}
}

// commit runs a group in one transaction. If that fails it is undone and each job is tried alone.
// A job may run twice, but commits once: after a lost connection the server is asked what became
// of the transaction.
func (d *database) commit(group []*job) {
	until := time.Now().Add(d.patience)
	for {
		results, xid, err := d.try(group)
		if err != nil {
			d.group.Undone()
		}
		if err != nil && xid != "" {
			committed, known := d.settled(xid, until)
			if !known {
				err = sqlite.ErrUndecided
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
			for i, j := range group {
				j.done <- results[i]
			}
		case len(group) == 1 || lost(err) || errors.Is(err, sqlite.ErrUndecided):
			for _, j := range group {
				j.done <- err
			}
		default:
			for _, j := range group {
				d.commit([]*job{j})
			}
		}
		return
	}
}

// try runs a group. xid names the transaction if it is not known whether it was committed.
func (d *database) try(group []*job) (results []error, xid string, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), d.patience)
	p, c, err := d.acquire(ctx, "BEGIN")
	cancel()
	if err != nil {
		return nil, "", err
	}
	defer d.release(p)
	c.ctx = context.Background()
	ids, id := "", ""
	_, err = c.One("SELECT ids, pg_current_xact_id() FROM robotmem.tenants WHERE id = ? FOR UPDATE", []any{d.tenant}, func(r sqlite.Row) {
		ids, id = r.ColumnText(0), r.ColumnText(1)
	})
	if err == nil {
		err = json.Unmarshal([]byte(ids), &c.ids)
	}
	if err != nil {
		return nil, "", err
	}
	before := maps.Clone(c.ids)
	if err := d.group.Begin(c); err != nil {
		return nil, "", err
	}
	results = make([]error, len(group))
	for i, j := range group {
		c.wrote = false
		results[i] = j.run(c)
		if c.failed != nil || results[i] != nil && c.wrote {
			return nil, "", cmp.Or(results[i], c.failed)
		}
		c.ctx = context.Background()
	}
	if err := d.group.Commit(c); err != nil {
		return nil, "", err
	}
	if !maps.Equal(before, c.ids) {
		given, _ := json.Marshal(c.ids) // numbers
		if err := c.Exec("UPDATE robotmem.tenants SET ids = ?::jsonb WHERE id = ?", string(given), d.tenant); err != nil {
			return nil, "", err
		}
	}
	if err := c.commit(); err != nil {
		if told := (*pgconn.PgError)(nil); errors.As(err, &told) && !lost(err) {
			return nil, "", err // the server has refused it
		}
		return results, id, err
	}
	d.commits.Add(1)
	d.group.Committed()
	return results, "", nil
}

// settled asks what became of a transaction whose connection was lost. A server that was promoted
// meanwhile knows the transactions that it has received.
func (d *database) settled(xid string, until time.Time) (committed, known bool) {
	for {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		status := "aborted" // an id that the server has not given yet
		err := d.pool.QueryRow(ctx, "SELECT coalesce(pg_xact_status($1::xid8), 'unknown')", xid).Scan(&status)
		cancel()
		if told := (*pgconn.PgError)(nil); errors.As(err, &told) && told.Code == "22023" {
			return false, true // it is in the future of this server
		}
		switch {
		case err == nil && status == "committed":
			return true, true
		case err == nil && status == "aborted":
			return false, true
		case time.Now().After(until):
			return false, false
		}
		time.Sleep(retryPause)
	}
}

func (d *database) ReadOnly() string { return "" }
func (d *database) Writable() error  { return nil }
func (d *database) InPlace() error   { return nil }
func (d *database) Path() string     { return d.payloads }
func (d *database) Waiting() int     { return len(d.jobs) }

func (d *database) Written() (commits, bytes int64) { return d.commits.Load(), 0 }

func (d *database) DiskFull(field string, cause error) error {
	return robotmem.Errorf(robotmem.Unavailable, field, "the disk of the payloads is full (%s); nothing was stored; free some space and try again", sqlite.Reason(cause))
}

func (d *database) Hold() (release func(), ok bool) {
	d.closing.RLock()
	if d.closed {
		d.closing.RUnlock()
		return nil, false
	}
	return d.closing.RUnlock, true
}

func (d *database) Close() error {
	d.closing.Lock()
	if d.closed {
		d.closing.Unlock()
		return nil
	}
	d.closed = true
	close(d.jobs)
	d.closing.Unlock()
	<-d.done
	d.onClose()
	return nil
}

// lost reports whether the server was not reached, or is one that takes no writes for now.
func lost(err error) bool {
	if told := (*pgconn.PgError)(nil); errors.As(err, &told) {
		switch told.Code {
		case "25006", // read-only: a standby, or a primary that was demoted
			"57P01", "57P02", "57P03", // it shuts down, crashed or starts
			"40001", "40P01", // two transactions in each other's way
			"08000", "08003", "08006", "08001", "08004":
			return true
		}
		return false
	}
	var network net.Error
	return errors.As(err, &network) || errors.Is(err, net.ErrClosed) || pgconn.SafeToRetry(err) || pgconn.Timeout(err) ||
		errors.As(err, new(*pgconn.ConnectError)) || isEOF(err)
}

// explained logs what callers are not told.
func (d *database) explained(err error) error {
	told := explained(err)
	if errors.Is(told, robotmem.Internal) {
		d.log.Error("the database failed", "err", err)
	}
	return told
}

// explained gives an error of the server its kind and a text for callers, without SQL.
func explained(err error) error {
	told := (*pgconn.PgError)(nil)
	if known := (*robotmem.Error)(nil); err == nil || errors.As(err, &known) || !errors.As(err, &told) && !lost(err) {
		return err
	}
	kind, text := robotmem.Internal, "an internal error; see the node's log"
	if told != nil {
		switch {
		case told.Code == "53100":
			kind, text = robotmem.Unavailable, "the disk of the PostgreSQL server is full; nothing was stored; free some space and try again"
		case told.Code == "57014" || told.Code == "55P03":
			kind, text = robotmem.Unavailable, "the PostgreSQL server did not finish in time; nothing was stored; try again"
		case told.Code == "25006":
			kind, text = robotmem.Unavailable, "the PostgreSQL server is a standby, which is read-only; nothing was stored; name the primary too in --db, or promote the standby"
		case told.Code == "42P01" || told.Code == "3F000":
			kind, text = robotmem.Unavailable, "the database has no tables of robotmem; start a node with rights to create them, or run robotmem fleet migrate"
		case told.Code == "53300":
			kind, text = robotmem.Unavailable, "the PostgreSQL server takes no more connections; raise max_connections or lower pool_max_conns in --db"
		}
	}
	if kind == robotmem.Internal && lost(err) {
		kind, text = robotmem.Unavailable, "no PostgreSQL server that takes writes was reached; nothing was stored; check that it runs and --db"
	}
	return &robotmem.Error{Kind: kind, Err: fmt.Errorf("%s%w", text, hidden{err})}
}

// hidden is a cause that callers are not told; errors.As finds it for the log.
type hidden struct{ error }

func (hidden) Error() string   { return "" }
func (h hidden) Unwrap() error { return h.error }
