package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"net/url"
	"slices"
	"strings"
	"time"
)

// call is one request of an operation, on its way.
type call struct {
	op      *operation
	class   string // valid, edge or broken
	method  string
	path    string
	query   url.Values
	fields  map[string]any // of the body
	body    []byte
	raw     string // of the query, instead of query
	header  http.Header
	astray  bool          // it goes to another route than its operation's
	patient time.Duration // how long the caller waits; 0 for as long as it takes
}

// seldom are operations that take long or take much away.
var seldom = []string{"repair", "retain", "doctor", "end_session", "forget"}

// request makes one request and judges its answer.
func (a *asker) request(ctx context.Context) {
	op := one(a.rand, a.api.operations...)
	if slices.Contains(seldom, op.ID) && a.rand.IntN(8) > 0 || op.ID == "repair" && a.rand.IntN(8) > 0 {
		return
	}
	c := a.call(op, one(a.rand, "valid", "valid", "valid", "edge", "edge", "broken", "broken"))
	a.send(ctx, c)
}

// call makes a request of an operation.
func (a *asker) call(op *operation, class string) *call {
	c := &call{op: op, class: class, method: op.method, path: op.path, query: url.Values{}, header: http.Header{}}
	m := &maker{asker: a, edges: class == "edge"}
	for _, p := range op.Params {
		if !p.Required && a.rand.IntN(3) > 0 {
			continue
		}
		text := asText(m.value(p.Name, p.Schema, 0))
		switch p.In {
		case "path":
			c.path = strings.ReplaceAll(c.path, "{"+p.Name+"}", url.PathEscape(text))
		case "query":
			c.query.Set(p.Name, text)
		case "header":
			if !strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r > '~' }) {
				c.header.Set(p.Name, text)
			}
		}
	}
	if s := op.Body.Content["application/json"].Schema; s != nil {
		c.fields, _ = m.value("", s, 0).(map[string]any)
		c.encode()
	}
	switch {
	case op.ID == "login" || op.ID == "logout":
		c.patient = time.Second
	case op.ID == "events" || op.ID == "changes":
		c.patient = 300 * time.Millisecond
	case a.rand.IntN(40) == 0:
		c.patient = time.Duration(a.rand.IntN(20)) * time.Millisecond // somebody gives up
	}
	if class == "broken" {
		for range 1 + a.rand.IntN(2) {
			a.spoil(c)
		}
	}
	if a.rand.IntN(6) == 0 {
		c.header.Set("Accept", "text/event-stream")
	}
	if a.rand.IntN(3) == 0 {
		c.header.Set("Accept-Encoding", one(a.rand, "gzip", "gzip;q=0", "br, gzip", "*"))
	}
	return c
}

func (c *call) encode() {
	data, err := json.Marshal(c.fields)
	if err != nil { // numbers such as 1e400 are spelt by json.Number and pass
		data = []byte("{}")
	}
	c.body = data
	c.header.Set("Content-Type", "application/json")
}

// asText is a value within a query or a path.
func asText(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case []any:
		parts := make([]string, len(v))
		for i := range v {
			parts[i] = asText(v[i])
		}
		return strings.Join(parts, ",")
	}
	data, err := json.Marshal(v)
	if err != nil {
		return ""
	}
	return string(data)
}

