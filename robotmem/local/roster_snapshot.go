package local

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

// freeze copies what a snapshot needs, so that it can be written while the
// roster goes on.
func (r *roster) freeze() *roster {
	r.mu.RLock()
	defer r.mu.RUnlock()
	frozen := &roster{points: map[int64]*pointColumn{}}
	frozen.names.values = slices.Clone(r.names.values)
	frozen.beliefs.values = slices.Clone(r.beliefs.values)
	frozen.rows = slices.Clone(r.rows)
	for path, col := range r.points {
		frozen.points[path] = &pointColumn{points: slices.Clone(col.points)}
	}
	return frozen
}

func (r *roster) write(out io.Writer) error {
	w := bufio.NewWriterSize(out, 1<<16)
	buf := []byte{rosterFormat}
	put := func() {
		_, _ = w.Write(buf) // bufio keeps the error for Flush
		buf = buf[:0]
	}
	buf = binary.AppendUvarint(buf, uint64(len(r.names.values)))
	for _, name := range r.names.values {
		buf = append(binary.AppendUvarint(buf, uint64(len(name))), name...)
		put()
	}
	buf = binary.AppendUvarint(buf, uint64(len(r.beliefs.values)))
	for _, b := range r.beliefs.values {
		buf = appendWords(buf, int64(math.Float64bits(b.confidence)), int64(math.Float64bits(b.decay)))
	}
	buf = binary.AppendUvarint(buf, uint64(len(r.rows)))
	for i := range r.rows {
		row := &r.rows[i]
		buf = appendWords(buf, row.observed, row.useful, row.created, row.validFrom)
		for _, n := range []uint32{row.belief, row.collection, row.session, row.category, row.perception} {
			buf = binary.LittleEndian.AppendUint32(buf, n)
		}
		buf = append(buf, byte(row.status), row.kind, 0)
		if row.real {
			buf[len(buf)-1] = 1
		}
		put()
	}
	buf = binary.AppendUvarint(buf, uint64(len(r.points)))
	for _, path := range slices.Sorted(maps.Keys(r.points)) {
		col := r.points[path]
		buf = binary.AppendUvarint(binary.AppendUvarint(buf, uint64(path)), uint64(len(col.points)))
		for _, p := range col.points {
			buf = appendWords(buf, p.memoryID, int64(math.Float64bits(p.x)), int64(math.Float64bits(p.y)), int64(math.Float64bits(p.z)))
			buf = binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(buf, p.frame), p.mapID)
			buf = append(buf, p.dims)
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
func readRoster(in io.Reader) (*roster, error) {
	d := &decoder{r: bufio.NewReaderSize(in, 1<<16)}
	r := &roster{points: map[int64]*pointColumn{}}
	if d.bytes(1)[0] != rosterFormat {
		return nil, errBadRoster
	}
	for n := d.count(); n > 0 && d.err == nil; n-- { // a damaged count must not take all day
		r.names.id(string(d.bytes(d.count())))
	}
	for n := d.count(); n > 0 && d.err == nil; n-- {
		b := d.bytes(16)
		r.beliefs.id(belief{float64At(b, 0), float64At(b, 8)})
	}
	n := d.count()
	r.rows = make([]rosterRow, 0, min(n, 1<<20)) // a damaged count must not take all memory
	for range n {
		row := rowAt(d.bytes(rosterRowBytes))
		if d.err != nil || max(row.collection, row.session, row.category, row.perception) >= uint32(len(r.names.values)) || row.belief >= uint32(len(r.beliefs.values)) && row.kind != 0 {
			return nil, errBadRoster
		}
		if row.kind != 0 && row.status == statusActive {
			r.actives++
		}
		r.rows = append(r.rows, row)
	}
	for n := d.count(); n > 0 && d.err == nil; n-- {
		path, points := int64(d.count()), d.count()
		col := &pointColumn{points: make([]point, 0, min(points, 1<<20))}
		for range points {
			p := pointAt(d.bytes(pointBytes))
			if d.err != nil || max(p.frame, p.mapID) >= uint32(len(r.names.values)) {
				return nil, errBadRoster
			}
			col.points = append(col.points, p)
		}
		r.points[path] = col
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

func rowAt(b []byte) rosterRow {
	return rosterRow{
		observed: int64At(b, 0), useful: int64At(b, 8), created: int64At(b, 16), validFrom: int64At(b, 24),
		belief: uint32At(b, 32), collection: uint32At(b, 36), session: uint32At(b, 40), category: uint32At(b, 44), perception: uint32At(b, 48),
		status: status(b[52]), kind: b[53], real: b[54] == 1,
	}
}

func pointAt(b []byte) point {
	return point{memoryID: int64At(b, 0), x: float64At(b, 8), y: float64At(b, 16), z: float64At(b, 24), frame: uint32At(b, 32), mapID: uint32At(b, 36), dims: b[40]}
}
