package when

import "time"

// An anchor is the place in time that some words name: a date, a part of a day,
// a time of day, or a date with one of these. It is resolved late, as "at 14:05"
// is of the day that another phrase names.
type anchor struct {
	date  span
	grain unit // of date
	// floats is how far apart the dates lie that the words fit (a week for
	// "Tuesday", a year for "Nov 3"), of which date is the latest; else 0.
	floats unit
	part   part
	clock  clock
	// point is what "before", "after" and "around" count from where that is not
	// the edge of date: of "2 hours ago".
	point time.Time
	// bare needs a preposition or a date beside it to be a time at all.
	bare bool
}

// A part of a day runs between two times of day; the end may lie in the next.
type part struct{ from, to time.Duration }

func (p part) set() bool { return p.to > 0 }

var (
	morning   = part{0, 12 * time.Hour}
	smallHrs  = part{0, 6 * time.Hour}
	middle    = part{11 * time.Hour, 14 * time.Hour}
	afternoon = part{12 * time.Hour, 18 * time.Hour}
	evening   = part{18 * time.Hour, 24 * time.Hour}
	night     = part{18 * time.Hour, 30 * time.Hour}
)

// A clock is a time of day.
type clock struct {
	of    time.Duration
	grain unit // noUnit when there is none
	// half says that the hour can be of either half of the day.
	half bool
}

func (c clock) set() bool { return c.grain != noUnit }

// place is an anchor in time: what it covers, and the two edges that "before"
// and "after" count from.
type place struct {
	span
	lo, hi time.Time
}

// hasDay reports whether the anchor itself says which day it is of.
func (a anchor) hasDay() bool { return a.date.set() && a.grain <= day }

// dayless reports whether another phrase, or now, has to say the day.
func (a anchor) dayless() bool { return !a.date.set() && (a.clock.set() || a.part.set()) }

// merge joins two anchors that stand side by side, such as "last week" and
// "Tuesday", or "yesterday" and "14:05".
func (a anchor) merge(b anchor, c calendar) (anchor, bool) {
	if a.date.set() && b.date.set() {
		return a.narrow(b, c)
	}
	if a.clock.set() && b.clock.set() || a.part.set() && b.part.set() || !a.point.IsZero() || !b.point.IsZero() {
		return a, false
	}
	if b.date.set() {
		a, b = b, a
	}
	if a.date.set() && a.grain != day || a.date.to.IsZero() && a.date.set() {
		return a, false
	}
	if b.clock.set() {
		a.clock = b.clock
	}
	if b.part.set() {
		a.part = b.part
	}
	a.bare = a.bare && b.bare
	return a, true
}

// narrow puts the finer of two dates within the wider one.
func (a anchor) narrow(b anchor, c calendar) (anchor, bool) {
	if a.grain > b.grain {
		a, b = b, a
	}
	switch {
	case a.grain == day && b.grain == day && (a.floats == week) != (b.floats == week):
		if a.floats == week { // "Tuesday, Nov 3": the weekday adds nothing
			a, b = b, a
		}
		if b.clock.set() || b.part.set() {
			return a, false
		}
		return a, true
	case a.floats == noUnit || a.floats != b.grain || b.floats != noUnit || b.date.to.IsZero():
		return a, false
	}
	d, ok := c.within(a, b.date)
	a.date, a.floats = d, noUnit
	return a, ok
}

// within is the date that a floating anchor has in a range.
func (c calendar) within(a anchor, in span) (span, bool) {
	for n := -60; n <= 1; n++ {
		if d := c.move(a, n); in.holds(d.from) {
			return d, true
		}
	}
	return a.date, false
}

// move is the date of a floating anchor n weeks or years on.
func (c calendar) move(a anchor, n int) span {
	y, m, d := a.date.from.Date()
	if a.floats == week {
		return c.dayOf(c.midnight(y, m, d+7*n), 0)
	}
	if a.grain == month {
		return c.monthOf(y+n, m)
	}
	d = min(d, daysIn(y+n, int(m)))
	return c.dayOf(c.midnight(y+n, m, d), 0)
}

// resolve places an anchor. The day of a dayless one is that of in, or else the
// last day on which it has begun.
func (c calendar) resolve(a anchor, in span) place {
	switch {
	case !a.dayless():
		in = a.date
	case !in.set():
		in = c.dayOf(c.now, 0)
		if p := c.resolve(a, in); !p.from.After(c.now) {
			return p
		}
		in = c.dayOf(c.now, -1)
	}
	if a.part.set() {
		in = span{c.at(in.from, 0, a.part.from), c.at(in.from, 0, a.part.to)}
	}
	if a.clock.set() {
		t := c.place(a.clock, in, a.part.set())
		return place{span{t, t.Add(a.clock.grain.length())}, t, t}
	}
	p := place{in, in.from, in.to}
	if !a.point.IsZero() {
		p.lo, p.hi = a.point, a.point
	} else if p.to.IsZero() {
		p.hi = c.now
	}
	return p
}

// place finds a time of day in a range. Within a part of a day, three o'clock
// is the one that falls into it.
func (c calendar) place(k clock, in span, part bool) time.Time {
	for d := range 2 {
		if t := c.at(in.from, d, k.of); in.holds(t) {
			return t
		}
		if t := c.at(in.from, d, k.of+12*time.Hour); k.half && part && in.holds(t) {
			return t
		}
	}
	return c.at(in.from, 0, k.of)
}
