// Package consolidate decides which memories are duplicates, contradict each other or are superseded
// at the end of an episode, and computes the decay of confidence. It has pure functions only; the
// caller applies the results.
//
// Similar words never make two facts one. A duplicate has the same content sequence (see [Statement])
// and the same numbers. A memory is superseded only by one that says the same, apart from words such
// as "again". The caller gives quantities of one dimension in one unit.
//
// # Caveats
//
// Words are compared as the caller segmented them. Sketches are estimates: they exclude pairs quickly,
// and Jaccard decides.
package consolidate
