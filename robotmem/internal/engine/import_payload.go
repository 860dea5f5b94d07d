package engine

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/robotmem/robotmem-go/perception/payload"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/archive"
	"github.com/robotmem/robotmem-go/robotmem/internal/record"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
)

// payload stores a payload that the part needs. The source reads and checks the others.
func (in *importing) payload(ctx context.Context, d *archive.Data) error {
	if in.part == nil {
		return fmt.Errorf("%w: payload %s comes before any memory", archive.ErrFormat, d.SHA256)
	}

	a := in.part.wanted[d.SHA256]
	switch {
	// A payload that no memory wants is skipped, and so is the second of two equal ones.
	case a == nil || in.part.payloads[d.SHA256] != nil:
		return nil

	case d.Bytes > in.node.options.MaxStream:
		return robotmem.Errorf(robotmem.TooLarge, "payload", "is %d bytes; the limit of one payload is %d", d.Bytes,
			in.node.options.MaxStream)
	case in.o.DryRun:
		in.part.payloads[d.SHA256] = &payload.Written{Size: d.Bytes}
		return nil
	}

	w, err := in.node.takePayload(ctx, d)
	if err != nil {
		return err
	}

	in.part.payloads[d.SHA256] = w
	a.Proven = true

	return nil
}

// takePayload writes a payload and compares its sum.
func (n *Engine) takePayload(ctx context.Context, d *archive.Data) (*payload.Written, error) {
	// A read-only node must not leave payload files behind.
	if err := n.Store.Writable(); err != nil {
		return nil, err
	}

	w, err := n.writePayload(ctx, d.Reader, payload.Options{
		Limit: n.options.MaxStream, Inline: record.InlinePayload, Expect: d.Bytes,
	})
	if failed := n.notKept(ctx, "payload", err); failed != nil {
		return nil, failed
	}
	if err != nil {
		return nil, err
	}

	// A part may have many payloads, and their first bytes are not needed any more.
	w.Head = nil
	if hex.EncodeToString(w.Sum[:]) != d.SHA256 {
		n.dropUnused(ctx, w)
		return nil, fmt.Errorf("%w: payload %s is not what was written", archive.ErrDamaged, d.SHA256)
	}

	return w, nil
}

// dropPart discards a part that was not stored, with its payload files.
func (in *importing) dropPart(ctx context.Context) {
	if in.part == nil || in.o.DryRun {
		return
	}
	in.node.dropUnused(ctx, slices.Collect(maps.Values(in.part.payloads))...)
	in.part = nil
}

// storePayloads stores the payloads of a part whose memories are stored, and records for
// the stored memories whose payload is missing that it is lost. A memory may have been
// purged, or a payload evicted, while the source was read.
func (n *Engine) storePayloads(tx *store.Tx, p *importPart, stored map[int64]*store.ImportRecord) error {
	// The transaction may run twice.
	p.missing, p.unnamed = map[string]bool{}, nil
	named := map[string]bool{}

	for _, a := range stored {
		if a.Payload != nil {
			named[a.Payload.SHA256] = true
		}
	}

	for sum, w := range p.payloads {
		n, err := tx.Number(store.CountLostNaming, w.Sum[:])
		if err != nil {
			return err
		}

		// The memory of this payload was purged meanwhile, or its record was refused.
		if n == 0 && !named[sum] {
			p.unnamed = append(p.unnamed, w)
			continue
		}
		if err := errors.Join(tx.InsertPayload(&record.PerceptionRecord{Stored: w}), tx.FoundAgain(w.Sum[:])); err != nil {
			return err
		}
	}

	for id, a := range stored {
		if a.Payload == nil {
			continue
		}
		there, err := tx.Payload(a.Payload.SHA256)

		gone, gerr := tx.Evicted(id)
		switch err = errors.Join(err, gerr); {
		case err != nil:
		case there != nil:
			err = tx.FoundAgain(there.Sum[:])
		case !gone:
			// A payload that was evicted has its eviction in the archive already.
			p.missing[a.Payload.SHA256] = true
			err = tx.Lose(id, a)
		}
		if err != nil {
			return err
		}
	}

	return nil
}
