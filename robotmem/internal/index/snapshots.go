package index

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"slices"

	"github.com/robotmem/robotmem-go/consolidate"
	"github.com/robotmem/robotmem-go/robotmem/internal/lexical"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
	"github.com/robotmem/robotmem-go/robotmem/internal/vector"
)

// The snapshots of the columns and of the vector codes: integers are little-endian,
// counts uvarints. That of the postings is the one of package lexical.
//
// Columns:
//
//	format   byte, columnsFormat
//	names    count, then each as length and bytes
//	beliefs  count, then each as two float64
//	records  count, then each as two float64
//	rows     count, then rowBytes for each memory id from 0
//
// Vector codes:
//
//	format  byte, codesFormat
//	model   its id in models, and the dimension
//	mean    how many vectors it was taken of, and dims float32
//	reads   how many candidates a question reads
//	chunks  count, then each as a length and what package vector made of it

const (
	columnsFormat = 3
	rowBytes      = 4*8 + 7*4 + 4
	codesFormat   = 1

	// SnapshotLeast is how many memories must have changed since the last snapshot
	// for the next to be worth storing; of a large memory, a part of all: what has
	// changed since is read one by one at the next opening.
	SnapshotLeast = 500
	snapshotShare = 8
)

var errBadSnapshot = errors.New("the snapshot cannot be read")

// SaveSnapshots stores the indexes that have changed enough since their last
// snapshot.
func (x *Index) SaveSnapshots(ctx context.Context) error {
	if x.Store.ReadOnly() != "" {
		return nil
	}
	var errs []error
	// Revisions are counted from first.
	save := func(name string, purges, first, revision, size int64, write func(io.Writer) error) {
		if revision == first || ctx.Err() != nil {
			return
		}
		var stored int64
		err := x.Store.Read(ctx, func(c *store.Conn) (err error) { stored, err = c.SnapshotRevision(name); return err })
		if err == nil && revision-max(first, stored) >= max(SnapshotLeast, size/snapshotShare) {
			err = x.Store.SaveSnapshot(ctx, name, revision, purges, write)
		}
		if err != nil && !errors.Is(err, store.ErrSuperseded) {
			errs = append(errs, err)
		}
	}
	x.Columns.Mu.RLock()
	revision, purges, size := x.Columns.Revision, x.Columns.purges, int64(x.Columns.Actives)
	x.Columns.Mu.RUnlock()
	save(store.ColumnsSnapshot, purges, 0, revision, size, func(w io.Writer) error { return x.Columns.Freeze().Write(w) })

	if index, revision, purges := x.Postings.held(); index != nil {
		save(store.PostingsSnapshot, purges, 0, revision, size, func(w io.Writer) error {
			_, err := index.Freeze().WriteTo(w)
			return err
		})
	}
	g := &x.Vectors
	g.Mu.RLock()
	book, m, purges := g.Codebook, g.Model, g.purges
	g.Mu.RUnlock()
	if book.Codes != nil {
		save(store.VectorsSnapshot, purges, CodesRevision(m.ID, 0), CodesRevision(m.ID, m.Seq), size, func(w io.Writer) error { return WriteCodes(w, book, m) })
	}
	return errors.Join(errs...)
}

// Freeze copies what a snapshot needs, so that it can be written while the
// columns change.
func (r *Columns) Freeze() *Columns {
	r.Mu.RLock()
	defer r.Mu.RUnlock()
	frozen := &Columns{Rows: slices.Clone(r.Rows)}
	frozen.names.Values, frozen.Beliefs.Values, frozen.Records.Values = slices.Clone(r.names.Values), slices.Clone(r.Beliefs.Values), slices.Clone(r.Records.Values)
	return frozen
}

