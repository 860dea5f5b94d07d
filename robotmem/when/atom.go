package when

import (
	"strings"
	"time"
)

const (
	noon     = 12 * time.Hour
	midnight = 0
	// justNow is how far "now" reaches back: what is going on at the moment.
	justNow = 15 * time.Minute
	// roughly is how far "around 14:05" reaches to both sides.
	roughly = 30 * time.Minute
)

// anchor reads atoms that stand side by side and fit together: "last week on
// Tuesday", "14:05, yesterday", "昨天下午3点".
func (p *parser) anchor(a *anchor) bool {
	first, ok := p.atom()
	if !ok {
		return false
	}
	*a = first
	for p.try(func() bool {
		_ = p.sign(",\uff0c") || p.word("at", "on", "of", "in") || p.han("的", "在")
		next, ok := p.atom()
		if !ok {
			return false
		}
		m, ok := a.merge(next, p.calendar)
		if ok {
			*a = m
		}
		return ok
	}) {
	}
	return true
}

// atom reads the shortest expression at the next token.
func (p *parser) atom() (a anchor, ok bool) {
	start := p.i
	switch p.peek(0).kind {
	case wordToken:
		a, ok = p.english()
	case hanToken:
		a, ok = p.chinese()
	case numberToken:
		if a, ok = p.chineseNumber(); !ok {
			a, ok = p.englishNumber()
		}
	case ordinalToken:
		a, ok = p.dayMonth()
	case clockToken:
		a, ok = p.clockTime()
	case dateToken:
		t := p.peek(0)
		p.i++
		a, ok = p.on(t.a, t.b, t.c), true
	case stampToken:
		a, ok = p.stamp()
	}
	if !ok {
		p.i = start
	}
	return a, ok
}

// on is a date in full.
func (p *parser) on(y, m, d int) anchor {
	return anchor{date: p.dayOf(p.midnight(y, time.Month(m), d), 0), grain: day}
}

// onLast is the latest month, or day of one if d > 0, that has begun.
func (p *parser) onLast(m, d int) (anchor, bool) {
	a := anchor{floats: year, grain: month}
	for y := p.now.Year(); y > p.now.Year()-9; y-- { // Feb 29 can be eight years back
		switch {
		case d == 0:
			a.date = p.monthOf(y, time.Month(m))
		case d > daysIn(y, m):
			continue
		default:
			a.date, a.grain = p.dayOf(p.midnight(y, time.Month(m), d), 0), day
		}
		if !a.date.from.After(p.now) {
			return a, true
		}
	}
	return a, false
}

// stamp reads an RFC 3339 time, whose seconds and zone may be missing.
func (p *parser) stamp() (anchor, bool) {
	text := strings.ToUpper(p.peek(0).text)
	p.i++
	for _, f := range []struct {
		layout string
		grain  unit
	}{
		{"2006-01-02T15:04Z07:00", minute}, {"2006-01-02T15:04", minute},
		{"2006-01-02T15:04:05Z07:00", second}, {"2006-01-02T15:04:05", second},
	} {
		if t, err := time.ParseInLocation(f.layout, text, p.now.Location()); err == nil {
			return anchor{date: span{t, t.Add(f.grain.length())}, grain: f.grain, point: t}, true
		}
	}
	return anchor{}, false
}

// clockTime reads 14:05 and 2:05 pm.
func (p *parser) clockTime() (anchor, bool) {
	t := p.peek(0)
	p.i++
	k := clock{of: clockOf(t.a, t.b, t.c), grain: minute, half: 0 < t.a && t.a <= 12}
	if t.precise {
		k.grain = second
	}
	if k.half {
		p.halfOfDay(&k)
	}
	if p.isWord(0, "scale", "ratio", "mix", "aspect", "odds") {
		return anchor{}, false
	}
	return anchor{clock: k, bare: true}, true
}

