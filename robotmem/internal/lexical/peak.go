package lexical

import "math"

// peak bounds the postings of a block or a list from above, whatever the
// parameters and the mean length are at the time of a question. Lengths that are
// cut off at 65535 make the bound loose, never wrong.
type peak struct {
	shortest uint16 // length of the shortest document
	repeated uint16 // length of the shortest document with more than one occurrence
	most     uint32 // occurrences in one document
}

var noPeak = peak{shortest: math.MaxUint16, repeated: math.MaxUint16}

func (p *peak) add(count, length uint32) {
	n := uint16(min(length, math.MaxUint16))
	p.shortest = min(p.shortest, n)
	p.most = max(p.most, count)
	if count > 1 {
		p.repeated = min(p.repeated, n)
	}
}

func (p *peak) merge(o peak) {
	p.shortest = min(p.shortest, o.shortest)
	p.repeated = min(p.repeated, o.repeated)
	p.most = max(p.most, o.most)
}

// under returns the largest value of c that a posting below p can have, but
// for rounding.
func (p peak) under(c *curve) float64 {
	top := c.at(0, uint32(p.shortest))
	if p.most > 1 {
		top = max(top, c.at(p.most-1, uint32(p.repeated)))
	}
	return top
}