// Write writes the snapshot of frozen columns.
func (r *Columns) Write(out io.Writer) error {
	w := &encoder{out: bufio.NewWriterSize(out, 1<<16), buf: []byte{columnsFormat}}
	w.count(len(r.names.Values))
	for _, name := range r.names.Values {
		w.count(len(name))
		w.buf = append(w.buf, name...)
		w.flush()
	}
	w.count(len(r.Beliefs.Values))
	for _, b := range r.Beliefs.Values {
		w.floats(b.confidence, b.decay)
	}
	w.count(len(r.Records.Values))
	for _, used := range r.Records.Values {
		w.floats(used.Uses, used.Successes)
	}
	w.count(len(r.Rows))
	for i := range r.Rows {
		row := &r.Rows[i]
		w.ints(row.Observed, row.Useful, row.Created, row.ValidFrom)
		w.uint32s(row.Belief, row.Collection, row.Session, row.Category, row.Perception, row.Tags, row.Used)
		w.buf = append(w.buf, byte(row.Status), row.Kind, byte(row.Outcome), 0)
		if row.Real {
			w.buf[len(w.buf)-1] = 1
		}
		w.flush()
	}
	return w.close()
}

// readColumns is the inverse of Write. A damaged count must take neither time nor
// memory.
func readColumns(in io.Reader) (*Columns, error) {
	d := &decoder{in: bufio.NewReaderSize(in, 1<<16)}
	r := &Columns{}
	if d.bytes(1)[0] != columnsFormat {
		return nil, errBadSnapshot
	}
	for n := d.count(); n > 0 && d.err == nil; n-- {
		r.names.id(string(d.bytes(d.count())))
	}
	for n := d.count(); n > 0 && d.err == nil; n-- {
		b := d.bytes(16)
		r.Beliefs.id(belief{float64At(b, 0), float64At(b, 8)})
	}
	for n := d.count(); n > 0 && d.err == nil; n-- {
		b := d.bytes(16)
		r.Records.id(consolidate.Record{Uses: float64At(b, 0), Successes: float64At(b, 8)})
	}
	names, beliefs, records := uint32(len(r.names.Values)), uint32(len(r.Beliefs.Values)), uint32(len(r.Records.Values))
	n := d.count()
	r.Rows = make([]Row, 0, min(n, 1<<20))
	for range n {
		row := rowAt(d.bytes(rowBytes))
		if d.err != nil || max(row.Collection, row.Session, row.Category, row.Perception, row.Tags) >= names || (row.Belief >= beliefs || row.Used >= records) && row.Kind != 0 ||
			int(row.Status) >= len(statuses) || int(row.Outcome) >= len(outcomes) || int(row.Kind) >= len(kinds) {
			return nil, errBadSnapshot
		}
		if row.Kind != 0 && row.Status == statusActive {
			r.Actives++
		}
		r.Rows = append(r.Rows, row)
	}
	return r, d.err
}

func rowAt(b []byte) Row {
	return Row{
		Observed: int64At(b, 0), Useful: int64At(b, 8), Created: int64At(b, 16), ValidFrom: int64At(b, 24),
		Belief: uint32At(b, 32), Collection: uint32At(b, 36), Session: uint32At(b, 40), Category: uint32At(b, 44), Perception: uint32At(b, 48), Tags: uint32At(b, 52), Used: uint32At(b, 56),
		Status: status(b[60]), Kind: b[61], Outcome: Outcome(b[62]), Real: b[63] == 1,
	}
}

// CodesRevision is the revision of a snapshot of vector codes. Those of a later
// model are newer, whatever the counters of their vectors say: one process may
// still store the codes of a model that another has dropped.
func CodesRevision(model, seq int64) int64 { return model<<codesSeqBits + seq }

const codesSeqBits = 40

// WriteCodes writes the snapshot of a model's vector codes.
func WriteCodes(out io.Writer, b Codebook, m store.Model) error {
	w := &encoder{out: bufio.NewWriterSize(out, 1<<16), buf: []byte{codesFormat}}
	for _, n := range []int{int(m.ID), m.Dims, b.taken} {
		w.count(n)
	}
	for _, x := range b.mean {
		w.uint32s(math.Float32bits(x))
	}
	w.count(b.Codes.Rescore())
	w.count(b.Codes.Chunks())
	for i := range b.Codes.Chunks() {
		data := b.Codes.MarshalChunk(i)
		w.count(len(data))
		w.buf = append(w.buf, data...)
		w.flush()
	}
	return w.close()
}

