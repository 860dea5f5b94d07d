package embedding

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"regexp"
	"strings"

	"github.com/robotmem/robotmem-go/robotmem"
)

const (
	// maxAnswer is the largest answer in bytes: 64 vectors of 8,192 numbers are
	// some 11 MB of JSON.
	maxAnswer = 32 << 20
	// maxMessage is how much of an error answer is read, and maxQuoted how much
	// of its message is shown, in bytes.
	maxMessage = 8 << 10
	maxQuoted  = 200
)

// statusError is an answer with a status from 400 on.
type statusError struct {
	code       int
	status     string // "404 Not Found"
	message    string // from the service, in one line
	retryAfter string // the header
}

func (e *statusError) Error() string {
	if e.message == "" {
		return e.status
	}
	return e.status + ": " + e.message
}

// redirectError is a redirect that was not followed.
type redirectError struct{ to string }

func (e *redirectError) Error() string { return "redirects to " + e.to }

// transport limits the size of answers and turns a status from 400 on into a
// statusError. It does so here because Ollama's client drops the header
// Retry-After.
type transport struct{ next http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (t transport) RoundTrip(req *http.Request) (*http.Response, error) {
	res, err := t.next.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	if res.StatusCode < http.StatusBadRequest {
		res.Body = http.MaxBytesReader(nil, res.Body, maxAnswer)
		return res, nil
	}
	defer res.Body.Close()
	body, err := io.ReadAll(io.LimitReader(res.Body, maxMessage))
	if err != nil {
		return nil, err
	}
	return nil, &statusError{res.StatusCode, res.Status, messageOf(body), res.Header.Get("Retry-After")}
}

// CloseIdleConnections lets http.Client.CloseIdleConnections reach the next
// transport.
func (t transport) CloseIdleConnections() {
	if c, ok := t.next.(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}

// nullsRefused refuses an answer with null among its numbers. Encoders write NaN
// as null, and a decoder would read it as 0.
type nullsRefused struct{ transport }

var nullNumber = regexp.MustCompile(`[\[,]\s*null`)

// RoundTrip implements http.RoundTripper.
func (t nullsRefused) RoundTrip(req *http.Request) (*http.Response, error) {
	res, err := t.transport.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		return nil, err
	}
	if bytes.Contains(body, []byte("null")) && nullNumber.Match(body) {
		return nil, &badAnswer{"answered null instead of a number"}
	}
	res.Body = io.NopCloser(bytes.NewReader(body))
	return res, nil
}

// messageOf returns the text in {"error":"…"}, {"error":{"message":"…"}} or
// {"message":"…"}, and a body of another form unchanged.
func messageOf(body []byte) string {
	text := string(body)
	var p struct {
		Error   json.RawMessage
		Message string
	}
	var inner struct{ Message string }
	if json.Unmarshal(body, &p) == nil {
		text = p.Message
		if s := ""; json.Unmarshal(p.Error, &s) == nil {
			text = s
		} else if json.Unmarshal(p.Error, &inner) == nil {
			text = inner.Message
		}
	}
	text = strings.Join(strings.Fields(text), " ")
	if len(text) > maxQuoted {
		text = strings.ToValidUTF8(text[:maxQuoted], "") + "…"
	}
	return text
}

// httpClient returns a client that follows no redirect to another host. The texts
// would go there, and the key as well if only the port differs.
func httpClient(o Options) *http.Client {
	c := http.Client{Transport: http.DefaultTransport}
	if t, ok := http.DefaultTransport.(*http.Transport); ok {
		c.Transport = t.Clone() // Close must not close connections of other clients
	}
	if o.HTTPClient != nil {
		c = *o.HTTPClient
	}
	c.Transport = nullsRefused{transport{cmp.Or(c.Transport, http.DefaultTransport)}}
	c.CheckRedirect = func(req *http.Request, via []*http.Request) error {
		from := via[0].URL
		if req.URL.Host != from.Host || from.Scheme == "https" && req.URL.Scheme != "https" || len(via) >= 5 {
			return &redirectError{origin(req.URL)}
		}
		return nil
	}
	return &c
}

// baseURL parses an address. An address without a scheme is http with
// defaultPort, and the address of all interfaces is this machine.
func baseURL(raw, defaultPort string) (*url.URL, error) {
	bare := !strings.Contains(raw, "://")
	if bare {
		raw = "http://" + raw
	}
	u, err := url.Parse(raw)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" {
		return nil, invalid("the address of the embedding service is not an http:// or https:// URL")
	}
	host, port := u.Hostname(), u.Port()
	if ip, err := netip.ParseAddr(host); host == "" || err == nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	if bare && port == "" {
		port = defaultPort
	}
	u.Host = strings.TrimSuffix(net.JoinHostPort(host, port), ":") // without a port
	u.RawQuery, u.Fragment = "", ""
	return u, nil
}

