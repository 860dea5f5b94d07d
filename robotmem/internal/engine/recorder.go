package engine

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/robotmem/robotmem-go/perception/payload"
	"github.com/robotmem/robotmem-go/perception/recorder"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/record"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
)

// Recorder starts a recorder that stores its samples in this node. It does not block a
// control loop. Close it before the node.
func (n *Engine) Recorder(o recorder.Options) *recorder.Recorder {
	o.Log = cmp.Or(o.Log, n.Log)
	return recorder.New(n, o)
}

// maxSource is the maximal length of a source's name in a memory, in characters.
const maxSource = 64

var _ recorder.Sink = (*Engine)(nil)

// Keep implements recorder.Sink: it stores a batch in one transaction. Features that do
// not come with the summary are computed later in the background.
func (n *Engine) Keep(ctx context.Context, b recorder.Batch) error {
	err := n.keep(n.Store.As(ctx, robotmem.ToolRecorder), b)
	if err == nil {
		n.maintenance.NotifyFeatures()
		return nil
	}

	err = robotmem.Wrap("record", err)

	// These errors would occur again with the same batch. After any other error the recorder may repeat it.
	for _, final := range []robotmem.Kind{
		robotmem.Invalid, robotmem.Forbidden, robotmem.NotFound, robotmem.Conflict, robotmem.TooLarge,
	} {
		if errors.Is(err, final) {
			return fmt.Errorf("%w: %w", recorder.ErrRefused, err)
		}
	}

	return err
}

func (n *Engine) keep(ctx context.Context, b recorder.Batch) error {
	// Check before payload files are written, because the session may have ended.
	if err := n.Store.Read(ctx, func(c *store.Conn) error { _, err := c.BatchCollection(&b); return err }); err != nil {
		return err
	}

	var (
		records []*record.Record
		written []*payload.Written
	)

	for i := range b.Items {
		rec, err := n.recorded(ctx, &b, &b.Items[i])
		if err != nil {
			n.dropUnused(ctx, written...)
			return err
		}
		records, written = append(records, rec), append(written, rec.Perception.Stored)
	}

	err := n.Store.Write(ctx, func(tx *store.Tx) error {
		// The session may have ended since it was checked above.
		collection, err := tx.BatchCollection(&b)
		if err != nil {
			return err
		}

		for _, rec := range records {
			if err := n.insertPerception(tx, rec, &robotmem.SavePerceptionResponse{}); err != nil {
				return err
			}
		}

		for _, n := range b.Counts {
			if err := tx.CountStream(b.SessionID, collection, n); err != nil {
				return err
			}
		}

		return nil
	})
	if err != nil {
		n.dropUnused(ctx, written...)
	}

	return err
}

// recorded prepares the record of a recorder's item.
func (n *Engine) recorded(ctx context.Context, b *recorder.Batch, it *recorder.Recorded) (*record.Record, error) {
	r := &robotmem.SavePerceptionRequest{
		Description: it.Description, PerceptionType: it.Type, MediaType: it.MediaType, Metadata: it.Metadata,
		Context: it.Context, Collection: b.Collection, SessionID: b.SessionID, ObservedAt: &it.ObservedAt,
		Source: robotmem.Clip(it.Source, maxSource),
	}
	if err := robotmem.Validate("record", r); err != nil {
		return nil, err
	}
	rec, err := n.describePerception(r)
	if err != nil {
		return nil, err
	}

	// The features of a high-rate stream would delay the commit. They are computed in the background.
	rec.Perception.Later = true
	size := int64(len(it.Data))

	return rec, n.readPayload(ctx, rec,
		&incoming{reader: bytes.NewReader(it.Data), size: size, field: "data", limit: n.options.MaxPayload})
}
