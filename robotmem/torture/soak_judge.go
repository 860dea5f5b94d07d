package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// maxAnswer bounds what is read of one answer, in bytes.
const maxAnswer = 64 << 20

func readBody(res *http.Response) ([]byte, error) {
	defer res.Body.Close()
	var in io.Reader = res.Body
	if res.Header.Get("Content-Encoding") == "gzip" {
		unzipped, err := gzip.NewReader(res.Body)
		if errors.Is(err, io.EOF) { // the answer to HEAD
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		in = unzipped
	}
	return io.ReadAll(io.LimitReader(in, maxAnswer))
}

// judge compares an answer with what the node says of itself.
func (a *asker) judge(c *call, res *http.Response, body []byte) {
	mediaType, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type"))
	bad := func(format string, args ...any) {
		a.broken("%s: %s %.120s (%s, %.200q) answered %d: %s: %.300s", a.node.name, c.method, c.path, c.class, c.body, res.StatusCode, fmt.Sprintf(format, args...), body)
	}
	head := c.method == http.MethodHead
	switch code := res.StatusCode; {
	case ownFault(code): // whatever it says of itself
		bad("a fault of the node's own")
	case code >= http.StatusBadRequest:
		// net/http answers itself a head that it will not read.
		if mediaType == "text/plain" && (code == http.StatusBadRequest || code == http.StatusRequestHeaderFieldsTooLarge || code == http.StatusExpectationFailed) {
			return
		}
		if mediaType != "application/problem+json" {
			bad("not a problem document but %q", mediaType)
		} else if !head {
			if why := a.refusal(body, code); why != "" {
				bad("%s", why)
			}
		}
		if _, described := c.op.Responses[strconv.Itoa(code)]; !described && !c.astray {
			bad("the description does not name this status")
		}
	case mediaType == "text/event-stream" && c.op.ID != "events" && !head:
		a.judgeStream(c, body, bad)
	case code == http.StatusOK && mediaType == "application/json" && !head && c.op.conforms != nil && !c.astray:
		v, err := a.conform(c.op.conforms, body)
		if err != nil {
			bad("%v", err)
			return
		}
		a.node.seen(v)
		if c.class != "broken" {
			a.remember(c.op.ID, c.fields, body)
		}
	}
}

// ownFault is true of a status that says that the node failed. It may only be
// busy, or out of room.
func ownFault(code int) bool {
	return code >= http.StatusInternalServerError && code != http.StatusServiceUnavailable
}

// conform reads an answer and compares it with its schema.
func (a *asker) conform(s *jsonschema.Schema, body []byte) (any, error) {
	v, err := valueOf(body)
	if err != nil {
		return nil, fmt.Errorf("is no JSON: %w", err)
	}
	return v, s.Validate(v)
}

// refusal says what is wrong with a problem document, "" if nothing is. A node
// may be busy or out of room; a fault of its own it may not have.
func (a *asker) refusal(body []byte, code int) string {
	if _, err := a.conform(a.api.problem, body); err != nil {
		return "not a problem as it is described: " + err.Error()
	}
	var p struct {
		Status       int
		Kind, Detail string
	}
	if err := json.Unmarshal(body, &p); err != nil {
		return err.Error()
	}
	switch {
	case p.Kind == "internal" || p.Kind == "corrupt" || ownFault(p.Status):
		return "a fault of the node's own"
	case code != 0 && p.Status != code:
		return "the problem names another status"
	case p.Status == http.StatusServiceUnavailable && p.Kind != "unavailable":
		return "a fault of the node's own"
	case p.Detail == "":
		return "no reason"
	}
	return ""
}

// judgeStream reads the events of an operation: progress, then one result or
// problem.
func (a *asker) judgeStream(c *call, body []byte, bad func(string, ...any)) {
	last, data := "", ""
	for event := range strings.SplitSeq(strings.TrimSpace(string(body)), "\n\n") {
		for line := range strings.SplitSeq(event, "\n") {
			if name, ok := strings.CutPrefix(line, "event: "); ok {
				last = name
			}
			if text, ok := strings.CutPrefix(line, "data: "); ok {
				data = text
			}
		}
	}
	switch last {
	case "result":
		if c.op.conforms == nil || c.astray {
			return
		}
		if _, err := a.conform(c.op.conforms, []byte(data)); err != nil {
			bad("%v", err)
		} else if c.class != "broken" {
			a.remember(c.op.ID, c.fields, []byte(data))
		}
	case "problem":
		a.count("refused in a stream", 0)
		var p struct{ Status int }
		if json.Unmarshal([]byte(data), &p) == nil && p.Status == http.StatusServiceUnavailable {
			a.mu.Lock()
			a.busy++
			a.mu.Unlock()
		}
		if why := a.refusal([]byte(data), 0); why != "" {
			bad("%s", why)
		}
	default:
		bad("a stream that ends with %q", last)
	}
}

// remember notes the facts that an answer acknowledges.
func (a *asker) remember(op string, fields map[string]any, answer []byte) {
	type learnt struct {
		Status   string
		MemoryID int64 `json:"memory_id"`
	}
	note := func(item any, res learnt) {
		if f, ok := item.(map[string]any); ok && res.Status == "created" {
			if text, ok := f["insight"].(string); ok {
				a.node.learnt(res.MemoryID, text)
			}
		}
	}
	switch op {
	case "learn":
		var res learnt
		if json.Unmarshal(answer, &res) == nil {
			note(fields, res)
		}
	case "learn_batch":
		var res struct{ Results []learnt }
		items, ok := fields["items"].([]any)
		if !ok || json.Unmarshal(answer, &res) != nil || len(res.Results) != len(items) {
			return
		}
		for i := range items {
			note(items[i], res.Results[i])
		}
	}
}

// readable reports whether a line is one JSON value.
func readable(line []byte) bool { return json.Valid(bytes.TrimSpace(line)) }
