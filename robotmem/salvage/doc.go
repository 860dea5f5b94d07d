// Package salvage reads what can be read of a damaged SQLite file. It needs no
// driver: it looks at every page by itself, as the recover command of the sqlite3
// shell does, and believes nothing that does not check.
//
// Nouns: a page is reached when the tree of its table leads to it; a hole is a
// part of a tree that could not be followed, with the keys that are missing; a
// stray page is a leaf that no tree leads to. A stray page is read only for a
// table with a hole, only for keys within the hole, and never when it is on the
// list of free pages: what was deleted stays deleted.
//
//	f, err := salvage.Open("memory.db") // with memory.db-wal, if there is one
//	if err != nil {
//		return err
//	}
//	defer f.Close()
//	report, err := f.Rows(ctx, tables, func(row salvage.Row) error {
//		return store(row.Table, row.Values)
//	})
//
// The formats are those of https://sqlite.org/fileformat2.html (sections 1.3 the
// header, 1.5 free pages, 1.6 pages of a tree and where a cell overflows, 2.1
// records) and https://sqlite.org/walformat.html; checksums of pages those of
// package pagesum, or, in older files, of https://sqlite.org/cksumvfs.html.
//
// # Caveats
//
// The text of a file is taken for UTF-8. A rollback journal is not read: a file
// of this project has none. Where the list of free pages cannot be read and a
// tree has a hole, a page that was freed may be taken for one in use; the report
// says so. Memory is about three bytes for each page, eight for each page in the
// log, and one row.
package salvage
