package foxglove_test

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/google/go-cmp/cmp"

	"github.com/robotmem/robotmem-go/perception/segment"
	"github.com/robotmem/robotmem-go/robotmem/attach/foxglove"
)

// serve starts a server, and returns its address.
func serve(t testing.TB, o foxglove.ServerOptions) (*foxglove.Server, string) {
	t.Helper()
	s := foxglove.NewServer(o)
	h := httptest.NewServer(s)
	t.Cleanup(func() {
		s.Close()
		h.Close()
	})

	return s, "ws" + strings.TrimPrefix(h.URL, "http")
}

func channel(id uint64, topic string) *foxglove.Channel {
	return &foxglove.Channel{ID: id, Channel: segment.Channel{Topic: topic, MessageEncoding: "json"}}
}

// subscriptions returns a channel of what clients subscribe to, and the handler.
func subscriptions(h foxglove.ServerHandler) (<-chan string, foxglove.ServerHandler) {
	to := make(chan string, 10_000)
	h.Subscribed = func(id foxglove.ClientID, c *foxglove.Channel) { to <- fmt.Sprint("+", c.Topic) }
	h.Unsubscribed = func(id foxglove.ClientID, c *foxglove.Channel) { to <- fmt.Sprint("-", c.Topic) }

	return to, h
}

func TestEveryMessageArrivesInOrder(t *testing.T) {
	to, h := subscriptions(foxglove.ServerHandler{})
	s, address := serve(t, foxglove.ServerOptions{Handler: h, Backlog: 10_000})
	channels := []*foxglove.Channel{
		{ID: 1, Channel: segment.Channel{Topic: "/ros", MessageEncoding: "cdr", SchemaName: "std_msgs/msg/String", SchemaEncoding: "ros2msg", SchemaData: []byte("string data\n")}},
		{ID: 1 << 53, Channel: segment.Channel{Topic: "/proto", MessageEncoding: "protobuf", SchemaName: "x.Y", SchemaEncoding: "protobuf", SchemaData: []byte{0, 255, 1}}},
		{ID: 3, Channel: segment.Channel{Topic: "/plain \"é\x7f", MessageEncoding: "json"}},
	}
	if err := s.Advertise(channels...); err != nil {
		t.Fatal(err)
	}
	c := connect(t, address, foxglove.Options{})
	for _, want := range []*foxglove.Channel{channels[0], channels[2], channels[1]} { // by id
		if diff := cmp.Diff(want, c.await("advertised").channel); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		next(t, to)
	}

	for n := range 3000 {
		if err := s.Publish(channels[n%3].ID, uint64(n), fmt.Append(nil, n)); err != nil {
			t.Fatal(err)
		}
	}
	for n := range 3000 {
		if e := c.await("message"); e.time != uint64(n) || string(e.data) != fmt.Sprint(n) || e.channel.Topic != channels[n%3].Topic {
			t.Fatalf("message %d: got %+v", n, e)
		}
	}
	if got := s.Stats(); got.Sent != 3000 || got.Dropped != 0 || len(got.Clients) != 1 || got.Clients[0].Subscriptions != 3 {
		t.Errorf("got %+v", got)
	}
}

func TestChannelsOfAServerChange(t *testing.T) {
	to, h := subscriptions(foxglove.ServerHandler{})
	s, address := serve(t, foxglove.ServerOptions{Handler: h})
	c := connect(t, address, foxglove.Options{})
	c.await("info")
	var got []string
	do := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}

	do(s.Advertise(channel(1, "/a")))
	got = append(got, next(t, to))
	do(s.Advertise(channel(1, "/b")))
	got = append(got, next(t, to), next(t, to))
	do(s.Publish(1, 1, []byte("b")))
	s.Unadvertise(1, 77)
	got = append(got, next(t, to))
	if err := s.Publish(1, 1, nil); err == nil {
		t.Error("a message of no channel is published")
	}
	do(s.Advertise(channel(1, "/c")))
	got = append(got, next(t, to))
	if diff := cmp.Diff([]string{"+/a", "-/a", "+/b", "-/b", "+/c"}, got); diff != "" {
		t.Errorf("subscriptions (-want +got):\n%s", diff)
	}
	if e := c.await("message"); e.channel.Topic != "/b" {
		t.Errorf("got a message of %s", e.channel.Topic)
	}
	if got := s.Problems(); len(got) != 0 {
		t.Errorf("got the problems %v", got)
	}
}

