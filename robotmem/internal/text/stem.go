package text

import (
	"hash/maphash"
	"strings"
	"sync/atomic"
)

// The stemmer is that of M. F. Porter, 1980 ("An algorithm for suffix stripping", Program 14(3))
// with the deviations of SQLite's FTS5, because its results are compared with those of FTS5:
// words of fewer than three bytes and of more than 64 are unchanged, "bli" and "logi" are in step
// 2 (from Porter's later errata), a suffix never covers the whole word, and every byte that is
// not an ASCII vowel counts as a consonant, including digits and the bytes of other scripts.

const (
	minStemBytes = 3
	maxStemBytes = 64 // FTS5_PORTER_MAX_TOKEN
)

// suffix is a rewriting rule. The first rule whose ending matches decides the step,
// whether or not its condition holds.
type suffix struct{ end, to string }

var step1a = []suffix{{"sses", "ss"}, {"ies", "i"}, {"ss", "ss"}, {"s", ""}}

var step2 = []suffix{
	{"ational", "ate"}, {"tional", "tion"},
	{"enci", "ence"}, {"anci", "ance"},
	{"izer", "ize"}, {"logi", "log"},
	{"bli", "ble"}, {"alli", "al"}, {"entli", "ent"}, {"eli", "e"}, {"ousli", "ous"},
	{"ization", "ize"}, {"ation", "ate"}, {"ator", "ate"},
	{"alism", "al"}, {"iveness", "ive"}, {"fulness", "ful"}, {"ousness", "ous"},
	{"aliti", "al"}, {"iviti", "ive"}, {"biliti", "ble"},
}

var step3 = []suffix{
	{"ical", "ic"}, {"ness", ""}, {"icate", "ic"}, {"iciti", "ic"},
	{"ful", ""}, {"ative", ""}, {"alize", "al"},
}

var step4 = []suffix{
	{"al", ""}, {"ance", ""}, {"ence", ""}, {"er", ""}, {"ic", ""},
	{"able", ""}, {"ible", ""}, {"ant", ""}, {"ement", ""}, {"ment", ""}, {"ent", ""},
	{"ion", ""}, {"ou", ""}, {"ism", ""}, {"ate", ""}, {"iti", ""},
	{"ous", ""}, {"ive", ""}, {"ize", ""},
}

// Robots use few words, so most stems are in this cache. Each place holds the last term with its hash.
var (
	stemCache [2048]atomic.Pointer[stemmed]
	stemSeed  = maphash.MakeSeed()
)

type stemmed struct{ term, stem string }

// Stem returns the form of a term that FTS5 stores under Tokenize.
func Stem(term string) string {
	if len(term) < minStemBytes || len(term) > maxStemBytes {
		return term
	}
	place := &stemCache[maphash.String(stemSeed, term)%uint64(len(stemCache))]

	known := place.Load()
	if known == nil || known.term != term {
		// The clone keeps the cache from holding the whole text that the term is a part of.
		term = strings.Clone(term)
		known = &stemmed{term, stemOf(term)}
		place.Store(known)
	}

	return known.stem
}

func stemOf(term string) string {
	// "e" may be put back, nothing else grows.
	var buf [maxStemBytes + 8]byte
	w := append(buf[:0], term...)
	if w[len(w)-1] == 's' {
		w = rewrite(w, step1a, 0)
	}

	w = pastAndGerund(w)
	if n := len(w); w[n-1] == 'y' && hasVowel(w[:n-1]) {
		w[n-1] = 'i'
	}

	w = rewrite(w, step2, 1)
	w = rewrite(w, step3, 1)
	w = rewrite(w, step4, 2)
	if n := len(w); w[n-1] == 'e' {
		if m := measure(w[:n-1]); m > 1 || m == 1 && !shortEnd(w[:n-1]) {
			w = w[:n-1]
		}
	}

	if n := len(w); n > 1 && w[n-1] == 'l' && w[n-2] == 'l' && measure(w[:n-1]) > 1 {
		w = w[:n-1]
	}
	if string(w) == term {
		return term
	}

	return string(w)
}

// pastAndGerund is step 1b with its correction of the stem.
func pastAndGerund(w []byte) []byte {
	n := len(w)
	switch {
	case ends(w, "eed"):
		if measure(w[:n-3]) > 0 {
			w = w[:n-1]
		}
		return w
	case ends(w, "ed") && hasVowel(w[:n-2]):
		w = w[:n-2]
	case ends(w, "ing") && hasVowel(w[:n-3]):
		w = w[:n-3]
	default:
		return w
	}

	// The suffix may have cut an e (conflat-ed) or follow a doubled consonant (hopp-ing).
	if ends(w, "at") || ends(w, "bl") || ends(w, "iz") {
		return append(w, 'e')
	}

	n = len(w)
	switch c := w[n-1]; {
	case !vowel(c, false) && c != 'l' && c != 's' && c != 'z' && n > 1 && c == w[n-2]:
		return w[:n-1]
	case measure(w) == 1 && shortEnd(w):
		return append(w, 'e')
	}

	return w
}

// rewrite applies the rule whose ending matches if the rest of the word has a measure of
// at least m.
func rewrite(w []byte, rules []suffix, m int) []byte {
	if len(w) < 2 {
		return w
	}

	for _, r := range rules {
		if !ends(w, r.end) {
			continue
		}

		// Porter removes "ion" only after s and t.
		left := w[:len(w)-len(r.end)]
		if r.end == "ion" && left[len(left)-1] != 's' && left[len(left)-1] != 't' {
			return w
		}
		if measure(left) >= m {
			return append(left, r.to...)
		}

		return w
	}

	return w
}

// ends reports a proper suffix, which does not cover the whole word.
func ends(w []byte, end string) bool {
	n := len(w) - len(end)
	return n > 0 && string(w[n:]) == end
}

// vowel reports whether a letter is a vowel; y is one only after a consonant.
func vowel(c byte, afterConsonant bool) bool {
	switch c {
	case 'a', 'e', 'i', 'o', 'u':
		return true
	case 'y':
		return afterConsonant
	}

	return false
}

func hasVowel(w []byte) bool {
	for i, c := range w {
		if vowel(c, i > 0) {
			return true
		}
	}
	return false
}

// measure is Porter's m, the number of vowel-consonant sequences, counted up to 2,
// because no rule needs more.
func measure(w []byte) int {
	m, cons, seen := 0, false, false
	for _, c := range w {
		cons = !vowel(c, cons)
		if !cons {
			seen = true
		} else if seen {
			if m++; m == 2 {
				return m
			}
			seen = false
		}
	}

	return m
}

// shortEnd is Porter's *o: consonant, vowel, consonant, the last not w, x or y.
func shortEnd(w []byte) bool {
	n := len(w)
	if n < 3 || w[n-1] == 'w' || w[n-1] == 'x' || w[n-1] == 'y' {
		return false
	}

	var last [3]bool

	cons := false
	for _, c := range w {
		cons = !vowel(c, cons)
		last = [3]bool{last[1], last[2], cons}
	}

	return last == [3]bool{true, false, true}
}
