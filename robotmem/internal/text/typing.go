package text

import (
	"slices"
	"strings"
)

// Unfinished is the last word of a question, while it is being typed.
type Unfinished struct {
	// Terms are the terms of the word as typed, which are terms of Query.
	Terms []string
	// Stands are the terms that a longer word replaces: Terms, or for "12.", which may
	// become 12.5, the terms of the part before the sign.
	Stands []string

	prefixes []string        // of longer words
	stems    map[string]bool // of longer words, without these prefixes
	excluded map[string]bool // stems of stop words
}

// Typing returns the last word of a question if it may be unfinished, else nil. Text
// without spaces is found by its characters, finished or not. Of a name or a path, the
// last part may be unfinished as well as the whole.
func Typing(s string) *Unfinished {
	p := scanner{s: normalize(s)}
	word := p.last()
	if word == "" {
		return nil
	}

	u := &Unfinished{prefixes: []string{word}, stems: map[string]bool{}, excluded: map[string]bool{}}

	// Only the end of the word is unfinished: of a.b.c the parts a and b stay.
	for _, t := range p.out {
		if !strings.HasSuffix(word, t) || slices.Contains(u.Terms, t) {
			continue
		}
		u.Terms = append(u.Terms, t)
		if t != word {
			u.prefixes = append(u.prefixes, t)
		}
	}

	if u.Stands = u.Terms; len(u.Stands) == 0 {
		u.Stands = slices.Clone(p.out)
	}

	for _, b := range u.prefixes {
		u.complete(b)

		// The beginning of a stop word would otherwise find nearly every memory.
		for stop := range stopWords {
			if strings.HasPrefix(stop, b) {
				u.excluded[Stem(stop)] = true
			}
		}
	}

	return u
}

// last scans for the last word, which ends at the end of the text or before a sign that
// may continue a name, and leaves its terms in p.out. It returns "" if there is none.
func (p *scanner) last() string {
	start, end := 0, 0

	// Each word replaces the terms of the one before, so that those of the last one are left.
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
			// Text without spaces has no unfinished word.
			i = p.unspaced(i, c)
			from = i
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

// Begins reports whether the word may become a word of this stem. Stop words do not count.
func (u *Unfinished) Begins(stem string) bool {
	begins := func(p string) bool { return strings.HasPrefix(stem, p) }
	return (u.stems[stem] || slices.ContainsFunc(u.prefixes, begins)) && !u.excluded[stem]
}

// endings lists the endings that Porter's stemmer removes or changes, and combinations of them.
// A word may be interrupted within an ending or before it.
var endings = strings.Fields(`e es s ed eed ing ings er ers or ors y ies ied ier iest ly
	ion ions ation ations ational ationally ator ators tional tionally ate ates ated ating ative atively
	al als ally ality alities alism alist alize alized alizing alization ence ences ency encies ent ents ently
	ance ances ancy ancies ant ants antly ement ements ment ments mental ness nesses
	ful fully fulness ous ously ousness ive ives ively iveness ivity ivities
	ize izes ized izer izers izing ization izations able ably ability abilities ible ibly ibility ibilities
	ic ics ical ically icate icated icating icity icities ism isms ity ities logy logies logical logically`)

// complete adds the stems of words with this beginning and one of the endings. "grippin"
// may become gripping, of which the index has only grip.
func (u *Unfinished) complete(begin string) {
	if !isASCII(begin) {
		return
	}

	for _, e := range endings {
		for have := 0; have <= min(len(e), len(begin)-1); have++ {
			if strings.HasSuffix(begin, e[:have]) {
				u.stems[Stem(begin+e[have:])] = true
			}
		}
	}
}
