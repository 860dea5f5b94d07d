package lexical

// SetLimits makes compactions start with fewer deleted documents and proceed in
// smaller steps, so that more changes happen during one.
func (x *Index) SetLimits(dead, step int) { x.limits = compactionLimits{dead, step} }

// Compacting returns how many collections have a compaction in progress.
func (x *Index) Compacting() (n int) {
	for _, c := range x.names {
		if c.compaction != nil {
			n++
		}
	}
	return n
}

// Dead returns how many deleted documents still take memory.
func (x *Index) Dead() (n int) {
	for _, c := range x.names {
		n += len(c.deletions)
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
