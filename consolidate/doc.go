// Package consolidate decides which memories say the same, which contradict
// each other, which merge at the end of an episode, and how confidence fades.
// It plans; the engine applies. Everything here is a pure function.
//
// Evidence from robots repeats itself in words and differs in numbers, so a
// number is content: two facts that differ in a number or its unit are two
// facts, however alike their words are. The caller gives quantities of one
// dimension in one unit.
//
//	a, b := consolidate.Statement{…}, consolidate.Statement{…}
//	switch v, similarity := consolidate.Compare(a, b); v {
//	case consolidate.Duplicate: // count the sighting
//	case consolidate.Contradicts: // store it, name the other
//	}
//
// # Caveats
//
// Words are compared as the caller segmented them; this package knows no
// language. Sketches estimate: they rule out quickly, Jaccard decides.
package consolidate
