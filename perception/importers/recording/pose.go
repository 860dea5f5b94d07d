package recording

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"

	"gonum.org/v1/gonum/num/quat"

	"github.com/robotmem/robotmem-go/perception/importers/message"
	"github.com/robotmem/robotmem-go/perception/media"
	"github.com/robotmem/robotmem-go/perception/trajectory"
)

// poseKind is the way in which the messages of a channel give the poses of frames.
type poseKind int

const (
	poseNone poseKind = iota
	poseTF
	poseStatic   // transforms that hold at all times
	poseOdometry // the robot in odom
	poseStamped  // the robot as localization gives it
)

// poseKindOf leaves out goals, which say where the robot should be.
func poseKindOf(c *Channel) poseKind {
	switch message.ShortName(c.SchemaName) {
	case "tf2_msgs/TFMessage", "tf/tfMessage", "foxglove.FrameTransform", "foxglove.FrameTransforms":
		if strings.HasSuffix(c.Topic, "tf_static") {
			return poseStatic
		}
		return poseTF
	case "nav_msgs/Odometry", "foxglove.Odometry":
		return poseOdometry
	case "geometry_msgs/PoseStamped", "geometry_msgs/PoseWithCovarianceStamped", "foxglove.PoseInFrame":
		if topic := strings.ToLower(c.Topic); strings.Contains(topic, "pose") && !strings.Contains(topic, "goal") {
			return poseStamped
		}
	}

	return poseNone
}

const (
	poseSeconds  = 5 // how long transforms are kept
	poseStale    = 2 // s from the nearest transform; beyond them the pose is unknown
	maxSamples   = 2048
	maxFrames    = 1024
	maxChain     = 32
	maxFrameName = 256
	farthest     = 1e8 // m
)

// transform is the pose of a child in its parent: x' = rotation(x) + position.
type transform struct {
	position    [3]float64
	orientation quat.Number // of length 1
}

type sample struct {
	time uint64
	transform
}

func (s sample) compare(t uint64) int { return cmp.Compare(s.time, t) }

type link struct {
	parent  string
	static  bool
	samples []sample // by time
}

// poses is the tree of frames over the last seconds.
type poses struct {
	links map[string]*link
	mapID string
	clock clock
	base  string // the frame of the robot, "" unknown

	located link   // the robot in the map, as localization says
	changes uint64 // how often samples were added

	// Localization may be silent while odometry goes on: the robot in odom, as odometry says, and odom in the map as it
	// was when localization last said something, at fixedAt.
	odometry link
	fix      transform
	fixedAt  uint64

	// How far the stamps of the poses are from their log times, in ns; 0 if they are near. The clock of a robot may be
	// another one than that of its recorder.
	skew int64

	last     map[string]any // the last pose of the robot that was asked for, at lastTime
	lastTime uint64
}

// poseKept is how long the last pose of the robot counts if no newer one comes, in ns: localization may be silent
// while the robot stands.
const poseKept = 60e9

// robotAt returns the pose of the robot at a time, or the last one that is known.
func (p *poses) robotAt(t uint64) (map[string]any, bool) {
	if pose, ok := p.of("", t); ok {
		p.last, p.lastTime = pose, t
		return pose, true
	}
	// The samples know of a pose that nobody has asked for yet.
	if pose, at, ok := p.newest(t); ok && (p.last == nil || at >= p.lastTime) {
		p.last, p.lastTime = pose, at
	}
	if p.last != nil && t >= p.lastTime && t-p.lastTime <= poseKept {
		return p.last, true
	}

	return nil, false
}

// newest returns the pose of the robot at the last time before t of which there is one.
func (p *poses) newest(t uint64) (map[string]any, uint64, bool) {
	at := uint64(0)

	for _, l := range append([]*link{&p.located}, p.links[p.robotFrame()]) {
		if l == nil || l.static {
			continue
		}

		for i := len(l.samples) - 1; i >= 0; i-- {
			if l.samples[i].time <= t {
				at = max(at, l.samples[i].time)
				break
			}
		}
	}
	if at == 0 {
		return nil, 0, false
	}
	pose, ok := p.of("", at)

	return pose, at, ok
}

