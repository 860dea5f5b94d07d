package lexical

// A cursor reads one list in the order of documents, for one question. It
// decodes a block at a time.
type cursor struct {
	run
	list  *list
	idf   float64
	term  int    // place in the question
	block int    // decoded, or -1
	n     int    // postings in the block
	at    int    // current posting in the block
	doc   uint32 // document there; none behind the end
	ahead int    // block that peak looked at last

	bound float64 // of what a posting in the present window can score
	most  uint32  // occurrences in a document of the window, less the first
}

// reset puts the cursor before the first posting.
func (c *cursor) reset(l *list, idf float64, term int) {
	c.list, c.idf, c.term = l, idf, term
	c.block, c.n, c.at, c.doc, c.ahead = -1, 0, 0, 0, 0
}

// load decodes the i-th block.
func (c *cursor) load(i int) {
	c.n = c.list.decode(i, &c.run)
	c.block, c.at, c.doc = i, 0, c.docs[0]
}

// next moves to the next posting.
func (c *cursor) next() {
	if c.at++; c.at < c.n {
		c.doc = c.docs[c.at]
		return
	}
	if c.block+1 < c.list.size() {
		c.load(c.block + 1)
		return
	}
	c.doc = none
}

// seek moves on to the first posting of doc or a later document.
func (c *cursor) seek(doc uint32) {
	if c.doc >= doc && c.block >= 0 {
		return
	}
	if c.block < 0 || c.docs[c.n-1] < doc {
		i := c.list.find(max(0, c.block), doc)
		if i == c.list.size() {
			c.doc = none
			return
		}
		c.load(i)
	}
	c.search(doc)
}

// search moves on within the block to the first posting of doc or later, which
// it holds.
func (c *cursor) search(doc uint32) {
	at := c.at
	for at+16 < c.n && c.docs[at+16] < doc {
		at += 16
	}
	for c.docs[at] < doc {
		at++
	}
	c.at, c.doc = at, c.docs[at]
}

// peak returns a bound of what a posting from the documents from to to−1 can
// add to a score; it is 0 if there is none. from never goes back.
func (c *cursor) peak(from, to uint32, v *curve) float64 {
	if c.doc >= to {
		return 0
	}
	l := c.list
	c.ahead = l.find(c.ahead, from)
	top, before := 0.0, from
	c.most = 0
	for i := c.ahead; before < to && i < len(l.blocks); i++ {
		b := &l.blocks[i]
		top = max(top, b.peak.under(v))
		c.most = max(c.most, b.peak.most-1)
		before = b.last + 1
	}
	if before < to && c.ahead < l.size() && l.count%blockSize != 0 {
		top = max(top, l.tail.under(v))
		c.most = max(c.most, l.tail.most-1)
	}
	return top * c.idf
}

// beyond tells whether doc lies behind the block that is decoded.
func (c *cursor) beyond(doc uint32) bool {
	return c.doc < doc && (c.block < 0 || c.docs[c.n-1] < doc)
}

// cap returns a bound of what a posting of doc, which lies beyond, can add to a
// score. It looks at the block without decoding it.
func (c *cursor) cap(doc uint32, v *curve) float64 {
	l := c.list
	c.ahead = l.find(max(c.ahead, c.block), doc)
	if c.ahead == l.size() {
		return 0
	}
	return c.idf * l.block(c.ahead).peak.under(v)
}
