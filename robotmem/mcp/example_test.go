package mcp_test

import (
	"context"
	"log/slog"
	"os"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/mcp"
)

func Example() {
	serve := func(ctx context.Context, svc robotmem.Node) error {
		s := mcp.NewServer(svc, mcp.Options{Version: "1.0.0", Logger: slog.Default()})
		return s.ServeStdio(ctx, os.Stdin, os.Stdout) // over HTTP: http.Handle("/mcp", s.Handler())
	}
	_ = serve // robotmem mcp
}
