package attach

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"net"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/robotmem/robotmem-go/perception/segment"
	"github.com/robotmem/robotmem-go/robotmem/attach/mavlink"
)

// MAVLink is a [Source] of a vehicle that speaks MAVLink, the common dialect. Each message becomes JSON on
// the topic /mavlink/SYSTEM/NAME with the schema mavlink.NAME, such as mavlink.STATUSTEXT; its fields are
// spelt as in MAVLink. Its log time is when it arrived.
//
// GLOBAL_POSITION_INT becomes the pose of the vehicle in the frame map, in metres of its zone of UTM: places
// of several flights are the same then, wherever these began. Without it LOCAL_POSITION_NED does, whose origin is
// that of the flight.
type MAVLink struct {
	address   string
	kind, at  string // udp, udpout or tcp, and HOST:PORT
	sequence  byte
	heartbeat time.Duration

	mu    sync.Mutex
	reply func(frame []byte) error // nil before a vehicle was heard

	// Of the goroutine of Run.
	channels map[string]*segment.Channel
	texts    map[string]string // STATUSTEXT that comes in parts
	yaw      float64           // of the last ATTITUDE, clockwise from north, in radians
	globe    bool              // a GLOBAL_POSITION_INT has come
}

var _ Source = (*MAVLink)(nil)

const (
	// systemID is what this program calls itself on the network: a ground station beside the pilot's.
	systemID, componentID = 245, 190
	// silence is how long a vehicle may send nothing before its connection counts as lost.
	silence = 10 * time.Second
)

// NewMAVLink returns a source at an address:
//
//	mavlink:udp:0.0.0.0:14550         listens for vehicles
//	mavlink:udpout:192.168.1.7:14550  sends to one, which answers
//	mavlink:tcp:127.0.0.1:5760        connects to one, such as a simulator
func NewMAVLink(address string) (*MAVLink, error) {
	rest, ok := strings.CutPrefix(address, "mavlink:")
	kind, at, found := strings.Cut(rest, ":")
	_, port, err := net.SplitHostPort(at)
	if !ok || !found || err != nil || port == "" || !slices.Contains([]string{"udp", "udpout", "tcp"}, kind) {
		return nil, fmt.Errorf("%q is no address of a vehicle; write mavlink:udp:0.0.0.0:14550, mavlink:udpout:HOST:PORT or mavlink:tcp:HOST:PORT, and for a serial port let mavlink-router forward it", address)
	}

	return &MAVLink{
		address: address, kind: kind, at: at, heartbeat: time.Second, channels: map[string]*segment.Channel{},
		texts: map[string]string{},
	}, nil
}

// Name implements [Source].
func (m *MAVLink) Name() string { return m.address }

// Run implements [Source].
func (m *MAVLink) Run(ctx context.Context, to Receiver) error {
	read, stop, err := m.open(ctx)
	if err != nil {
		return fmt.Errorf("%s: %w", m.address, err)
	}
	defer stop()
	defer context.AfterFunc(ctx, stop)()

	defer m.answer(nil)
	go m.beat(ctx)

	connected, decoders, buffer := false, map[string]*mavlink.Decoder{}, make([]byte, 64<<10)
	for {
		n, from, err := read(buffer)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			return fmt.Errorf("%s: %w", m.address, err)
		}

		d := decoders[from]
		if d == nil {
			if len(decoders) >= maxPeers {
				clear(decoders)
			}
			d = &mavlink.Decoder{}
			decoders[from] = d
		}

		for _, msg := range d.Write(buffer[:n]) {
			if !connected {
				connected = true
				to.Connected(map[string]string{"name": fmt.Sprintf("vehicle %d", msg.System)})
			}
			m.receive(to, msg)
		}
		count(to, "a frame of MAVLink was damaged", &d.Damaged)
		count(to, "a message of an unknown dialect of MAVLink", &d.Unknown)
	}
}

// maxPeers bounds the senders whose frames are put together.
const maxPeers = 64

func count(to Receiver, reason string, n *uint64) {
	if *n > 0 {
		to.Problem(reason, *n)
		*n = 0
	}
}

