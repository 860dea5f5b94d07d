package robotmem

import (
	"context"
	"reflect"
)

// Caller identifies the user and program that make a call. It is stored with
// every memory and change that the caller writes. The MCP, REST and CLI layers
// set it from the token and the transport; a request cannot set it.
type Caller struct {
	// Who is the name of the caller's token, or the operating system user that
	// runs the program. It is empty if neither is known.
	Who string
	// Tool is the interface: mcp, rest, cli, library, import, recorder or node.
	Tool string
	// Client is the name that the client program reports, such as
	// claude-code/2.0.1. It is not verified.
	Client string
	// ReadOnly callers may only read. Op.Call refuses them every operation that
	// is not Hints.ReadOnly, and credits their recalls to no memory and no episode.
	ReadOnly bool
	// Tenant names the owner of the memory that the call is about, on a site of
	// several. It is empty where there is one memory.
	Tenant string
	// Role is what the caller may do within the tenant: one of the values
	// below.
	Role string
	// Robot is the robot of a caller with RoleRobot. What it stores carries this name.
	Robot string
	// Collections is the set of collections that the caller reads and writes, see
	// AllCollections; empty for all.
	Collections string
}

// Values of Caller.Role.
const (
	RoleAdmin    = "admin"    // everything, also the tokens of the tenant
	RoleOperator = "operator" // every operation
	RoleRobot    = "robot"    // its own memories, in its collections
	RoleReader   = "reader"   // what changes nothing, in its collections
)

// Values of Caller.Tool.
const (
	ToolMCP      = "mcp"
	ToolREST     = "rest"
	ToolFleet    = "fleet" // what came from the site of a robot
	ToolCLI      = "cli"
	ToolLibrary  = "library"
	ToolImport   = "import"
	ToolRecorder = "recorder"
	ToolNode     = "node" // background work of the node
)

type callerKey struct{}

// WithCaller returns a context that carries the caller.
func WithCaller(ctx context.Context, c Caller) context.Context {
	return context.WithValue(ctx, callerKey{}, c)
}

// CallerOf returns the caller in ctx, or the zero Caller.
func CallerOf(ctx context.Context) Caller {
	c, _ := ctx.Value(callerKey{}).(Caller)
	return c
}

// Allowed returns a Forbidden error if the caller may not use the operation.
func (o *Op) Allowed(ctx context.Context) error {
	if CallerOf(ctx).ReadOnly && !o.Hints.ReadOnly {
		return inOp(o.Name, Errorf(Forbidden, "", "the token is for reading only; "+
			"use one that may write, which `robotmem token create NAME` makes"))
	}
	return nil
}

// refuseModelFields refuses MCP callers the fields with tool:"-". These fields delete
// permanently and are reserved for people and their programs.
func (o *Op) refuseModelFields(ctx context.Context, req any) error {
	if CallerOf(ctx).Tool != ToolMCP {
		return nil
	}

	v := reflect.ValueOf(req).Elem()
	for i := range v.NumField() {
		if f := v.Type().Field(i); f.Tag.Get("tool") == "-" && !v.Field(i).IsZero() {
			return inOp(o.Name, Errorf(Invalid, jsonName(f), "is not offered to models; "+
				"a person does it with `robotmem forget %s` or over REST", "--"+jsonName(f)))
		}
	}

	return nil
}
