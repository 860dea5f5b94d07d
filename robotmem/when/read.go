package when

import (
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// read resolves the items and joins their bounds.
func (p *parser) read(items []item) Reading {
	r := Reading{}
	p.placeIn(items)
	in, wide := p.context(items)
	for _, it := range items {
		r.Phrases = append(r.Phrases, p.phrase(it, in))
	}
	r.Note = p.ambiguous()
	all := func(int) bool { return true }
	if r.After, r.Before = join(r.Phrases, all); inverted(r.After, r.Before) {
		dated := func(i int) bool { return !items[i].a.dayless() }
		r.After, r.Before = join(r.Phrases, dated)
		if wide != "" && !inverted(r.After, r.Before) && (r.After != nil || r.Before != nil) {
			r.Note = `"` + wide + `" is more than one day: the time of day was not used.`
			for i := range items {
				if !dated(i) {
					r.Phrases[i].After, r.Phrases[i].Before = nil, nil
				}
			}
		} else {
			r.After, r.Before = nil, nil
			r.Note = p.contradiction(r.Phrases)
		}
	}
	if r.After == nil && r.Before == nil {
		r.Rest = strings.ToValidUTF8(p.question, "")
		return r
	}
	r.Rest = p.rest(items, r.Phrases)
	return r
}

// placeIn puts "on Tuesday" into the week that another phrase names.
func (p *parser) placeIn(items []item) {
	for i := range items {
		it := &items[i]
		for _, w := range items {
			if it.a.floats == noUnit || it.upper != plain || w.prep != plain || w.upper != plain || w.a.grain != it.a.floats {
				continue
			}
			if a, ok := it.a.narrow(w.a, p.calendar); ok {
				it.a = a
			}
		}
	}
}

// context is the day that the phrases without one are of: that of the only
// phrase that has one. Beside it, the text of the first phrase about a longer
// time.
func (p *parser) context(items []item) (in span, wide string) {
	days := 0
	for _, it := range items {
		switch a := it.a; {
		case !a.date.set() || it.upper != plain || a.date.to.IsZero():
		case a.grain > day:
			if wide == "" {
				wide = p.question[p.toks[it.start].start:p.toks[it.end-1].end]
			}
		case (it.prep == plain || a.clock.set()) && a.point.IsZero():
			days++
			in = a.date
			if a.part.set() {
				a.clock = clock{}
				in = p.resolve(a, span{}).span
			}
		}
	}
	if days != 1 {
		in = span{}
	}
	return in, wide
}

// phrase resolves one item.
func (p *parser) phrase(it item, in span) Phrase {
	from, to := p.toks[it.start].start, p.toks[it.end-1].end
	ph := Phrase{Text: p.question[from:to], Start: from, End: to}
	if it.upper != plain {
		ph.After, ph.Before = p.rangeOf(it, in)
	} else {
		ph.After, ph.Before = p.bounds(it.prep, p.resolve(it.a, in), it.a)
	}
	if inverted(ph.After, ph.Before) || outside(ph.After) || outside(ph.Before) {
		ph.After, ph.Before = nil, nil
	}
	return ph
}

// bounds are what a preposition makes of a place.
func (p *parser) bounds(prep preposition, at place, a anchor) (lo, hi *time.Time) {
	switch prep {
	case before:
		return nil, bound(at.lo)
	case until:
		return nil, bound(at.hi)
	case since:
		return bound(at.lo), nil
	case after:
		return bound(at.hi), nil
	case around:
		switch {
		case at.lo.Equal(at.hi):
			return bound(at.lo.Add(-roughly)), bound(at.hi.Add(roughly))
		case a.grain == day && !a.part.set():
			return bound(p.dayOf(at.from, -1).from), bound(p.dayOf(at.from, 1).to)
		}
	}
	return bound(at.from), bound(at.to)
}

// rangeOf is the time from the first anchor to the second. What the second
// leaves open is the first that comes after the first anchor.
func (p *parser) rangeOf(it item, in span) (lo, hi *time.Time) {
	a, b := it.a, it.b
	if a.dayless() && b.hasDay() && b.point.IsZero() {
		in = b.date
	}
	first := p.resolve(a, in)
	last := p.resolve(b, span{})
	switch {
	case b.dayless():
		last = p.next(b, first, !a.clock.half || a.part.set())
	case b.floats != noUnit && a.date.set() && a.grain <= b.grain:
		for n := -60; n <= 1; n++ {
			moved := b
			moved.date = p.move(b, n)
			if last = p.resolve(moved, span{}); !last.lo.Before(first.lo) {
				break
			}
		}
	case a.dayless() && !first.lo.Before(last.hi):
		first = p.resolve(a, p.dayOf(in.from, -1))
	}
	if !first.lo.Before(last.hi) {
		first, last = last, first
	}
	lo, hi = bound(first.lo), bound(last.hi)
	if it.prep == after {
		lo = bound(first.hi)
	}
	if it.upper == before {
		hi = bound(last.lo)
	}
	return lo, hi
}

// next is the first time a dayless anchor comes after a place.
func (p *parser) next(b anchor, first place, halved bool) place {
	for d := range 2 {
		base := p.dayOf(first.lo, d)
		if at := p.resolve(b, base); at.lo.After(first.lo) {
			return at
		}
		if b.clock.half && halved && !b.part.set() {
			later := b
			later.clock.of += noon
			if at := p.resolve(later, base); at.lo.After(first.lo) {
				return at
			}
		}
	}
	return p.resolve(b, p.dayOf(first.lo, 2))
}

// join intersects the bounds of the phrases that are in use.
func join(phrases []Phrase, used func(int) bool) (lo, hi *time.Time) {
	for i, ph := range phrases {
		if !used(i) {
			continue
		}
		if ph.After != nil && (lo == nil || ph.After.After(*lo)) {
			lo = ph.After
		}
		if ph.Before != nil && (hi == nil || ph.Before.Before(*hi)) {
			hi = ph.Before
		}
	}
	return lo, hi
}

func inverted(lo, hi *time.Time) bool { return lo != nil && hi != nil && !lo.Before(*hi) }

// outside reports whether RFC 3339 cannot write the time.
func outside(t *time.Time) bool { return t != nil && (t.Year() < 1 || t.Year() > 9999) }

func bound(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

func (p *parser) contradiction(phrases []Phrase) string {
	texts := make([]string, 0, len(phrases))
	for _, ph := range phrases {
		if ph.After != nil || ph.Before != nil {
			texts = append(texts, `"`+ph.Text+`"`)
		}
	}
	return "No moment is at once " + strings.Join(texts, " and ") + ": none of them was used."
}

// ambiguous names a date that can be two, if a preposition says that it is one.
func (p *parser) ambiguous() string {
	for i, t := range p.toks {
		if i == 0 || t.kind != otherToken || p.toks[i-1].kind != wordToken {
			continue
		}
		switch p.toks[i-1].text {
		case "on", "since", "before", "after", "until", "from", "by":
			d := digits(t.text)
			rest := t.text[d:]
			if d > 0 && d <= 2 && len(rest) > 1 && rest[0] == '/' && strings.Trim(rest, "0123456789/") == "" {
				return p.question[t.start:t.end] + " can be two dates and was not read: write it as 2026-11-03."
			}
		}
	}
	return ""
}

// closing is what stands behind a word without a space, of both widths.
const closing = ",.;:?!)]}、。\uff0c\uff1b\uff1a\uff1f\uff01\uff09"

// rest is the question without the phrases that have bounds, other than their
// events.
func (p *parser) rest(items []item, phrases []Phrase) string {
	var kept []string
	at := 0
	cut := func(from, to int) {
		if s := strings.TrimSpace(strings.ToValidUTF8(p.question[at:from], "")); s != "" {
			kept = append(kept, s)
		}
		at = to
	}
	for i, it := range items {
		ph := phrases[i]
		if ph.After == nil && ph.Before == nil {
			continue
		}
		if it.event[1] > it.event[0] {
			cut(ph.Start, p.toks[it.event[0]].start)
			cut(p.toks[it.event[1]-1].end, ph.End)
			continue
		}
		cut(ph.Start, ph.End)
	}
	cut(len(p.question), len(p.question))
	var b strings.Builder
	for i, s := range kept {
		if i == 0 {
			s = strings.TrimLeft(s, closing+" ")
		}
		if r, _ := utf8.DecodeRuneInString(s); b.Len() > 0 && !strings.ContainsRune(closing, r) {
			b.WriteByte(' ')
		}
		b.WriteString(s)
	}
	if s := b.String(); strings.ContainsFunc(s, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }) {
		return s
	}
	return ""
}
