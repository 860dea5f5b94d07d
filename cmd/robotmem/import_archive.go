package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/archive"
	"github.com/robotmem/robotmem-go/robotmem/archive/python"
	"github.com/robotmem/robotmem-go/robotmem/local"
)

// archive imports what an export --archive made.
func (c *importCmd) archive(ctx context.Context, a *app) error {
	in, size := a.Stdin, int64(0)
	if c.File != "-" {
		f, err := os.Open(c.File)
		if err != nil {
			return invalid("file", "%v", err)
		}
		defer f.Close()
		if info, err := f.Stat(); err == nil {
			size = info.Size()
		}
		in = f
	}
	return c.useFile(ctx, a, func(m *local.Node) error {
		bar := a.newProgress("import", size).inBytes()
		defer bar.Done()
		src, err := archive.NewReader(&counted{in, bar}, archive.ReaderOptions{})
		if err != nil {
			return archiveError(err)
		}
		defer func() { _ = src.Close() }() // it was only read
		report, err := m.Import(ctx, src, local.ImportOptions{Collection: a.Config.Collection, DryRun: c.DryRun})
		bar.Done()
		return c.arrived(a, report, err)
	})
}

// useFile is UseFile, which in a dry run makes no memory where there is none: an
// empty one of its own answers instead.
func (c *importCmd) useFile(ctx context.Context, a *app, f func(*local.Node) error) error {
	if !c.DryRun || a.Config.URL != "" {
		return a.UseFile(ctx, "file", f)
	}
	path, err := a.Config.dbPath()
	if err != nil {
		return err
	}
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		return a.UseFile(ctx, "file", f)
	}
	dir, err := os.MkdirTemp("", "robotmem-dry-run-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }() // it holds nothing
	m, err := a.open(ctx, filepath.Join(dir, "memory.db"), clientCLI)
	if err != nil {
		return err
	}
	return errors.Join(f(m), m.Close())
}

func archiveError(err error) error {
	return &robotmem.Error{Op: "import", Kind: robotmem.Invalid, Field: "file", Err: err}
}

// arrived prints the account of an import, of one that failed too: what it says
// is stored.
func (c *importCmd) arrived(a *app, r *local.ImportReport, failed error) error {
	if r == nil {
		return failed
	}
	err := c.printArrived(a, r)
	switch {
	case errors.Is(failed, context.Canceled):
		failed = &exitError{code: exitCodes[robotmem.Unavailable], err: errors.New("import: stopped; run the same command again to go on")}
	case failed != nil && !c.DryRun:
		failed = fmt.Errorf("%w; what came before was checked and is stored; run it again with a whole file to go on", failed)
	case failed == nil && r.Memories.Refused+r.Sessions.Refused > 0:
		failed = &exitError{code: exitCodes[robotmem.Invalid]}
	}
	return errors.Join(failed, err)
}

func (c *importCmd) printArrived(a *app, r *local.ImportReport) error {
	if c.JSON {
		return a.PrintJSON(r)
	}
	w := &lines{w: a.Stdout}
	verb := "imported"
	if c.DryRun {
		verb = "would import"
	}
	for _, sort := range []struct {
		name string
		n    local.ImportCount
	}{{"memories", r.Memories}, {"sessions", r.Sessions}} {
		w.line("%s %s: %d new, %d brought up to date, %d the same, %d newer here and kept, %d refused", verb, sort.name,
			sort.n.Created, sort.n.Updated, sort.n.Same, sort.n.Kept, sort.n.Refused)
	}
	if r.Memories.Purged > 0 {
		w.line("%s purged here and not taken back", plural(r.Memories.Purged, "memory was", "memories were"))
	}
	w.line("payloads: %d stored (%s), %d known, %d missing", r.Payloads.Stored, sizeText(r.Payloads.Bytes), r.Payloads.Known, r.Payloads.Missing)
	if !c.DryRun {
		w.line("links: %d set, %d to what is not here", r.Links.Set, r.Links.Dangling)
	}
	if r.Vectors > 0 {
		w.line("vectors: %d taken over", r.Vectors)
	}
	for _, name := range slices.Sorted(maps.Keys(r.Unplaced)) {
		w.line("no place for %s: %s", oneLine(name), count(r.Unplaced[name], "value"))
	}
	return w.err
}

// counted moves a bar by what is read.
type counted struct {
	io.Reader
	bar *progress
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.bar.Add(int64(n))
	return n, err
}

// source looks at what a path holds, stdin too.
func (a *app) source(ctx context.Context, path string) (importSource, error) {
	if path != "-" {
		return sourceOfFile(ctx, path)
	}
	head := make([]byte, archive.HeadBytes)
	n, err := io.ReadFull(a.Stdin, head)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return 0, invalid("file", "%v", err)
	}
	a.Stdin = io.MultiReader(bytes.NewReader(head[:n]), a.Stdin)
	if archive.Recognizes(bytes.NewReader(head[:n])) {
		return sourceArchive, nil
	}
	return sourceFacts, nil
}

var sqliteMagic = []byte("SQLite format 3\x00")

// ownMemory refuses a memory of this program, or a backup of one, and says how its
// memories are taken in.
func ownMemory(path string) error {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil // said by whoever opens it
	case info.IsDir():
		found, _ := filepath.Glob(filepath.Join(path, "*", "backup.json")) // a path that is no pattern names none
		if len(found) > 0 {
			path = filepath.Dir(found[len(found)-1]) // the newest of a folder of backups
		}
		if beginsWith(filepath.Join(path, "memory.db"), sqliteMagic) && beginsWith(filepath.Join(path, "backup.json"), []byte("{")) {
			return invalid("file", "%s is a backup of a memory of this program; run robotmem backup restore %s to put it back, or robotmem --db %s export --archive - | robotmem import - to add its memories to another", path, path, filepath.Join(path, "memory.db"))
		}
	case info.Mode().IsRegular() && beginsWith(path, sqliteMagic) && holdsAt(path, 68, []byte("rbtm")): // the application id
		return invalid("file", "%s is a memory of this program; run robotmem --db %s export --archive - | robotmem import - to add its memories to another", path, path)
	}
	return nil
}

func holdsAt(path string, at int64, want []byte) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	found := make([]byte, len(want))
	_, err = f.ReadAt(found, at)
	return err == nil && bytes.Equal(found, want)
}

// sourceOfFile is sourceOf, which knows what holds a memory too.
func sourceOfFile(ctx context.Context, path string) (importSource, error) {
	if err := ownMemory(path); err != nil {
		return 0, err
	}
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		kind, err := sourceOf(path)
		if err == nil && kind == sourceFolder && isMarkdown(path) {
			kind = sourceMarkdown
		}
		return kind, err
	}
	if isMarkdown(path) {
		return sourceMarkdown, nil
	}
	f, err := os.Open(path)
	if err != nil {
		return 0, invalid("file", "%v", err)
	}
	defer f.Close()
	if beginsWith(path, sqliteMagic) {
		if is, err := python.IsMemory(ctx, path); err == nil && is {
			return sourcePython, nil
		}
	}
	if archive.Recognizes(f) {
		return sourceArchive, nil
	}
	return sourceOf(path)
}
