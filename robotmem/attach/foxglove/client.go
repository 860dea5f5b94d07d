package foxglove

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

const (
	// maxClientBacklog bounds what waits for a server that does not read, in bytes.
	maxClientBacklog = 64 << 20

	// closeWait is how long a server has to answer the end of a connection.
	closeWait = time.Second
)

// Handler is what a client does with what a server sends. Functions that are nil are not called. All are
// called by the goroutine of [Client.Run], one after the other and in the order of the server. While one
// runs, nothing is read: a function that takes longer than a message lets the server's buffer fill, and
// servers drop messages then. Hand them on to a queue of your own.
type Handler struct {
	// Info is called first, and again when the server begins a new session. What was advertised stays.
	Info func(*ServerInfo)

	// Advertised is called with new channels, before any of their messages.
	Advertised func([]*Channel)

	// Unadvertised is called with channels that have ended, and with those that the server replaced by
	// others of the same ids.
	Unadvertised func([]*Channel)

	// Message is called with each message of a channel that Options.Subscribe chose. logTime is when the
	// server received it, in ns since 1970. The data belong to the handler, which may keep and change them.
	// The last messages of a channel may come after Unadvertised: servers send its end when they like.
	Message func(c *Channel, logTime uint64, data []byte)

	// Parameters is called with values that no call of GetParameters or SetParameters waits for.
	Parameters func([]Parameter)

	// Time is called with the server's clock, in ns since 1970, if it is not the computer's.
	Time func(ns uint64)

	// Status is called with what the server says to people, and StatusRemoved with the ids of those
	// that hold no longer.
	Status        func(*Status)
	StatusRemoved func(ids []string)

	// Playback is called when a server that plays recorded data says how far it is.
	Playback func(*PlaybackState)
}

// Options configure a client. The zero value subscribes to nothing.
type Options struct {
	Handler Handler

	// Subscribe chooses the channels whose messages are wanted. It is called once for each channel that the
	// server advertises, by the goroutine of Run. If it is nil, none are.
	Subscribe func(*Channel) bool

	TLS    *tls.Config // of wss://; nil trusts the certificates of the system
	Header http.Header // sent with the request, such as a token

	// MaxMessage is the size of a message in bytes, 128 MiB if it is 0. Larger ones are read past and
	// counted.
	MaxMessage int64
}

// Client is a connection to a server, from [Dial] to the end of [Client.Run]. A client does not connect
// again: its caller dials anew.
type Client struct {
	options  Options
	address  string
	conn     *websocket.Conn
	net      net.Conn
	reader   *messageReader
	queue    *queue
	problems problems
	started  atomic.Bool
	closed   atomic.Bool
	shutOnce sync.Once

	// Of the goroutine of Run.
	early         []early // what came before the first serverInfo
	channels      channelSet
	subscriptions subscriptions

	mu          sync.Mutex // guards what follows
	info        *ServerInfo
	retrying    map[uint32]*time.Timer      // of subscriptions
	waiting     map[string]chan []Parameter // for the values of a request
	nextRequest uint64
	publishers  map[uint32]bool
	nextChannel uint32
}

type early struct {
	kind websocket.MessageType
	data []byte
}

// ErrClosed is the end of a connection that Close asked for.
var ErrClosed = errors.New("the connection was closed")

// Info returns what the server last said of itself. It is not to be changed.
func (c *Client) Info() *ServerInfo {
	c.mu.Lock()
	defer c.mu.Unlock()

	return c.info
}

// Subprotocol returns foxglove.sdk.v1 or foxglove.websocket.v1, whichever the server chose.
func (c *Client) Subprotocol() string { return c.conn.Subprotocol() }

// Problems returns what was wrong with what the server sent, by reason.
func (c *Client) Problems() map[Reason]Problem { return c.problems.copy() }

// Close ends the connection, and Run with it. It may be called at any time and more than once.
func (c *Client) Close() error {
	c.closed.Store(true)
	c.shut()

	return nil
}

// shut says goodbye to the server, and ends the connection whether or not it answers.
func (c *Client) shut() {
	c.shutOnce.Do(func() {
		c.queue.end(ErrClosed)
		// Close has no limit of its own that is short enough for a server that has gone.
		cut := time.AfterFunc(closeWait, func() { _ = c.net.Close() })
		defer cut.Stop()
		_ = c.conn.Close(websocket.StatusNormalClosure, "")
	})
}

