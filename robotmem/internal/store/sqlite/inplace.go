package sqlite

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/robotmem/robotmem-go/robotmem"
)

// A process that has a file open goes on writing to it after its name is gone, or is
// that of another file: nobody finds what it acknowledges then. So before each commit
// the names are compared with what this process has opened.

// openFiles are the files that SQLite has open for this process, and the folder beside
// them. No other file gets their inodes meanwhile.
type openFiles struct {
	mu     sync.Mutex // guards the fields below
	files  []openFile
	folder *os.File // nil until it is there
	logged bool     // that they are not in place
}

type openFile struct {
	path, what, remedy string
	look               func(string) (fs.FileInfo, error)
	info               fs.FileInfo
}

const (
	remedyPutBack = "put it back under its name, and writing goes on"
	remedyEnd     = "put it back, or end this node as usual (SIGTERM), which brings the log into the file, and start it again"
)

var (
	errNotInPlace = errors.New("not every file is in place")
	errLogAway    = errors.New("the file is in place, and its log or the index of that is not")
)

// noteFiles remembers what SQLite has opened. The caller prevents a restore.
func (db *DB) noteFiles() {
	for _, f := range []openFile{
		{path: db.path, what: "the memory's file", remedy: remedyPutBack},
		{path: db.files.Log(), what: "the log of the memory's file (-wal)", remedy: remedyEnd},
		{path: db.files.LogIndex(), what: "the index of the file's log (-shm)", remedy: remedyEnd},
	} {
		f.look = os.Lstat

		var err error
		// On Windows this reads the file's id.
		if f.info, err = os.Lstat(f.path); err == nil && os.SameFile(f.info, f.info) {
			db.open.files = append(db.open.files, f)
		}
	}
}

// InPlace fails with Unavailable if the file, its log or the folder beside it was moved, deleted
// or replaced since this process opened it. The cause of the error names both files.
func (db *DB) InPlace() error {
	o := &db.open
	o.mu.Lock()
	defer o.mu.Unlock()
	// The folder may be created after the file was opened.
	if o.folder == nil {
		path := db.files.Payloads()
		if f, err := os.Open(path); err == nil {
			info, _ := f.Stat() // it is open
			o.folder = f
			o.files = append(o.files,
				openFile{
					path, "the folder of the memory's payloads", remedyPutBack + "; or start the node again without it",
					os.Stat, info,
				})
		}
	}

	err := o.away()
	switch logged := o.logged; {
	case err != nil && !logged:
		db.o.Log.Error("writing has stopped", "err", err, "cause", robotmem.Cause(err))
	case err == nil && logged:
		db.o.Log.Warn("every file is in place again; writing goes on")
	}

	o.logged = err != nil

	return err
}

// away returns the error of the files that are not in place. Its text is about the first.
func (o *openFiles) away() error {
	text, cause := "", errNotInPlace

	for _, f := range o.files {
		now, err := f.look(f.path)
		if err == nil && os.SameFile(f.info, now) {
			continue
		}
		found := "moved or deleted"
		if err == nil {
			found = "replaced by another"
		}
		if text == "" {
			text = fmt.Sprintf("%s was %s while this node has it open; nothing was stored, recall goes on; %s; the log of this node and robotmem doctor --url name both files", f.what, found, f.remedy)
			if f.remedy == remedyEnd {
				cause = errLogAway
			}
		}
		cause = fmt.Errorf("%w; %s was %s, open is %s", cause, f.path, found, whereOpen(f.info))
	}

	if text == "" {
		return nil
	}

	return &robotmem.Error{Kind: robotmem.Unavailable, Err: robotmem.Hide(text, cause)}
}

// whereOpen names the descriptor of an open file, from which the user can copy it, and
// the name that it has now.
func whereOpen(info fs.FileInfo) string {
	descriptors, _ := filepath.Glob("/proc/self/fd/*") // of Linux
	for _, d := range descriptors {
		if at, err := os.Stat(d); err == nil && os.SameFile(at, info) {
			name, _ := os.Readlink(d)
			return fmt.Sprintf("/proc/%d/fd/%s (%s)", os.Getpid(), filepath.Base(d), name)
		}
	}

	return fmt.Sprintf("held by process %d", os.Getpid())
}
