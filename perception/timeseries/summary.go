package timeseries

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/robotmem/robotmem-go/perception/media"
)

// Summary returns "6-axis wrench, 15 samples over 315 ms, Fz peak -62 N at 84 ms", followed by
// the number of missing readings. Without a rate a sample is named by its number, from 1.
func (s *Series) Summary() string {
	what, _ := s.classify()
	line := what + ", " + media.Plural(int64(s.Len()), "sample")
	clock := media.NewClock(s.seconds())
	if clock.Unit != "" {
		line += " over " + clock.At(s.seconds())
	}
	if peak := s.Peak(); peak != "" {
		line += ", " + peak
	}

	missing := int64(0)

	for _, v := range s.Values {
		if math.IsNaN(v) {
			missing++
		}
	}

	if missing > 0 {
		line += ", " + media.Plural(missing, "reading") + " missing"
	}
	if s.Skipped > 0 {
		line += ", " + media.Plural(int64(s.Skipped), "line") + " left out"
	}

	return line
}

// Peak returns "Fz peak -62 N at 84 ms" for the reading that is farthest from its channel's rest level,
// over all channels that are compared. Of equal distances the earlier channel and the earlier reading
// win. Readings of different units are compared as numbers. It is "" if all readings are at rest.
func (s *Series) Peak() string {
	_, channels := s.classify()
	farthest, channel, sample := 0.0, 0, -1

	for c := range channels {
		rest := s.rest(c)
		for i := range s.Len() {
			v := s.at(i, c)
			if d := math.Abs(v - rest); d > farthest && media.Finite(v) {
				farthest, channel, sample = d, c, i
			}
		}
	}

	if sample < 0 {
		return ""
	}

	text := strings.TrimSpace(s.label(channel) + " peak " + media.Figure(s.at(sample, channel)) + " " + s.unit(channel))
	if clock := media.NewClock(s.seconds()); clock.Unit != "" {
		return text + " at " + clock.At(s.stamp(sample))
	}

	return text + " at sample " + strconv.Itoa(sample+1)
}

// rest is the level of a channel at rest: the smaller in magnitude of its first and last finite
// reading. A recording often begins with the impact that triggered it, which is not at rest.
func (s *Series) rest(c int) float64 {
	first, last := 0, s.Len()-1
	for first < last && !media.Finite(s.at(first, c)) {
		first++
	}

	for first < last && !media.Finite(s.at(last, c)) {
		last--
	}
	if math.Abs(s.at(last, c)) < math.Abs(s.at(first, c)) {
		return s.at(last, c)
	}

	return s.at(first, c)
}

// classify names the trace and returns the number of its first channels whose readings are compared
// for the peak: of a wrench the forces, otherwise all.
func (s *Series) classify() (what string, channels int) {
	if s.isWrench() {
		return "6-axis wrench", wrenchForces
	}
	nouns := map[string]string{"imu": "IMU", "joint_state": "joint state"}
	return strconv.Itoa(s.Width) + "-channel " + cmp.Or(nouns[s.kind], "trace"), s.Width
}

// wrenchAxes are the axes of a wrench: three forces, then three torques.
var wrenchAxes = []string{"Fx", "Fy", "Fz", "Tx", "Ty", "Tz"}

// rosWrench are the ends of their names in a recorded geometry_msgs/Wrench.
var rosWrench = []string{"force.x", "force.y", "force.z", "torque.x", "torque.y", "torque.z"}

// wrenchForces is the number of axes that are forces.
const wrenchForces = 3

// isWrench reports whether the channels are the axes of a wrench, as the metadata or their names say.
func (s *Series) isWrench() bool {
	return s.Width == len(wrenchAxes) && (s.kind == "wrench" || slices.EqualFunc(s.Channels, wrenchAxes,
		strings.EqualFold) ||
		slices.EqualFunc(s.Channels, rosWrench, strings.HasSuffix))
}
