package backup

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"path/filepath"

	"github.com/robotmem/robotmem-go/perception/payload"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
	"github.com/robotmem/robotmem-go/robotmem/progress"
)

// heldPayloads are those that lie in the backup already.
type heldPayloads map[[sha256.Size]byte]bool

// holdRounds bounds how often the payloads are gone through. Each round has less
// to do, since only what came during the last one is new.
const holdRounds = 20

// hold puts every payload of the folder into the backup, and leaves open the
// transaction that saw them. A payload may be evicted at any time; what a link
// or a copy holds stays. So all are held once without a transaction, however
// long that takes, and then those that a transaction sees, until none is missing.
func (b *job) hold(ctx context.Context, m *progress.Meter) error {
	b.held = heldPayloads{}
	missing := map[[sha256.Size]byte]string{}
	for round := range holdRounds {
		if err := b.source.Exec("BEGIN"); err != nil {
			return err
		}
		var err error
		if b.report.Held, err = figures(b.source); err != nil {
			return err
		}
		var all []keptPayload
		var bytes int64
		err = keptPayloads(b.source, false, func(p keptPayload) error {
			if !b.held[p.Sum] {
				all = append(all, p)
				bytes += p.Size
			}
			return nil
		})
		if err != nil {
			return err
		}
		if round == 0 {
			if err := b.source.Exec("ROLLBACK"); err != nil {
				return err
			}
		}
		m.Stage("holding payloads", "bytes", bytes)
		evicted, err := b.holdAll(ctx, all, missing, bytes, m)
		if err != nil {
			return err
		}
		if round == 0 {
			continue
		}
		if !evicted {
			return b.payloads().Settle()
		}
		if err := b.source.Exec("ROLLBACK"); err != nil {
			return err
		}
	}
	return robotmem.Errorf(robotmem.Unavailable, "", "payloads are evicted faster than they can be held; try again, or give retention more room")
}

// holdAll reports whether a payload has gone since the transaction began: then
// that transaction cannot be the backup's. One that was missing before it began
// is lost.
func (b *job) holdAll(ctx context.Context, all []keptPayload, missing map[[sha256.Size]byte]string, bytes int64, m *progress.Meter) (evicted bool, err error) {
	for _, p := range all {
		if err := ctx.Err(); err != nil {
			return false, err
		}
		err := b.holdOne(ctx, p, bytes)
		switch {
		case errors.Is(err, payload.ErrMissing) && !p.wanted:
			// Of what was forgotten; nobody can ask for it.
		case errors.Is(err, payload.ErrMissing) && missing[p.Sum] != "":
			return false, b.lost(p, "its file is missing")
		case errors.Is(err, payload.ErrMissing):
			missing[p.Sum], evicted = hex.EncodeToString(p.Sum[:]), true
		case errors.Is(err, payload.ErrDisk):
			return false, backupDisk(err)
		case err != nil:
			return false, err
		default:
			b.held[p.Sum] = true
		}
		bytes -= p.Size
		m.Add(p.Size)
	}
	return evicted, nil
}

// holdOne takes a payload from an earlier backup if one has it, where a link is
// always possible, else from the memory's own folder.
func (b *job) holdOne(ctx context.Context, p keptPayload, bytes int64) error {
	to := b.payloads()
	for i := range b.past {
		past := &b.past[len(b.past)-1-i]
		if past.Problem != "" {
			continue
		}
		if linked, err := past.payloads().Share(ctx, p.Sum, p.Codec, to); err == nil {
			b.count(linked)
			return nil
		} else if ctx.Err() != nil {
			return err
		}
	}
	if b.report.Copied == 1 { // the first was not linked, so the others will not be
		if err := roomFor(b.dir, bytes); err != nil {
			return err
		}
	}
	linked, err := b.e.Store.Payloads().Share(ctx, p.Sum, p.Codec, to)
	if err == nil {
		b.count(linked)
	}
	return err
}

func (b *job) count(linked bool) {
	if linked {
		b.report.Linked++
	} else {
		b.report.Copied++
	}
}

// dropUnnamed removes payloads that went before the file was copied.
func (b *job) dropUnnamed() error {
	c, err := openCopy(context.Background(), b.file())
	if err != nil {
		return err
	}
	unnamed := b.held
	err = keptPayloads(c, false, func(p keptPayload) error {
		delete(unnamed, p.Sum)
		return nil
	})
	for sum := range unnamed {
		if err == nil {
			err = backupDisk(b.payloads().Remove(sum))
		}
	}
	return errors.Join(err, c.Close())
}

// mend tries once more for a payload that the backup holds and that is damaged,
// or missing: that of an earlier backup may be, and the memory's own is not.
func (b *job) mend(ctx context.Context, p keptPayload) error {
	if err := b.payloads().Remove(p.Sum); err != nil {
		return backupDisk(err)
	}
	_, err := b.e.Store.Payloads().Share(ctx, p.Sum, p.Codec, b.payloads())
	if errors.Is(err, payload.ErrDisk) {
		return backupDisk(err)
	}
	return err
}

func (b *job) payloads() payload.Folder { return payload.Folder{Dir: b.file() + store.PayloadsSuffix} }

// lost is the refusal to make a backup of a memory that has lost something.
func (b *job) lost(p keptPayload, what string) error {
	whose, err := ownersOf(b.source, p, what)
	return errors.Join(err, lostPayload(whose))
}

func lostPayload(whose string) error {
	return robotmem.Errorf(robotmem.Corrupt, "", "a payload is lost: %s", whose)
}

func (b *Backup) payloads() payload.Folder {
	return payload.Folder{Dir: filepath.Join(b.Path, b.File) + store.PayloadsSuffix}
}
