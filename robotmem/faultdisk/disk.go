package faultdisk

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/ncruces/go-sqlite3/vfs"
	"github.com/robotmem/robotmem-go/perception/payload"
	"github.com/robotmem/robotmem-go/robotmem/local"
)

// Disk passes the changes of one folder on to the real disk, records them and
// makes them fail. Its methods may be called by several goroutines at a time.
type Disk struct {
	root string
	name string

	mu     sync.Mutex // guards what follows
	log    []op
	inodes map[string]int // by path below root: files only
	sizes  map[int]int64  // of inodes
	next   int
	silent bool // nothing is recorded
	lies   bool
	faults faults
}

var _ local.Disk = (*Disk)(nil)

// New makes a disk of an empty folder, and records. Close it when nothing uses it
// any more.
func New(dir string) (*Disk, error) {
	d, err := Over(dir)
	if err == nil && len(d.inodes) > 0 {
		d.Close()
		return nil, errors.New("faultdisk: the folder is not empty")
	}
	if err == nil {
		d.silent = false
	}
	return d, err
}

// Over makes a disk of a folder with what lies in it, and records nothing. Close
// it when nothing uses it any more.
func Over(dir string) (*Disk, error) {
	root, err := filepath.Abs(dir)
	if err == nil {
		// SQLite asks for files by their real paths.
		root, err = filepath.EvalSymlinks(root)
	}
	if err != nil {
		return nil, err
	}
	d := &Disk{root: root, name: "faultdisk-" + strings.ToLower(rand.Text()), silent: true, inodes: map[string]int{}, sizes: map[int]int64{}}
	d.faults.free = unlimited
	err = filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		info, err := entry.Info()
		rel, _ := d.below(path)
		if err == nil {
			d.sizes[d.made(rel)] = info.Size()
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	vfs.Register(d.name, &system{VFS: vfs.Find(""), disk: d})
	return d, nil
}

// Close gives up the disk's name. What it stored stays.
func (d *Disk) Close() { vfs.Unregister(d.name) }

// Root is the folder, by its real path.
func (d *Disk) Root() string { return d.root }

// VFS implements [robotmem.Disk].
func (d *Disk) VFS() string { return d.name }

// Mark notes that the user's step n was acknowledged. Steps are counted from 1.
func (d *Disk) Mark(n int) { d.record(op{kind: mark, off: int64(n)}) }

// Log is what was recorded until now.
func (d *Disk) Log() *Log {
	d.mu.Lock()
	defer d.mu.Unlock()
	return &Log{ops: d.log[:len(d.log):len(d.log)]}
}

// Lie makes the disk acknowledge syncs that it does not make, or be honest again.
func (d *Disk) Lie(lies bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.lies = lies
}

func (d *Disk) record(o op) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.append(o)
}

func (d *Disk) append(o op) {
	if !d.silent && !(d.lies && (o.kind == syncFile || o.kind == syncFolder)) {
		d.log = append(d.log, o)
	}
}

// below returns a path relative to the disk's folder, and false outside it.
func (d *Disk) below(path string) (string, bool) {
	if path == d.root {
		return "", true
	}
	rel, ok := strings.CutPrefix(path, d.root+string(filepath.Separator))
	return rel, ok
}

// made records a new file and returns its inode, or that of one that was there.
func (d *Disk) made(rel string) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	if inode, ok := d.inodes[rel]; ok {
		return inode
	}
	d.next++
	d.inodes[rel] = d.next
	d.append(op{kind: create, inode: d.next, path: rel})
	return d.next
}

// MkdirAll implements [payload.Disk].
func (d *Disk) MkdirAll(path string, mode fs.FileMode) error {
	rel, ok := d.below(path)
	if !ok || rel == "" {
		return os.MkdirAll(path, mode)
	}
	if err := d.MkdirAll(filepath.Dir(path), mode); err != nil {
		return err
	}
	err := os.Mkdir(path, mode)
	if errors.Is(err, fs.ErrExist) {
		return os.MkdirAll(path, mode) // which says so if it is no folder
	}
	if err == nil {
		d.record(op{kind: mkdir, path: rel})
	}
	return err
}

