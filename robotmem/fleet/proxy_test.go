package fleet

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
	hangs bool   // towards the server
	mute  bool   // towards the clients
	at    []byte // it hangs towards the server once a client sends this
	conns []net.Conn
}

func newProxy(t *testing.T, p *postgres) *proxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	x := &proxy{port: l.Addr().(*net.TCPAddr).Port, target: "127.0.0.1:" + strconv.Itoa(p.port)}
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
		x.resume()
		x.mu.Lock()
		for _, c := range x.conns {
			_ = c.Close()
		}
		x.mu.Unlock()
		running.Wait()
	})
	return x
}

// forward copies until one side ends, and then ends the other.
func (x *proxy) forward(to, from net.Conn, client bool) {
	defer to.Close()
	buf := make([]byte, 64<<10)
	for {
		n, err := from.Read(buf)
		x.mu.Lock()
		if client && x.at != nil && bytes.Contains(buf[:n], x.at) {
			x.hangs, x.at = true, nil
			x.going.Broadcast()
		}
		for n > 0 && (client && x.hangs || !client && x.mute) {
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

// holdAt lets the proxy hang once a client sends a text, which is not forwarded.
func (x *proxy) holdAt(text string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.at = []byte(text)
}

// hang stops forwarding.
func (x *proxy) hang() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.hangs, x.mute = true, true
}

// resume forwards what was held, and the rest.
func (x *proxy) resume() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.hangs, x.mute = false, false
	x.going.Broadcast()
}

// held waits until the proxy hangs.
func (x *proxy) held(t *testing.T) {
	t.Helper()
	for until := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		x.mu.Lock()
		hangs := x.hangs
		x.mu.Unlock()
		if hangs {
			return
		}
		if time.Now().After(until) {
			t.Fatal("nothing was held for a minute")
		}
	}
}
