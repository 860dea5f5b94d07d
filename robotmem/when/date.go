package when

import "time"

// weekday reads "Tuesday", the latest one. What comes again ("every Tuesday")
// or is still to come is no place in the past.
func (p *parser) weekday() (anchor, bool) {
	if p.isWord(-1, "every", "each", "next") {
		return anchor{}, false
	}
	placed := p.isWord(-1, "on", "since", "before", "after", "until", "till", "by", "from", "between", "and", "to", "of")
	w, ok := p.weekdayName(placed)
	return p.lastWeekday(w), ok
}

// weekdayName takes the name of a weekday, if short is set also one of three or
// four letters. Of these "sat", "sun", "wed" and "mon" need their capital.
func (p *parser) weekdayName(short bool) (time.Weekday, bool) {
	t := p.peek(0)
	w, ok := weekdayOf(t.text, short)
	if !ok || t.kind != wordToken {
		return 0, false
	}
	switch t.text {
	case "sat", "sun", "wed", "mon":
		if !p.capital(0) {
			return 0, false
		}
	}
	p.i++
	return w, true
}

// monthDay reads "Nov 3", "Nov 3, 2025", "November 2025", and "November" where a
// preposition stands before it.
func (p *parser) monthDay() (anchor, bool) {
	t := p.peek(0)
	m, certain := monthOf(t.text)
	if m == 0 || t.kind != wordToken {
		return anchor{}, false
	}
	certain = certain || p.capital(0) && p.i > 0 && (p.peek(-1).kind != breakToken || p.peek(-1).text == ",")
	placed := p.isWord(-1, "in", "on", "since", "before", "after", "until", "till", "by", "from", "between", "during", "and", "to")
	p.i++
	d := p.peek(0)
	switch {
	case d.kind == numberToken && len(d.text) == 4 && isYear(d.n):
		p.i++
		return anchor{date: p.monthOf(d.n, time.Month(m)), grain: month}, true
	case (d.kind == numberToken || d.kind == ordinalToken) && 0 < d.n && d.n <= daysIn(2024, m):
		if !certain && !placed && d.kind != ordinalToken {
			return anchor{}, false
		}
		p.i++
		return p.withYear(m, d.n)
	case placed && (certain || p.capital(-1)):
		a, ok := p.onLast(m, 0)
		a.bare = true
		return a, ok && d.kind != numberToken
	}
	return anchor{}, false
}

// dayMonth reads "3 November", "3rd of November 2025".
func (p *parser) dayMonth() (anchor, bool) {
	d := p.peek(0)
	if d.kind != numberToken && d.kind != ordinalToken {
		return anchor{}, false
	}
	p.i++
	_ = d.kind == ordinalToken && p.word("of")
	m, certain := monthOf(p.peek(0).text)
	if m == 0 || p.peek(0).kind != wordToken || d.n < 1 || d.n > daysIn(2024, m) {
		return anchor{}, false
	}
	certain = certain || p.capital(0) || d.kind == ordinalToken
	p.i++
	y := p.peek(0)
	if !certain && (y.kind != numberToken || len(y.text) != 4 || !isYear(y.n)) {
		return anchor{}, false
	}
	return p.withYear(m, d.n)
}

// withYear reads the year that may follow a day of a month.
func (p *parser) withYear(m, d int) (anchor, bool) {
	t, skip := p.peek(0), 1
	if t.kind == breakToken && t.text == "," {
		t, skip = p.peek(1), 2
	}
	if t.kind == numberToken && len(t.text) == 4 && isYear(t.n) {
		p.i += skip
		return p.on(t.n, m, min(d, daysIn(t.n, m))), true
	}
	if p.isMeasure() {
		return anchor{}, false
	}
	return p.onLast(m, d)
}

// isMeasure reports whether the number before the next token counts something.
func (p *parser) isMeasure() bool {
	return p.isWord(0, "n", "nm", "mm", "cm", "m", "kg", "g", "v", "a", "w", "hz", "deg", "degrees",
		"percent", "times", "steps", "attempts", "cycles", "newton", "newtons", "volts")
}

func isYear(n int) bool { return 1970 <= n && n < 2100 }

// capital reports whether the token n places on began with a capital.
func (p *parser) capital(n int) bool {
	c := p.question[p.peek(n).start]
	return 'A' <= c && c <= 'Z'
}

func weekdayOf(s string, short bool) (time.Weekday, bool) {
	switch s {
	case "monday":
		return time.Monday, true
	case "tuesday":
		return time.Tuesday, true
	case "wednesday":
		return time.Wednesday, true
	case "thursday":
		return time.Thursday, true
	case "friday":
		return time.Friday, true
	case "saturday":
		return time.Saturday, true
	case "sunday":
		return time.Sunday, true
	}
	if !short {
		return 0, false
	}
	switch s {
	case "mon":
		return time.Monday, true
	case "tue", "tues":
		return time.Tuesday, true
	case "wed":
		return time.Wednesday, true
	case "thu", "thur", "thurs":
		return time.Thursday, true
	case "fri":
		return time.Friday, true
	case "sat":
		return time.Saturday, true
	case "sun":
		return time.Sunday, true
	}
	return 0, false
}

// monthOf is the month that a word names, else 0, and whether the word is
// nothing else.
func monthOf(s string) (m int, certain bool) {
	switch s {
	case "january", "jan":
		return 1, true
	case "february", "feb":
		return 2, true
	case "march", "mar":
		return 3, false
	case "april", "apr":
		return 4, true
	case "may":
		return 5, false
	case "june", "jun":
		return 6, true
	case "july", "jul":
		return 7, true
	case "august", "aug":
		return 8, true
	case "september", "sep", "sept":
		return 9, true
	case "october", "oct":
		return 10, true
	case "november", "nov":
		return 11, true
	case "december", "dec":
		return 12, true
	}
	return 0, false
}

func unitOf(s string) (unit, bool) {
	switch s {
	case "s", "sec", "secs", "second", "seconds":
		return second, true
	case "min", "mins", "minute", "minutes":
		return minute, true
	case "h", "hr", "hrs", "hour", "hours":
		return hour, true
	case "day", "days":
		return day, true
	case "week", "weeks":
		return week, true
	case "month", "months":
		return month, true
	case "quarter", "quarters":
		return quarter, true
	case "year", "years":
		return year, true
	}
	return noUnit, false
}

// numberOf is the value of a number word, else 0. A few are five: the bound
// should rather be wide.
func numberOf(s string) int {
	switch s {
	case "a", "an", "one":
		return 1
	case "two", "couple":
		return 2
	case "three":
		return 3
	case "four":
		return 4
	case "five", "few":
		return 5
	case "six":
		return 6
	case "seven":
		return 7
	case "eight":
		return 8
	case "nine":
		return 9
	case "ten":
		return 10
	case "eleven":
		return 11
	case "twelve":
		return 12
	case "fifteen":
		return 15
	case "twenty":
		return 20
	case "thirty":
		return 30
	case "forty":
		return 40
	case "sixty":
		return 60
	case "ninety":
		return 90
	}
	return 0
}
