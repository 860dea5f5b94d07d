package foxglove

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/coder/websocket"
)

const (
	defaultMaxClients = 32

	// defaultMaxRequest is the size of what clients send, in bytes.
	defaultMaxRequest = 16 << 20

	// What waits for a client that reads slowly. The SDK of Foxglove has the same number of messages.
	defaultBacklog      = 1024
	defaultBacklogBytes = 64 << 20

	// maxServerControl is more than an advertisement of all channels that there may be, in bytes.
	maxServerControl = 2 * maxDefinitions

	// advertisedBytes is how much of definitions is in one message.
	advertisedBytes = 4 << 20
)

// ClientID names a client of a server. It is not used again.
type ClientID uint64

// ServerHandler is what a server does with what clients send. Functions that are nil are not called. Those
// of one client are called one after the other, those of several at the same time, and none while the
// server holds a lock. What a client sends next waits until a function returns.
type ServerHandler struct {
	// Subscribed and Unsubscribed are called when a client begins and ends to want messages of a channel.
	Subscribed   func(ClientID, *Channel)
	Unsubscribed func(ClientID, *Channel)

	// Advertised, Message and Unadvertised are called with what clients publish, if the server has the
	// capability clientPublish. The data belong to the handler.
	Advertised   func(ClientID, *Channel)
	Message      func(id ClientID, c *Channel, data []byte)
	Unadvertised func(ClientID, *Channel)

	// GetParameters returns the parameters with the names, or all if there are none. SetParameters sets
	// some, and returns what they are then. Both are of the capability parameters.
	GetParameters func(names []string) []Parameter
	SetParameters func([]Parameter) []Parameter

	// Playback plays the data as a client wants. What it returns is sent to all clients; nil is not.
	Playback func(*PlaybackRequest) *PlaybackState
}

// ServerOptions configure a server. The zero value works.
type ServerOptions struct {
	Name      string
	SessionID string            // another one for another run of the program, so that clients forget what they have
	Metadata  map[string]string // for people

	// Capabilities are what clients may ask for. Parameters bring parametersSubscribe, and a span of
	// playback brings playbackControl.
	Capabilities       []Capability
	SupportedEncodings []string // of messages that clients publish

	// Playback is the span of the data, if they are recorded and played.
	Playback *Range

	Handler ServerHandler

	// Origins are the origins of web pages that may connect, as patterns of path.Match such as
	// https://*.example.com and http://robot:*. "*" allows all. nil are those of DefaultOrigins. Clients that
	// are no browsers are not asked.
	Origins []string

	// Latch sends the last message of a channel to a client that subscribes to it: a map that is published
	// once. The server keeps these messages then.
	Latch bool

	// Backlog and BacklogBytes bound the data messages that wait for a client. 0 is 1,024 and 64 MiB.
	Backlog      int
	BacklogBytes int

	MaxClients int   // 0 is 32
	MaxMessage int64 // of a client, in bytes; 0 is 16 MiB. Larger ones are read past and counted
}

// Server serves channels to clients such as Foxglove and Lichtblick. It is an [http.Handler] whose
// requests last as long as their connections. http.Server.Shutdown does not end these: Close does.
type Server struct {
	options  ServerOptions
	info     ServerInfo
	problems problems

	mu          sync.Mutex // guards what follows; the locks of queues are taken within
	channels    map[uint64]*served
	definitions int // bytes
	peers       map[ClientID]*peer
	connecting  int // requests that have not become peers
	nextPeer    ClientID
	playback    *PlaybackState // the last that was broadcast
	closed      bool
	gone        ServerStats    // of clients that have left
	serving     sync.WaitGroup // requests
}

// served is a channel of a server.
type served struct {
	*Channel
	subscribers map[*peer]uint32 // and their subscriptions
	last        *message         // if Options.Latch; its subscription means nothing
}

// ServerStats is what a server has sent.
type ServerStats struct {
	Clients []ClientStats
	Sent    uint64 // messages of data and time, to all clients that there were
	Dropped uint64 // those that were not sent, since clients read too slowly
}

// ClientStats is what a server has sent to one client that is connected.
type ClientStats struct {
	ID            ClientID
	RemoteAddr    string
	Subprotocol   string
	Subscriptions int
	Sent, Dropped uint64
}

