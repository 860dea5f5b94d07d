package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
)

// flipFault changes one file of an image, and says how.
type flipFault struct {
	file string
	what string
	data []byte
	bit  bool // one bit was flipped, of the byte at
	at   int
}

// lies is true when one flipped bit still lies in an image where its memory
// makes use of it: in a payload, or in a page that the log does not replace and
// that is not free. Nobody reads a free leaf, not even the doctor.
func (f flipFault) lies(im flipImage) bool {
	if !f.bit || f.at >= len(im[f.file]) {
		return false
	}
	if f.file != flipDB {
		return strings.Contains(f.file, ".payloads") && bytes.Equal(im[f.file], f.data)
	}
	db, log := im[flipDB], im[flipDB+"-wal"]
	page := f.at / flipPage
	from, to := page*flipPage, (page+1)*flipPage
	if to > len(db) || to > len(f.data) || !bytes.Equal(db[from:to], f.data[from:to]) {
		return false
	}
	logged := loggedPages(log)
	if logged[page] != nil {
		return false
	}
	merged := bytes.Clone(db)
	for n, data := range logged {
		if end := (n + 1) * flipPage; end > len(merged) {
			merged = append(merged, make([]byte, end-len(merged))...)
		}
		copy(merged[n*flipPage:], data)
	}
	return !slices.Contains(pageKinds(merged)["freelist leaf"], page)
}

// loggedPages are the pages that the commits of a log hold, counted from 0. What
// is left of an earlier round of the log has other salts and is none of them.
func loggedPages(log []byte) map[int][]byte {
	pages, commit := map[int][]byte{}, map[int][]byte{}
	for at := flipHeader; at+flipFrame <= len(log) && bytes.Equal(log[at+8:at+16], log[16:24]); at += flipFrame {
		commit[int(binary.BigEndian.Uint32(log[at:]))-1] = log[at+24 : at+flipFrame]
		if binary.BigEndian.Uint32(log[at+4:]) > 0 {
			maps.Copy(pages, commit)
			clear(commit)
		}
	}
	return pages
}

const (
	flipPage   = 4096
	flipFrame  = flipPage + 24
	flipHeader = 32 // of a log
)

// pageKinds sorts the pages of a database, so that every kind is hit as often.
func pageKinds(db []byte) map[string][]int {
	kinds := map[string][]int{"header and schema": {0}}
	free := map[int]bool{}
	for trunk := int(binary.BigEndian.Uint32(db[32:])); trunk > 0 && trunk*flipPage <= len(db); {
		page := db[(trunk-1)*flipPage:]
		kinds["freelist trunk"] = append(kinds["freelist trunk"], trunk-1)
		free[trunk-1] = true
		for i := range int(binary.BigEndian.Uint32(page[4:])) {
			leaf := int(binary.BigEndian.Uint32(page[8+4*i:])) - 1
			kinds["freelist leaf"] = append(kinds["freelist leaf"], leaf)
			free[leaf] = true
		}
		trunk = int(binary.BigEndian.Uint32(page))
	}
	names := map[byte]string{2: "index interior", 5: "table interior", 10: "index leaf", 13: "table leaf"}
	for page := 1; page < len(db)/flipPage; page++ {
		if free[page] {
			continue
		}
		kind := names[db[page*flipPage]]
		if kind == "" {
			kind = "overflow"
		}
		kinds[kind] = append(kinds[kind], page)
	}
	return kinds
}

// drawFault makes one fault of an image.
func drawFault(im flipImage, r *rand.Rand) flipFault {
	db := im[flipDB]
	_, live := im[flipDB+"-wal"]
	payloads := slices.DeleteFunc(slices.Sorted(maps.Keys(im)), func(name string) bool { return !strings.Contains(name, ".payloads") })
	flip := func(file, where string, from, to int) flipFault {
		data := bytes.Clone(im[file])
		at, bit := from+r.IntN(to-from), r.IntN(8)
		data[at] ^= 1 << bit
		return flipFault{file: file, what: fmt.Sprintf("bit %d of byte %d of %s (%s)", bit, at, file, where), data: data, bit: true, at: at}
	}
	switch n := r.IntN(100); {
	case live && n < 45:
		log := flipDB + "-wal"
		frames := (len(im[log]) - flipHeader) / flipFrame
		at := flipHeader + r.IntN(frames)*flipFrame
		switch r.IntN(4) {
		case 0:
			return flip(log, "header of the log", 0, flipHeader)
		case 1:
			return flip(log, "header of a frame", at, at+24)
		}
		return flip(log, "page in the log", at+24, at+flipFrame)
	case n < 76:
		kinds := pageKinds(db)
		kind := slices.Sorted(maps.Keys(kinds))[r.IntN(len(kinds))]
		page := kinds[kind][r.IntN(len(kinds[kind]))]
		if kind == "header and schema" && r.IntN(2) == 0 {
			return flip(flipDB, "header", 0, 100)
		}
		return flip(flipDB, kind, page*flipPage, (page+1)*flipPage)
	case n < 86:
		file := payloads[r.IntN(len(payloads))]
		end := len(im[file])
		switch r.IntN(3) {
		case 0:
			return flip(file, "head of a payload", 0, min(64, end))
		case 1:
			return flip(file, "end of a payload", end-min(64, end), end)
		}
		return flip(file, "payload", 0, end)
	}
	return drawDisaster(im, r, payloads)
}

// drawDisaster makes a fault that is more than a bit.
func drawDisaster(im flipImage, r *rand.Rand, payloads []string) flipFault {
	db := bytes.Clone(im[flipDB])
	pages := len(db) / flipPage
	a, b := r.IntN(pages), r.IntN(pages)
	pageA, pageB := db[a*flipPage:(a+1)*flipPage], db[b*flipPage:(b+1)*flipPage]
	switch r.IntN(9) {
	case 0:
		at := r.IntN(len(db))
		return flipFault{file: flipDB, what: fmt.Sprintf("%s cut to %d bytes", flipDB, at), data: db[:at]}
	case 1:
		file := payloads[r.IntN(len(payloads))]
		at := r.IntN(len(im[file]))
		return flipFault{file: file, what: fmt.Sprintf("%s cut to %d bytes", file, at), data: bytes.Clone(im[file][:at])}
	case 2:
		clear(pageA)
		return flipFault{file: flipDB, what: fmt.Sprintf("page %d of zeros", a+1), data: db}
	case 3:
		was := bytes.Clone(pageA)
		copy(pageA, pageB)
		copy(pageB, was)
		return flipFault{file: flipDB, what: fmt.Sprintf("pages %d and %d changed places", a+1, b+1), data: db}
	case 4:
		copy(pageA, pageB)
		return flipFault{file: flipDB, what: fmt.Sprintf("page %d over page %d", b+1, a+1), data: db}
	case 5:
		for i := range pageA {
			pageA[i] = byte(r.Uint32())
		}
		return flipFault{file: flipDB, what: fmt.Sprintf("page %d of noise", a+1), data: db}
	case 6:
		sector := pageA[r.IntN(8)*512:][:512]
		clear(sector)
		return flipFault{file: flipDB, what: fmt.Sprintf("a sector of zeros in page %d", a+1), data: db}
	case 7:
		return flipFault{file: flipDB, what: flipDB + " empty", data: nil}
	}
	return flipFault{file: flipDB, what: "another program's bytes", data: bytes.Repeat([]byte("PK\x03\x04 not a memory\n"), 1+r.IntN(1000))}
}
