package local

import (
	"context"
	"encoding/binary"
	"math"
	"sync"

	"github.com/robotmem/robotmem-go/robotmem/internal/vector"
)

// vectors is the vector index in memory: the codes of the present model's vectors.
// It follows the model's counter of vectors, whichever process wrote them.
type vectors struct {
	mu     sync.RWMutex // guards the fields below
	model  model        // seq is that of the codes
	purges int64        // that it has followed
	codebook
}

// fewBehind is how many vectors a recall reads to catch up; more are left to the
// background.
const fewBehind = 4096

// usual is the cosine of a question with an average memory.
func (g *vectors) usual(unit []float32) (sum float64) {
	g.mu.RLock()
	defer g.mu.RUnlock()
	for i, x := range g.mean {
		sum += float64(x) * float64(unit[i])
	}
	return sum
}

// nearest is what memories_vec lists: the active memories of all collections
// nearest to a vector.
func (x *indexes) nearest(c *conn, unit []float32, k int) ([]vector.Hit, error) {
	if err := x.roster.sync(c); err != nil {
		return nil, err
	}
	codes, m, err := x.vectors.at(c)
	if err != nil || codes == nil {
		return nil, err
	}
	set, _, err := x.admit(c, basic{audience: audience{collection: "*"}})
	if err != nil {
		return nil, err
	}
	return codes.Search(vector.Query{Vector: unit, Within: set, N: k}, x.source(c, &m))
}

// at returns the codes in step with the snapshot that c reads, and their model;
// its id is 0 while the file has none.
func (g *vectors) at(c *conn) (*vector.Index, model, error) {
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
func (g *vectors) follow(c *conn, m model, most int64) (*vector.Index, model, error) {
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
func (x *indexes) source(c *conn, m *model) vector.Source {
	return func(ids []int64, each func(int64, []byte) error) error { return c.vectors(m, ids, each) }
}
