// Package folder follows a folder in which people and other programs write: it says which files there are, whether a
// file is still being written, and when something changes. It reads and writes files so that neither side sees half of
// one.
package folder

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/robotmem/robotmem-go/perception/importers"
)

// Options say how long to wait. A zero field stands for its default.
type Options struct {
	Settle time.Duration // a file is whole when it has not changed for so long: 1 s; below 0 at once
	Rescan time.Duration // how often all is looked at without an event, which may be lost: 1 minute
}

// quiet is the pause after which a series of events is answered together, and quietMost the longest wait for it.
const (
	quiet     = 200 * time.Millisecond
	quietMost = 2 * time.Second
)

// Folder is a folder that is followed. It is for one goroutine at a time.
type Folder struct {
	Path    string // absolute
	options Options
	root    *os.Root
	events  *fsnotify.Watcher // nil if the system offers none
	seen    map[string]seen   // by name
	waiting bool              // some file is still being written, or has just gone
	gone    map[string]time.Time
}

type seen struct {
	size     int64
	modified time.Time
	since    time.Time // when it was first seen so
}

// File is a regular file of the folder.
type File struct {
	Name     string // relative, with slashes
	Size     int64
	Modified time.Time
	Whole    bool // it is not being written
}

// Open opens a folder.
func Open(dir string, o Options) (*Folder, error) {
	if o.Settle == 0 {
		o.Settle = time.Second
	}
	if o.Rescan <= 0 {
		o.Rescan = time.Minute
	}

	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(abs)
	if err != nil {
		return nil, err
	}

	// Without events the folder is looked at now and then.
	events, err := fsnotify.NewWatcher()
	if err != nil {
		events = nil
	}

	return &Folder{Path: abs, options: o, root: root, events: events, seen: map[string]seen{}, gone: map[string]time.Time{}}, nil
}

// Close ends the following.
func (f *Folder) Close() error {
	err := f.root.Close()
	if f.events != nil {
		err = errors.Join(err, f.events.Close())
	}
	return err
}

// Files returns the regular files with accepted names. Names that begin with a dot or a tilde are those of editors, and
// are left out like the folders of such a name. Links are not followed, since they may lead out of the folder; skipped
// names them.
func (f *Folder) Files(accept func(name string) bool) (files []File, skipped []string, err error) {
	now := time.Now()
	before := f.seen
	f.seen, f.waiting = map[string]seen{}, false

	err = fs.WalkDir(f.root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) && name != "." {
			return nil // it has gone since
		}
		if err != nil {
			return err
		}

		base := path.Base(name)
		hidden := name != "." && (strings.HasPrefix(base, ".") || strings.HasPrefix(base, "~"))

		switch {
		case d.IsDir() && hidden:
			return fs.SkipDir
		case d.IsDir():
			if f.events != nil {
				// Over the limit of the system, the folder is looked at now and then.
				_ = f.events.Add(filepath.Join(f.Path, filepath.FromSlash(name)))
			}
			return nil
		case hidden || !accept(name):
			return nil
		case !d.Type().IsRegular():
			skipped = append(skipped, name)
			return nil
		}

		info, err := d.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}

		s := seen{info.Size(), info.ModTime(), now}
		if old, ok := before[name]; ok && old.size == s.size && old.modified.Equal(s.modified) {
			s.since = old.since
		}
		f.seen[name] = s

		// A time in the future says nothing.
		age := now.Sub(s.modified)
		whole := age >= f.options.Settle && age >= 0 || now.Sub(s.since) >= f.options.Settle
		if !whole {
			f.waiting = true
		}
		files = append(files, File{name, s.size, s.modified, whole})

		return nil
	})
	if err != nil {
		return nil, nil, fmt.Errorf("the folder cannot be read: %w", err)
	}

	return files, skipped, nil
}

// Gone reports whether a file that is not among the files has been missing for a while: editors replace a file by
// removing it first.
func (f *Folder) Gone(name string) bool {
	if _, there := f.seen[name]; there {
		delete(f.gone, name)
		return false
	}

	since, known := f.gone[name]
	if !known {
		since = time.Now()
		f.gone[name] = since
	}
	if time.Since(since) < f.options.Settle {
		f.waiting = true
		return false
	}
	delete(f.gone, name)

	return true
}

