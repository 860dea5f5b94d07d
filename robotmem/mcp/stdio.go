package mcp

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// The library's own stdio loop is not used: it cancels calls in flight when the
// input ends, runs calls on several workers and, when its queue is full, ahead
// of those that wait, and it reads a line of any length. The loop below keeps
// the library's protocol (HandleMessage) and orders what goes into it.
//
//	in -> reader -> what asks the memory -> queue -> worker -> out
//	             -> notifications/cancelled -> queue, worker
//	             -> all else, answered at once --------------> out

const (
	// maxQueued bounds the bytes of the calls that wait. A client that is
	// faster than the disk is then held back by its own pipe.
	maxQueued = 128 << 20
	// grace is how long calls that were accepted may still run once ctx is
	// done.
	grace = 10 * time.Second
)

// ServeStdio answers the JSON-RPC messages of in, one a line, on out. It
// returns when in has ended, or ctx is done, and every accepted call has been
// answered; ctx does not cut those off before a grace of ten seconds. A read
// from in that blocks is left behind when ctx ends it.
func (s *Server) ServeStdio(ctx context.Context, in io.Reader, out io.Writer) error {
	session := server.NewInProcessSession("stdio", nil)
	work, cancel := context.WithCancel(s.mcp.WithContext(context.WithoutCancel(ctx), session))
	defer cancel()
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(grace, cancel) })
	defer stop()

	w := &writer{out: out, notices: session.ClientNotifications()}
	work = withNotifier(work, w)
	calls := newQueue(maxQueued)
	worked := make(chan struct{})
	go func() {
		defer close(worked)
		for ctx, call := calls.begin(work); call != nil; ctx, call = calls.begin(work) {
			answer := s.handleMessage(detach(ctx, call.message))
			if calls.end() {
				w.write(answer)
			}
		}
	}()
	read := make(chan error, 1)
	go func() {
		lines := &lineReader{in: bufio.NewReaderSize(in, 64<<10), limit: s.maxMessage}
		read <- s.dispatch(work, lines, calls, w)
	}()

	var err error
	select {
	case err = <-read:
	case <-ctx.Done():
	}
	calls.close()
	<-worked
	if err == nil {
		err = w.failure()
	}
	if err != nil {
		return fmt.Errorf("mcp over stdio: %w", err)
	}
	return nil
}

// asksMemory are the requests that are worked off in the order they came.
var asksMemory = map[mcp.MCPMethod]bool{
	mcp.MethodToolsCall:          true,
	mcp.MethodResourcesList:      true,
	mcp.MethodResourcesRead:      true,
	mcp.MethodPromptsGet:         true,
	mcp.MethodCompletionComplete: true,
}

// dispatch reads messages until in ends. What asks the memory is queued;
// everything else takes no time and is answered here, so that a ping is not
// held up by a long call and a cancellation reaches the call that runs.
func (s *Server) dispatch(ctx context.Context, lines *lineReader, calls *queue, w *writer) error {
	for {
		line, err := lines.next()
		if err == io.EOF {
			return nil
		}
		if long := (*longLine)(nil); errors.As(err, &long) {
			w.write(s.tooLong(long.id()))
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
		err = json.Unmarshal(line, &head)
		switch {
		case err == nil && asksMemory[head.Method] && len(head.ID) > 0:
			if !calls.push(&queued{id: string(head.ID), message: line}) {
				return nil // closed: the server is going away
			}
		case err == nil && head.Method == mcp.MethodNotificationCancelled:
			calls.withdraw(string(head.Params.RequestID))
		default:
			w.write(s.handleMessage(ctx, line))
		}
	}
}

// tooLong answers a message that was not kept. id is the request's, nil if it
// could not be told.
func (s *Server) tooLong(id any) mcp.JSONRPCError {
	return mcp.NewJSONRPCError(mcp.NewRequestId(id), mcp.INVALID_REQUEST,
		fmt.Sprintf("the message is over %d bytes; save large payloads over HTTP (POST /api/perceptions), or give save_perception a path", s.maxMessage), nil)
}
