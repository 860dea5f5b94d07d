package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/tmaxmax/go-sse"

	"github.com/robotmem/robotmem-go/robotmem"
)

// eventStream is how an answer comes that reports its progress: events named
// progress, each with a robotmem.Progress, and at the end one named result, with
// the response, or problem, with the problem document. A node that knows nothing
// of it answers as ever.
const eventStream = "text/event-stream"

// follow reads such an answer to its end and returns the response in it. tell may
// be nil.
func (c *Client) follow(op *robotmem.Op, res *http.Response, tell func(robotmem.Progress)) ([]byte, error) {
	broken := func(err error) error {
		return &robotmem.Error{Op: op.Name, Kind: robotmem.Unavailable, Err: fmt.Errorf("%s did not answer as a robotmem node: %w; check the address and what stands between", c.base, err)}
	}
	events := sse.Read(io.LimitReader(res.Body, maxAnswer), &sse.ReadConfig{MaxEventSize: maxAnswer})
	for event, err := range events {
		switch {
		case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
			return nil, c.unreachable(op, err)
		case err != nil:
			return nil, c.brokenOff(op, err)
		case event.Type == "result":
			return []byte(event.Data), nil
		case event.Type == "problem":
			if err := problem(op, []byte(event.Data)); err != nil {
				return nil, err
			}
			return nil, broken(errors.New("its problem document cannot be read"))
		case event.Type == "progress" && tell != nil:
			var p robotmem.Progress
			if err := json.Unmarshal([]byte(event.Data), &p); err != nil {
				return nil, broken(err)
			}
			tell(p)
		}
	}
	return nil, c.brokenOff(op, io.ErrUnexpectedEOF)
}

func (c *Client) brokenOff(op *robotmem.Op, err error) error {
	return &robotmem.Error{Op: op.Name, Kind: robotmem.Unavailable, Err: fmt.Errorf("the answer of %s broke off before its result: %w; the node may have done it or not, look before you ask again", c.base, err)}
}