// NewServer returns a server without channels.
func NewServer(o ServerOptions) *Server {
	if o.Origins == nil {
		o.Origins = DefaultOrigins()
	}
	o.Backlog = cmp.Or(o.Backlog, defaultBacklog)
	o.BacklogBytes = cmp.Or(o.BacklogBytes, defaultBacklogBytes)
	o.MaxClients = cmp.Or(o.MaxClients, defaultMaxClients)
	o.MaxMessage = cmp.Or(o.MaxMessage, defaultMaxRequest)

	capabilities := slices.Clone(o.Capabilities)
	if slices.Contains(capabilities, CapabilityParameters) {
		capabilities = append(capabilities, CapabilityParametersSubscribe)
	}
	if o.Playback != nil {
		capabilities = append(capabilities, CapabilityPlaybackControl)
	}
	slices.Sort(capabilities)
	o.Capabilities = slices.Compact(capabilities)

	return &Server{
		options: o,
		info: ServerInfo{
			Name: o.Name, Capabilities: o.Capabilities, SupportedEncodings: o.SupportedEncodings,
			Metadata: o.Metadata, SessionID: o.SessionID, Playback: o.Playback,
		},
		channels: map[uint64]*served{}, peers: map[ClientID]*peer{},
	}
}

func (s *Server) has(c Capability) bool { return slices.Contains(s.options.Capabilities, c) }

// Problems returns what was wrong with what clients sent, by reason.
func (s *Server) Problems() map[Reason]Problem { return s.problems.copy() }

// Stats returns what the server has sent.
func (s *Server) Stats() ServerStats {
	s.mu.Lock()
	defer s.mu.Unlock()

	all := ServerStats{Sent: s.gone.Sent, Dropped: s.gone.Dropped}
	for _, id := range slices.Sorted(maps.Keys(s.peers)) {
		p := s.peers[id]
		sent, dropped := p.queue.counts()
		all.Clients = append(all.Clients, ClientStats{id, p.remote, p.conn.Subprotocol(), len(p.subscriptions), sent, dropped})
		all.Sent += sent
		all.Dropped += dropped
	}

	return all
}

// Advertise tells all clients of channels. A channel whose id is in use replaces that channel. The ids are
// the caller's. The channels must not be changed afterwards. An error means that none is advertised.
func (s *Server) Advertise(channels ...*Channel) error {
	// Before they are encoded, which takes as much memory again.
	definitions := 0
	for _, c := range channels {
		definitions += c.size()
	}
	if err := checkSize(len(channels), definitions); err != nil {
		return err
	}
	messages, err := advertisements(channels)
	if err != nil {
		return err
	}

	s.mu.Lock()
	ended, err := s.advertise(channels, messages)
	s.mu.Unlock()
	s.callUnsubscribed(ended)

	return err
}

func (s *Server) advertise(channels []*Channel, messages [][]byte) (ended []subscriber, err error) {
	if s.closed {
		return nil, ErrClosed
	}

	// Everything is checked before anything changes.
	count, definitions := len(s.channels), s.definitions
	seen := map[uint64]bool{}

	var replaced []uint64

	for _, c := range channels {
		if seen[c.ID] {
			return nil, fmt.Errorf("two channels have the id %d", c.ID)
		}
		seen[c.ID] = true
		if old := s.channels[c.ID]; old != nil {
			replaced = append(replaced, c.ID)
			count--
			definitions -= old.size()
		}
		count++
		definitions += c.size()
	}
	if err := checkSize(count, definitions); err != nil {
		return nil, err
	}

	ended = s.unadvertise(replaced)
	for _, c := range channels {
		s.channels[c.ID] = &served{Channel: c, subscribers: map[*peer]uint32{}}
	}

	s.definitions = definitions
	for _, m := range messages {
		s.broadcast(websocket.MessageText, m)
	}

	return ended, nil
}

func checkSize(count, definitions int) error {
	if count > maxChannels || definitions > maxDefinitions {
		return fmt.Errorf("there may be %d channels with %d bytes of definitions, not %d with %d", maxChannels, maxDefinitions, count, definitions)
	}

	return nil
}

// advertisements makes the messages that advertise channels: one at least, and none that is much larger than
// advertisedBytes.
func advertisements(channels []*Channel) (messages [][]byte, err error) {
	for first := true; first || len(channels) > 0; first = false {
		n, size := 0, 0
		for n < len(channels) && (n == 0 || size+channels[n].size() <= advertisedBytes) {
			size += channels[n].size()
			n++
		}
		text, err := encodeChannels(channels[:n])
		if err != nil {
			return nil, err
		}
		messages = append(messages, text)
		channels = channels[n:]
	}

	return messages, nil
}

// Unadvertise ends channels. Ids that no channel has are left out.
func (s *Server) Unadvertise(ids ...uint64) {
	s.mu.Lock()
	ended := s.unadvertise(ids)
	s.mu.Unlock()

	s.callUnsubscribed(ended)
}

