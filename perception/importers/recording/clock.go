package recording

import (
	"cmp"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/robotmem/robotmem-go/perception/importers"
	"github.com/robotmem/robotmem-go/perception/importers/message"
)

// clock tells the times of a recording that can be times of observation from those that cannot.
type clock struct {
	signed bool // the file holds signed numbers, as a rosbag2 database does
	unset  bool // no time is above 0
	wall   bool // the recording ends at a time of a wall clock
	// The clock was set while it recorded: the last log time before that, and the first one after it. Otherwise set is 0.
	before, set uint64

	scale string // the unit in which the file has its times, though the format has nanoseconds; "" is nanoseconds
}

// lastTime is the first nanosecond that cannot be stored: see [importers.Clock].
var lastTime = uint64(time.Date(importers.MaxYear+1, 1, 1, 0, 0, 0, 0, time.UTC).UnixNano())

// Any wall clock of a robot is between these, in seconds since 1970. The clock of a simulator, or of
// a computer whose clock was never set, counts from 0.
const (
	firstWallClock = 946_684_800   // 2000
	lastWallClock  = 4_102_444_800 // 2100
)

// firstWall is firstWallClock in ns.
const firstWall = firstWallClock * 1e9

// maxGap is in nanoseconds. If the mean time between the messages of a recording is below it, the times
// are in another unit, because no robot records a million messages per second.
const maxGap = 1000

// clockOf finds the clock of a recording.
func clockOf(info *Info) clock {
	c := clock{
		signed: strings.HasPrefix(info.Format, formatDB3), unset: info.End == 0 && info.Messages > 0,
		wall: info.End >= firstWall,
	}
	if c.wall {
		c.before, c.set = info.unsetEnd, info.wallStart
	}

	for _, unit := range []struct {
		name     string
		perTime  uint64 // units in a second
		messages uint64 // with fewer messages the unit is not certain
	}{{"seconds", 1, 1}, {"milliseconds", 1e3, 2}} {
		// A recorder may write seconds or milliseconds into a field of nanoseconds. Its times are those of a wall
		// clock only in its own unit, and its messages are too many for a span of that few nanoseconds.
		first, last := info.Start/unit.perTime, info.End/unit.perTime
		if first >= firstWallClock && last < lastWallClock && info.Messages >= unit.messages &&
			info.End-info.Start < maxGap*info.Messages && (unit.messages == 1 || info.End > info.Start) {
			c.scale = unit.name
		}
	}

	return c
}

// possible reports whether a time can be stored as a time.
func possible(ns uint64) bool { return ns < lastTime }

// problem says why a log time cannot be the time of an observation, "" if it can.
func (c clock) problem(ns uint64) string {
	switch {
	case c.signed && ns > math.MaxInt64:
		return "the log time is before 1970"
	case !possible(ns):
		return "the log time is after " + strconv.Itoa(importers.MaxYear)
	case ns == 0 && c.unset:
		return "the log time was never set"
	case c.wall && ns < firstWall:
		return "the log time is before 2000 in a recording that ends later"
	case c.scale != "":
		return "the log time is in " + c.scale + " written as nanoseconds"
	}

	return ""
}

// decimal writes a time in full, as the file has it. A JSON number would lose its last digits.
func (c clock) decimal(ns uint64) string {
	if c.signed {
		return strconv.FormatInt(int64(ns), 10)
	}
	return strconv.FormatUint(ns, 10)
}

// observed returns when a message was observed: its log time, unless that cannot be a time of observation.
// Then it is the time of the header, or else the time of publication, each only if a wall clock gave it. The time of a
// message from before the clock was set counts back from there. Without any of them it is zero, and the sink uses the
// time at which it receives the perception. The problem says what was done; it is "" for a good log time.
func (c clock) observed(v *message.Value, m *Message) (at time.Time, problem string) {
	problem = c.problem(m.LogTime)
	if problem == "" {
		return timeOf(observed(v, m.Message)), ""
	}

	// Only wall clocks are accepted here: a header of a simulator counts from 0 and would date the message to 1970.
	for _, other := range []struct {
		ns   uint64
		name string
	}{{headerStamp(v), "of the header"}, {m.PublishTime, "of publication"}} {
		if seconds := other.ns / 1e9; firstWallClock <= seconds && seconds < lastWallClock {
			return timeOf(other.ns), problem + "; the time " + other.name + " counts"
		}
	}

	// No message came between the last time before the clock was set and the first one after it, so they are near.
	if c.set > 0 && m.LogTime > 0 && m.LogTime <= c.before && sameClock(m.LogTime, c.before) {
		return timeOf(c.set - (c.before - m.LogTime)), problem + "; it counts back from when the clock was set"
	}

	return time.Time{}, problem + "; the time of the import counts"
}

// timeOf returns the zero time for a time that cannot be stored: see [importers.Clock].
func timeOf(ns uint64) time.Time {
	return importers.Clock(time.Unix(int64(ns/1e9), int64(ns%1e9)))
}

// headerStamp returns the time of the header in ns, 0 if there is none.
func headerStamp(v *message.Value) uint64 {
	t, _ := message.Stamp(v)
	return t
}

// stampOf returns the time of the header, or the log time if there is none on its clock.
func stampOf(v *message.Value, logTime uint64) uint64 { return cmp.Or(stampOn(v, logTime), logTime) }

// stampOn returns the time of the header if it is on the clock of the log time, or else 0.
func stampOn(v *message.Value, logTime uint64) uint64 {
	if t := headerStamp(v); sameClock(t, logTime) {
		return t
	}
	return 0
}

// maxSkew is the most nanoseconds between a header's time stamp and the log time of one
// clock. The clock of a simulator counts from 0.
const maxSkew = 24 * 60 * 60 * 1e9

func sameClock(a, b uint64) bool { return max(a, b)-min(a, b) <= maxSkew }

// sinceStart returns the seconds since the recording began, 0 for a time that cannot be.
func (imp *importer) sinceStart(logTime uint64) float64 {
	if imp.clock.problem(logTime) != "" {
		return 0
	}
	return (float64(logTime) - float64(imp.info.Start)) * 1e-9
}

// began returns when the recording began, the zero time if that cannot be.
func (imp *importer) began() time.Time {
	if imp.info.End == 0 || imp.clock.problem(imp.info.Start) != "" {
		return time.Time{}
	}
	return timeOf(imp.info.Start)
}

// ended returns when the recording ended, the zero time if that cannot be.
func (imp *importer) ended() time.Time {
	if imp.info.End == 0 || imp.clock.problem(imp.info.End) != "" || imp.began().IsZero() {
		return time.Time{}
	}
	return timeOf(imp.info.End)
}

// mistimed counts a message whose log time cannot be.
func (imp *importer) mistimed(t *topic, problem string) {
	if problem == "" {
		return
	}
	imp.report.Mistimed++
	t.note(problem)
}

// maxReasons bounds the reasons that are counted apart for one topic.
const maxReasons = 8

const otherReasons = "other reasons"

// note counts a message under a reason.
func (t *topic) note(reason string) {
	if _, known := t.report.Notes[reason]; !known && len(t.report.Notes) >= maxReasons {
		reason = otherReasons
	}
	t.report.Notes[cmp.Or(reason, otherReasons)]++
}
