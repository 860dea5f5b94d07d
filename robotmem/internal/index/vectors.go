package index

import (
	"bytes"
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
	Model  store.Model  // its Seq is that of the codes
	purges int64        // the purge counter that it has followed
	Codebook
	kept keptVectors

	sampling sync.Mutex // guards what follows
	sample   *vector.Sample
	sampled  int64 // the model of the sample
}

// Codebook holds the codes of a model's vectors around their mean.
type Codebook struct {
	Codes *vector.Index
	taken int // vectors that the mean was taken of
}

// held returns what is loaded.
func (g *vectors) held() (Codebook, store.Model) {
	g.Mu.RLock()
	defer g.Mu.RUnlock()
	return g.Codebook, g.Model
}

func (g *vectors) replace(b Codebook, m store.Model) {
	g.Mu.Lock()
	defer g.Mu.Unlock()
	g.Codebook, g.Model = b, m
	if m.ID == 0 {
		g.kept.forget()
	}
}

const (
	// pageRows is the number of rows that are read in one snapshot. A recall reads the changes
	// itself if an index is behind by at most this number.
	pageRows = 4096
	// centredLeast is the least number of vectors for a mean.
	centredLeast = 2
	// TuneQuestions is the number of members that serve as questions when recall is measured.
	TuneQuestions = 64
)

// refreshVectors loads the codes of the present model, lets them catch up, and
// centres them again when there are four times as many as the mean was taken of.
func (x *Index) refreshVectors(ctx context.Context) error {
	if !x.WithVectors {
		return nil
	}

	var m store.Model
	if err := x.Store.Read(ctx, func(c *store.Conn) (err error) { m, err = c.PresentModel(); return err }); err != nil ||
		m.ID == 0 {
		return err
	}

	if _, held := x.Vectors.held(); held.ID != m.ID {
		if err := x.RestoreVectors(ctx, m); err != nil {
			return err
		}
	}

	if err := x.FollowVectors(ctx, m.ID); err != nil {
		return err
	}

	// Codes is nil if a repair has dropped them or their model is gone.
	if b, _ := x.Vectors.held(); b.Codes == nil {
		return nil
	} else if b.Codes.Len() < max(centredLeast, 4*b.taken) {
		return b.Codes.Arrange(ctx)
	}

	return x.centre(ctx, m)
}

// FollowVectors lets the codes of a model catch up, for as long as the file has the
// model: the reembed of another process may drop it at any time.
func (x *Index) FollowVectors(ctx context.Context, id int64) error {
	return x.inPages(ctx, func(c *store.Conn) (bool, error) {
		m, err := c.Model(id)
		if err != nil || m.ID == 0 {
			return true, err
		}
		_, held, err := x.Vectors.follow(c, m)
		return held.Seq >= m.Seq || held.ID != m.ID, err
	})
}

// centre builds codes around the mean of the present vectors, and reads as many candidates as it
// takes to find nearly all of the nearest. Recall uses the old codes meanwhile.
func (x *Index) centre(ctx context.Context, m store.Model) error {
	var mean vector.MeanBuilder
	err := x.eachVector(ctx, &m, func(_ int64, v []float32) error { return mean.Add(v) })
	if err != nil {
		return err
	}

	b := Codebook{Codes: vector.New(m.Dims, mean.Mean())}
	if err := x.eachVector(ctx, &m, b.Codes.Put); err != nil {
		return err
	}

	b.taken = b.Codes.Len()
	if err := b.Codes.Arrange(ctx); err != nil {
		return err
	}

	err = x.Store.Read(ctx, func(c *store.Conn) error {
		tuned, err := b.Codes.Tune(TuneQuestions, x.Source(c, &m))
		x.Log.Debug("vectors centred and measured", "vectors", b.taken, "recall", tuned.Recall, "reads", tuned.Rescore,
			"parts", tuned.Parts)
		return err
	})
	if err == nil {
		// m.Seq is that of the last vector read. The next call of follow reads those that were stored meanwhile.
		x.Vectors.replace(b, m)
	}

	return err
}

// eachVector visits every vector of a model in pages and sets m.Seq to the last.
func (x *Index) eachVector(ctx context.Context, m *store.Model, visit func(id int64, v []float32) error) error {
	from := *m
	m.Seq = 0

	return x.inPages(ctx, func(c *store.Conn) (bool, error) {
		before := m.Seq
		err := c.VectorsSince(&from, m.Seq, pageRows, eachDecoded(&m.Seq, m.Dims, visit))
		return m.Seq == before, err
	})
}

const (
	// sampleSize is the number of vectors that show the usual cosines of a question.
	sampleSize = 256
	// SampleLeast is how many of them must pass the filters, or else all are compared.
	SampleLeast = 32
)

// Sample returns some vectors of a model, which are drawn again when their number has changed by a fifth.
func (g *vectors) Sample(codes *vector.Index, m store.Model, load vector.Source) (*vector.Sample, error) {
	g.sampling.Lock()
	defer g.sampling.Unlock()
	now := codes.Len()
	if g.sample == nil || g.sampled != m.ID || 5*max(now, g.sample.Of()) > 6*min(now, g.sample.Of()) {
		sample, err := codes.Draw(sampleSize, load)
		if err != nil {
			return nil, err
		}
		g.sample, g.sampled = sample, m.ID
	}

	return g.sample, nil
}

