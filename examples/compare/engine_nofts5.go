//go:build !cgo || !(sqlite_fts5 || fts5)

package main

// fts5Missing says why SQLite in C is not available.
const fts5Missing = "this program was built without it; it wants a C compiler and a tag: CGO_ENABLED=1 go run -tags sqlite_fts5 ."

// newFTS5 is not called, because fts5Missing is not empty.
func newFTS5() engine { panic("fts5: " + fts5Missing) }
