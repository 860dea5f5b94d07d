// Package vector is an index of vectors in memory that finds the nearest ones to a
// query by cosine. The vectors themselves stay in a SQLite table.
//
// An [Index] holds a code for each vector, which is two bits for each dimension and two numbers
// that turn a code into an estimate: 104 bytes for 384 dimensions, and 8 for its place. A [Source]
// reads stored vectors by memory id, in the form of [Encode], 408 bytes. A [Query] is answered in
// three tiers:
// of all codes that its filter admits the signs give an estimate, the best few thousand are sorted
// by a finer one from both bits, and of the best of those, the rescore, 80 are read from the source
// and compared exactly, and further ones that may be among the first 12. The result is [Hit]s with
// the cosine of the stored vector. A set or a filter that is hardly larger than the rescore is
// compared completely, so its answer is exact.
//
// The codes of a large set are in the order of likeness, which [Index.Arrange] makes. Of these the
// signs are compared only in the groups of 64 codes whose centres are nearest to the query: all, half
// or a quarter, as [Index.Tune] finds sufficient. [Index.Write] and [Read] save an index.
//
// # Caveats
//
// Recall depends on the data: with the default rescore of 160 nearly all of the true nearest ten
// of ordinary sets are found, of random vectors without structure 91 in 100 with 256.
// [Index.Tune] finds the value for a set. A read from SQLite takes 3 to 5 us, the scan of the
// signs of a million codes 3 to 6 ms of a core. The last of many hits have a lower recall.
//
// Vectors must have length 1; the package does not normalise stored vectors. Codes are held by
// 4,096, in 443 KB at 384 dimensions. Ids should be dense: 4,096 of them take 17 KB.
//
// A filter is read during the search and must not change meanwhile. A search holds the read lock
// until it has selected the vectors to read, 4 ms at a million vectors. Writers wait for that, but
// not for the source.
package vector
