package torture

import (
	"io"
	"math/rand/v2"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// wire is the network between a robot and the nodes of its site. It cuts connections in the middle of messages.
type wire struct {
	net.Listener
	nodes []string
	whole atomic.Bool // cuts nothing
	turn  atomic.Int64
}

func newWire(t *testing.T, nodes []string) *wire {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w := &wire{Listener: l, nodes: nodes}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go w.carry(c)
		}
	}()

	return w
}

func (w *wire) carry(from net.Conn) {
	defer from.Close()
	to, err := net.DialTimeout("tcp", w.nodes[int(w.turn.Add(1))%len(w.nodes)], time.Second)
	if err != nil {
		return
	}
	defer to.Close()

	var both sync.WaitGroup
	pipe := func(dst, src net.Conn) {
		defer dst.Close()
		defer src.Close()
		if w.whole.Load() || rand.IntN(3) > 0 {
			_, _ = io.Copy(dst, src)
			return
		}
		// The rest of the message is lost, and the other side does not know how much has arrived.
		_, _ = io.CopyN(dst, src, rand.Int64N(20_000))
	}
	both.Go(func() { pipe(to, from) })
	both.Go(func() { pipe(from, to) })
	both.Wait()
}