// Run reads what the server sends and hands it to the handler until the connection ends. It returns
// ErrClosed after Close, the context's error after its end, and otherwise why the connection ended. It may
// be called once.
func (c *Client) Run(ctx context.Context) error {
	if c.started.Swap(true) {
		return errors.New("the connection is used already: Run is called once")
	}

	cancelled := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(cancelled)
		c.shut()
	})

	written := make(chan error, 1)
	go func() { written <- c.write() }()

	err := c.read(ctx)

	c.queue.end(err)
	c.shut()
	writeErr := <-written
	if !stop() {
		<-cancelled
	}
	c.forget()

	switch {
	case c.closed.Load():
		return ErrClosed
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, net.ErrClosed) && writeErr != nil:
		return fmt.Errorf("write to %s: %w", c.address, writeErr)
	default:
		return err
	}
}

// write sends what is in the queue until it ends.
func (c *Client) write() error {
	for {
		m, err := c.queue.next()
		if err != nil {
			return nil
		}
		// A context that ends within a message would end the connection, so it has none.
		if err := c.conn.Write(context.Background(), m.kind, m.bytes); err != nil {
			c.queue.end(err)
			_ = c.net.Close()

			return err
		}
	}
}

func (c *Client) read(ctx context.Context) error {
	if call := c.options.Handler.Info; call != nil {
		call(c.Info())
	}

	for _, m := range c.early {
		if err := c.receive(m.kind, m.data); err != nil {
			return err
		}
	}
	c.early = nil

	for ctx.Err() == nil && !c.closed.Load() {
		kind, data, err := c.reader.next(context.Background())

		var large *errTooLarge
		switch {
		case errors.As(err, &large):
			c.problems.add(TooLarge, "%v", err)
			continue
		case err != nil:
			return c.ended(err)
		}
		// What came after Close or the end of the context is not wanted.
		if ctx.Err() != nil || c.closed.Load() {
			break
		}
		if err := c.receive(kind, data); err != nil {
			return err
		}
		c.reader.release()
	}

	return ErrClosed
}

// ended explains why there is nothing more to read.
func (c *Client) ended(err error) error {
	var end websocket.CloseError
	if errors.As(err, &end) {
		if end.Reason != "" {
			return fmt.Errorf("%s closed the connection: %.200q (%s)", c.address, end.Reason, end.Code)
		}

		return fmt.Errorf("%s closed the connection (%s)", c.address, end.Code)
	}

	return fmt.Errorf("the connection to %s is lost: %w", c.address, err)
}

// receive hands on one message of the server. An error ends the connection.
func (c *Client) receive(kind websocket.MessageType, data []byte) error {
	if kind == websocket.MessageText {
		return c.receiveText(data)
	}
	if len(data) == 0 {
		c.problems.add(Truncated, "a binary message without an opcode")
		return nil
	}

	h := &c.options.Handler

	switch data[0] {
	case opMessage:
		m, err := decodeMessage(data)
		if err != nil {
			c.problems.add(Truncated, "a message of data: %v", err)
			return nil
		}
		channel := c.subscriptions.channel(m.subscription)
		if channel == nil {
			c.unknownSubscription(m.subscription)
			return nil
		}
		if h.Message != nil {
			h.Message(channel, m.logTime, c.reader.own(m.data))
		}

	case opTime:
		ns, err := decodeTime(data)
		if err != nil {
			c.problems.add(Truncated, "a message of time: %v", err)
		} else if h.Time != nil {
			h.Time(ns)
		}

	case opPlaybackState:
		state, err := decodePlaybackState(data)
		if err != nil {
			c.problems.add(playbackReason(err), "a state of playback: %v", err)
		} else if h.Playback != nil {
			h.Playback(state)
		}

	case opServiceResponse, opAsset:
		// This client asks for neither.

	default:
		c.problems.add(UnknownOpcode, "a binary message with the opcode %d", data[0])
	}

	return nil
}

// unknownSubscription counts a message that belongs to no channel.
func (c *Client) unknownSubscription(id uint32) {
	if uint64(id) < c.subscriptions.issued {
		c.problems.add(LateMessage, "a message of subscription %d, which has ended", id)
	} else {
		c.problems.add(UnknownSubscription, "a message of subscription %d, which there never was", id)
	}
}

