package perception

import (
	"math"
	"slices"
	"strings"
)

const (
	// maxPlainSeconds is where a time without a unit is no longer taken for
	// seconds: beyond it lie the milliseconds (and finer) since 1970.
	maxPlainSeconds = 1e11
	// evenShare is how far a stamp may lie from its even place, in intervals,
	// before the stamps are kept: rounding is no unevenness, a sample that is
	// missing is.
	evenShare = 0.25
)

// timeUnits are the seconds in the units that a time is named with.
var timeUnits = map[string]float64{
	"s": 1, "sec": 1, "secs": 1, "second": 1, "seconds": 1,
	"ms": 1e-3, "msec": 1e-3, "us": 1e-6, "µs": 1e-6, "usec": 1e-6, "ns": 1e-9, "nsec": 1e-9,
}

// adoptTime lets the first channel that is a time become the rate.
func (s *series) adoptTime() {
	if s.width < 2 {
		return
	}
	for c := range s.channels {
		if seconds, ok := s.timeScale(c); ok {
			s.takeTime(c, seconds)
			return
		}
	}
}

// timeScale tells whether a channel is a time, and how many seconds its unit
// has; 0 when the unit is not known.
func (s *series) timeScale(c int) (float64, bool) {
	name, unit, _ := strings.Cut(strings.ToLower(s.channels[c]), "_")
	switch name {
	case "t", "time", "timestamp", "stamp":
	default:
		return 0, false
	}
	// T may be a temperature, too; a time never goes back.
	for i := range s.len() {
		if v := s.at(i, c); !finite(v) || i > 0 && v < s.at(i-1, c) {
			return 0, false
		}
	}
	if u := s.unit(c); u != "" {
		unit = strings.ToLower(u)
	}
	if unit == "" {
		if math.Abs(s.at(s.len()-1, c)) >= maxPlainSeconds {
			return 0, true
		}
		return 1, true
	}
	// Else it is some other quantity, such as t_motor.
	seconds, ok := timeUnits[unit]
	return seconds, ok
}

// takeTime removes the channel and keeps its stamps and the rate that they show.
func (s *series) takeTime(c int, seconds float64) {
	if n := s.len(); n > 1 && seconds > 0 {
		start := s.at(0, c)
		if span := (s.at(n-1, c) - start) * seconds; span > 0 && finite(span) {
			s.setRate(float64(n-1) / span)
			s.takeStamps(c, seconds)
		}
	}
	s.dropChannel(c)
}

func (s *series) takeStamps(c int, seconds float64) {
	n, start := s.len(), s.at(0, c)
	interval := (s.at(n-1, c) - start) / float64(n-1)
	even := true
	for i := 0; i < n && even; i++ {
		even = math.Abs(s.at(i, c)-start-float64(i)*interval) <= evenShare*interval
	}
	s.stamps = make([]float64, n)
	for i := range s.stamps {
		s.stamps[i] = (s.at(i, c) - start) * seconds
	}
	if !even {
		s.times = s.stamps
	}
}

func (s *series) dropChannel(c int) {
	out := s.values[:0]
	for i := range s.len() {
		row := s.values[i*s.width : (i+1)*s.width]
		out = append(append(out, row[:c]...), row[c+1:]...)
	}
	s.values, s.width, s.channels = out, s.width-1, slices.Delete(s.channels, c, c+1)
	if s.units != nil {
		s.units = slices.Delete(s.units, c, c+1)
		if strings.Join(s.units, "") == "" {
			s.units = nil
		}
	}
}

// gapFactor is how many usual intervals make a gap.
const gapFactor = 3

// gapFrom is the seconds between two samples from where they are a gap;
// infinite when the samples are even.
func (s *series) gapFrom() float64 {
	if s.times == nil {
		return math.Inf(1)
	}
	intervals := make([]float64, len(s.times)-1)
	for i := range intervals {
		intervals[i] = s.times[i+1] - s.times[i]
	}
	slices.Sort(intervals)
	if usual := intervals[len(intervals)/2]; usual > 0 {
		return gapFactor * usual
	}
	return math.Inf(1)
}

// longestGap is where the longest gap begins, and its length, in seconds.
func (s *series) longestGap() (at, length float64, ok bool) {
	if s.times == nil {
		return 0, 0, false
	}
	for i := 1; i < len(s.times); i++ {
		if interval := s.times[i] - s.times[i-1]; interval > length {
			at, length = s.times[i-1], interval
		}
	}
	return at, length, length >= s.gapFrom()
}
