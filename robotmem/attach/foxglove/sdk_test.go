package foxglove_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/foxglove/mcap/go/mcap"
	"github.com/google/go-cmp/cmp"

	"github.com/robotmem/robotmem-go/perception/segment"
	"github.com/robotmem/robotmem-go/robotmem/attach/foxglove"
)

// event is something that a handler was called with.
type event struct {
	kind    string
	channel *foxglove.Channel
	time    uint64
	data    []byte
	value   any
}

// events returns a handler that sends all it is called with to a channel.
func events(to chan<- event) foxglove.Handler {
	each := func(kind string) func([]*foxglove.Channel) {
		return func(channels []*foxglove.Channel) {
			for _, c := range channels {
				to <- event{kind: kind, channel: c}
			}
		}
	}

	return foxglove.Handler{
		Info:         func(i *foxglove.ServerInfo) { to <- event{kind: "info", value: i} },
		Advertised:   each("advertised"),
		Unadvertised: each("unadvertised"),
		Message: func(c *foxglove.Channel, ns uint64, data []byte) {
			to <- event{kind: "message", channel: c, time: ns, data: data}
		},
		Parameters:    func(p []foxglove.Parameter) { to <- event{kind: "parameters", value: p} },
		Time:          func(ns uint64) { to <- event{kind: "time", time: ns} },
		Status:        func(s *foxglove.Status) { to <- event{kind: "status", value: s} },
		StatusRemoved: func(ids []string) { to <- event{kind: "removed", value: ids} },
		Playback:      func(s *foxglove.PlaybackState) { to <- event{kind: "playback", value: s} },
	}
}

// connected is a client that runs until the test ends.
type connected struct {
	*foxglove.Client
	t      testing.TB
	events chan event
	ended  chan error
}

func everything(*foxglove.Channel) bool { return true }

func connect(t testing.TB, address string, o foxglove.Options) *connected {
	t.Helper()
	to := make(chan event, 100_000)
	o.Handler = events(to)
	if o.Subscribe == nil {
		o.Subscribe = everything
	}
	c, err := foxglove.Dial(t.Context(), address, o)
	if err != nil {
		t.Fatal(err)
	}
	client := &connected{c, t, to, make(chan error, 1)}
	go func() {
		client.ended <- c.Run(context.WithoutCancel(t.Context()))
		close(to)
	}()
	t.Cleanup(func() {
		c.Close()
		for range to { // the end of Run
		}
	})

	return client
}

// await returns the next event of a kind.
func (c *connected) await(kind string) event {
	c.t.Helper()
	deadline := time.After(patience)
	for {
		select {
		case e, ok := <-c.events:
			if !ok {
				c.t.Fatalf("the connection has ended, and no %s came", kind)
			}
			if e.kind == kind {
				return e
			}
		case <-deadline:
			c.t.Fatalf("no %s comes. Problems: %v", kind, c.Problems())
		}
	}
}

func address(p *program) string { return fmt.Sprintf("ws://127.0.0.1:%d", p.await("ready").Port) }

func TestEveryMessageOfTheSDKArrives(t *testing.T) {
	path := shared(t, "recordings/nav_failures.mcap")
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := mcap.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	messages, err := r.Messages(mcap.UsingIndex(false), mcap.InOrder(mcap.FileOrder))
	if err != nil {
		t.Fatal(err)
	}

	c := connect(t, address(start(t, "sdk_server.py", "--mcap", path)), foxglove.Options{})
	count := map[string]int{}
	for {
		schema, channel, m, err := messages.NextInto(nil)
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		want := segment.Channel{
			Topic: channel.Topic, MessageEncoding: channel.MessageEncoding,
			SchemaName: schema.Name, SchemaEncoding: schema.Encoding, SchemaData: schema.Data,
		}

		e := c.await("message")
		if diff := cmp.Diff(want, e.channel.Channel); diff != "" {
			t.Fatalf("the channel (-want +got):\n%s", diff)
		}
		if e.time != m.LogTime || string(e.data) != string(m.Data) {
			t.Fatalf("message %d of %s: got %d bytes of time %d, want %d of %d", count[channel.Topic], channel.Topic, len(e.data), e.time, len(m.Data), m.LogTime)
		}
		count[channel.Topic]++
	}

	t.Logf("%v", count)
	if len(count) < 5 {
		t.Errorf("got only the topics %v", count)
	}
	if got := c.Problems(); len(got) != 0 {
		t.Errorf("got the problems %v", got)
	}
}

