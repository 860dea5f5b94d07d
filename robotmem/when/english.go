package when

import "time"

// english reads an expression that begins with a word.
func (p *parser) english() (anchor, bool) {
	if p.word("the") {
		if u, ok := p.beforeLast(); ok {
			return u, true
		}
		if a, ok := p.englishPart(); ok {
			return a, true
		}
		return p.definite()
	}
	switch {
	case p.word("yesterday"):
		return p.wholeDay(-1), true
	case p.word("today"):
		return p.wholeDay(0), true
	case p.word("tonight"):
		return p.tonight(), true
	case p.words("right now"), p.words("just now"):
		return p.moment(), true
	case p.word("now"):
		// Elsewhere it says little of time: "what now slows the arm".
		return p.moment(), p.peek(0).kind == breakToken
	case p.word("noon", "midday"):
		return anchor{clock: clock{of: noon, grain: hour}, bare: true}, true
	case p.word("midnight"):
		return anchor{clock: clock{of: midnight, grain: hour}, bare: true}, true
	}
	if a, ok := p.englishPart(); ok {
		return a, true
	}
	if a, ok := p.beforeLast(); ok {
		return a, true
	}
	if a, ok := p.definite(); ok {
		return a, true
	}
	return p.englishNumber()
}

// definite reads what can follow "the".
func (p *parser) definite() (anchor, bool) {
	start := p.i
	switch {
	case p.word("this", "current"):
		if a, ok := p.this(); ok {
			return a, true
		}
	case p.word("last", "past", "previous"):
		if a, ok := p.last(p.peek(-1).text); ok {
			return a, true
		}
	case p.word("weekend"):
		return anchor{date: p.weekend(0), grain: week, bare: true}, true
	default:
		if name := p.peek(0); name.kind == wordToken && p.isShift(1) {
			p.i += 2
			if a, ok := p.namedShift(name.text, plain); ok {
				return a, true
			}
		} else if a, ok := p.weekday(); ok {
			return a, true
		} else if a, ok := p.monthDay(); ok {
			return a, true
		} else if a, ok := p.dayMonth(); ok {
			return a, true
		}
	}
	p.i = start
	return anchor{}, false
}

// this reads on after "this" and "current".
func (p *parser) this() (anchor, bool) {
	switch {
	case p.isShift(0):
		p.i++
		return p.shift(0)
	case p.isWord(0, "morning", "afternoon", "evening"):
		a, ok := p.englishPart()
		return p.dayPart(0, a.part), ok
	case p.word("night"):
		return p.tonight(), true
	case p.word("weekend"):
		return anchor{date: p.thisWeekend(0), grain: week}, true
	case p.peek(0).kind == wordToken && p.isShift(1):
		p.i += 2
		return p.namedShift(p.peek(-2).text, plain)
	}
	if w, ok := p.weekdayName(true); ok {
		return p.weekdayIn(w, 0), true
	}
	u, ok := unitOf(p.peek(0).text)
	if !ok || u < hour || u == day || p.peek(0).text == "h" || p.partitive(1) {
		return anchor{}, false
	}
	p.i++
	return anchor{date: p.calendar.around(u, 0), grain: u}, true
}

// last reads on after "last", "past" and "previous". A count or a unit below a
// week rolls back from now; "past week" does too, "last week" is a calendar's.
func (p *parser) last(which string) (anchor, bool) {
	t := p.peek(0)
	switch {
	case p.words("half hour"), p.words("half an hour"):
		return anchor{date: span{from: p.now.Add(-30 * time.Minute)}, grain: minute}, !p.partitive(0)
	case p.isShift(0):
		p.i++
		return p.shift(1)
	case t.kind == wordToken && p.isShift(1):
		p.i += 2
		return p.namedShift(t.text, before)
	case p.word("night"):
		return p.dayPart(-1, night), true
	case p.isWord(0, "evening", "afternoon", "morning"):
		a, ok := p.englishPart()
		return p.dayPart(-1, a.part), ok
	case p.word("weekend"):
		return anchor{date: p.thisWeekend(-1), grain: week}, true
	}
	if n, ok := p.count(); ok {
		u, ok := unitOf(p.peek(0).text)
		if !ok || n == 0 || p.partitive(1) || p.isWord(1, "before", "after") {
			return anchor{}, false
		}
		p.i++
		return p.rolling(u, n), true
	}
	if w, ok := p.weekdayName(true); ok {
		a := p.lastWeekday(w)
		if a.date.holds(p.now) {
			a.date = p.move(a, -1)
		}
		return a, true
	}
	if m, certain := monthOf(t.text); m > 0 && (certain || p.capital(0)) {
		p.i++
		a, ok := p.onLast(m, 0)
		if ok && a.date.holds(p.now) {
			a.date = p.move(a, -1)
		}
		return a, ok
	}
	switch u, ok := unitOf(t.text); {
	case !ok || t.kind != wordToken || len(t.text) == 1 || t.text == "min" || p.partitive(1):
		return anchor{}, false
	case u < hour && which != "past":
		return anchor{}, false
	case u <= day || which == "past":
		p.i++
		return p.rolling(u, 1), true
	default:
		p.i++
		return anchor{date: p.calendar.around(u, -1), grain: u}, true
	}
}

// beforeLast reads "day before yesterday" and "week before last".
func (p *parser) beforeLast() (anchor, bool) {
	switch {
	case p.words("day before yesterday"):
		return p.wholeDay(-2), true
	case p.isWord(0, "week", "month", "quarter", "year") && p.isWord(1, "before") && p.isWord(2, "last"):
		u, _ := unitOf(p.peek(0).text)
		p.i += 3
		return anchor{date: p.calendar.around(u, -2), grain: u}, true
	}
	return anchor{}, false
}

// tonight is the night that is going on, or the one that comes.
func (p *parser) tonight() anchor {
	n := 0
	if p.now.Hour() < int((night.to-24*time.Hour)/time.Hour) {
		n = -1
	}
	return p.dayPart(n, night)
}

// englishPart reads the name of a part of the day.
func (p *parser) englishPart() (anchor, bool) {
	a := anchor{bare: true}
	switch {
	case p.isShift(1):
		return a, false
	case p.word("morning"):
		a.part = morning
	case p.word("afternoon"):
		a.part = afternoon
	case p.word("evening"):
		a.part = evening
	case p.word("night"):
		a.part = night
	}
	return a, a.part.set()
}

// partitive reports whether a unit is counted of something else than time
// ("the last 3 seconds of the grasp") or begins another noun.
func (p *parser) partitive(n int) bool {
	return p.isWord(n, "of", "turn", "turns", "step", "steps", "window", "timeout", "mark", "hand")
}

// isShift reports whether the token n places on is the shift of a crew, and not
// that of a register or of a frame.
func (p *parser) isShift(n int) bool {
	if !p.isWord(n, "shift") {
		return false
	}
	if p.isWord(n+1, "in") {
		return !p.isWord(n+2, "x", "y", "z", "position", "pose", "phase", "frame", "depth", "force")
	}
	return !p.isWord(n+1, "of", "register", "registers", "left", "right", "by", "key", "value", "vector", "error", "amount", "lever", "matrix")
}

func (p *parser) isWord(n int, words ...string) bool {
	t := p.peek(n)
	if t.kind != wordToken {
		return false
	}
	for _, w := range words {
		if t.text == w {
			return true
		}
	}
	return false
}
