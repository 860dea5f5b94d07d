package classify

import "slices"

// automaton finds every occurrence of a set of literals in one pass (Aho & Corasick,
// "Efficient string matching", 1975). The failure links are folded into a dense table, so
// a byte of text costs one look-up. Bytes of no literal share class 0, so a row has about a
// hundred cells. A cell is the row offset of the next state, doubled, plus one if a literal
// ends there.
type automaton struct {
	class [256]uint8
	blank uint8 // the class of all white space, 0 if no literal has a space
	width int32
	next  []int32
	ends  [][]int32 // by state: ids of the literals that end there, longest first
}

// newAutomaton compiles literals, which are normal, not empty and unique. Their ids are indices.
func newAutomaton(literals []string) *automaton {
	a := &automaton{width: 1}
	for _, l := range literals {
		for i := range len(l) {
			if a.class[l[i]] == 0 {
				a.class[l[i]] = uint8(a.width)
				a.width++
			}
		}
	}
	a.blank = a.class[' ']
	for c := range 256 {
		if blankByte(byte(c)) {
			a.class[c] = a.blank
		}
	}
	trie := a.trie(literals)
	a.link(trie)
	return a
}

// trie returns rows of state numbers, 0 where there is no child.
func (a *automaton) trie(literals []string) [][]int32 {
	rows := [][]int32{make([]int32, a.width)}
	a.ends = [][]int32{nil}
	for id, l := range literals {
		s := int32(0)
		for i := range len(l) {
			c := a.class[l[i]]
			if rows[s][c] == 0 {
				rows[s][c] = int32(len(rows))
				rows = append(rows, make([]int32, a.width))
				a.ends = append(a.ends, nil)
			}
			s = rows[s][c]
		}
		a.ends[s] = append(a.ends[s], int32(id))
	}
	return rows
}

// link fills the gaps of each row from the row of the longest proper suffix of its state, shallow
// states first, and concatenates the rows.
func (a *automaton) link(rows [][]int32) {
	fail := make([]int32, len(rows))
	var queue []int32
	for _, s := range rows[0] {
		if s != 0 {
			queue = append(queue, s)
		}
	}
	for len(queue) > 0 {
		s := queue[0]
		queue = queue[1:]
		a.ends[s] = slices.Concat(a.ends[s], a.ends[fail[s]])
		for c, to := range rows[s] {
			if to == 0 {
				rows[s][c] = rows[fail[s]][c]
				continue
			}
			fail[to] = rows[fail[s]][c]
			queue = append(queue, to)
		}
	}
	a.next = make([]int32, 0, len(rows)*int(a.width))
	for _, row := range rows {
		for _, to := range row {
			cell := to * a.width * 2
			if len(a.ends[to]) > 0 {
				cell++
			}
			a.next = append(a.next, cell)
		}
	}
}

// scan calls hit for each occurrence of a literal, by its end. A run of white space is one space.
func (a *automaton) scan(text []byte, hit func(id int32, end int)) {
	cell, inBlank := int32(0), false
	for i, b := range text {
		c := a.class[b]
		if blankByte(b) {
			if inBlank {
				continue
			}
			inBlank = true
		} else {
			inBlank = false
		}
		cell = a.next[cell>>1+int32(c)]
		if cell&1 != 0 {
			for _, id := range a.ends[(cell>>1)/a.width] {
				hit(id, i+1)
			}
		}
	}
}

// startOf returns where a literal that ends at end starts; its white space may be longer in text.
func startOf(text []byte, end int, literal string) int {
	for k := len(literal) - 1; k >= 0; k-- {
		if literal[k] != ' ' {
			end--
			continue
		}
		for end > 0 && blankByte(text[end-1]) {
			end--
		}
	}
	return end
}
