package mcp

import (
	"testing"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/robotmem/robotmem-go/robotmem"
)

// A client says what program it is, never who asks: that comes from the
// transport.
func TestClientsNameTheirProgramOnly(t *testing.T) {
	ctx := robotmem.WithCaller(t.Context(), robotmem.Caller{Who: "arm-7", Tool: robotmem.ToolREST, Client: "node"})
	if got, want := robotmem.CallerOf(named(ctx, nil)), (robotmem.Caller{Who: "arm-7", Tool: "mcp", Client: "node"}); got != want {
		t.Errorf("without a name: %+v, want %+v", got, want)
	}
	meta := &mcp.Meta{}
	meta.SetClientInfo(mcp.Implementation{Name: "claude-code", Version: "2.0.1"})
	if got, want := robotmem.CallerOf(named(ctx, meta)), (robotmem.Caller{Who: "arm-7", Tool: "mcp", Client: "claude-code/2.0.1"}); got != want {
		t.Errorf("with one: %+v, want %+v", got, want)
	}
}
