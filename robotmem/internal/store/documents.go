package store

import (
	"github.com/robotmem/robotmem-go/robotmem/internal/lexical"
	"github.com/robotmem/robotmem-go/robotmem/internal/record"
	"github.com/robotmem/robotmem-go/robotmem/internal/sqlite"
	"github.com/robotmem/robotmem-go/robotmem/internal/text"
)

// textColumns are the columns that record.Words reads, after the id and the revision.
const textColumns = "m.id, m.revision, m.status = 'active', m.collection, m.type, m.content, m.human_summary, m.scope_files, m.scope_entities"

// words returns the search terms of a row of textColumns, by column.
func words(s *sqlite.Stmt) [4][]string {
	return record.Words(s.ColumnText(4), s.ColumnText(5), s.ColumnText(6), StoredList(s.ColumnText(7)), StoredList(s.ColumnText(8)))
}

// DocumentsSince returns the next memories that changed after a revision, as documents
// of the posting lists, and the revision up to which it looked.
func (c *Conn) DocumentsSince(revision, most int64) (put []lexical.Document, remove []int64, upto int64, done bool, err error) {
	f, err := c.EachChanged(textColumns, "", revision, most, func(s *sqlite.Stmt) error {
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
		put = append(put, doc)
		return nil
	})
	return put, remove, f.Upto, f.Rows < int(most), err
}
