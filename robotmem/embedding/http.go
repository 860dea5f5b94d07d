package embedding

import (
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
)

const (
	// maxAnswer bounds what is read of an answer: 64 vectors of 8,192 numbers
	// are some 11 MB of JSON.
	maxAnswer = 32 << 20
	// maxMessage bounds what is read of an error, and maxQuoted what is told.
	maxMessage = 8 << 10
	maxQuoted  = 200
)

// statusError is an answer with a status of 400 or above.
type statusError struct {
	code       int
	status     string // "404 Not Found"
	message    string // of the service, one line
	retryAfter string // the header
}

func (e *statusError) Error() string {
	if e.message == "" {
		return e.status
	}
	return e.status + ": " + e.message
}

// redirectError is a redirect that is not followed.
type redirectError struct{ to string }

func (e *redirectError) Error() string { return "redirects to " + e.to }

// transport bounds what is read of an answer, and makes a refusal an error
// here, where its headers are at hand: Ollama's client drops Retry-After.
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

// CloseIdleConnections is what http.Client.CloseIdleConnections looks for.
func (t transport) CloseIdleConnections() {
	if c, ok := t.next.(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}

// messageOf finds the text in {"error":"…"}, {"error":{"message":"…"}} and
// {"message":"…"}, and takes a body of another form as it is.
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

// httpClient returns a client that goes to the host of its first request and to
// no other. Texts would follow a redirect, and the key too if only the port
// differs.
func httpClient(o Options) *http.Client {
	c := http.Client{Transport: http.DefaultTransport}
	if t, ok := http.DefaultTransport.(*http.Transport); ok {
		c.Transport = t.Clone() // so that Close closes no connections of others
	}
	if o.HTTPClient != nil {
		c = *o.HTTPClient
	}
	if c.Transport == nil {
		c.Transport = http.DefaultTransport
	}
	c.Transport = transport{c.Transport}
	c.CheckRedirect = func(req *http.Request, via []*http.Request) error {
		from := via[0].URL
		if req.URL.Host != from.Host || from.Scheme == "https" && req.URL.Scheme != "https" || len(via) >= 5 {
			return &redirectError{origin(req.URL)}
		}
		return nil
	}
	return &c
}

// baseURL reads an address. One without a scheme is http at defaultPort, and
// one that means every interface is this machine.
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
	switch {
	case port != "":
		u.Host = net.JoinHostPort(host, port)
	case strings.Contains(host, ":"):
		u.Host = "[" + host + "]"
	default:
		u.Host = host
	}
	u.RawQuery, u.Fragment = "", ""
	return u, nil
}

// origin is the part of an address that may be told: no login, path or query.
func origin(u *url.URL) string { return u.Scheme + "://" + u.Host }
