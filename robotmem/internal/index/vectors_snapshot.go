package index

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"math"

	"github.com/robotmem/robotmem-go/robotmem/internal/store"
	"github.com/robotmem/robotmem-go/robotmem/internal/vector"
)

// The snapshot of the codes, counts as uvarints:
//
//	format  byte, codesFormat
//	model   its id in models, and the dimension
//	mean    how many vectors it was taken of, and dims float32
//	reads   how many candidates a question reads
//	chunks  count, then each as a length and what package vector made of it

const codesFormat = 1

// CodesRevision is the revision of a snapshot of codes: those of a later model
// are newer, whatever the counters of their vectors say. Of two processes one may
// still store the codes of a model that the other has dropped.
func CodesRevision(model, seq int64) int64 { return model<<codesSeqBits + seq }

const codesSeqBits = 40

func WriteCodes(out io.Writer, b Codebook, m store.Model) error {
	w := bufio.NewWriterSize(out, 1<<16)
	buf := []byte{codesFormat}
	for _, n := range []uint64{uint64(m.ID), uint64(m.Dims), uint64(b.taken)} {
		buf = binary.AppendUvarint(buf, n)
	}
	for _, x := range b.mean {
		buf = binary.LittleEndian.AppendUint32(buf, math.Float32bits(x))
	}
	chunks := b.Codes.Chunks()
	buf = binary.AppendUvarint(binary.AppendUvarint(buf, uint64(b.Codes.Rescore())), uint64(chunks))
	for i := range chunks {
		data := b.Codes.MarshalChunk(i)
		buf = append(binary.AppendUvarint(buf, uint64(len(data))), data...)
		_, _ = w.Write(buf) // bufio keeps the error for Flush
		buf = buf[:0]
	}
	_, _ = w.Write(buf)
	return w.Flush()
}

var errBadCodes = errors.New("the snapshot of the codes cannot be read")

// readCodes is the inverse of WriteCodes, for the codes of one model.
func readCodes(in io.Reader, m store.Model) (b Codebook, err error) {
	d := &decoder{r: bufio.NewReaderSize(in, 1<<16)}
	if d.bytes(1)[0] != codesFormat || int64(d.count()) != m.ID || d.count() != m.Dims {
		return b, errBadCodes
	}
	taken := d.count()
	b = newCodebook(m.Dims, make([]float32, m.Dims), taken)
	raw := d.bytes(4 * m.Dims)
	for i := range b.mean {
		b.mean[i] = math.Float32frombits(uint32At(raw, 4*i))
	}
	reads, chunks := d.count(), d.count()
	if d.err != nil {
		return b, d.err
	}
	b.Codes = vector.New(m.Dims, b.mean)
	b.Codes.SetRescore(reads)
	for i := range chunks {
		data := d.bytes(d.count())
		if d.err != nil {
			return b, d.err
		}
		if len(data) == 0 {
			continue
		}
		if err := b.Codes.UnmarshalChunk(i, data); err != nil {
			return b, err
		}
	}
	return b, nil
}

// RestoreVectors begins with the stored snapshot of a model's codes, or without
// any.
func (x *Index) RestoreVectors(ctx context.Context, m store.Model) error {
	var b Codebook
	err := x.Store.Read(ctx, func(c *store.Conn) (err error) {
		revision, err := c.LoadSnapshot(store.VectorsSnapshot, func(in io.Reader) (err error) {
			b, err = readCodes(in, m)
			return err
		})
		m.Seq = revision - CodesRevision(m.ID, 0)
		if err == nil && (m.Seq < 0 || m.Seq >= 1<<codesSeqBits) {
			err = errBadCodes
		}
		return err
	})
	if err != nil {
		if !errors.Is(err, store.ErrNoSnapshot) && ctx.Err() == nil {
			x.Log.Warn("the snapshot of the vectors cannot be read; their codes are made anew", "err", err)
		}
		b, m.Seq = newCodebook(m.Dims, nil, 0), 0
	}
	x.Vectors.replace(b, m)
	return ctx.Err()
}

// Codebook is the codes of a model's vectors around their mean.
type Codebook struct {
	Codes *vector.Index
	mean  []float32
	taken int // vectors that the mean was taken of
}

func newCodebook(dims int, mean []float32, taken int) Codebook {
	if mean == nil {
		mean = make([]float32, dims)
	}
	return Codebook{vector.New(dims, mean), mean, taken}
}

func (g *vectors) replace(b Codebook, m store.Model) {
	g.Mu.Lock()
	defer g.Mu.Unlock()
	g.Codebook, g.Model = b, m
}

// centre makes the codes anew around the mean of the vectors there are now, and
// reads as many candidates as it takes to find nearly all of the nearest.
// Recall goes on with the old codes meanwhile.
func (x *Index) centre(ctx context.Context, m store.Model) error {
	var mean vector.MeanBuilder
	err := x.eachVector(ctx, &m, func(_ int64, v []float32) error { return mean.Add(v) })
	if err != nil {
		return err
	}
	b := newCodebook(m.Dims, mean.Mean(), 0)
	if err := x.eachVector(ctx, &m, b.Codes.Put); err != nil {
		return err
	}
	b.taken = b.Codes.Len()
	err = x.Store.Read(ctx, func(c *store.Conn) error {
		tuned, err := b.Codes.Tune(vector.Measurement{Questions: TuneQuestions}, x.Source(c, &m))
		x.Log.Debug("vectors centred and measured", "vectors", b.taken, "recall", tuned.Recall, "reads", tuned.Rescore)
		return err
	})
	if err != nil {
		return err
	}
	x.Vectors.replace(b, m)
	return nil
}

// TuneQuestions is how many members ask when recall is measured: each costs a
// comparison with every vector.
const TuneQuestions = 32

// eachVector visits every vector of a model in pages, each in a snapshot of its
// own, and moves m.seq on.
func (x *Index) eachVector(ctx context.Context, m *store.Model, visit func(id int64, v []float32) error) error {
	from := *m
	m.Seq = 0
	for {
		before := m.Seq
		err := x.Store.Read(ctx, func(c *store.Conn) error {
			return c.VectorsSince(&from, m.Seq, fewBehind, eachDecoded(&m.Seq, m.Dims, visit))
		})
		if err != nil {
			return err
		}
		if m.Seq == before {
			return nil
		}
	}
}
