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
	"reflect"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/outgoing"
	"github.com/robotmem/robotmem-go/robotmem/progress"
	"github.com/tmaxmax/go-sse"
)

const (
	// maxAnswer is the largest JSON answer in bytes. OpenData reads larger payloads.
	maxAnswer = 1 << 30
	// maxProblem is how much of an error answer is read, in bytes.
	maxProblem = 1 << 20
	// eventStream is the media type of an answer with progress: events named progress, each with
	// a progress.Report, and at the end one event named result with the response, or problem with
	// the problem document. A node without this feature answers JSON.
	eventStream = "text/event-stream"
)

// call runs an operation over its route.
func call[Out any](ctx context.Context, c *Client, name string, in any) (*Out, error) {
	op := robotmem.OpByName(name)
	req, err := c.request(ctx, op, in)
	if err != nil {
		return nil, err
	}
	if op.Hints.Progress && progress.Of(ctx) != nil {
		req.Header.Set("Accept", eventStream)
	}

	return answer[Out](c, op, req)
}

// answer sends the request of an operation and reads its response.
func answer[Out any](c *Client, op *robotmem.Op, req *http.Request) (*Out, error) {
	res, err := c.opts.HTTP.Do(req)
	if err != nil {
		return nil, c.unreachable(op, err)
	}

	defer res.Body.Close()

	// An older node ignores the request for events and answers JSON.
	var body []byte
	if mediaType(res) == eventStream {
		if body, err = c.readEvents(op, res, progress.Of(req.Context()).Set); err != nil {
			return nil, err
		}
	} else if body, err = io.ReadAll(io.LimitReader(res.Body, maxAnswer)); err != nil {
		return nil, c.unreachable(op, err)
	}

	if res.StatusCode != http.StatusOK {
		return nil, c.failure(op, res, body)
	}

	out := new(Out)

	// Numbers in a context keep their spelling.
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.UseNumber()

	if err := dec.Decode(out); err != nil {
		return nil, c.notANode(op, err)
	}
	if missing := missingField(reflect.TypeFor[Out](), body); missing != "" {
		return nil, c.notANode(op, fmt.Errorf("its answer has no %s", missing))
	}

	return out, nil
}

// requiredFields is how many fields of an answer are required. They are the oldest ones, so that a node of
// another version, which may lack later ones, is still understood.
const requiredFields = 2

// missingField returns the first of the required fields of an answer that a JSON object lacks, or "". Another program,
// or a proxy, may answer {} to anything, which would look like a success.
func missingField(t reflect.Type, object []byte) string {
	fields := map[string]json.RawMessage{}
	if json.Unmarshal(object, &fields) != nil {
		return "object"
	}

	seen := 0

	for _, f := range reflect.VisibleFields(t) {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "" || name == "-" || strings.Contains(options, "omit") || seen == requiredFields {
			continue
		}

		seen++
		if _, there := fields[name]; !there {
			return name
		}
	}

	return ""
}

// newRequest returns a request with the headers that all requests have.
func (c *Client) newRequest(
	ctx context.Context, op *robotmem.Op, path string, body io.Reader, accept string,
) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, op.Method(), c.base+path, body)
	if err != nil {
		err = fmt.Errorf("the address of the node: %w", err)
		return nil, &robotmem.Error{Op: op.Name, Kind: robotmem.Invalid, Err: err}
	}

	req.Header.Set("Accept", accept)
	if c.opts.Token != "" {
		req.Header.Set("Authorization", "Bearer "+c.opts.Token)
	}

	return req, nil
}

// request returns the HTTP request for in: the wildcards of the route in the path, the
// other fields in the query of a GET or DELETE, otherwise in a JSON body.
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

		// An empty segment would make the path of another route, such as that of the list.
		value := text(raw)
		if value == "" {
			return nil, &robotmem.Error{
				Op: op.Name, Kind: robotmem.Invalid, Field: name, Err: errors.New("is required"),
			}
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
		data, _ := json.Marshal(fields) // cannot fail: each is JSON already
		body = bytes.NewReader(data)
	}

	req, err := c.newRequest(ctx, op, path, body, "application/json")
	if err == nil && body != nil {
		req.Header.Set("Content-Type", "application/json")
		setIdempotencyKey(req, fields)
	}

	return req, err
}

// setIdempotencyKey sets the header of a call with a request_id. net/http sends such a call again when its connection
// breaks.
func setIdempotencyKey(req *http.Request, fields map[string]json.RawMessage) {
	if id := text(fields["request_id"]); id != "" && !strings.ContainsFunc(id, unicode.IsControl) {
		req.Header.Set("Idempotency-Key", id)
	}
}

// text returns a JSON value as a query or path value: a string without its quotes, any
// other value as JSON.
func text(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	return string(raw)
}

// unreachable returns the error of a request without an answer.
func (c *Client) unreachable(op *robotmem.Op, err error) error {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		err = fmt.Errorf("stopped waiting for %s: %w", c.base, err)
		return &robotmem.Error{Op: op.Name, Kind: robotmem.Unavailable, Err: err}
	}
	if redirect := (*outgoing.RedirectError)(nil); errors.As(err, &redirect) {
		return c.notANode(op, redirect)
	}

	// The outer error repeats method, address and path.
	if e := (*url.Error)(nil); errors.As(err, &e) {
		err = e.Err
	}

	err = fmt.Errorf("no answer from %s: %w; is `robotmem web` running there?", c.base, err)

	return &robotmem.Error{Op: op.Name, Kind: robotmem.Unavailable, Err: err}
}

