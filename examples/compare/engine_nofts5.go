//go:build !cgo || !(sqlite_fts5 || fts5)

package main

// fts5Missing is why SQLite in C cannot be asked.
const fts5Missing = "this program was built without it; it wants a C compiler and a tag: CGO_ENABLED=1 go run -tags sqlite_fts5 ."

// newFTS5 is not called while fts5Missing gives a reason.
func newFTS5() engine { panic("fts5: " + fts5Missing) }
