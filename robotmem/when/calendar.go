package when

import "time"

// unit is a step of the calendar, from the finest to the widest.
type unit uint8

const (
	noUnit unit = iota
	second
	minute
	hour
	day
	week
	month
	quarter
	year
)

// length is the duration of a unit that has a fixed one, else 0.
func (u unit) length() time.Duration {
	switch u {
	case second:
		return time.Second
	case minute:
		return time.Minute
	case hour:
		return time.Hour
	}
	return 0
}

// span is the half-open range from <= t < to. A zero to is no end.
type span struct{ from, to time.Time }

func (s span) set() bool { return !s.from.IsZero() }

func (s span) holds(t time.Time) bool {
	return !t.Before(s.from) && (s.to.IsZero() || t.Before(s.to))
}

// calendar counts from the moment of the question, in its Location.
type calendar struct {
	now         time.Time
	sundayFirst bool
}

// midnight is the first moment of a day. Where clocks are put forward at 00:00,
// time.Date may give 23:00 of the day before; the day then starts with the jump.
func (c calendar) midnight(y int, m time.Month, d int) time.Time {
	t := time.Date(y, m, d, 0, 0, 0, 0, c.now.Location())
	if t.Hour() == 23 {
		t = t.Add(time.Hour)
	}
	return t
}

// dayOf is the day that t is in, moved by n days: 23 to 25 hours.
func (c calendar) dayOf(t time.Time, n int) span {
	y, m, d := t.Date()
	return span{c.midnight(y, m, d+n), c.midnight(y, m, d+n+1)}
}

// around is the hour, day, week, month, quarter or year that now is in, moved
// by n of them.
func (c calendar) around(u unit, n int) span {
	y, m, d := c.now.Date()
	switch u {
	case week:
		back := int(c.now.Weekday()+6) % 7
		if c.sundayFirst {
			back = int(c.now.Weekday())
		}
		d += 7*n - back
		return span{c.midnight(y, m, d), c.midnight(y, m, d+7)}
	case month:
		return c.monthOf(y, m+time.Month(n))
	case quarter:
		m -= (m - 1) % 3
		m += time.Month(3 * n)
		return span{c.midnight(y, m, 1), c.midnight(y, m+3, 1)}
	case year:
		return c.yearOf(y + n)
	case day:
		return c.dayOf(c.now, n)
	}
	past := time.Duration(c.now.Minute())*time.Minute + time.Duration(c.now.Second())*time.Second + time.Duration(c.now.Nanosecond())
	from := c.now.Add(time.Duration(n)*time.Hour - past)
	return span{from, from.Add(time.Hour)}
}

func (c calendar) monthOf(y int, m time.Month) span {
	return span{c.midnight(y, m, 1), c.midnight(y, m+1, 1)}
}

func (c calendar) yearOf(y int) span {
	return span{c.midnight(y, time.January, 1), c.midnight(y+1, time.January, 1)}
}

// weekend is the Saturday and Sunday that have begun last, moved by n weeks.
func (c calendar) weekend(n int) span {
	y, m, d := c.now.Date()
	d += 7*n - int(c.now.Weekday()+1)%7
	return span{c.midnight(y, m, d), c.midnight(y, m, d+2)}
}

// thisWeekend is the one that goes on or comes next, moved by n weeks.
func (c calendar) thisWeekend(n int) span {
	if w := c.weekend(0); w.holds(c.now) {
		return c.weekend(n)
	}
	return c.weekend(n + 1)
}

// back is now less n units by the wall clock. The day of a month is cut to the
// last one there is, so that a month before March 31 is February 28.
func (c calendar) back(u unit, n int) time.Time {
	switch u {
	case day:
		return c.now.AddDate(0, 0, -n)
	case week:
		return c.now.AddDate(0, 0, -7*n)
	case quarter:
		u, n = month, 3*n
	case year:
		u, n = month, 12*n
	case second, minute, hour:
		return c.now.Add(-time.Duration(n) * u.length())
	}
	y, m, d := c.now.Date()
	first := time.Date(y, m-time.Month(n), 1, 0, 0, 0, 0, time.UTC)
	d = min(d, daysIn(first.Year(), int(first.Month())))
	h, mi, s := c.now.Clock()
	return time.Date(first.Year(), first.Month(), d, h, mi, s, c.now.Nanosecond(), c.now.Location())
}

// at is a time of day on the day that base starts with, moved by n days.
func (c calendar) at(base time.Time, n int, of time.Duration) time.Time {
	y, m, d := base.Date()
	s := int(of / time.Second)
	return time.Date(y, m, d+n, s/3600, s/60%60, s%60, 0, c.now.Location())
}

func daysIn(y, m int) int { return time.Date(y, time.Month(m)+1, 0, 0, 0, 0, 0, time.UTC).Day() }
