// Package vector finds the vectors that are nearest to a question by cosine,
// while the vectors themselves stay in a SQLite table.
//
// An [Index] keeps for each vector a code, which is two bits for each dimension,
// a sign and a finer one, and two numbers that turn a code into an estimate: 104
// bytes for 384 dimensions instead of 1,536. A [Source] reads stored vectors by
// memory id. A [Query] has three tiers to pass: all codes that its filter admits
// are compared by their signs, some thousand of them are ordered by the estimate
// from both bits, and the best of those, the rescore, are read from the source
// and scored exactly. What comes back are
// [Hit]s with the true cosine. A set or a filter that is hardly larger than the
// rescore is scored whole, so small answers are exact.
//
//	var mean vector.MeanBuilder
//	for _, v := range some {
//		mean.Add(v) // a sample of the set
//	}
//	x := vector.New(384, mean.Mean())
//	x.Put(memory, unit)
//	x.Tune(vector.Measurement{}, load) // at times, in the background
//	hits, err := x.Search(vector.Query{Vector: question, N: 10}, load)
//
// A chunk is the codes of 4,096 neighbouring ids and the unit in which an index
// is saved, so that a start does not read every vector. [Register] opens the
// search to SQL.
//
// # Caveats
//
// Recall is a matter of the data. These are questions that are not in the set,
// 384 dimensions, and the share of their true nearest 10 and 100 that is found:
//
//	vectors    what they are like            rescore   at 10   at 100
//	  100,000  topics of 100 memories            256   1.00    0.99
//	  100,000  the same, far from the origin     256   1.00    0.99
//	  100,000  the same, a few large dimensions  256   1.00    1.00
//	  100,000  sums of words, asked by a few     256   0.99    0.94
//	1,000,000  topics of 1,000 memories          256   1.00    0.90
//	1,000,000  topics of 1,000 memories          576   1.00    1.00
//	  100,000  no structure at all               256   0.85    0.66
//	  100,000  no structure at all             8,192   1.00    1.00
//
// 160 is the default and [Index.Tune] finds what a set wants. A read from SQLite
// is about 3 us, near half of the time of a question. The last of many hits are
// less sure than the first.
//
// Vectors have length 1; nothing here normalises what is stored. Codes depend on
// the mean, so chunks are refused under another one.
//
// Ids are taken to be dense: a chunk costs 426 KB at 384 dimensions with one
// vector as with 4,096.
//
// A filter is read during the search and must not change meanwhile. The index is
// locked for reading until it is known what to read, 5 ms at a million vectors;
// writers wait for that, and never for the source.
package vector
