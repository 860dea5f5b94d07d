package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"os"
	"slices"
	"time"

	"github.com/robotmem/robotmem-go/perception/importing"
	"github.com/robotmem/robotmem-go/perception/recording"
	"github.com/robotmem/robotmem-go/robotmem"
)

// maxExported bounds a payload that is written as one message.
const maxExported = 256 << 20

// exportEntry is a memory's place in the file.
type exportEntry struct {
	id       int64
	observed time.Time
	manifest bool
}

// mcap writes an episode, or all memories of the collection, in the order of
// their time. The file appears whole or not at all.
func (c *exportCmd) mcap(ctx context.Context, a *app) error {
	if err := a.existing(); err != nil {
		return err
	}
	return a.Use(ctx, func(m node) error {
		entries, err := c.entries(ctx, a, m)
		if err != nil {
			return err
		}
		bar := a.newProgress("export", int64(len(entries)))
		defer bar.Done()
		left := map[string]int{}
		var report *recording.ExportReport
		refuse := func(err error) error { return invalid("mcap", "%v", err) }
		err = wholeFile(c.MCAP, refuse, func(f *os.File) (err error) {
			out := bufio.NewWriterSize(f, 1<<20)
			if report, err = recording.Export(ctx, out, exportItems(ctx, m, entries, bar, left)); err != nil {
				return fmt.Errorf("export: %w", err)
			}
			return out.Flush()
		})
		bar.Done()
		if err != nil {
			return err
		}
		return c.account(a, report, left)
	})
}

// entries lists what is exported, manifests first and then by time.
func (c *exportCmd) entries(ctx context.Context, a *app, m node) ([]exportEntry, error) {
	var out []exportEntry
	add := func(ms []robotmem.Memory) {
		for i := range ms {
			out = append(out, exportEntry{ms[i].MemoryID, ms[i].ObservedAt, ms[i].MediaType == recording.ManifestType})
		}
	}
	for page, before := 1, int64(0); ; page++ {
		var res *robotmem.ListResponse
		var err error
		if c.Session != "" {
			res, err = m.SessionMemories(ctx, &robotmem.SessionMemoriesRequest{SessionID: c.Session, Page: page, Limit: listPage})
		} else {
			res, err = m.List(ctx, &robotmem.ListRequest{Limit: listPage, BeforeID: before, Collection: a.Config.Collection})
		}
		if err != nil {
			return nil, err
		}
		add(res.Memories)
		if len(res.Memories) < listPage {
			break
		}
		before = res.Memories[len(res.Memories)-1].MemoryID
	}
	first := func(e exportEntry) int {
		if e.manifest {
			return 0
		}
		return 1
	}
	slices.SortFunc(out, func(x, y exportEntry) int {
		return cmp.Or(first(x)-first(y), x.observed.Compare(y.observed), cmp.Compare(x.id, y.id))
	})
	return out, nil
}

// exportItems reads one memory after the other. What is left out is counted by
// reason.
func exportItems(ctx context.Context, m node, entries []exportEntry, bar *progress, left map[string]int) iter.Seq2[recording.Exported, error] {
	return func(yield func(recording.Exported, error) bool) {
		for _, e := range entries {
			item, reason, err := exportItem(ctx, m, e.id)
			bar.Add(1)
			if reason != "" {
				left[reason]++
				continue
			}
			if !yield(item, err) || err != nil {
				return
			}
		}
	}
}

func exportItem(ctx context.Context, m node, id int64) (item recording.Exported, reason string, err error) {
	mem, err := m.Get(ctx, &robotmem.GetRequest{MemoryID: id})
	if err != nil {
		return item, "", err
	}
	if mem.Status != "active" && mem.Status != "" {
		return item, mem.Status, nil
	}
	item = recording.Exported{UID: mem.UID, Fact: mem.Type == "fact", Category: mem.Category, Perception: importing.Perception{
		Type: mem.PerceptionType, Description: mem.Content, MediaType: mem.MediaType, Metadata: mem.Metadata, Context: mem.Context, ObservedAt: mem.ObservedAt,
	}}
	switch {
	case mem.SHA256 == "":
		return item, "", nil
	case mem.Bytes > maxExported:
		return item, fmt.Sprintf("over %s", sizeText(maxExported)), nil
	}
	data, err := m.OpenData(ctx, &robotmem.DataRequest{MemoryID: id})
	if errors.Is(err, robotmem.Corrupt) {
		return item, "its payload is lost or damaged", nil
	}
	if err != nil {
		return item, "", err
	}
	item.Data, err = io.ReadAll(data)
	if err := errors.Join(err, data.Close()); err != nil {
		return item, "its payload is lost or damaged", nil //nolint:nilerr // it is counted; the rest is exported
	}
	return item, "", nil
}

func (c *exportCmd) account(a *app, r *recording.ExportReport, left map[string]int) error {
	for reason, n := range r.Skipped {
		left[reason] += int(n)
	}
	if c.JSON {
		return a.PrintJSON(struct {
			File      string         `json:"file"`
			Messages  uint64         `json:"messages"`
			Originals uint64         `json:"originals"`
			Topics    int            `json:"topics"`
			Skipped   map[string]int `json:"skipped,omitempty"`
		}{c.MCAP, r.Messages, r.Originals, r.Topics, left})
	}
	w := &lines{w: a.Stdout}
	w.line("wrote %s: %d messages on %d topics, %d of them as they were recorded", c.MCAP, r.Messages, r.Topics, r.Originals)
	for _, reason := range slices.Sorted(maps.Keys(left)) {
		w.line("left out %d: %s", left[reason], reason)
	}
	return w.err
}
