package timeparse

import "time"

// unit is a step of the calendar, from the finest to the widest.
type unit int

const (
	second unit = iota + 1
	minute
	hour
	day
	week
	month
	year
)

var lengths = [year + 1]time.Duration{second: time.Second, minute: time.Minute, hour: time.Hour}

const noon = 12 * time.Hour

// span is the half-open range from <= t < to. A zero to is no end.
type span struct{ from, to time.Time }

func (s span) set() bool { return !s.from.IsZero() }

// An anchor is a date, a part of a day, a time of day, or a date with one of these. It is resolved
// last, because "at 14:05" is of the day that another phrase names.
type anchor struct {
	date       span
	grain      unit                             // of date
	latest     bool                             // of several dates that the words fit
	part       struct{ from, to time.Duration } // of a day; it may end in the next
	clock      time.Duration                    // time of day
	clockGrain unit                             // 0 without a clock
	half       bool                             // clock can be of either half of the day
	point      time.Time                        // what "before 2 hours ago" counts from
	bare       bool                             // needs a preposition or a date beside it
}

func (a anchor) timed() bool { return a.clockGrain > 0 }

// dayless reports whether the day comes from another phrase, or from now.
func (a anchor) dayless() bool { return !a.date.set() && (a.timed() || a.part.to > 0) }

// merge joins two adjacent anchors such as "yesterday" and "14:05". In a part of a day, three o'clock
// is the one within it.
func (a anchor) merge(b anchor) (anchor, bool) {
	if b.date.set() {
		a, b = b, a
	}

	if b.date.set() || a.timed() && b.timed() || a.part.to > 0 && b.part.to > 0 || !a.point.IsZero() ||
		a.date.set() && (a.grain != day || a.date.to.IsZero()) {
		return a, false
	}

	// Each of the two supplies what the other lacks. The check above keeps "14:05 3pm" apart.
	if b.timed() {
		a.clock, a.clockGrain, a.half = b.clock, b.clockGrain, b.half
	}
	if b.part.to > 0 {
		a.part = b.part
	}

	// "3 in the afternoon" is 15:00: the first time within the part of the day whose half of the day fits.
	for of := a.clock; a.timed() && of < a.part.to; of += noon {
		if of >= a.part.from && (a.half || (of-a.clock)%(2*noon) == 0) {
			a.clock, a.half, a.part.to = of, false, 0
		}
	}

	a.bare = a.bare && b.bare

	return a, true
}

// calendar counts from the moment of the question. Weeks begin on Monday.
type calendar struct{ now time.Time }

// midnight returns the first moment of a day. time.Date may give 23:00 if clocks jump at 00:00.
func (c calendar) midnight(y, m, d int) time.Time {
	t := time.Date(y, time.Month(m), d, 0, 0, 0, 0, c.now.Location())
	if t.Hour() == 23 {
		t = t.Add(time.Hour)
	}
	return t
}

// dayOf returns the day that t is in, moved by n days: 23 to 25 hours.
func (c calendar) dayOf(t time.Time, n int) span {
	y, m, d := t.Date()
	return span{c.midnight(y, int(m), d+n), c.midnight(y, int(m), d+n+1)}
}

// at returns a time of day on the day that base starts with, moved by n days.
func (c calendar) at(base time.Time, n int, of time.Duration) time.Time {
	y, m, d := base.Date()
	return time.Date(y, m, d+n, 0, 0, int(of/time.Second), 0, c.now.Location())
}

// period returns the day, week, month or year that now is in, moved by n of them.
func (c calendar) period(u unit, n int) anchor {
	y, m, d := c.now.Date()

	switch u {
	case week:
		d += 7*n - int(c.now.Weekday()+6)%7
		return anchor{date: span{c.midnight(y, int(m), d), c.midnight(y, int(m), d+7)}, grain: week}
	case month:
		first := time.Date(y, m+time.Month(n), 1, 0, 0, 0, 0, time.UTC)
		return c.on(first.Year(), int(first.Month()), 0)
	case year:
		return c.on(y+n, 0, 0)
	}

	return anchor{date: c.dayOf(c.now, n), grain: day}
}