// subscriber is a client that had subscribed to a channel.
type subscriber struct {
	id      ClientID
	channel *Channel
}

func (s *Server) unadvertise(ids []uint64) (ended []subscriber) {
	removed := make([]uint64, 0, len(ids))
	for _, id := range ids {
		c := s.channels[id]
		if c == nil {
			continue
		}

		for p, subscription := range c.subscribers {
			delete(p.subscriptions, subscription)
			ended = append(ended, subscriber{p.id, c.Channel})
		}
		delete(s.channels, id)
		s.definitions -= c.size()
		removed = append(removed, id)
	}
	if len(removed) == 0 {
		return nil
	}

	s.broadcast(websocket.MessageText, mustEncode(struct {
		Op  string   `json:"op"`
		IDs []uint64 `json:"channelIds"`
	}{"unadvertise", removed}))

	return ended
}

func (s *Server) callUnsubscribed(ended []subscriber) {
	if s.options.Handler.Unsubscribed == nil {
		return
	}

	for _, e := range ended {
		s.options.Handler.Unsubscribed(e.id, e.channel)
	}
}

// Publish sends a message of a channel to the clients that have subscribed to it. logTime is in ns since
// 1970. It does not wait for clients: of one that reads too slowly the oldest message is dropped. The data
// are copied.
func (s *Server) Publish(id, logTime uint64, data []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()

	c := s.channels[id]
	switch {
	case s.closed:
		return ErrClosed
	case c == nil:
		return fmt.Errorf("publish a message: there is no channel %d", id)
	}

	m := message{logTime: logTime, data: data}
	for p, subscription := range c.subscribers {
		m.subscription = subscription
		p.queue.addData(m.encode())
	}
	if s.options.Latch {
		m.data = slices.Clone(data)
		c.last = &m
	}

	return nil
}

// PublishTime tells all clients what time it is in the data, in ns since 1970. The server has to have the
// capability time.
func (s *Server) PublishTime(ns uint64) error {
	if !s.has(CapabilityTime) {
		return errors.New("send the time: the server does not have the capability time")
	}

	frame := encodeTime(ns)
	s.mu.Lock()
	defer s.mu.Unlock()

	for _, p := range s.peers {
		p.queue.addData(frame)
	}

	return nil
}

// PublishPlayback tells all clients how far the data are played, and those that connect later.
func (s *Server) PublishPlayback(state *PlaybackState) error {
	if !s.has(CapabilityPlaybackControl) {
		return errors.New("send the state of playback: the server does not have the capability playbackControl")
	}

	last := *state
	last.DidSeek, last.RequestID = false, ""
	s.mu.Lock()
	defer s.mu.Unlock()
	s.playback = &last
	s.broadcast(websocket.MessageBinary, state.encode())

	return nil
}

// PublishStatus tells the people at all clients something.
func (s *Server) PublishStatus(status *Status) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.broadcast(websocket.MessageText, encodeStatus(status))
}

// RemoveStatus takes statuses back by their ids.
func (s *Server) RemoveStatus(ids ...string) {
	text := mustEncode(struct {
		Op  string   `json:"op"`
		IDs []string `json:"statusIds"`
	}{"removeStatus", notNil(ids)})

	s.mu.Lock()
	defer s.mu.Unlock()
	s.broadcast(websocket.MessageText, text)
}

// PublishParameters sends parameters that have changed to the clients that have subscribed to them.
func (s *Server) PublishParameters(parameters []Parameter) error {
	s.mu.Lock()
	defer s.mu.Unlock()

	for _, p := range s.peers {
		var wanted []Parameter

		for _, each := range parameters {
			if p.allParameters || p.parameters[each.Name] {
				wanted = append(wanted, each)
			}
		}
		if len(wanted) == 0 {
			continue
		}
		text, err := encodeParameters("parameterValues", wanted, "")
		if err != nil {
			return err
		}
		p.send(websocket.MessageText, text)
	}

	return nil
}

// broadcast sends a control message to all clients. The lock is held.
func (s *Server) broadcast(kind websocket.MessageType, b []byte) {
	for _, p := range s.peers {
		p.send(kind, b)
	}
}

// Close ends all connections and waits for their requests. The server takes no new ones.
func (s *Server) Close() error {
	s.mu.Lock()

	s.closed = true
	for _, p := range s.peers {
		p.end(ErrClosed)
	}
	s.mu.Unlock()
	s.serving.Wait()

	return nil
}
