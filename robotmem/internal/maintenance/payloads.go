package maintenance

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/robotmem/robotmem-go/perception/payload"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/admin"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
	"github.com/robotmem/robotmem-go/robotmem/internal/units"
	"github.com/robotmem/robotmem-go/robotmem/progress"
)

const (
	// verifiedBytes is the number of bytes of payloads that an ordinary check reads.
	verifiedBytes = 256 << 20
	// OrphanAge is the least age of an unused file before it is
	// removed: a younger one may belong to a perception that is being saved.
	OrphanAge = time.Hour
	// namedLost bounds the memories that a check names.
	namedLost = 20
)

// lostPayloads returns the payloads that are missing or damaged, by SHA-256, each with the
// reason. It looks for all payloads, and reads up to budget bytes of them.
func (mt *Maintainer) lostPayloads(ctx context.Context, c *store.Conn, budget int64) (lost map[string]string,
	verified int64, err error) {
	lost = map[string]string{}
	err = c.Query(store.UnnamedPayloads, nil, func(s store.Row) error {
		lost[strings.ToLower(s.ColumnText(0))] = "it is named nowhere"
		return nil
	})
	if err != nil {
		return nil, 0, err
	}

	m := progress.Of(ctx)
	if m != nil {
		total, err := c.Number(store.SumWantedPayloads)
		if err != nil {
			return nil, 0, err
		}
		m.Stage("reading payloads", "bytes", min(total, budget))
	}

	// The buffer is never nil, because a payload of no bytes is stored in the file too.
	inline := []byte{}
	err = c.Query(store.WantedPayloads, nil, func(s store.Row) error {
		p := store.StoredPayload{Size: s.ColumnInt64(1), Codec: payload.Codec(s.ColumnText(2))}
		if copy(p.Sum[:], s.ColumnRawBlob(0)) != len(p.Sum) {
			lost[hex.EncodeToString(s.ColumnRawBlob(0))] = "its name is not a SHA-256"
			return nil
		}

		toRead := p.Size
		if s.ColumnType(3) != store.Null {
			inline = s.ColumnBlob(3, inline[:0])
			p.Inline = inline
			// The size that the row states may be damaged.
			toRead = int64(len(inline))
		}

		whole := verified+toRead <= budget
		what, err := ExaminePayload(ctx, mt.Store.Payloads(), &p, whole, func(n int) { m.Add(int64(n)) })
		if what != "" {
			lost[hex.EncodeToString(p.Sum[:])] = what
		} else if whole {
			verified += p.Size
		}

		return err
	})

	return lost, verified, err
}

// ExaminePayload describes the fault of a payload, "" if there is none. It reads the bytes only with whole, and
// calls count with the number of bytes that it has read from a file. The error is that of ctx.
func ExaminePayload(ctx context.Context, folder payload.Folder, p *store.StoredPayload, whole bool,
	count func(int)) (string, error) {
	const damaged = "its bytes are not those that were saved"
	if p.Inline != nil {
		if whole {
			if _, ok := p.Bytes(); !ok {
				return damaged, nil
			}
		}
		return "", nil
	}

	var err error
	if whole {
		err = folder.Verify(ctx, p.Sum, p.Codec, p.Size, count)
	} else {
		var r *payload.Reader
		if r, err = folder.Open(p.Sum, p.Codec, p.Size); err == nil {
			err = r.Close()
		}
	}

	switch {
	case err == nil:
		return "", nil
	case ctx.Err() != nil:
		return "", ctx.Err()
	case errors.Is(err, payload.ErrMissing):
		return "its file is missing", nil
	case errors.Is(err, payload.ErrDamaged):
		return damaged, nil
	}

	return "its file cannot be read (" + robotmem.Reason(err) + ")", nil
}