// Create implements [payload.Disk].
func (d *Disk) Create(path string, mode fs.FileMode) (payload.File, error) {
	rel, ok := d.below(path)
	if !ok {
		return nil, fmt.Errorf("faultdisk: %s is outside the disk", path)
	}
	d.mu.Lock()
	full := d.faults.free == 0
	d.mu.Unlock()
	if _, err := os.Lstat(path); err != nil && full {
		d.refused()
		return nil, &fs.PathError{Op: "open", Path: path, Err: errFull}
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return nil, err
	}
	return &stream{File: f, node: node{disk: d, inode: d.made(rel)}}, nil
}

// Rename implements [payload.Disk].
func (d *Disk) Rename(from, to string) error {
	if err := os.Rename(from, to); err != nil {
		return err
	}
	a, okA := d.below(from)
	b, okB := d.below(to)
	if !okA || !okB {
		return nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	inode := d.inodes[a]
	d.forget(b)
	delete(d.inodes, a)
	d.inodes[b] = inode
	d.append(op{kind: rename, inode: inode, path: a, to: b})
	return nil
}

// Link implements [robotmem.Disk].
func (d *Disk) Link(from, to string) error {
	if err := os.Link(from, to); err != nil {
		return err
	}
	a, okA := d.below(from)
	b, okB := d.below(to)
	if !okA || !okB {
		return nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.inodes[b] = d.inodes[a]
	d.append(op{kind: create, inode: d.inodes[b], path: b})
	return nil
}

// Remove implements [payload.Disk].
func (d *Disk) Remove(path string) error {
	if err := os.Remove(path); err != nil {
		return err
	}
	d.removed(path)
	return nil
}

func (d *Disk) removed(path string) {
	rel, ok := d.below(path)
	if !ok {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	inode, ok := d.inodes[rel]
	if !ok {
		return // the index of the log, or a folder
	}
	d.forget(rel)
	d.append(op{kind: remove, inode: inode, path: rel})
}

// forget gives back the space of a file that loses its name.
func (d *Disk) forget(rel string) {
	inode, ok := d.inodes[rel]
	delete(d.inodes, rel)
	for _, other := range d.inodes {
		ok = ok && other != inode // it has a second name
	}
	if ok {
		d.faults.give(d.sizes[inode])
		delete(d.sizes, inode)
	}
}

// SyncFolder implements [payload.Disk].
func (d *Disk) SyncFolder(path string) error {
	if err := d.beforeSync(); err != nil {
		return err
	}
	d.folderSynced(path)
	return nil
}

func (d *Disk) folderSynced(path string) {
	if rel, ok := d.below(path); ok {
		d.record(op{kind: syncFolder, path: rel})
	}
}

// node is an open file as the disk knows it.
type node struct {
	disk  *Disk
	inode int
}

func (n node) wrote(off int64, data []byte) {
	if len(data) > 0 && !n.disk.silent {
		n.disk.record(op{kind: write, inode: n.inode, off: off, data: append([]byte(nil), data...)})
	}
}

// stream is a payload that is being written, from its beginning to its end.
type stream struct {
	*os.File
	node
	size int64
}

func (s *stream) Write(p []byte) (int, error) {
	if err := s.grow(s.size + int64(len(p))); err != nil {
		return 0, &fs.PathError{Op: "write", Path: s.Name(), Err: err}
	}
	n, err := s.File.Write(p)
	s.wrote(s.size, p[:n])
	s.size += int64(n)
	return n, err
}

func (s *stream) Sync() error {
	if err := s.disk.beforeSync(); err != nil {
		return err
	}
	s.disk.record(op{kind: syncFile, inode: s.inode})
	return nil
}