// open opens the address. read returns the bytes that came, and from whom.
func (m *MAVLink) open(ctx context.Context) (read func([]byte) (int, string, error), stop func(), err error) {
	if m.kind == "udp" {
		c, err := (&net.ListenConfig{}).ListenPacket(ctx, "udp", m.at)
		if err != nil {
			return nil, nil, err
		}

		return func(b []byte) (int, string, error) {
			n, from, err := c.ReadFrom(b)
			if err != nil {
				return 0, "", err
			}
			m.answer(func(frame []byte) error {
				_, err := c.WriteTo(frame, from)
				return err
			})

			return n, from.String(), nil
		}, func() { _ = c.Close() }, nil
	}

	network := map[string]string{"udpout": "udp", "tcp": "tcp"}[m.kind]
	c, err := (&net.Dialer{Timeout: silence}).DialContext(ctx, network, m.at)
	if err != nil {
		return nil, nil, err
	}
	m.answer(func(frame []byte) error {
		_ = c.SetWriteDeadline(time.Now().Add(time.Second))
		_, err := c.Write(frame)
		return err
	})

	return func(b []byte) (int, string, error) {
		_ = c.SetReadDeadline(time.Now().Add(silence))
		n, err := c.Read(b)
		return n, "", err
	}, func() { _ = c.Close() }, nil
}

// answer sets how frames are sent to the vehicle.
func (m *MAVLink) answer(reply func([]byte) error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.reply = reply
}

// beat tells the vehicle that a ground station listens: some send nothing else before.
func (m *MAVLink) beat(ctx context.Context) {
	tick := time.NewTicker(m.heartbeat)
	defer tick.Stop()

	for ctx.Err() == nil {
		const groundStation, noAutopilot, active = 6, 8, 4
		_ = m.write("HEARTBEAT", map[string]any{
			"type": groundStation, "autopilot": noAutopilot, "system_status": active, "mavlink_version": 3,
		})

		select {
		case <-ctx.Done():
		case <-tick.C:
		}
	}
}

func (m *MAVLink) write(name string, fields map[string]any) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.reply == nil {
		return ErrNoPublish
	}
	m.sequence++
	frame, err := mavlink.Encode(systemID, componentID, m.sequence, name, fields)
	if err != nil {
		return err
	}

	return m.reply(frame)
}

// Publish implements [Source]: a warning is shown as a text of the vehicle's ground station, of 50 characters.
func (m *MAVLink) Publish(_ context.Context, topic, _ string, data []byte) error {
	if topic != warningTopic {
		return ErrNoPublish
	}

	var w Warning
	if err := json.Unmarshal(data, &w); err != nil {
		return err
	}

	const longest, warning = 50, 4

	return m.write("STATUSTEXT", map[string]any{
		"severity": warning, "text": strings.ToValidUTF8(w.Text[:min(len(w.Text), longest)], ""),
	})
}

// receive hands on a message, and the pose that it gives.
func (m *MAVLink) receive(to Receiver, msg *mavlink.Message) {
	now := uint64(time.Now().UnixNano())

	switch msg.Name {
	case "HEARTBEAT":
		const groundStation = 6
		if msg.Number("type") == groundStation {
			return
		}
		msg.Fields["mode"] = modeOf(msg)
	case "STATUSTEXT":
		text, whole := m.text(msg)
		if !whole {
			return
		}
		msg.Fields["text"] = text
	case "PARAM_VALUE":
		if name, ok := msg.Fields["param_id"].(string); ok {
			to.Parameter(name, msg.Number("param_value"))
		}
	case "ATTITUDE":
		m.yaw = msg.Number("yaw")
	case "GLOBAL_POSITION_INT":
		m.globe = true
		x, y, _ := utm(msg.Number("lat")*1e-7, msg.Number("lon")*1e-7)
		m.pose(to, msg, now, x, y, msg.Number("alt")*1e-3)
	case "LOCAL_POSITION_NED":
		if !m.globe {
			m.pose(to, msg, now, msg.Number("y"), msg.Number("x"), -msg.Number("z"))
		}
	}

	m.send(to, msg, msg.Name, "mavlink."+msg.Name, now, msg.Fields)
}

// pose sends the pose of the vehicle: x east, y north, z up.
func (m *MAVLink) pose(to Receiver, msg *mavlink.Message, now uint64, x, y, z float64) {
	half := (math.Pi/2 - m.yaw) / 2
	m.send(to, msg, "pose", "geometry_msgs/msg/PoseStamped", now, map[string]any{
		"header": map[string]any{"frame_id": "map"},
		"pose": map[string]any{
			"position":    map[string]any{"x": x, "y": y, "z": z},
			"orientation": map[string]any{"x": 0, "y": 0, "z": math.Sin(half), "w": math.Cos(half)},
		},
	})
}

func (m *MAVLink) send(to Receiver, msg *mavlink.Message, name, schema string, now uint64, fields map[string]any) {
	topic := fmt.Sprintf("/mavlink/%d/%s", msg.System, name)
	c := m.channels[topic]
	if c == nil {
		c = &segment.Channel{Topic: topic, SchemaName: schema, MessageEncoding: "json"}
		m.channels[topic] = c
	}
	if !to.Wants(c) {
		return
	}
	data, err := json.Marshal(fields)
	if err != nil {
		to.Problem("a message of MAVLink has numbers that are not finite", 1)
		return
	}
	to.Message(c, now, data)
}