// halfOfDay takes am or pm, and moves the clock to it.
func (p *parser) halfOfDay(k *clock) bool {
	switch {
	case p.word("am", "a.m"):
		k.of %= noon
	case p.word("pm", "p.m"):
		k.of = k.of%noon + noon
	default:
		return false
	}
	k.half = false
	return true
}

func clockOf(h, m, s int) time.Duration {
	return time.Duration(h)*time.Hour + time.Duration(m)*time.Minute + time.Duration(s)*time.Second
}

// ago is n units back: the whole day, week, month or year, or for less than a
// day a point with half a unit, or a tenth of its distance, to both sides.
func (p *parser) ago(u unit, n int) anchor {
	if u >= day {
		return anchor{date: p.calendar.around(u, -n), grain: u}
	}
	return p.distance(time.Duration(n)*u.length(), u)
}

func (p *parser) distance(d time.Duration, u unit) anchor {
	t, slack := p.now.Add(-d), max(d/10, u.length()/2)
	return anchor{date: span{t.Add(-slack), t.Add(slack)}, grain: u, point: t}
}

// rolling is the last n units up to now, with no end: what is learned while the
// question is asked belongs to it.
func (p *parser) rolling(u unit, n int) anchor {
	return anchor{date: span{from: p.back(u, n)}, grain: u}
}

func (p *parser) moment() anchor {
	return anchor{date: span{from: p.now.Add(-justNow)}, grain: minute, point: p.now}
}

// wholeDay is the day n days from today.
func (p *parser) wholeDay(n int) anchor {
	return anchor{date: p.dayOf(p.now, n), grain: day}
}

// dayPart is a part of the day n days from today.
func (p *parser) dayPart(n int, of part) anchor {
	return anchor{date: p.dayOf(p.now, n), grain: day, part: of}
}

// lastWeekday is the latest such day, today included.
func (p *parser) lastWeekday(w time.Weekday) anchor {
	n := int(p.now.Weekday()-w+7) % 7
	return anchor{date: p.dayOf(p.now, -n), grain: day, floats: week}
}

// weekdayIn is a day of the week n weeks from this one.
func (p *parser) weekdayIn(w time.Weekday, n int) anchor {
	d, _ := p.within(p.lastWeekday(w), p.calendar.around(week, n))
	return anchor{date: d, grain: day}
}

// shift is the one that has begun last, or one before it.
func (p *parser) shift(back int) (anchor, bool) {
	for d := 0; d >= -8; d-- {
		for i := len(p.shifts) - 1; i >= 0; i-- {
			a := p.dayPart(d, p.turn(i))
			r := p.resolve(a, span{})
			if r.from.After(p.now) {
				continue
			}
			if back--; back < 0 {
				return anchor{date: r.span, grain: hour}, true
			}
		}
	}
	return anchor{}, false
}

// turn is a shift as a part of a day.
func (p *parser) turn(i int) part {
	from, to := p.shifts[i].Start, p.shifts[0].Start+24*time.Hour
	if i+1 < len(p.shifts) {
		to = p.shifts[i+1].Start
	}
	return part{from, to}
}

// namedShift is the latest shift of a name, or the latest that is over.
func (p *parser) namedShift(name string, over preposition) (anchor, bool) {
	for i, s := range p.shifts {
		if s.Name != name && !alias(s.Name, name) {
			continue
		}
		a := anchor{part: p.turn(i)}
		if over == before {
			r := p.resolve(a, span{})
			if r.holds(p.now) {
				r = p.resolve(a, p.dayOf(r.from, -1))
			}
			a = anchor{date: r.span, grain: hour}
		}
		return a, true
	}
	return anchor{}, false
}

// alias reports whether a word also names the shift that is called name.
func alias(name, word string) bool {
	switch word {
	case "morning", "first", "早":
		return name == "early" || name == "day"
	case "afternoon", "evening", "second", "中":
		return name == "late"
	case "晚":
		return name == "late" || name == "night"
	case "白":
		return name == "day" || name == "early"
	case "third", "夜":
		return name == "night"
	}
	return false
}
