package web_test

import (
	"log/slog"
	"net"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/mcp"
	"github.com/robotmem/robotmem-go/ui"
	"github.com/robotmem/robotmem-go/web"
)

func Example() {
	serve := func(svc robotmem.Node, listener net.Listener) error {
		s := mcp.NewServer(svc, mcp.Options{Version: "1.0.0", Logger: slog.Default()})
		srv := web.NewServer(svc, web.Options{Logger: slog.Default(), UI: ui.Files(), MCP: s.Handler()})
		return srv.Serve(listener)
	}
	_ = serve // robotmem web
}
