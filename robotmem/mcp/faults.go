package mcp

import (
	"context"
	"net/http"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/robotmem/robotmem-go/robotmem"
)

// The library answers every error of a resource's handler as an internal one. A
// client tells "not there" from "broken" by the code, so the handler notes the
// right one on the request, and it is put into the answer on its way out.

type faultKey struct{}

// fault is the code of a request that failed, 0 while it has not, and the status
// of its answer over HTTP, 0 for the library's.
type fault struct{ code, status int }

// withFault gives a request room for the code of its failure.
func withFault(ctx context.Context) (context.Context, *fault) {
	f := &fault{}
	return context.WithValue(ctx, faultKey{}, f), f
}

// note keeps the code that stands for a kind of error. Since 2026-07-28 the
// protocol has no code of its own for what is not there.
func note(ctx context.Context, kind robotmem.Kind) {
	f, ok := ctx.Value(faultKey{}).(*fault)
	if !ok {
		return
	}
	modern := mcp.IsModernProtocol(server.RequestProtocolVersion(ctx))
	switch {
	case kind == robotmem.NotFound && !modern:
		f.code = mcp.RESOURCE_NOT_FOUND
	case kind == robotmem.NotFound, kind == robotmem.Invalid, kind == robotmem.TooLarge:
		f.code = mcp.INVALID_PARAMS
	}
	if modern && f.code != 0 {
		f.status = http.StatusBadRequest
	}
}

// mend puts the code into an answer that is an error.
func (f *fault) mend(answer mcp.JSONRPCMessage) mcp.JSONRPCMessage {
	if e, ok := answer.(mcp.JSONRPCError); ok && f.code != 0 {
		e.Error.Code = f.code
		return e
	}
	return answer
}

// handleMessage is the library's, with the codes mended.
func (s *Server) handleMessage(ctx context.Context, message []byte) mcp.JSONRPCMessage {
	ctx, f := withFault(ctx)
	return f.mend(s.mcp.HandleMessage(ctx, message))
}
