package store

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/archive"
	"github.com/robotmem/robotmem-go/robotmem/internal/record"
)

// Holdings returns all perceptions with a payload. The numbers in its CASE are of type Tier.
func (c *Conn) Holdings() (held []Holding, err error) {
	err = c.Query(Holdings, nil, func(s Row) error {
		held = append(held, Holding{
			ID: s.ColumnInt64(0), Collection: s.ColumnText(1), PerceptionType: s.ColumnText(2), Observed: s.ColumnText(3),
			Sum: string(s.ColumnRawBlob(4)), Bytes: s.ColumnInt64(5), InFolder: s.ColumnBool(6),
			Tier: Tier(s.ColumnInt(7)), Recording: s.ColumnText(8),
		})
		return nil
	})

	return held, err
}

// Evict invalidates perceptions, removes their payloads and logs it. It returns the
// evicted ones; a perception that has changed since the plan was made is kept.
func (s *Store) Evict(ctx context.Context, plan []Evicted) (gone []Evicted, err error) {
	if err := s.mayRemove(plan); err != nil {
		return nil, err
	}

	var files [][sha256.Size]byte
	err = s.Write(ctx, func(tx *Tx) error {
		// The function may run twice, so each run starts with empty lists.
		gone, files = nil, nil

		for _, p := range plan {
			m, err := tx.Memory(p.ID, tx.Now)
			if err != nil {
				return err
			}
			same, err := tx.unchanged(m, &p)
			if err != nil {
				return err
			}
			if !same {
				continue
			}
			if err := tx.evict(m, &p); err != nil {
				return err
			}
			if p.Freed > 0 && p.InFolder {
				files = append(files, [sha256.Size]byte([]byte(p.Sum)))
			}
			gone = append(gone, p)
		}

		return nil
	})
	if err != nil || len(files) == 0 {
		return gone, err
	}

	// The files are removed after the commit: a crash in between leaves unused files and loses nothing.
	return gone, s.RemoveFiles(ctx, files)
}

// mayRemove fails if files in the payload folder cannot be removed, because an eviction
// would lose perceptions without freeing space. It does not fail on a full disk.
func (s *Store) mayRemove(plan []Evicted) error {
	if !slices.ContainsFunc(plan, func(p Evicted) bool { return p.InFolder }) {
		return nil
	}
	// The cleanup removes a file with such a name if a crash leaves it behind.
	name := filepath.Join(s.Payloads().Dir, "tmp-"+rand.Text())
	probe, err := s.Disk.Create(name, 0o600)
	if err == nil {
		err = errors.Join(probe.Close(), s.Disk.Remove(name))
	}

	// A full disk is not among these errors, because the eviction frees space on it.
	for _, final := range []error{fs.ErrPermission, syscall.EROFS, syscall.ENOTDIR} {
		if errors.Is(err, final) {
			return robotmem.Errorf(robotmem.Unavailable, "",
				"files cannot be removed from the folder of payloads (%s); nothing was evicted", robotmem.Reason(err))
		}
	}

	return nil
}

// unchanged reports whether a perception is still in the state that the plan assumed.
// Another node may have evicted it meanwhile, or a caller restored or pinned it.
func (tx *Tx) unchanged(m *robotmem.Memory, p *Evicted) (bool, error) {
	active := m.Status == "active"
	samePayload := m.SHA256 == hex.EncodeToString([]byte(p.Sum))
	if !samePayload || active == (p.Tier == TierGone) || active && m.Pinned != (p.Tier == TierPinned) {
		return false, nil
	}
	gone, err := tx.Evicted(m.MemoryID)

	return !gone, err
}

// Evicted reports whether a perception was ever evicted, even if it was restored since.
func (c *Conn) Evicted(id int64) (bool, error) {
	n, err := c.Number(CountEvictionsOf, id)
	return n > 0, err
}

// evict evicts one perception. It sets p.Freed, to 0 while another memory has the same payload.
func (tx *Tx) evict(m *robotmem.Memory, p *Evicted) error {
	if m.Status == "active" {
		if err := tx.SetStatus(m.MemoryID, "invalidated", 0, "evicted", p.Reason); err != nil {
			return err
		}
	}

	named, err := tx.Number(CountOthersNaming, []byte(p.Sum), m.MemoryID)
	if err != nil {
		return err
	}

	// Equal payloads are stored once, so the bytes stay while another memory refers to them.
	p.Freed = 0
	if named == 0 {
		p.Freed = p.Bytes
		if err := tx.Exec(DeletePayload, []byte(p.Sum)); err != nil {
			return err
		}
	}

	ch := AuditOf(actionEvicted, m)
	ch.Reason = p.Reason

	return errors.Join(tx.Audit(ch), tx.insertEviction(m.MemoryID, p.Collection,
		archive.Eviction{PerceptionType: p.PerceptionType, Bytes: p.Freed, Reason: p.Reason,
			EvictedAt: FormatTime(tx.Now)}))
}

// insertEviction records that the payload of a memory is gone. It stores empty features, because features cannot be
// computed without the payload.
func (tx *Tx) insertEviction(id int64, collection string, e archive.Eviction) error {
	return errors.Join(tx.InsertFeatures(id, &record.Features{}),
		tx.Exec(InsertEviction,
			id, collection, e.PerceptionType, e.Bytes, e.Reason, e.EvictedAt))
}

// RemoveFiles removes payload files that no row refers to. The rows are deleted in an
// earlier commit: a crash between the two leaves unused files and loses nothing. If the folder is noted to belong to
// another database file, it removes nothing, because that file may refer to the same bytes.
func (s *Store) RemoveFiles(ctx context.Context, sums [][sha256.Size]byte) error {
	return s.Write(ctx, func(tx *Tx) error {
		foreign, err := s.ForeignFolder(tx.Conn)
		if err != nil || foreign {
			return err
		}

		for _, sum := range sums {
			n, err := tx.Number(CountPayloadFile, sum[:])
			if err != nil {
				return err
			}
			// The payload may have been saved again since its row was deleted.
			if n > 0 {
				continue
			}
			if err := s.Payloads().Remove(sum); err != nil {
				return robotmem.Errorf(robotmem.Unavailable, "", "a payload's file cannot be removed (%s)",
					robotmem.Reason(err))
			}
		}

		return nil
	})
}

// Tier is the order of eviction: lower tiers are evicted first.
type Tier int

const (
	TierGone     Tier = iota // forgotten or superseded
	TierThinned              // part of a long recording, with neighbors in time
	TierPlain                // never recalled
	TierRecalled             // recalled, not known to be useful
	TierUseful               // reported as useful at the end of an episode
	TierFailed               // part of a failed episode or attempt
	TierPinned
)

// Holding is a perception with a payload, as the retention evaluates it.
type Holding struct {
	ID             int64
	Collection     string
	PerceptionType string
	Recording      string // session and source; "" outside an episode
	Observed       string
	Sum            string
	Bytes          int64 // as stored
	InFolder       bool
	Tier           Tier
}

func (t Tier) String() string {
	return [...]string{"forgotten", "thinned", "never recalled", "recalled", "useful", "of a failed episode",
		"pinned"}[t]
}

// Evicted is a holding that is to be evicted.
type Evicted struct {
	Holding
	Reason string
	Freed  int64 // 0 while another perception has the same payload
}

const (
	ChangeRecovered  = "recovered"
	ReasonDoubtful   = "the file was damaged: the text does not match its checksum"
	ReasonUnmerged   = "the file was damaged: the memory that superseded it is lost"
	ReasonLost       = "the file was damaged: the bytes are lost"
	RowsPerRecovered = 1000 // rows in one transaction
)
