package robotmem

import (
	"context"
)

// Caller is who asks, and through what. It is stored with what the caller
// writes and with every change that it makes. A face sets it from what it has
// itself checked or been told by the transport; no request can.
type Caller struct {
	// Who is the name of the caller's token, or the user of this machine that
	// runs the program. Empty where nobody was asked for a name.
	Who string
	// Tool is the face: mcp, rest, cli, library, import, recorder or node.
	Tool string
	// Client is the program behind it as it calls itself, such as
	// claude-code/2.0.1: a claim, and no more than that.
	Client string
}

// The faces that callers come through.
const (
	ToolMCP      = "mcp"
	ToolREST     = "rest"
	ToolCLI      = "cli"
	ToolLibrary  = "library"
	ToolImport   = "import"
	ToolRecorder = "recorder"
	ToolNode     = "node" // its own work in the background
)

type callerKey struct{}

// WithCaller marks the calls of a caller.
func WithCaller(ctx context.Context, c Caller) context.Context {
	return context.WithValue(ctx, callerKey{}, c)
}

// CallerOf returns the caller that WithCaller has set, the zero Caller if none.
func CallerOf(ctx context.Context) Caller {
	c, _ := ctx.Value(callerKey{}).(Caller)
	return c
}
