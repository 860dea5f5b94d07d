package mcp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
	"golang.org/x/sync/semaphore"

	"github.com/robotmem/robotmem-go/robotmem"
)

// The library's stdio server is not used, even with a pool of one worker: it queues tool calls
// only, so that a resource can be read before the learn that was sent before it; it cannot cancel
// a call that waits; it runs calls ahead of the queue when the queue is full; it cancels calls
// when the input ends; and it reads lines of any length. The loop below keeps the library's
// protocol (HandleMessage).
//
//	in -> reader -> requests to the memory -> queue -> worker -> out
//	             -> notifications/cancelled -> queue, worker
//	             -> all other messages, answered at once -----> out

const (
	// maxQueued is the largest size of all waiting messages in bytes. A client
	// that sends faster than the disk writes is then slowed down by its pipe.
	maxQueued = 128 << 20
	// maxQueuedCalls is the largest number of waiting messages.
	maxQueuedCalls = 10_000
	// grace is how long accepted calls may still run after ctx is done.
	grace = 10 * time.Second
)

// errCancelledByClient is the cause of a call that the client has cancelled.
var errCancelledByClient = errors.New("cancelled by the client")

// ServeStdio answers the JSON-RPC messages of in, one a line, on out. It returns
// when in has ended, or ctx is done, and every accepted call is answered. After
// ctx is done, accepted calls may run for ten more seconds. If ctx ends while a
// read from in blocks, ServeStdio returns without waiting for that read.
func (s *Server) ServeStdio(ctx context.Context, in io.Reader, out io.Writer) error {
	session := server.NewInProcessSession("stdio", nil)

	// Calls do not end with ctx: what was accepted is finished, for at most the grace period.
	work, cancel := context.WithCancel(s.mcp.WithContext(context.WithoutCancel(ctx), session))
	defer cancel()
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(grace, cancel) })
	defer stop()

	w := &messageWriter{out: out, notifications: session.ClientNotifications()}
	c := &connection{
		server: s, writer: w, calls: make(chan func(), maxQueuedCalls),
		queueBytes: semaphore.NewWeighted(s.maxQueued),
	}

	if s.warnings != nil {
		go s.warnings(work, func(text string, data any) { s.warn(work, w, text, data) })
	}

	// The buffer lets the reader end even if nobody waits for it: a read from a terminal cannot be interrupted.
	read := make(chan error, 1)

	go func() {
		lines := &lineReader{in: bufio.NewReaderSize(in, 64<<10), limit: s.maxMessage}
		read <- c.readMessages(ctx, work, lines)
	}()

	c.runCalls(ctx)

	var err error
	select {
	case err = <-read:
	case <-ctx.Done():
	}

	// Ending with ctx is no failure, and the reader may have ended with it too.
	if ctx.Err() != nil {
		err = nil
	}

	if err == nil {
		err = w.failure()
	}
	if err != nil {
		return fmt.Errorf("mcp over stdio: %w", err)
	}

	return nil
}

// warn tells the client at once, unless it is not ready or wants none. Other clients of this process have no connection.
func (s *Server) warn(ctx context.Context, w *messageWriter, text string, data any) {
	err := s.mcp.SendLogMessageToClient(ctx, mcp.NewLoggingMessageNotification(
		mcp.LoggingLevelWarning, "robotmem", map[string]any{"text": text, "warning": data},
	))
	if err != nil {
		s.log.Warn("a warning did not reach the client", "text", text, "error", err)
		return
	}
	w.write(nil)
}

// connection holds the state of one ServeStdio.
type connection struct {
	server     *Server
	writer     *messageWriter
	calls      chan func() // waiting requests to the memory; closed at the end of the input
	queueBytes *semaphore.Weighted
	// cancels has a context.CancelCauseFunc for each queued and running call, by request id.
	cancels sync.Map
}

// queuedMethods names the requests that run in the order in which they came.
var queuedMethods = map[mcp.MCPMethod]bool{
	mcp.MethodToolsCall:          true,
	mcp.MethodResourcesList:      true,
	mcp.MethodResourcesRead:      true,
	mcp.MethodPromptsGet:         true,
	mcp.MethodCompletionComplete: true,
}

