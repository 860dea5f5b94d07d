package site

import (
	"bytes"
	"net"
	"strconv"
	"sync"
	"testing"
	"time"
)

// proxy forwards connections to a server until it hangs: it then keeps them and forwards nothing.
type proxy struct {
	port   int
	target string

	mu    sync.Mutex
	going sync.Cond
	hangs bool   // all connections
	at    []byte // the connection hangs whose client sends this
	held  bool   // such a connection hangs
	conns []net.Conn
}

func newProxy(t *testing.T, port int) *proxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	x := &proxy{port: l.Addr().(*net.TCPAddr).Port, target: "127.0.0.1:" + strconv.Itoa(port)}
	x.going.L = &x.mu
	var running sync.WaitGroup
	running.Go(func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			server, err := net.Dial("tcp", x.target)
			if err != nil {
				_ = client.Close()
				continue
			}
			x.mu.Lock()
			x.conns = append(x.conns, client, server)
			x.mu.Unlock()
			running.Go(func() { x.forward(server, client, true) })
			running.Go(func() { x.forward(client, server, false) })
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		x.mu.Lock()
		for _, c := range x.conns {
			_ = c.Close()
		}
		x.mu.Unlock()
		x.resume()
		running.Wait()
	})
	return x
}

// forward copies until one side ends, and then ends the other.
func (x *proxy) forward(to, from net.Conn, toServer bool) {
	defer to.Close()
	kept := false
	buf := make([]byte, 64<<10)
	for {
		n, err := from.Read(buf)
		x.mu.Lock()
		if x.at != nil && toServer && bytes.Contains(buf[:n], x.at) {
			x.at, x.held, kept = nil, true, true
		}
		for n > 0 && (x.hangs || kept && x.held) {
			x.going.Wait()
		}
		x.mu.Unlock()
		if n > 0 {
			if _, err := to.Write(buf[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// holdAt keeps what the next client sends that has a text in it, and all that this client sends later.
func (x *proxy) holdAt(text string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.at = []byte(text)
}

// hang stops forwarding.
func (x *proxy) hang() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.hangs = true
}

// resume forwards what was kept, and the rest.
func (x *proxy) resume() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.hangs, x.held, x.at = false, false, nil
	x.going.Broadcast()
}

// waitHeld waits until a connection hangs because of what its client sent.
func (x *proxy) waitHeld(t *testing.T) {
	t.Helper()
	for until := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		x.mu.Lock()
		held := x.held
		x.mu.Unlock()
		if held {
			return
		}
		if time.Now().After(until) {
			t.Fatal("nothing was held for a minute")
		}
	}
}