func (c *Client) receiveText(text []byte) error {
	op, err := opOf(text)
	if err != nil {
		c.problems.add(BadJSON, "%v", err)
		return nil
	}
	if long := op == "advertise" || op == "parameterValues"; !long && len(text) > maxSmallText {
		c.problems.add(TooLarge, "a message %.80q of %d bytes is over the limit of %d", op, len(text), maxSmallText)
		return nil
	}

	h := &c.options.Handler

	switch op {
	case "serverInfo":
		info, err := decodeServerInfo(text)
		if err != nil {
			c.problems.add(BadJSON, "%s: %v", op, err)
			return nil
		}
		c.setInfo(info)
		if h.Info != nil {
			h.Info(info)
		}

	case "advertise":
		var m struct {
			Channels jsontext.Value `json:"channels"`
		}
		if err := unmarshal(text, &m); err != nil {
			c.problems.add(BadJSON, "%s: %v", op, err)
			return nil
		}
		replaced, added := c.channels.add(m.Channels, &c.problems)

		return errors.Join(c.unadvertised(replaced), c.advertised(added))

	case "unadvertise":
		var m struct {
			IDs jsontext.Value `json:"channelIds"`
		}
		if err := unmarshal(text, &m); err != nil {
			c.problems.add(BadJSON, "%s: %v", op, err)
			return nil
		}

		return c.unadvertised(c.channels.removeAll(m.IDs, &c.problems))

	case "parameterValues":
		var m parameterValues
		if err := unmarshal(text, &m); err != nil {
			c.problems.add(BadJSON, "%s: %v", op, err)
			return nil
		}
		c.receiveParameters(decodeParameters(m.Parameters, &c.problems), m.ID)

	case "status":
		var s Status
		if err := unmarshal(text, &s); err != nil {
			c.problems.add(BadJSON, "%s: %v", op, err)
			return nil
		}
		if again, wait := c.subscriptions.refused(&s); wait > 0 {
			c.retry(again, wait)
			return nil
		}
		if h.Status != nil {
			h.Status(&s)
		}

	case "removeStatus":
		var m struct {
			IDs []string `json:"statusIds"`
		}
		if err := unmarshal(text, &m); err != nil {
			c.problems.add(BadJSON, "%s: %v", op, err)
		} else if h.StatusRemoved != nil {
			h.StatusRemoved(m.IDs)
		}

	case "advertiseServices", "unadvertiseServices", "serviceCallFailure", "connectionGraphUpdate":
		// This client asks for none of it. Services are advertised all the same.

	default:
		c.problems.add(UnknownOp, "a message %.80q", op)
	}

	return nil
}

func (c *Client) setInfo(info *ServerInfo) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.info = info
}

// subscription is one of a subscribe message.
type subscription struct {
	ID      *uint32 `json:"id"`
	Channel *uint64 `json:"channelId"`
}

type subscribe struct {
	Op            string         `json:"op"`
	Subscriptions []subscription `json:"subscriptions"`
}

// advertised tells the handler of channels, and subscribes to those that are wanted.
func (c *Client) advertised(channels []*Channel) error {
	if len(channels) == 0 {
		return nil
	}
	if c.options.Handler.Advertised != nil {
		c.options.Handler.Advertised(channels)
	}
	if c.options.Subscribe == nil {
		return nil
	}

	var wanted []subscription

	for _, channel := range channels {
		if !c.options.Subscribe(channel) {
			continue
		}
		id := c.subscriptions.begin(channel)
		wanted = append(wanted, subscription{&id, &channel.ID})
	}
	if len(wanted) == 0 {
		return nil
	}

	return c.sendControl(subscribe{"subscribe", wanted})
}

// unadvertised ends the subscriptions of channels, and tells the handler. The server may still know the
// subscription of a channel that it replaced, and would refuse another one.
func (c *Client) unadvertised(channels []*Channel) error {
	if len(channels) == 0 {
		return nil
	}

	message := struct {
		Op  string   `json:"op"`
		IDs []uint32 `json:"subscriptionIds"`
	}{Op: "unsubscribe"}

	for _, channel := range channels {
		if id, ok := c.subscriptions.end(channel); ok {
			c.stopRetry(id)
			message.IDs = append(message.IDs, id)
		}
	}
	if c.options.Handler.Unadvertised != nil {
		c.options.Handler.Unadvertised(channels)
	}
	if len(message.IDs) == 0 {
		return nil
	}

	return c.sendControl(message)
}

// sendControl sends a message of the client itself. It fails if the server reads nothing.
func (c *Client) sendControl(message any) error {
	text, err := json.Marshal(message)
	if err != nil {
		return fmt.Errorf("make a message: %w", err)
	}
	if err := c.queue.addControl(websocket.MessageText, text); err != nil {
		return fmt.Errorf("write to %s: %w", c.address, err)
	}

	return nil
}
