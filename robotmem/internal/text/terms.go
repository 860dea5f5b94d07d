package text

import "strings"

// Tokenize is the tokenizer clause of an FTS5 table that holds Index texts.
// Marks count as word characters so that Indic vowel signs do not split words;
// the token characters are those that Terms puts inside identifiers and
// numbers. It needs no quoting within double quotes:
//
//	CREATE VIRTUAL TABLE t USING fts5(body, tokenize = "<Tokenize>")
const Tokenize = `porter unicode61 remove_diacritics 2 categories 'L* N* Mn Mc' tokenchars '._/:-'`

// Terms returns the search terms of s in text order: lower case, unstemmed,
// repetitions kept, each at most 64 bytes. A compound gives the whole and then
// its parts, a number its value, its unit and both together. Every term is one
// token of FTS5 under Tokenize. Any input is allowed.
func Terms(s string) []string {
	p := scanner{s: prepare(s)}
	p.out = make([]string, 0, len(p.s)/5+4)
	p.scan()
	return p.out
}

// BaseTerms returns Terms with every number that has a unit in the canonical unit
// of its dimension, so that texts can be compared that measure in other units.
// They are not indexed.
func BaseTerms(s string) []string {
	p := scanner{s: prepare(s), base: true}
	p.scan()
	return p.out
}

// Index returns Terms joined by spaces: the text of an FTS5 row.
func Index(s string) string {
	return strings.Join(Terms(s), " ")
}

// Query returns the distinct terms of a question, the stop words apart. Two
// terms with the same stem are one. Search for content, and for stop only when
// content is empty. All of them are terms of Terms(s).
func Query(s string) (content, stop []string) {
	p := scanner{s: prepare(s), query: true}
	p.scan()
	seen := make(map[string]struct{}, len(p.out)+len(p.stop))
	fresh := func(t string) bool {
		stem := Stem(t)
		_, known := seen[stem]
		seen[stem] = struct{}{}
		return !known
	}
	for _, t := range p.out {
		switch {
		case !fresh(t):
		case Stop(t):
			stop = append(stop, t)
		default:
			content = append(content, t)
		}
	}
	for _, t := range p.stop {
		if fresh(t) {
			stop = append(stop, t)
		}
	}
	return content, stop
}

// scanner walks a prepared text once and collects its terms.
type scanner struct {
	s     string
	out   []string
	query bool // a question: Chinese stop words are told apart
	base  bool // numbers with units are converted

	others      bool // numbers with units are also looked for in other units
	equivalents []Equivalent
	stop        []string // the terms of those
}

func (p *scanner) emit(w string) {
	p.out = append(p.out, fold(w))
}

func (p *scanner) scan() {
	for i := 0; i < len(p.s); {
		c, n := classAt(p.s, i)
		switch c {
		case digit:
			i = p.number(i)
		case letter:
			if p.s[i] == '_' {
				i++
				continue
			}
			i = p.word(i)
		case han, unspace:
			i = p.unspaced(i, c)
		default:
			if startsNumber(p.s, i) {
				i = p.number(i)
			} else {
				i += n
			}
		}
	}
}

// word reads from the letter or digit at i to the end of the word, path,
// dotted name or hyphenation that stands there, and returns where that is.
func (p *scanner) word(i int) int {
	s, start := p.s, i
	plain := true // lower-case letters, at most the first a capital
	for i < len(s) {
		c, n := classAt(s, i)
		switch {
		case c == letter:
			if s[i] == '_' || i > start && (s[i] < 'a' || s[i] > 'z') {
				plain = false
			}
		case c == digit:
			plain = false
		case c == other && joins(s, i):
			plain = false
		default:
			n = 0
		}
		if n == 0 {
			break
		}
		i += n
	}
	if plain {
		p.emit(s[start:i])
	} else {
		p.compound(strings.TrimRight(s[start:i], "_"))
	}
	return i
}

// joins reports whether the ASCII sign at i holds two parts of a word together.
// A colon does so between digits only (14:05), where a sentence has none.
func joins(s string, i int) bool {
	switch s[i] {
	case '.', '/', '-', '\'':
	case ':':
		if i == 0 || !isDigit(s[i-1]) || i+1 >= len(s) || !isDigit(s[i+1]) {
			return false
		}
	default:
		return false
	}
	c, _ := classAt(s, i+1)
	return c == letter || c == digit
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }
