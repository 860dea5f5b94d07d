package store

import (
	"cmp"
	"slices"
	"strings"
)

// pending collects index rows that nothing reads before the function ends. Flush writes
// them sorted by key, many per statement, so that a batch of facts traverses each index
// once.
type pending struct {
	tags []tagRow
}

type tagRow struct {
	tag, source string
	memoryID    int64
}

// rowsPerInsert limits the rows of one statement.
const rowsPerInsert = 64

// Flush writes the collected rows.
func (tx *Tx) Flush() error {
	// INSERT OR IGNORE keeps a tag of the caller, stored earlier, when the rules assign
	// it too.
	slices.SortStableFunc(tx.pending.tags, func(a, b tagRow) int {
		return cmp.Or(cmp.Compare(a.tag, b.tag), cmp.Compare(a.memoryID, b.memoryID))
	})
	args := make([]any, 0, 3*rowsPerInsert)
	write := func() error {
		if len(args) == 0 {
			return nil
		}
		err := tx.Exec(insertRows("memory_tags(memory_id, tag, source)", len(args)/3), args...)
		args = args[:0]
		return err
	}
	for _, t := range tx.pending.tags {
		if args = append(args, t.memoryID, t.tag, t.source); len(args) == cap(args) {
			if err := write(); err != nil {
				return err
			}
		}
	}
	tx.pending.tags = tx.pending.tags[:0]
	return write()
}

// insertRows returns the statement that inserts n rows of three values.
func insertRows(into string, n int) string {
	return "INSERT OR IGNORE INTO " + into + " VALUES (?,?,?)" + strings.Repeat(",(?,?,?)", n-1)
}
