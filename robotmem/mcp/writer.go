package mcp

import (
	"fmt"
	"io"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/robotmem/robotmem-go/robotmem"
)

// writer writes messages, one a line, from several goroutines.
type writer struct {
	mu      sync.Mutex // guards out and err
	out     io.Writer
	err     error // the first failure; nothing is written after it
	notices <-chan mcp.JSONRPCNotification
}

// write writes an answer, and before it what the library has to tell the
// client. A nil answer, to a notification, is not written.
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

// notify writes a notification at once.
func (w *writer) notify(n mcp.JSONRPCNotification) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.writeLine(n)
}

func (w *writer) writeLine(v any) {
	if w.err != nil {
		return
	}
	data, err := robotmem.EncodeJSON(v)
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