func TestTheSDKSaysWhatItIs(t *testing.T) {
	c := connect(t, address(start(t, "sdk_server.py")), foxglove.Options{})
	want := &foxglove.ServerInfo{
		Name: "sdk", SessionID: "one", SupportedEncodings: []string{"json", "cdr"},
		Capabilities: []foxglove.Capability{
			foxglove.CapabilityClientPublish, foxglove.CapabilityParameters, foxglove.CapabilityParametersSubscribe,
			foxglove.CapabilityTime, foxglove.CapabilityPlaybackControl,
		},
		Playback: &foxglove.Range{Start: 1_500_000_000_123_456_789, End: 1_600_000_000_000_000_001},
		Metadata: map[string]string{"fg-library": "foxglove-sdk-python/0.30.3"},
	}
	got := c.await("info").value.(*foxglove.ServerInfo)
	byName := cmp.Transformer("set", func(all []foxglove.Capability) map[foxglove.Capability]bool {
		set := map[foxglove.Capability]bool{}
		for _, c := range all {
			set[c] = true
		}

		return set
	})
	if diff := cmp.Diff(want, got, byName); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if c.Subprotocol() != foxglove.SubprotocolSDK {
		t.Errorf("got the subprotocol %q", c.Subprotocol())
	}
}

func TestTheSDKIsHeard(t *testing.T) {
	server := start(t, "sdk_server.py")
	c := connect(t, address(server), foxglove.Options{})
	c.await("info")
	// The SDK says what it is before it counts the client among those that it broadcasts to.
	if _, err := c.GetParameters(t.Context()); err != nil {
		t.Fatal(err)
	}

	server.tell("time")
	if got := c.await("time").time; got != 1_700_000_000_000_000_001 {
		t.Errorf("got the time %d", got)
	}
	server.tell("status")
	if diff := cmp.Diff(&foxglove.Status{Level: foxglove.LevelWarning, Message: "the battery is low", ID: "battery"}, c.await("status").value); diff != "" {
		t.Errorf("the status (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"battery"}, c.await("removed").value); diff != "" {
		t.Errorf("the ids of statuses (-want +got):\n%s", diff)
	}
	server.tell("session")
	if got := c.await("info").value.(*foxglove.ServerInfo).SessionID; got != "two" {
		t.Errorf("got the session %q", got)
	}
	if got := c.Problems(); len(got) != 0 {
		t.Errorf("got the problems %v", got)
	}
}

// The SDK refuses a subscription that comes too early, and sends the end of a channel before its messages.
func TestChannelsOfTheSDKThatEndAtOnce(t *testing.T) {
	server := start(t, "sdk_server.py")
	c := connect(t, address(server), foxglove.Options{})
	server.tell("again")
	for n := range uint64(50) {
		if got := c.await("message"); got.channel.Topic != "/again" || got.time != n || string(got.data) != fmt.Sprintf(`{"n": %d}`, n) {
			t.Errorf("got %+v, %s", got, got.data)
		}
	}
	if got := c.Problems(); len(got) != 0 {
		t.Errorf("got the problems %v", got)
	}
}

func TestTheSDKTakesMessages(t *testing.T) {
	server := start(t, "sdk_server.py")
	c := connect(t, address(server), foxglove.Options{})
	p, err := c.Advertise(&segment.Channel{
		Topic: "/robotmem/warning", MessageEncoding: "json",
		SchemaName: "Warning", SchemaEncoding: "jsonschema", SchemaData: []byte(`{"type":"object"}`),
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Publish([]byte(`{"text":"the floor is wet"}`)); err != nil {
		t.Fatal(err)
	}

	got := server.await("advertise")
	want := said{What: "advertise", Topic: "/robotmem/warning", Encoding: "json", Schema: "Warning", SchemaEncoding: "jsonschema", Definition: `{"type":"object"}`}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the channel (-want +got):\n%s", diff)
	}
	if got := server.await("data").Data; got != hex.EncodeToString([]byte(`{"text":"the floor is wet"}`)) {
		t.Errorf("got the data %s", got)
	}
	if err := p.Unadvertise(); err != nil {
		t.Fatal(err)
	}
	server.await("unadvertise")

	cdr, err := c.Advertise(&segment.Channel{
		Topic: "/cmd", MessageEncoding: "cdr",
		SchemaName: "std_msgs/msg/String", SchemaEncoding: "ros2msg", SchemaData: []byte("string data"),
	})
	if err != nil {
		t.Fatal(err)
	}
	message := []byte{0, 1, 0, 0, 3, 0, 0, 0, 'h', 'i', 0}
	if err := cdr.Publish(message); err != nil {
		t.Fatal(err)
	}
	if got := server.await("data").Data; got != hex.EncodeToString(message) {
		t.Errorf("got the data %s", got)
	}

	_, err = c.Advertise(&segment.Channel{Topic: "/p", MessageEncoding: "protobuf"})
	if err == nil || !strings.Contains(err.Error(), "takes messages as json, cdr") {
		t.Errorf("got %v", err)
	}
}

func TestCapabilitiesThatTheSDKLacks(t *testing.T) {
	c := connect(t, address(start(t, "sdk_server.py", "--plain")), foxglove.Options{})
	_, publish := c.Advertise(&segment.Channel{Topic: "/x", MessageEncoding: "json"})
	_, get := c.GetParameters(t.Context())
	for _, err := range []error{publish, get, c.SubscribeParameters(), c.RequestPlayback(&foxglove.PlaybackRequest{})} {
		if err == nil || !strings.Contains(err.Error(), "does not have the capability") {
			t.Errorf("got %v", err)
		}
	}
}

func TestParametersOfTheSDK(t *testing.T) {
	server := start(t, "sdk_server.py")
	c := connect(t, address(server), foxglove.Options{})
	got, err := c.GetParameters(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := []foxglove.Parameter{
		{Name: "speed", Type: "float64", Value: []byte("1.5")},
		{Name: "name", Value: []byte(`"arm"`)},
		{Name: "key", Type: "byte_array", Value: []byte(`"AP8="`)},
		{Name: "path", Type: "float64_array", Value: []byte("[1.0,2.0]")},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("all (-want +got):\n%s", diff)
	}

	if _, err := c.SetParameters(t.Context(), []foxglove.Parameter{{Name: "name", Value: []byte(`"leg"`)}}); err != nil {
		t.Fatal(err)
	}
	got, err = c.GetParameters(t.Context(), "name")
	if diff := cmp.Diff([]foxglove.Parameter{{Name: "name", Value: []byte(`"leg"`)}}, got); err != nil || diff != "" {
		t.Errorf("one: %v (-want +got):\n%s", err, diff)
	}

	if err := c.SubscribeParameters("speed"); err != nil {
		t.Fatal(err)
	}
	// An answer comes after what was sent before it was read.
	if _, err := c.GetParameters(t.Context(), "none"); err != nil {
		t.Fatal(err)
	}
	server.tell("parameter")
	if diff := cmp.Diff([]foxglove.Parameter{{Name: "speed", Type: "float64", Value: []byte("2.5")}}, c.await("parameters").value); diff != "" {
		t.Errorf("changed (-want +got):\n%s", diff)
	}
}

func TestPlaybackOfTheSDK(t *testing.T) {
	server := start(t, "sdk_server.py")
	c := connect(t, address(server), foxglove.Options{})
	seek := uint64(1_550_000_000_000_000_003)
	if err := c.RequestPlayback(&foxglove.PlaybackRequest{Command: foxglove.Pause, Speed: 2.5, SeekTime: &seek, ID: "a"}); err != nil {
		t.Fatal(err)
	}
	asked := server.await("playback")
	if diff := cmp.Diff(said{What: "playback", Command: "PlaybackCommand.Pause", Speed: 2.5, Seek: &seek, ID: "a"}, asked); diff != "" {
		t.Errorf("the request (-want +got):\n%s", diff)
	}
	want := &foxglove.PlaybackState{Status: foxglove.Playing, Time: seek, Speed: 2.5, DidSeek: true, RequestID: "a"}
	if diff := cmp.Diff(want, c.await("playback").value); diff != "" {
		t.Errorf("the answer (-want +got):\n%s", diff)
	}

	server.tell("ended")
	want = &foxglove.PlaybackState{Status: foxglove.Ended, Time: 9, Speed: 1}
	if diff := cmp.Diff(want, c.await("playback").value); diff != "" {
		t.Errorf("the end (-want +got):\n%s", diff)
	}
}

// selfSigned writes a certificate and its key, and returns a pool with it.
func selfSigned(t *testing.T) (certificate, key string, pool *x509.CertPool) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		DNSNames: []string{"localhost"}, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	if err != nil {
		t.Fatal(err)
	}
	pkcs8, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}

	certificate, key = filepath.Join(t.TempDir(), "cert.pem"), filepath.Join(t.TempDir(), "key.pem")
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	if err := os.WriteFile(certificate, text, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(key, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: pkcs8}), 0o600); err != nil {
		t.Fatal(err)
	}
	pool = x509.NewCertPool()
	pool.AppendCertsFromPEM(text)

	return certificate, key, pool
}

