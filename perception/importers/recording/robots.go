package recording

import (
	"slices"
	"strings"

	"github.com/robotmem/robotmem-go/perception/events"
	"github.com/robotmem/robotmem-go/perception/importers/message"
)

// A recording may be of several robots, whose topics have namespaces: /r1/tf and /r2/tf. Each has poses, goals and facts
// of its own.

// robot is what is known of one robot.
type robot struct {
	namespace string // "" is that of all topics that no other robot has
	poses     *poses
	happened  *happenings // nil: messages are stored, and nothing is read in them
	pending   []pendingEvent
}

// maxRobots bounds the namespaces that are told apart.
const maxRobots = 100

// namespaces finds the namespaces of robots in topics: those in which the same topic of a robot is.
type namespaces map[string][]string

// robotTopics are topics of which a robot has one. Those of ROS that are global by default are not in the namespace of
// a robot if they are in none.
var robotTopics = map[string]struct{ global bool }{"tf": {true}, "rosout": {true}, "amcl_pose": {false}}

func (n namespaces) add(topic string) {
	action, isAction := strings.CutSuffix(topic, "/_action/status")
	cut := strings.LastIndex(action, "/")
	namespace, name := action[:max(0, cut)], action[cut+1:]

	known, isRobot := robotTopics[name]
	if !isAction && (!isRobot || known.global && namespace == "") {
		return
	}
	if isAction {
		name += " action"
	}
	if all := n[name]; !slices.Contains(all, namespace) && len(all) < maxRobots {
		n[name] = append(all, namespace)
	}
}

// robots returns the namespaces if there are several, sorted.
func (n namespaces) robots() []string {
	var out []string

	for _, all := range n {
		if len(all) > 1 {
			out = append(out, all...)
		}
	}
	slices.Sort(out)

	return slices.Compact(out)
}

func (imp *importer) newRobot(namespace string) *robot {
	r := &robot{namespace: namespace, poses: newPoses(imp.o.MapID, imp.clock)}
	if imp.o.Events != nil {
		r.happened = &happenings{imp.o.Events.NewMachine(), events.NewJournal()}
	}
	imp.robots = append(imp.robots, r)

	return r
}

// findRobots tells the robots of a recording apart, unless one of them is chosen.
func (imp *importer) findRobots() {
	shared := imp.newRobot("")
	if imp.o.Namespace != "" {
		return
	}

	found := namespaces{}
	for _, c := range imp.info.Channels {
		found.add(c.Topic)
	}
	imp.report.Robots = found.robots()

	for _, namespace := range imp.report.Robots {
		if namespace == "" {
			continue
		}
		r := imp.newRobot(namespace)

		// Without poses of its own it is a part of a robot, such as one of two arms.
		own := slices.ContainsFunc(imp.info.Channels, func(c ChannelInfo) bool {
			return strings.HasPrefix(c.Topic, namespace+"/") && poseKindOf(c.Channel) != poseNone
		})
		if !own {
			r.poses = shared.poses
		}
	}
}

// robotOf returns the robot of a topic.
func (imp *importer) robotOf(topic string) *robot {
	best := imp.robots[0]
	for _, r := range imp.robots[1:] {
		if strings.HasPrefix(topic, r.namespace+"/") && len(r.namespace) > len(best.namespace) {
			best = r
		}
	}

	return best
}

// robotNamed returns the robot of a node that a message on a topic of all robots names: r1.planner in /rosout, or
// /r1/planner in /parameter_events.
func (imp *importer) robotNamed(c *channel, v *message.Value) *robot {
	if c.robot.namespace != "" || len(imp.robots) == 1 {
		return c.robot
	}
	if node := v.At("node").Text; node != "" {
		return imp.robotOf(node)
	}

	return imp.robotOf("/" + strings.ReplaceAll(v.At("name").Text, ".", "/"))
}

// observePose notes the poses of a message. Transforms of all robots have one topic.
func (imp *importer) observePose(c *channel, v *message.Value, logTime uint64) {
	c.robot.poses.observe(c.pose, v, logTime)

	isShared := c.robot.namespace == "" && (c.pose == poseTF || c.pose == poseStatic) && !slices.Contains(imp.report.Robots, "")
	if !isShared {
		return
	}

	for _, r := range imp.robots[1:] {
		if r.poses != c.robot.poses {
			r.poses.observe(c.pose, v, logTime)
		}
	}
}
