// Package embeddings calls the embedder of a memory: for the embedding of each question, and in the background
// for the vectors of stored memories.
package embeddings

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/admin"
	"github.com/robotmem/robotmem-go/robotmem/internal/languages"
	"github.com/robotmem/robotmem-go/robotmem/internal/maintenance"
	"github.com/robotmem/robotmem-go/robotmem/internal/recall"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
	"github.com/robotmem/robotmem-go/robotmem/internal/vector"
)

// Worker calls the embedder of one memory.
type Worker struct {
	// Embedder is nil if the memory is recalled by words alone.
	Embedder robotmem.Embedder
	// Paused holds Run between two calls of the embedder while it is on.
	Paused *maintenance.Pause

	store   *store.Store
	log     *slog.Logger
	wake    chan struct{}  // a memory was stored
	stored  atomic.Bool    // by this process
	filling chan struct{}  // holds a token while texts are embedded, so that each is embedded once
	batch   int            // texts in the next call of the embedder, 0 before the first; filling guards it
	asking  sync.WaitGroup // running query embeddings

	learning sync.Mutex      // guards what follows
	known    map[string]bool // by language: whether the model knows it
}

// New returns the worker of a memory. Run makes it work in the background.
func New(s *store.Store, log *slog.Logger, e robotmem.Embedder) *Worker {
	return &Worker{Embedder: e, store: s, log: log, wake: make(chan struct{}, 1), filling: make(chan struct{}, 1)}
}

const (
	// QueryLimit limits how long a recall waits for its query embedding.
	QueryLimit = 2 * time.Second
	// The number of texts in one call of the embedder begins at firstBatch and follows the measured
	// speed, so that a call takes batchTime. A query may have to wait for the call, so batchTime is
	// not above QueryLimit.
	firstBatch = 4
	maxBatch   = 64
	batchTime  = 2 * time.Second
	// embedPage is the number of changed rows that one call of fill reads.
	embedPage = 512
	// embedPause is how long the worker sleeps when it has nothing to embed. It then
	// checks the file again, because another process may have stored a memory.
	embedPause = 15 * time.Second
	// Gather is how long it waits after a write for further memories, to embed and
	// commit them together.
	Gather  = 100 * time.Millisecond
	maxDims = 4096
)

// Query is the result of a running embedder call; unit and err are valid once
// done is closed.
type Query struct {
	done   chan struct{}
	cancel context.CancelFunc
	unit   []float32
	err    error
}

// Builtin reports whether a model is the one in the program.
func Builtin(model string) bool { return strings.HasPrefix(model, "builtin:") }

// binder is an embedder that takes the model whose vectors a memory has, if it can.
type binder interface{ Bind(model string) }

// Bind tells the embedder which model the stored vectors are of.
func (g *Worker) Bind(ctx context.Context) error {
	b, ok := g.Embedder.(binder)
	if !ok {
		return nil
	}

	return g.store.Read(ctx, func(c *store.Conn) error {
		m, err := c.PresentModel()
		if err == nil {
			b.Bind(m.Name)
		}
		return err
	})
}

// EmbedStored is EmbedAll if this process has stored a memory and its model is the one in the program.
func (g *Worker) EmbedStored(ctx context.Context) error {
	if !g.stored.Load() || g.Embedder == nil || !Builtin(g.Embedder.State().Model) {
		return nil
	}
	return g.EmbedAll(ctx)
}

// EmbedAll computes the vectors of memories that have none, until all have one or ctx ends.
func (g *Worker) EmbedAll(ctx context.Context) error {
	if g.Embedder == nil || g.store.ReadOnly() != "" {
		return nil
	}

	for more := true; more; {
		var err error
		if more, err = g.embedSome(ctx); err != nil {
			return err
		}
	}

	return nil
}

// Stored notes that this process has stored a memory, which has no vector yet.
func (g *Worker) Stored() {
	g.stored.Store(true)
	maintenance.Wake(g.wake)
}

// Wait waits for the embeddings of questions that are being computed.
func (g *Worker) Wait() { g.asking.Wait() }

