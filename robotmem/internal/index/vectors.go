package index

import (
	"context"
	"sync"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
	"github.com/robotmem/robotmem-go/robotmem/internal/vector"
)

// vectors is the vector index in memory: the codes of the present model's vectors.
// It follows the model's counter of vectors, whichever process wrote them.
type vectors struct {
	Mu     sync.RWMutex // guards the fields below
	Model  store.Model  // seq is that of the codes
	purges int64        // that it has followed
	Codebook
}

// fewBehind is how many vectors a recall reads to catch up; more are left to the
// background.
const fewBehind = 4096

// Usual is the cosine of a question with an average memory.
func (g *vectors) Usual(unit []float32) (sum float64) {
	g.Mu.RLock()
	defer g.Mu.RUnlock()
	for i, x := range g.mean {
		sum += float64(x) * float64(unit[i])
	}
	return sum
}

// Nearest is what memories_vec lists: the active memories of all collections
// nearest to a vector.
func (x *Index) Nearest(c *store.Conn, unit []float32, k int) ([]vector.Hit, error) {
	if err := x.Columns.Sync(c); err != nil {
		return nil, err
	}
	codes, m, err := x.Vectors.At(c)
	if err != nil || codes == nil {
		return nil, err
	}
	set, err := x.Admit(c, Selection{Scope: Scope{Collection: "*"}})
	if err != nil {
		return nil, err
	}
	return codes.Search(vector.Query{Vector: unit, Within: set, N: k}, x.Source(c, &m))
}

// At returns the codes in step with the snapshot that c reads, and their model;
// its id is 0 while the file has none.
func (g *vectors) At(c *store.Conn) (*vector.Index, store.Model, error) {
	m, err := c.PresentModel()
	if err != nil || m.ID == 0 {
		return nil, store.Model{}, err
	}
	g.Mu.RLock()
	codes, held := g.Codes, g.Model
	g.Mu.RUnlock()
	if held.ID == m.ID && held.Seq >= m.Seq {
		return codes, held, nil
	}
	if behind := m.Seq - held.Seq; held.ID != m.ID && m.Seq > fewBehind || behind > fewBehind {
		return nil, m, robotmem.Errorf(robotmem.Unavailable, "", "the vectors are still being read")
	}
	return g.follow(c, m, fewBehind)
}

// follow reads up to so many vectors of a model that came since.
func (g *vectors) follow(c *store.Conn, m store.Model, most int64) (*vector.Index, store.Model, error) {
	g.Mu.Lock()
	defer g.Mu.Unlock()
	if g.Model.ID != m.ID {
		g.Model, g.Codebook = m, newCodebook(m.Dims, nil, 0)
		g.Model.Seq = 0
	}
	// A deadline must not end this: a node whose callers are all in a hurry
	// would never be in step.
	hurry := c.SetInterrupt(context.Background())
	defer c.SetInterrupt(hurry)
	read, put := int64(0), putInto(g.Codes, &g.Model.Seq, m.Dims)
	err := c.VectorsSince(&m, g.Model.Seq, most, func(id, seq int64, raw []byte) error {
		read++
		return put(id, seq, raw)
	})
	if err == nil {
		g.purges, err = c.Purges()
	}
	if err == nil && read < most {
		g.Model.Seq = max(g.Model.Seq, m.Seq) // an update may have dropped the last vectors
	}
	return g.Codes, g.Model, err
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
		if len(raw) != 4*dims || !store.DecodeUnit(v, raw) {
			return nil // doctor names it and a repair lets it be made anew
		}
		return visit(id, v)
	}
}

// Source reads a model's vectors through a connection.
func (x *Index) Source(c *store.Conn, m *store.Model) vector.Source {
	return func(ids []int64, each func(int64, []byte) error) error { return c.Vectors(m, ids, each) }
}
