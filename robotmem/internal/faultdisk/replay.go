package faultdisk

import (
	"bytes"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
)

type kind uint8

const (
	write kind = iota
	truncate
	syncFile
	create
	mkdir
	rename
	remove
	syncFolder
	mark
)

// op is one operation. Paths are relative to the disk's folder, which is "".
type op struct {
	kind  kind
	inode int    // of write, truncate, syncFile, create, rename and remove
	path  string // the name that is created, removed or synced
	to    string // of rename
	off   int64  // of write; the new size of truncate
	data  []byte // of write
}

// Log is the ordered list of a disk's operations.
type Log struct{ ops []op }

// Len is the number of operations. The power may fail at any point from 0, before
// the first, to Len.
func (l *Log) Len() int { return len(l.ops) }

// Marks counts the marks before a point.
func (l *Log) Marks(at int) (n int) {
	for _, o := range l.ops[:at] {
		if o.kind == mark {
			n++
		}
	}
	return n
}

// Turns returns, in ascending order, the points before and after every operation
// that is not a write. The set of possible losses changes most there.
func (l *Log) Turns() []int {
	var at []int

	for i := range l.ops {
		if l.ops[i].kind != write {
			at = append(at, i, i+1)
		}
	}

	return slices.Compact(at)
}

// Replay is the state of the disk at a point of a log: what is certainly stored, and what may be.
type Replay struct {
	log   *Log
	at    int
	files map[int]*content
	names map[string]entry // synced
	// naming are the changes of names that are not synced, in order.
	naming []op
}

// entry is what a name refers to.
type entry struct {
	folder bool
	inode  int
}

// content is the synced bytes of a file and the operations since.
type content struct {
	synced  []byte
	pending []op
}

// Replay returns a replay at the start of the log.
func (l *Log) Replay() *Replay {
	return &Replay{log: l, files: map[int]*content{}, names: map[string]entry{}}
}

// Advance moves to the point after the first so many operations. It never moves back.
func (r *Replay) Advance(to int) {
	for ; r.at < to; r.at++ {
		r.step(r.log.ops[r.at])
	}
}

func (r *Replay) step(o op) {
	switch o.kind {
	case write, truncate:
		f := r.file(o.inode)
		f.pending = append(f.pending, o)
	case syncFile:
		f := r.file(o.inode)
		for _, o := range f.pending {
			f.synced = o.apply(f.synced)
		}
		f.pending = nil
	case create, mkdir, rename, remove:
		r.naming = append(r.naming, o)
	case syncFolder:
		r.settle(o.path)
	case mark:
	}
}

func (r *Replay) file(inode int) *content {
	f := r.files[inode]
	if f == nil {
		f = &content{}
		r.files[inode] = f
	}
	return f
}

// settle syncs the names of a folder.
func (r *Replay) settle(folder string) {
	var settled []op

	r.naming = slices.DeleteFunc(r.naming, func(o op) bool {
		here := o.folder() == folder
		if here {
			settled = append(settled, o)
		}
		return here
	})
	for _, o := range settled {
		o.name(r.names)
		if o.kind != rename {
			continue
		}
		// The old name is gone, also in a folder that was not synced.
		r.naming = slices.DeleteFunc(r.naming, func(was op) bool {
			return was.inode == o.inode && was.kind == create && was.path == o.path
		})
	}
}

// folder is the folder whose sync settles the change of names.
func (o op) folder() string {
	path := o.path
	if o.kind == rename {
		path = o.to
	}
	if dir := filepath.Dir(path); dir != "." {
		return dir
	}

	return ""
}

// name applies the operation to names.
func (o op) name(names map[string]entry) {
	switch o.kind {
	case create:
		names[o.path] = entry{inode: o.inode}
	case mkdir:
		names[o.path] = entry{folder: true}
	case rename:
		if names[o.path].inode == o.inode {
			delete(names, o.path)
		}
		names[o.to] = entry{inode: o.inode}
	case remove:
		if names[o.path].inode == o.inode {
			delete(names, o.path)
		}
	}
}

