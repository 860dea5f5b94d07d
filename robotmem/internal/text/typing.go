package text

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// Unfinished is the last word of a question, while it is being typed.
type Unfinished struct {
	// Terms are those of the word as it stands, of the terms of Query.
	Terms []string
	// Stands are those that a longer word stands for: Terms, or of "12.", which
	// goes on as 12.5, those of what is before the sign.
	Stands []string

	begins  []string            // what a longer word begins with
	stems   map[string]struct{} // of longer words, that do not begin so themselves
	without map[string]struct{} // stems of stop words
}

// Typing returns the last word of a question if it may go on, else nil. What is
// written without spaces is found by its characters, finished or not. Of a name
// or a path, the last part may go on as well as the whole.
func Typing(s string) *Unfinished {
	p := scanner{s: prepare(s)}
	word := p.last()
	if word == "" {
		return nil
	}
	u := &Unfinished{begins: []string{word}, stems: map[string]struct{}{}, without: map[string]struct{}{}}
	for _, t := range p.out {
		if !strings.HasSuffix(word, t) || slices.Contains(u.Terms, t) {
			continue
		}
		u.Terms = append(u.Terms, t)
		if t != word {
			u.begins = append(u.begins, t)
		}
	}
	if u.Stands = u.Terms; len(u.Stands) == 0 {
		u.Stands = slices.Clone(p.out)
	}
	for _, b := range u.begins {
		u.complete(b)
		for stop := range stopWords {
			if strings.HasPrefix(stop, b) {
				u.without[Stem(stop)] = struct{}{}
			}
		}
	}
	return u
}

// last scans for the last word, which reaches to the end or to a sign behind
// which a name goes on, and leaves its terms in p.out. It is "" if there is none.
func (p *scanner) last() string {
	start, end := 0, 0
	for i := 0; i < len(p.s); {
		c, n := classAt(p.s, i)
		from := i
		before := p.out
		p.out = p.out[:0]
		switch {
		case c == digit, c == other && startsNumber(p.s, i):
			i = p.number(i)
		case c == letter && p.s[i] != '_':
			i = p.word(i)
		case c == han, c == unspace:
			i = p.unspaced(i, c)
			from = i // of no word
		default:
			i += n
			if i == len(p.s) && from == end && end > start && strings.IndexByte("./:-", p.s[from]) >= 0 {
				p.out = before
				return fold(p.s[start:])
			}
			from = i
		}
		start, end = from, i
	}
	return fold(p.s[start:end])
}

// Begins reports whether the word may become one of this stem. Words too common
// to search by are none.
func (u *Unfinished) Begins(stem string) bool {
	_, known := u.stems[stem]
	for i := 0; i < len(u.begins) && !known; i++ {
		known = strings.HasPrefix(stem, u.begins[i])
	}
	if known && len(u.without) > 0 {
		_, stop := u.without[stem]
		return !stop
	}
	return known
}

// endings are those that Porter's stemmer takes off or changes, and what often
// stands behind them. A word breaks off within one of them, or before it.
var endings = strings.Fields(`e es s ed eed ing ings er ers or ors y ies ied ier iest ly
	ion ions ation ations ational ationally ator ators tional tionally ate ates ated ating ative atively
	al als ally ality alities alism alist alize alized alizing alization ence ences ency encies ent ents ently
	ance ances ancy ancies ant ants antly ement ements ment ments mental ness nesses
	ful fully fulness ous ously ousness ive ives ively iveness ivity ivities
	ize izes ized izer izers izing ization izations able ably ability abilities ible ibly ibility ibilities
	ic ics ical ically icate icated icating icity icities ism isms ity ities logy logies logical logically`)

// complete notes the stems of words that begin so and have one of the endings.
// "grippin" may become gripping, of which only grip is in an index.
func (u *Unfinished) complete(begin string) {
	if !isASCII(begin) {
		return
	}
	for _, e := range endings {
		for have := 0; have <= min(len(e), len(begin)-1); have++ {
			if strings.HasSuffix(begin, e[:have]) {
				u.stems[Stem(begin+e[have:])] = struct{}{}
			}
		}
	}
}

func isASCII(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
