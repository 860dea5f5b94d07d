package perception

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strconv"
)

// plyWalker goes through the elements of a PLY file, one kind after another.
type plyWalker struct {
	rest  []byte
	order binary.ByteOrder // nil for text
}

func (w *plyWalker) walk(e plyElement, yield func(*pointValues)) error {
	if len(e.properties) == 0 {
		return nil
	}
	fixed := true
	for _, p := range e.properties {
		fixed = fixed && p.lengths == 0
	}
	switch {
	case w.order == nil:
		return w.walkText(e, yield)
	case fixed:
		return w.walkRecords(e, yield)
	}
	return w.walkLists(e, yield)
}

func (w *plyWalker) walkRecords(e plyElement, yield func(*pointValues)) error {
	fields, step := make([]cloudField, len(e.properties)), 0
	for i, p := range e.properties {
		fields[i] = p.cloudField
		fields[i].offset = step
		step += p.bytes()
	}
	need := e.count * int64(step)
	if need > int64(len(w.rest)) {
		return fmt.Errorf("the %d elements %q need %d bytes; %d are there", e.count, clean(e.name, maxNameRunes), need, len(w.rest))
	}
	r := records{data: w.rest, order: w.order, width: e.count, height: 1, stride: func(cloudField) int { return step }}
	r.each(fields, yield)
	w.rest = w.rest[need:]
	return nil
}

// walkLists reads elements of different lengths. A list takes a byte at least,
// so the data ends before a count that it does not keep.
func (w *plyWalker) walkLists(e plyElement, yield func(*pointValues)) error {
	for n := range e.count {
		var v pointValues
		for _, p := range e.properties {
			values := int64(1)
			if p.lengths != 0 {
				b := w.take(int64(p.lengths.size()))
				if b == nil {
					return plyEnds(e, n)
				}
				values = int64(p.lengths.read(b, w.order))
			}
			b := w.take(values * int64(p.kind.size()))
			if b == nil {
				return plyEnds(e, n)
			}
			if p.slot != unused {
				v[p.slot] = p.kind.read(b, w.order)
			}
		}
		yield(&v)
	}
	return nil
}

// take is the next n bytes, nil when they are not there.
func (w *plyWalker) take(n int64) []byte {
	if n < 0 || n > int64(len(w.rest)) {
		return nil
	}
	b := w.rest[:n:n]
	w.rest = w.rest[n:]
	return b
}

func plyEnds(e plyElement, n int64) error {
	return fmt.Errorf("the data ends within element %q %d of %d", clean(e.name, maxNameRunes), n+1, e.count)
}

// walkText reads an element per line.
func (w *plyWalker) walkText(e plyElement, yield func(*pointValues)) error {
	for n := int64(0); n < e.count; {
		if len(w.rest) == 0 {
			return plyEnds(e, n)
		}
		line, rest, _ := bytes.Cut(w.rest, []byte("\n"))
		w.rest = rest
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		var v pointValues
		if !e.readLine(line, &v) {
			return fmt.Errorf("element %q %d has too few numbers, or words, on its line", clean(e.name, maxNameRunes), n+1)
		}
		yield(&v)
		n++
	}
	return nil
}

func (e plyElement) readLine(line []byte, v *pointValues) bool {
	for _, p := range e.properties {
		word, rest := nextWord(line)
		line = rest
		if p.lengths != 0 {
			values, err := strconv.ParseUint(string(word), 10, 32)
			if err != nil {
				return false
			}
			for ; values > 0; values-- {
				if word, line = nextWord(line); len(word) == 0 {
					return false
				}
			}
			continue
		}
		if len(word) == 0 {
			return false
		}
		if p.slot != unused {
			value, err := strconv.ParseFloat(string(word), 64)
			if err != nil {
				return false
			}
			v[p.slot] = value
		}
	}
	return true
}
