// Package text turns any text into search terms, and reads from it what makes
// two texts differ although their words agree: numbers and negations.
//
// Its nouns: a term is one token of the full-text index; a stop word is a term
// too common to search by; a stem is what the index stores for a term; a
// quantity is a number with its unit and the name that it is bound to.
//
// A row is indexed as Index(s) in an FTS5 table declared with Tokenize, and
// found by the terms of Query, each in double quotes and joined by OR:
//
//	CREATE VIRTUAL TABLE facts USING fts5(body, tokenize = "<text.Tokenize>")
//	INSERT INTO facts(body) VALUES (<text.Index("grip_force=12.5N slipped")>)
//	content, stop := text.Query("which grip force?")     // [grip force], [which]
//	SELECT rowid FROM facts WHERE facts MATCH '"grip" OR "force"' ORDER BY rank
//
// The file stays readable for every SQLite program, as all segmentation happens
// here and Tokenize names only tokenizers that FTS5 has built in. An index in
// memory that stores Stem of each term ranks the same rows.
//
// # Caveats
//
// The first Chinese question loads a dictionary of 140,000 words, once per
// process; Terms and Index never do. Traditional characters are found like
// simplified ones, but neither by the other.
//
// FTS5 stems a number with its unit like a word, so that 12.5s is stored as
// 12.5 and 12.5ms as 12.5m; the unit that is stored beside tells them apart.
//
// A change of what Terms returns makes the stored index stale: it has to be
// rebuilt from the texts.
package text
