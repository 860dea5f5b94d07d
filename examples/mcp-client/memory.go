package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/mcp"

	"github.com/robotmem/robotmem-go/robotmem"
)

// memory is a robotmem node that runs as a child process, with MCP over its stdin and stdout.
type memory struct{ client *client.Client }

// start runs `robotmem mcp` on a file.
func start(ctx context.Context, robotmemPath, db string) (*memory, error) {
	c, err := client.NewStdioMCPClient(robotmemPath, nil, "mcp", "--db", db)
	if err != nil {
		return nil, err
	}
	hello := mcp.InitializeRequest{}
	hello.Params.ProtocolVersion = mcp.LATEST_PROTOCOL_VERSION
	hello.Params.ClientInfo = mcp.Implementation{Name: "peg-controller", Version: "1.0.0"}
	if _, err := c.Initialize(ctx, hello); err != nil {
		return nil, errors.Join(err, c.Close())
	}

	return &memory{c}, nil
}

// close closes the child's stdin and waits for the child to end. All acknowledged
// writes are on disk.
func (m *memory) close() error { return m.client.Close() }

// tools returns the names of the node's tools.
func (m *memory) tools(ctx context.Context) ([]string, error) {
	list, err := m.client.ListTools(ctx, mcp.ListToolsRequest{})
	if err != nil {
		return nil, err
	}

	var names []string
	for _, t := range list.Tools {
		names = append(names, t.Name)
	}

	return names, nil
}

// call runs one tool. Its arguments are the JSON of a request of package robotmem, and its
// result is the JSON of the response, so that a Go client can use those types.
func call[Out any](ctx context.Context, m *memory, tool string, in any) (*Out, error) {
	req := mcp.CallToolRequest{}
	req.Params.Name, req.Params.Arguments = tool, in
	res, err := m.client.CallTool(ctx, req)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", tool, err)
	}
	if res.IsError {
		// The text of a failed call names the field, the allowed values and the next step.
		return nil, fmt.Errorf("%s was refused: %s", tool, text(res))
	}
	out := new(Out)
	if err := json.Unmarshal([]byte(text(res)), out); err != nil {
		return nil, fmt.Errorf("%s: the answer is not its JSON: %w", tool, err)
	}

	return out, nil
}

func text(res *mcp.CallToolResult) string {
	for _, c := range res.Content {
		if t, ok := c.(mcp.TextContent); ok {
			return t.Text
		}
	}
	return ""
}

func (m *memory) startSession(
	ctx context.Context, r robotmem.StartSessionRequest,
) (*robotmem.StartSessionResponse, error) {
	return call[robotmem.StartSessionResponse](ctx, m, "start_session", r)
}

func (m *memory) endSession(ctx context.Context, r robotmem.EndSessionRequest) (*robotmem.EndSessionResponse, error) {
	return call[robotmem.EndSessionResponse](ctx, m, "end_session", r)
}

func (m *memory) learn(ctx context.Context, r robotmem.LearnRequest) (*robotmem.LearnResponse, error) {
	return call[robotmem.LearnResponse](ctx, m, "learn", r)
}

func (m *memory) recall(ctx context.Context, r robotmem.RecallRequest) (*robotmem.RecallResponse, error) {
	r.Detail = robotmem.DetailFull // with the context; an agent reads the compact lines
	return call[robotmem.RecallResponse](ctx, m, "recall", r)
}

func (m *memory) update(ctx context.Context, r robotmem.UpdateRequest) (*robotmem.UpdateResponse, error) {
	return call[robotmem.UpdateResponse](ctx, m, "update", r)
}

func (m *memory) forget(ctx context.Context, r robotmem.ForgetRequest) (*robotmem.ForgetResponse, error) {
	return call[robotmem.ForgetResponse](ctx, m, "forget", r)
}