// readMessages reads messages until in ends or ctx is done. It queues requests to the memory and
// answers everything else at once, because that takes no time: a ping does not wait for a long
// call, and a cancellation reaches the running call. work is the context of the calls.
func (c *connection) readMessages(ctx, work context.Context, lines *lineReader) error {
	defer close(c.calls)

	for {
		line, err := lines.next()
		if err == io.EOF {
			return nil
		}
		if err == errTooLong {
			c.writer.write(c.server.messageTooLong())
			continue
		}
		if err != nil {
			return err
		}

		var head struct {
			Method mcp.MCPMethod   `json:"method"`
			ID     json.RawMessage `json:"id"`
			Params struct {
				RequestID json.RawMessage `json:"requestId"`
			} `json:"params"`
		}
		m, ok := openMessage(line)
		err = json.Unmarshal(m.envelope, &head)

		switch {
		case !ok:
			c.writer.write(c.server.envelopeTooLarge(head.ID))
		case err == nil && queuedMethods[head.Method] && len(head.ID) > 0:
			// queue fails only when ctx is done.
			if c.queue(ctx, work, string(head.ID), m) != nil {
				return nil
			}
		case err == nil && head.Method == mcp.MethodNotificationCancelled:
			c.cancelCall(string(head.Params.RequestID))
		default:
			// This includes messages that cannot be read: the library has the errors for them.
			c.writer.write(c.server.handleMessage(work, m, c.writer))
		}
	}
}

// queue waits until there is room for a call and appends it to the queue. It fails if ctx is done before.
func (c *connection) queue(ctx, work context.Context, id string, m message) error {
	// Acquire would fail for a call that is larger than the whole queue. It waits for an empty queue instead.
	size := min(int64(len(m.envelope)+len(m.arguments)), c.server.maxQueued)
	if err := c.queueBytes.Acquire(ctx, size); err != nil {
		return err
	}

	// The call can be cancelled from here on, while it still waits.
	work, cancel := context.WithCancelCause(work)
	c.cancels.Store(id, cancel)

	call := func() {
		c.queueBytes.Release(size)
		defer cancel(nil)
		defer c.cancels.Delete(id)

		if context.Cause(work) == errCancelledByClient {
			return
		}

		// The protocol forbids an answer to a cancelled request.
		answer := c.server.handleMessage(work, m, c.writer)
		if context.Cause(work) != errCancelledByClient {
			c.writer.write(answer)
		}
	}

	select {
	case c.calls <- call:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// cancelCall cancels the call with that id. A waiting call then never runs, and a
// running call gets no answer.
func (c *connection) cancelCall(id string) {
	if cancel, ok := c.cancels.Load(id); ok {
		cancel.(context.CancelCauseFunc)(errCancelledByClient)
	}
}

// runCalls runs the calls one after the other until the input has ended. If ctx
// is done, it runs only the calls that are already queued.
func (c *connection) runCalls(ctx context.Context) {
	for {
		select {
		case call, ok := <-c.calls:
			if !ok {
				return
			}
			call()
		case <-ctx.Done():
			if len(c.calls) == 0 {
				return
			}
		}
	}
}

// messageWriter writes messages, one a line. It may be used by several goroutines.
type messageWriter struct {
	mu            sync.Mutex // guards out and err
	out           io.Writer
	err           error // the first failure; nothing is written after it
	notifications <-chan mcp.JSONRPCNotification
}

// write writes the library's pending notifications and then an answer. A nil
// answer, as to a notification, is not written.
func (w *messageWriter) write(answer mcp.JSONRPCMessage) {
	w.mu.Lock()
	defer w.mu.Unlock()

	for len(w.notifications) > 0 {
		w.writeLine(<-w.notifications)
	}
	if answer != nil {
		w.writeLine(answer)
	}
}

// notify writes a notification at once.
func (w *messageWriter) notify(n mcp.JSONRPCNotification) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.writeLine(n)
}

func (w *messageWriter) writeLine(v any) {
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

func (w *messageWriter) failure() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.err
}

// lineReader reads messages, one a line. It skips blank lines, a byte order mark
// and CR before LF, and accepts a last line without LF.
type lineReader struct {
	in    *bufio.Reader
	limit int // of a line, in bytes
}

var bom = []byte("\xef\xbb\xbf")

// errTooLong means that a line is over the limit. It has been read to its end.
var errTooLong = errors.New("the message is too long")

// next returns the next message, errTooLong, or io.EOF after the last message.
func (r *lineReader) next() ([]byte, error) {
	for {
		line, err := r.line()
		line = bytes.TrimSpace(bytes.TrimPrefix(line, bom))
		if len(line) > 0 && (err == nil || err == io.EOF) {
			return line, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

func (r *lineReader) line() ([]byte, error) {
	var line []byte

	for {
		part, err := r.in.ReadSlice('\n')
		if len(line)+len(bytes.TrimRight(part, "\r\n")) > r.limit {
			return nil, r.skip(err)
		}
		if len(line)+len(part) > cap(line) {
			// Doubling the capacity copies a long line fewer times: append alone would copy it five times.
			line = slices.Grow(line, cap(line)+len(part))
		}
		line = append(line, part...)
		if err != bufio.ErrBufferFull {
			return line, err
		}
	}
}

// skip reads the rest of a line over the limit. err is the error of the last read.
func (r *lineReader) skip(err error) error {
	for err == bufio.ErrBufferFull {
		_, err = r.in.ReadSlice('\n')
	}
	if err != nil && err != io.EOF {
		return err
	}

	return errTooLong
}
