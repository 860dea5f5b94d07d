package store

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/record"
)

// ChecksumVersion is the schema version that added checksums.
const ChecksumVersion = 6

// Fill derives what migrations from a version to another cannot express in SQL. It reads and writes whole rows, with
// the columns of the present version, so it runs after all scripts.
func Fill(c *Conn, from, to int, records func() *record.Builder) error {
	for version := from + 1; version <= to; version++ {
		if fill := migrationFills[version]; fill != nil {
			if err := fill(c, records); err != nil {
				return fmt.Errorf("filling in version %d: %w", version, err)
			}
		}
	}

	// Version 6 adds the columns of the checksums but cannot compute them, because later versions add columns that
	// are included.
	unsealed, err := c.Number(CountUnsealed)
	if err == nil && unsealed > 0 {
		err = errors.Join(c.UpdateChecksums(), c.Exec(DeleteUnsealed))
	}

	return err
}

// migrationFills are the parts of migrations that SQL cannot express.
var migrationFills = map[int]func(*Conn, func() *record.Builder) error{
	7: func(c *Conn, _ func() *record.Builder) error { return rebuildSignatures(c) },
	8: func(c *Conn, _ func() *record.Builder) error {
		return errors.Join(c.addToChecksums("auto_tags", MemoriesWithAutoTags), c.renewVectors())
	},
	9:  fillOutcomes,
	10: func(c *Conn, _ func() *record.Builder) error { return c.AddUsesToChecksums() },
	11: func(c *Conn, records func() *record.Builder) error {
		return errors.Join(takeBackOutcomes(c, records), rebuildSignatures(c))
	},
	12: func(c *Conn, _ func() *record.Builder) error { return NewIdentity(c) },
}

// AddUsesToChecksums updates the checksums of memories that a version before 10 wrote.
func (c *Conn) AddUsesToChecksums() error { return c.addToChecksums("uses", MemoriesWithUses) }

// addToChecksums updates the checksums of memories that an earlier version wrote. with finds those that have a value. Its checksum had neither a column
// nor the columns after it. Only memories that have a value in the column and match that old checksum are updated,
// so that damaged ones stay recognisable.
func (c *Conn) addToChecksums(column string, with Query) error {
	before := memoryColumns[:columnNamed(memoryColumns, column)]

	return c.Query(with, nil, func(s Row) error {
		id := s.ColumnInt64(0)
		tags, err := c.Texts(UserTags, id)
		if err != nil {
			return err
		}
		intact := false
		_, err = c.One(MemoryByID, []any{id}, func(s Row) {
			sum := read(s, before, &record.Row{})
			intact = bytes.Equal(sum.sum(tags), s.ColumnRawBlob(len(memoryColumns)))
		})
		if err == nil && intact {
			err = c.updateChecksum(id)
		}

		return err
	})
}

// fillOutcomes derives the outcome of every memory from its context and text.
func fillOutcomes(c *Conn, records func() *record.Builder) error {
	return deriveOutcomes(c, records, OutcomeTexts)
}

// takeBackOutcomes removes the outcomes that memories inherited from their episode, and derives those
// of the memories that then have none. An outcome that the caller stated stays, also "unknown".
func takeBackOutcomes(c *Conn, records func() *record.Builder) error {
	err := c.Query(InheritedOutcomes, []any{inherited}, func(s Row) error {
		id := s.ColumnInt64(0)
		return c.withChecksum(id, func() error {
			return c.Exec(ClearOutcome, id)
		})
	})
	if err != nil {
		return err
	}

	return deriveOutcomes(c, records, OutcomeTextsUnset)
}

func deriveOutcomes(c *Conn, records func() *record.Builder, of Query) error {
	b := records()

	return c.Query(of, nil, func(s Row) error {
		id := s.ColumnInt64(0)
		outcome, source := b.OutcomeOf(s.ColumnText(1), robotmem.ParseObject(s.ColumnText(2)))
		if outcome == "" {
			return nil
		}

		return c.withChecksum(id, func() error {
			return c.Exec(SetOutcome, outcome, source, id)
		})
	})
}

// UpdateChecksums stores the checksum of every memory, past state and session.
func (c *Conn) UpdateChecksums() error {
	err := c.Query(AllMemoryIDs, nil,
		func(s Row) error { return c.updateChecksum(s.ColumnInt64(0)) })
	if err != nil {
		return err
	}
	err = c.Query(AllVersions, nil, func(s Row) error {
		sum, at := read(s, versionColumns, &versionRow{}), len(versionColumns)
		sum.add("memory_id", s.ColumnInt64(at+1))
		return c.Exec(SetVersionChecksum, sum.sum(nil), s.ColumnInt64(at+2))
	})
	if err != nil {
		return err
	}

	return c.UpdateSessionChecksums()
}

// UpdateSessionChecksums stores the checksum of every session.
func (c *Conn) UpdateSessionChecksums() error {
	return c.Query(AllSessionIDs, nil,
		func(s Row) error { return c.updateSessionChecksum(s.ColumnText(0)) })
}

// rebuildSignatures computes the signatures of all facts. The updates change no column by
// which the query finds its rows.
func rebuildSignatures(c *Conn) error {
	return c.Query(SignedTexts, nil, func(s Row) error {
		sig := record.SignatureOf(record.StatementOf(s.ColumnText(2)))
		return c.Exec(SetSignature,
			sig.Sequence, sig.Terms, sig.Numbers, sig.Skeleton, int64(sig.Sketch[0]), int64(sig.Sketch[1]), s.ColumnInt64(0), s.ColumnInt64(1))
	})
}
