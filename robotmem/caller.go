package robotmem

import (
	"context"
	"reflect"
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
	// ReadOnly says that the caller may read and change nothing. Op.Call refuses such
	// a caller every operation that is not Hints.ReadOnly, and what a recall finds for
	// it is no credit to a memory or an episode.
	ReadOnly bool
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

// Allowed returns a Forbidden error if the caller may not use the operation.
func (o *Op) Allowed(ctx context.Context) error {
	if CallerOf(ctx).ReadOnly && !o.Hints.ReadOnly {
		return inOp(o.Name, Errorf(Forbidden, "", "the token is for reading only; use one that may write, which `robotmem token create NAME` makes"))
	}
	return nil
}

// offered refuses a model what its tool does not show: a field with tool:"-",
// which destroys for good and is for people and their programs.
func (o *Op) offered(ctx context.Context, req any) error {
	if CallerOf(ctx).Tool != ToolMCP {
		return nil
	}
	v := reflect.ValueOf(req).Elem()
	for i := range v.NumField() {
		if f := v.Type().Field(i); f.Tag.Get("tool") == "-" && !v.Field(i).IsZero() {
			return inOp(o.Name, Errorf(Invalid, jsonName(f), "is not offered to models; a person does it with `robotmem forget %s` or over REST", "--"+jsonName(f)))
		}
	}
	return nil
}