// apply applies the operation to the bytes of a file.
func (o op) apply(data []byte) []byte {
	data = resize(data, o.sizeAfter(int64(len(data))))
	if o.kind == write {
		copy(data[o.off:], o.data)
	}
	return data
}

// sizeAfter is the size of a file of this size after the operation.
func (o op) sizeAfter(size int64) int64 {
	if o.kind == truncate {
		return o.off
	}
	return max(size, o.off+int64(len(o.data)))
}

func resize(data []byte, size int64) []byte {
	had := int64(len(data))
	if size <= had {
		return data[:size]
	}
	data = slices.Grow(data, int(size-had))[:size]
	clear(data[had:])

	return data
}

// chances are the probabilities by which a cut keeps unsynced changes.
type chances struct {
	names   float64 // a change of names is kept
	sectors float64 // a sector is as last written
	sizes   float64 // a size is the last one
	garbage float64 // a sector that is not as last written holds garbage
}

// profiles lose everything, next to nothing, only names, only bytes, and mixtures.
var profiles = []chances{
	{},
	{names: 1, sizes: 1, garbage: 0.2},
	{names: 0, sectors: 1, sizes: 1},
	{names: 1, sectors: 0.97, sizes: 1, garbage: 0.5},
	{names: 0.5, sectors: 0.5, sizes: 0.5, garbage: 0.2},
	{names: 0.8, sectors: 0.9, sizes: 0.9},
	{names: 1, sectors: 1, sizes: 0},
}

// Cut writes into an empty folder a state that may be found when the power fails at this point.
// sector is the disk's atomic write size in bytes, 512 or 4096. It returns how many unsynced
// sectors, sizes and changes of names were lost: a cut that loses nothing tests nothing.
func (r *Replay) Cut(rnd *rand.Rand, sector int, dir string) (lost int, err error) {
	p := profiles[rnd.IntN(len(profiles))]

	names := maps.Clone(r.names)
	for _, o := range r.naming {
		if rnd.Float64() < p.names {
			o.name(names)
		} else {
			lost++
		}
	}

	there := map[string]bool{"": true} // folders

	// A folder before its files.
	for _, path := range slices.Sorted(maps.Keys(names)) {
		at, e := filepath.Join(dir, path), names[path]
		if !there[(op{path: path}).folder()] {
			continue
		}
		if there[path] = e.folder; e.folder {
			if err := os.Mkdir(at, 0o700); err != nil {
				return lost, err
			}
			continue
		}
		if err := os.WriteFile(at, r.file(e.inode).cut(rnd, p, int64(sector), &lost), 0o600); err != nil {
			return lost, err
		}
	}

	return lost, nil
}

// cut returns bytes that may be found in the file.
func (f *content) cut(rnd *rand.Rand, p chances, sector int64, lost *int) []byte {
	if len(f.pending) == 0 {
		return f.synced
	}

	// All sizes since the sync, and the operations that touched each sector.
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
		f.tear(rnd, p, data[from:min(from+sector, full)], from, touched[s], lost)
	}

	size := final
	if rnd.Float64() >= p.sizes {
		size = sizes[rnd.IntN(len(sizes))]
	}
	if size != final {
		*lost++
	}

	return data[:size]
}

// tear leaves a sector in one of the states it went through, or with garbage.
func (f *content) tear(rnd *rand.Rand, p chances, bytesOf []byte, from int64, touched []int, lost *int) {
	last := slices.Clone(bytesOf)
	for _, i := range touched {
		f.pending[i].within(last, from)
	}

	if rnd.Float64() < p.sectors {
		copy(bytesOf, last)
		return
	}

	for _, i := range touched[:rnd.IntN(len(touched))] {
		f.pending[i].within(bytesOf, from)
	}

	if o := f.pending[touched[len(touched)-1]]; o.kind == write && rnd.Float64() < p.garbage {
		a, b := max(o.off-from, 0), min(o.off+int64(len(o.data))-from, int64(len(bytesOf)))
		for i := a; i < b; i++ {
			bytesOf[i] = byte(rnd.Uint32())
		}
	}

	if !bytes.Equal(bytesOf, last) {
		*lost++
	}
}

// within applies the operation to the part of a file that begins at from.
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
