package foxglove

import (
	"context"
	"fmt"
	"slices"
	"strconv"
)

// GetParameters asks the server for parameters by their names, or for all. Parameters that are not set are
// left out, or have no value, as the server likes. It waits for the answer, which Run reads: it must not
// be called by a handler. A server that does not answer is waited for until the context ends.
func (c *Client) GetParameters(ctx context.Context, names ...string) ([]Parameter, error) {
	return c.request(ctx, "read parameters", func(id string) error {
		return c.sendControl(parameterNames{"getParameters", notNil(names), id})
	})
}

// SetParameters sets parameters, and removes those without a value. It returns what the server made of
// them, and waits as GetParameters does.
func (c *Client) SetParameters(ctx context.Context, parameters []Parameter) ([]Parameter, error) {
	return c.request(ctx, "set parameters", func(id string) error {
		text, err := encodeParameters("setParameters", parameters, id)
		if err != nil {
			return err
		}

		return c.sendText(text)
	})
}

// SubscribeParameters has changes of parameters sent to Handler.Parameters: of those with the names, or of
// all. Calls add up.
func (c *Client) SubscribeParameters(names ...string) error {
	if err := c.require(CapabilityParametersSubscribe, "subscribe to parameters"); err != nil {
		return err
	}

	return c.sendControl(parameterNames{Op: "subscribeParameterUpdates", Names: notNil(names)})
}

// UnsubscribeParameters ends the subscription to parameters with the names, or to all.
func (c *Client) UnsubscribeParameters(names ...string) error {
	if err := c.require(CapabilityParametersSubscribe, "subscribe to parameters"); err != nil {
		return err
	}

	return c.sendControl(parameterNames{Op: "unsubscribeParameterUpdates", Names: notNil(names)})
}

// RequestPlayback asks a server that plays recorded data to play them in another way. The server answers to
// Handler.Playback, with the id of the request.
func (c *Client) RequestPlayback(r *PlaybackRequest) error {
	if err := c.require(CapabilityPlaybackControl, "control playback"); err != nil {
		return err
	}

	return c.sendBinary(r.encode())
}

// request sends a request with a new id, and waits for the values that answer it.
func (c *Client) request(ctx context.Context, what string, send func(id string) error) ([]Parameter, error) {
	if err := c.require(CapabilityParameters, what); err != nil {
		return nil, err
	}

	c.mu.Lock()
	if c.waiting == nil {
		c.mu.Unlock()
		return nil, fmt.Errorf("%s: %w", what, ErrClosed)
	}
	c.nextRequest++
	id := "robotmem-" + strconv.FormatUint(c.nextRequest, 10)
	answer := make(chan []Parameter, 1)
	c.waiting[id] = answer
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.waiting, id)
	}()

	if err := send(id); err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}

	select {
	case parameters, ok := <-answer:
		if !ok {
			return nil, fmt.Errorf("%s: %w", what, ErrClosed)
		}

		return parameters, nil
	case <-ctx.Done():
		return nil, fmt.Errorf("%s: %s does not answer: %w", what, c.address, ctx.Err())
	}
}

// receiveParameters hands values to the request that waits for them, or to the handler.
func (c *Client) receiveParameters(parameters []Parameter, id string) {
	c.mu.Lock()
	answer := c.waiting[id]
	delete(c.waiting, id)
	c.mu.Unlock()

	if answer != nil {
		answer <- parameters
	} else if call := c.options.Handler.Parameters; call != nil {
		call(parameters)
	}
}

// forget ends the requests that wait, and those that would be repeated, when nothing more is read.
func (c *Client) forget() {
	c.mu.Lock()
	defer c.mu.Unlock()

	for _, answer := range c.waiting {
		close(answer)
	}
	c.waiting = nil

	for _, timer := range c.retrying {
		timer.Stop()
	}
	clear(c.retrying)
}

// require fails if the server lacks a capability.
func (c *Client) require(capability Capability, what string) error {
	if !slices.Contains(c.Info().Capabilities, capability) {
		return fmt.Errorf("%s: %s does not have the capability %s: start it with it", what, c.address, capability)
	}

	return nil
}

func notNil(names []string) []string {
	if names == nil {
		return []string{}
	}

	return names
}
