// Package pagesum is the checksums at the end of every page of a memory's file.
//
// Those of a new file are made of the page's bytes and of its number, so that a
// page of zeros and a page in the place of another do not match: XXH64
// (github.com/Cyan4973/xxHash, doc/xxhash_spec.md) of all bytes before the sum,
// with the number as the seed. Files of older versions have those of SQLite's own
// checksum VFS (sqlite.org/cksumvfs.html), which are made of the bytes alone.
//
// How many bytes a page reserves tells the kinds apart. Pages are counted from 1.
package pagesum

import (
	"encoding/binary"

	"github.com/cespare/xxhash/v2"
)

const (
	// Reserved is how many bytes a page of a new file keeps from SQLite. The last
	// 8 are the sum; with no more than these it would be one of SQLite's.
	Reserved = 16
	// ReservedBySQLite is how many bytes a page with SQLite's sum reserves.
	ReservedBySQLite = 8

	size = 8
)

// Known reports whether pages that reserve so many bytes have a sum.
func Known(reserved int) bool { return reserved == Reserved || reserved == ReservedBySQLite }

// Put writes the sum of page n into its last bytes. It does nothing where pages
// have none.
func Put(page []byte, n uint32, reserved int) {
	if Known(reserved) {
		at := len(page) - size
		binary.LittleEndian.PutUint64(page[at:], sum(page[:at], n, reserved))
	}
}

// Fits reports whether page n matches its sum. Where pages have none, none does.
func Fits(page []byte, n uint32, reserved int) bool {
	at := len(page) - size
	return Known(reserved) && at >= 0 && binary.LittleEndian.Uint64(page[at:]) == sum(page[:at], n, reserved)
}

func sum(p []byte, n uint32, reserved int) uint64 {
	if reserved == ReservedBySQLite {
		a, b := Fletcher(binary.LittleEndian, 0, 0, p)
		return uint64(b)<<32 | uint64(a)
	}
	var d xxhash.Digest
	d.ResetWithSeed(uint64(n))
	_, _ = d.Write(p) // never fails
	return d.Sum64()
}

// Fletcher is the sum that SQLite makes of a page, and of a log: it goes on from
// a and b over the pairs of 32-bit words of p. What is left of p at its end, fewer
// than 8 bytes, is not looked at.
func Fletcher(order binary.ByteOrder, a, b uint32, p []byte) (uint32, uint32) {
	for ; len(p) >= 8; p = p[8:] {
		a += order.Uint32(p) + b
		b += order.Uint32(p[4:]) + a
	}
	return a, b
}
