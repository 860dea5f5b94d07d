package attach

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
)

// Warning says that something went wrong where the robot is going, or with what it is about to do.
type Warning struct {
	Time     time.Time `json:"time"`
	Kind     string    `json:"kind"` // place or goal
	Text     string    `json:"text"` // one sentence
	Reasons  []string  `json:"reasons"`
	Failures int       `json:"failures"` // incidents
	// Successes are how often it went well since the last of them. After two there is a warning only with
	// parameters that failed, and that the successes did not have.
	Successes  int             `json:"successes"`
	Robots     []string        `json:"robots,omitempty"` // that failed
	Last       time.Time       `json:"last_failure"`
	Position   []float64       `json:"position,omitempty"` // x, y, z in metres; of a goal without a target absent
	FrameID    string          `json:"frame_id,omitempty"`
	MapID      string          `json:"map_id,omitempty"`
	DistanceM  float64         `json:"distance_m,omitempty"`
	SpeedMPS   float64         `json:"speed_mps,omitempty"`
	Task       string          `json:"task,omitempty"`
	Advice     string          `json:"advice,omitempty"`
	Parameters robotmem.Object `json:"parameters,omitempty"` // advised, by path
	MemoryID   int64           `json:"memory_id,omitempty"`  // the newest that tells of it
}

// warning describes the danger.
func (d *danger) warning(now time.Time) Warning {
	last := d.failures[len(d.failures)-1].at
	w := Warning{
		Time: now, Kind: d.kind, Reasons: d.reasons, Failures: len(d.failures), Last: last, FrameID: d.frame, MapID: d.mapID,
		Task: d.task, Advice: d.advice, Parameters: d.suggested, MemoryID: d.last,
	}
	if !math.IsNaN(d.at[0]) {
		w.Position = []float64{round(d.at[0]), round(d.at[1]), round(d.at[2])}
	}

	w.Successes = len(d.since())

	for robot := range d.robots {
		w.Robots = append(w.Robots, robot)
	}
	slices.Sort(w.Robots)

	return w
}

func round(v float64) float64 { return math.Round(v*100) / 100 }

// here is the distance below which a place is not ahead, in metres.
const here = 0.3

// say completes the text of a warning.
func (w *Warning) say() {
	times := "once"
	if w.Failures > 1 {
		times = fmt.Sprintf("%d times", w.Failures)
	}
	reason := strings.Join(w.Reasons, "; ")

	switch w.Kind {
	case "goal":
		w.Text = fmt.Sprintf("%s failed %s: %s", w.Task, times, reason)
	default:
		where := fmt.Sprintf("%.1f m ahead", w.DistanceM)
		if w.DistanceM < here {
			where = "here"
		}
		w.Text = fmt.Sprintf("%s something went wrong %s: %s", where, times, reason)
	}
	if w.Advice != "" {
		w.Text += ". Advised: " + strings.TrimSuffix(w.Advice, ".")
	}
}

// motion is where the robot is and how fast.
type motion struct {
	at      [3]float64
	frame   string
	mapID   string
	speed   float64 // m/s
	logTime uint64
	known   bool

	from     [3]float64 // some time before
	fromTime uint64
}

// speedSpan is the time over which the speed is measured, in ns.
const speedSpan = 1.5e9

// speedGap is a time without a pose after which the speed is unknown, in ns. A robot that is put elsewhere has not
// driven there.
const speedGap = 2e9

// move updates the motion with a pose.
func (m *motion) move(at [3]float64, frame, mapID string, logTime uint64) {
	restart := !m.known || frame != m.frame || mapID != m.mapID || logTime < m.logTime || logTime-m.logTime > speedGap
	m.at, m.frame, m.mapID, m.logTime, m.known = at, frame, mapID, logTime, true
	if restart {
		m.from, m.fromTime, m.speed = at, logTime, 0
		return
	}

	if d := logTime - m.fromTime; d >= speedSpan {
		path := math.Hypot(math.Hypot(at[0]-m.from[0], at[1]-m.from[1]), at[2]-m.from[2])
		m.speed = path / (float64(d) * 1e-9)
		m.from, m.fromTime = at, logTime
	}
}