// maxParts bounds the texts that wait for their next part.
const maxParts = 64

// text returns the whole text of a message, or false if more of it comes. A text that is shorter than its
// field has no more parts.
func (m *MAVLink) text(msg *mavlink.Message) (string, bool) {
	part, _ := msg.Fields["text"].(string)
	id := msg.Number("id")
	if id == 0 {
		return part, true
	}

	const field = 50
	key := fmt.Sprint(msg.System, msg.Component, id)
	whole := m.texts[key] + part
	if len(part) < field || len(whole) > 10*field {
		delete(m.texts, key)
		return whole, true
	}
	if len(m.texts) >= maxParts {
		clear(m.texts)
	}
	m.texts[key] = whole

	return "", false
}

// Modes by their number in custom_mode, of ArduPilot's copters and planes and of PX4's main modes.
var (
	copterModes = map[uint32]string{
		0: "STABILIZE", 1: "ACRO", 2: "ALT_HOLD", 3: "AUTO", 4: "GUIDED", 5: "LOITER", 6: "RTL", 7: "CIRCLE", 9: "LAND", 16: "POSHOLD",
		17: "BRAKE", 18: "THROW", 21: "SMART_RTL",
	}
	planeModes = map[uint32]string{
		0: "MANUAL", 1: "CIRCLE", 2: "STABILIZE", 5: "FBWA", 6: "FBWB", 7: "CRUISE", 10: "AUTO", 11: "RTL", 12: "LOITER", 15: "GUIDED",
		19: "QLOITER", 20: "QLAND", 21: "QRTL",
	}
	px4Modes = map[uint32]string{1: "MANUAL", 2: "ALTCTL", 3: "POSCTL", 4: "AUTO", 5: "ACRO", 6: "OFFBOARD", 7: "STABILIZED", 8: "RATTITUDE"}
	px4Auto  = map[uint32]string{1: "READY", 2: "TAKEOFF", 3: "LOITER", 4: "MISSION", 5: "RTL", 6: "LAND"}
)

// modeOf names the mode of a heartbeat.
func modeOf(h *mavlink.Message) string {
	const arduPilot, px4, fixedWing = 3, 12, 1
	mode, name := uint32(h.Number("custom_mode")), ""

	switch int(h.Number("autopilot")) {
	case px4:
		main, sub := mode>>16&0xff, mode>>24&0xff
		if name = px4Modes[main]; main == 4 && px4Auto[sub] != "" {
			name += "." + px4Auto[sub]
		}
	case arduPilot:
		modes := copterModes
		if h.Number("type") == fixedWing {
			modes = planeModes
		}
		name = modes[mode]
	}
	if name == "" {
		name = fmt.Sprintf("mode %d", mode)
	}

	return name
}

// utm projects degrees to metres of the zone of UTM, by the series of Krüger to the third order in n (Karney,
// Transverse Mercator with an accuracy of a few nanometers, 2011, equations 6 to 11), on WGS 84. The error is below
// a millimetre within the zone.
func utm(lat, lon float64) (easting, northing float64, zone int) {
	const (
		a, f   = 6378137.0, 1 / 298.257223563
		scale  = 0.9996
		degree = math.Pi / 180
	)
	zone = int(math.Floor((lon+180)/6))%60 + 1
	n := f / (2 - f)
	radius := a / (1 + n) * (1 + n*n/4 + n*n*n*n/64)
	alpha := [3]float64{
		n/2 - 2*n*n/3 + 5*n*n*n/16, 13*n*n/48 - 3*n*n*n/5, 61 * n * n * n / 240,
	}

	phi, lambda := lat*degree, (lon-float64(6*zone-183))*degree
	e := 2 * math.Sqrt(n) / (1 + n)
	t := math.Sinh(math.Atanh(math.Sin(phi)) - e*math.Atanh(e*math.Sin(phi)))
	xi, eta := math.Atan2(t, math.Cos(lambda)), math.Atanh(math.Sin(lambda)/math.Sqrt(1+t*t))

	x, y := eta, xi

	for j, c := range alpha {
		k := 2 * float64(j+1)
		x += c * math.Cos(k*xi) * math.Sinh(k*eta)
		y += c * math.Sin(k*xi) * math.Cosh(k*eta)
	}

	easting, northing = 500000+scale*radius*x, scale*radius*y
	if lat < 0 {
		northing += 10000000
	}

	return easting, northing, zone
}
