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
	"syscall"

	"github.com/ncruces/go-sqlite3/vfs"
	"github.com/robotmem/robotmem-go/perception/payload"
	"github.com/robotmem/robotmem-go/robotmem/internal/disk"
)

const unlimited = -1

// Disk passes the changes of one folder to the real disk, records them and makes
// them fail. Its methods may be called by several goroutines at a time.
type Disk struct {
	root string
	name string

	// names is held while a name changes and is recorded, and while the sync of a folder is. Otherwise the sync of
	// somebody who saw the name might be recorded before the name.
	names sync.Mutex

	mu     sync.Mutex // guards the fields below
	log    []op
	inodes map[string]int // files by their path below root
	sizes  map[int]int64  // by inode
	last   int            // the inode of the newest file
	silent bool           // nothing is recorded
	lies   bool           // syncs are acknowledged but not recorded

	free    int64 // bytes by which files may still grow, or unlimited
	refused int
	syncErr error
	stalled chan struct{} // closed at the end of a stall; nil without one
	stalls  kind          // operations of this kind and of later ones stall: from write on, or only syncs
	held    int           // operations that a stall has blocked
}

var _ disk.Disk = (*Disk)(nil)

// New returns a recording disk of an empty folder. Close it after its last user.
func New(dir string) (*Disk, error) {
	d, err := Over(dir)
	if err != nil {
		return nil, err
	}
	if found, err := os.ReadDir(dir); err != nil || len(found) > 0 {
		d.Close()
		return nil, errors.Join(errors.New("faultdisk: the folder is not empty"), err)
	}
	d.silent = false

	return d, nil
}

// Over returns a disk of a folder and the files in it. It records nothing. Close
// it after its last user.
func Over(dir string) (*Disk, error) {
	root, err := filepath.Abs(dir)
	if err == nil {
		// SQLite asks for files by their real paths.
		root, err = filepath.EvalSymlinks(root)
	}
	if err != nil {
		return nil, err
	}
	d := &Disk{
		root: root, name: "faultdisk-" + strings.ToLower(rand.Text()), silent: true, inodes: map[string]int{},
		sizes: map[int]int64{}, free: unlimited,
	}
	vfs.Register(d.name, &system{VFS: vfs.Find(""), disk: d})

	return d, nil
}

// Close unregisters the disk's VFS. The files stay.
func (d *Disk) Close() { vfs.Unregister(d.name) }

// Root is the real path of the folder.
func (d *Disk) Root() string { return d.root }

func (d *Disk) VFS() string { return d.name }

// Mark records a moment, such as that of an acknowledgement.
func (d *Disk) Mark() { d.record(op{kind: mark}) }

// Log returns the operations recorded until now.
func (d *Disk) Log() *Log {
	d.mu.Lock()
	defer d.mu.Unlock()
	return &Log{ops: d.log[:len(d.log):len(d.log)]}
}

// Lie makes the disk acknowledge syncs that protect nothing, or ends that.
func (d *Disk) Lie(lies bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.lies = lies
}

// Limit sets how many bytes are free. A write that would grow a file beyond them
// fails with ENOSPC; shrinking or removing a file frees its bytes; overwriting
// succeeds. A negative number removes the limit.
func (d *Disk) Limit(free int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.free = max(free, unlimited)
}

// FreeBytes implements [disk.Disk]: the bytes that the limit leaves, else those
// of the real disk.
func (d *Disk) FreeBytes(path string) (int64, error) {
	d.mu.Lock()
	free := d.free
	d.mu.Unlock()
	if free != unlimited {
		return free, nil
	}

	return disk.System{}.FreeBytes(path)
}

// Refused counts the writes that the limit has refused.
func (d *Disk) Refused() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.refused
}

// Stall blocks every write and sync until release is called, which may be done
// more than once. Only one stall at a time is supported.
func (d *Disk) Stall() (release func()) { return d.stall(write) }

// StallSyncs blocks syncs only: writes succeed, as into a cache.
func (d *Disk) StallSyncs() (release func()) { return d.stall(syncFile) }

func (d *Disk) stall(from kind) (release func()) {
	stalled := make(chan struct{})
	d.mu.Lock()
	d.stalled, d.stalls = stalled, from
	d.mu.Unlock()

	return sync.OnceFunc(func() {
		d.mu.Lock()
		d.stalled = nil
		d.mu.Unlock()
		close(stalled)
	})
}

// Held counts the writes and syncs that stalls have blocked.
func (d *Disk) Held() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.held
}

// FailSyncs makes every sync fail with err; nil ends that.
func (d *Disk) FailSyncs(err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.syncErr = err
}

// wait blocks while operations of this kind stall.
func (d *Disk) wait(what kind) {
	d.mu.Lock()
	stalled := d.stalled
	// The kinds are in the order write, truncate, sync.
	if what < d.stalls {
		stalled = nil
	}
	if stalled != nil {
		d.held++
	}
	d.mu.Unlock()
	if stalled != nil {
		<-stalled
	}
}

// beforeSync waits for the end of a stall and returns the error of FailSyncs.
func (d *Disk) beforeSync() error {
	d.wait(syncFile)
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.syncErr
}

func (d *Disk) record(o op) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.append(o)
}

func (d *Disk) append(o op) {
	isSync := o.kind == syncFile || o.kind == syncFolder
	if d.silent || d.lies && isSync {
		return
	}
	d.log = append(d.log, o)
}

