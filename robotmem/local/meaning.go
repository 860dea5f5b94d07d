package local

import (
	"context"
	"encoding/binary"
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

// meaning is recall by vectors: the codes of the present model in memory, and
// the worker that fills what is missing. It follows the model's counter of
// vectors, whoever wrote them.
type meaning struct {
	embedder robotmem.Embedder // nil: none
	wake     chan struct{}     // something was learnt
	filling  sync.Mutex        // held by who embeds: a text is embedded once
	asking   sync.WaitGroup    // lookouts under way

	mu     sync.RWMutex // guards the fields below
	model  model        // seq is that of the codes
	purges int64        // that it has followed
	codebook
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
	// fewBehind is how many vectors a recall reads to catch up; more are left to
	// the keeper.
	fewBehind = 4096
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
	if e.meaning.embedder == nil || q.Query == "" || q.strict() {
		return nil
	}
	state := e.meaning.embedder.State()
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
	e.meaning.asking.Go(func() {
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
	return e.meaning.embedder.Embed(ctx, purpose, texts)
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
	codes, m, err := e.meaning.at(c)
	if err != nil {
		return nil, err
	}
	state := e.meaning.embedder.State()
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
	q.unit, q.model, q.usual = l.vector, m, e.meaning.usual(l.vector)
	hits, err := codes.Search(vector.Query{Vector: l.vector, Within: a.set, N: q.listDepth()}, e.source(c, &m))
	items := make([]ranked, len(hits))
	for i, h := range hits {
		items[i] = ranked{h.ID, h.Similarity}
	}
	return items, err
}

// usual is the cosine of a question with an average memory.
func (g *meaning) usual(unit []float32) (sum float64) {
	g.mu.RLock()
	defer g.mu.RUnlock()
	for i, x := range g.mean {
		sum += float64(x) * float64(unit[i])
	}
	return sum
}

// nearest is what memories_vec lists: the active memories of all collections
// nearest to a vector.
func (e *Engine) nearest(c *conn, unit []float32, k int) ([]vector.Hit, error) {
	if err := e.roster.sync(c); err != nil {
		return nil, err
	}
	codes, m, err := e.meaning.at(c)
	if err != nil || codes == nil {
		return nil, err
	}
	set, _, err := e.admit(c, basic{audience: audience{collection: "*"}})
	if err != nil {
		return nil, err
	}
	return codes.Search(vector.Query{Vector: unit, Within: set, N: k}, e.source(c, &m))
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

// at returns the codes in step with the snapshot that c reads, and their model;
// its id is 0 while the file has none.
func (g *meaning) at(c *conn) (*vector.Index, model, error) {
	m, err := c.presentModel()
	if err != nil || m.id == 0 {
		return nil, model{}, err
	}
	g.mu.RLock()
	codes, held := g.codes, g.model
	g.mu.RUnlock()
	if held.id == m.id && held.seq >= m.seq {
		return codes, held, nil
	}
	if behind := m.seq - held.seq; held.id != m.id && m.seq > fewBehind || behind > fewBehind {
		return nil, m, silentf("the vectors are still being read")
	}
	return g.follow(c, m, fewBehind)
}

// follow reads up to so many vectors of a model that came since.
func (g *meaning) follow(c *conn, m model, most int64) (*vector.Index, model, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.model.id != m.id {
		g.model, g.codebook = m, newCodebook(m.dims, nil, 0)
		g.model.seq = 0
	}
	// A deadline must not end this: a node whose callers are all in a hurry
	// would never be in step.
	hurry := c.SetInterrupt(context.Background())
	defer c.SetInterrupt(hurry)
	read, put := int64(0), putInto(g.codes, &g.model.seq, m.dims)
	err := c.vectorsSince(&m, g.model.seq, most, func(id, seq int64, raw []byte) error {
		read++
		return put(id, seq, raw)
	})
	if err == nil {
		g.purges, err = c.purges()
	}
	if err == nil && read < most {
		g.model.seq = max(g.model.seq, m.seq) // an update may have dropped the last vectors
	}
	return g.codes, g.model, err
}

// putInto adds each vector to codes and notes how far it came. A memory whose
// text the model refused has none.
func putInto(codes *vector.Index, seq *int64, dims int) func(id, at int64, raw []byte) error {
	put := eachDecoded(seq, dims, codes.Put)
	return func(id, at int64, raw []byte) error {
		if len(raw) == 0 {
			codes.Remove(id)
		}
		return put(id, at, raw)
	}
}

// eachDecoded visits the vectors among the rows and notes how far it came. The
// visitor's vector is only lent.
func eachDecoded(seq *int64, dims int, visit func(id int64, v []float32) error) func(id, at int64, raw []byte) error {
	v := make([]float32, dims)
	return func(id, at int64, raw []byte) error {
		*seq = at
		if len(raw) != 4*dims || !decodeUnit(v, raw) {
			return nil // doctor names it and a repair lets it be made anew
		}
		return visit(id, v)
	}
}

// unitSlack is how far the length of a stored vector may be from 1.
const unitSlack = 1e-3

// decodeUnit reads a stored vector into v and reports whether it is of length 1.
func decodeUnit(v []float32, raw []byte) bool {
	sum := 0.0
	for i := range v {
		v[i] = math.Float32frombits(binary.LittleEndian.Uint32(raw[4*i:]))
		sum += float64(v[i]) * float64(v[i])
	}
	return math.Abs(math.Sqrt(sum)-1) <= unitSlack // false for what is not finite
}

// finite reports whether all numbers of a stored vector are.
func finite(raw []byte) bool {
	const exponent = 0x7f800000
	for ; len(raw) >= 4; raw = raw[4:] {
		if binary.LittleEndian.Uint32(raw)&exponent == exponent {
			return false
		}
	}
	return true
}

// source reads a model's vectors through a connection.
func (e *Engine) source(c *conn, m *model) vector.Source {
	return func(ids []int64, each func(int64, []byte) error) error { return c.vectors(m, ids, each) }
}

// rouse tells the worker that there may be something to embed.
func (g *meaning) rouse() {
	select {
	case g.wake <- struct{}{}:
	default:
	}
}

// stats reports the embedder and how many memories wait for it.
func (g *meaning) stats(c *conn, res *robotmem.StatsResponse) error {
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
