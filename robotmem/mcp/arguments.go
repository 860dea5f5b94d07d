package mcp

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/mark3labs/mcp-go/mcp"
)

// The library decodes a call's arguments into float64 and strings before a
// handler sees them: a number out of range fails there, as a protocol error
// without a field, and 64 MiB of payload is decoded twice for nothing. So the
// arguments travel past it, in the context, and an empty object in their place.

type argumentsKey struct{}

// detach takes the arguments out of a tools/call message. Any other message,
// and one that cannot be read, is left as it is.
func detach(ctx context.Context, message []byte) (context.Context, []byte) {
	var fields, params map[string]json.RawMessage
	var method string
	if json.Unmarshal(message, &fields) != nil || json.Unmarshal(fields["method"], &method) != nil ||
		method != string(mcp.MethodToolsCall) || json.Unmarshal(fields["params"], &params) != nil {
		return ctx, message
	}
	args, given := params["arguments"]
	if !given {
		return ctx, message
	}
	params["arguments"] = json.RawMessage("{}")
	slim, err := json.Marshal(params)
	if err != nil {
		return ctx, message
	}
	fields["params"] = slim
	if slim, err = json.Marshal(fields); err != nil {
		return ctx, message
	}
	return context.WithValue(ctx, argumentsKey{}, args), slim
}

// arguments are the bytes that came over the wire, so that numbers keep their
// spelling.
func arguments(ctx context.Context, req mcp.CallToolRequest) (json.RawMessage, error) {
	if args, ok := ctx.Value(argumentsKey{}).(json.RawMessage); ok {
		return args, nil
	}
	switch {
	case len(req.Params.RawArguments) > 0:
		return req.Params.RawArguments, nil
	case req.Params.Arguments == nil:
		return nil, nil
	}
	data, err := json.Marshal(req.Params.Arguments)
	if err != nil {
		return nil, fmt.Errorf("the arguments are not JSON: %w", err)
	}
	return data, nil
}
