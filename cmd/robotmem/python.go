package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	"github.com/robotmem/robotmem-go/robotmem/archive/python"
	"github.com/robotmem/robotmem-go/robotmem/local"
)

// pythonFlags say how a memory.db of the Python robotmem is read.
type pythonFlags struct {
	VectorsOf string `name:"vectors-of" placeholder:"MODEL" help:"memory.db: the model that its vectors were made with, such as nomic-embed-text. They are taken over when this memory's are of the same; else they are made anew."`
	TimeZone  string `name:"time-zone" placeholder:"ZONE" help:"memory.db: the zone of times that name none, such as Europe/Berlin or Local (default UTC)."`
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
			Collection: a.Config.Collection, DryRun: c.DryRun, Model: c.VectorsOf,
			Refused: func(where string, err error) {
				bar.Clear()
				fmt.Fprintf(a.Stderr, "robotmem: import: %s: %s\n", where, oneLine(err.Error()))
			},
		})
		bar.Done()
		if err := c.arrived(a, report, err); err != nil || c.JSON {
			return errors.Join(err, c.notedPython(a.Stderr, src.Report(), report, zone))
		}
		return c.notedPython(a.Stdout, src.Report(), report, zone)
	})
}

// notedPython says what was read otherwise than it stood there.
func (c *importCmd) notedPython(out io.Writer, r python.Report, got *local.ImportReport, zone *time.Location) error {
	w := &lines{w: out}
	if r.Naive > 0 {
		w.line("%s without a zone, read as %s", plural(r.Naive, "time", "times"), zone)
	}
	left := r.Vectors - got.Vectors
	switch {
	case left <= 0:
	case c.VectorsOf == "":
		w.line("%s not taken over: made anew by the embedder; --vectors-of says which model they are of", plural(left, "vector", "vectors"))
	case c.DryRun:
		w.line("%s in the file; a dry run does not say which of them would be taken over", plural(left, "vector", "vectors"))
	default:
		for _, why := range slices.Sorted(maps.Keys(got.VectorsLeft)) {
			w.line("%s of %s not taken over: %s", plural(got.VectorsLeft[why], "vector", "vectors"), oneLine(c.VectorsOf), oneLine(why))
		}
	}
	for _, what := range slices.Sorted(maps.Keys(r.Notes)) {
		w.line("%s: %d", oneLine(what), r.Notes[what])
	}
	return w.err
}
