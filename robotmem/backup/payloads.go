package backup

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"path/filepath"

	"github.com/robotmem/robotmem-go/perception/payload"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/maintenance"
	"github.com/robotmem/robotmem-go/robotmem/internal/sqlite"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
	"github.com/robotmem/robotmem-go/robotmem/progress"
)

// holdRounds limits how often hold lists the payloads. Each round only handles the
// payloads that were added during the round before.
const holdRounds = 20

// hold links or copies every payload file into the backup and leaves open the
// transaction that lists them. A payload may be evicted at any time, but its link or
// copy remains. hold first links all payloads without a transaction, which may take
// long, and then those that a transaction lists, until none is missing.
func (b *job) hold(ctx context.Context, m *progress.Meter) error {
	b.held = map[[sha256.Size]byte]bool{}
	missing := map[[sha256.Size]byte]bool{}
	for round := range holdRounds {
		err := b.source.Exec("BEGIN")
		if err == nil {
			b.report.Held, err = figures(b.source)
		}
		if err != nil {
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
		if err == nil && round == 0 {
			err = b.source.Exec("ROLLBACK")
		}
		if err != nil {
			return err
		}
		m.Stage("holding payloads", "bytes", bytes)
		evicted, err := b.holdAll(ctx, all, missing, bytes, m)
		if err != nil {
			return err
		}
		if round > 0 && !evicted {
			return b.payloads().Settle()
		}
		if round > 0 {
			err = b.source.Exec("ROLLBACK")
		}
		if err != nil {
			return err
		}
	}
	return robotmem.Errorf(robotmem.Unavailable, "", "payloads are evicted faster than they can be copied; try again, or increase the budgets of retention")
}

// holdAll reports whether a payload was evicted since the transaction began. Then the
// backup needs a later transaction. A payload that was missing before is lost.
func (b *job) holdAll(ctx context.Context, all []keptPayload, missing map[[sha256.Size]byte]bool, bytes int64, m *progress.Meter) (evicted bool, err error) {
	for _, p := range all {
		if err := ctx.Err(); err != nil {
			return false, err
		}
		err := b.holdOne(ctx, p, bytes)
		switch {
		case errors.Is(err, payload.ErrMissing) && !p.wanted:
			// No readable memory refers to it.
		case errors.Is(err, payload.ErrMissing) && missing[p.Sum]:
			return false, lostPayload(b.source, p, "its file is missing")
		case errors.Is(err, payload.ErrMissing):
			missing[p.Sum], evicted = true, true
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

// holdOne links a payload from an earlier backup, where a link is always possible, or
// else links or copies it from the memory's folder.
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
	if b.report.Copied == 1 { // if linking the first fails, linking the others fails too
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

// dropUnnamed removes the payloads that the copied file does not refer to.
func (b *job) dropUnnamed() error {
	c, err := openCopy(context.Background(), b.file())
	if err != nil {
		return err
	}
	err = keptPayloads(c, false, func(p keptPayload) error {
		delete(b.held, p.Sum)
		return nil
	})
	for sum := range b.held {
		if err == nil {
			err = backupDisk(b.payloads().Remove(sum))
		}
	}
	return errors.Join(err, c.Close())
}

// mend replaces a missing or damaged payload of the backup, and of earlier backups that
// share it, by the memory's own.
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

// lostPayload returns the error for a payload that is missing or damaged, with the
// memories that it belongs to.
func lostPayload(c *store.Conn, p keptPayload, what string) error {
	lost, err := maintenance.NamesOf(c, map[string]string{hex.EncodeToString(p.Sum[:]): what})
	return errors.Join(err, robotmem.Errorf(robotmem.Corrupt, "", "a payload is lost: %s", maintenance.LostText(lost)))
}

func (b *Backup) payloads() payload.Folder {
	return payload.Folder{Dir: filepath.Join(b.Path, b.File) + store.PayloadsSuffix}
}

// keptPayload is a row of payloads; it states whether an active memory refers to it.
type keptPayload struct {
	store.StoredPayload
	wanted bool
}

// keptPayloads calls f for each payload in the folder, or with inline for each in the
// file, whose bytes are valid until f returns.
func keptPayloads(c *store.Conn, inline bool, f func(keptPayload) error) error {
	where, data := "p.data IS NULL", []byte{}
	if inline {
		where = "p.data IS NOT NULL"
	}
	return c.Query(`SELECT p.sha256, p.bytes, p.codec, p.data,
			EXISTS (SELECT 1 FROM memories m WHERE m.perception_data = p.sha256 AND m.status = 'active')
		FROM payloads p WHERE `+where, nil, func(s *sqlite.Stmt) error {
		p := keptPayload{wanted: s.ColumnBool(4)}
		p.Size, p.Codec = s.ColumnInt64(1), payload.Codec(s.ColumnText(2))
		if copy(p.Sum[:], s.ColumnRawBlob(0)) != len(p.Sum) {
			return robotmem.Errorf(robotmem.Corrupt, "", "a payload has an invalid name; run robotmem doctor")
		}
		if inline {
			data = s.ColumnBlob(3, data[:0])
			p.Inline = data
		}
		return f(p)
	})
}