// origin is the part of an address that may appear in errors and logs: no
// credentials, path or query.
func origin(u *url.URL) string { return u.Scheme + "://" + u.Host }

// service describes an embedding service for the texts of errors.
type service struct {
	name   string // "Ollama at http://127.0.0.1:11434"
	model  string
	start  string // what to do when nothing answers
	login  string // what to do when it refuses the credentials
	fetch  string // what to do when it does not have the model
	secret string // is replaced in every text, "" without one
}

// explain returns what an error of a request means: its kind, what failed, and
// what to do.
func (s *service) explain(err error) *robotmem.Error {
	status, redirect, bad := (*statusError)(nil), (*redirectError)(nil), (*badAnswer)(nil)
	dial, slow := (*net.OpError)(nil), (*timeoutError)(nil)
	tooLong := (*http.MaxBytesError)(nil)
	switch {
	case errors.As(err, &status):
		return s.explainStatus(status)
	case errors.As(err, &redirect):
		return s.fail(robotmem.Unavailable, "%s, which is not followed; set the address to the service itself", redirect)
	case errors.As(err, &bad):
		return s.fail(robotmem.Unavailable, "%s; if the model %s was replaced, restart robotmem, otherwise see the log of the service", bad, s.model)
	case errors.As(err, &slow):
		return s.fail(robotmem.Unavailable, "gave %s; use a smaller model, or see the log of the service", slow)
	case errors.As(err, &tooLong):
		return s.fail(robotmem.Unavailable, "answered more than %d MiB; check the address", tooLong.Limit>>20)
	case errors.Is(err, context.DeadlineExceeded):
		return s.fail(robotmem.Unavailable, "gave no answer before the deadline of the call")
	case errors.As(err, &dial) && dial.Op == "dial":
		return s.fail(robotmem.Unavailable, "cannot be reached (%s); %s", dial.Err, s.start)
	}
	if u := (*url.Error)(nil); errors.As(err, &u) {
		return s.fail(robotmem.Unavailable, "broke the connection: %s; %s", u.Err, s.start)
	}
	return s.fail(robotmem.Unavailable, "gave an answer that cannot be read (%s); check the address", err)
}

func (s *service) explainStatus(e *statusError) *robotmem.Error {
	message := strings.ToLower(e.message)
	noModel := strings.Contains(message, "model") && (strings.Contains(message, "not found") || strings.Contains(message, "not exist"))
	switch e.code {
	case http.StatusUnauthorized, http.StatusForbidden:
		return s.fail(robotmem.Forbidden, "answered %s; %s", e.status, s.login)
	case http.StatusNotFound:
		if !noModel {
			return s.fail(robotmem.NotFound, "answered %s; check the address", e)
		}
		return s.fail(robotmem.NotFound, "has no model %s; %s", s.model, s.fetch)
	case http.StatusTooManyRequests:
		return s.fail(robotmem.Unavailable, "answered %s; robotmem will ask again later", e)
	case http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity, http.StatusNotImplemented:
		if noModel {
			return s.fail(robotmem.NotFound, "has no model %s; %s", s.model, s.fetch)
		}
		if strings.Contains(message, "not support embed") {
			return s.fail(robotmem.NotFound, "says that the model %s makes no embeddings; use one that does, such as nomic-embed-text", s.model)
		}
		if e.code != http.StatusNotImplemented {
			return s.fail(robotmem.Invalid, "refused a text (%s); shorten it", e)
		}
	}
	return s.fail(robotmem.Unavailable, "answered %s; see the log of the service", e)
}

func (s *service) fail(kind robotmem.Kind, format string, args ...any) *robotmem.Error {
	text := s.name + " " + fmt.Sprintf(format, args...)
	if s.secret != "" {
		text = strings.ReplaceAll(text, s.secret, "…")
	}
	return &robotmem.Error{Kind: kind, Err: errors.New(text)}
}
