package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"sync"
	"time"

	"github.com/robotmem/robotmem-go/perception/segment"
	"github.com/robotmem/robotmem-go/robotmem/attach/foxglove"
)

const (
	goalX, goalY = 12.0, 4.0 // m
	wetX         = 7.0       // where the floor is wet, m
	safeSpeed    = 0.5       // up to which it holds there, m/s
	fast, slow   = 0.8, 0.4  // m/s
	wheelBase    = 0.6       // m
	step         = 0.05      // s
)

// The topics of a cart, as those of a robot with nav2.
const (
	poseTopic = iota + 1
	wrenchTopic
	logTopic
	statusTopic
	targetTopic
	parameterTopic
)

var topics = map[uint64]segment.Channel{
	poseTopic:      {Topic: "/amcl_pose", SchemaName: "geometry_msgs/msg/PoseWithCovarianceStamped"},
	wrenchTopic:    {Topic: "/wheels/wrench", SchemaName: "geometry_msgs/msg/WrenchStamped"},
	logTopic:       {Topic: "/rosout", SchemaName: "rcl_interfaces/msg/Log"},
	statusTopic:    {Topic: "/navigate_to_pose/_action/status", SchemaName: "action_msgs/msg/GoalStatusArray"},
	targetTopic:    {Topic: "/goal_pose", SchemaName: "geometry_msgs/msg/PoseStamped"},
	parameterTopic: {Topic: "/parameter_events", SchemaName: "rcl_interfaces/msg/ParameterEvent"},
}

// cart drives along the hall. It takes warnings as a careful controller does.
type cart struct {
	server  *foxglove.Server
	times   float64
	start   time.Time
	now     float64 // s
	arrived bool
	ready   chan struct{}
	once    sync.Once

	mu    sync.Mutex
	speed float64 // m/s
	said  bool    // the speed was published
}

func newCart(speed, times float64, start time.Time) *cart {
	c := &cart{times: times, start: start, speed: speed, ready: make(chan struct{})}
	c.server = foxglove.NewServer(foxglove.ServerOptions{
		Name: "cart", Capabilities: []foxglove.Capability{foxglove.CapabilityClientPublish}, SupportedEncodings: []string{"json"},
		Handler: foxglove.ServerHandler{
			Subscribed: func(_ foxglove.ClientID, ch *foxglove.Channel) {
				if ch.ID == poseTopic {
					c.once.Do(func() { close(c.ready) })
				}
			},
			Message: func(_ foxglove.ClientID, ch *foxglove.Channel, data []byte) {
				if ch.Topic == "/robotmem/warning" {
					c.warned(data)
				}
			},
		},
	})

	for id, channel := range topics {
		channel.MessageEncoding, channel.SchemaEncoding = "json", "jsonschema"
		if err := c.server.Advertise(&foxglove.Channel{Channel: channel, ID: id}); err != nil {
			panic(err) // the topics above are valid
		}
	}

	return c
}

// warned slows down: to the advised speed, or to a careful one if none is known.
func (c *cart) warned(data []byte) {
	var (
		message struct{ Data string }
		warning struct{ Parameters map[string]float64 }
	)
	if json.Unmarshal(data, &message) != nil || json.Unmarshal([]byte(message.Data), &warning) != nil {
		return
	}

	c.mu.Lock()
	defer c.mu.Unlock()
	wanted, advised := warning.Parameters["params.controller.max_speed"]
	if !advised {
		wanted = slow
	}
	if wanted < c.speed {
		c.speed, c.said = wanted, false
	}
}

func (c *cart) send(topic uint64, format string, args ...any) {
	at := uint64(c.start.UnixNano()) + uint64(math.Round(c.now*1e9))
	_ = c.server.Publish(topic, at, fmt.Appendf(nil, format, args...)) // there is nobody to tell
}

// say publishes the speed as a parameter that has changed.
func (c *cart) say() float64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.said {
		c.said = true
		c.send(parameterTopic, `{"node":"/controller","changed_parameters":[{"name":"max_speed","value":{"type":3,"double_value":%g}}]}`, c.speed)
	}

	return c.speed
}

// drive drives to the goal. On the wet floor a fast cart slips, and its goal is aborted.
func (c *cart) drive(ctx context.Context) {
	select {
	case <-c.ready:
	case <-ctx.Done():
		return
	}
	time.Sleep(200 * time.Millisecond) // all topics are subscribed to

	const id = "6f0c3d52a1b84e0f9d7a2c41e85b9603"
	c.say()
	c.send(targetTopic, `{"header":{"frame_id":"map"},"pose":{"position":{"x":%g,"y":%g,"z":0}}}`, goalX, goalY)
	c.send(statusTopic, `{"status_list":[{"goal_info":{"goal_id":{"uuid":%q}},"status":2}]}`, id)

	status, tick := 4, time.NewTicker(time.Duration(step/c.times*float64(time.Second)))
	defer tick.Stop()

	for x := 0.0; x < goalX; {
		speed := c.say()
		c.send(poseTopic, `{"header":{"frame_id":"map"},"pose":{"pose":{"position":{"x":%.3f,"y":%g,"z":0},"orientation":{"x":0,"y":0,"z":0,"w":1}}}}`, x, goalY)
		wet := math.Abs(x-wetX) < wheelBase
		grip := 20 + 2*math.Sin(3*c.now)
		if wet {
			grip /= 3
		}
		c.send(wrenchTopic, `{"wrench":{"force":{"x":%.2f,"y":0,"z":0}}}`, grip)
		if wet && speed > safeSpeed && x >= wetX {
			c.send(logTopic, `{"level":40,"name":"controller","msg":"wheel slip: %.1f m/s on the wheels, %.1f m/s on the floor"}`, speed, speed/4)
			status = 6
			break
		}
		x += speed * step
		c.now += step
		<-tick.C
	}

	c.arrived = status == 4
	c.now += 0.5
	c.send(statusTopic, `{"status_list":[{"goal_info":{"goal_id":{"uuid":%q}},"status":%d}]}`, id, status)

	for range 200 { // it stands for ten seconds
		c.now += step
		c.send(wrenchTopic, `{"wrench":{"force":{"x":0,"y":0,"z":0}}}`)
		<-tick.C
	}
	time.Sleep(300 * time.Millisecond)
}

func (c *cart) result() string {
	said := []string{"it slipped and gave up"}
	if c.arrived {
		said = []string{"it arrived"}
	}
	c.mu.Lock()
	defer c.mu.Unlock()

	return strings.Join(append(said, fmt.Sprintf("at %g m/s in the end", c.speed)), ", ")
}