func TestTheSDKWithTLS(t *testing.T) {
	certificate, key, pool := selfSigned(t)
	plain := address(start(t, "sdk_server.py", "--cert", certificate, "--key", key))
	secret := "wss" + strings.TrimPrefix(plain, "ws")

	c := connect(t, secret, foxglove.Options{TLS: &tls.Config{RootCAs: pool}})
	if got := c.await("info").value.(*foxglove.ServerInfo).Name; got != "sdk" {
		t.Errorf("got the name %q", got)
	}

	for address, want := range map[string]string{secret: "is not trusted", plain: "wss://"} {
		_, err := foxglove.Dial(t.Context(), address, foxglove.Options{})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", address, err, want)
		}
	}
}

// The load of a robot: 1 kHz of small messages and 30 pictures of 100 KB a second.
func TestNothingOfTheSDKIsDropped(t *testing.T) {
	seconds := os.Getenv("ROBOTMEM_FOXGLOVE_SECONDS")
	if seconds == "" {
		seconds = "2"
	}
	server := start(t, "sdk_server.py", "--load", seconds)

	var small, large, gaps, bytes atomic.Int64
	all := make(chan struct{}, 1)
	var want atomic.Int64
	c, err := foxglove.Dial(t.Context(), address(server), foxglove.Options{
		Subscribe: everything,
		Handler: foxglove.Handler{Message: func(c *foxglove.Channel, ns uint64, data []byte) {
			of := &small
			if c.Topic == "/camera" {
				of = &large
			}
			if of.Add(1)-1 != int64(ns) {
				gaps.Add(1)
			}
			bytes.Add(int64(len(data)))
			if n := want.Load(); n > 0 && small.Load()+large.Load() == n {
				all <- struct{}{}
			}
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- c.Run(t.Context()) }()

	var line said
	select {
	case line = <-server.lines:
	case <-time.After(5 * time.Minute):
		t.Fatal("the server does not end")
	}
	want.Store(int64(line.Messages))
	for range 100 {
		if small.Load()+large.Load() == int64(line.Messages) {
			break
		}
		select {
		case <-all:
		case <-time.After(50 * time.Millisecond):
		}
	}
	c.Close()
	<-ended

	t.Logf("%d of %d messages, %d gaps, %.1f MB in %s s", small.Load()+large.Load(), line.Messages, gaps.Load(), float64(bytes.Load())/1e6, seconds)
	if small.Load()+large.Load() != int64(line.Messages) || gaps.Load() != 0 {
		t.Errorf("got %d and %d of %d messages, with %d gaps", small.Load(), large.Load(), line.Messages, gaps.Load())
	}
}