func newPoses(mapID string, c clock) *poses {
	return &poses{links: map[string]*link{}, mapID: mapID, clock: c}
}

// restart forgets where the robot was: its clock was set back, and what came before is of another run. Transforms that
// hold at all times stay.
func (p *poses) restart() {
	for _, l := range p.links {
		if !l.static {
			l.samples = nil
		}
	}
	p.located.samples, p.odometry.samples, p.fixedAt = nil, nil, 0
	p.last, p.lastTime = nil, 0
}

// logged returns the time of the poses at a log time.
func (p *poses) logged(logTime uint64) uint64 { return uint64(int64(logTime) + p.skew) }

// noteSkew compares the stamp of a pose that holds at one time with its log time.
func (p *poses) noteSkew(stamp, logTime uint64) {
	p.skew = int64(stamp - logTime)
	if max(p.skew, -p.skew) <= poseStale*1e9 {
		p.skew = 0
	}
}

func (p *poses) observe(kind poseKind, v *message.Value, logTime uint64) {
	p.changes++

	switch kind {
	case poseTF, poseStatic:
		all := v.At("transforms").List
		// A foxglove.FrameTransform is one of those that others list.
		if v.At("child_frame_id").Text != "" {
			all = []message.Value{*v}
		}

		for i := range all {
			t := &all[i]
			parent := cmp.Or(frameOf(t), t.At("parent_frame_id").Text)
			s := sampleOf(t, logTime)
			p.put(parent, t.At("child_frame_id").Text, kind == poseStatic, s)
			if kind == poseTF {
				p.noteSkew(s.time, logTime)
			}
		}
	case poseOdometry:
		// Localization publishes poses without a child frame. They apply to the frame that odometry names.
		child := cmp.Or(v.At("child_frame_id").Text, v.At("body_frame_id").Text, "base_link")
		p.base = cleanFrame(child)
		p.robot(v, child, logTime)
		if cleanFrame(frameOf(v)) == "odom" {
			p.odometry.add(sampleOf(v, logTime))
		}
		p.noteSkew(stampOf(v, logTime), logTime)
	case poseStamped:
		if cleanFrame(frameOf(v)) == "map" {
			s := sampleOf(v, logTime)
			p.located.add(s)
			p.locate(s)
		}
		p.robot(v, p.robotFrame(), logTime)
		p.noteSkew(stampOf(v, logTime), logTime)
	}
}

// locate notes where odom is in the map, by the pose of the robot in the map.
func (p *poses) locate(s sample) {
	if !s.finite() {
		return
	}

	inOdom, _, known := p.odometry.at(s.time)
	if l := p.links[p.robotFrame()]; !known && l != nil && l.parent == "odom" {
		inOdom, _, known = l.at(s.time)
	}
	if known {
		p.fix, p.fixedAt = s.times(inOdom.inverse()), s.time
	}
}

// inverse turns the pose of a child in its parent into that of the parent in the child.
func (t transform) inverse() transform {
	q := quat.Conj(t.orientation)
	p := t.position
	r := quat.Mul(quat.Mul(q, quat.Number{Imag: p[0], Jmag: p[1], Kmag: p[2]}), quat.Conj(q))

	return transform{[3]float64{-r.Imag, -r.Jmag, -r.Kmag}, q}
}

// robot stores the pose of the robot as a transform, unless /tf has its own.
func (p *poses) robot(v *message.Value, child string, logTime uint64) {
	if l, ok := p.links[cleanFrame(child)]; ok && l.parent != cleanFrame(frameOf(v)) {
		return
	}
	p.put(frameOf(v), child, false, sampleOf(v, logTime))
}

func (p *poses) robotFrame() string {
	if _, ok := p.links["base_footprint"]; ok && p.base == "" {
		return "base_footprint"
	}
	return cmp.Or(p.base, "base_link")
}

// cleanFrame drops the leading slash that old programs write.
func cleanFrame(name string) string { return strings.TrimPrefix(name, "/") }

