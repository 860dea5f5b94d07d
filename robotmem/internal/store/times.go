package store

import "time"

// timeFormat is the stored format of times. Text order is time order.
const timeFormat = "2006-01-02T15:04:05.000000000Z"

func FormatTime(t time.Time) string { return t.UTC().Format(timeFormat) }

// ParseTime parses a stored time. An invalid time becomes the zero time, so that one
// damaged row does not fail a whole response.
func ParseTime(s string) time.Time {
	t, _ := time.Parse(time.RFC3339Nano, s) // zero with an error
	return t
}

// ParseNano parses a stored time to nanoseconds since 1970. It equals ParseTime for
// timeFormat and is ten times as fast: loading the indexes parses four times per memory.
func ParseNano(s []byte) int64 {
	if len(s) != len(timeFormat) || s[len(s)-1] != 'Z' || s[19] != '.' {
		return ParseTime(string(s)).UnixNano()
	}
	number := func(from, to int) (n int) {
		for _, c := range s[from:to] {
			n = 10*n + int(c-'0')
		}
		return n
	}

	return time.Date(number(0, 4), time.Month(number(5, 7)), number(8, 10), number(11, 13), number(14, 16),
		number(17, 19), number(20, 29), time.UTC).UnixNano()
}
