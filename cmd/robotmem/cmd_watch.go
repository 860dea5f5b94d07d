package main

import (
	"context"
	"errors"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/documents"
	"github.com/robotmem/robotmem-go/robotmem/local"
	"github.com/robotmem/robotmem-go/robotmem/notes"
)

type watchCmd struct {
	Folder string `arg:"" help:"The folder to follow, with those in it. Names that begin with a dot or a tilde and links are left out."`
	Notes  bool   `name:"notes" help:"Keep the facts of the collection and the Markdown files of the folder equal, both ways. A file that a person has changed wins."`
	Once   bool   `name:"once" help:"Bring both sides together as they are now, and end."`
}

// follower is the common interface of the two ways to follow a folder.
type follower interface {
	Run(ctx context.Context) error
	Once(ctx context.Context) error
	Close() error
}

// Run follows the folder until it is interrupted. What it does is said on Stderr.
func (c *watchCmd) Run(ctx context.Context, a *app) error {
	ctx = robotmem.WithCaller(ctx, robotmem.Caller{Who: local.OSUser(), Tool: robotmem.ToolImport})

	return a.Use(ctx, func(m robotmem.Node) error {
		f, err := c.open(a, m)
		if err != nil {
			return err
		}

		run := f.Run
		if c.Once {
			run = f.Once
		}

		return errors.Join(run(ctx), f.Close())
	})
}

func (c *watchCmd) open(a *app, m robotmem.Node) (follower, error) {
	if c.Notes {
		return notes.Open(m, c.Folder, notes.Options{Collection: a.Config.Collection, Report: func(n notes.Change) {
			if n.Err != nil {
				a.refused(n.Name, n.Err)
				return
			}
			a.note("%s: %s", n.Name, n.What)
		}})
	}

	return documents.Watch(m, c.Folder, documents.WatchOptions{Collection: a.Config.Collection, Report: func(d documents.Change) {
		switch {
		case d.Err != nil:
			a.refused(d.Name, d.Err)
		case d.Stored == nil:
			a.note("%s: removed", d.Name)
		default:
			a.note("%s", d.Stored)
		}
	}})
}