// At returns the codes as of the snapshot that c reads, or later, and the model of that snapshot,
// whose ID is 0 while the file has none.
func (g *vectors) At(c *store.Conn) (*vector.Index, store.Model, error) {
	m, err := c.PresentModel()
	if err != nil || m.ID == 0 {
		return nil, store.Model{}, err
	}
	b, held := g.held()
	if held.ID == m.ID && held.Seq >= m.Seq {
		return b.Codes, m, nil
	}
	if behind := m.Seq - held.Seq; held.ID != m.ID && m.Seq > pageRows || behind > pageRows {
		return nil, m, robotmem.Errorf(robotmem.Unavailable, "", "the vectors are still being read")
	}
	codes, _, err := g.follow(c, m)

	return codes, m, err
}

// follow reads a page of the vectors that a model has gained since.
func (g *vectors) follow(c *store.Conn, m store.Model) (*vector.Index, store.Model, error) {
	g.Mu.Lock()
	defer g.Mu.Unlock()
	if g.Model.ID != m.ID {
		g.Model, g.Codebook = m, Codebook{Codes: vector.New(m.Dims, nil)}
		g.Model.Seq = 0
	}

	// As in Columns.Sync, a deadline must not end this.
	interrupt := c.SetInterrupt(context.Background())
	defer c.SetInterrupt(interrupt)
	read, put := int64(0), eachDecoded(&g.Model.Seq, m.Dims, g.Codes.Put)
	err := c.VectorsSince(&m, g.Model.Seq, pageRows, func(id, seq int64, raw []byte) error {
		read++
		if raw == nil {
			g.Codes.Remove(id)
		}
		g.kept.renew(m.ID, id, raw)
		return put(id, seq, raw)
	})
	if err == nil {
		g.purges, err = c.Purges()
	}

	if err == nil && read < pageRows {
		// An update may have deleted the vectors with the last sequence numbers.
		g.Model.Seq = max(g.Model.Seq, m.Seq)
	}

	return g.Codes, g.Model, err
}

// eachDecoded visits the vectors among the rows and sets seq to the last. The
// vector is valid until visit returns.
func eachDecoded(seq *int64, dims int, visit func(id int64, v []float32) error) func(id, at int64, raw []byte) error {
	v := make([]float32, dims)

	return func(id, at int64, raw []byte) error {
		*seq = at
		if id < 1 || id > vector.MaxID || raw == nil {
			// A damaged vector is skipped. Doctor reports it, and a repair drops it.
			return nil
		}
		vector.DecodeInto(v, raw)

		return visit(id, v)
	}
}

// Source returns a source that reads a model's vectors through a connection. Vectors of a server are kept in memory.
func (x *Index) Source(c *store.Conn, m *store.Model) vector.Source {
	if x.Store.InFile() {
		return func(ids []int64, each func(int64, []byte) error) error { return x.Store.Vectors(c, m, ids, each) }
	}

	return func(ids []int64, each func(int64, []byte) error) error {
		missing, err := x.Vectors.kept.each(m.ID, ids, each)
		if err != nil || len(missing) == 0 {
			return err
		}

		return x.Store.Vectors(c, m, missing, func(id int64, raw []byte) error {
			x.Vectors.kept.put(m.ID, id, raw, x.Columns.Memory.Part(maxKept))
			return each(id, raw)
		})
	}
}

// maxKept bounds the stored vectors in memory, in bytes.
const maxKept = 256 << 20

// keptVectors caches stored vectors of one model, because reading them from a server takes a round trip.
type keptVectors struct {
	mu    sync.RWMutex // guards what follows
	model int64
	of    map[int64][]byte
	bytes int64
}

// each visits those that are kept and returns the other ids.
func (k *keptVectors) each(model int64, ids []int64, each func(int64, []byte) error) (missing []int64, err error) {
	k.mu.RLock()
	defer k.mu.RUnlock()

	for _, id := range ids {
		raw := k.of[id]
		if model != k.model || raw == nil {
			missing = append(missing, id)
		} else if err := each(id, raw); err != nil {
			return nil, err
		}
	}

	return missing, nil
}

// put keeps a vector that was read, unless there is a newer one or no room.
func (k *keptVectors) put(model, id int64, raw []byte, room int64) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if model != k.model || k.of == nil {
		k.model, k.of, k.bytes = model, map[int64][]byte{}, 0
	}
	if _, there := k.of[id]; !there && k.bytes+int64(len(raw)) <= room {
		k.of[id] = bytes.Clone(raw)
		k.bytes += int64(len(raw))
	}
}

// renew replaces a kept vector by one that was written; nil deletes it. It does nothing if no vectors are kept.
func (k *keptVectors) renew(model, id int64, raw []byte) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.of == nil || model != k.model {
		return
	}
	k.bytes += int64(len(raw)) - int64(len(k.of[id]))
	if k.of[id] = bytes.Clone(raw); raw == nil {
		delete(k.of, id)
	}
}

func (k *keptVectors) forget() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.of = nil
}
