package classify

import "slices"

// automaton finds every occurrence of a set of literals in one pass (Aho & Corasick, "Efficient
// string matching", 1975). The failure links are folded into a dense table, so a byte of text
// costs one look-up. Bytes of no literal share class 0, so a row has about a hundred cells. A
// cell is the row offset of the next state, doubled, plus one if a literal ends there.
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

	// At first the table is a trie, whose cells are the number of the state that follows, or 0.
	a.next, a.ends = make([]int32, a.width), make([][]int32, 1)

	for id, l := range literals {
		s := int32(0)
		for i := range len(l) {
			cell := s*a.width + int32(a.class[l[i]])
			if a.next[cell] == 0 {
				a.next[cell] = int32(len(a.ends))
				a.next = append(a.next, make([]int32, a.width)...)
				a.ends = append(a.ends, nil)
			}
			s = a.next[cell]
		}
		a.ends[s] = append(a.ends[s], int32(id))
	}

	// The clone has no spare capacity.
	a.next = slices.Clone(a.next)
	a.link()

	return a
}

// link completes the table, shallow states first. The row of a state is the row of its longest proper
// suffix, overwritten with the state's own children.
func (a *automaton) link() {
	fail := make([]int32, len(a.ends))
	for queue := []int32{0}; len(queue) > 0; queue = queue[1:] {
		s := queue[0]

		suffix := a.next[fail[s]*a.width:]
		for c := range a.width {
			cell := &a.next[s*a.width+c]
			to := *cell
			if to == 0 {
				*cell = suffix[c]
				continue
			}
			// A state below the root fails to the root. The row of any other suffix is complete, because the suffix is
			// shallower, so its cells are doubled offsets.
			if s != 0 {
				fail[to] = (suffix[c] >> 1) / a.width
			}
			a.ends[to] = slices.Concat(a.ends[to], a.ends[fail[to]])
			*cell = to * a.width * 2
			if len(a.ends[to]) > 0 {
				*cell++
			}
			queue = append(queue, to)
		}
	}
}

// scan calls hit for each occurrence of a literal, by its end. A run of white space is one space.
func (a *automaton) scan(text []byte, hit func(id int32, end int)) {
	cell, inBlank := int32(0), false

	for i, b := range text {
		c := a.class[b]
		blank := blankByte(b)
		if blank && inBlank {
			continue
		}
		inBlank = blank
		cell = a.next[cell>>1+int32(c)]
		if cell&1 != 0 {
			for _, id := range a.ends[(cell>>1)/a.width] {
				hit(id, i+1)
			}
		}
	}
}

// startOf returns where a literal that ends at end starts. A space of the literal may be a run of white space in text.
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
