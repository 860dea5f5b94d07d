// Package pagesum is the checksum that ends every page of a memory's file.
//
// It is made of the page's bytes and of its number, so that a page of zeros and
// a page in the place of another do not match. Those of SQLite's own checksum VFS
// (sqlite.org/cksumvfs.html), which are made of the bytes alone, they would.
//
// The hash is XXH64 (github.com/Cyan4973/xxHash, doc/xxhash_spec.md) of all bytes
// before its own, with the number as the seed.
package pagesum

import (
	"encoding/binary"

	"github.com/cespare/xxhash/v2"
)

const (
	// Reserved is how many bytes at the end of a page are not SQLite's. With
	// just the 8 that a sum takes, the driver would make and compare SQLite's.
	Reserved = 16

	size = 8
)

// Put writes the sum of page number n, counted from 1, into its last bytes.
func Put(page []byte, n uint32) {
	at := len(page) - size
	binary.LittleEndian.PutUint64(page[at:], sum(page[:at], n))
}

// Fits reports whether a page matches its sum.
func Fits(page []byte, n uint32) bool {
	at := len(page) - size
	return at >= 0 && binary.LittleEndian.Uint64(page[at:]) == sum(page[:at], n)
}

func sum(p []byte, n uint32) uint64 {
	var d xxhash.Digest
	d.ResetWithSeed(uint64(n))
	_, _ = d.Write(p) // never fails
	return d.Sum64()
}
