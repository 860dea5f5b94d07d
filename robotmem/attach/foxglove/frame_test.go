package foxglove

import (
	"context"
	"encoding/hex"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/google/go-cmp/cmp"
)

// The bytes are those that the SDK sends and takes.
func TestFrames(t *testing.T) {
	seek := uint64(258)
	for name, c := range map[string]struct {
		frame []byte
		want  string
	}{
		"message":         {message{1, 42, []byte("hi")}.encode(), "01010000002a000000000000006869"},
		"time":            {encodeTime(5), "020500000000000000"},
		"client message":  {clientMessage{3, []byte("hi")}.encode(), "01030000006869"},
		"ended":           {(&PlaybackState{Status: Ended, Time: 9, Speed: 1}).encode(), "050309000000000000000000803f0000000000"},
		"state of an id":  {(&PlaybackState{Time: 7, Speed: 2, DidSeek: true, RequestID: "id"}).encode(), "050007000000000000000000004001020000006964"},
		"pause":           {(&PlaybackRequest{Command: Pause, Speed: 1, ID: "id"}).encode(), "03010000803f000000000000000000020000006964"},
		"play after seek": {(&PlaybackRequest{Speed: 1.5, SeekTime: &seek}).encode(), "03000000c03f01020100000000000000000000"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := hex.EncodeToString(c.frame); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

func TestFramesComeBack(t *testing.T) {
	seek := uint64(1)
	for _, want := range []*PlaybackRequest{{Command: Pause, Speed: 0.5, ID: "é"}, {SeekTime: &seek}} {
		got, err := decodePlaybackRequest(want.encode())
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%v (-want +got):\n%s", err, diff)
		}
	}
	for _, want := range []*PlaybackState{{Status: Buffering, Time: 1 << 63, Speed: 2, DidSeek: true, RequestID: "x"}, {}} {
		got, err := decodePlaybackState(want.encode())
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%v (-want +got):\n%s", err, diff)
		}
	}
}

func TestCutFramesAreRefused(t *testing.T) {
	seek := uint64(1)
	for name, c := range map[string]struct {
		frame  []byte
		decode func([]byte) error
	}{
		"message":        {message{1, 42, nil}.encode(), func(b []byte) error { _, err := decodeMessage(b); return err }},
		"time":           {encodeTime(5), func(b []byte) error { _, err := decodeTime(b); return err }},
		"client message": {clientMessage{3, nil}.encode(), func(b []byte) error { _, err := decodeClientMessage(b); return err }},
		"state":          {(&PlaybackState{RequestID: "id"}).encode(), func(b []byte) error { _, err := decodePlaybackState(b); return err }},
		"request":        {(&PlaybackRequest{SeekTime: &seek, ID: "id"}).encode(), func(b []byte) error { _, err := decodePlaybackRequest(b); return err }},
	} {
		t.Run(name, func(t *testing.T) {
			if err := c.decode(c.frame); err != nil {
				t.Errorf("whole: got %v", err)
			}
			for n := range c.frame {
				if c.decode(c.frame[:n]) != errTruncated {
					t.Errorf("%d bytes are not refused", n)
				}
			}
		})
	}
}

// offline returns a client without a connection.
func offline() *Client {
	return &Client{
		options: Options{
			Subscribe: func(*Channel) bool { return true },
			Handler:   Handler{Message: func(*Channel, uint64, []byte) {}, Parameters: func([]Parameter) {}, Playback: func(*PlaybackState) {}},
		},
		reader: &messageReader{}, queue: newQueue(maxClientBacklog, 0, 0),
		subscriptions: newSubscriptions(), retrying: map[uint32]*time.Timer{}, info: &ServerInfo{},
	}
}

var seeds = []string{
	`{"op":"serverInfo","name":"x","capabilities":["time"],"dataStartTime":{"sec":1,"nsec":2},"dataEndTime":{"sec":1,"nsec":2}}`,
	`{"op":"advertise","channels":[{"id":1,"topic":"/a","encoding":"cdr","schemaName":"x","schema":"y"},{"id":1,"topic":"/b","encoding":"protobuf","schema":"!"},{},3]}`,
	`{"op":"advertise","channels":[{"id":1,"topic":"/c","encoding":"json"},{"id":2,"topic":"/c","encoding":"json"},{"id":1,"topic":"/d","encoding":"protobuf","schema":"AA=="}]}`,
	`{"op":"unadvertise","channelIds":[1,2,-1,"x"]}`,
	`{"op":"parameterValues","parameters":[{"name":"a","value":1},{"name":"","value":null},[]],"id":"x"}`,
	`{"op":"status","level":2,"message":"x"}`, `{"op":"status","level":2,"message":"Unknown channel ID: 1"}`, `{"op":"removeStatus","statusIds":["x"]}`, `{"op":5}`, `[]`, `{`,
	`{"op":"subscribe","subscriptions":[{"id":0,"channelId":1},{"id":0,"channelId":2},{"id":1},{}]}`,
	`{"op":"unsubscribe","subscriptionIds":[0,1,"x"]}`,
	`{"op":"getParameters","parameterNames":["a"],"id":"x"}`, `{"op":"setParameters","parameters":[{"name":"a","value":{}}],"id":"x"}`,
	`{"op":"subscribeParameterUpdates","parameterNames":["a"]}`, `{"op":"unsubscribeParameterUpdates","parameterNames":[]}`,
	"\x01\x00\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00x", "\x02", "\x05\x00", "\x03", "\x00", "",
}

// A client takes any sequence of messages: what it knows of channels stays consistent, and its connection
// goes on.
func FuzzClient(f *testing.F) {
	for _, s := range seeds {
		f.Add(seeds[1], s)
		f.Add(s, seeds[2])
	}
	f.Fuzz(func(t *testing.T, first, second string) {
		c := offline()
		for _, m := range []string{seeds[2], first, second, seeds[1], first, second} {
			for _, kind := range []websocket.MessageType{websocket.MessageText, websocket.MessageBinary} {
				if err := c.receive(kind, []byte(m)); err != nil {
					t.Fatal(err)
				}
			}
		}

		c.forget()
		bytes, s := 0, &c.subscriptions
		for id, channel := range c.channels.byID {
			bytes += channel.size()
			if channel.ID != id || s.byID[s.byChannel[id]] != channel {
				t.Errorf("channel %d: its subscription is of another", id)
			}
		}
		if bytes != c.channels.bytes || len(s.byID) != len(c.channels.byID) || len(s.byChannel) != len(s.byID) {
			t.Errorf("got %d channels of %d bytes, counted as %d, %d subscriptions and %d", len(c.channels.byID), bytes, c.channels.bytes, len(s.byID), len(s.byChannel))
		}
		ended := 0
		for _, channel := range s.ended {
			ended += channel.size()
		}
		if ended != s.endedBytes || len(s.ended) != len(s.endedOrder) {
			t.Errorf("got %d subscriptions of %d bytes that have ended, counted as %d and %d", len(s.ended), ended, len(s.endedOrder), s.endedBytes)
		}
	})
}

// A server takes any sequence of messages of a client.
func FuzzServer(f *testing.F) {
	for _, s := range seeds {
		f.Add(seeds[10], s)
		f.Add(s, seeds[11])
	}
	f.Fuzz(func(t *testing.T, first, second string) {
		s := NewServer(ServerOptions{
			Capabilities: []Capability{CapabilityClientPublish, CapabilityParameters, CapabilityTime}, Playback: &Range{1, 2}, Latch: true,
			Handler: ServerHandler{
				GetParameters: func(names []string) []Parameter { return []Parameter{{Name: "a", Value: []byte("1")}} },
				SetParameters: func(p []Parameter) []Parameter { return p },
				Playback:      func(*PlaybackRequest) *PlaybackState { return &PlaybackState{} },
				Message:       func(ClientID, *Channel, []byte) {},
			},
		})
		a, b := &Channel{ID: 1}, &Channel{ID: 2}
		a.Topic, b.Topic = "/a", "/b"
		if err := s.Advertise(a, b); err != nil {
			t.Fatal(err)
		}
		_, cancel := context.WithCancel(t.Context())
		p := &peer{
			server: s, reader: &messageReader{}, queue: newQueue(maxServerControl, 1<<20, 10), cancel: cancel,
			subscriptions: map[uint32]uint64{}, parameters: map[string]bool{},
		}
		p.greet()

		for _, m := range []string{first, second, seeds[10], first, second} {
			p.refused = false
			p.receiveText([]byte(m))
			p.receiveBinary([]byte(m))
			if err := s.Publish(1, 1, []byte("x")); err != nil {
				t.Fatal(err)
			}
		}
		for id, channel := range p.subscriptions {
			if s.channels[channel].subscribers[p] != id {
				t.Errorf("subscription %d of channel %d: the channel knows another", id, channel)
			}
		}
		p.leave()
		if n := len(s.channels[1].subscribers) + len(s.channels[2].subscribers); n != 0 {
			t.Errorf("%d subscriptions stay", n)
		}
	})
}
