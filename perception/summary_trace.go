package perception

import (
	"math"
	"slices"
	"strconv"
	"strings"
)

// peak is the reading that stands out in a trace.
//
// A channel's level at rest is the smallest in magnitude of its first, its
// median and its last reading. A recording often begins with the impact that
// set it off, which makes its first reading no rest, and a grip that is held
// lasts for most of it, which makes the median none. The peak is the reading
// farthest from its channel's rest, over all channels (of a wrench: over the
// forces, since a torque is not to be compared with them); the earlier channel
// and the earlier reading win a tie. Readings of different units are compared
// as they stand.
type peak struct {
	channel, sample int
	value           float64
}

// maxMedian bounds the readings a median is taken of; of a longer channel they
// are taken at even distances.
const maxMedian = 1001

func (s *series) peak(channels []int) (p peak, ok bool) {
	farthest := 0.0
	for _, c := range channels {
		rest, found := s.rest(c)
		if !found {
			continue
		}
		for i := range s.len() {
			v := s.at(i, c)
			if d := math.Abs(v - rest); d > farthest && finite(v) {
				farthest, p, ok = d, peak{channel: c, sample: i, value: v}, true
			}
		}
	}
	return p, ok
}

// rest is not found when the channel holds no finite reading among those asked.
func (s *series) rest(c int) (level float64, found bool) {
	n := s.len()
	step := (n + maxMedian - 1) / maxMedian
	taken := make([]float64, 0, min(n, maxMedian))
	for i := 0; i < n; i += step {
		if v := s.at(i, c); finite(v) {
			taken = append(taken, v)
		}
	}
	if len(taken) == 0 {
		return 0, false
	}
	candidates := []float64{taken[0], taken[len(taken)-1]}
	slices.Sort(taken)
	level = taken[len(taken)/2]
	for _, v := range candidates {
		if math.Abs(v) < math.Abs(level) {
			level = v
		}
	}
	return level, true
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// summarizeSeries writes "6-axis wrench, 15 samples over 315 ms, Fz peak -62 N
// at 84 ms", then what is missing. Without a rate a sample is named by its
// number, from 1.
func summarizeSeries(s *series) string {
	what, channels := s.whatItIs()
	line := what + ", " + plural(uint64(s.len()), "sample")
	clock := newClock(s.seconds())
	if clock.unit != "" {
		line += " over " + clock.at(s.seconds())
	}
	if p, ok := s.peak(channels); ok {
		line += "," + s.peakText(p, clock)
	}
	if at, length, ok := s.longestGap(); ok {
		line += ", gap of " + clock.at(length) + " at " + clock.at(at)
	}
	if n := s.missing(); n > 0 {
		line += ", " + plural(uint64(n), "reading") + " missing"
	}
	return line
}

func (s *series) peakText(p peak, clock clock) string {
	text := " peak " + figure(p.value)
	if name := s.channelName(p.channel); name != "" {
		text = " " + name + text
	}
	if unit := clean(s.unit(p.channel), maxNameRunes); unit != "" {
		text += " " + unit
	}
	if clock.unit != "" {
		return text + " at " + clock.at(s.time(p.sample))
	}
	return text + " at sample " + strconv.Itoa(p.sample+1)
}

// whatItIs names the trace, and the channels whose readings can be compared: of
// a wrench the forces, of an IMU the accelerations, of joints the positions.
func (s *series) whatItIs() (what string, channels []int) {
	axes, isWrench := s.wrenchOrder()
	for c := range s.width {
		name := ""
		if c < len(s.channels) {
			name = strings.ToLower(clean(s.channels[c], maxNameRunes))
		}
		switch {
		case isWrench && axes[c] >= wrenchForces:
		case s.kind == kindIMU && !isAcceleration(name):
		case s.kind == kindJoints && jointPart(name) > 0:
		default:
			channels = append(channels, c)
		}
	}
	if len(channels) == 0 {
		for c := range s.width {
			channels = append(channels, c)
		}
	}
	switch {
	case isWrench:
		return "6-axis wrench", channels
	case s.kind == kindIMU:
		return strconv.Itoa(s.width) + "-channel IMU", channels
	case s.kind == kindJoints:
		return plural(uint64(s.joints()), "joint"), channels
	}
	return strconv.Itoa(s.width) + "-channel trace", channels
}

// The kinds that metadata may name, beside a wrench.
const (
	kindIMU    = "imu"
	kindJoints = "joint_state"
)

// isAcceleration knows ax, acc_x, accel.x and linear_acceleration/x.
func isAcceleration(name string) bool {
	return strings.Contains(name, "acc") || len(name) == 2 && name[0] == 'a'
}

// jointParts are the ends of a channel's name that tell what of the joint it is.
var jointParts = [][]string{{"position", "pos", "q"}, {"velocity", "vel", "qd", "dq"}, {"effort", "eff", "torque", "tau", "current", "temperature"}}

// jointPart is the place in jointParts: 0 for a position, and for a name that
// tells nothing.
func jointPart(name string) int {
	for part, ends := range jointParts {
		for _, end := range ends {
			if _, ok := cutPart(name, end); ok {
				return part
			}
		}
	}
	return 0
}

// cutPart removes an end that a separator sets off.
func cutPart(name, end string) (stem string, ok bool) {
	name, ok = strings.CutSuffix(name, end)
	stem = strings.TrimRight(name, "._/ ")
	return stem, ok && stem != name && stem != ""
}

// joints counts the joints: elbow.position and elbow.velocity are of one.
func (s *series) joints() int {
	if s.channels == nil {
		return s.width
	}
	names := map[string]bool{}
	for _, name := range s.channels {
		name = strings.ToLower(clean(name, 2*maxNameRunes))
		for _, ends := range jointParts {
			for _, end := range ends {
				if stem, ok := cutPart(name, end); ok {
					name = stem
				}
			}
		}
		names[name] = true
	}
	return len(names)
}

func (s *series) missing() int {
	n := 0
	for _, v := range s.values {
		if math.IsNaN(v) {
			n++
		}
	}
	return n
}

// channelName is "" where there is but one channel without a name.
func (s *series) channelName(c int) string {
	if c < len(s.channels) {
		if name := clean(s.channels[c], maxNameRunes); name != "" {
			return name
		}
	}
	if s.width == 1 {
		return ""
	}
	return "channel " + strconv.Itoa(c+1)
}

// clock writes the times of one trace in one unit, so that they can be compared
// at a glance.
type clock struct {
	unit     string // "" when the duration is unknown
	scale    float64
	decimals int
}

func newClock(seconds float64) clock {
	switch {
	case !(seconds > 0) || math.IsInf(seconds, 1):
		return clock{}
	case seconds < 10e-3:
		return clock{"ms", 1e3, 3}
	case seconds < 1:
		return clock{"ms", 1e3, 0}
	case seconds < 100:
		return clock{"s", 1, 2}
	}
	return clock{"s", 1, 0}
}

func (c clock) at(seconds float64) string {
	return strconv.FormatFloat(seconds*c.scale, 'f', c.decimals, 64) + " " + c.unit
}
