package sensors

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"time"

	"github.com/robotmem/robotmem-go/perception/importers"
	"github.com/robotmem/robotmem-go/perception/importers/recording"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/admin"
)

const (
	// maxPayload bounds a payload that is written as one message, in bytes.
	maxPayload = 256 << 20
	listPage   = 1000
)

// ExportOptions choose the memories of ExportMCAP. The zero value is all of them.
type ExportOptions struct {
	Collection string
	Session    string // overrides Collection
	// Progress is called with the number of memories that were read, and that there are.
	Progress func(done, total int64)
}

// ExportMCAP writes memories in the order of their time. The report counts what was left out.
func ExportMCAP(ctx context.Context, m robotmem.Node, w io.Writer, o ExportOptions) (*recording.ExportReport, error) {
	entries, err := list(ctx, m, o)
	if err != nil {
		return nil, err
	}
	skipped := map[string]uint64{}
	report, err := recording.Export(ctx, w, items(ctx, m, entries, o.Progress, skipped))
	if err != nil {
		return nil, fmt.Errorf("export: %w", err)
	}

	for reason, n := range skipped {
		report.Skipped[reason] += n
	}

	return report, nil
}

// entry is the position of a memory in the file.
type entry struct {
	rank     int // manifests of recordings come first
	observed time.Time
	id       int64
}

// list lists the memories in the order of the file.
func list(ctx context.Context, m robotmem.Node, o ExportOptions) ([]entry, error) {
	var out []entry

	for cursor := ""; ; {
		var (
			res *robotmem.ListResponse
			err error
		)
		if o.Session != "" {
			req := &admin.SessionMemoriesRequest{SessionID: o.Session, Limit: listPage, Cursor: cursor}
			res, err = m.SessionMemories(ctx, req)
		} else {
			res, err = m.List(ctx, &robotmem.ListRequest{Collection: o.Collection, Limit: listPage, Cursor: cursor})
		}
		if err != nil {
			return nil, err
		}

		for _, memory := range res.Memories {
			e := entry{1, memory.ObservedAt, memory.MemoryID}
			if memory.MediaType == recording.ManifestType {
				e.rank = 0
			}
			out = append(out, e)
		}
		if cursor = res.Next; cursor == "" {
			break
		}
	}

	// The ids make the order of equal times the same in each export.
	slices.SortFunc(out, func(x, y entry) int {
		return cmp.Or(cmp.Compare(x.rank, y.rank), x.observed.Compare(y.observed), cmp.Compare(x.id, y.id))
	})

	return out, nil
}

// items reads one memory after the other and counts what is left out by reason.
func items(
	ctx context.Context, m robotmem.Node, entries []entry, progress func(done, total int64), skipped map[string]uint64,
) iter.Seq2[recording.Exported, error] {
	return func(yield func(recording.Exported, error) bool) {
		for i, e := range entries {
			item, reason, err := read(ctx, m, e.id)
			if progress != nil {
				progress(int64(i+1), int64(len(entries)))
			}
			if reason != "" {
				skipped[reason]++
				continue
			}
			if !yield(item, err) || err != nil {
				return
			}
		}
	}
}

// read reads a memory and its payload. A reason says why the memory is left out.
func read(ctx context.Context, m robotmem.Node, id int64) (item recording.Exported, reason string, err error) {
	mem, err := m.Get(ctx, &robotmem.MemoryRequest{MemoryID: id})
	if err != nil {
		return item, "", err
	}

	// A memory may have been forgotten since it was listed.
	if mem.Status != "active" && mem.Status != "" {
		return item, mem.Status, nil
	}

	// The map of a recording is drawn of a message that is in the file already.
	if _, drawn := mem.Context.At("map.kind"); drawn {
		if _, of := mem.Context.At("source.recording_id"); of {
			return item, "drawn of a message", nil
		}
	}

	item = recording.Exported{
		UID:      mem.UID,
		Fact:     mem.Type == "fact",
		Category: mem.Category,
		Perception: importers.Perception{
			Type:        mem.PerceptionType,
			Description: mem.Content,
			MediaType:   mem.MediaType,
			Metadata:    mem.Metadata,
			Context:     mem.Context,
			ObservedAt:  mem.ObservedAt,
		},
	}

	switch {
	case mem.SHA256 == "":
		return item, "", nil
	case mem.Bytes > maxPayload:
		return item, fmt.Sprintf("over %d.0 MiB", maxPayload>>20), nil
	}

	// A damaged payload must not end the export of all others.
	const damaged = "its payload is lost or damaged"

	data, err := m.OpenData(ctx, &robotmem.MemoryRequest{MemoryID: id})
	if errors.Is(err, robotmem.Corrupt) {
		return item, damaged, nil
	}
	if err != nil {
		return item, "", err
	}

	item.Data, err = io.ReadAll(data)
	if errors.Join(err, data.Close()) != nil {
		return item, damaged, nil
	}

	return item, "", nil
}