// failure returns the error of an answer with an error status.
func (c *Client) failure(op *robotmem.Op, res *http.Response, body []byte) error {
	if mediaType(res) == "application/problem+json" {
		if err := problem(op, body); err != nil {
			return err
		}
	}

	err := fmt.Errorf("%s answered %s, which is not the answer of a robotmem node; "+
		"check the address, and proxies between here and the node", c.base, res.Status)

	return &robotmem.Error{Op: op.Name, Kind: robotmem.Unavailable, Err: err}
}

// notANode returns the error of an answer that a robotmem node would not give.
func (c *Client) notANode(op *robotmem.Op, err error) error {
	err = fmt.Errorf("%s did not answer as a robotmem node: %w; "+
		"check the address, and proxies between here and the node", c.base, err)

	return &robotmem.Error{Op: op.Name, Kind: robotmem.Unavailable, Err: err}
}

// problem returns the error in a problem document, nil for another document.
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

// readEvents reads an answer with events to its end and returns the response. It reports
// progress to report, which may be nil.
func (c *Client) readEvents(op *robotmem.Op, res *http.Response, report func(progress.Report)) ([]byte, error) {
	events := sse.Read(io.LimitReader(res.Body, maxAnswer), &sse.ReadConfig{MaxEventSize: maxAnswer})
	for event, err := range events {
		switch {
		case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
			return nil, c.unreachable(op, err)
		case err != nil:
			// The node has begun the work, and may have finished it.
			return nil, c.incomplete(op, err)
		case event.Type == "result":
			return []byte(event.Data), nil
		case event.Type == "problem":
			if err := problem(op, []byte(event.Data)); err != nil {
				return nil, err
			}
			return nil, c.notANode(op, errors.New("its problem document cannot be read"))
		case event.Type == "progress" && report != nil:
			var p progress.Report
			if err := json.Unmarshal([]byte(event.Data), &p); err != nil {
				return nil, c.notANode(op, err)
			}
			report(p)
		}
	}

	return nil, c.incomplete(op, io.ErrUnexpectedEOF)
}

// incomplete returns the error of an answer that ended before its result.
func (c *Client) incomplete(op *robotmem.Op, err error) error {
	err = fmt.Errorf("the answer of %s ended before its result: %w; "+
		"check whether the node has done it before you try again", c.base, err)

	return &robotmem.Error{Op: op.Name, Kind: robotmem.Unavailable, Err: err}
}

// fieldsOf returns a request as JSON fields.
func fieldsOf(op *robotmem.Op, in any) (map[string]json.RawMessage, error) {
	if field := notUTF8(reflect.ValueOf(in).Elem()); field != "" {
		err := errors.New("is not valid UTF-8; store bytes with save_perception")
		return nil, &robotmem.Error{Op: op.Name, Kind: robotmem.Invalid, Field: field, Err: err}
	}

	data, err := robotmem.RequestJSON(in)
	if e := (*robotmem.Error)(nil); errors.As(err, &e) {
		return nil, &robotmem.Error{Op: op.Name, Kind: e.Kind, Field: e.Field, Err: e.Err}
	}
	if err != nil {
		return nil, invalid(op, in, err)
	}

	fields := map[string]json.RawMessage{}

	return fields, json.Unmarshal(data, &fields) // it is an object
}

// invalid returns the error of a request without a JSON form, such as a context with NaN.
// It names the field.
func invalid(op *robotmem.Op, in any, err error) error {
	err = fmt.Errorf("must be JSON, which has no NaN and no infinite numbers; leave them out: %s",
		strings.TrimPrefix(err.Error(), "json: "))
	e := &robotmem.Error{Op: op.Name, Kind: robotmem.Invalid, Err: err}

	// The encoder's error does not name the field, so each one is encoded alone.
	v := reflect.ValueOf(in).Elem()
	for i := range v.NumField() {
		if !v.Type().Field(i).IsExported() {
			continue
		}
		if _, err := json.Marshal(v.Field(i).Interface()); err != nil {
			e.Field = jsonName(v.Type().Field(i))
		}
	}

	return e
}

// notUTF8 returns the name of the first field of a request that is not valid UTF-8, "" if there
// is none. The JSON encoder would replace the invalid bytes, so the node could not refuse them.
func notUTF8(v reflect.Value) string {
	for i := range v.NumField() {
		f, sf := v.Field(i), v.Type().Field(i)
		switch {
		case !sf.IsExported():
		case f.Kind() == reflect.String && !utf8.ValidString(f.String()):
			return jsonName(sf)
		case f.Type() == reflect.TypeFor[[]robotmem.LearnRequest]():
			for j := range f.Len() {
				if name := notUTF8(f.Index(j)); name != "" {
					return fmt.Sprintf("%s[%d].%s", jsonName(sf), j, name)
				}
			}
		}
	}

	return ""
}

func jsonName(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return name
}
