package mcp

import (
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/robotmem/robotmem-go/robotmem"
)

// errorResult is the result of a failed operation as the model reads it. The
// parts are in _meta and not in structuredContent, which must fit the output
// schema.
func (s *Server) errorResult(op *robotmem.Op, err error) *mcp.CallToolResult {
	shown := s.logged(op.Name, err)
	res := mcp.NewToolResultError(shown.Error())
	res.Meta = &mcp.Meta{AdditionalFields: map[string]any{"robotmem/error": map[string]any{
		"kind": shown.Kind, "op": shown.Op, "field": shown.Field, "detail": shown.Detail(),
	}}}
	return res
}

// errInternal takes the place of an internal error, whose text may hold SQL or a
// path.
var errInternal = errors.New("internal error; the node's log has the cause")

// shown returns what the caller of a resource or a prompt sees of
// an error.
func (s *Server) shown(err error) error { return errors.New(s.logged("", err).Error()) }

// logged logs an error that is not the caller's and returns what the caller sees of it.
func (s *Server) logged(op string, err error) *robotmem.Error {
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

// recovered turns a panic of a handler into an error of its request.
func (s *Server) recovered(err *error) {
	if v := recover(); v != nil {
		s.log.Error("panic", "panic", v, "stack", string(debug.Stack()))
		*err = s.shown(fmt.Errorf("panic: %v", v))
	}
}
