package local

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/vector"
)

// embeddings is the node's embedder and the worker that fills in missing vectors.
type embeddings struct {
	embedder robotmem.Embedder // nil: none
	wake     chan struct{}     // something was learnt
	filling  sync.Mutex        // held while texts are embedded: each is embedded once
	asking   sync.WaitGroup    // query embeddings under way
}

const (
	// questionLimit bounds how long a recall waits for its question's vector.
	questionLimit = 2 * time.Second
	// embedBatch is how many texts the worker asks for at a time.
	embedBatch = 64
	// embedPage is how many changed rows the worker looks at in one go.
	embedPage = 512
	// embedPause is how long the worker rests when there is nothing to do;
	// another process may have learnt something.
	embedPause  = 2 * time.Second
	embedGather = 100 * time.Millisecond
)

// lookout is a question's vector on its way.
type lookout struct {
	done   chan struct{}
	cancel context.CancelFunc // nobody waits for it any more
	vector []float32
	err    error
}

// lookOut asks for the vector of a question. It returns nil when there is nothing to ask, with the reason if there is one.
func (e *Engine) lookOut(ctx context.Context, q *question) *lookout {
	if e.embeddings.embedder == nil || q.Query == "" || q.strict() {
		return nil
	}
	state := e.embeddings.embedder.State()
	if state.Reason != "" {
		q.degraded = append(q.degraded, "vector: "+state.Reason)
	}
	if state.Model == "" || state.Reason != "" {
		return nil
	}
	// Close waits for what is begun here: the embedder's owner may close it then.
	release, open := e.store.Hold()
	if !open {
		return nil
	}
	defer release()
	ctx, cancel := context.WithTimeout(ctx, questionLimit)
	l := &lookout{done: make(chan struct{}), cancel: cancel}
	e.embeddings.asking.Go(func() {
		defer close(l.done)
		defer cancel()
		vectors, err := e.embed(ctx, robotmem.ForQuestion, []string{q.Query})
		if err == nil {
			err = e.checkVectors(vectors, 1, 0)
		}
		if l.err = err; err == nil {
			l.vector = vectors[0]
		}
	})
	return l
}

// wait waits for the vector, so long as the deadline leaves time for the search.
// No connection is held meanwhile.
func (l *lookout) wait(ctx context.Context) {
	patience := questionLimit
	if deadline, ok := ctx.Deadline(); ok {
		patience = min(patience, time.Until(deadline)*3/4)
	}
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-l.done:
	case <-timer.C:
	case <-ctx.Done():
	}
}

// embed asks the embedder. One that panics has failed, and the node goes on.
func (e *Engine) embed(ctx context.Context, purpose robotmem.Purpose, texts []string) (vectors [][]float32, err error) {
	defer func() {
		if p := recover(); p != nil {
			e.log.Error("the embedder panicked", "panic", p, "stack", string(debug.Stack()))
			vectors, err = nil, robotmem.Errorf(robotmem.Unavailable, "", "the embedder broke down; see the node's log")
		}
	}()
	return e.embeddings.embedder.Embed(ctx, purpose, texts)
}

// checkVectors puts vectors of length 1 in the place of what the embedder gave,
// whose own are left as they are, and refuses what has no direction. dims 0 takes
// any.
func (e *Engine) checkVectors(vectors [][]float32, n, dims int) error {
	if len(vectors) != n {
		return robotmem.Errorf(robotmem.Unavailable, "", "the embedder gave %d vectors for %d texts", len(vectors), n)
	}
	for at, v := range vectors {
		if dims == 0 {
			dims = len(v)
		}
		if len(v) != dims || len(v) == 0 || len(v) > maxDims {
			return robotmem.Errorf(robotmem.Conflict, "", "the embedder gave a vector of %d numbers where %d are stored; run: robotmem reembed", len(v), dims)
		}
		sum := 0.0
		for _, x := range v {
			sum += float64(x) * float64(x)
		}
		if sum == 0 || math.IsNaN(sum) || math.IsInf(sum, 0) {
			return robotmem.Errorf(robotmem.Unavailable, "", "the embedder gave a vector that is zero or not finite")
		}
		scale := 1 / math.Sqrt(sum)
		unit := make([]float32, len(v))
		for i, x := range v {
			unit[i] = float32(float64(x) * scale)
		}
		vectors[at] = unit
	}
	return nil
}

const maxDims = 4096

// vectorSignal ranks by the cosine between the question's vector and those of
// the admitted memories.
func (e *Engine) vectorSignal(c *conn, q *question, a *admitted) ([]ranked, error) {
	l := q.lookout
	codes, m, err := e.index.vectors.at(c)
	if err != nil {
		return nil, err
	}
	state := e.embeddings.embedder.State()
	switch {
	case m.id != 0 && m.name != state.Model:
		return nil, silentf("%s", mismatch(m.name, state.Model))
	case codes == nil || codes.Len() == 0:
		return nil, silentf("no memory has a vector yet; they come in the background")
	}
	select {
	case <-l.done:
	default:
		return nil, silentf("the embedder did not answer before the deadline")
	}
	if l.err != nil {
		return nil, silentf("%s", detailOf(l.err))
	}
	if len(l.vector) != m.dims {
		return nil, silentf("the embedder gives vectors of %d numbers, the stored ones have %d; run: robotmem reembed", len(l.vector), m.dims)
	}
	q.unit, q.model, q.usual = l.vector, m, e.index.vectors.usual(l.vector)
	hits, err := codes.Search(vector.Query{Vector: l.vector, Within: a.set, N: q.listDepth()}, e.index.source(c, &m))
	items := make([]ranked, len(hits))
	for i, h := range hits {
		items[i] = ranked{h.ID, h.Similarity}
	}
	return items, err
}

// silent is why a signal did not answer, in words for the caller.
type silent string

func (s silent) Error() string { return string(s) }

func silentf(format string, args ...any) error { return silent(fmt.Sprintf(format, args...)) }

func mismatch(stored, asked string) string {
	return fmt.Sprintf("the stored vectors are of %s and this node asks %s; run: robotmem reembed", stored, asked)
}

func detailOf(err error) string {
	if e := (*robotmem.Error)(nil); errors.As(err, &e) {
		return e.Detail()
	}
	return strings.TrimSpace(err.Error())
}

// rouse tells the worker that there may be something to embed.
func (g *embeddings) rouse() {
	select {
	case g.wake <- struct{}{}:
	default:
	}
}

// stats reports the embedder and how many memories wait for it.
func (g *embeddings) stats(c *conn, res *robotmem.StatsResponse) error {
	if g.embedder == nil {
		return nil
	}
	state := g.embedder.State()
	if state.Model == "" {
		return nil
	}
	res.Embedder = state.Model
	m, err := c.presentModel()
	if err != nil {
		return err
	}
	if m.id == 0 {
		res.Backlog = res.Total
		return nil
	}
	res.Backlog, err = c.backlog(&m)
	return err
}
