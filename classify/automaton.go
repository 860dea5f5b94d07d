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
	a.link(a.trie(literals))
	return a
}

// node is a state of the trie. Its children are a list; 0 is no state.
type node struct {
	class          uint8
	child, sibling int32
}

func (a *automaton) trie(literals []string) []node {
	nodes := make([]node, 1)
	a.ends = make([][]int32, 1)
	for id, l := range literals {
		s := int32(0)
		for i := range len(l) {
			c := a.class[l[i]]
			to := nodes[s].child
			for to != 0 && nodes[to].class != c {
				to = nodes[to].sibling
			}
			if to == 0 {
				to = int32(len(nodes))
				nodes = append(nodes, node{class: c, sibling: nodes[s].child})
				nodes[s].child = to
				a.ends = append(a.ends, nil)
			}
			s = to
		}
		a.ends[s] = append(a.ends[s], int32(id))
	}
	return nodes
}

// link writes the table, shallow states first. The row of a state is the row of its longest proper
// suffix, overwritten with the state's own children.
func (a *automaton) link(nodes []node) {
	a.next = make([]int32, len(nodes)*int(a.width))
	fail := make([]int32, len(nodes))
	for queue := []int32{0}; len(queue) > 0; queue = queue[1:] {
		s := queue[0]
		row := a.next[s*a.width : (s+1)*a.width]
		copy(row, a.next[fail[s]*a.width:])
		for to := nodes[s].child; to != 0; to = nodes[to].sibling {
			cell := &row[nodes[to].class]
			if s != 0 {
				fail[to] = (*cell >> 1) / a.width
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
