package robotmem

import (
	"strconv"
	"strings"
	"time"
)

// Times since 1970 come in seconds (Python, ROS), milliseconds (JavaScript), microseconds (PX4) and
// nanoseconds (MCAP). The size of a number tells its unit if the time is between 1973 and 2286.
const (
	leastSeconds = 100_000_000 // 1973
	mostSeconds  = 10_000_000_000
)

// epochTime reads a number as a time since 1970 and returns its unit. ok is false for a number that is too
// small or too large for any.
func epochTime(text string) (at time.Time, unit string, ok bool) {
	whole, fraction, _ := strings.Cut(text, ".")
	n, err := strconv.ParseInt(whole, 10, 64)
	if err != nil || strings.Trim(fraction, "0123456789") != "" {
		return at, "", false
	}

	// Parse the fraction as an integer of nanoseconds: a float64 would be wrong by about 100 ns at such times.
	digits := (fraction + "000000000")[:9]
	nanoseconds, _ := strconv.ParseInt(digits, 10, 64)

	switch {
	case n >= leastSeconds && n < mostSeconds:
		return time.Unix(n, nanoseconds).UTC(), "s", true
	case n >= leastSeconds*1e3 && n < mostSeconds*1e3:
		return time.UnixMilli(n).Add(time.Duration(nanoseconds / 1e3)).UTC(), "ms", true
	case n >= leastSeconds*1e6 && n < mostSeconds*1e6:
		return time.UnixMicro(n).UTC(), "us", true
	case n >= leastSeconds*1e9:
		return time.Unix(0, n).UTC(), "ns", true
	}

	return at, "", false
}

// leapSecond reads an RFC 3339 time with the second 60. It returns the second after it, because Go has no leap seconds.
func leapSecond(text string) (at time.Time, ok bool) {
	before, after, found := strings.Cut(text, ":60")
	if !found {
		return at, false
	}
	at, err := time.Parse(time.RFC3339Nano, before+":59"+after)
	return at.Add(time.Second), err == nil
}
