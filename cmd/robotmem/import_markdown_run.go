package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/local"
)

// markdown imports notes.
func (c *importCmd) markdown(ctx context.Context, a *app) error {
	return c.useFile(ctx, a, func(m *local.Node) error {
		ctx, bar := a.watched(ctx)
		defer bar.Done()
		bad := 0
		refused := func(where string, err error) {
			bar.Clear()
			fmt.Fprintf(a.Stderr, "robotmem: import: %s: %s\n", oneLine(where), oneLine(err.Error()))
		}
		src, err := openNotes(c.File, func(where string, err error) { bad++; refused(where, err) })
		if err != nil {
			return err
		}
		defer func() { _ = src.Close() }() // it was only read
		report, err := m.Import(ctx, src, local.ImportOptions{Collection: a.Config.Collection, DryRun: c.DryRun, Refused: refused})
		learnt := &notesLearnt{}
		if err == nil && !c.DryRun {
			err = learnt.learn(ctx, inCollection(m, a.Config.Collection), src.written, refused)
		}
		bar.Done()
		if report == nil {
			return err
		}
		report.Memories.Refused += int64(bad)
		if c.DryRun {
			learnt.Read = int64(len(src.written))
		}
		return c.arrivedNotes(a, report, learnt, err)
	})
}

// notesLearnt is what became of the facts of notes that somebody wrote.
type notesLearnt struct {
	Read       int64 `json:"read"`
	Created    int64 `json:"created"`
	Duplicates int64 `json:"duplicates"`
	Bad        int64 `json:"bad"`
}

func (l *notesLearnt) learn(ctx context.Context, m robotmem.Service, found []learntNote, refused func(string, error)) error {
	op := robotmem.OpByName("learn_batch")
	for len(found) > 0 {
		part := found[:min(importRows, len(found))]
		found = found[len(part):]
		b := &importBatch{}
		for _, f := range part {
			b.items = append(b.items, f.line)
		}
		request, err := b.request(false)
		if err != nil {
			return err
		}
		answer, err := op.Call(ctx, m, request)
		if err != nil {
			return err
		}
		for i, item := range answer.(*robotmem.LearnBatchResponse).Results {
			l.Read++
			switch {
			case item.Error != nil:
				l.Bad++
				refused(part[i].where, &robotmem.Error{Kind: item.Error.Kind, Field: item.Error.Field, Err: errors.New(item.Error.Detail)})
			case item.Status == "created":
				l.Created++
			default:
				l.Duplicates++
			}
		}
	}
	return nil
}

func (c *importCmd) arrivedNotes(a *app, r *local.ImportReport, l *notesLearnt, failed error) error {
	var err error
	if c.JSON {
		err = a.PrintJSON(struct {
			*local.ImportReport
			Learnt *notesLearnt `json:"learnt"`
		}{r, l})
	} else {
		if err = c.printArrived(a, r); err == nil && l.Read > 0 {
			_, err = fmt.Fprintf(a.Stdout, "notes: %d facts, %d new, %d known, %d bad\n", l.Read, l.Created, l.Duplicates, l.Bad)
		}
	}
	if failed == nil && r.Memories.Refused+r.Sessions.Refused+l.Bad > 0 {
		failed = &exitError{code: exitCodes[robotmem.Invalid]}
	}
	return errors.Join(failed, err)
}
