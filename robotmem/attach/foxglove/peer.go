package foxglove

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/coder/websocket"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

const (
	// A client that reads more slowly is cut off.
	writeWait   = 30 * time.Second
	slowestRead = 64 << 10 // bytes per second
)

// peer is a client of a server.
type peer struct {
	server *Server
	id     ClientID
	remote string
	conn   *websocket.Conn
	net    net.Conn
	reader *messageReader
	queue  *queue
	cancel context.CancelFunc

	// Guarded by the lock of the server.
	subscriptions map[uint32]uint64 // the channels by subscription
	allParameters bool
	parameters    map[string]bool // that are subscribed to

	// Of the goroutine that reads.
	published channelSet
	refused   bool // whether the client was told of a problem with the present message
}

// hijacked lets the connection of a request be closed at once, which the library does not.
type hijacked struct {
	http.ResponseWriter
	net net.Conn
}

func (h *hijacked) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, buffers, err := http.NewResponseController(h.ResponseWriter).Hijack()
	h.net = conn

	return conn, buffers, err
}

// ServeHTTP serves one client until it leaves.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if text, status := s.refusal(r); status != 0 {
		if status == http.StatusUpgradeRequired {
			w.Header().Set("Connection", "Upgrade")
			w.Header().Set("Upgrade", "websocket")
		}
		http.Error(w, text, status)

		return
	}

	if !s.enter() {
		http.Error(w, "the server takes no more clients: close a window of Foxglove or Lichtblick", http.StatusServiceUnavailable)
		return
	}
	defer s.serving.Done()

	kept := &hijacked{ResponseWriter: w}
	conn, err := websocket.Accept(kept, r, &websocket.AcceptOptions{
		Subprotocols:       subprotocols,
		InsecureSkipVerify: true, // refusal has looked at the origin
	})
	if err != nil {
		s.mu.Lock()
		s.connecting--
		s.mu.Unlock()

		return // it has been answered
	}

	p := &peer{
		server: s, remote: r.RemoteAddr, conn: conn, net: kept.net,
		reader:        newMessageReader(conn, s.options.MaxMessage),
		queue:         newQueue(maxServerControl, s.options.BacklogBytes, s.options.Backlog),
		subscriptions: map[uint32]uint64{}, parameters: map[string]bool{},
	}
	p.serve()
}

// refusal says why a request is not served, and the status of the answer.
func (s *Server) refusal(r *http.Request) (string, int) {
	if !originAllowed(r, s.options.Origins) {
		return fmt.Sprintf("pages of %.200q may not connect: allow their origin", r.Header.Get("Origin")), http.StatusForbidden
	}
	if !hasToken(r.Header, "Upgrade", "websocket") {
		return fmt.Sprintf("This is a server for Foxglove and Lichtblick. Open a connection of the kind Foxglove WebSocket there, to ws://%s%s", r.Host, r.URL.Path), http.StatusUpgradeRequired
	}
	if !slices.ContainsFunc(subprotocols, func(name string) bool { return hasToken(r.Header, "Sec-WebSocket-Protocol", name) }) {
		return "the client offers none of the subprotocols " + strings.Join(subprotocols, ", "), http.StatusBadRequest
	}

	return "", 0
}

func hasToken(h http.Header, name, token string) bool {
	for _, line := range h.Values(name) {
		for each := range strings.SplitSeq(line, ",") {
			if strings.EqualFold(strings.TrimSpace(each), token) {
				return true
			}
		}
	}

	return false
}

// enter is whether there is room for one more client.
func (s *Server) enter() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || len(s.peers)+s.connecting >= s.options.MaxClients {
		return false
	}
	s.connecting++
	s.serving.Add(1)

	return true
}

// serve greets the client, and reads until it leaves.
func (p *peer) serve() {
	ctx, cancel := context.WithCancel(context.Background())
	p.cancel = cancel
	closed := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(closed)
		p.sayGoodbye()
	})

	p.greet()

	written := make(chan struct{})
	go func() {
		defer close(written)
		p.write()
	}()

	p.read()

	p.end(errors.New("the client has left"))
	<-written
	if !stop() {
		<-closed
	}
	p.leave()
}

// greet makes the client one of the server's, and sends what it has to know first.
func (p *peer) greet() {
	s := p.server
	s.mu.Lock()
	defer s.mu.Unlock()

	s.connecting--
	s.nextPeer++
	p.id = s.nextPeer
	s.peers[p.id] = p
	if s.closed {
		p.end(ErrClosed)
		return
	}

	info, err := s.info.encode()
	if err != nil {
		// Its strings and numbers can always be encoded.
		panic(err)
	}
	p.send(websocket.MessageText, info)

	channels := make([]*Channel, 0, len(s.channels))
	for _, id := range slices.Sorted(maps.Keys(s.channels)) {
		channels = append(channels, s.channels[id].Channel)
	}
	messages, err := advertisements(channels)
	if err != nil {
		panic(err) // they were encoded before
	}

	for _, m := range messages {
		p.send(websocket.MessageText, m)
	}
	if s.playback != nil {
		p.send(websocket.MessageBinary, s.playback.encode())
	}
}

