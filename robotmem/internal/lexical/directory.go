package lexical

import "cmp"

// pageSize identifiers share a page of the directory. Identifiers of memories
// are dense; one that stands alone costs a page of its own.
const pageSize = 64

// directory finds documents by their identifier.
type directory map[int64]*page

type page struct {
	used   int
	places [pageSize]place
}

// place is where a document lies. The zero value is no place.
type place struct {
	collection uint32 // index in Index.collections, plus 1
	doc        uint32
}

func (d directory) get(id int64) (place, bool) {
	p := d[id>>6]
	if p == nil {
		return place{}, false
	}
	at := p.places[id&(pageSize-1)]
	return at, at != place{}
}

func (d directory) set(id int64, at place) {
	p := d[id>>6]
	if p == nil {
		p = new(page)
		d[id>>6] = p
	}
	if p.places[id&(pageSize-1)] == (place{}) {
		p.used++
	}
	p.places[id&(pageSize-1)] = at
}

func (d directory) remove(id int64) {
	p := d[id>>6]
	if p == nil || p.places[id&(pageSize-1)] == (place{}) {
		return
	}
	p.places[id&(pageSize-1)] = place{}
	if p.used--; p.used == 0 {
		delete(d, id>>6)
	}
}

// compare orders by collection, then by document number.
func (p place) compare(o place) int {
	return cmp.Or(cmp.Compare(p.collection, o.collection), cmp.Compare(p.doc, o.doc))
}
