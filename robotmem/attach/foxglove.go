package attach

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/robotmem/robotmem-go/perception/segment"
	"github.com/robotmem/robotmem-go/robotmem/attach/foxglove"
)

// FoxgloveOptions configure the connection to a Foxglove WebSocket server. The zero value is enough for
// ws:// and for certificates that the system trusts.
type FoxgloveOptions struct {
	TLS        *tls.Config
	Header     http.Header // such as a token
	MaxMessage int64       // bytes; larger ones are counted and left out
}

// Foxglove is a [Source] that speaks the Foxglove WebSocket protocol, as foxglove_bridge offers it on any
// robot with ROS 1 or ROS 2.
type Foxglove struct {
	url string
	o   FoxgloveOptions

	mu         sync.Mutex
	client     *foxglove.Client               // nil without a connection
	publishers map[string]*foxglove.Publisher // by topic
}

var _ Source = (*Foxglove)(nil)

// NewFoxglove returns a source of a server, such as ws://robot:8765.
func NewFoxglove(url string, o FoxgloveOptions) *Foxglove { return &Foxglove{url: url, o: o} }

// Name implements [Source].
func (f *Foxglove) Name() string { return f.url }

// Run implements [Source].
func (f *Foxglove) Run(ctx context.Context, to Receiver) error {
	client, err := foxglove.Dial(ctx, f.url, foxglove.Options{
		TLS: f.o.TLS, Header: f.o.Header, MaxMessage: f.o.MaxMessage,
		Subscribe: func(c *foxglove.Channel) bool { return to.Wants(&c.Channel) },
		Handler: foxglove.Handler{
			Info: func(info *foxglove.ServerInfo) {
				properties := map[string]string{"name": info.Name, "session": info.SessionID}
				for key, value := range info.Metadata {
					properties[key] = value
				}
				to.Connected(properties)
			},
			Message: func(c *foxglove.Channel, logTime uint64, data []byte) { to.Message(&c.Channel, logTime, data) },
			Parameters: func(all []foxglove.Parameter) {
				parametersTo(to, all)
			},
			Status: func(s *foxglove.Status) {
				if s.Level != foxglove.LevelInfo {
					to.Problem("the robot says: "+s.Message, 1)
				}
			},
		},
	})
	if err != nil {
		return err
	}

	f.set(client)
	defer f.set(nil)
	defer func() { _ = client.Close() }()

	// Parameters are asked for beside the reading, which hands on the answer. A server without them says so.
	// The receiver hears nothing more once Run has returned.
	asking, stop := context.WithCancel(ctx)

	var asked sync.WaitGroup
	asked.Go(func() {
		if all, err := client.GetParameters(asking); err == nil {
			parametersTo(to, all)
			_ = client.SubscribeParameters() // without the capability the first values count
		}
	})

	defer func() {
		stop()
		asked.Wait()
	}()

	err = client.Run(ctx)
	for reason, p := range client.Problems() {
		to.Problem(string(reason), p.Count)
	}

	return err
}

// parametersTo hands on parameters. Those of ROS 2 are called /node.name.
func parametersTo(to Receiver, all []foxglove.Parameter) {
	for i := range all {
		name := strings.ReplaceAll(strings.TrimPrefix(all[i].Name, "/"), "/", ".")
		if all[i].Value != nil && name != "" {
			to.Parameter(name, all[i].Value)
		}
	}
}

func (f *Foxglove) set(client *foxglove.Client) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.client, f.publishers = client, map[string]*foxglove.Publisher{}
}

// Publish implements [Source]. To a topic of std_msgs/String the message is sent as its data, so that a
// bridge of ROS takes it.
func (f *Foxglove) Publish(_ context.Context, topic, schema string, message []byte) error {
	f.mu.Lock()
	defer f.mu.Unlock()

	if f.client == nil || !slices.Contains(f.client.Info().Capabilities, foxglove.CapabilityClientPublish) {
		return ErrNoPublish
	}

	p := f.publishers[topic]
	if p == nil {
		var err error
		p, err = f.client.Advertise(&segment.Channel{Topic: topic, SchemaName: schema, MessageEncoding: "json"})
		if err != nil {
			return err
		}
		f.publishers[topic] = p
	}

	if schema == textSchema {
		text, err := json.Marshal(map[string]string{"data": string(message)})
		if err != nil {
			return err
		}
		message = text
	}

	return p.Publish(message)
}

// textSchema is the type of messages that are a text.
const textSchema = "std_msgs/msg/String"
