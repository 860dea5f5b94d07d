package timeparse_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/robotmem/robotmem-go/robotmem/internal/timeparse"
	"github.com/robotmem/robotmem-go/robotmem/robotmemtest/rounds"
)

func TestParseCalendar(t *testing.T) {
	for _, tc := range []struct {
		zone, now, ask, want string
		hours                float64 // between the bounds, 0 where one is open
	}{
		// Clocks go forward on March 29 and back on October 25.
		{"Europe/Berlin", "2026-03-29 12:00", "today", "03-29 00:00 / 03-30 00:00", 23},
		{"Europe/Berlin", "2026-03-30 09:00", "yesterday", "03-29 00:00 / 03-30 00:00", 23},
		{"Europe/Berlin", "2026-03-30 09:00", "昨天", "03-29 00:00 / 03-30 00:00", 23},
		{"Europe/Berlin", "2026-03-30 09:00", "last week", "03-23 00:00 / 03-30 00:00", 167},
		{"Europe/Berlin", "2026-03-29 12:00", "last 24 hours", "03-28 11:00 / -", 0},
		{"Europe/Berlin", "2026-03-29 12:00", "last 1 day", "03-28 12:00 / -", 0},
		{"Europe/Berlin", "2026-03-29 04:00", "last 2 hours", "03-29 01:00 / -", 0},
		{"Europe/Berlin", "2026-03-29 12:00", "last night", "03-28 18:00 / 03-29 06:00", 11},
		{"Europe/Berlin", "2026-03-29 12:00", "this morning", "03-29 00:00 / 03-29 12:00", 11},
		{"Europe/Berlin", "2026-03-29 12:00", "at 2 am", "03-29 03:00 / 03-29 04:00", 1},
		{"Europe/Berlin", "2026-03-29 12:00", "between 1:00 and 4:00", "03-29 01:00 / 03-29 04:00", 2},
		{"Europe/Berlin", "2026-10-25 12:00", "today", "10-25 00:00 / 10-26 00:00", 25},
		{"Europe/Berlin", "2026-10-25 12:00", "between 1:00 and 4:00", "10-25 01:00 / 10-25 04:00", 4},
		{"Europe/Berlin", "2026-10-25 12:00", "at 2:30", "10-25 02:30 / 10-25 02:31", 1. / 60},
		{"Africa/Cairo", "2026-04-24 12:00", "today", "04-24 01:00 / 04-25 00:00", 23},
		{"Africa/Cairo", "2026-04-24 12:00", "yesterday", "04-23 00:00 / 04-24 01:00", 24},
		{"America/Santiago", "2026-09-06 12:00", "today", "09-06 01:00 / 09-07 00:00", 23},
		{"America/Santiago", "2026-09-06 12:00", "yesterday", "09-05 00:00 / 09-06 01:00", 24},

		// Ends of months and years.
		{"Europe/Berlin", "2026-03-31 12:00", "last month", "02-01 00:00 / 03-01 00:00", 28 * 24},
		{"Europe/Berlin", "2026-03-31 12:00", "a month ago", "02-01 00:00 / 03-01 00:00", 28 * 24},
		{"Europe/Berlin", "2026-03-31 12:00", "past month", "02-28 12:00 / -", 0},
		{"Europe/Berlin", "2026-03-31 12:00", "最近一个月", "02-28 12:00 / -", 0},
		{"Europe/Berlin", "2026-03-31 12:00", "last 2 months", "01-31 12:00 / -", 0},
		{"Europe/Berlin", "2028-02-29 12:00", "past year", "2027-02-28 12:00 / -", 0},
		{"Europe/Berlin", "2026-03-31 12:00", "Feb 29", "2024-02-29 00:00 / 2024-03-01 00:00", 24},
		{"Europe/Berlin", "2026-01-01 00:10", "yesterday", "2025-12-31 00:00 / 01-01 00:00", 24},

		// Early in the morning and on the weekend.
		{"Europe/Berlin", "2026-03-08 12:00", "the whole weekend", "- / -", 0},
		{"Europe/Berlin", "2026-03-08 12:00", "last Sunday", "03-01 00:00 / 03-02 00:00", 24},
		{"UTC", "2026-03-11 15:30", "2026-03-11T14:05+01:00", "03-11 13:05 / 03-11 13:06", 1. / 60},
	} {
		t.Run(tc.now+" "+tc.ask, func(t *testing.T) {
			now := local(t, tc.zone, tc.now)
			r := timeparse.Parse(tc.ask, now)
			if got := show(r.After, r.Before, now); got != tc.want {
				t.Errorf("got %s, want %s", got, tc.want)
			}
			if tc.hours == 0 || r.After == nil || r.Before == nil {
				return
			}
			if got := r.Before.Sub(*r.After).Hours(); got != tc.hours {
				t.Errorf("got %v hours, want %v", got, tc.hours)
			}
		})
	}
}

func TestParsePhrases(t *testing.T) {
	now := wednesday(t)
	const ask = "昨天: slips between 14:00 and 15:00 (the crash)"
	r := timeparse.Parse(ask, now)
	want := []struct{ text, bounds string }{
		{"昨天", "03-10 00:00 / 03-11 00:00"},
		{"between 14:00 and 15:00", "03-10 14:00 / 03-10 15:00"},
	}
	if len(r.Phrases) != len(want) {
		t.Fatalf("got %d phrases, want %d: %+v", len(r.Phrases), len(want), r.Phrases)
	}
	for i, ph := range r.Phrases {
		if ph.Text != want[i].text || show(ph.After, ph.Before, now) != want[i].bounds {
			t.Errorf("got %q %s, want %v", ph.Text, show(ph.After, ph.Before, now), want[i])
		}
		if at := strings.Index(ask, ph.Text); ph.Start != at || ph.End != at+len(ph.Text) {
			t.Errorf("got %q at %d to %d, want it at %d", ph.Text, ph.Start, ph.End, at)
		}
	}
	if want := "slips (the crash)"; r.Rest != want {
		t.Errorf("got rest %q, want %q", r.Rest, want)
	}
}

// Text that repeats itself must not take time in the square of its length; the worst of
// these took 100 s when it did. Sixteen times the text takes sixteen times as long, or 256 times
// in the square: the fastest of some runs counts, because the machine may be busy.
func TestParseLongQuestions(t *testing.T) {
	now := wednesday(t)
	took := func(s string, size, runs int) time.Duration {
		least := time.Duration(math.MaxInt64)
		for range runs {
			start := time.Now()
			timeparse.Parse(strings.Repeat(s, size/len(s)), now)
			least = min(least, time.Since(start))
		}
		return least
	}
	size := rounds.Of(16_000, 50_000)
	for _, s := range []string{"1 s ", "1s and ", "before a ", "yesterday at ", "monday, ", "last the ", "一", "14:05崩", "昨天的", ".", "-", "\xff", "between 1 and "} {
		part, whole := took(s, size/16, 10), took(s, size, 6)
		if whole > 80*part && whole > 100*time.Millisecond {
			t.Errorf("%q repeated: %d bytes take %v, a sixteenth of them %v; want about a sixteenth of the time", s, size, whole, part)
		}
		t.Logf("%q: %v, a sixteenth %v", s, whole, part)
	}
}
