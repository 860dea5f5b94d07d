package local

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"math"

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

// codesRevision is the revision of a snapshot of codes: those of a later model
// are newer, whatever the counters of their vectors say. Of two processes one may
// still store the codes of a model that the other has dropped.
func codesRevision(model, seq int64) int64 { return model<<codesSeqBits + seq }

const codesSeqBits = 40

func writeCodes(out io.Writer, b codebook, m model) error {
	w := bufio.NewWriterSize(out, 1<<16)
	buf := []byte{codesFormat}
	for _, n := range []uint64{uint64(m.id), uint64(m.dims), uint64(b.taken)} {
		buf = binary.AppendUvarint(buf, n)
	}
	for _, x := range b.mean {
		buf = binary.LittleEndian.AppendUint32(buf, math.Float32bits(x))
	}
	chunks := b.codes.Chunks()
	buf = binary.AppendUvarint(binary.AppendUvarint(buf, uint64(b.codes.Rescore())), uint64(chunks))
	for i := range chunks {
		data := b.codes.MarshalChunk(i)
		buf = append(binary.AppendUvarint(buf, uint64(len(data))), data...)
		_, _ = w.Write(buf) // bufio keeps the error for Flush
		buf = buf[:0]
	}
	_, _ = w.Write(buf)
	return w.Flush()
}

var errBadCodes = errors.New("the snapshot of the codes cannot be read")

// readCodes is the inverse of writeCodes, for the codes of one model.
func readCodes(in io.Reader, m model) (b codebook, err error) {
	d := &decoder{r: bufio.NewReaderSize(in, 1<<16)}
	if d.bytes(1)[0] != codesFormat || int64(d.count()) != m.id || d.count() != m.dims {
		return b, errBadCodes
	}
	taken := d.count()
	b = newCodebook(m.dims, make([]float32, m.dims), taken)
	raw := d.bytes(4 * m.dims)
	for i := range b.mean {
		b.mean[i] = math.Float32frombits(uint32At(raw, 4*i))
	}
	reads, chunks := d.count(), d.count()
	if d.err != nil {
		return b, d.err
	}
	b.codes = vector.New(m.dims, b.mean)
	b.codes.SetRescore(reads)
	for i := range chunks {
		data := d.bytes(d.count())
		if d.err != nil {
			return b, d.err
		}
		if len(data) == 0 {
			continue
		}
		if err := b.codes.UnmarshalChunk(i, data); err != nil {
			return b, err
		}
	}
	return b, nil
}

// restoreCodes begins with the stored snapshot of a model's codes, or without
// any.
func (x *indexes) restoreCodes(ctx context.Context, m model) error {
	var b codebook
	err := x.store.read(ctx, func(c *conn) (err error) {
		revision, err := c.loadSnapshot(codesSnapshot, func(in io.Reader) (err error) {
			b, err = readCodes(in, m)
			return err
		})
		m.seq = revision - codesRevision(m.id, 0)
		if err == nil && (m.seq < 0 || m.seq >= 1<<codesSeqBits) {
			err = errBadCodes
		}
		return err
	})
	if err != nil {
		if !errors.Is(err, errNoSnapshot) && ctx.Err() == nil {
			x.log.Warn("the snapshot of the vectors cannot be read; their codes are made anew", "err", err)
		}
		b, m.seq = newCodebook(m.dims, nil, 0), 0
	}
	x.vectors.replace(b, m)
	return ctx.Err()
}

// codebook is the codes of a model's vectors around their mean.
type codebook struct {
	codes *vector.Index
	mean  []float32
	taken int // vectors that the mean was taken of
}

func newCodebook(dims int, mean []float32, taken int) codebook {
	if mean == nil {
		mean = make([]float32, dims)
	}
	return codebook{vector.New(dims, mean), mean, taken}
}

func (g *vectors) replace(b codebook, m model) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.codebook, g.model = b, m
}

// centre makes the codes anew around the mean of the vectors there are now, and
// reads as many candidates as it takes to find nearly all of the nearest.
// Recall goes on with the old codes meanwhile.
func (x *indexes) centre(ctx context.Context, m model) error {
	var mean vector.MeanBuilder
	err := x.eachVector(ctx, &m, func(_ int64, v []float32) error { return mean.Add(v) })
	if err != nil {
		return err
	}
	b := newCodebook(m.dims, mean.Mean(), 0)
	if err := x.eachVector(ctx, &m, b.codes.Put); err != nil {
		return err
	}
	b.taken = b.codes.Len()
	err = x.store.read(ctx, func(c *conn) error {
		tuned, err := b.codes.Tune(vector.Measurement{Questions: tuneQuestions}, x.source(c, &m))
		x.log.Debug("vectors centred and measured", "vectors", b.taken, "recall", tuned.Recall, "reads", tuned.Rescore)
		return err
	})
	if err != nil {
		return err
	}
	x.vectors.replace(b, m)
	return nil
}

// tuneQuestions is how many members ask when recall is measured: each costs a
// comparison with every vector.
const tuneQuestions = 32

// eachVector visits every vector of a model in pages, each in a snapshot of its
// own, and moves m.seq on.
func (x *indexes) eachVector(ctx context.Context, m *model, visit func(id int64, v []float32) error) error {
	from := *m
	m.seq = 0
	for {
		before := m.seq
		err := x.store.read(ctx, func(c *conn) error {
			return c.vectorsSince(&from, m.seq, fewBehind, eachDecoded(&m.seq, m.dims, visit))
		})
		if err != nil {
			return err
		}
		if m.seq == before {
			return nil
		}
	}
}
