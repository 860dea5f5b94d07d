// Package classify reads a memory's text and returns its category, its tags, its confidence, and
// the files and names in it. It uses only the rules of a taxonomy file, so the same text always has
// the same result.
//
// # Nouns
//
//   - A tag is a node of a tree; its roots are the dimensions.
//   - A category is one of an ordered list. The first that matches is the memory's category,
//     otherwise [Fallback].
//   - A pattern belongs to a tag, a category or the causal signal. It is a phrase or a regular
//     expression.
//   - A literal is a text that every match of a pattern contains. One Aho-Corasick automaton finds
//     the literals of all patterns in one pass.
//   - A signal raises confidence: a file path, code, a cause, or a long context.
//
// # The file
//
// A taxonomy file is YAML with the keys tags, categories, confidence and scope, which the head of
// taxonomy.yaml describes. A user's file replaces the built-in one as a whole.
//
// A phrase ignores case and takes any run of white space for a space. Latin words need a boundary
// on both sides ("module" is not in "modulefinder"), Han text has none. In a category's phrase an
// underscore is part of a word; in a tag's it is a boundary, because the vocabulary of a robot
// lives in names such as grip_force. The notation:
//
//	error{,s}             either spelling, like a shell's braces
//	found|noticed         one or the other
//	found ... error       the first, then the second, in one sentence, at most
//	                      80 bytes apart (or as the pattern's gap says)
//	^always|never         either, at the start of a sentence
//	found ... <file>      <file> and <code> stand for what a scope rule found
//
// A pattern may carry "except": phrases inside which a hit does not count.
//
// # Caveats
//
//   - A regular expression sees one sentence at a time, and only a sentence that holds one of its
//     literals. It costs some 50 ns a byte where a phrase is almost free, so prefer phrases.
//   - The gap of a sequence is measured from the nearest earlier hit.
//   - Sentences end at a line break, at a full stop followed by white space and at their Chinese
//     counterparts; "e.g. " ends one, too.
//   - Case folding never changes the length of the text. The few letters whose lower case has
//     another length (İ, the Kelvin sign) match only themselves.
//   - Negation is not understood: "found no error" is listed as an exception, "errors were not
//     found" is not.
//   - Names are looked for in the first 1,024 words like code; 32 files and 32 entities are kept.
package classify
