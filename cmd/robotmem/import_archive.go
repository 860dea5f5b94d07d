package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/archive"
	"github.com/robotmem/robotmem-go/robotmem/archive/markdown"
	"github.com/robotmem/robotmem-go/robotmem/archive/python"
	"github.com/robotmem/robotmem-go/robotmem/local"
)

// archive imports the file of an export --archive.
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
		src, err := archive.NewReader(io.TeeReader(in, bar), archive.ReaderOptions{})
		if err != nil {
			return &robotmem.Error{Op: "import", Kind: robotmem.Invalid, Field: "file", Err: err}
		}
		defer func() { _ = src.Close() }() // it was only read
		report, err := m.Import(ctx, src, local.ImportOptions{Collection: a.Config.Collection, DryRun: c.DryRun})
		bar.Done()
		return c.arrived(a, report, nil, err)
	})
}

// python imports a memory.db of the Python robotmem.
func (c *importCmd) python(ctx context.Context, a *app) error {
	zone, err := time.LoadLocation(c.TimeZone)
	if err != nil {
		return invalid("time-zone", "%q is no zone; one is UTC, Local or as in Europe/Berlin", c.TimeZone)
	}
	return c.useFile(ctx, a, func(m *local.Node) error {
		src, err := python.Open(ctx, c.File, python.Options{Location: zone})
		if err != nil {
			return err
		}
		defer func() { _ = src.Close() }() // it was only read
		ctx, bar := a.watched(ctx)
		defer bar.Done()
		report, err := m.Import(ctx, src, local.ImportOptions{
			Collection: a.Config.Collection, DryRun: c.DryRun,
			Refused: func(where string, err error) { a.refused(bar, where, err) },
		})
		bar.Done()
		err = c.arrived(a, report, nil, err)
		if report == nil {
			return err
		}
		w := &lines{w: a.Stdout}
		if err != nil || c.JSON {
			w.w = a.Stderr
		}
		w.fields(reflect.ValueOf(src.Report()), "in the file: ") // what was read with an assumption
		return errors.Join(err, w.err)
	})
}

// markdown imports Markdown files and learns the notes among them.
func (c *importCmd) markdown(ctx context.Context, a *app) error {
	return c.useFile(ctx, a, func(m *local.Node) error {
		ctx, bar := a.watched(ctx)
		defer bar.Done()
		bad := int64(0)
		refused := func(where string, err error) { a.refused(bar, where, err) }
		src, err := markdown.Open(c.File, func(where string, err error) {
			bad++
			refused(where, err)
		})
		if err != nil {
			return err
		}
		defer func() { _ = src.Close() }() // it was only read
		report, err := m.Import(ctx, src, local.ImportOptions{Collection: a.Config.Collection, DryRun: c.DryRun, Refused: refused})
		learnt := markdown.Counts{Read: src.Facts()}
		if err == nil && !c.DryRun {
			learnt, err = src.Learn(ctx, inCollection(m, a.Config.Collection), refused)
		}
		bar.Done()
		if report != nil {
			report.Memories.Refused += bad
		}
		return c.arrived(a, report, &learnt, err)
	})
}

// arrived prints the report of an import, also of one that failed: what it counts is stored.
// learnt counts the notes of Markdown files.
func (c *importCmd) arrived(a *app, r *local.ImportReport, learnt *markdown.Counts, failed error) error {
	if r == nil {
		return failed
	}
	refused := r.Memories.Refused + r.Sessions.Refused
	if learnt != nil {
		refused += learnt.Bad
	}
	answer := struct {
		*local.ImportReport
		Learnt *markdown.Counts `json:"learnt,omitempty"`
	}{r, learnt}
	err := a.show(c.JSON, answer, func(w *lines) {
		w.line("%s", map[bool]string{true: "would import:", false: "imported:"}[c.DryRun])
		w.fields(reflect.ValueOf(answer), "")
	})
	switch {
	case errors.Is(failed, context.Canceled):
		failed = &exitError{code: exitCodes[robotmem.Unavailable], err: errors.New("import: stopped; run the same command again to go on")}
	case failed != nil && !c.DryRun && learnt == nil:
		failed = fmt.Errorf("%w; what came before was checked and is stored; run it again with a whole file to go on", failed)
	case failed == nil && refused > 0:
		failed = &exitError{code: exitCodes[robotmem.Invalid]}
	}
	return errors.Join(failed, err)
}