// ago returns the time n units back: the whole day, week, month or year, otherwise a point with half a unit, or a
// tenth of the distance, to both sides.
func (c calendar) ago(u unit, n int) anchor {
	if u >= day {
		return c.period(u, -n)
	}

	// Nobody means a second by "2 hours ago".
	d := time.Duration(n) * lengths[u]
	t, slack := c.now.Add(-d), max(d/10, lengths[u]/2)

	return anchor{date: span{t.Add(-slack), t.Add(slack)}, grain: u, point: t}
}

// rolling is the last n units without an end. A month before March 31 is February 28.
func (c calendar) rolling(u unit, n int) anchor {
	// AddDate would turn February 31 into March 3, so the months are counted from the first day of the month.
	days := map[unit]int{day: n, week: 7 * n}[u]
	first := c.now.AddDate(0, -map[unit]int{month: n, year: 12 * n}[u], 1-c.now.Day())
	back := first.AddDate(0, 0, min(c.now.Day(), daysIn(first.Year(), int(first.Month())))-1-days)
	return anchor{date: span{from: back.Add(-time.Duration(n) * lengths[u])}, grain: u}
}

func daysIn(y, m int) int { return time.Date(y, time.Month(m)+1, 0, 0, 0, 0, 0, time.UTC).Day() }

// on is a date in full, a month where d is 0, a year where m is 0 too.
func (c calendar) on(y, m, d int) anchor {
	switch {
	case m == 0:
		return anchor{date: span{c.midnight(y, 1, 1), c.midnight(y+1, 1, 1)}, grain: year}
	case d == 0:
		return anchor{date: span{c.midnight(y, m, 1), c.midnight(y, m+1, 1)}, grain: month}
	}

	return anchor{date: span{c.midnight(y, m, d), c.midnight(y, m, d+1)}, grain: day}
}

// onLast is the latest month, or day of one if d > 0, that has begun.
func (c calendar) onLast(m, d int) anchor {
	for y := c.now.Year(); ; y-- {
		if a := c.on(y, m, d); d <= daysIn(y, m) && !a.date.from.After(c.now) {
			a.latest = true
			return a
		}
	}
}

// lastWeekday is the latest such day, today included.
func (c calendar) lastWeekday(w time.Weekday) anchor {
	a := c.period(day, -int(c.now.Weekday()-w+7)%7)
	a.latest = true
	return a
}

// weekdayIn is a day of the week n weeks from this one.
func (c calendar) weekdayIn(w time.Weekday, n int) anchor {
	return anchor{date: c.dayOf(c.period(week, n).date.from, int(w+6)%7), grain: day}
}

// place is an anchor in time, with the edges that "before" and "after" count from.
type place struct {
	span
	lo, hi time.Time
}

// resolve computes the place of an anchor. A dayless one is in the day in, or else the last one begun.
func (c calendar) resolve(a anchor, in span) place {
	switch {
	case !a.dayless():
		in = a.date
	case !in.set():
		// "at 14:05" in the morning means yesterday, because a memory is of the past.
		in = c.dayOf(c.now, 0)
		if p := c.resolve(a, in); !p.from.After(c.now) {
			return p
		}
		in = c.dayOf(c.now, -1)
	}

	if a.timed() {
		t := c.at(in.from, 0, a.clock)
		if next := c.at(in.from, 1, a.clock); t.Before(in.from) && next.Before(in.to) {
			t = next // of a night
		}
		return place{span{t, t.Add(lengths[a.clockGrain])}, t, t}
	}

	if a.part.to > 0 {
		in = span{c.at(in.from, 0, a.part.from), c.at(in.from, 0, a.part.to)}
	}

	p := place{in, in.from, in.to}
	if !a.point.IsZero() {
		p.lo, p.hi = a.point, a.point
	} else if p.to.IsZero() {
		p.hi = c.now
	}

	return p
}