// readCodes is the inverse of WriteCodes, for the codes of one model.
func readCodes(in io.Reader, m store.Model) (b Codebook, err error) {
	d := &decoder{in: bufio.NewReaderSize(in, 1<<16)}
	if d.bytes(1)[0] != codesFormat || int64(d.count()) != m.ID || d.count() != m.Dims {
		return b, errBadSnapshot
	}
	b.taken, b.mean = d.count(), make([]float32, m.Dims)
	raw := d.bytes(4 * m.Dims)
	for i := range b.mean {
		b.mean[i] = math.Float32frombits(uint32At(raw, 4*i))
	}
	reads, chunks := d.count(), d.count()
	b.Codes = vector.New(m.Dims, b.mean)
	b.Codes.SetRescore(reads)
	for i := 0; i < chunks && d.err == nil; i++ {
		if data := d.bytes(d.count()); d.err == nil && len(data) > 0 {
			d.err = b.Codes.UnmarshalChunk(i, data)
		}
	}
	return b, d.err
}

// restorePostings starts from the stored snapshot, or from an empty index.
func (x *Index) restorePostings(ctx context.Context) *Postings {
	stored := &Postings{}
	err := x.Store.Read(ctx, func(c *store.Conn) (err error) {
		if stored.purges, err = c.Purges(); err != nil {
			return err
		}
		stored.revision, err = c.LoadSnapshot(store.PostingsSnapshot, func(in io.Reader) (err error) {
			stored.Index, err = lexical.Read(in, lexical.Bm25Params)
			return err
		})
		return err
	})
	if err == nil {
		return stored
	}
	x.warnSnapshot(ctx, "postings", err)
	return &Postings{Index: lexical.New(lexical.Bm25Params), purges: stored.purges}
}

// RestoreVectors starts from the stored snapshot of a model's codes, or without
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
			err = errBadSnapshot
		}
		return err
	})
	if err != nil {
		x.warnSnapshot(ctx, "vectors", err)
		b, m.Seq = newCodebook(m.Dims, nil), 0
	}
	x.Vectors.replace(b, m)
	return ctx.Err()
}

func (x *Index) warnSnapshot(ctx context.Context, index string, err error) {
	if !errors.Is(err, store.ErrNoSnapshot) && ctx.Err() == nil {
		x.Log.Warn("a snapshot cannot be read; its index is rebuilt from the tables", "index", index, "err", err)
	}
}

// encoder appends values to buf, which flush writes.
type encoder struct {
	out *bufio.Writer // keeps its first error for close
	buf []byte
}

func (w *encoder) count(n int) { w.buf = binary.AppendUvarint(w.buf, uint64(n)) }

func (w *encoder) ints(values ...int64) {
	for _, n := range values {
		w.buf = binary.LittleEndian.AppendUint64(w.buf, uint64(n))
	}
}

func (w *encoder) floats(values ...float64) {
	for _, f := range values {
		w.buf = binary.LittleEndian.AppendUint64(w.buf, math.Float64bits(f))
	}
}

func (w *encoder) uint32s(values ...uint32) {
	for _, n := range values {
		w.buf = binary.LittleEndian.AppendUint32(w.buf, n)
	}
}

func (w *encoder) flush() {
	_, _ = w.out.Write(w.buf)
	w.buf = w.buf[:0]
}

func (w *encoder) close() error {
	w.flush()
	return w.out.Flush()
}

// decoder reads until the first error, and zeros from there on.
type decoder struct {
	in  *bufio.Reader
	buf []byte
	err error
}

func (d *decoder) count() int {
	n, err := binary.ReadUvarint(d.in)
	if d.err == nil && err != nil || n > math.MaxInt32 {
		d.err = errors.Join(errBadSnapshot, err)
	}
	if d.err != nil {
		return 0
	}
	return int(n)
}

// bytes returns the next n, valid until the next call.
func (d *decoder) bytes(n int) []byte {
	if n > 1<<24 {
		d.err, n = errBadSnapshot, 0
	}
	if cap(d.buf) < n {
		d.buf = make([]byte, n)
	}
	d.buf = d.buf[:n]
	if d.err == nil {
		_, d.err = io.ReadFull(d.in, d.buf)
	}
	if d.err != nil {
		clear(d.buf)
	}
	return d.buf
}

func int64At(b []byte, at int) int64 { return int64(binary.LittleEndian.Uint64(b[at:])) }

func float64At(b []byte, at int) float64 {
	return math.Float64frombits(binary.LittleEndian.Uint64(b[at:]))
}

func uint32At(b []byte, at int) uint32 { return binary.LittleEndian.Uint32(b[at:]) }
