package perception

import (
	"math"
	"strings"
)

// maxPlainSeconds is where a time without a unit is no longer taken for
// seconds: beyond it lie the milliseconds (and finer) since 1970.
const maxPlainSeconds = 1e11

// timeScale tells whether the first of several channels is a time, and how many
// seconds its unit has; 0 when the unit is not known.
func (s *series) timeScale() (float64, bool) {
	if s.width < 2 {
		return 0, false
	}
	name, unit, _ := strings.Cut(strings.ToLower(s.channels[0]), "_")
	switch name {
	case "t", "time", "timestamp", "stamp":
	default:
		return 0, false
	}
	// T may be a temperature, too; a time never goes back.
	for i := 1; i < s.len(); i++ {
		if !(s.at(i, 0) >= s.at(i-1, 0)) {
			return 0, false
		}
	}
	if u := s.unit(0); u != "" {
		unit = strings.ToLower(u)
	}
	switch unit {
	case "":
		if last := s.at(s.len()-1, 0); !(math.Abs(last) < maxPlainSeconds) {
			return 0, true
		}
		return 1, true
	case "s", "sec", "seconds":
		return 1, true
	case "ms":
		return 1e-3, true
	case "us", "µs":
		return 1e-6, true
	case "ns":
		return 1e-9, true
	}
	// Some other quantity, such as t_motor.
	return 0, false
}

// takeTime removes the first channel and keeps the rate that it shows.
func (s *series) takeTime(seconds float64) {
	if n := s.len(); n > 1 && seconds > 0 {
		s.setRate(float64(n-1) / (seconds * (s.at(n-1, 0) - s.at(0, 0))))
	}
	out := s.values[:0]
	for i := range s.len() {
		out = append(out, s.values[i*s.width+1:(i+1)*s.width]...)
	}
	s.values, s.width, s.channels = out, s.width-1, s.channels[1:]
	if s.units != nil {
		s.units = s.units[1:]
		if strings.Join(s.units, "") == "" {
			s.units = nil
		}
	}
}
