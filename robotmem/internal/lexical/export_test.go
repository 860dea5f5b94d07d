package lexical

// SetLimits makes compactions begin with fewer dead documents and go on in
// smaller steps, so that much happens in the midst of one.
func (x *Index) SetLimits(dead, step int) { x.limits = limits{dead, step} }

// Compacting returns how many collections are in the midst of a compaction.
func (x *Index) Compacting() (n int) {
	for _, c := range x.names {
		if c.work != nil {
			n++
		}
	}
	return n
}

// Dead returns how many dead documents still take memory.
func (x *Index) Dead() (n int) {
	for _, c := range x.names {
		n += len(c.deaths)
	}
	return n
}

// Stems returns how many stems the dictionaries have.
func (x *Index) Stems() (n int) {
	for _, c := range x.names {
		n += len(c.slots)
	}
	return n
}