// send queues a control message, and cuts a client off that reads none.
func (p *peer) send(kind websocket.MessageType, b []byte) {
	if err := p.queue.addControl(kind, b); err != nil {
		p.end(err)
	}
}

// end ends the connection without waiting for it. The first error stays.
func (p *peer) end(err error) {
	p.queue.end(err)
	p.cancel()
}

// sayGoodbye ends the connection whether or not the client answers.
func (p *peer) sayGoodbye() {
	cut := time.AfterFunc(closeWait, func() { _ = p.net.Close() })
	defer cut.Stop()
	_ = p.conn.Close(websocket.StatusGoingAway, "")
}

func (p *peer) write() {
	for {
		m, err := p.queue.next()
		if err != nil {
			return
		}
		wait := writeWait + time.Duration(len(m.bytes)/slowestRead)*time.Second
		err = p.net.SetWriteDeadline(time.Now().Add(wait))
		if err == nil {
			err = p.conn.Write(context.Background(), m.kind, m.bytes)
		}
		if err != nil {
			p.end(err)
			return
		}
	}
}

func (p *peer) read() {
	for {
		kind, data, err := p.reader.next(context.Background())
		p.refused = false

		var large *errTooLarge
		switch {
		case errors.As(err, &large):
			p.refuse(TooLarge, "%v", err)
		case err != nil:
			return
		case kind == websocket.MessageText:
			p.receiveText(data)
		default:
			p.receiveBinary(data)
		}
		p.reader.release()
	}
}

// leave ends what the client has begun.
func (p *peer) leave() {
	s := p.server
	s.mu.Lock()

	var ended []subscriber

	for _, id := range p.subscriptions {
		c := s.channels[id]
		delete(c.subscribers, p)
		ended = append(ended, subscriber{p.id, c.Channel})
	}
	delete(s.peers, p.id)
	sent, dropped := p.queue.counts()
	s.gone.Sent += sent
	s.gone.Dropped += dropped
	s.mu.Unlock()

	s.callUnsubscribed(ended)
	if call := s.options.Handler.Unadvertised; call != nil {
		for _, id := range slices.Sorted(maps.Keys(p.published.byID)) {
			call(p.id, p.published.byID[id])
		}
	}
}

// refuse counts a problem with a message. The client is told of the first of each message.
func (p *peer) refuse(r Reason, format string, args ...any) {
	p.server.problems.add(r, format, args...)
	if p.refused {
		return
	}
	p.refused = true
	p.send(websocket.MessageText, encodeStatus(&Status{Level: LevelError, Message: fmt.Sprintf(format, args...)}))
}

// require is whether the server has a capability. If not, the client is told.
func (p *peer) require(c Capability) bool {
	if p.server.has(c) {
		return true
	}
	p.refuse(NotSupported, "the server does not have the capability %s", c)

	return false
}

func (p *peer) receiveBinary(frame []byte) {
	if len(frame) == 0 {
		p.refuse(Truncated, "a binary message without an opcode")
		return
	}

	h := &p.server.options.Handler

	switch frame[0] {
	case opClientMessage:
		if !p.require(CapabilityClientPublish) {
			return
		}
		m, err := decodeClientMessage(frame)
		if err != nil {
			p.refuse(Truncated, "a message of data: %v", err)
			return
		}
		c := p.published.byID[uint64(m.channel)]
		if c == nil {
			p.refuse(UnknownChannel, "a message of channel %d, which the client has not advertised", m.channel)
			return
		}
		if h.Message != nil {
			h.Message(p.id, c, p.reader.own(m.data))
		}

	case opPlaybackControl:
		if p.require(CapabilityPlaybackControl) {
			p.control(frame)
		}

	case opServiceRequest:
		p.refuse(NotSupported, "the server has no services")

	default:
		p.refuse(UnknownOpcode, "a binary message with the opcode %d", frame[0])
	}
}

// control hands on a request of playback, and tells all clients what came of it.
func (p *peer) control(frame []byte) {
	r, err := decodePlaybackRequest(frame)
	if err != nil {
		p.refuse(playbackReason(err), "a request of playback: %v", err)
		return
	}

	if call := p.server.options.Handler.Playback; call != nil {
		if state := call(r); state != nil {
			answer := *state
			answer.RequestID = r.ID
			_ = p.server.PublishPlayback(&answer) // it has the capability
		}
	}
}

func encodeStatus(s *Status) []byte {
	return mustEncode(struct {
		Op string `json:"op"`
		Status
	}{"status", *s})
}

// mustEncode makes JSON of strings and numbers, which cannot fail.
func mustEncode(v any) []byte {
	text, err := json.Marshal(v, jsontext.AllowInvalidUTF8(true))
	if err != nil {
		panic(err)
	}

	return text
}
