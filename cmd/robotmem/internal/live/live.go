// Package live has what the command attach prints, and the flags by which messages are read.
package live

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/robotmem/robotmem-go/perception/events"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/attach"
)

// Rules chooses the rules by which messages say what happened.
type Rules struct {
	Events    string `name:"events" placeholder:"FILE" help:"Recordings and robots: more rules by which messages become facts; one with the name of a built-in rule replaces it."`
	Namespace string `name:"namespace" placeholder:"NAME" help:"One robot of several, such as /r1: only its topics count, and /tf."`
	NoEvents  bool   `name:"no-events" help:"Recordings: store the messages alone, without facts, goals and outcomes."`
}

// Read returns the built-in rules with those of the file; nil without any.
func (r *Rules) Read() (*events.Rules, error) {
	switch {
	case r.NoEvents:
		return nil, nil
	case r.Events == "":
		return events.Builtin(), nil
	}

	data, err := os.ReadFile(r.Events)
	if err != nil {
		return nil, robotmem.Errorf(robotmem.Invalid, "events", "%s cannot be read: %s", r.Events, robotmem.Reason(err))
	}
	more, err := events.Parse(r.Events, data)
	if err != nil {
		return nil, robotmem.Errorf(robotmem.Invalid, "events", "%v", err)
	}

	return events.Builtin().Extend(more), nil
}

// Flags are those of the command attach.
type Flags struct {
	Robot     string             `name:"robot" placeholder:"NAME" help:"The robot, for the context of all that is stored."`
	MapID     string             `name:"map-id" placeholder:"NAME" help:"The map that poses in the frame map are of. Warnings are about the same map only."`
	Topic     []string           `name:"topic" sep:"none" placeholder:"GLOB" help:"Keep only these topics, such as /camera/*; repeatable. Rules and poses read the topics that they need anyway."`
	Exclude   []string           `name:"exclude" sep:"none" placeholder:"GLOB" help:"Do not keep these topics; repeatable."`
	Rate      map[string]float64 `name:"rate" placeholder:"GLOB=HZ" help:"Keep at most so many messages a second of a topic; repeatable."`
	Parameter []string           `name:"parameter" sep:"none" placeholder:"GLOB" help:"Parameters of the robot that stand in what happens, such as controller_server.*vel*; repeatable. Those that change while it runs do so anyway."`
	Seconds   float64            `name:"seconds" default:"60" help:"How much of the past an incident has."`
	After     float64            `name:"after" default:"10" help:"Seconds that it goes on after the last failure."`
	Ring      int                `name:"ring-mb" default:"256" help:"Megabytes of the past that are kept in memory; pictures are thinned first."`
	Pictures  float64            `name:"picture-rate" default:"2" placeholder:"HZ" help:"Pictures and point clouds a second of each topic in an incident; of the seconds around the failure all. -1 for all."`
	Record    bool               `name:"record" help:"Store everything that comes as one episode, as an import does, beside the incidents."`
	NoWarn    bool               `name:"no-warnings" help:"Store incidents, and warn of none."`
	Distance  float64            `name:"warn-distance" default:"2" help:"Metres before the place of an earlier failure at which a warning is due."`
	Ahead     float64            `name:"warn-seconds" default:"2" help:"Seconds of travel before it, if that is farther away."`
	Listen    string             `name:"listen" placeholder:"HOST:PORT" help:"Serve the warnings over HTTP: /warnings, /incidents, and /events as server-sent events. A loopback address; others in the network may read there what the robot does."`
	Insecure  bool               `name:"insecure" help:"Do not check the certificate of a wss:// server."`
	Header    map[string]string  `name:"header" placeholder:"NAME=VALUE" help:"A header of the request to the server, such as Authorization; repeatable."`
	JSON      bool               `name:"json" help:"Print a line of JSON for each warning and incident, and the counts at the end."`
}

