package client

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"

	"github.com/robotmem/robotmem-go/robotmem"
)

// maxAnswer bounds an answer in memory: a payload of 4 GiB must not be asked
// for as JSON.
const maxAnswer = 1 << 30

// maxProblem bounds what is read of an answer that is an error.
const maxProblem = 1 << 20

// call runs one operation over its route.
func call[Out any](ctx context.Context, c *Client, name string, in any) (*Out, error) {
	op := robotmem.OpByName(name)
	req, err := c.request(ctx, op, in)
	if err != nil {
		return nil, err
	}
	if op.Hints.Progress && robotmem.MeterOf(ctx) != nil {
		req.Header.Set("Accept", eventStream)
	}
	return answer[Out](c, op, req)
}

// answer sends a request and reads the response of an operation.
func answer[Out any](c *Client, op *robotmem.Op, req *http.Request) (*Out, error) {
	res, err := c.opts.HTTP.Do(req)
	if err != nil {
		return nil, c.unreachable(op, err)
	}
	defer res.Body.Close()
	var body []byte
	if mediaType(res) == eventStream {
		if body, err = c.follow(op, res, robotmem.MeterOf(req.Context()).Set); err != nil {
			return nil, err
		}
	} else if body, err = io.ReadAll(io.LimitReader(res.Body, maxAnswer)); err != nil {
		return nil, c.unreachable(op, err)
	}
	if res.StatusCode != http.StatusOK {
		return nil, c.failure(op, res, body)
	}
	out := new(Out)
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.UseNumber() // the caller's numbers keep their spelling
	if err := dec.Decode(out); err != nil {
		return nil, &robotmem.Error{Op: op.Name, Kind: robotmem.Unavailable, Err: fmt.Errorf("%s did not answer as a robotmem node: %w; check the address", c.base, err)}
	}
	return out, nil
}

// mark sets what every request carries.
func (c *Client) mark(req *http.Request, accept string) {
	req.Header.Set("Accept", accept)
	if c.opts.Token != "" {
		req.Header.Set("Authorization", "Bearer "+c.opts.Token)
	}
}

// request puts the fields of in where the route wants them: wildcards in the
// path, the others in the query of a GET or DELETE, else in a JSON body.
func (c *Client) request(ctx context.Context, op *robotmem.Op, in any) (*http.Request, error) {
	fields, err := fieldsOf(op, in)
	if err != nil {
		return nil, err
	}
	path := op.Path()
	for name, raw := range fields {
		wildcard := "{" + name + "}"
		if !strings.Contains(path, wildcard) {
			continue
		}
		value := text(raw)
		if value == "" {
			return nil, &robotmem.Error{Op: op.Name, Kind: robotmem.Invalid, Field: name, Err: errors.New("is required")}
		}
		path = strings.ReplaceAll(path, wildcard, url.PathEscape(value))
		delete(fields, name)
	}
	var body io.Reader
	if m := op.Method(); m == http.MethodGet || m == http.MethodDelete {
		query := url.Values{}
		for name, raw := range fields {
			query.Set(name, text(raw))
		}
		if len(query) > 0 {
			path += "?" + query.Encode()
		}
	} else {
		data, err := json.Marshal(fields)
		if err != nil {
			return nil, &robotmem.Error{Op: op.Name, Kind: robotmem.Invalid, Err: err}
		}
		body = bytes.NewReader(data)
	}
	req, err := http.NewRequestWithContext(ctx, op.Method(), c.base+path, body)
	if err != nil {
		return nil, &robotmem.Error{Op: op.Name, Kind: robotmem.Invalid, Err: fmt.Errorf("the address of the node: %w", err)}
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	c.mark(req, "application/json")
	return req, nil
}

// text is a JSON value as a query or path value: a string without its quotes,
// anything else as it stands.
func text(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	return string(raw)
}

// unreachable is a failure between here and the node.
func (c *Client) unreachable(op *robotmem.Op, err error) error {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return &robotmem.Error{Op: op.Name, Kind: robotmem.Unavailable, Err: fmt.Errorf("gave up waiting for %s: %w", c.base, err)}
	}
	// The cause names method, address and path again; the innermost says why.
	if e := (*url.Error)(nil); errors.As(err, &e) {
		err = e.Err
	}
	return &robotmem.Error{Op: op.Name, Kind: robotmem.Unavailable, Err: fmt.Errorf("no answer from %s: %w; is `robotmem web` running there?", c.base, err)}
}

// failure turns a problem document back into the error it was made of.
func (c *Client) failure(op *robotmem.Op, res *http.Response, body []byte) error {
	if mediaType(res) == "application/problem+json" {
		if err := problem(op, body); err != nil {
			return err
		}
	}
	return &robotmem.Error{Op: op.Name, Kind: kindOf(res.StatusCode), Err: fmt.Errorf("%s answered %s, and not as a robotmem node; check the address and what stands between", c.base, res.Status)}
}

// problem is the error that a problem document was made of, nil if it is none.
func problem(op *robotmem.Op, document []byte) error {
	var p struct {
		Kind   robotmem.Kind `json:"kind"`
		Field  string        `json:"field"`
		Detail string        `json:"detail"`
		Op     string        `json:"op"`
	}
	if json.Unmarshal(document, &p) != nil || p.Kind == "" {
		return nil
	}
	return &robotmem.Error{Op: cmp.Or(p.Op, op.Name), Kind: p.Kind, Field: p.Field, Err: errors.New(p.Detail)}
}

func mediaType(res *http.Response) string {
	t, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type"))
	return t
}

// kindOf classes a status that came without a problem document, from a proxy
// or another server.
func kindOf(status int) robotmem.Kind {
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden:
		return robotmem.Forbidden
	case http.StatusRequestEntityTooLarge:
		return robotmem.TooLarge
	}
	return robotmem.Unavailable
}
