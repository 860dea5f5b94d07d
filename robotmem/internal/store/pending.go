package store

import (
	"cmp"
	"slices"
	"strings"

	"github.com/robotmem/robotmem-go/robotmem/internal/filter"
)

// pending collects index rows that nothing reads before the function ends. Flush writes
// them sorted by key, many per statement, so that a batch of facts traverses each index
// once.
type pending struct {
	attributes []attributeRow
	tags       []tagRow
}

type attributeRow struct {
	path, memoryID int64
	value          any
}

type tagRow struct {
	tag, source string
	memoryID    int64
}

// rowsPerInsert limits the rows of one statement.
const rowsPerInsert = 64

// Flush writes the collected rows.
func (tx *Tx) Flush() error {
	slices.SortStableFunc(tx.pending.attributes, func(a, b attributeRow) int {
		if c := cmp.Compare(a.path, b.path); c != 0 {
			return c
		}
		if c, ok := filter.CompareValues(a.value, b.value); ok && c != 0 {
			return c
		}
		return cmp.Compare(a.memoryID, b.memoryID)
	})
	// INSERT OR IGNORE keeps a tag of the caller, stored earlier, when the rules assign
	// it too.
	slices.SortStableFunc(tx.pending.tags, func(a, b tagRow) int {
		return cmp.Or(cmp.Compare(a.tag, b.tag), cmp.Compare(a.memoryID, b.memoryID))
	})
	args := make([]any, 0, 3*rowsPerInsert)
	write := func(into string) error {
		if len(args) == 0 {
			return nil
		}
		err := tx.Exec(insertRows(into, len(args)/3), args...)
		args = args[:0]
		return err
	}
	const attributes, tags = "attributes(path_id, value, memory_id)", "memory_tags(memory_id, tag, source)"
	for _, a := range tx.pending.attributes {
		if args = append(args, a.path, a.value, a.memoryID); len(args) == cap(args) {
			if err := write(attributes); err != nil {
				return err
			}
		}
	}
	if err := write(attributes); err != nil {
		return err
	}
	for _, t := range tx.pending.tags {
		if args = append(args, t.memoryID, t.tag, t.source); len(args) == cap(args) {
			if err := write(tags); err != nil {
				return err
			}
		}
	}
	tx.pending.attributes, tx.pending.tags = tx.pending.attributes[:0], tx.pending.tags[:0]
	return write(tags)
}

// insertRows returns the statement that inserts n rows of three values.
func insertRows(into string, n int) string {
	return "INSERT OR IGNORE INTO " + into + " VALUES (?,?,?)" + strings.Repeat(",(?,?,?)", n-1)
}