// Options are the options of attach that the flags choose.
func (f *Flags) Options() attach.Options {
	return attach.Options{
		Robot: f.Robot, MapID: f.MapID, Topics: f.Topic, Exclude: f.Exclude, RateHz: f.Rate, Parameters: f.Parameter,
		Seconds: f.Seconds, After: f.After, Bytes: f.Ring << 20, Record: f.Record, NoWarn: f.NoWarn,
		Distance: f.Distance, Ahead: f.Ahead, PictureHz: f.Pictures,
	}
}

// Check refuses flags that mean nothing.
func (f *Flags) Check() error {
	for _, n := range []struct {
		name        string
		value       float64
		least, most float64
	}{
		{"seconds", f.Seconds, 1, 3600}, {"after", f.After, 0.1, 60}, {"ring-mb", float64(f.Ring), 1, 1 << 20},
		{"warn-distance", f.Distance, 0, 1000}, {"warn-seconds", f.Ahead, 0, 600},
	} {
		if !(n.value >= n.least && n.value <= n.most) {
			return robotmem.Errorf(robotmem.Invalid, n.name, "is %g; give %g to %g", n.value, n.least, n.most)
		}
	}

	return nil
}

// Source returns the source at an address.
func (f *Flags) Source(address string) (attach.Source, error) {
	if strings.HasPrefix(address, "mavlink:") {
		vehicle, err := attach.NewMAVLink(address)
		if err != nil {
			return nil, robotmem.Errorf(robotmem.Invalid, "url", "%v", err)
		}
		return vehicle, nil
	}

	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "ws" && u.Scheme != "wss" {
		return nil, robotmem.Errorf(robotmem.Invalid, "url", "%q is no address of a robot; one is ws://robot:8765, where foxglove_bridge listens, or mavlink:udp:0.0.0.0:14550", address)
	}

	o := attach.FoxgloveOptions{Header: http.Header{}}
	for name, value := range f.Header {
		o.Header.Set(name, value)
	}
	if f.Insecure {
		o.TLS = &tls.Config{InsecureSkipVerify: true} //nolint:gosec // asked for
	}

	return attach.NewFoxglove(address, o), nil
}

// Printer prints what happens, and hands it to the hub. Its methods may be called from several goroutines.
type Printer struct {
	Out  io.Writer
	JSON bool
	Hub  attach.Hub

	mu sync.Mutex
}

// Serve serves the hub at an address until ctx ends; nothing if the address is empty.
func (p *Printer) Serve(ctx context.Context, address string, started func(url string)) error {
	if address == "" {
		return nil
	}

	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return robotmem.Errorf(robotmem.Invalid, "listen", "%v", err)
	}

	web := &http.Server{
		Handler: &p.Hub, ReadHeaderTimeout: 10 * time.Second, BaseContext: func(net.Listener) context.Context { return ctx },
	}
	go func() { _ = web.Serve(listener) }() // ends with Close
	context.AfterFunc(ctx, func() { _ = web.Close() })
	started("http://" + listener.Addr().String())

	return nil
}

// Warning prints a warning.
func (p *Printer) Warning(w attach.Warning) {
	p.Hub.Warning(w)
	p.print("warning", w.Time, "WARNING  "+w.Text, w)
}

// Incident prints an incident that was stored.
func (p *Printer) Incident(i attach.Incident) {
	p.Hub.Incident(i)
	p.print("incident", i.Time, fmt.Sprintf("INCIDENT %s (%d messages, session %s)", i.Text, i.Messages, i.SessionID), i)
}

func (p *Printer) print(kind string, at time.Time, text string, value any) {
	p.mu.Lock()
	defer p.mu.Unlock()

	if p.JSON {
		line, err := json.Marshal(map[string]any{kind: value})
		if err == nil {
			fmt.Fprintf(p.Out, "%s\n", line)
		}
		return
	}
	fmt.Fprintf(p.Out, "%s  %s\n", at.Local().Format("15:04:05"), text)
}
