package when

import "time"

// Options say how a place counts its time. The zero value is weeks from Monday
// and three shifts: early from 06:00, late from 14:00, night from 22:00.
type Options struct {
	// Shifts of a day in the order of their starts. Each lasts until the next
	// one starts, the last one into the next day.
	Shifts []Shift
	// SundayFirst makes weeks run from Sunday to Saturday.
	SundayFirst bool
}

// A Shift is one turn of work in a day.
type Shift struct {
	// Name is the word before "shift", in lower case: "early", "b". The names
	// early, day, late and night also answer to their usual other words
	// (morning, first; afternoon, second; third; 早班, 白班, 中班, 晚班, 夜班).
	Name string
	// Start is the wall-clock time of day as a distance from 00:00, below 24 h.
	Start time.Duration
}

// A Reading is what the time words of a question come to.
type Reading struct {
	// After <= observed_at < Before; a nil bound is none. When both are set,
	// After is the earlier one.
	After, Before *time.Time
	// Phrases in the order of the question. A phrase that had to be left out
	// has no bounds of its own.
	Phrases []Phrase
	// Rest is the question without the words that became bounds. What else can
	// be searched for stays: of "slips before the crash at 14:05" it is "slips
	// the crash". It is empty when only punctuation would be left.
	Rest string
	// Note says in a sentence what was seen and not used, else it is empty:
	// phrases that no moment satisfies together, a time of day beside a whole
	// week, a date such as 11/03 that can be two.
	Note string
}

// A Phrase is one time expression and how it was read.
type Phrase struct {
	// Text is question[Start:End], in bytes.
	Text       string
	Start, End int
	// After and Before are the bounds of this phrase alone, half-open as in
	// Reading.
	After, Before *time.Time
}

// Parse reads the time expressions of a question, English or Chinese, as of
// now. The bounds of several phrases intersect. Days, weeks and times of day
// are those of now's Location. A question without any gives a Reading with
// nothing but Rest.
func Parse(question string, now time.Time, o Options) Reading {
	p := newParser(question, now, o)
	return p.read(p.items())
}