// watch notices when the robot comes near a danger, and when it leaves it again.
type watch struct {
	metres, seconds float64

	dangers []*danger
	near    map[string]*approach // by the key of the danger
	before  map[string]float64   // the last distance, by the key of the danger
}

// approach is that of one danger, from the warning until the robot has left.
type approach struct {
	danger  *danger
	reach   float64    // at which the warning was due, in metres
	from    [3]float64 // where the robot was then
	nearest float64
	failed  bool // something went wrong meanwhile
	since   uint64
}

const (
	// The robot has left a danger at this many times the distance of the warning.
	leaveFactor = 1.5
	// It has passed a danger that it came so near to, in metres, and left to another side: the directions to where it came
	// from and to where it went differ by 60 degrees or more.
	passDistance = 1.0
	sameSide     = 0.5 // cosine
	// A robot comes nearer if the distance shrinks by so much from one position to the next, in metres.
	closing = 0.005
	// reaction is the time that a warning takes to be acted on, in seconds, beyond the seconds that are asked for.
	reaction = 0.5
)

// reach is the distance at which a warning is due.
func (w *watch) reach(speed float64) float64 { return max(w.metres, (w.seconds+reaction)*speed) }

// moved returns the dangers that the robot begins to approach, and the approaches that it has ended.
func (w *watch) moved(m *motion, params func() map[string]string) (begun []*danger, ended []*approach) {
	reach := w.reach(m.speed)

	for _, d := range w.dangers {
		if d.kind != "place" || d.frame != m.frame || d.mapID != m.mapID {
			continue
		}
		distance := d.distance(m.at)
		a := w.near[d.key]
		last, known := w.before[d.key]
		w.before[d.key] = distance

		switch {
		case a == nil && distance <= reach && (!known || distance < last-closing || distance < here) && d.open(params()):
			w.near[d.key] = &approach{danger: d, reach: reach, from: m.at, nearest: distance, since: m.logTime}
			begun = append(begun, d)
		case a != nil:
			a.nearest = min(a.nearest, distance)
		}
	}

	// A danger may have vanished from the list meanwhile, such as after a refresh.
	for key, a := range w.near {
		if a.danger.distance(m.at) > leaveFactor*a.reach {
			delete(w.near, key)
			a.failed = a.failed || !a.crossed(m.at)
			ended = append(ended, a)
		}
	}

	return begun, ended
}

// crossed reports whether the robot has left to another side than it came from. One that turned round before the
// place has not been there.
func (a *approach) crossed(at [3]float64) bool {
	var dot, came, went float64

	for i := range at {
		x, y := a.from[i]-a.danger.at[i], at[i]-a.danger.at[i]
		dot, came, went = dot+x*y, came+x*x, went+y*y
	}

	return a.nearest <= passDistance && dot < sameSide*math.Sqrt(came*went)
}

// replace takes new dangers. One at which the robot has just failed is no news while the robot is still there.
func (w *watch) replace(dangers []*danger, m *motion, failedSince time.Time) {
	w.dangers = dangers
	if !m.known || failedSince.IsZero() {
		return
	}

	for _, d := range dangers {
		last := d.failures[len(d.failures)-1].at
		if d.kind != "place" || w.near[d.key] != nil || last.Before(failedSince) || d.distance(m.at) > leaveFactor*w.reach(m.speed) {
			continue
		}
		w.near[d.key] = &approach{
			danger: d, reach: w.reach(m.speed), from: m.at, nearest: d.distance(m.at), failed: true, since: m.logTime,
		}
	}
}

// failedHere notes that something went wrong: the dangers that are near were not mastered.
func (w *watch) failedHere() {
	for _, a := range w.near {
		a.failed = true
	}
}