// Ask embeds a query. It waits for at most three quarters of the time until the deadline: the
// search needs the rest. It returns nil when there is no embedder or no text, or when the
// embedder is not ready; it notes the reason in the query.
func (g *Worker) Ask(ctx context.Context, q *recall.Query) *Query {
	if g.Embedder == nil || q.Query == "" || q.Strict() {
		return nil
	}

	state := g.Embedder.State()
	if state.Reason != "" {
		q.Degrade("vector: " + state.Reason)
	}
	if state.Model == "" || state.Reason != "" {
		return nil
	}

	// Close waits for this call, because the embedder's owner may close the embedder after it.
	release, open := g.store.Hold()
	if !open {
		return nil
	}

	patience := QueryLimit
	if deadline, ok := ctx.Deadline(); ok {
		patience = min(patience, time.Until(deadline)*3/4)
	}

	limited, cancel := context.WithTimeout(ctx, QueryLimit)
	e := &Query{done: make(chan struct{}), cancel: cancel}
	g.asking.Go(func() {
		defer close(e.done)
		defer cancel()
		if e.err = g.knows(limited, q.Query, state.Model); e.err != nil {
			return
		}
		vectors, err := g.embed(limited, robotmem.ForQuestion, []string{q.Query}, 0)
		if e.err = err; err == nil {
			e.unit = vectors[0]
		}
	})
	release()

	select {
	case <-e.done:
	case <-time.After(patience):
	case <-ctx.Done():
	}

	return e
}

// knows fails if a question is in a language that the model does not know: its vectors would mislead. The model
// is asked once for each language whose script tells; the one in the program knows them all.
func (g *Worker) knows(ctx context.Context, question, model string) error {
	language := languages.OfScript(question)
	if language == "" || Builtin(model) {
		return nil
	}

	g.learning.Lock()
	defer g.learning.Unlock()
	known, asked := g.known[language]
	if !asked {
		vectors, err := g.embed(ctx, robotmem.ForMemory, languages.Sentences(language), 0)
		if err != nil && !errors.Is(err, robotmem.Invalid) { // a model that refuses a sentence does not know it
			return nil // the question itself shows what is wrong
		}
		if g.known == nil {
			g.known = map[string]bool{}
		}
		known = languages.Found(vectors) >= languages.Enough
		g.known[language] = known
	}

	if !known {
		return robotmem.Errorf(robotmem.Unavailable, "", "%s does not know %s", model, language)
	}

	return nil
}

// Cancel ends the call when the recall no longer needs it.
func (e *Query) Cancel() { e.cancel() }

// Get returns the embedding, a vector of length 1, or an error if it is not ready.
func (e *Query) Get() ([]float32, error) {
	select {
	case <-e.done:
		return e.unit, e.err
	default:
		return nil, robotmem.Errorf(robotmem.Unavailable, "", "the embedder did not answer before the deadline")
	}
}

// embed returns the vectors of texts, normalized to length 1. It fails if they do not have dims
// numbers; dims 0 accepts any number. A panic of the embedder is returned as an error.
func (g *Worker) embed(
	ctx context.Context, purpose robotmem.Purpose, texts []string, dims int,
) (vectors [][]float32, err error) {
	defer func() {
		if p := recover(); p != nil {
			g.log.Error("the embedder panicked", "panic", p, "stack", string(debug.Stack()))
			vectors, err = nil, robotmem.Errorf(robotmem.Unavailable, "", "the embedder panicked; see the node's log")
		}
	}()
	if vectors, err = g.Embedder.Embed(ctx, purpose, texts); err != nil {
		return nil, err
	}

	return UnitVectors(vectors, len(texts), dims)
}

// UnitVectors normalizes the vectors of an embedder to length 1. It fails for a vector
// that is zero or not finite.
func UnitVectors(given [][]float32, n, dims int) ([][]float32, error) {
	if len(given) != n {
		return nil, robotmem.Errorf(robotmem.Unavailable, "", "the embedder gave %d vectors for %d texts", len(given),
			n)
	}
	units := make([][]float32, n)

	for at, v := range given {
		dims = cmp.Or(dims, len(v))
		if len(v) != dims || len(v) == 0 || len(v) > maxDims {
			return nil, robotmem.Errorf(robotmem.Conflict, "",
				"the embedder gave a vector of %d numbers where %d are stored; run: robotmem reembed", len(v), dims)
		}
		if units[at] = vector.Unit(v); units[at] == nil {
			return nil, robotmem.Errorf(robotmem.Unavailable, "",
				"the embedder gave a vector that is zero or not finite")
		}
	}

	return units, nil
}

