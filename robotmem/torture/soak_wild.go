package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"
)

// misbehave opens a connection and does not do what HTTP says.
func (a *asker) misbehave(ctx context.Context) {
	conn, err := (&net.Dialer{Timeout: soakPatience}).DialContext(ctx, "tcp", strings.TrimPrefix(a.node.url, "http://"))
	if err != nil {
		a.broken("%s takes no connection: %v", a.node.name, err)
		time.Sleep(time.Second)
		return
	}
	defer func() { _ = conn.Close() }() // mostly in the middle of something
	_ = conn.SetDeadline(time.Now().Add(5 * time.Second))
	host := strings.TrimPrefix(a.node.url, "http://")
	auth := ""
	if a.node.token != "" {
		auth = "Authorization: Bearer " + a.node.token + "\r\n"
	}
	head := func(method, path, more string) string {
		return fmt.Sprintf("%s %s HTTP/1.1\r\nHost: %s\r\n%s%s\r\n", method, path, host, auth, more)
	}
	const body = `{"insight":"half a request"}`
	length := fmt.Sprintf("Content-Type: application/json\r\nContent-Length: %d\r\n", len(body))
	text := one(a.rand,
		head("POST", "/api/learn", length)+body[:10],
		head("POST", "/api/learn", length)[:40],
		head("POST", "/api/learn", length)[:len(length)],
		head("POST", "/api/learn", "Content-Length: -1\r\n"),
		head("POST", "/api/learn", "Content-Length: 3\r\nContent-Length: 4\r\n")+"{}",
		head("POST", "/api/learn", "Transfer-Encoding: chunked\r\n")+"ffffffffff\r\n",
		head("POST", "/api/learn", "Transfer-Encoding: chunked\r\nContent-Type: application/json\r\n")+"5\r\n{\"a\":\r\nzz\r\n",
		head("POST", "/api/perceptions", "Content-Type: multipart/form-data; boundary=b\r\nContent-Length: 900\r\n")+"--b\r\nContent-Disposition: form-data; name=\"description\"\r\n\r\nhalf",
		head("GET", "/api/memories?limit=1000&status=all", ""),
		strings.Repeat(head("GET", "/healthz", ""), 50),
		head("GET", "/api/events", ""),
		"GET / HTTP/9.9\r\n\r\n", "\x16\x03\x01\x02\x00\x01\x00", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", strings.Repeat("A", 100_000),
		head("GET", "/api/stats", strings.Repeat("X-Long: "+strings.Repeat("y", 1000)+"\r\n", 80)),
		head("GET", "/api/stats", "Connection: upgrade\r\nUpgrade: websocket\r\n"),
	)
	_, _ = io.WriteString(conn, text) // the node may hang up while it is written
	a.mu.Lock()
	a.requests["wild"]++
	a.mu.Unlock()
	if a.rand.IntN(3) == 0 {
		return // hung up at once
	}
	// A reader that takes a little and goes.
	_ = conn.SetReadDeadline(time.Now().Add(time.Duration(20+a.rand.IntN(200)) * time.Millisecond))
	answer := make([]byte, one(a.rand, 1, 100, 4096))
	n, _ := io.ReadFull(conn, answer)
	if n < 12 || !strings.HasPrefix(string(answer[:n]), "HTTP/1.") {
		return
	}
	var code int
	if _, err := fmt.Sscanf(string(answer[9:12]), "%d", &code); err == nil {
		a.count("wild answers", code)
		// Of a version that nobody has, 505 is the right answer.
		unknownVersion := code == http.StatusHTTPVersionNotSupported && (strings.Contains(text, "HTTP/9.9") || strings.Contains(text, "HTTP/2.0"))
		if ownFault(code) && !unknownVersion {
			a.broken("%s answered %.200q to %.200q", a.node.name, answer[:n], text)
		}
	}
}
