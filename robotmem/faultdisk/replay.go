package faultdisk

import (
	"path/filepath"
	"slices"
)

// Replay is what is on the disk, and what may be, at a point of a log.
type Replay struct {
	log   *Log
	at    int
	files map[int]*content
	names map[string]entry // on the disk
	// naming are the changes of names that no sync has settled, in order.
	naming []op
}

// entry is what a name leads to.
type entry struct {
	folder bool
	inode  int
}

// content is a file: what is on the disk, and what was done to it since.
type content struct {
	synced  []byte
	pending []op
}

// Replay begins at the log's beginning.
func (l *Log) Replay() *Replay {
	return &Replay{log: l, files: map[int]*content{}, names: map[string]entry{}}
}

// Advance goes on to the point after the first so many operations. It never
// goes back.
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

// settle puts the names of a folder on the disk.
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
		// It has left its old name, wherever that was.
		r.naming = slices.DeleteFunc(r.naming, func(was op) bool {
			return was.inode == o.inode && was.kind == create && was.path == o.path
		})
	}
}

// folder is the one whose sync settles a change of names.
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

// name changes names as the operation does.
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

// apply does the operation to bytes.
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