// below returns a path relative to the disk's folder, and false outside it.
func (d *Disk) below(path string) (string, bool) {
	if path == d.root {
		return "", true
	}
	return strings.CutPrefix(path, d.root+string(filepath.Separator))
}

// created records a new file and returns its inode. An existing file keeps its own.
func (d *Disk) created(rel string) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	if inode, ok := d.inodes[rel]; ok {
		return inode
	}
	d.last++
	d.inodes[rel] = d.last
	if info, err := os.Lstat(filepath.Join(d.root, rel)); err == nil {
		d.sizes[d.last] = info.Size()
	}
	d.append(op{kind: create, inode: d.last, path: rel})

	return d.last
}

func (d *Disk) MkdirAll(path string, mode fs.FileMode) error {
	rel, ok := d.below(path)
	if !ok || rel == "" {
		return os.MkdirAll(path, mode)
	}
	if err := d.MkdirAll(filepath.Dir(path), mode); err != nil {
		return err
	}
	d.names.Lock()
	defer d.names.Unlock()
	err := os.Mkdir(path, mode)
	if errors.Is(err, fs.ErrExist) {
		// This fails if the path is a file.
		return os.MkdirAll(path, mode)
	}
	if err == nil {
		d.record(op{kind: mkdir, path: rel})
	}

	return err
}

func (d *Disk) Create(path string, mode fs.FileMode) (payload.File, error) {
	rel, ok := d.below(path)
	if !ok {
		return nil, fmt.Errorf("faultdisk: %s is outside the disk", path)
	}
	if _, err := os.Lstat(path); err != nil && d.refuseIfFull() {
		return nil, &fs.PathError{Op: "open", Path: path, Err: syscall.ENOSPC}
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return nil, err
	}

	return &stream{File: f, node: node{disk: d, inode: d.created(rel)}}, nil
}

// refuseIfFull reports whether nothing is free, and counts a refusal if so.
func (d *Disk) refuseIfFull() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	isFull := d.free == 0
	if isFull {
		d.refused++
	}

	return isFull
}

func (d *Disk) Rename(from, to string) error {
	return d.link(from, to, rename, os.Rename)
}

func (d *Disk) Link(from, to string) error {
	return d.link(from, to, create, os.Link)
}

// link gives a file a new name, and takes the old one if it is a rename.
func (d *Disk) link(from, to string, kind kind, do func(from, to string) error) error {
	d.names.Lock()
	defer d.names.Unlock()
	if err := do(from, to); err != nil {
		return err
	}

	a, okA := d.below(from)
	b, okB := d.below(to)
	if !okA || !okB {
		return nil
	}

	d.mu.Lock()
	defer d.mu.Unlock()
	o := op{kind: kind, inode: d.inodes[a], path: b}
	if kind == rename {
		d.forget(b)
		delete(d.inodes, a)
		o.path, o.to = a, b
	}

	d.inodes[b] = o.inode
	d.append(o)

	return nil
}

func (d *Disk) Remove(path string) error {
	d.names.Lock()
	defer d.names.Unlock()
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
		// The disk gives no inode to a folder or to the index of SQLite's log.
		return
	}
	d.forget(rel)
	d.append(op{kind: remove, inode: inode, path: rel})
}

// forget removes a name, and frees the bytes of the file if it has no other name.
func (d *Disk) forget(rel string) {
	inode, known := d.inodes[rel]
	if !known {
		return
	}
	delete(d.inodes, rel)

	for _, other := range d.inodes {
		if other == inode {
			return
		}
	}
	d.give(d.sizes[inode])
	delete(d.sizes, inode)
}

// give returns n bytes to a disk with a limit, or takes -n.
func (d *Disk) give(n int64) {
	if d.free != unlimited {
		d.free += n
	}
}

func (d *Disk) SyncFolder(path string) error {
	if err := d.beforeSync(); err != nil {
		return err
	}
	if rel, ok := d.below(path); ok {
		d.names.Lock()
		defer d.names.Unlock()
		d.record(op{kind: syncFolder, path: rel})
	}

	return nil
}

// node is an open file.
type node struct {
	disk  *Disk
	inode int
}

func (n node) wrote(off int64, data []byte) {
	if len(data) > 0 && !n.disk.silent {
		n.disk.record(op{kind: write, inode: n.inode, off: off, data: append([]byte(nil), data...)})
	}
}

// grow takes the space that the file needs to reach this size. It fails if the space is not free.
func (n node) grow(size int64) error {
	d := n.disk
	d.wait(write)
	d.mu.Lock()
	defer d.mu.Unlock()
	more := size - d.sizes[n.inode]
	if more <= 0 {
		return nil
	}
	if d.free != unlimited && more > d.free {
		d.refused++
		return syscall.ENOSPC
	}
	d.give(-more)
	d.sizes[n.inode] = size

	return nil
}

// shrink frees the space of a file that was cut to this size.
func (n node) shrink(size int64) {
	d := n.disk
	d.mu.Lock()
	defer d.mu.Unlock()
	d.give(d.sizes[n.inode] - size)
	d.sizes[n.inode] = size
}

func (n node) sync() error {
	if err := n.disk.beforeSync(); err != nil {
		return err
	}
	n.disk.record(op{kind: syncFile, inode: n.inode})
	return nil
}

// stream is a payload that is written from its beginning to its end.
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

func (s *stream) Sync() error { return s.node.sync() }
