package engine

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"

	"github.com/robotmem/robotmem-go/perception"
	"github.com/robotmem/robotmem-go/perception/payload"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/admin"
	"github.com/robotmem/robotmem-go/robotmem/internal/disk"
	"github.com/robotmem/robotmem-go/robotmem/internal/record"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
)

// readPayload stores a payload, in the payload folder if it is large, and computes its
// summary and features.
func (n *Engine) readPayload(ctx context.Context, rec *record.Record, in *incoming) error {
	p := rec.Perception

	w, err := n.writePayload(ctx, in.reader, payload.Options{
		Limit: in.limit, Inline: record.InlinePayload, Expect: in.size, HeadLimit: record.DecodeLimit,
	})
	switch {
	case errors.Is(err, payload.ErrTooLarge):
		return robotmem.Errorf(robotmem.TooLarge, in.field,
			"is over %d bytes, the limit of one payload; nothing was stored", in.limit)
	case errors.Is(err, payload.ErrSize):
		return robotmem.Errorf(robotmem.Invalid, in.field,
			"changed while it was read: %d bytes were expected; nothing was stored", in.size)
	}

	// An error of the disk is the node's, any other error comes from the source that was read.
	if failed := n.notKept(ctx, in.field, err); failed != nil {
		return failed
	}
	if err != nil {
		return robotmem.Errorf(robotmem.Invalid, in.field, "could not be read to its end (%s); nothing was stored",
			robotmem.Reason(err))
	}

	p.Stored, rec.SHA256 = w, hex.EncodeToString(w.Sum[:])
	if rec.MediaType, err = perception.Sniff(w.Head, p.Declared); err != nil {
		n.dropUnused(ctx, w)
		return robotmem.Errorf(robotmem.Invalid, "media_type", "%v", err)
	}

	n.describePayload(rec)

	return nil
}

// writePayload writes a payload. The first one in the folder may have made it. Until the folder has a note of its owner,
// a copy of the file that is opened first would take it for its own.
func (n *Engine) writePayload(ctx context.Context, r io.Reader, o payload.Options) (*payload.Written, error) {
	w, err := n.Store.Payloads().Write(ctx, r, o)
	if err == nil && w.Inline == nil && n.claimed.CompareAndSwap(false, true) {
		if err := n.Store.ClaimFolder(ctx, false); err != nil {
			n.Log.Warn("the folder of payloads is not noted to be of this file", "err", err)
		}
	}

	return w, err
}

// notKept returns the error of a payload write that failed at the disk or by
// cancellation; nil if the source failed or the write succeeded.
func (n *Engine) notKept(ctx context.Context, field string, err error) error {
	switch {
	case err != nil && ctx.Err() != nil:
		return ctx.Err()
	case !errors.Is(err, payload.ErrDisk):
		return nil
	case errors.Is(err, fs.ErrNotExist):
		// An eviction removed the known file meanwhile.
		return store.ErrPayloadGone
	case disk.NoSpace(err):
		return n.Store.DiskFull(field, err)
	}
	n.Log.Error("payload not stored", "err", err)

	return robotmem.Errorf(robotmem.Unavailable, field,
		"could not be written (%s); nothing was stored; check the disk's space", robotmem.Reason(err))
}

// dropUnused removes the files that were written for payloads that were not stored, unless a
// memory refers to them. If it fails, a harmless orphan file remains.
func (n *Engine) dropUnused(ctx context.Context, written ...*payload.Written) {
	var files [][sha256.Size]byte

	for _, w := range written {
		if w != nil && w.New {
			files = append(files, w.Sum)
		}
	}
	if len(files) == 0 {
		return
	}
	if err := n.Store.RemoveFiles(context.WithoutCancel(ctx), files); err != nil {
		n.Log.Warn("the file of a payload that was not stored stays", "err", err)
	}
}

// describePayload computes the summary and the features of a payload.
func (n *Engine) describePayload(rec *record.Record) {
	p := rec.Perception
	item := record.ItemOf(rec.PerceptionType, rec.MediaType, rec.Metadata, p.Stored.Head, p.Stored.Size)
	summary, kind, vector := perception.Describe(item)
	if summary != "" {
		rec.Summary = record.Summarize(summary)
	}
	if rec.PerceptionType == "" {
		rec.PerceptionType = perception.SenseOf(rec.MediaType, summary)
	}

	// The head may be large and is not needed any more. A recorder keeps many records until its commit.
	p.Stored.Head = nil
	switch {
	case kind != "":
		p.Features = &record.Features{Kind: kind, Vector: vector}
	case !p.Later:
		p.Features = record.FeaturesOf(item)
	}
}

