package store

import (
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
)

// StoredPassage is an active passage of a document.
type StoredPassage struct {
	ID      int64
	Content string
	Context robotmem.Object
}

// PassagesOf returns the active passages of a document, in the order in which they were stored.
func (c *Conn) PassagesOf(collection, name string) (out []StoredPassage, err error) {
	err = c.Query(DocumentPassages, []any{collection, name}, func(s Row) error {
		out = append(out, StoredPassage{s.ColumnInt64(0), s.ColumnText(1), robotmem.ParseObject(s.ColumnText(2))})
		return nil
	})

	return out, err
}

// StoredDocument is a document by what its passages say.
type StoredDocument struct {
	Collection, Name string
	Passages         int
	Added, Updated   time.Time
	Head             robotmem.Object // the context of its first passage; nil if that was forgotten
}

// Documents returns the documents of all collections, by collection and name.
func (c *Conn) Documents() (out []StoredDocument, err error) {
	err = c.Query(DocumentsStored, nil, func(s Row) error {
		d := StoredDocument{
			Collection: s.ColumnText(0), Name: s.ColumnText(1), Passages: s.ColumnInt(2), Added: ParseTime(s.ColumnText(3)),
		}

		// A passage that was moved is valid from then on.
		d.Updated = ParseTime(max(s.ColumnText(4), s.ColumnText(5)))
		if head := s.ColumnText(6); head != "" {
			d.Head = robotmem.ParseObject(head)
		}
		out = append(out, d)

		return nil
	})

	return out, err
}
