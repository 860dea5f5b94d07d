package foxglove

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/coder/websocket"
)

// The subprotocols, which are alike in all messages that this package uses. Today's servers have the first
// alone, servers of before 2025 the second.
const (
	SubprotocolSDK       = "foxglove.sdk.v1"
	SubprotocolWebSocket = "foxglove.websocket.v1"
)

var subprotocols = []string{SubprotocolSDK, SubprotocolWebSocket}

const (
	// helloWait is how long a server has to send what it is.
	helloWait = 10 * time.Second

	// maxEarly is how many messages may come before that.
	maxEarly = 16

	// receiveBuffer is what the kernel keeps for a client that is busy for a moment, in bytes.
	receiveBuffer = 4 << 20
)

// Dial connects to a server at a ws:// or wss:// address, usually ws://HOST:8765, and reads what it says of
// itself. The context is of this alone. The caller calls Run then, or Close.
//
// The error says what is wrong with the address or the server, and what to do.
func Dial(ctx context.Context, address string, o Options) (*Client, error) {
	u, err := parseAddress(address)
	if err != nil {
		return nil, err
	}
	if o.MaxMessage == 0 {
		o.MaxMessage = defaultMaxMessage
	}

	c := &Client{
		options: o, address: u.Redacted(), queue: newQueue(maxClientBacklog, 0, 0),
		subscriptions: newSubscriptions(),
		retrying:      map[uint32]*time.Timer{},
		waiting:       map[string]chan []Parameter{}, publishers: map[uint32]bool{},
	}
	if err := c.connect(ctx, u); err != nil {
		return nil, err
	}
	if err := c.hello(ctx); err != nil {
		_ = c.conn.CloseNow()
		return nil, err
	}

	return c, nil
}

func parseAddress(address string) (*url.URL, error) {
	u, err := url.Parse(address)
	if err == nil && (u.Scheme == "ws" || u.Scheme == "wss") && u.Hostname() != "" {
		return u, nil
	}

	// An address without a scheme is what people write, and what is parsed as one.
	if !strings.Contains(address, "://") {
		return nil, fmt.Errorf("%.200q is no address of a Foxglove WebSocket server: write ws://%.200s", address, address)
	}

	return nil, fmt.Errorf("%.200q is no address of a Foxglove WebSocket server: write ws://HOST:8765, or wss://HOST:8765 with TLS", address)
}

func (c *Client) connect(ctx context.Context, u *url.URL) error {
	// A robot that is out of reach is noticed within half a minute.
	dialer := net.Dialer{KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: 10 * time.Second, Interval: 5 * time.Second, Count: 4}}
	transport := &http.Transport{
		Proxy:           http.ProxyFromEnvironment,
		TLSClientConfig: c.options.TLS,
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			conn, err := dialer.DialContext(ctx, network, address)
			if err != nil {
				return nil, err
			}
			if t, ok := conn.(*net.TCPConn); ok {
				_ = t.SetReadBuffer(receiveBuffer) // the kernel may allow less
			}
			c.net = conn

			return conn, nil
		},
	}

	conn, response, err := websocket.Dial(ctx, u.String(), &websocket.DialOptions{
		HTTPClient: &http.Client{
			Transport: transport,
			// Tokens are for this server.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
		HTTPHeader:   c.options.Header,
		Subprotocols: subprotocols,
	})
	if response != nil && response.Body != nil {
		defer response.Body.Close()
	}
	if err != nil {
		return explain(u, response, err)
	}
	if !slices.Contains(subprotocols, conn.Subprotocol()) {
		_ = conn.CloseNow()
		return fmt.Errorf("%s is a WebSocket server, but not of Foxglove: it has chosen no subprotocol (%s). rosbridge is such a server: start foxglove_bridge instead", c.address, strings.Join(subprotocols, ", "))
	}
	c.conn = conn
	c.reader = newMessageReader(conn, c.options.MaxMessage)

	return nil
}