func (n *Engine) OpenData(ctx context.Context, req *robotmem.MemoryRequest) (*robotmem.DataReader, error) {
	return serve("data", req, func(r *robotmem.MemoryRequest) (res *robotmem.DataReader, err error) {
		find := func(c *store.Conn) error {
			if err := number(c, r); err != nil {
				return err
			}
			m, err := c.Memory(r.MemoryID, n.Now())
			if err == nil {
				res, err = n.Store.OpenData(c, m)
			}

			return err
		}
		err = n.Store.Read(ctx, find)
		if errors.Is(err, robotmem.Corrupt) {
			// An eviction may have removed the payload after the snapshot began.
			err = n.Store.Read(ctx, find)
		}

		return res, err
	})
}

func (n *Engine) Data(ctx context.Context, req *robotmem.MemoryRequest) (*robotmem.DataResponse, error) {
	return serve("data", req, func(r *robotmem.MemoryRequest) (*robotmem.DataResponse, error) {
		d, err := n.OpenData(ctx, r)
		if err != nil {
			return nil, err
		}
		res := &robotmem.DataResponse{MemoryID: d.MemoryID, MediaType: d.MediaType, Bytes: d.Bytes, SHA256: d.SHA256}
		if d.Bytes > n.options.MaxPayload {
			err = robotmem.Errorf(robotmem.TooLarge, "memory_id",
				"memory %d has %d bytes, too many for one answer (%d); read them as a stream: GET /api/memory/%[1]d/data, or robotmem data %[1]d --output FILE",
				d.MemoryID, d.Bytes, n.options.MaxPayload)
		} else {
			res.DataBase64, err = store.ReadAll(d, d.Bytes)
		}

		return res, errors.Join(err, d.Close())
	})
}

// item loads a perception and its payload.
func (n *Engine) item(ctx context.Context, id int64) (m *robotmem.Memory, item perception.Item, err error) {
	err = n.Store.Read(ctx, func(c *store.Conn) error {
		if m, err = c.Memory(id, n.Now()); err == nil {
			item, err = n.Store.Item(c, m)
		}
		return err
	})

	return m, item, err
}

func (n *Engine) Preview(ctx context.Context, req *admin.PreviewRequest) (*admin.PreviewResponse, error) {
	return serve("preview", req, func(r *admin.PreviewRequest) (*admin.PreviewResponse, error) {
		if err := n.Number(ctx, r); err != nil {
			return nil, err
		}
		m, item, err := n.item(ctx, r.MemoryID)
		if err != nil {
			return nil, err
		}
		p, err := perception.MakePreview(item, perception.PreviewOptions{Width: r.Width, Height: r.Height})
		if err != nil {
			return nil, robotmem.Errorf(robotmem.NotFound, "memory_id",
				"no picture can be made of memory %d: %v; data returns its bytes", r.MemoryID, err)
		}

		return &admin.PreviewResponse{
			MemoryID: r.MemoryID, Summary: m.Summary, SHA256: m.SHA256,
			MediaType: p.MediaType, Width: p.Width, Height: p.Height, DataBase64: p.Data,
		}, nil
	})
}

func (n *Engine) Samples(ctx context.Context, req *robotmem.SamplesRequest) (*robotmem.SamplesResponse, error) {
	return serve("samples", req, func(r *robotmem.SamplesRequest) (*robotmem.SamplesResponse, error) {
		if r.From != nil && r.To != nil && *r.From > *r.To {
			return nil, robotmem.Errorf(robotmem.Invalid, "to", "must not be before from (%v), not %v", *r.From, *r.To)
		}
		if err := n.Number(ctx, r); err != nil {
			return nil, err
		}
		_, item, err := n.item(ctx, r.MemoryID)
		if err != nil {
			return nil, err
		}
		s, err := perception.MakeSamples(item,
			perception.SamplesOptions{From: r.From, To: r.To, Points: r.Points, Trace: r.Trace})
		if err != nil {
			return nil, robotmem.Errorf(robotmem.NotFound, "memory_id",
				"no samples can be read of memory %d: %v; data returns its bytes", r.MemoryID, err)
		}

		return &robotmem.SamplesResponse{MemoryID: r.MemoryID, Samples: *s}, nil
	})
}