// Run embeds the memories that have no vector until ctx ends.
func (g *Worker) Run(ctx context.Context) {
	maintenance.Repeat(ctx, g.wake, Gather, func() time.Duration {
		g.Paused.Wait(ctx)
		more, err := g.embedSome(ctx)
		if err == nil && more {
			return 0
		}
		if err != nil && ctx.Err() == nil {
			g.log.Warn("embedding", "err", err)
		}
		pause := embedPause
		if until := g.Embedder.State().Until; !until.IsZero() {
			pause = max(pause, until.Sub(g.store.Now()))
		}

		// Limits the effect of a clock change.
		return min(pause, time.Minute)
	})
}

// embedSome embeds the next memories without a vector. If the file has no model yet, it
// stores the embedder's. more reports whether there may be more to embed.
func (g *Worker) embedSome(ctx context.Context) (more bool, err error) {
	state := g.Embedder.State()
	if state.Model == "" || state.Reason != "" {
		return false, nil
	}

	var m store.Model
	if err := g.store.Read(ctx, func(c *store.Conn) (err error) { m, err = c.PresentModel(); return err }); err != nil {
		return false, err
	}

	if m.ID == 0 {
		if m, err = g.BindModel(ctx, state.Model, store.ModelPresent); err != nil || m.ID == 0 {
			return false, err
		}
	}

	if m.Name != state.Model {
		// Recall and doctor report this and name the command to run.
		return false, nil
	}

	done, _, err := g.fill(ctx, &m, g.Paused)

	return !done, err
}

// BindModel stores a model with the dimension of its vectors. The returned id is 0 while
// the file holds no memory.
func (g *Worker) BindModel(ctx context.Context, name, state string) (m store.Model, err error) {
	empty := true
	err = g.store.Read(ctx, func(c *store.Conn) (err error) { empty, err = c.Empty(); return err })
	if err != nil || empty {
		return m, err
	}

	vectors, err := g.embed(ctx, robotmem.ForMemory, []string{"robot"}, 0)
	if err != nil {
		return m, err
	}

	err = g.store.Write(ctx, func(tx *store.Tx) (err error) {
		// Another process may have been first.
		if state == store.ModelPresent {
			if m, err = tx.PresentModel(); err != nil || m.ID != 0 {
				return err
			}
		}
		m, err = tx.CreateModel(name, len(vectors[0]), state)

		return err
	})

	return m, err
}

// fill embeds the next page of memories without a vector and advances m.Upto. done
// reports that there are no more; embedded is the number of memories embedded. Once p is on
// it leaves the rest of the page for the next call.
func (g *Worker) fill(ctx context.Context, m *store.Model, p *maintenance.Pause) (done bool, embedded int, err error) {
	// A page takes seconds on a small machine, and ctx may end before.
	select {
	case g.filling <- struct{}{}:
		defer func() { <-g.filling }()
	case <-ctx.Done():
		return false, 0, ctx.Err()
	}

	var items []store.Waiting
	upto := m.Upto
	err = g.store.Read(ctx, func(c *store.Conn) (err error) {
		if err := keeps(c, m); err != nil {
			return err
		}
		items, upto, done, err = c.NextWaiting(m, embedPage)
		return err
	})
	if err != nil || upto == m.Upto {
		return done, 0, err
	}

	for len(items) > 0 {
		if p.On() {
			return false, embedded, nil
		}
		part := items[:min(cmp.Or(g.batch, firstBatch), len(items))]
		vectors, err := g.embedBatch(ctx, part, m.Dims)
		if len(part) > 1 && (errors.Is(err, robotmem.TooLarge) || errors.Is(err, robotmem.Invalid)) {
			continue // with fewer texts
		}
		if err != nil {
			return false, embedded, err
		}
		items = items[len(part):]
		if err := g.store.Write(ctx,
			func(tx *store.Tx) error { return tx.StoreVectors(m.ID, part, vectors, 0) }); err != nil {
			return false, embedded, err
		}
		embedded += len(part)
	}

	err = g.store.Write(ctx, func(tx *store.Tx) error { return tx.StoreVectors(m.ID, nil, nil, upto) })
	m.Upto = upto

	return done, embedded, err
}