// explain says why there is no connection, and what to do.
func explain(u *url.URL, response *http.Response, err error) error {
	address := u.Redacted()
	if response != nil && response.StatusCode != http.StatusSwitchingProtocols {
		return explainStatus(u, response)
	}

	plain := *u
	plain.Scheme = "ws"
	secret := *u
	secret.Scheme = "wss"

	var (
		dns       *net.DNSError
		authority x509.UnknownAuthorityError
		name      x509.HostnameError
		invalid   x509.CertificateInvalidError
		header    tls.RecordHeaderError
		op        *net.OpError
		text      = err.Error()
	)
	switch {
	case errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("%s does not answer: look whether it is the right address, and reachable from here: %w", address, err)
	case errors.Is(err, syscall.ECONNREFUSED):
		return fmt.Errorf("nothing listens at %s: start foxglove_bridge or the program that serves Foxglove, or correct the port (8765 is usual): %w", address, err)
	case errors.As(err, &dns):
		return fmt.Errorf("there is no host %q: correct the name, or write the IP address: %w", dns.Name, err)
	case errors.As(err, &authority):
		return fmt.Errorf("the certificate of %s is not trusted: trust its authority or, if it is self-signed, the certificate itself: %w", address, err)
	case errors.As(err, &name), errors.As(err, &invalid):
		return fmt.Errorf("the certificate of %s does not fit: %w", address, err)
	case errors.As(err, &header), strings.Contains(text, "server gave HTTP response to HTTPS client"):
		return fmt.Errorf("%s does not speak TLS: write %s: %w", address, plain.Redacted(), err)
	// A server of TLS answers with an alert, or closes the connection.
	case u.Scheme == "ws" && strings.Contains(text, `malformed HTTP response "\x15\x03`):
		return fmt.Errorf("%s speaks TLS: write %s: %w", address, secret.Redacted(), err)
	case errors.Is(err, io.EOF), errors.Is(err, syscall.ECONNRESET), strings.Contains(text, "malformed HTTP"):
		return fmt.Errorf("%s is not a WebSocket server, or wants TLS (%s): %w", address, secret.Redacted(), err)
	case errors.As(err, &op) && op.Op == "dial":
		return fmt.Errorf("%s cannot be reached: look whether it is the right address and on a network of this computer: %w", address, err)
	case strings.Contains(text, "unexpected Sec-WebSocket-Protocol"):
		return fmt.Errorf("%s has chosen another subprotocol than %s, and is not a server of Foxglove: %w", address, strings.Join(subprotocols, " or "), err)
	}

	return fmt.Errorf("connect to %s: %w", address, err)
}

// explainStatus says what an answer of HTTP means where a WebSocket was asked for.
func explainStatus(u *url.URL, response *http.Response) error {
	body, _ := io.ReadAll(io.LimitReader(response.Body, 200))
	said := strings.TrimSpace(string(body))
	address := u.Redacted()

	// Servers of TLS such as Go's and nginx say so to those that do without.
	if u.Scheme == "ws" && response.StatusCode == http.StatusBadRequest && strings.Contains(said, "HTTPS") {
		secret := *u
		secret.Scheme = "wss"

		return fmt.Errorf("%s speaks TLS: write %s: %.200q", address, secret.Redacted(), said)
	}

	switch response.StatusCode {
	case http.StatusUnauthorized, http.StatusForbidden:
		return fmt.Errorf("%s refuses the connection (%s): send its token in a header: %.200q", address, response.Status, said)
	case http.StatusBadRequest:
		return fmt.Errorf("%s does not take this client (%s), most likely since it speaks neither of the subprotocols %s: update foxglove_bridge: %.200q",
			address, response.Status, strings.Join(subprotocols, " and "), said)
	}
	if to := response.Header.Get("Location"); to != "" {
		return fmt.Errorf("%s redirects to %.200q, which is not followed: write that address", address, to)
	}

	return fmt.Errorf("%s is not a WebSocket server: it answers with %q. Correct the port (8765 is usual) or the path", address, response.Status)
}

// hello reads up to the message in which the server says what it is, which servers send first.
func (c *Client) hello(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, helloWait)
	defer cancel()

	size := 0
	for len(c.early) < maxEarly && size <= maxSmallText {
		kind, data, err := c.reader.next(ctx)

		var large *errTooLarge
		switch {
		case errors.As(err, &large):
			return fmt.Errorf("%s is not a server of Foxglove: it begins with %w", c.address, err)
		case errors.Is(err, context.DeadlineExceeded):
			return fmt.Errorf("%s does not say what it is within %s: %w", c.address, helloWait, err)
		case err != nil:
			return c.ended(err)
		}

		if kind == websocket.MessageText && len(data) <= maxSmallText {
			if op, err := opOf(data); err == nil && op == "serverInfo" {
				info, err := decodeServerInfo(data)
				if err != nil {
					return fmt.Errorf("%s sends a serverInfo that is not of the protocol: %w", c.address, err)
				}
				c.setInfo(info)
				c.reader.release()

				return nil
			}
		}
		size += len(data)
		c.early = append(c.early, early{kind, c.reader.own(data)})
	}

	return fmt.Errorf("%s is not a server of Foxglove: it has not sent serverInfo within its first %d messages", c.address, maxEarly)
}
