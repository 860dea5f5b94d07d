package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"runtime/debug"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/robotmem/robotmem-go/robotmem"
)

// errorResult returns the result of a failed operation as the model reads it. The fields of the error are in _meta
// and not in structuredContent, which must fit the output schema.
func (s *Server) errorResult(op *robotmem.Op, err error) *mcp.CallToolResult {
	shown := s.logError(op.Name, err)
	res := mcp.NewToolResultError(shown.Error())
	res.Meta = &mcp.Meta{AdditionalFields: map[string]any{"robotmem/error": map[string]any{
		"kind": shown.Kind, "op": shown.Op, "field": shown.Field, "detail": shown.Detail(),
	}}}
	return res
}

// errInternal takes the place of an internal error, whose text may hold SQL or a path.
var errInternal = errors.New("internal error; the node's log has the cause")

// publicError returns what the caller of a resource, a prompt or a completion sees of an error.
func (s *Server) publicError(ctx context.Context, err error) error {
	shown := s.logError("", err)
	noteKind(ctx, shown.Kind)
	return errors.New(shown.Error())
}

// logError logs an error that is not the caller's and returns what the caller sees of it.
func (s *Server) logError(op string, err error) *robotmem.Error {
	shown := &robotmem.Error{Kind: robotmem.Internal}
	errors.As(err, &shown)
	if shown.Kind == robotmem.Internal || shown.Kind == robotmem.Corrupt {
		s.log.Error("request failed", "op", op, "kind", shown.Kind, "err", err)
	}
	if shown.Kind == robotmem.Internal {
		return &robotmem.Error{Op: op, Kind: robotmem.Internal, Err: errInternal}
	}

	return shown
}

// recoverPanic turns a panic of a handler into an error of its request.
func (s *Server) recoverPanic(ctx context.Context, err *error) {
	if v := recover(); v != nil {
		s.log.Error("panic", "panic", v, "stack", string(debug.Stack()))
		*err = s.publicError(ctx, fmt.Errorf("panic: %v", v))
	}
}

// The library answers every error of a resource's handler as an internal error, though
// clients tell "not found" from "broken" by the code. The right code is kept in the
// request's context as a correction, and applied to the library's answer.

// correction changes an answer that is an error. The zero value changes nothing.
type correction struct {
	code   int // replaces the error code if it is not 0
	status int // replaces the HTTP status if it is not 0
}

func (c *correction) isEmpty() bool { return c.code == 0 }

// applyTo corrects an answer that is already encoded. It keeps the id as it is
// spelled, because the library's type does not read every id that it writes.
func (c *correction) applyTo(answer []byte) []byte {
	var e struct {
		JSONRPC string                   `json:"jsonrpc"`
		ID      json.RawMessage          `json:"id"`
		Error   *mcp.JSONRPCErrorDetails `json:"error,omitempty"`
	}
	if json.Unmarshal(answer, &e) != nil || e.Error == nil {
		return answer
	}
	e.Error.Code = c.code
	if corrected, err := robotmem.EncodeJSON(e); err == nil {
		return corrected
	}

	return answer
}

// noteKind stores the error code of a kind of error in the exchange. Since 2026-07-28 the protocol has no code of its
// own for "not found".
func noteKind(ctx context.Context, kind robotmem.Kind) {
	c := &exchangeOf(ctx).correction
	modern := mcp.IsModernProtocol(server.RequestProtocolVersion(ctx))

	switch {
	case kind == robotmem.NotFound && !modern:
		c.code = mcp.RESOURCE_NOT_FOUND
	case kind == robotmem.NotFound, kind == robotmem.Invalid, kind == robotmem.TooLarge:
		c.code = mcp.INVALID_PARAMS
	}

	// The older protocol answers 200 even to an error.
	if modern && c.code != 0 {
		c.status = http.StatusBadRequest
	}
}

// handleMessage is the library's HandleMessage with corrected answers.
func (s *Server) handleMessage(ctx context.Context, m message, to notifier) mcp.JSONRPCMessage {
	x := &exchange{arguments: m.arguments, notifier: to}
	answer := s.mcp.HandleMessage(x.in(ctx), m.envelope)

	// The library reads a long number as a float64, so its answer may have another id than the request.
	id, exact := exactID(m.envelope)

	switch a := answer.(type) {
	case mcp.JSONRPCError:
		if !x.correction.isEmpty() {
			a.Error.Code = x.correction.code
		}
		if exact {
			a.ID = id
		}

		return a
	case mcp.JSONRPCResponse:
		if exact {
			a.ID = id
		}
		return a
	}

	return answer
}

// exactDigits is how many digits of a number a float64 keeps.
const exactDigits = 15

// exactID returns the id of a request as it is written, if it is a number that the library, which reads
// it as a float64, may have changed.
func exactID(envelope []byte) (id mcp.RequestId, exact bool) {
	var head struct {
		ID json.RawMessage `json:"id"`
	}
	if json.Unmarshal(envelope, &head) != nil || len(head.ID) <= exactDigits || head.ID[0] == '"' {
		return id, false
	}

	return mcp.NewRequestId(head.ID), true
}
