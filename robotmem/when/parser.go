package when

import (
	"strings"
	"time"
)

// A parser walks the tokens of one question.
type parser struct {
	calendar
	question string // as it was asked
	s        string // folded
	toks     []token
	i        int
	shifts   []Shift
}

// preposition is how a phrase makes bounds of its anchor.
type preposition uint8

const (
	plain preposition = iota // the range that the anchor covers
	before
	after
	since
	until
	around
	between
)

// An item is one phrase before it is resolved.
type item struct {
	prep       preposition
	a, b       anchor // b of ranges only
	upper      preposition
	start, end int    // tokens
	event      [2]int // tokens in between that stay to be searched for
}

func newParser(question string, now time.Time, o Options) *parser {
	p := &parser{calendar: calendar{now, o.SundayFirst}, question: question, s: fold(question), shifts: o.Shifts}
	p.toks = scan(p.s)
	if len(p.shifts) == 0 {
		p.shifts = []Shift{{"early", 6 * time.Hour}, {"late", 14 * time.Hour}, {"night", 22 * time.Hour}}
	}
	return p
}

// maxPhrases and maxCount bound the work on text that only repeats itself: the
// phrases of a question, and the parts of a number or of a distance.
const (
	maxPhrases = 16
	maxCount   = 4
)

func (p *parser) items() []item {
	var found []item
	for p.i < len(p.toks) && len(found) < maxPhrases {
		if k := p.toks[p.i].kind; k == breakToken || k == otherToken {
			p.i++
			continue
		}
		if it, ok := p.item(); ok {
			found = append(found, it)
			continue
		}
		p.i++
	}
	return found
}

// try runs a rule and comes back to where it began if the rule does not hold.
func (p *parser) try(rule func() bool) bool {
	i := p.i
	if rule() {
		return true
	}
	p.i = i
	return false
}

// peek is the token n places on, or one that matches nothing.
func (p *parser) peek(n int) token {
	if i := p.i + n; i >= 0 && i < len(p.toks) {
		return p.toks[i]
	}
	return token{kind: breakToken}
}

// word takes the next token if it is one of these words.
func (p *parser) word(words ...string) bool {
	t := p.peek(0)
	if t.kind != wordToken {
		return false
	}
	for _, w := range words {
		if t.text == w {
			p.i++
			return true
		}
	}
	return false
}

// words takes words that follow each other.
func (p *parser) words(phrase string) bool {
	return p.try(func() bool {
		for w := range strings.SplitSeq(phrase, " ") {
			if !p.word(w) {
				return false
			}
		}
		return true
	})
}

// han takes the first of these strings that the text goes on with. Longer ones
// have to come first.
func (p *parser) han(lits ...string) bool {
	t := p.peek(0)
	if t.kind != hanToken {
		return false
	}
	for _, lit := range lits {
		if strings.HasPrefix(p.s[t.start:], lit) {
			for end := t.start + len(lit); p.i < len(p.toks) && p.toks[p.i].start < end; {
				p.i++
			}
			return true
		}
	}
	return false
}

// sees reports whether the next rune is one of these.
func (p *parser) sees(runes string) bool {
	t := p.peek(0)
	return t.kind == hanToken && strings.Contains(runes, t.text)
}

// saw reports whether the rune before the next token is one of these and
// touches it.
func (p *parser) saw(runes string) bool {
	t, last := p.peek(0), p.peek(-1)
	return last.kind == hanToken && last.end == t.start && strings.Contains(runes, last.text)
}

func (p *parser) sign(signs string) bool {
	t := p.peek(0)
	if t.kind == breakToken && t.text != "" && strings.Contains(signs, t.text) {
		p.i++
		return true
	}
	return false
}
