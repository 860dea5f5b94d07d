// Package text makes search terms of any text, and finds what distinguishes texts with the same
// words: numbers and negations.
//
// A term is one token of the full-text index. A stop word is a term that is too common to search
// for. A stem is the form of a term that the index stores. A quantity is a number with its unit and
// the name to which the text assigns it.
//
// A row is the terms of its text, joined by spaces, in an FTS5 table declared with Tokenize. It is
// found by the terms of Query, each in double quotes and joined by OR:
//
//	CREATE VIRTUAL TABLE facts USING fts5(body, tokenize = "<text.Tokenize>")
//	INSERT INTO facts(body) VALUES (<strings.Join(text.Terms("grip_force=12.5N slipped"), " ")>)
//	content, stop := text.Query("which grip force?")     // [grip force], [which]
//	SELECT rowid FROM facts WHERE facts MATCH '"grip" OR "force"' ORDER BY rank
//
// Any SQLite program can read the file, because this package does all segmentation and Tokenize
// names only tokenizers that are built into FTS5. An index in memory that stores Stem of each term
// ranks the same rows.
//
// # Caveats
//
// The first Chinese question loads a dictionary of 140,000 words, once per process; Terms never
// does. A search for simplified characters does not find traditional ones, nor the reverse.
//
// FTS5 stems a number with its unit like a word: 12.5s is stored as 12.5 and 12.5ms as 12.5m. The
// unit is also stored as a term of its own.
//
// A change of what Terms returns makes stored indexes stale: they have to be rebuilt from the
// texts.
package text