// spoil breaks a request in one way.
func (a *asker) spoil(c *call) {
	field := "unknown"
	for name := range c.fields { // any of them
		field = name
		break
	}
	odd := one(a.rand, any(nil), any(true), any(-1), any("x"), any([]any{1}), any(map[string]any{"a": 1}), any(json.Number("1e999")), any([]any{nil, nil}))
	spoilers := []func(){
		func() { c.change(field, odd) },
		func() { delete(c.fields, field); c.encode() },
		func() { c.change(one(a.rand, "unknown", "", "$where", "Insight", field+" "), odd) },
		func() { c.body = c.body[:a.rand.IntN(len(c.body)+1)] },
		func() { c.body = append(c.body, []byte(one(a.rand, "}", "{}", "\x00", "x", "[]"))...) },
		func() { c.body = bytes.Replace(c.body, []byte(`"`), []byte("\"\xff\xfe"), 1) },
		func() {
			c.body = []byte(one(a.rand, "null", "[]", "NaN", `{"n":NaN}`, `{"a":1,"a":2}`, `"text"`, "{", strings.Repeat(`{"a":`, 20_000), strings.Repeat("[", 200_000), "\xef\xbb\xbf{}", `{"context":"{\"a\":`+`"}`))
		},
		func() {
			c.header.Set("Content-Type", one(a.rand, "text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "application/json; charset=utf-16", ";;", "application/xml"))
		},
		func() {
			c.astray = true
			c.method = one(a.rand, http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions, http.MethodHead, "BREW")
		},
		func() { c.raw = "q=" + strings.Repeat("a", one(a.rand, 8_000, 60_000, 200_000)) },
		func() {
			c.raw = one(a.rand, "a=%zz", "%", "limit=1&limit=2", "tags=%ff", "explain", "&&&=", "limit[]=1", "memory_id=2")
		},
		func() {
			c.astray = true
			c.path = one(a.rand, "/api/memory/%ff", "/api/memory/..%2f..", "/api/memory/1/../2", "//api", "/api/memory/99999999999999999999", "/api/sessions/%00", "/nowhere", "/api/memory/1;x/data", "/metrics/x")
		},
		func() {
			c.header.Set("Range", one(a.rand, "bytes=0-", "bytes=-1", "bytes=5-2", "bytes=0-0,2-2,4-4,6-6", "bytes=99999999999999999999-", "items=1", "bytes=", "bytes=0-1"+strings.Repeat(",0-1", 2000)))
		},
		func() { c.header.Set("Authorization", one(a.rand, "Bearer", "Bearer rmt_wrong", "Basic eDp5", "")) },
		func() { c.header.Set("Origin", one(a.rand, "https://evil.example", "null", "file://")) },
		func() { c.header.Set("Host", one(a.rand, "evil.example", "localhost", "")) },
		func() { c.header.Set("X-Request-Id", one(a.rand, "a b", strings.Repeat("x", 3000), "{}", "id-7")) },
		func() { c.header.Set("Content-Encoding", one(a.rand, "gzip", "identity", "zstd")) },
		func() { c.header.Set("If-None-Match", one(a.rand, "*", `"x"`, `W/"x"`, "x")) },
		func() { a.form(c) },
		func() { c.header.Set("Expect", "100-continue") },
	}
	one(a.rand, spoilers...)()
}

func (c *call) change(field string, v any) {
	if c.fields != nil {
		c.fields[field] = v
		c.encode()
	}
}

// form is an upload, whole or not.
func (a *asker) form(c *call) {
	if c.op.ID != "save_perception" {
		c.header.Set("Content-Type", "multipart/form-data; boundary=x")
		return
	}
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	for _, name := range []string{"description", "perception_type", one(a.rand, "metadata", "nowhere", "description", "context")} {
		_ = w.WriteField(name, one(a.rand, "a trace of force", "tactile", "{}", "{", "\xff", "")) // a buffer takes all
	}
	head := textproto.MIMEHeader{"Content-Disposition": {one(a.rand, `form-data; name="data"; filename="t.csv"`, `form-data; name="data"`, `form-data`, `attachment`, `form-data; name="data"; filename="../../x"`)}}
	if part, err := w.CreatePart(head); err == nil {
		_, _ = part.Write(bytes.Repeat([]byte("t,fz\n0,1\n"), a.rand.IntN(3000)))
	}
	if a.rand.IntN(3) > 0 {
		_ = w.Close()
	}
	c.body = b.Bytes()
	if a.rand.IntN(3) == 0 {
		c.body = c.body[:a.rand.IntN(len(c.body)+1)]
	}
	c.header.Set("Content-Type", one(a.rand, w.FormDataContentType(), w.FormDataContentType(), "multipart/form-data", `multipart/form-data; boundary=""`, "multipart/form-data; boundary="+strings.Repeat("b", 80)))
}

// send makes the request and reads its answer.
func (a *asker) send(ctx context.Context, c *call) {
	wait := soakPatience
	if c.patient > 0 {
		wait = c.patient
	}
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	raw := c.raw
	if raw == "" {
		raw = c.query.Encode()
	}
	target := c.path
	if raw != "" {
		target += "?" + raw
	}
	req, err := a.node.newRequest(ctx, c.method, target, bytes.NewReader(c.body))
	if err != nil {
		return // no request can be made of it
	}
	for name, values := range c.header {
		req.Header[name] = values
	}
	if host := c.header.Get("Host"); host != "" {
		req.Host = host
	}
	if id, ok := idIn(c.path); ok && c.op.ID == "update" {
		text, _ := c.fields["new_content"].(string)
		a.node.told(id, text)
	}
	if id, ok := idIn(c.path); ok && c.op.ID == "forget" && (c.fields["purge"] == true || strings.Contains(raw, "purge=true")) {
		a.node.purged(id)
	}
	res, err := a.node.client.Do(req)
	if err != nil {
		a.unanswered(c, err)
		return
	}
	body, err := readBody(res)
	if err != nil {
		a.unanswered(c, err)
		return
	}
	a.count(c.class, res.StatusCode)
	a.judge(c, res, body)
}

// idIn is the memory that a path names.
func idIn(path string) (id int64, ok bool) {
	_, err := fmt.Sscanf(path, "/api/memory/%d", &id)
	return id, err == nil
}

// unanswered is a request whose connection ended without an answer. That is the
// caller's right, and the node's with a head that it will not read.
func (a *asker) unanswered(c *call, err error) {
	a.mu.Lock()
	a.requests["given up"]++
	a.mu.Unlock()
	if hung(err) && c.patient == 0 {
		a.broken("%s: no answer to %s %s within %v", a.node.name, c.method, c.path, soakPatience)
	}
	select {
	case ended := <-a.node.ended:
		a.node.ended <- ended
		a.broken("%s has ended by itself: %v", a.node.name, ended)
	default:
	}
}