func TestChannelsThatAServerRefuses(t *testing.T) {
	s, _ := serve(t, foxglove.ServerOptions{})
	text := channel(1, "/a")
	text.SchemaEncoding, text.SchemaData = "ros2msg", []byte{0xff}
	large := channel(2, "/b")
	large.SchemaData = make([]byte, 65<<20)
	many := make([]*foxglove.Channel, 20_001)
	for n := range many {
		many[n] = channel(uint64(n), "/x")
	}
	for name, c := range map[string][]*foxglove.Channel{
		"no topic": {channel(1, "")}, "twice": {channel(1, "/a"), channel(1, "/b")}, "no text": {text}, "too large": {large}, "too many": many,
	} {
		if err := s.Advertise(c...); err == nil {
			t.Errorf("%s: got no error", name)
		}
	}
	if err := s.Publish(1, 1, nil); err == nil {
		t.Error("a part of what was refused is advertised")
	}
}

func TestTheLastMessageIsLatched(t *testing.T) {
	s, address := serve(t, foxglove.ServerOptions{Latch: true})
	if err := s.Advertise(channel(1, "/map"), channel(2, "/none")); err != nil {
		t.Fatal(err)
	}
	b := []byte("old")
	for ns, text := range []string{"old", "new"} {
		copy(b, text)
		if err := s.Publish(1, uint64(ns), b); err != nil {
			t.Fatal(err)
		}
	}
	copy(b, "xxx")
	c := connect(t, address, foxglove.Options{})
	if e := c.await("message"); e.time != 1 || string(e.data) != "new" || e.channel.Topic != "/map" {
		t.Errorf("got %+v", e)
	}
}