func (p *poses) put(parent, child string, static bool, s sample) {
	parent, child = cleanFrame(parent), cleanFrame(child)
	if child == "" || parent == "" || child == parent || len(child) > maxFrameName || len(parent) > maxFrameName ||
		!s.finite() {
		return
	}
	l, ok := p.links[child]
	if !ok {
		if len(p.links) >= maxFrames {
			return
		}
		l = &link{}
		p.links[child] = l
	}
	// Samples relative to another parent cannot be compared. A static transform has only its latest value.
	if l.parent != parent || static {
		l.parent, l.static, l.samples = parent, static, l.samples[:0]
	}
	l.add(s)
}

// add keeps the samples of the last seconds.
func (l *link) add(s sample) {
	if !s.finite() {
		return
	}
	at, found := slices.BinarySearchFunc(l.samples, s.time, sample.compare)
	if n := len(l.samples); n > 0 && s.time+clockStep < l.samples[n-1].time {
		// The clock was set back. The later samples are of the time before that.
		l.samples = l.samples[:at]
		found = false
	}
	if !found {
		l.samples = slices.Insert(l.samples, at, s)
	}
	l.samples[at] = s
	// The times decide, not the order of arrival: a message may be logged after a newer one.
	old := 0

	newest := l.samples[len(l.samples)-1].time
	for newest-l.samples[old].time > poseSeconds*1e9 || len(l.samples)-old > maxSamples {
		old++
	}
	l.samples = slices.Delete(l.samples, 0, old)
}

// of returns the pose of a frame at a time, in map or else in odom. A message gets the pose of the robot if it has no
// frame, if its frame is not linked, or if its frame is map or odom: a message about the map was not observed at the
// map's origin.
func (p *poses) of(frame string, t uint64) (map[string]any, bool) {
	pose, _, ok := p.find(frame, t)
	return pose, ok
}

// find is of, and reports whether the pose is that of the time: there are poses before and after it. Otherwise its
// stamp is that of the nearest one.
func (p *poses) find(frame string, t uint64) (pose map[string]any, isExact, ok bool) {
	for _, f := range []string{cleanFrame(frame), p.robotFrame()} {
		if tr, root, at, ok := p.chain(f, t); ok && f != "map" && f != "odom" {
			out := map[string]any{
				"position": []any{tr.position[0], tr.position[1], tr.position[2]},
				"orientation": []any{
					tr.orientation.Imag, tr.orientation.Jmag, tr.orientation.Kmag, tr.orientation.Real,
				},
				"frame_id": root,
			}
			if stamp := timeOf(at); !stamp.IsZero() && p.clock.problem(at) == "" {
				out["stamp"] = stamp.Format(time.RFC3339Nano)
			}
			if root == "map" && p.mapID != "" {
				out["map_id"] = p.mapID
			}

			return out, at == t, true
		}
	}

	return nil, false, false
}

// chain follows the parents to map. If they end before, or are unknown at that time, it
// returns the transform to odom. Its time is t, or else that of the sample that is the farthest from t.
func (p *poses) chain(frame string, t uint64) (tr transform, root string, at uint64, ok bool) {
	tr.orientation.Real = 1
	at = t
	passed, times := map[string]transform{}, map[string]uint64{}

	for range maxChain {
		if frame == "map" {
			return tr, "map", at, true
		}
		// Remember the transform to every frame on the way. If the chain ends before map, odom or the robot may be
		// on it.
		passed[frame], times[frame] = tr, at
		l := p.links[frame]
		if l == nil {
			break
		}
		step, stamp, known := l.at(t)
		if !known {
			break
		}
		at = farther(t, at, stamp)
		tr, frame = step.times(tr), l.parent
	}

	// Localization that publishes only a pose, without /tf, places the robot; the sensor follows from it.
	atRobot, robot := passed[p.robotFrame()]
	if step, stamp, known := p.located.at(t); robot && known {
		return step.times(atRobot), "map", farther(t, times[p.robotFrame()], stamp), true
	}

	tr, ok = passed["odom"]
	at = times["odom"]
	if step, stamp, known := p.odometry.at(t); !ok && robot && known {
		tr, at, ok = step.times(atRobot), farther(t, times[p.robotFrame()], stamp), true
	}
	// Odometry is good for a while.
	if ok && p.fixedAt > 0 && max(t, p.fixedAt)-min(t, p.fixedAt) <= poseKept {
		return p.fix.times(tr), "map", at, true
	}

	return tr, "odom", at, ok
}

