package when

import (
	"time"
)

// englishNumber reads what begins with a number: "2 hours ago", "2 pm", "3
// November 2025", and a year of late.
func (p *parser) englishNumber() (anchor, bool) {
	start, t := p.i, p.peek(0)
	if a, ok := p.agoPhrase(); ok {
		return a, true
	}
	p.i = start
	if a, ok := p.dayMonth(); ok {
		return a, true
	}
	p.i = start
	if t.kind != numberToken {
		return anchor{}, false
	}
	p.i++
	if k := (clock{of: clockOf(t.n, 0, 0), grain: hour}); 0 < t.n && t.n <= 12 && p.halfOfDay(&k) {
		return anchor{clock: k, bare: true}, true
	}
	// "between 2 and 3 pm": the first number is an hour if the second is.
	if p.isWord(-2, "between", "from") && p.isWord(0, "and", "to") && 0 < t.n && t.n <= 12 &&
		p.peek(1).kind != hanToken && p.isWord(2, "am", "pm", "a.m", "p.m") {
		return anchor{clock: clock{of: clockOf(t.n, 0, 0), grain: hour, half: true}, bare: true}, true
	}
	const recent = 10
	if len(t.text) == 4 && t.n > p.now.Year()-recent && t.n <= p.now.Year() &&
		(p.peek(0).kind == breakToken || p.isWord(0, "and", "to", "until")) {
		return anchor{date: p.yearOf(t.n), grain: year, bare: true}, true
	}
	return anchor{}, false
}

// agoPhrase reads "3 days ago", "half an hour ago", "2 hours 30 minutes ago".
func (p *parser) agoPhrase() (anchor, bool) {
	if p.words("half an hour ago") || p.words("half hour ago") {
		return p.distance(30*time.Minute, minute), true
	}
	var sum time.Duration
	for parts := range maxCount {
		n, ok := p.count()
		u, known := unitOf(p.peek(0).text)
		if !ok || !known {
			return anchor{}, false
		}
		p.i++
		sum += time.Duration(n) * u.length()
		switch {
		case p.word("ago") && parts == 0:
			return p.ago(u, n), true
		case p.isWord(-1, "ago"):
			return p.distance(sum, u), u < day
		case u >= day:
			return anchor{}, false
		}
		_ = p.word("and")
	}
	return anchor{}, false
}

// count reads a number, as digits or as a word.
func (p *parser) count() (int, bool) {
	t := p.peek(0)
	if t.kind == numberToken {
		p.i++
		return t.n, true
	}
	n := numberOf(t.text)
	if t.kind != wordToken || n == 0 {
		return 0, false
	}
	p.i++
	if n == 1 && p.word("couple", "few") {
		n = numberOf(p.peek(-1).text)
	}
	if p.isWord(-1, "couple") {
		_ = p.word("of")
	}
	return n, true
}
