package mcp

import (
	"encoding/json"
	"fmt"
	"io"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"
)

// queue holds messages in the order they came, up to a number of bytes.
type queue struct {
	mu       sync.Mutex // guards everything below
	changed  sync.Cond
	messages [][]byte
	bytes    int
	limit    int
	closed   bool
}

func newQueue(limit int) *queue {
	q := &queue{limit: limit}
	q.changed.L = &q.mu
	return q
}

// push waits until there is room; a message over the limit takes an empty
// queue. It reports whether the message was taken.
func (q *queue) push(message []byte) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	for !q.closed && len(q.messages) > 0 && q.bytes+len(message) > q.limit {
		q.changed.Wait()
	}
	if q.closed {
		return false
	}
	q.messages = append(q.messages, message)
	q.bytes += len(message)
	q.changed.Broadcast()
	return true
}

// pop waits for a message; false means that the queue is closed and empty.
func (q *queue) pop() ([]byte, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.messages) == 0 && !q.closed {
		q.changed.Wait()
	}
	if len(q.messages) == 0 {
		return nil, false
	}
	message := q.messages[0]
	q.messages[0] = nil
	q.messages = q.messages[1:]
	q.bytes -= len(message)
	q.changed.Broadcast()
	return message, true
}

// close takes no more; what waits is still given out.
func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.changed.Broadcast()
}

// writer writes answers, one a line, from several goroutines.
type writer struct {
	mu      sync.Mutex // guards out and err
	out     io.Writer
	err     error // the first failure; nothing is written after it
	notices <-chan mcp.JSONRPCNotification
}

// write writes an answer, and before it the notifications that were made
// while it was worked out. A nil answer, to a notification, is not written.
func (w *writer) write(answer mcp.JSONRPCMessage) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for {
		select {
		case n := <-w.notices:
			w.writeLine(n)
			continue
		default:
		}
		break
	}
	if answer != nil {
		w.writeLine(answer)
	}
}

func (w *writer) writeLine(v any) {
	if w.err != nil {
		return
	}
	data, err := json.Marshal(v)
	if err == nil {
		_, err = w.out.Write(append(data, '\n'))
	}
	if err != nil {
		w.err = fmt.Errorf("writing an answer: %w", err)
	}
}

func (w *writer) failure() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.err
}
