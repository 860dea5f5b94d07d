// Package lexical ranks texts by the words of a question: an index in memory
// that answers with the exact N best by BM25, in a fraction of a millisecond for
// a hundred thousand texts. It knows stems and numbers only; a full-text table
// of SQLite (FTS5) is its durable twin, from which it is fed and can be rebuilt,
// and the formula is that of FTS5.
//
// Its nouns: a document is the stems of a text, under an identifier and in a
// collection; a posting says that a document holds a stem, and how often; a list
// has the postings of one stem in one collection, in blocks; a peak bounds what
// the postings of a block can score; the cut is the score below which a document
// is not among the best any more; a snapshot is an index in a file.
//
//	x := lexical.New(func(averageLength float64) lexical.Params {
//		return lexical.Params{K1: 1.2, B: 0.75}
//	})
//	x.Apply([]lexical.Document{
//		{ID: 1, Collection: "arm", Terms: []string{"grip", "slip", "wet", "grip"}},
//		{ID: 2, Collection: "arm", Terms: []string{"grip", "firm"}},
//		{ID: 3, Collection: "base", Terms: []string{"wheel", "slip"}},
//	}, nil)
//	hits := x.Search(lexical.Query{Collection: "arm", Terms: []string{"wet", "grip"}, N: 10})
//	for _, hit := range hits {
//		fmt.Println(hit.ID, hit.Score) // 1, then 2
//	}
//	x.Apply(nil, []int64{1})
//
//	_, err := x.Freeze().WriteTo(w) // and later: lexical.Read(r, params)
//
// Identifiers and scores are those of scoring every match in the order of the
// question, bit for bit, whatever is left out on the way to them; and the
// statistics are those of the living documents, as if the index had been built
// from them anew.
//
// # Caveats
//
// A question for All looks its words up in each collection, which takes about
// forty microseconds for every hundred of them, and each collection has a
// dictionary of its own, of about 150 bytes a stem: many small collections take
// much more memory than one.
//
// A replaced document is removed and added, even if it is the same: apply what
// changed, not what did not. The dead ones take memory until there are more than
// a quarter in a collection, and at least a thousand; then each Apply to the
// collection rewrites a part of it, and the last one, which puts the new lists in
// place, holds questions up for some milliseconds at a million documents.
//
// The identifiers should lie close together, as row numbers do: one that has no
// neighbours costs half a kilobyte. A collection takes up to 2³² − 1 documents,
// the dead ones counted, and a list up to 4 GiB.
//
// The parameters and the mean length may differ from question to question, so
// that nothing computed beforehand depends on them. The formula does not check
// them: a negative K1, or a B outside of 0 to 1, gives scores in no useful order.
package lexical