// embedBatch embeds texts in one call and sets the number of texts of the next: half as many
// after a failure, otherwise what takes batchTime at the speed of this call, at most four times
// as many. A single text that the model refuses gets a nil vector.
func (g *Worker) embedBatch(ctx context.Context, items []store.Waiting, dims int) ([][]float32, error) {
	texts := make([]string, len(items))
	for i := range items {
		texts[i] = items[i].Text
	}
	start := time.Now()
	vectors, err := g.embed(ctx, robotmem.ForMemory, texts, dims)
	if err != nil {
		g.batch = max(len(items)/2, 1)
	} else {
		fit := int64(len(items)) * int64(batchTime) / max(int64(time.Since(start)), 1)
		g.batch = int(max(min(fit, int64(4*len(items)), maxBatch), 1))
	}
	if len(items) == 1 && errors.Is(err, robotmem.Invalid) {
		g.log.Warn("the model refuses a text; it is found by words only", "memory_id", items[0].ID, "err", err)
		return [][]float32{nil}, nil
	}

	return vectors, err
}

// Reembed embeds every memory with the model of the embedder and then switches recall to that model. Recall
// uses the old vectors until all new ones are stored. The vectors of an interrupted call are kept for the next
// one. progress is called with the number of memories done and the total. It fails with Invalid without an
// embedder, with Conflict when the reembed of another process ends first, and with the errors of Embedder.Embed.
func (g *Worker) Reembed(ctx context.Context, progress func(done, total int64)) error {
	if g.Embedder == nil {
		return robotmem.Errorf(robotmem.Invalid, "embedder",
			"is required: the model to move to, such as ollama:nomic-embed-text")
	}
	// Embedding the first text shows whether the model answers, and gives its full name.
	if _, err := g.embed(ctx, robotmem.ForMemory, []string{"robot"}, 0); err != nil {
		return err
	}

	name := g.Embedder.State().Model
	m, err := g.BindModel(ctx, name, store.ModelFilling)
	if err != nil || m.ID == 0 {
		return err
	}

	var total int64
	err = g.store.Read(ctx, func(c *store.Conn) (err error) {
		if err := keeps(c, &m); err != nil {
			return err
		}
		total, err = c.Backlog(&m)
		return err
	})
	if err != nil {
		return err
	}

	progress(0, total)

	for sum, done := int64(0), false; !done; {
		var n int
		if done, n, err = g.fill(ctx, &m, nil); err != nil {
			return err
		}
		// The worker in the background may have embedded the others.
		if sum = min(sum+int64(n), total); done {
			sum = total
		}
		progress(sum, total)
	}

	return g.store.Write(ctx, func(tx *store.Tx) error {
		now, err := tx.Model(m.ID)
		switch {
		case err != nil || now.State == store.ModelPresent:
			return err
		case now.ID == 0:
			// To promote it would drop the model of the other reembed.
			return errReplaced
		}

		return tx.Promote(m.ID)
	})
}

// keeps fails with errReplaced when another process has dropped a model and its table.
func keeps(c *store.Conn, m *store.Model) error {
	now, err := c.Model(m.ID)
	if err == nil && now.ID == 0 {
		err = errReplaced
	}
	return err
}

var errReplaced = robotmem.Errorf(robotmem.Conflict, "embedder",
	"another reembed has ended meanwhile and dropped the vectors of this one; run it again if this is the model you want")

// Stats reports the embedder and the number of memories without a vector.
func (g *Worker) Stats(c *store.Conn, res *admin.StatsResponse) error {
	if g.Embedder == nil {
		return nil
	}
	state := g.Embedder.State()
	if state.Model == "" {
		return nil
	}
	res.Embedder = state.Model
	m, err := c.PresentModel()
	if res.Backlog = res.Total; err == nil && m.ID != 0 {
		res.Backlog, err = c.Backlog(&m)
	}

	return err
}
