package backup

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"path/filepath"

	"github.com/robotmem/robotmem-go/perception/payload"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/disk"
	"github.com/robotmem/robotmem-go/robotmem/internal/files"
	"github.com/robotmem/robotmem-go/robotmem/internal/keys"
	"github.com/robotmem/robotmem-go/robotmem/internal/maintenance"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
	"github.com/robotmem/robotmem-go/robotmem/internal/store/sqlite"
	"github.com/robotmem/robotmem-go/robotmem/progress"
)

// addPayloads links or copies the payload files that the copy c names into the backup and
// verifies them. It reports false if one was evicted after the file was copied. The
// backup then needs a later copy of the file.
func (b *job) addPayloads(ctx context.Context, source, c *sqlite.Tables) (whole bool, err error) {
	m := progress.Of(ctx)
	m.Stage("holding payloads", "bytes", b.report.Held.PayloadBytes)
	whole = true
	named := map[[sha256.Size]byte]bool{}
	err = eachPayload(c, false, func(p payloadRow) error {
		m.Add(p.Size)

		// An earlier round has added it.
		if named[p.Sum] = true; b.held[p.Sum] {
			return nil
		}

		err := b.addPayload(ctx, p)
		switch {
		case err == nil:
			b.held[p.Sum] = true
		case errors.Is(err, payload.ErrDisk):
			return backupDisk(err)
		case isLost(err) && !p.wanted:
			// No active memory refers to it, so nothing that recall returns is lost.
			return nil
		case errors.Is(err, payload.ErrMissing):
			// Without a row in the memory it was evicted meanwhile. With a row its file is lost.
			rows, err := source.File.Number("SELECT count(*) FROM payloads WHERE sha256 = ?", p.Sum[:])
			if err != nil || rows > 0 {
				return errors.Join(err, lostPayload(c, p, "its file is missing"))
			}
			whole = false
			return nil
		case errors.Is(err, payload.ErrDamaged):
			return lostPayload(c, p, "its bytes are not those that were saved")
		}

		return err
	})
	if err != nil {
		return false, err
	}

	// An earlier round may have added payloads that were evicted since and that the last copy does not name.
	for sum := range b.held {
		if !named[sum] {
			if err := b.payloads().Remove(sum); err != nil {
				return false, backupDisk(err)
			}
			delete(b.held, sum)
		}
	}

	return whole, backupDisk(b.payloads().Settle())
}

// addPayload links a payload from an earlier backup, where a link is always possible, or
// else links or copies it from the memory's folder.
func (b *job) addPayload(ctx context.Context, p payloadRow) error {
	var linked bool

	// The newest backup most likely has it. A damaged payload of a backup is not taken: the next one is tried.
	err := payload.ErrMissing
	for i := len(b.past) - 1; i >= 0 && err != nil && ctx.Err() == nil; i-- {
		if past := &b.past[i]; past.Problem == "" {
			linked, err = fetch(ctx, p, past.payloads(b.e.Store.Keys), b.payloads())
		}
	}

	if err != nil && ctx.Err() == nil {
		linked, err = fetch(ctx, p, b.e.Store.Payloads(), b.payloads())
	}
	if err != nil {
		return err
	}

	if linked {
		b.report.Linked++
	} else {
		b.report.Copied++
	}

	return nil
}

// fetch links or copies a payload from one folder to another and verifies it. It leaves no
// damaged one.
func fetch(ctx context.Context, p payloadRow, from, to payload.Folder) (linked bool, err error) {
	linked, err = from.Share(ctx, p.Sum, p.Codec, to)
	if err == nil {
		err = to.Verify(ctx, p.Sum, p.Codec, p.Size, nil)
	}
	if err != nil {
		err = errors.Join(err, to.Remove(p.Sum))
	}

	return linked, err
}

// isLost reports whether an error says that a payload is missing or damaged.
func isLost(err error) bool {
	return errors.Is(err, payload.ErrMissing) || errors.Is(err, payload.ErrDamaged)
}

func (b *job) payloads() payload.Folder { return folderOf(files.At(b.file()), b.e.Store.Keys) }

// folderOf returns the payloads of a memory. k are its keys, nil if it is in clear.
func folderOf(m files.Memory, k *keys.Keys) payload.Folder {
	return store.PayloadFolder(m, disk.System{}, k)
}

// lostPayload returns the error for a payload that is missing or damaged, with the
// memories that it belongs to.
func lostPayload(c *sqlite.Tables, p payloadRow, what string) error {
	lost, err := maintenance.NamesOf(c.Conn, map[string]string{hex.EncodeToString(p.Sum[:]): what})
	return errors.Join(err, robotmem.Errorf(robotmem.Corrupt, "", "a payload is lost: %s", maintenance.LostText(lost)))
}

func (b *Backup) payloads(k *keys.Keys) payload.Folder {
	return folderOf(files.At(filepath.Join(b.Path, b.File)), k)
}

// payloadRow is a row of payloads; it states whether an active memory refers to it.
type payloadRow struct {
	store.StoredPayload
	wanted bool
}

// eachPayload calls f for each payload in the folder, or with inline for each in the
// file, whose bytes are valid until f returns.
func eachPayload(c *sqlite.Tables, inline bool, f func(payloadRow) error) error {
	where, data := "p.data IS NULL", []byte{}
	if inline {
		where = "p.data IS NOT NULL"
	}

	return c.File.Query(`SELECT p.sha256, p.bytes, p.codec, p.data,
			EXISTS (SELECT 1 FROM memories m WHERE m.perception_data = p.sha256 AND m.status = 'active')
		FROM payloads p WHERE `+where, nil, func(s store.Row) error {
		p := payloadRow{wanted: s.ColumnBool(4)}
		p.Size, p.Codec = s.ColumnInt64(1), payload.Codec(s.ColumnText(2))
		if copy(p.Sum[:], s.ColumnRawBlob(0)) != len(p.Sum) {
			return robotmem.Errorf(robotmem.Corrupt, "", "a payload has an invalid name; run robotmem doctor")
		}

		// One buffer serves all rows, because a payload may be large.
		if inline {
			data = s.ColumnBlob(3, data[:0])
			p.Inline = data
		}

		return f(p)
	})
}
