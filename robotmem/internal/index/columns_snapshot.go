package index

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"
	"maps"
	"math"
	"slices"
)

// The roster's snapshot, all integers little-endian, counts as uvarints:
//
//	format   byte, rosterFormat
//	names    count, then each as length and bytes
//	beliefs  count, then each as two float64
//	rows     count, then rosterRowBytes for each memory id from 0
//	paths    count, then each as its id, a count, and pointBytes for each point

const (
	rosterFormat   = 1
	rosterRowBytes = 4*8 + 5*4 + 3
	pointBytes     = 4*8 + 2*4 + 1
)

// Freeze copies what a snapshot needs, so that it can be written while the
// roster goes on.
func (r *Columns) Freeze() *Columns {
	r.Mu.RLock()
	defer r.Mu.RUnlock()
	frozen := &Columns{Points: map[int64]*pointColumn{}}
	frozen.names.Values = slices.Clone(r.names.Values)
	frozen.Beliefs.Values = slices.Clone(r.Beliefs.Values)
	frozen.Rows = slices.Clone(r.Rows)
	for path, col := range r.Points {
		frozen.Points[path] = &pointColumn{Points: slices.Clone(col.Points)}
	}
	return frozen
}

func (r *Columns) Write(out io.Writer) error {
	w := bufio.NewWriterSize(out, 1<<16)
	buf := []byte{rosterFormat}
	put := func() {
		_, _ = w.Write(buf) // bufio keeps the error for Flush
		buf = buf[:0]
	}
	buf = binary.AppendUvarint(buf, uint64(len(r.names.Values)))
	for _, name := range r.names.Values {
		buf = append(binary.AppendUvarint(buf, uint64(len(name))), name...)
		put()
	}
	buf = binary.AppendUvarint(buf, uint64(len(r.Beliefs.Values)))
	for _, b := range r.Beliefs.Values {
		buf = appendWords(buf, int64(math.Float64bits(b.confidence)), int64(math.Float64bits(b.decay)))
	}
	buf = binary.AppendUvarint(buf, uint64(len(r.Rows)))
	for i := range r.Rows {
		row := &r.Rows[i]
		buf = appendWords(buf, row.Observed, row.Useful, row.Created, row.ValidFrom)
		for _, n := range []uint32{row.Belief, row.Collection, row.Session, row.Category, row.Perception} {
			buf = binary.LittleEndian.AppendUint32(buf, n)
		}
		buf = append(buf, byte(row.Status), row.Kind, 0)
		if row.Real {
			buf[len(buf)-1] = 1
		}
		put()
	}
	buf = binary.AppendUvarint(buf, uint64(len(r.Points)))
	for _, path := range slices.Sorted(maps.Keys(r.Points)) {
		col := r.Points[path]
		buf = binary.AppendUvarint(binary.AppendUvarint(buf, uint64(path)), uint64(len(col.Points)))
		for _, p := range col.Points {
			buf = appendWords(buf, p.MemoryID, int64(math.Float64bits(p.X)), int64(math.Float64bits(p.Y)), int64(math.Float64bits(p.Z)))
			buf = binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(buf, p.Frame), p.MapID)
			buf = append(buf, p.Dims)
			put()
		}
	}
	put()
	return w.Flush()
}

func appendWords(buf []byte, words ...int64) []byte {
	for _, n := range words {
		buf = binary.LittleEndian.AppendUint64(buf, uint64(n))
	}
	return buf
}

var errBadRoster = errors.New("the roster's snapshot cannot be read")

// readRoster is the inverse of write.
func readRoster(in io.Reader) (*Columns, error) {
	d := &decoder{r: bufio.NewReaderSize(in, 1<<16)}
	r := &Columns{Points: map[int64]*pointColumn{}}
	if d.bytes(1)[0] != rosterFormat {
		return nil, errBadRoster
	}
	for n := d.count(); n > 0 && d.err == nil; n-- { // a damaged count must not take all day
		r.names.id(string(d.bytes(d.count())))
	}
	for n := d.count(); n > 0 && d.err == nil; n-- {
		b := d.bytes(16)
		r.Beliefs.id(belief{float64At(b, 0), float64At(b, 8)})
	}
	n := d.count()
	r.Rows = make([]Row, 0, min(n, 1<<20)) // a damaged count must not take all memory
	for range n {
		row := rowAt(d.bytes(rosterRowBytes))
		if d.err != nil || max(row.Collection, row.Session, row.Category, row.Perception) >= uint32(len(r.names.Values)) || row.Belief >= uint32(len(r.Beliefs.Values)) && row.Kind != 0 {
			return nil, errBadRoster
		}
		if row.Kind != 0 && row.Status == statusActive {
			r.Actives++
		}
		r.Rows = append(r.Rows, row)
	}
	for n := d.count(); n > 0 && d.err == nil; n-- {
		path, points := int64(d.count()), d.count()
		col := &pointColumn{Points: make([]Point, 0, min(points, 1<<20))}
		for range points {
			p := pointAt(d.bytes(pointBytes))
			if d.err != nil || max(p.Frame, p.MapID) >= uint32(len(r.names.Values)) {
				return nil, errBadRoster
			}
			col.Points = append(col.Points, p)
		}
		r.Points[path] = col
	}
	return r, d.err
}

// decoder reads until the first error, and zeros from there on.
type decoder struct {
	r   *bufio.Reader
	buf []byte
	err error
}

func (d *decoder) count() int {
	n, err := binary.ReadUvarint(d.r)
	if d.err == nil && err != nil || n > math.MaxInt32 {
		d.err = errors.Join(errBadRoster, err)
	}
	if d.err != nil {
		return 0
	}
	return int(n)
}

// bytes returns the next n, valid until the next call.
func (d *decoder) bytes(n int) []byte {
	if n > 1<<24 {
		d.err, n = errBadRoster, 0
	}
	if cap(d.buf) < n {
		d.buf = make([]byte, n)
	}
	d.buf = d.buf[:n]
	if d.err == nil {
		_, d.err = io.ReadFull(d.r, d.buf)
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

func rowAt(b []byte) Row {
	return Row{
		Observed: int64At(b, 0), Useful: int64At(b, 8), Created: int64At(b, 16), ValidFrom: int64At(b, 24),
		Belief: uint32At(b, 32), Collection: uint32At(b, 36), Session: uint32At(b, 40), Category: uint32At(b, 44), Perception: uint32At(b, 48),
		Status: status(b[52]), Kind: b[53], Real: b[54] == 1,
	}
}

func pointAt(b []byte) Point {
	return Point{MemoryID: int64At(b, 0), X: float64At(b, 8), Y: float64At(b, 16), Z: float64At(b, 24), Frame: uint32At(b, 32), MapID: uint32At(b, 36), Dims: b[40]}
}
