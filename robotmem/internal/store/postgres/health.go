package postgres

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
)

// health follows whether the server is reached, and logs each change once. While a server is away every request and
// every loop in the background fails for the same reason, and a line for each would hide everything else.
//
// A connection that could not be opened means that the server is away, one that was acquired that it is there. The
// recovery is logged once there was no failure for settleTime, so that a server that answers now and then, such as
// during a failover, is no change for each request.
type health struct {
	log *slog.Logger

	mu      sync.Mutex
	watched bool        // before the first connection, the caller gets the error
	problem string      // "" while the server is reached
	since   time.Time   // when the problem began
	failed  time.Time   // the last failure
	settle  *time.Timer // from the first success after it; nil without one
}

// settleTime is how long the server must answer before it counts as there again.
const settleTime = 3 * time.Second

// The problems of a server.
const (
	problemAway     = "the database is not reached; requests are refused until it is"
	problemReadOnly = "the database is read-only, as a standby is; requests are refused until a server that takes writes is reached"
	problemRefuses  = "the database refuses this node; requests are refused until it does not"
	problemFull     = "the database has no connection for this node; requests wait or fail"
)

var (
	_ pgx.QueryTracer       = (*health)(nil)
	_ pgx.ConnectTracer     = (*health)(nil)
	_ pgxpool.AcquireTracer = (*health)(nil)
)

// problemOf returns the problem that an error of a connection shows.
func problemOf(err error) string {
	told := (*pgconn.PgError)(nil)
	errors.As(err, &told)

	switch {
	case errors.Is(err, pgconn.ErrReadOnlyConnection), told != nil && told.Code == readOnly:
		return problemReadOnly
	case told != nil && told.Code == "53300":
		return problemFull
	case told == nil || lost(told):
		return problemAway
	}

	return problemRefuses
}

// watch begins to log changes.
func (h *health) watch() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.watched = true
}

// close stops the timer.
func (h *health) close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.watched = false
	h.stopSettling()
}

func (h *health) stopSettling() {
	if h.settle != nil {
		h.settle.Stop()
		h.settle = nil
	}
}

// failing notes that the server was not reached, or takes no writes.
func (h *health) failing(err error) {
	problem := problemOf(err)
	h.mu.Lock()
	defer h.mu.Unlock()

	now := time.Now()
	h.failed = now
	h.stopSettling()
	if problem == h.problem || !h.watched {
		return
	}
	if h.problem == "" {
		h.since = now
	}
	h.problem = problem
	h.log.Error(problem, "err", err)
}

// reached notes that the server was reached.
func (h *health) reached() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.problem == "" || h.settle != nil || !h.watched {
		return
	}

	again := time.Now()
	timer := (*time.Timer)(nil)
	timer = time.AfterFunc(settleTime, func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		if h.settle != timer {
			return // it failed again
		}
		h.log.Warn("the database answers again", "after", again.Sub(h.since).Round(time.Second))
		h.problem, h.settle = "", nil
	})
	h.settle = timer
}

// known reports whether an error is of a problem that is logged. Other services may be away too, so the error must be
// one of the server, or of a deadline that passed while the server was away.
func (h *health) known(err error) bool {
	ofServer := errors.As(err, new(*serverError)) && errors.Is(err, robotmem.Unavailable)
	if ofServer && lost(err) {
		return true
	}

	h.mu.Lock()
	defer h.mu.Unlock()
	if h.problem == "" {
		return false
	}

	return ofServer || errors.Is(err, store.ErrUndecided) || errors.Is(err, context.DeadlineExceeded)
}

// TraceConnectStart implements pgx.ConnectTracer.
func (h *health) TraceConnectStart(ctx context.Context, _ pgx.TraceConnectStartData) context.Context {
	return ctx
}

// TraceConnectEnd implements pgx.ConnectTracer.
func (h *health) TraceConnectEnd(ctx context.Context, d pgx.TraceConnectEndData) {
	// A caller that gives up tells nothing of the server.
	if d.Err != nil && ctx.Err() == nil {
		h.failing(d.Err)
	}
}

// TraceAcquireStart implements pgxpool.AcquireTracer.
func (h *health) TraceAcquireStart(ctx context.Context, _ *pgxpool.Pool, _ pgxpool.TraceAcquireStartData) context.Context {
	return ctx
}

// TraceAcquireEnd implements pgxpool.AcquireTracer.
func (h *health) TraceAcquireEnd(_ context.Context, _ *pgxpool.Pool, d pgxpool.TraceAcquireEndData) {
	if d.Err == nil {
		h.reached()
	}
}

// TraceQueryStart implements pgx.QueryTracer, which every tracer must be.
func (h *health) TraceQueryStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryStartData) context.Context {
	return ctx
}

// TraceQueryEnd implements pgx.QueryTracer.
func (h *health) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

// Quiet returns a logger for what works on the tables of the server. Lines about errors that the server itself has
// logged as its state are for debugging.
func (s *Server) Quiet(log *slog.Logger) *slog.Logger {
	return slog.New(&quiet{log.Handler(), s.health})
}

// quiet is a handler that makes lines about a known problem of the server lines for debugging.
type quiet struct {
	slog.Handler
	health *health
}

// Handle implements slog.Handler.
func (q *quiet) Handle(ctx context.Context, r slog.Record) error {
	about := false
	r.Attrs(func(a slog.Attr) bool {
		err, ok := a.Value.Any().(error)
		about = about || ok && q.health.known(err)
		return !about
	})

	if about {
		if !q.Enabled(ctx, slog.LevelDebug) {
			return nil
		}
		r.Level = slog.LevelDebug
	}

	return q.Handler.Handle(ctx, r)
}

// WithAttrs implements slog.Handler.
func (q *quiet) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &quiet{q.Handler.WithAttrs(attrs), q.health}
}

// WithGroup implements slog.Handler.
func (q *quiet) WithGroup(name string) slog.Handler {
	return &quiet{q.Handler.WithGroup(name), q.health}
}
