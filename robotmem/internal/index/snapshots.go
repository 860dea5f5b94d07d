package index

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"maps"
	"math"
	"slices"

	"github.com/robotmem/robotmem-go/consolidate"
	"github.com/robotmem/robotmem-go/robotmem/internal/lexical"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
	"github.com/robotmem/robotmem-go/robotmem/internal/stream"
	"github.com/robotmem/robotmem-go/robotmem/internal/vector"
)

// The snapshots of the columns and of the vector codes, in the form of package stream;
// numbers are little-endian. That of the postings is the one of package lexical.
//
// Columns:
//
//	names    count, then a section each
//	beliefs  section, two float64 each
//	records  section, two float64 each
//	classes  section of classBytes each, that of no memory first
//	rows     count of all memory ids from 0, then sections of rowsPerSection rows
//	later    count, then sections of rowsPerSection of a memory id and its moments
//
// Vector codes: the model's id in models, how many vectors the mean was taken of, and what
// package vector makes of them.

const (
	columnsFormat  = "robotmem columns 6\n"
	codesFormat    = "robotmem codes 5\n"
	rowBytes       = 2*8 + 4*4
	classBytes     = 4*4 + 5
	laterBytes     = 3 * 8
	rowsPerSection = 4096

	// SnapshotLeast is the least number of memories that must have changed since the last
	// snapshot before the next is stored. If there are many memories, it is the share
	// 1/snapshotShare of them. Changes since the snapshot are read one by one at the next opening.
	SnapshotLeast = 500
	snapshotShare = 8
)

var errBadSnapshot = errors.New("the snapshot cannot be read")

// SaveSnapshots stores the indexes that have changed enough since their last snapshot.
func (x *Index) SaveSnapshots(ctx context.Context) error {
	if x.Store.ReadOnly() != "" {
		return nil
	}

	var errs []error

	// first is the revision of an empty index.
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
	save(store.ColumnsSnapshot, purges, 0, revision, size,
		func(w io.Writer) error { return x.Columns.Freeze().Write(w) })

	if index, revision, purges := x.Postings.held(); index != nil {
		save(store.PostingsSnapshot, purges, 0, revision, size,
			func(w io.Writer) error { return index.Freeze().Write(w) })
	}

	g := &x.Vectors
	g.Mu.RLock()
	book, m, purges := g.Codebook, g.Model, g.purges
	g.Mu.RUnlock()
	if book.Codes != nil {
		// Arranged codes are always stored, because arranging them again takes longer.
		if book.Codes.Unsaved() {
			size = 0
		}
		save(store.VectorsSnapshot, purges, CodesRevision(m.ID, 0), CodesRevision(m.ID, m.Seq), size,
			func(w io.Writer) error { return WriteCodes(w, book, m) })
	}

	return errors.Join(errs...)
}

// Freeze copies the parts of the columns that a snapshot holds, so that it can be written while the columns change.
func (r *Columns) Freeze() *Columns {
	r.Mu.RLock()
	defer r.Mu.RUnlock()
	frozen := &Columns{Rows: slices.Clone(r.Rows), later: maps.Clone(r.later)}
	frozen.names.Values, frozen.classes.Values = slices.Clone(r.names.Values), slices.Clone(r.classes.Values)
	frozen.Beliefs.Values, frozen.Records.Values = slices.Clone(r.Beliefs.Values), slices.Clone(r.Records.Values)
	return frozen
}

// Write writes the snapshot of frozen columns.
func (r *Columns) Write(out io.Writer) error {
	w, le := stream.NewWriter(out, columnsFormat), binary.LittleEndian

	// The reader checks each number of a row against the values, so the values precede the rows.
	w.Count(len(r.names.Values))

	for _, name := range r.names.Values {
		w.Section([]byte(name))
	}

	var beliefs, records []byte
	for _, b := range r.Beliefs.Values {
		beliefs, _ = binary.Append(beliefs, le, []float64{b.confidence, b.decay})
	}

	for _, used := range r.Records.Values {
		records, _ = binary.Append(records, le, []float64{used.Uses, used.Successes})
	}

	w.Section(beliefs)
	w.Section(records)
	classes, _ := binary.Append(nil, le, r.classes.Values)
	w.Section(classes)
	w.Count(len(r.Rows))

	buf := make([]byte, 0, rowsPerSection*rowBytes)
	for rows := range slices.Chunk(r.Rows, rowsPerSection) {
		buf, _ = binary.Append(buf[:0], le, rows)
		w.Section(buf)
	}

	w.Count(len(r.later))

	for ids := range slices.Chunk(slices.Sorted(maps.Keys(r.later)), rowsPerSection) {
		buf = buf[:0]

		for _, id := range ids {
			at := r.later[id]
			buf, _ = binary.Append(buf, le, []int64{id, at.Useful, at.ValidFrom})
		}
		w.Section(buf)
	}

	return w.Close()
}