// farther returns that of two times which is farther from t.
func farther(t, a, b uint64) uint64 {
	if max(a, t)-min(a, t) >= max(b, t)-min(b, t) {
		return a
	}
	return b
}

// at returns the transform at a time: between the samples before and after it if both are near, or else the nearest
// sample. The stamp is t, or that of the sample.
func (l *link) at(t uint64) (tr transform, stamp uint64, ok bool) {
	n := len(l.samples)
	if n == 0 {
		return transform{}, 0, false
	}
	if l.static {
		return l.samples[n-1].transform, t, true
	}

	const near = poseStale * 1e9
	i, _ := slices.BinarySearchFunc(l.samples, t, sample.compare)
	if 0 < i && i < n {
		before, after := l.samples[i-1], l.samples[i]
		if t-before.time <= near && after.time-t <= near {
			return before.between(after.transform, float64(t-before.time)/float64(after.time-before.time)), t, true
		}
	}

	if i == n || i > 0 && t-l.samples[i-1].time < l.samples[i].time-t {
		i--
	}
	s := l.samples[i]

	return s.transform, s.time, max(s.time, t)-min(s.time, t) <= near
}

// between returns the transform at a part of the way from t to b, from 0 to 1: the position on the line, and the
// orientation on the shortest turn (slerp).
func (t transform) between(b transform, part float64) transform {
	out := t
	for i := range out.position {
		out.position[i] += part * (b.position[i] - t.position[i])
	}

	turn := quat.Mul(quat.Conj(t.orientation), b.orientation)
	// q and -q are the same orientation.
	if turn.Real < 0 {
		turn = quat.Scale(-1, turn)
	}
	axis := math.Sqrt(turn.Imag*turn.Imag + turn.Jmag*turn.Jmag + turn.Kmag*turn.Kmag)
	if axis < 1e-12 {
		return out
	}
	half := part * math.Atan2(axis, turn.Real)
	s := math.Sin(half) / axis
	step := quat.Number{Real: math.Cos(half), Imag: s * turn.Imag, Jmag: s * turn.Jmag, Kmag: s * turn.Kmag}
	out.orientation = unit(quat.Mul(t.orientation, step))

	return out
}

func (t transform) finite() bool {
	for _, v := range t.position {
		// Beyond the size of the Earth a number of metres is no place.
		if !media.Finite(v) || math.Abs(v) > farthest {
			return false
		}
	}

	return !quat.IsNaN(t.orientation) && !quat.IsInf(t.orientation)
}

// sampleOf returns the pose or the transform of a message. What is missing is 0.
func sampleOf(v *message.Value, logTime uint64) sample {
	p, ok := trajectory.PoseOf(v)
	if !ok {
		// A position that cannot be read is none, and not the origin.
		p.Position[0] = math.NaN()
	}
	q := cmp.Or(p.Orientation, &[4]float64{})

	return sample{
		stampOf(v, logTime), transform{p.Position, unit(quat.Number{Real: q[3], Imag: q[0], Jmag: q[1], Kmag: q[2]})},
	}
}

// unit scales a quaternion to length 1. A quaternion of length 0 becomes the identity.
func unit(q quat.Number) quat.Number {
	n := quat.Abs(q)
	if n < 1e-9 {
		return quat.Number{Real: 1}
	}
	return quat.Scale(1/n, q)
}

// times applies b first, then t.
func (t transform) times(b transform) transform {
	q, p := t.orientation, b.position
	r := quat.Mul(quat.Mul(q, quat.Number{Imag: p[0], Jmag: p[1], Kmag: p[2]}), quat.Conj(q))
	return transform{
		[3]float64{t.position[0] + r.Imag, t.position[1] + r.Jmag, t.position[2] + r.Kmag},
		unit(quat.Mul(q, b.orientation)),
	}
}
