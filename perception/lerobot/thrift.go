package lerobot

import (
	"encoding/binary"
	"errors"
)

// The parquet library allocates what a Thrift list or string claims to hold
// before it reads it. So the footer and every page header are first walked here:
// each claimed length is checked against the bytes that are left. The encoding
// is the compact protocol of Apache Thrift (thrift-compact-protocol.md).

const (
	// maxThriftDepth is twice the nesting of parquet.thrift.
	maxThriftDepth = 16
	// minThriftStruct is the least that a struct in a list of parquet.thrift
	// takes: a column order, whose one field is an empty struct.
	minThriftStruct = 3
)

var errThrift = errors.New("the parquet metadata is damaged: a length in it is more than the bytes that are there")

// thriftWalker goes over one struct.
type thriftWalker struct {
	b   []byte
	pos int
}

// thriftSize returns the bytes that the struct at the start of b takes.
func thriftSize(b []byte) (int, error) {
	w := thriftWalker{b: b}
	if err := w.structure(0); err != nil {
		return 0, err
	}
	return w.pos, nil
}

func (w *thriftWalker) varint() (uint64, error) {
	n, size := binary.Uvarint(w.b[w.pos:])
	if size <= 0 {
		return 0, errThrift
	}
	w.pos += size
	return n, nil
}

func (w *thriftWalker) skip(n uint64) error {
	if n > uint64(len(w.b)-w.pos) {
		return errThrift
	}
	w.pos += int(n)
	return nil
}

func (w *thriftWalker) next() (byte, error) {
	if w.pos >= len(w.b) {
		return 0, errThrift
	}
	w.pos++
	return w.b[w.pos-1], nil
}

func (w *thriftWalker) structure(depth int) error {
	if depth > maxThriftDepth {
		return errThrift
	}
	for {
		head, err := w.next()
		if err != nil || head == 0 {
			return err
		}
		if head>>4 == 0 { // no delta: the field's number follows
			if _, err := w.varint(); err != nil {
				return err
			}
		}
		// A boolean field is its own type.
		if kind := head & 15; kind != 1 && kind != 2 {
			if err := w.value(kind, depth); err != nil {
				return err
			}
		}
	}
}

func (w *thriftWalker) value(kind byte, depth int) error {
	switch kind {
	case 1, 2, 3: // booleans in a list, byte
		return w.skip(1)
	case 4, 5, 6: // integers
		_, err := w.varint()
		return err
	case 7: // double
		return w.skip(8)
	case 8: // bytes
		n, err := w.varint()
		if err != nil {
			return err
		}
		return w.skip(n)
	case 9, 10: // list, set
		return w.list(depth)
	case 12:
		return w.structure(depth + 1)
	}
	// parquet.thrift has no maps.
	return errThrift
}

func (w *thriftWalker) list(depth int) error {
	head, err := w.next()
	if err != nil {
		return err
	}
	n, kind, least := uint64(head>>4), head&15, uint64(1)
	if n == 15 {
		if n, err = w.varint(); err != nil {
			return err
		}
	}
	if kind == 12 {
		least = minThriftStruct
	}
	if n > uint64(len(w.b)-w.pos)/least {
		return errThrift
	}
	for range n {
		if err := w.value(kind, depth); err != nil {
			return err
		}
	}
	return nil
}