// readColumns is the inverse of Write. A damaged count must take neither time nor memory.
func readColumns(in io.Reader) (*Columns, error) {
	d, r := stream.NewReader(in, columnsFormat), &Columns{}
	for n := d.Count(); n > 0 && d.Err == nil; n-- {
		r.names.id(string(d.Section()))
	}

	for b := d.Section(); len(b) >= 16; b = b[16:] {
		r.Beliefs.id(decayingConfidence{float64At(b, 0), float64At(b, 8)})
	}

	for b := d.Section(); len(b) >= 16; b = b[16:] {
		r.Records.id(consolidate.Record{Uses: float64At(b, 0), Successes: float64At(b, 8)})
	}

	// Every number must refer to a value that was read, because a lookup of another would panic.
	names := uint32(len(r.names.Values))
	beliefs := uint32(len(r.Beliefs.Values))
	records := uint32(len(r.Records.Values))

	stored := d.Section()
	classes := make([]class, len(stored)/classBytes)

	_, _ = binary.Decode(stored, binary.LittleEndian, classes)
	for i, of := range classes {
		if max(of.Collection, of.Category, of.Perception) >= names || i == 0 && of != (class{}) ||
			of.Belief >= beliefs && i > 0 ||
			int(of.Status) >= len(statuses) || int(of.Outcome) >= len(outcomes) || int(of.Kind) >= len(kinds) {
			return nil, errBadSnapshot
		}
		r.classes.id(of)
	}

	n := d.Count()

	r.Rows = make([]packedRow, 0, min(n, 1<<20))
	for len(r.Rows) < n && d.Err == nil {
		section := d.Section()
		if len(section) != min(rowsPerSection, n-len(r.Rows))*rowBytes {
			return nil, errors.Join(errBadSnapshot, d.Err)
		}

		for b := range slices.Chunk(section, rowBytes) {
			row := packedRow{int64At(b, 0), int64At(b, 8), uint32At(b, 16), uint32At(b, 20), uint32At(b, 24),
				uint32At(b, 28)}
			if max(row.Session, row.Tags) >= names || int(row.Class) >= len(r.classes.Values) || row.Used >= records &&
				row.Class > 0 {
				return nil, errBadSnapshot
			}
			if r.classes.Values[row.Class].Status == statusActive {
				r.Actives++
			}
			r.Rows = append(r.Rows, row)
		}
	}

	n = d.Count()

	r.later = make(map[int64]moments, min(n, 1<<20))
	for len(r.later) < n && d.Err == nil {
		section := d.Section()
		if len(section) != min(rowsPerSection, n-len(r.later))*laterBytes {
			return nil, errors.Join(errBadSnapshot, d.Err)
		}

		for b := range slices.Chunk(section, laterBytes) {
			r.later[int64At(b, 0)] = moments{int64At(b, 8), int64At(b, 16)}
		}
	}

	return r, d.Close()
}

func int64At(b []byte, at int) int64 { return int64(binary.LittleEndian.Uint64(b[at:])) }

func float64At(b []byte, at int) float64 {
	return math.Float64frombits(binary.LittleEndian.Uint64(b[at:]))
}

func uint32At(b []byte, at int) uint32 { return binary.LittleEndian.Uint32(b[at:]) }

// CodesRevision is the revision of a snapshot of vector codes. Those of a later
// model are newer, whatever the counters of their vectors say: one process may
// still store the codes of a model that another has dropped.
func CodesRevision(model, seq int64) int64 { return model<<codesSeqBits + seq }

const codesSeqBits = 40

// WriteCodes writes the snapshot of a model's vector codes.
func WriteCodes(out io.Writer, b Codebook, m store.Model) error {
	w := stream.NewWriter(out, codesFormat)
	w.Count(int(m.ID))
	w.Count(b.taken)
	b.Codes.Write(w)
	return w.Close()
}

// readCodes is the inverse of WriteCodes, for the codes of one model.
func readCodes(in io.Reader, m store.Model) (b Codebook, err error) {
	d := stream.NewReader(in, codesFormat)
	id := d.Count()
	b.taken = d.Count()
	if b.Codes, err = vector.Read(d); err == nil && (int64(id) != m.ID || b.Codes.Dims() != m.Dims) {
		err = errBadSnapshot
	}
	if err != nil {
		return Codebook{}, err
	}

	return b, d.Close()
}

// restorePostings starts from the stored snapshot, or from an empty index.
func (x *Index) restorePostings(ctx context.Context) *Postings {
	stored := &Postings{}
	err := x.Store.Read(ctx, func(c *store.Conn) (err error) {
		// The counter is read in the same snapshot. If a purge follows, the index is built again.
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
	x.dropSnapshot(ctx, store.PostingsSnapshot, err)

	return &Postings{Index: lexical.New(lexical.Bm25Params), purges: stored.purges}
}

// RestoreVectors starts from the stored snapshot of a model's codes, or without any.
func (x *Index) RestoreVectors(ctx context.Context, m store.Model) error {
	var b Codebook
	err := x.Store.Read(ctx, func(c *store.Conn) (err error) {
		revision, err := c.LoadSnapshot(store.VectorsSnapshot, func(in io.Reader) (err error) {
			b, err = readCodes(in, m)
			return err
		})

		// The revision combines the model with the counter of its vectors.
		m.Seq = revision - CodesRevision(m.ID, 0)
		if err == nil && (m.Seq < 0 || m.Seq >= 1<<codesSeqBits) {
			err = errBadSnapshot
		}

		return err
	})
	if err != nil {
		x.dropSnapshot(ctx, store.VectorsSnapshot, err)
		b, m.Seq = Codebook{Codes: vector.New(m.Dims, nil)}, 0
	}

	x.Vectors.replace(b, m)

	return ctx.Err()
}

// dropSnapshot drops a snapshot that cannot be read, so that the next one is stored whatever has changed since.
func (x *Index) dropSnapshot(ctx context.Context, name string, err error) {
	if errors.Is(err, store.ErrNoSnapshot) || ctx.Err() != nil {
		return
	}
	x.Log.Warn("a snapshot cannot be read; its index is rebuilt from the tables", "snapshot", name, "err", err)
	if x.Store.ReadOnly() != "" {
		return
	}
	if err := x.Store.Write(ctx, func(tx *store.Tx) error { return tx.DropSnapshot(name) }); err != nil {
		x.Log.Warn("the snapshot cannot be dropped", "snapshot", name, "err", err)
	}
}