// There forgets that a file was missing.
func (f *Folder) There(name string) { delete(f.gone, name) }

// ErrChanging means that a file changed while it was read. It will be whole later.
var ErrChanging = errors.New("it is being written")

// Read reads a whole file of at most limit bytes.
func (f *Folder) Read(name string, limit int64) ([]byte, error) {
	file, info, err := importers.OpenFile(f.root, filepath.FromSlash(name))
	if err != nil {
		return nil, err
	}
	defer file.Close()

	if info.Size() > limit {
		return nil, fmt.Errorf("it has %d bytes, and the limit is %d", info.Size(), limit)
	}
	data, err := io.ReadAll(io.LimitReader(file, limit+1))
	if err != nil {
		return nil, err
	}

	after, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if int64(len(data)) != info.Size() || after.Size() != info.Size() || !after.ModTime().Equal(info.ModTime()) {
		f.waiting = true
		return nil, ErrChanging
	}

	return data, nil
}

// Write puts a file there at once: whoever reads it sees the old one or the new one. was is what the file must still
// have, nil if there must be none; otherwise it fails with ErrChanging and changes nothing.
func (f *Folder) Write(name string, data, was []byte) error {
	at := filepath.FromSlash(name)
	if err := f.root.MkdirAll(filepath.Dir(at), 0o700); err != nil {
		return err
	}

	temporary := filepath.Join(filepath.Dir(at), temporaryPrefix+rand.Text())
	file, err := f.root.OpenFile(temporary, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(data)
	err = errors.Join(err, file.Sync(), file.Close())
	if err == nil {
		err = f.unchanged(name, was)
	}
	if err == nil {
		err = f.root.Rename(temporary, at)
	}
	if err != nil {
		return errors.Join(err, f.root.Remove(temporary))
	}

	return nil
}

// temporaryPrefix is hidden, so that Files leaves it out.
const temporaryPrefix = ".robotmem-writing-"

// Remove removes a file that still has what it had.
func (f *Folder) Remove(name string, was []byte) error {
	if err := f.unchanged(name, was); err != nil {
		return err
	}
	return f.root.Remove(filepath.FromSlash(name))
}

func (f *Folder) unchanged(name string, was []byte) error {
	now, err := f.Read(name, max(int64(len(was)), 1))

	switch {
	case errors.Is(err, fs.ErrNotExist) && was == nil:
		return nil
	case err != nil || was == nil || string(now) != string(was):
		f.waiting = true
		return ErrChanging
	}

	return nil
}

// Private reads and writes a file of the program in the folder, whose name begins with a dot.
func (f *Folder) Private(name string) ([]byte, error) {
	data, err := f.root.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return data, err
}

// SetPrivate replaces a file of the program.
func (f *Folder) SetPrivate(name string, data []byte) error {
	temporary := temporaryPrefix + "state"
	file, err := f.root.OpenFile(temporary, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(data)
	if err = errors.Join(err, file.Sync(), file.Close()); err != nil {
		return err
	}

	return f.root.Rename(temporary, name)
}

// Waiting reports whether a file is still being written or has just gone, so that it must be looked at again soon.
func (f *Folder) Waiting() bool { return f.waiting }

// Wait returns when something may have changed: after an event of the folder or of other, when a file that was being
// written may be whole, or after the time of a rescan. It fails when the context ends.
func (f *Folder) Wait(ctx context.Context, other <-chan struct{}) error {
	rest := f.options.Rescan
	if f.waiting {
		rest = max(f.options.Settle, quiet)
	}
	timer := time.NewTimer(rest)
	defer timer.Stop()

	var (
		events   chan fsnotify.Event
		failures chan error
	)
	if f.events != nil {
		events, failures = f.events.Events, f.events.Errors
	}

	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	case <-other:
	case <-events:
	case <-failures: //nolint:errcheck // events were lost, so all is looked at
	}

	// More of them follow in most cases.
	most := time.NewTimer(quietMost)
	defer most.Stop()

	for {
		pause := time.NewTimer(quiet)
		select {
		case <-ctx.Done():
			pause.Stop()
			return ctx.Err()
		case <-events:
			pause.Stop()
		case <-failures: //nolint:errcheck // as above
			pause.Stop()
		case <-most.C:
			pause.Stop()
			return nil
		case <-pause.C:
			return nil
		}
	}
}
