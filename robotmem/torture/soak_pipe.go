package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"
)

// pipe is a robotmem mcp over stdio, on the file of a node.
type pipe struct {
	*process
	soaker *soaker
	in     io.WriteCloser
	asker  *asker // that judges; used by read alone
	done   chan struct{}

	mu      sync.Mutex // guards what follows
	waiting map[string]frame
	sent    int
}

// maxWaiting bounds the messages without an answer.
const maxWaiting = 32

func startPipe(ctx context.Context, s *soaker, n *node) (*pipe, error) {
	home, err := s.folder("stdio")
	if err != nil {
		return nil, err
	}
	p := &pipe{soaker: s, asker: &asker{soaker: s, node: n}, waiting: map[string]frame{}, done: make(chan struct{})}
	var out *bufio.Reader
	if p.process, p.in, out, err = startProcess(ctx, s.rig, "stdio", home, "mcp", "--db", n.db); err != nil {
		return nil, err
	}
	go p.read(out)
	return p, nil
}

// send writes one message, once there are not too many without an answer.
func (p *pipe) send(a *asker) {
	p.mu.Lock()
	if len(p.waiting) >= maxWaiting {
		p.mu.Unlock()
		time.Sleep(time.Millisecond)
		return
	}
	p.sent++
	f := a.frame(fmt.Sprint("s", p.sent))
	if bytes.ContainsAny(f.data, "\n\r") {
		p.mu.Unlock()
		return
	}
	if f.answered {
		p.waiting[f.id] = f
	}
	p.mu.Unlock()
	if _, err := p.in.Write(append(f.data, '\n')); err != nil {
		p.soaker.broken("stdio: writing a message: %v", err)
		time.Sleep(time.Second)
	}
}

// read judges every line that comes back.
func (p *pipe) read(out *bufio.Reader) {
	defer close(p.done)
	for {
		line, err := out.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			if len(line) > 0 {
				p.soaker.broken("stdio: half an answer: %.200q", line)
			}
			return
		}
		if err != nil {
			p.soaker.broken("stdio: reading answers: %v", err)
			return
		}
		p.take(line)
	}
}

func (p *pipe) take(line []byte) {
	var res rpcAnswer
	if !readable(line) || json.Unmarshal(line, &res) != nil {
		p.soaker.broken("stdio: a line that is no answer: %.300q", line)
		return
	}
	p.soaker.count("stdio answers", 0)
	var id string
	if res.Method != "" || json.Unmarshal(res.ID, &id) != nil || id == "" {
		return // a notification, or what was said of a broken message
	}
	p.mu.Lock()
	f, asked := p.waiting[id]
	delete(p.waiting, id)
	p.mu.Unlock()
	if !asked {
		return // an id that a broken message held
	}
	if why := p.asker.judgeRPC(f, line); why != "" {
		p.soaker.broken("stdio: %.300q was answered %.300q: %s", f.data, line, why)
	}
}

// settle ends the input: all that was asked must be answered.
func (p *pipe) settle() {
	_ = p.in.Close()
	select {
	case <-p.done:
	case <-time.After(soakPatience):
		p.soaker.broken("stdio: it still answers %v after its input ended", soakPatience)
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, f := range p.waiting {
		p.soaker.broken("stdio: no answer to %.300q", f.data)
	}
}
