package faultdisk

import (
	"bytes"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
)

// Loss counts what a cut took away of what was done and not synced.
type Loss struct {
	Sectors int // that are not as they were last written
	Sizes   int // of files, that are not the last ones
	Names   int // made, renamed or removed, that are as before
}

// Any reports whether anything was lost: a cut that loses nothing tests nothing.
func (l Loss) Any() bool { return l != Loss{} }

// mood is how a cut deals with what was not synced.
type mood struct {
	names   float64 // the chance that a change of names is on the disk
	sectors float64 // that a sector is as it was last written
	sizes   float64 // that a size is the last one
	garbage float64 // that a sector which is not holds garbage
}

// moods are the ways of losing things: everything, next to nothing, names alone,
// bytes alone, and all in between.
var moods = []mood{
	{},
	{names: 1, sizes: 1, garbage: 0.2},
	{names: 0, sectors: 1, sizes: 1},
	{names: 1, sectors: 0.97, sizes: 1, garbage: 0.5},
	{names: 0.5, sectors: 0.5, sizes: 0.5, garbage: 0.2},
	{names: 0.8, sectors: 0.9, sizes: 0.9},
	{names: 1, sectors: 1, sizes: 0},
}

// Cut makes in an empty folder what may be found there when power fails at this
// point. sector is the size in bytes of what the disk writes at once, 512 or
// 4096.
func (r *Replay) Cut(rnd *rand.Rand, sector int, dir string) (Loss, error) {
	var lost Loss
	m := moods[rnd.IntN(len(moods))]
	names := maps.Clone(r.names)
	for _, o := range r.naming {
		if rnd.Float64() < m.names {
			o.name(names)
		} else {
			lost.Names++
		}
	}
	led := map[string]bool{"": true}                       // folders that the names lead to
	for _, path := range slices.Sorted(maps.Keys(names)) { // a folder before what lies in it
		at, e := filepath.Join(dir, path), names[path]
		if !led[(op{path: path}).folder()] {
			continue
		}
		if led[path] = e.folder; e.folder {
			if err := os.Mkdir(at, 0o700); err != nil {
				return lost, err
			}
			continue
		}
		if err := os.WriteFile(at, r.file(e.inode).cut(rnd, m, int64(sector), &lost), 0o600); err != nil {
			return lost, err
		}
	}
	return lost, nil
}

// cut is what may be found of a file.
func (f *content) cut(rnd *rand.Rand, m mood, sector int64, lost *Loss) []byte {
	if len(f.pending) == 0 {
		return f.synced
	}
	// The sizes that the file had, and which operations touched each sector.
	sizes := []int64{int64(len(f.synced))}
	touched := map[int64][]int{}
	for i, o := range f.pending {
		before := sizes[i]
		sizes = append(sizes, o.sizeAfter(before))
		from, to := o.off, o.off+int64(len(o.data))
		if o.kind == truncate {
			to = max(before, o.off)
		}
		for s := from / sector; s*sector < to; s++ {
			touched[s] = append(touched[s], i)
		}
	}
	full := slices.Max(sizes)
	final := sizes[len(sizes)-1]
	data := resize(slices.Clone(f.synced), full)
	for _, s := range slices.Sorted(maps.Keys(touched)) {
		from := s * sector
		f.tear(rnd, m, data[from:min(from+sector, full)], from, touched[s], lost)
	}
	size := final
	if rnd.Float64() >= m.sizes {
		size = sizes[rnd.IntN(len(sizes))]
	}
	if size != final {
		lost.Sizes++
	}
	return data[:size]
}

// tear leaves in a sector one of the states that it was in.
func (f *content) tear(rnd *rand.Rand, m mood, bytesOf []byte, from int64, touched []int, lost *Loss) {
	last := slices.Clone(bytesOf)
	for _, i := range touched {
		f.pending[i].within(last, from)
	}
	if rnd.Float64() < m.sectors {
		copy(bytesOf, last)
		return
	}
	for _, i := range touched[:rnd.IntN(len(touched))] {
		f.pending[i].within(bytesOf, from)
	}
	if o := f.pending[touched[len(touched)-1]]; o.kind == write && rnd.Float64() < m.garbage {
		a, b := max(o.off-from, 0), min(o.off+int64(len(o.data))-from, int64(len(bytesOf)))
		for i := a; i < b; i++ {
			bytesOf[i] = byte(rnd.Uint32())
		}
	}
	if !bytes.Equal(bytesOf, last) {
		lost.Sectors++
	}
}

// within does the operation to the part of a file that begins at from.
func (o op) within(part []byte, from int64) {
	if o.kind == truncate {
		if o.off < from+int64(len(part)) {
			clear(part[max(o.off-from, 0):])
		}
		return
	}
	if at := o.off - from; at >= 0 {
		copy(part[at:], o.data)
	} else {
		copy(part, o.data[-at:])
	}
}