// examinePayloads looks for payloads that are named and not there or damaged,
// and for files that nothing names.
func (mt *Maintainer) examinePayloads(ctx context.Context, c *store.Conn, d *admin.DoctorResponse, deep bool) error {
	budget := int64(verifiedBytes)
	if deep {
		budget = 1 << 62
	}

	lost, verified, err := mt.lostPayloads(ctx, c, budget)
	if err == nil {
		d.Lost, err = NamesOf(c, lost)
	}

	total, terr := c.Number(store.SumPayloads)
	if err := errors.Join(err, terr); err != nil {
		return err
	}

	read := "all of them read and compared"

	const part = "%s of %s read and compared (--deep reads all)"
	if verified < total {
		read = fmt.Sprintf(part, units.BytesText(verified), units.BytesText(total))
	}

	const backup = "bring the folder beside the file back from a backup, or forget these memories"
	known := "none is known to be lost"
	if len(lost) > 0 {
		known = fmt.Sprintf("%d are lost or damaged: %s", len(lost), LostText(d.Lost))
	}

	foreign, err := mt.Store.ForeignFolder(c)
	if err != nil {
		return err
	}

	switch orphans, stray, err := mt.Orphans(c); {
	case errors.Is(err, robotmem.Unavailable):
		addCheck(d, "payloads", CheckFail, err.Error()+"; "+known,
			"make the folder beside the file readable for this user, or "+backup)
	case err != nil:
		return err
	case len(lost) > 0:
		addCheck(d, "payloads", CheckFail, known, backup)
	case foreign:
		addCheck(d, "payloads", CheckWarn, fmt.Sprintf("the folder is noted to be of another file, "+
			"and nothing is removed from it; %d files in it belong to no memory; %s", len(orphans)+len(stray), read),
			"if no other memory uses the folder, delete "+filepath.Base(mt.Store.Files().PayloadsOwner())+
				" beside the memory")
	case len(orphans)+len(stray) > 0:
		addCheck(d, "payloads", CheckWarn, fmt.Sprintf("%d files in the folder belong to no memory; %s",
			len(orphans)+len(stray), read), "they take space and harm nothing; "+
			"robotmem doctor --repair removes those that are an hour old")
	case verified < total:
		addFinding(d, "payloads", CheckOK, "payloads_present", "", "all in their place, "+part,
			units.BytesText(verified), units.BytesText(total))
	default:
		addFinding(d, "payloads", CheckOK, "payloads_match", "", "all in their place, all of them read and compared")
	}

	return nil
}

// LostText names the first lost payloads.
func LostText(lost []admin.LostPayload) string {
	var parts []string
	for _, l := range lost {
		parts = append(parts, fmt.Sprintf("memory %d (%s)", l.MemoryID, l.Reason))
		if len(parts) == 3 {
			parts = append(parts, "…")
			break
		}
	}

	return strings.Join(parts, ", ")
}

// NamesOf lists the active memories that name payloads.
func NamesOf(c *store.Conn, lost map[string]string) ([]admin.LostPayload, error) {
	var out []admin.LostPayload

	for _, sum := range slices.Sorted(maps.Keys(lost)) {
		blob, _ := hex.DecodeString(sum) // lost has names in hex
		ids, err := c.IDs(store.ActiveNaming,
			blob, namedLost-len(out))
		if err != nil {
			return nil, err
		}

		for _, id := range ids {
			out = append(out, admin.LostPayload{MemoryID: id, SHA256: sum, Reason: lost[sum]})
		}
	}

	return out, nil
}

// Orphans lists the files in the folder of payloads that no row of payloads names, and those
// whose name is not a payload's.
func (mt *Maintainer) Orphans(c *store.Conn) (orphans [][sha256.Size]byte, stray []string, err error) {
	sums, stray, err := mt.Store.Payloads().List()
	if err != nil {
		return nil, nil, robotmem.Errorf(robotmem.Unavailable, "", "the folder of payloads cannot be read (%s)",
			robotmem.Reason(err))
	}

	for _, sum := range sums {
		n, err := c.Number(store.CountPayloadFile, sum[:])
		if err != nil {
			return nil, nil, err
		}
		if n == 0 {
			orphans = append(orphans, sum)
		}
	}

	return orphans, stray, nil
}

// sweepFolder removes old files that nothing names. It holds the writer's lock, under
// which InsertPayload looks for its file.
func (mt *Maintainer) sweepFolder(tx *store.Tx) (removed int, err error) {
	if foreign, err := mt.Store.ForeignFolder(tx.Conn); err != nil || foreign {
		return 0, err
	}

	// Files have times of the system clock, which Store.Clock need not follow.
	before := time.Now().Add(-OrphanAge)
	swept, err := mt.Store.Payloads().SweepStrays(before)
	if err != nil {
		return 0, robotmem.Errorf(robotmem.Unavailable, "", "the folder of payloads cannot be swept (%s)",
			robotmem.Reason(err))
	}

	orphans, _, err := mt.Orphans(tx.Conn)
	if err != nil {
		return 0, err
	}

	removed = len(swept)

	// A file that is older than the note of the folder may belong to another database that used the folder before.
	since := mt.Store.OwnedSince()
	for _, sum := range orphans {
		if written, err := mt.Store.Payloads().Modified(sum); err != nil || written.After(before) ||
			written.Before(since) {
			continue
		}
		if err := mt.Store.Payloads().Remove(sum); err != nil {
			return removed, robotmem.Errorf(robotmem.Unavailable, "",
				"a file of the folder of payloads cannot be removed (%s)", robotmem.Reason(err))
		}
		removed++
	}

	return removed, nil
}
