package store

import (
	"context"
	"strings"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/lexical"
	"github.com/robotmem/robotmem-go/robotmem/internal/record"
	"github.com/robotmem/robotmem-go/robotmem/internal/text"
)

// Only other programs read the full-text index memories_fts; answers come from the
// posting lists in memory. The index is updated in the background, many memories at a time,
// because an entry in the transaction of each learn would cost more than all other rows. The
// counter full_text is the revision up to which the index is current.

const (
	// FullTextLeast is the number of waiting changes from which the full-text index is updated.
	FullTextLeast = 512
	// fullTextChunk limits the memories of one transaction.
	fullTextChunk = 500
)

// changedTexts reads what record.Words needs, after the id and the revision.
var changedTexts = Changes{Page: ChangedTexts, One: TextOf}

// words returns the search terms of a row of changedTexts, by column of memories_fts.
func words(s Row) [4][]string {
	return record.Words(s.ColumnText(4), s.ColumnText(5), s.ColumnText(6), StoredList(s.ColumnText(7)),
		StoredList(s.ColumnText(8)))
}

// DocumentsSince returns the next memories that changed after a revision, as documents
// of the posting lists, and the revision up to which it looked.
func (c *Conn) DocumentsSince(revision, most int64) (
	put []lexical.Document, remove []int64, upto int64, done bool, err error,
) {
	f, err := c.EachChanged(changedTexts, revision, most, func(s Row) error {
		if !s.ColumnBool(2) {
			remove = append(remove, s.ColumnInt64(0))
			return nil
		}

		doc := lexical.Document{ID: s.ColumnInt64(0), Collection: s.ColumnText(3)}
		for _, terms := range words(s) {
			for _, t := range terms {
				doc.Terms = append(doc.Terms, text.Stem(t))
			}
		}
		doc.Context = record.ContextStems(robotmem.ParseObject(s.ColumnText(9)))
		put = append(put, doc)

		return nil
	})

	return put, remove, f.Upto, f.Rows < int(most), err
}

// FullTextWaits returns how far the full-text index is behind the change counter.
func (c *Conn) FullTextWaits() (int64, error) {
	changes, err := c.Changes()
	if err != nil {
		return 0, err
	}
	upto, err := c.Number(FullTextUpto)
	return changes - upto, err
}

// FillFullText brings the full-text index up to date.
func (s *Store) FillFullText(ctx context.Context) error {
	for {
		if done, err := s.FillFullTextPart(ctx, 1); done || err != nil {
			return err
		}
	}
}

// FillFullTextPart writes the entries of the next memories that changed. It does nothing and reports done if fewer
// than least changes wait.
func (s *Store) FillFullTextPart(ctx context.Context, least int64) (done bool, err error) {
	if s.ReadOnly() != "" || !s.InFile() {
		return true, nil
	}

	// The backlog is read in a snapshot, so that a check without work does not take the write lock.
	waiting := int64(0)
	err = s.Read(ctx, func(c *Conn) (err error) { waiting, err = c.FullTextWaits(); return err })
	if err != nil || waiting < least {
		return true, err
	}
	err = s.Write(ctx, func(tx *Tx) (err error) { done, err = tx.FillFullText(); return err })

	return done, err
}

// FillFullText writes the entries of the next memories that changed.
func (tx *Tx) FillFullText() (done bool, err error) {
	upto, err := tx.Number(FullTextUpto)
	if err != nil {
		return false, err
	}

	type entry struct {
		id     int64
		active bool
		words  [4]string
	}

	var entries []entry
	f, err := tx.EachChanged(changedTexts, upto, fullTextChunk, func(s Row) error {
		e := entry{id: s.ColumnInt64(0), active: s.ColumnBool(2)}
		if e.active {
			for i, terms := range words(s) {
				e.words[i] = strings.Join(terms, " ")
			}
		}
		entries = append(entries, e)

		return nil
	})
	if err != nil {
		return false, err
	}

	// FTS5 has no upsert, so an entry is deleted and inserted.
	for _, e := range entries {
		if err := tx.Exec(DeleteFullText, e.id); err != nil {
			return false, err
		}
		if !e.active {
			continue
		}
		err := tx.Exec(InsertFullText,
			e.id, e.words[0], e.words[1], e.words[2], e.words[3])
		if err != nil {
			return false, err
		}
	}

	// Sessions count in the change counter too, so after the last memory the index is current up to the counter.
	done = f.Rows < fullTextChunk
	if done {
		f.Upto = max(f.Upto, tx.Revision)
	}

	return done, tx.Exec(SetFullTextUpto, f.Upto)
}