func TestASlowClientLosesTheOldestAlone(t *testing.T) {
	to, h := subscriptions(foxglove.ServerHandler{})
	s, address := serve(t, foxglove.ServerOptions{Handler: h, Backlog: 8})
	if err := s.Advertise(channel(1, "/a")); err != nil {
		t.Fatal(err)
	}
	slow, _, err := websocket.Dial(t.Context(), address, &websocket.DialOptions{Subprotocols: []string{foxglove.SubprotocolSDK}})
	if err != nil {
		t.Fatal(err)
	}
	defer slow.CloseNow()
	slow.SetReadLimit(-1)
	if err := slow.Write(t.Context(), websocket.MessageText, []byte(`{"op":"subscribe","subscriptions":[{"id":5,"channelId":1}]}`)); err != nil {
		t.Fatal(err)
	}
	next(t, to)
	fast := connect(t, address, foxglove.Options{})
	next(t, to)

	const messages = 100
	for n := range messages {
		if err := s.Publish(1, uint64(n), make([]byte, 1<<20)); err != nil {
			t.Fatal(err)
		}
		if e := fast.await("message"); e.time != uint64(n) {
			t.Fatalf("the fast client got message %d, not %d", e.time, n)
		}
	}

	// The slow one now reads what is left, up to the last.
	got, last := 0, -1
	for last < messages-1 {
		kind, b, err := slow.Read(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if kind == websocket.MessageBinary {
			got++
			if at := int(b[5]); at <= last || b[1] != 5 {
				t.Errorf("message %d of %d comes after %d", at, b[1], last)
			} else {
				last = at
			}
		}
	}
	stats := s.Stats()
	if dropped := stats.Clients[0].Dropped; got == messages || uint64(got)+dropped != messages || stats.Clients[1].Dropped != 0 || stats.Dropped != dropped {
		t.Errorf("got %d messages, and %+v", got, stats)
	}
}

func TestPagesThatMayConnect(t *testing.T) {
	_, usual := serve(t, foxglove.ServerOptions{})
	_, own := serve(t, foxglove.ServerOptions{Origins: []string{"https://*.example.com", "[", "http://robot:*"}})
	_, none := serve(t, foxglove.ServerOptions{Origins: []string{}})
	_, all := serve(t, foxglove.ServerOptions{Origins: []string{"*"}})
	for _, c := range []struct {
		address, origin string
		want            int
	}{
		{usual, "", 101}, {usual, "https://app.foxglove.dev", 101}, {usual, "http://localhost:8080", 101}, {usual, "http://[::1]:8080", 101},
		{usual, "file://", 101}, {usual, "HTTPS://app.Foxglove.dev", 101},
		{usual, "null", 403}, {usual, "https://evil.example", 403}, {usual, "https://app.foxglove.dev.evil.example", 403},
		{usual, "http://localhost.evil.example", 403}, {usual, "http://localhost:1@evil.example", 403}, {usual, "http" + strings.TrimPrefix(usual, "ws"), 101},
		{usual, "http://192.0.2.1:8765", 403},
		{own, "https://a.example.com", 101}, {own, "http://robot:1", 101}, {own, "https://app.foxglove.dev", 403}, {own, "https://example.com", 403},
		{none, "", 101}, {none, "http://localhost", 403}, {all, "https://evil.example", 101},
		{usual, "http://localhost:x.evil.example", 403}, {usual, "%", 403},
	} {
		conn, response, err := websocket.Dial(t.Context(), c.address, &websocket.DialOptions{
			Subprotocols: []string{foxglove.SubprotocolSDK}, HTTPHeader: http.Header{"Origin": {c.origin}}, Host: "evil.example",
		})
		if c.origin == "" {
			if err == nil {
				conn.CloseNow()
			}
			conn, response, err = websocket.Dial(t.Context(), c.address, &websocket.DialOptions{Subprotocols: []string{foxglove.SubprotocolSDK}})
		}
		if response == nil || response.StatusCode != c.want {
			t.Errorf("%q: got %v, want %d", c.origin, err, c.want)
		}
		if err == nil {
			conn.CloseNow()
		}
	}
}

func TestRequestsThatAreNoClients(t *testing.T) {
	_, address := serve(t, foxglove.ServerOptions{MaxClients: 1})
	r, err := http.Get("http" + strings.TrimPrefix(address, "ws"))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	if text, _ := io.ReadAll(r.Body); r.StatusCode != http.StatusUpgradeRequired || !strings.Contains(string(text), "to "+address) {
		t.Errorf("a browser: got %s, %s", r.Status, text)
	}

	for _, names := range [][]string{nil, {"foxglove.websocket.v0"}} {
		if _, r, err := websocket.Dial(t.Context(), address, &websocket.DialOptions{Subprotocols: names}); err == nil || r.StatusCode != http.StatusBadRequest {
			t.Errorf("subprotocols %v: got %v", names, err)
		}
	}

	first := connect(t, address, foxglove.Options{})
	if _, err := foxglove.Dial(t.Context(), address, foxglove.Options{}); err == nil || !strings.Contains(err.Error(), "503") {
		t.Errorf("one too many: got %v", err)
	}
	first.Close()
	deadline := time.Now().Add(patience)
	for {
		c, err := foxglove.Dial(t.Context(), address, foxglove.Options{})
		if err == nil {
			c.Close()
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("after one has left: %v", err)
		}
	}
}

func TestClientsPublish(t *testing.T) {
	to := make(chan string, 10)
	_, address := serve(t, foxglove.ServerOptions{
		Capabilities: []foxglove.Capability{foxglove.CapabilityClientPublish}, SupportedEncodings: []string{"json"},
		Handler: foxglove.ServerHandler{
			Advertised: func(id foxglove.ClientID, c *foxglove.Channel) {
				to <- fmt.Sprint("+", c.Topic, c.SchemaName, string(c.SchemaData))
			},
			Unadvertised: func(id foxglove.ClientID, c *foxglove.Channel) { to <- "-" + c.Topic },
			Message:      func(id foxglove.ClientID, c *foxglove.Channel, data []byte) { to <- c.Topic + string(data) },
		},
	})
	c := connect(t, address, foxglove.Options{})
	var publishers []*foxglove.Publisher
	for _, topic := range []string{"/a", "/b"} {
		p, err := c.Advertise(&segment.Channel{Topic: topic, MessageEncoding: "json", SchemaName: "S", SchemaEncoding: "jsonschema", SchemaData: []byte("{}")})
		if err != nil {
			t.Fatal(err)
		}
		publishers = append(publishers, p)
	}
	if err := publishers[1].Publish([]byte("1")); err != nil {
		t.Fatal(err)
	}
	if err := publishers[0].Unadvertise(); err != nil {
		t.Fatal(err)
	}
	if err := publishers[0].Unadvertise(); err == nil {
		t.Error("a channel ends twice")
	}
	var got []string
	for range 4 {
		got = append(got, next(t, to))
	}
	c.Close()
	got = append(got, next(t, to)) // of a client that has left
	if diff := cmp.Diff([]string{"+/aS{}", "+/bS{}", "/b1", "-/a", "-/b"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if err := publishers[1].Publish(nil); err == nil {
		t.Error("a message is published after the end")
	}
}

func TestParametersOfAServer(t *testing.T) {
	values := map[string]string{"a": "1", "b": `"x"`}
	s, address := serve(t, foxglove.ServerOptions{
		Capabilities: []foxglove.Capability{foxglove.CapabilityParameters},
		Handler: foxglove.ServerHandler{
			GetParameters: func(names []string) (found []foxglove.Parameter) {
				for _, n := range names {
					if values[n] != "" {
						found = append(found, foxglove.Parameter{Name: n, Value: []byte(values[n])})
					}
				}
				return found
			},
			SetParameters: func(p []foxglove.Parameter) []foxglove.Parameter {
				for _, each := range p {
					values[each.Name] = string(each.Value)
				}
				return p
			},
		},
	})
	c, other := connect(t, address, foxglove.Options{}), connect(t, address, foxglove.Options{})
	if err := other.SubscribeParameters("b"); err != nil {
		t.Fatal(err)
	}
	if _, err := other.GetParameters(t.Context()); err != nil { // the subscription has been read
		t.Fatal(err)
	}

	got, err := c.GetParameters(t.Context(), "b", "none")
	if diff := cmp.Diff([]foxglove.Parameter{{Name: "b", Value: []byte(`"x"`)}}, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	want := []foxglove.Parameter{{Name: "b", Type: "float64", Value: []byte("2.5")}, {Name: "c"}}
	got, err = c.SetParameters(t.Context(), want)
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	if diff := cmp.Diff(want[:1], other.await("parameters").value); diff != "" {
		t.Errorf("the other (-want +got):\n%s", diff)
	}

	if err := other.UnsubscribeParameters(); err != nil {
		t.Fatal(err)
	}
	if err := other.SubscribeParameters(); err != nil { // to all
		t.Fatal(err)
	}
	if _, err := other.GetParameters(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := s.PublishParameters(want); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, other.await("parameters").value); diff != "" {
		t.Errorf("all (-want +got):\n%s", diff)
	}
	if err := s.PublishParameters([]foxglove.Parameter{{Name: "x", Value: []byte("{")}}); err == nil {
		t.Error("a value that is not JSON is sent")
	}
}

func TestPlaybackOfAServer(t *testing.T) {
	span := &foxglove.Range{Start: 1_500_000_000_123_456_789, End: 1_600_000_000_000_000_001}
	s, address := serve(t, foxglove.ServerOptions{
		Playback: span, Capabilities: []foxglove.Capability{foxglove.CapabilityTime},
		Handler: foxglove.ServerHandler{Playback: func(r *foxglove.PlaybackRequest) *foxglove.PlaybackState {
			if r.SeekTime == nil {
				return nil
			}
			return &foxglove.PlaybackState{Status: foxglove.Paused, Time: *r.SeekTime, Speed: r.Speed, DidSeek: true}
		}},
	})
	c := connect(t, address, foxglove.Options{})
	if diff := cmp.Diff(span, c.Info().Playback); diff != "" {
		t.Errorf("the span (-want +got):\n%s", diff)
	}

	seek := span.Start + 1
	for _, r := range []*foxglove.PlaybackRequest{{Speed: 1, ID: "ignored"}, {Command: foxglove.Pause, Speed: 0.5, SeekTime: &seek, ID: "q"}} {
		if err := c.RequestPlayback(r); err != nil {
			t.Fatal(err)
		}
	}
	want := &foxglove.PlaybackState{Status: foxglove.Paused, Time: seek, Speed: 0.5, DidSeek: true, RequestID: "q"}
	if diff := cmp.Diff(want, c.await("playback").value); diff != "" {
		t.Errorf("the answer (-want +got):\n%s", diff)
	}

	later := connect(t, address, foxglove.Options{})
	want.DidSeek, want.RequestID = false, ""
	if diff := cmp.Diff(want, later.await("playback").value); diff != "" {
		t.Errorf("a later client (-want +got):\n%s", diff)
	}
	if err := s.PublishTime(seek); err != nil {
		t.Fatal(err)
	}
	if got := later.await("time").time; got != seek {
		t.Errorf("got the time %d", got)
	}
	s.PublishStatus(&foxglove.Status{Level: foxglove.LevelError, Message: "x", ID: "y"})
	s.RemoveStatus("y")
	if diff := cmp.Diff(&foxglove.Status{Level: foxglove.LevelError, Message: "x", ID: "y"}, c.await("status").value); diff != "" {
		t.Errorf("the status (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"y"}, c.await("removed").value); diff != "" {
		t.Errorf("the end of it (-want +got):\n%s", diff)
	}

	plain, _ := serve(t, foxglove.ServerOptions{})
	if plain.PublishTime(1) == nil || plain.PublishPlayback(want) == nil {
		t.Error("a server does what it has no capability for")
	}
}

func TestMalformedRequestsAreRefused(t *testing.T) {
	all := []foxglove.Capability{foxglove.CapabilityClientPublish, foxglove.CapabilityParameters, foxglove.CapabilityPlaybackControl}
	for name, c := range map[string]struct {
		message      any
		capabilities []foxglove.Capability
		want         foxglove.Reason
	}{
		"no JSON":            {"{", nil, foxglove.BadJSON},
		"an unknown op":      {`{"op":"dance"}`, nil, foxglove.UnknownOp},
		"an unknown opcode":  {[]byte{9}, nil, foxglove.UnknownOpcode},
		"empty":              {[]byte{}, nil, foxglove.Truncated},
		"too large":          {make([]byte, 2000), nil, foxglove.TooLarge},
		"an unknown channel": {`{"op":"subscribe","subscriptions":[{"id":1,"channelId":9}]}`, nil, foxglove.UnknownChannel},
		"no channel":         {`{"op":"subscribe","subscriptions":[{"id":1}]}`, nil, foxglove.BadSubscription},
		"a large id":         {`{"op":"subscribe","subscriptions":[{"id":4294967296,"channelId":1}]}`, nil, foxglove.BadSubscription},
		"an id twice":        {`{"op":"subscribe","subscriptions":[{"id":1,"channelId":1},{"id":1,"channelId":2}]}`, nil, foxglove.BadSubscription},
		"a channel twice":    {`{"op":"subscribe","subscriptions":[{"id":1,"channelId":1},{"id":2,"channelId":1}]}`, nil, foxglove.BadSubscription},
		"no list":            {`{"op":"unsubscribe","subscriptionIds":7}`, nil, foxglove.BadJSON},
		"no ids":             {`{"op":"unsubscribe","subscriptionIds":["x"]}`, nil, foxglove.BadSubscription},
		"no publishing":      {`{"op":"advertise","channels":[]}`, nil, foxglove.NotSupported},
		"no messages":        {[]byte{1, 0, 0, 0, 0}, nil, foxglove.NotSupported},
		"no parameters":      {`{"op":"getParameters","parameterNames":[]}`, nil, foxglove.NotSupported},
		"no playback":        {[]byte{3}, nil, foxglove.NotSupported},
		"no services":        {[]byte{2}, all, foxglove.NotSupported},
		"no assets":          {`{"op":"fetchAsset","uri":"x","requestId":1}`, all, foxglove.NotSupported},
		"a cut message":      {[]byte{1, 0}, all, foxglove.Truncated},
		"of no channel":      {[]byte{1, 0, 0, 0, 0}, all, foxglove.UnknownChannel},
		"cut playback":       {[]byte{3, 0}, all, foxglove.Truncated},
		"no speed":           {[]byte{3, 0, 0, 0, 0xc0, 0x7f, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, all, foxglove.BadPlayback},
		"names of no list":   {`{"op":"getParameters","parameterNames":7}`, all, foxglove.BadJSON},
		"not to be set":      {`{"op":"setParameters","parameters":[]}`, all, foxglove.NotSupported},
	} {
		t.Run(name, func(t *testing.T) {
			s, address := serve(t, foxglove.ServerOptions{Capabilities: c.capabilities, MaxMessage: 1000})
			if err := s.Advertise(channel(1, "/a"), channel(2, "/b")); err != nil {
				t.Fatal(err)
			}
			conn, _, err := websocket.Dial(t.Context(), address, &websocket.DialOptions{Subprotocols: []string{foxglove.SubprotocolSDK}})
			if err != nil {
				t.Fatal(err)
			}
			defer conn.CloseNow()
			switch m := c.message.(type) {
			case string:
				err = conn.Write(t.Context(), websocket.MessageText, []byte(m))
			case []byte:
				err = conn.Write(t.Context(), websocket.MessageBinary, m)
			}
			if err != nil {
				t.Fatal(err)
			}

			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			for {
				_, b, err := conn.Read(ctx)
				if err != nil {
					t.Fatalf("the client is not told: %v", err)
				}
				if strings.Contains(string(b), `"op":"status","level":2`) {
					break
				}
			}
			if got := s.Problems(); len(got) != 1 || got[c.want].Count != 1 {
				t.Errorf("got %v, want one of %s", got, c.want)
			}
		})
	}
}

func TestCloseEndsAllConnections(t *testing.T) {
	s, address := serve(t, foxglove.ServerOptions{})
	c := connect(t, address, foxglove.Options{})
	// One that neither reads nor answers.
	silent, _, err := websocket.Dial(t.Context(), address, &websocket.DialOptions{Subprotocols: []string{foxglove.SubprotocolSDK}})
	if err != nil {
		t.Fatal(err)
	}
	defer silent.CloseNow()
	begin := time.Now()
	s.Close()
	if took := time.Since(begin); took > 5*time.Second {
		t.Errorf("it took %s", took)
	}
	if err := next(t, c.ended); err == nil || !strings.Contains(err.Error(), "StatusGoingAway") {
		t.Errorf("got %v", err)
	}
	if _, err := foxglove.Dial(t.Context(), address, foxglove.Options{}); err == nil {
		t.Error("a closed server takes clients")
	}
	for _, err := range []error{s.Advertise(channel(1, "/a")), s.Publish(1, 1, nil)} {
		if err != foxglove.ErrClosed {
			t.Errorf("got %v", err)
		}
	}
}

// A client in Python, by the specification alone.
func TestAClientByTheSpecification(t *testing.T) {
	for _, subprotocol := range []string{foxglove.SubprotocolSDK, foxglove.SubprotocolWebSocket} {
		t.Run(subprotocol, func(t *testing.T) { followTheSpecification(t, subprotocol) })
	}
}

func followTheSpecification(t *testing.T, subprotocol string) {
	python(t)
	to, h := subscriptions(foxglove.ServerHandler{})
	published := make(chan string, 10)
	h.Message = func(id foxglove.ClientID, c *foxglove.Channel, data []byte) {
		published <- c.Topic + " " + string(data)
	}
	h.GetParameters = func(names []string) []foxglove.Parameter {
		return []foxglove.Parameter{{Name: strings.Join(names, "+"), Value: []byte("[1,2]"), Type: "float64_array"}}
	}
	h.Playback = func(r *foxglove.PlaybackRequest) *foxglove.PlaybackState {
		return &foxglove.PlaybackState{Time: *r.SeekTime, Speed: r.Speed, DidSeek: true}
	}
	s, address := serve(t, foxglove.ServerOptions{
		Name: "robotmem", SessionID: "7", Metadata: map[string]string{"a": "b"}, SupportedEncodings: []string{"json"}, Handler: h,
		Capabilities: []foxglove.Capability{foxglove.CapabilityClientPublish, foxglove.CapabilityParameters, foxglove.CapabilityTime},
		Playback:     &foxglove.Range{Start: 1_500_000_000_000_000_001, End: 1_600_000_000_123_456_789},
	})
	proto := &foxglove.Channel{ID: 2, Channel: segment.Channel{Topic: "/p", MessageEncoding: "protobuf", SchemaName: "P", SchemaEncoding: "protobuf", SchemaData: []byte{1, 255}}}
	if err := s.Advertise(channel(1, "/a"), proto); err != nil {
		t.Fatal(err)
	}

	c := start(t, "spec_client.py", address, subprotocol)
	expect := func(what, want string) {
		t.Helper()
		got := c.await(what)
		if what == "binary" {
			if got.Binary != want {
				t.Errorf("got %s, want %s", got.Binary, want)
			}
			return
		}
		var a, b any
		if json.Unmarshal(got.Text, &a) != nil || json.Unmarshal([]byte(want), &b) != nil {
			t.Fatalf("got %s, want %s", got.Text, want)
		}
		if diff := cmp.Diff(b, a); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}

	expect("connected", `"`+subprotocol+`"`)
	expect("text", `{"op":"serverInfo","name":"robotmem","sessionId":"7","metadata":{"a":"b"},"supportedEncodings":["json"],
		"capabilities":["clientPublish","parameters","parametersSubscribe","playbackControl","time"],
		"dataStartTime":{"sec":1500000000,"nsec":1},"dataEndTime":{"sec":1600000000,"nsec":123456789}}`)
	expect("text", `{"op":"advertise","channels":[
		{"id":1,"topic":"/a","encoding":"json","schemaName":"","schema":""},
		{"id":2,"topic":"/p","encoding":"protobuf","schemaName":"P","schema":"Af8=","schemaEncoding":"protobuf"}]}`)

	c.tell(`{"op":"subscribe","subscriptions":[{"id":10,"channelId":2}]}`)
	if got := next(t, to); got != "+/p" {
		t.Errorf("got %s", got)
	}
	if err := s.Publish(2, 42, []byte("hi")); err != nil {
		t.Fatal(err)
	}
	expect("binary", "010a0000002a00000000000000"+hex.EncodeToString([]byte("hi")))
	if err := s.PublishTime(5); err != nil {
		t.Fatal(err)
	}
	expect("binary", "020500000000000000")

	c.tell(`{"op":"advertise","channels":[{"id":3,"topic":"/in","encoding":"json","schemaName":""}]}`)
	c.tell("0103000000" + hex.EncodeToString([]byte(`{"x":1}`)))
	if got := next(t, published); got != `/in {"x":1}` {
		t.Errorf("got %s", got)
	}
	c.tell(`{"op":"getParameters","parameterNames":["a","b"],"id":"q"}`)
	expect("text", `{"op":"parameterValues","parameters":[{"name":"a+b","type":"float64_array","value":[1,2]}],"id":"q"}`)
	c.tell("03" + "00" + "00000040" + "01" + "3700000000000000" + "02000000" + "6964")
	expect("binary", "05"+"00"+"3700000000000000"+"00000040"+"01"+"02000000"+"6964")

	c.tell(`{"op":"unsubscribe","subscriptionIds":[10]}`)
	if got := next(t, to); got != "-/p" {
		t.Errorf("got %s", got)
	}
	s.Unadvertise(2)
	expect("text", `{"op":"unadvertise","channelIds":[2]}`)
	s.Close()
	if got := c.await("closed").Port; got != 1001 {
		t.Errorf("got the code %d", got)
	}
}
