package foxglove

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/coder/websocket"

	"github.com/robotmem/robotmem-go/perception/segment"
)

// Publisher is a channel of a client, on which it publishes to the server.
type Publisher struct {
	client *Client
	id     uint32
}

// Advertise begins a channel on which the client publishes. The server has to have the capability
// clientPublish, and the message encoding if it names those that it takes: foxglove_bridge takes json and
// cdr. The ids are the client's.
func (c *Client) Advertise(channel *segment.Channel) (*Publisher, error) {
	what := fmt.Sprintf("publish %.80s", channel.Topic)
	if err := c.require(CapabilityClientPublish, what); err != nil {
		return nil, err
	}
	if known := c.Info().SupportedEncodings; len(known) > 0 && !slices.Contains(known, channel.MessageEncoding) {
		return nil, fmt.Errorf("%s: %s takes messages as %.200s, not as %q", what, c.address, strings.Join(known, ", "), channel.MessageEncoding)
	}

	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.publishers) >= maxChannels {
		return nil, fmt.Errorf("%s: the client publishes %d channels, the most there may be", what, len(c.publishers))
	}

	id := c.nextChannel
	for c.publishers[id] {
		id++
	}

	text, err := encodeChannels([]*Channel{{Channel: *channel, ID: uint64(id)}})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	if err := c.sendText(text); err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	c.publishers[id] = true
	c.nextChannel = id + 1

	return &Publisher{c, id}, nil
}

// Publish sends a message. It does not wait for the server: it fails if 64 MiB are waiting already, or if
// the connection has ended. The data are copied.
func (p *Publisher) Publish(data []byte) error {
	return p.client.sendBinary(clientMessage{p.id, data}.encode())
}

// Unadvertise ends the channel. Nothing may be published on it afterwards.
func (p *Publisher) Unadvertise() error {
	c := p.client
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.publishers[p.id] {
		return errors.New("the channel has ended already")
	}
	delete(c.publishers, p.id)

	return c.sendControl(struct {
		Op  string   `json:"op"`
		IDs []uint32 `json:"channelIds"`
	}{"unadvertise", []uint32{p.id}})
}

func (c *Client) sendText(text []byte) error {
	if err := c.queue.addControl(websocket.MessageText, text); err != nil {
		return fmt.Errorf("write to %s: %w", c.address, err)
	}

	return nil
}

func (c *Client) sendBinary(frame []byte) error {
	if err := c.queue.addControl(websocket.MessageBinary, frame); err != nil {
		return fmt.Errorf("write to %s: %w", c.address, err)
	}

	return nil
}
