package robotmem

import (
	"encoding/json"
	"reflect"
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

// epochTime reads a number as a time since 1970. ok is false for a number that is too
// small or too large for any.
func epochTime(text string) (at time.Time, ok bool) {
	whole, fraction, _ := strings.Cut(text, ".")
	n, err := strconv.ParseInt(whole, 10, 64)
	if err != nil || strings.Trim(fraction, "0123456789") != "" {
		return at, false
	}

	// Parse the fraction as an integer of nanoseconds: a float64 would be wrong by about 100 ns at such times.
	digits := (fraction + "000000000")[:9]
	nanoseconds, _ := strconv.ParseInt(digits, 10, 64)

	switch {
	case n >= leastSeconds && n < mostSeconds:
		return time.Unix(n, nanoseconds).UTC(), true
	case n >= leastSeconds*1e3 && n < mostSeconds*1e3:
		return time.UnixMilli(n).Add(time.Duration(nanoseconds / 1e3)).UTC(), true
	case n >= leastSeconds*1e6 && n < mostSeconds*1e6:
		return time.UnixMicro(n).UTC(), true
	case n >= leastSeconds*1e9:
		return time.Unix(0, n).UTC(), true
	}

	return at, false
}

// stampTime reads a number since 1970, or the stamp of a message: {sec, nanosec} as ROS 2 writes it, {secs, nsecs}
// as ROS 1 does, {seconds, nanos} as protobuf does. ok is false for anything else, and for stamps before 1973, which
// are those of a clock that starts at 0.
func stampTime(text string) (at time.Time, ok bool) {
	at, ok = epochTime(text)
	if ok || !strings.HasPrefix(text, "{") {
		return at, ok
	}

	stamp := ParseObject(text)
	if len(stamp) != 2 {
		return at, false
	}

	for _, names := range [][2]string{{"sec", "nanosec"}, {"secs", "nsecs"}, {"sec", "nsec"}, {"seconds", "nanos"}} {
		seconds, hasSeconds := stamp[names[0]].(json.Number)
		nanos, hasNanos := stamp[names[1]].(json.Number)
		if !hasSeconds || !hasNanos {
			continue
		}

		whole, errWhole := seconds.Int64()
		part, errPart := nanos.Int64()
		valid := errWhole == nil && errPart == nil && part >= 0 && part < 1e9

		return time.Unix(whole, part).UTC(), valid && whole >= leastSeconds && whole < mostSeconds
	}

	return at, false
}

// notSinceStart returns the error of a time that cannot be read. One of a clock that starts at 0 is named as such.
func notSinceStart(err error, t reflect.Type, raw View) error {
	if t != reflect.TypeFor[time.Time]() && t != reflect.TypeFor[*time.Time]() {
		return err
	}

	seconds := strings.Trim(string(raw), `"`)

	stamp := ParseObject(string(raw))
	for _, key := range []string{"sec", "secs", "seconds"} {
		if n, ok := stamp[key].(json.Number); ok {
			seconds = n.String()
		}
	}
	if n, parseErr := strconv.ParseFloat(seconds, 64); parseErr != nil || n < 0 || n >= leastSeconds {
		return err
	}

	return Errorf(Invalid, "", "must be %s; %s s is the clock of a simulation, or of a computer that does not know "+
		"the time: leave the field out, and keep such a stamp in the context", wireType(t), seconds)
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
