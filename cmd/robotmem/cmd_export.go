package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/robotmem/robotmem-go/robotmem"
)

type exportCmd struct {
	MCAP     string `name:"mcap" placeholder:"FILE" help:"Write perceptions and facts as an MCAP file instead, which Foxglove and the mcap tool open. Recorded messages are written as they were."`
	Archive  string `name:"archive" placeholder:"FILE" help:"Write everything without loss as a tar: memories of every status with their past, episodes, payloads, who refers to whom. FILE.tar.zst is compressed; - is stdout."`
	Markdown string `name:"markdown" placeholder:"DIR" help:"Write a file for every memory and episode, its fields as front matter, payloads beside, to a new folder; editors of notes open it."`
	Hashes   bool   `name:"hashes" help:"List the content hash of every record and payload; two nodes hold the same when their lists are equal."`
	Session  string `name:"session" placeholder:"ID" help:"With --mcap, --archive, --markdown and --hashes: only this episode."`
	JSON     bool   `name:"json" help:"With --mcap, --archive and --markdown: print the account as JSON; with --hashes the list."`
}

// Run writes the facts oldest first, so that an import gives them ids in the
// same order. The memory lists the newest first: pages are kept in a temporary
// file and copied from the last to the first.
func (c *exportCmd) Run(ctx context.Context, a *app) (err error) {
	switch asked := c.asked(); {
	case len(asked) > 1:
		return invalid(asked[1], "is another export than --%s; ask for one at a time", asked[0])
	case c.MCAP != "":
		return c.mcap(ctx, a)
	case len(asked) > 0:
		return c.moves(ctx, a)
	case c.Session != "":
		return invalid("session", "is for --mcap, --archive, --markdown and --hashes; an export of facts writes those of all episodes")
	}
	if err := a.existing(); err != nil {
		return err
	}
	spool, err := os.CreateTemp("", "robotmem-export-*")
	if err != nil {
		return &robotmem.Error{Kind: robotmem.Unavailable, Err: err}
	}
	// Where an open file can be removed, no end of this process leaves it.
	early := os.Remove(spool.Name())
	defer func() {
		err = errors.Join(err, spool.Close())
		if early != nil {
			err = errors.Join(err, os.Remove(spool.Name()))
		}
	}()
	return a.Use(ctx, func(m node) error {
		bar := a.newProgress("export", 0)
		defer bar.Done()
		ends, err := c.spool(ctx, a, m, spool, bar)
		if err != nil {
			return err
		}
		out := bufio.NewWriterSize(a.Stdout, 1<<20)
		if err := copyBackward(out, spool, ends); err != nil {
			return fmt.Errorf("export: %w", err)
		}
		return out.Flush()
	})
}

// asked are the flags that ask for something else than facts.
func (c *exportCmd) asked() (flags []string) {
	for _, f := range []struct {
		name string
		on   bool
	}{{"mcap", c.MCAP != ""}, {"archive", c.Archive != ""}, {"markdown", c.Markdown != ""}, {"hashes", c.Hashes}} {
		if f.on {
			flags = append(flags, f.name)
		}
	}
	return flags
}

// copyBackward copies the pages, which end at ends, from the last to the first.
func copyBackward(out io.Writer, spool io.ReaderAt, ends []int64) error {
	for i, end := range slices.Backward(ends) {
		start := int64(0)
		if i > 0 {
			start = ends[i-1]
		}
		if _, err := io.Copy(out, io.NewSectionReader(spool, start, end-start)); err != nil {
			return err
		}
	}
	return nil
}

// spool writes every page, oldest first within it, and returns where each
// ends. Pages are asked for by id, so that what is learnt or forgotten meanwhile
// moves nothing onto another page.
func (c *exportCmd) spool(ctx context.Context, a *app, m robotmem.Service, spool io.Writer, bar *progress) (ends []int64, err error) {
	req := &robotmem.ListRequest{Limit: listPage, Collection: a.Config.Collection, Type: "fact"}
	for end := int64(0); ; {
		res, err := m.List(ctx, req)
		if err != nil {
			return nil, err
		}
		var lines []byte
		for _, fact := range slices.Backward(res.Memories) {
			line, err := encode(learnRequest(&fact))
			if err != nil {
				return nil, err
			}
			lines = append(lines, line...)
			bar.Add(1)
		}
		if _, err := spool.Write(lines); err != nil {
			return nil, fmt.Errorf("export: %w", err)
		}
		end += int64(len(lines))
		ends = append(ends, end)
		if len(res.Memories) < listPage {
			return ends, nil
		}
		req.BeforeID = res.Memories[len(res.Memories)-1].MemoryID
	}
}

// learnRequest is the request that a fact could be learnt with again. Its
// session is left out: it belongs to this file.
func learnRequest(m *robotmem.Memory) *robotmem.LearnRequest {
	return &robotmem.LearnRequest{
		Insight: m.Content, Context: m.Context, Collection: m.Collection,
		Tags: m.UserTags, ObservedAt: &m.ObservedAt,
		Pinned: &m.Pinned, Source: m.Source,
	}
}
