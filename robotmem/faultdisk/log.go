package faultdisk

import "slices"

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

// op is one operation. Paths are below the disk's folder, "" being itself.
type op struct {
	kind  kind
	inode int    // of write, truncate, syncFile, create, rename and remove
	path  string // the name that is made, removed or synced
	to    string // of rename
	off   int64  // of write; the new size of truncate; the number of mark
	data  []byte // of write
}

// Log is what a disk was asked for, in order.
type Log struct{ ops []op }

// Len is how many operations there are. Power may fail after each, and before
// the first: at 0 to Len.
func (l *Log) Len() int { return len(l.ops) }

// Marks are the marks before a point, in the order they were set.
func (l *Log) Marks(at int) []int {
	var marks []int
	for i := range l.ops[:at] {
		if l.ops[i].kind == mark {
			marks = append(marks, int(l.ops[i].off))
		}
	}
	return marks
}

// Turns are the points right before and after every operation that is not a
// write: where what may be lost changes most. They ascend.
func (l *Log) Turns() []int {
	var at []int
	for i := range l.ops {
		if l.ops[i].kind != write {
			at = append(at, i, i+1)
		}
	}
	return slices.Compact(at)
}
