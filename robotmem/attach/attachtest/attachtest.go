// Package attachtest has a simulated robot for the tests of what follows robots.
package attachtest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/robotmem/robotmem-go/perception/segment"
	"github.com/robotmem/robotmem-go/robotmem/attach"
)

// Sent is a message of a simulated robot.
type Sent struct {
	channel *segment.Channel
	at      float64 // seconds since the start
	data    []byte
}

// Robot is a source of messages that were made before. Each list is one connection.
type Robot struct {
	Start       time.Time
	Speed       float64 // times as fast as the clock
	Connections [][]Sent
	End         context.CancelFunc // called after the last one

	mu        sync.Mutex
	published []string
}

// Name implements [attach.Source].
func (s *Robot) Name() string { return "sim" }

// Run implements [attach.Source].
func (s *Robot) Run(ctx context.Context, to attach.Receiver) error {
	if len(s.Connections) == 0 {
		s.End()
		return errors.New("the robot is gone")
	}
	messages := s.Connections[0]
	s.Connections = s.Connections[1:]

	to.Connected(map[string]string{"name": "sim"})
	// A connection has channels of its own.
	channels := map[*segment.Channel]*segment.Channel{}
	began, first := time.Now(), 0.0

	for i, m := range messages {
		if i == 0 {
			first = m.at
			time.Sleep(300 * time.Millisecond) // the memory is asked for dangers, on a busy machine, too
		}
		due := began.Add(time.Duration((m.at - first) / s.Speed * float64(time.Second)))
		if wait := time.Until(due); wait > time.Millisecond {
			time.Sleep(wait)
		}
		if channels[m.channel] == nil {
			c := *m.channel
			channels[m.channel] = &c
		}
		if to.Wants(channels[m.channel]) {
			to.Message(channels[m.channel], uint64(s.Start.UnixNano())+uint64(math.Round(m.at*1e9)), m.data)
		}
	}
	time.Sleep(20 * time.Millisecond)
	if len(s.Connections) == 0 {
		s.End()
		<-ctx.Done()
	}

	return errors.New("the connection was lost")
}

// Publish implements [attach.Source].
func (s *Robot) Publish(_ context.Context, topic, _ string, message []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.published = append(s.published, topic+" "+string(message))
	return nil
}

func channel(topic, schema string) *segment.Channel {
	return &segment.Channel{Topic: topic, SchemaName: schema, SchemaEncoding: "jsonschema", MessageEncoding: "json"}
}

// The topics of a robot.
var (
	poses      = channel("/amcl_pose", "geometry_msgs/msg/PoseWithCovarianceStamped")
	Logs       = channel("/rosout", "rcl_interfaces/msg/Log")
	statuses   = channel("/navigate_to_pose/_action/status", "action_msgs/msg/GoalStatusArray")
	targets    = channel("/goal_pose", "geometry_msgs/msg/PoseStamped")
	parameters = channel("/parameter_events", "rcl_interfaces/msg/ParameterEvent")
	wrenches   = channel("/wrench", "geometry_msgs/msg/WrenchStamped")
)

// Drive is a day of a robot that drives along a corridor of 12 m at 0.5 m/s, to one goal after the other.
type Drive struct {
	messages []Sent
	now      float64
	goals    int
	actions  map[string]*segment.Channel
}

// Send sends a message in JSON.
func (d *Drive) Send(c *segment.Channel, format string, args ...any) {
	d.messages = append(d.messages, Sent{c, d.now, fmt.Appendf(nil, format, args...)})
}

// MaxSpeed sets the parameter controller.max_speed.
func (d *Drive) MaxSpeed(v float64) {
	d.Send(parameters, `{"node":"/controller","changed_parameters":[{"name":"max_speed","value":{"type":3,"double_value":%g}}]}`, v)
}

// To drives to x = 12 m, and fails at a place if that is above 0.
func (d *Drive) To(y, failsAt float64) {
	d.goals++
	id := fmt.Sprintf("%032x", d.goals)
	d.Send(targets, `{"header":{"frame_id":"map"},"pose":{"position":{"x":12,"y":%g,"z":0}}}`, y)
	d.Send(statuses, `{"status_list":[{"goal_info":{"goal_id":{"uuid":%q}},"status":2}]}`, id)

	for i := range 240 {
		x := float64(i) * 0.05
		d.Pose(x, y)
		d.Send(wrenches, `{"wrench":{"force":{"x":%g}}}`, math.Sin(d.now))
		if failsAt > 0 && x >= failsAt {
			d.Send(Logs, `{"level":40,"name":"controller","msg":"wheel slip of %d %%"}`, 30+d.goals)
			d.now += 0.5
			d.Send(statuses, `{"status_list":[{"goal_info":{"goal_id":{"uuid":%q}},"status":6}]}`, id)
			d.now += 15
			return
		}
		d.now += 0.1
	}
	d.Send(statuses, `{"status_list":[{"goal_info":{"goal_id":{"uuid":%q}},"status":4}]}`, id)
	d.now += 15
}

// Wait lets time pass, or sets the clock back if the seconds are negative.
func (d *Drive) Wait(seconds float64) { d.now += seconds }

// Along drives from one x to another at 0.5 m/s.
func (d *Drive) Along(y, from, to float64) {
	step := 0.05
	if to < from {
		step = -step
	}

	for i := range int(math.Abs(to-from) / 0.05) {
		d.Pose(from+float64(i)*step, y)
		d.now += 0.1
	}
}

// Pose says where the robot is.
func (d *Drive) Pose(x, y float64) {
	d.Send(poses, `{"header":{"frame_id":"map"},"pose":{"pose":{"position":{"x":%g,"y":%g,"z":0},"orientation":{"x":0,"y":0,"z":0,"w":1}}}}`, x, y)
}

// Error logs an error.
func (d *Drive) Error(text string) { d.Send(Logs, `{"level":40,"name":"controller","msg":%q}`, text) }

// Status sends the status of the goals of an action: pairs of an id and a status.
func (d *Drive) Status(action string, pairs ...any) {
	var list []string
	for i := 0; i < len(pairs); i += 2 {
		list = append(list, fmt.Sprintf(`{"goal_info":{"goal_id":{"uuid":%q}},"status":%d}`, pairs[i], pairs[i+1]))
	}
	c := d.actions[action]
	if c == nil {
		c = channel("/"+action+"/_action/status", "action_msgs/msg/GoalStatusArray")
		if d.actions == nil {
			d.actions = map[string]*segment.Channel{}
		}
		d.actions[action] = c
	}
	d.Send(c, `{"status_list":[%s]}`, strings.Join(list, ","))
}

// Published are the messages that were published to the robot, as "TOPIC MESSAGE".
func (s *Robot) Published() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.published)
}

// Day returns the messages of what a robot does on a day.
func Day(do func(d *Drive)) []Sent {
	d := &Drive{}
	do(d)
	return d.messages
}
