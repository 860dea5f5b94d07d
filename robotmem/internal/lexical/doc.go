// Package lexical is an inverted index in memory. It returns the exact N best texts by BM25 in a
// fraction of a millisecond for a hundred thousand texts. It knows stems and numbers only, is
// filled from a full-text table of SQLite (FTS5), and has its formula.
//
// A document is the stems of a text, under an identifier and in a collection. A posting says that a
// document holds a stem, and how often. A posting list has the postings of one stem in one
// collection, in blocks. A block maximum bounds the scores of the postings of a block. The
// threshold is the score below which a document is not among the best. A snapshot is a stored index.
//
// Results and scores equal, bit for bit, those of scoring every match. Statistics are those of the
// live documents, as in an index that was built from them alone.
//
// # Caveats
//
// A query for All looks its terms up in each collection, which takes about forty microseconds for
// every hundred collections. Each collection has its own dictionary of about 150 bytes a stem, so
// many small collections take much more memory than one.
//
// Replacing a document removes and adds it even if it did not change. Deleted documents take memory
// until they are more than a quarter of a collection and at least a thousand. Then an Apply
// rewrites the collection, which blocks searches for some tenths of a second at a million.
//
// Identifiers should be dense, as row numbers are: an isolated one costs half a kilobyte. A
// collection takes up to 2³² − 1 documents including deleted ones, and a list up to 4 GiB.
//
// The parameters and the mean length may change from query to query, so nothing that is precomputed
// depends on them. The formula does not check them: a negative K1, or a B outside of 0 to 1, gives
// scores in no useful order.
package lexical
