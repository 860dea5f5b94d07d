package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/local"
	"github.com/robotmem/robotmem-go/robotmem/mcp"
	"github.com/robotmem/robotmem-go/web"
)

// BenchmarkWayIn recalls five of 1,000 memories from the engine, over REST and over MCP: the
// difference is what the transport costs.
func BenchmarkWayIn(b *testing.B) {
	n, err := local.Open(b.Context(), filepath.Join(b.TempDir(), "memory.db"), local.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer n.Close()
	items := make([]robotmem.LearnRequest, 1000)
	for i := range items {
		force := float64(i%397)/10 + 1
		items[i] = robotmem.LearnRequest{
			Insight: fmt.Sprintf("grip_force=%.1f N holds the ceramic mug %d on the shelf near station %d", force, i, i%53),
			Context: robotmem.Object{"params": map[string]any{"grip_force": force, "trial": i}, "task": map[string]any{"success": i%3 != 0, "name": "pick"}, "robot": map[string]any{"id": "arm7"}},
		}
	}
	if _, err := n.LearnBatch(b.Context(), &robotmem.LearnBatchRequest{Items: items}); err != nil {
		b.Fatal(err)
	}
	const question = `{"query":"ceramic mug on the shelf near station 12","n":5}`
	op := robotmem.OpByName("recall")
	run := func(name string, ask func() (size int, err error)) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if size, err := ask(); err != nil || size < 2000 {
					b.Fatal(size, err)
				}
			}
		})
	}
	run("engine", func() (int, error) {
		res, err := n.Recall(b.Context(), &robotmem.RecallRequest{Query: "ceramic mug on the shelf near station 12", N: 5})
		return 400 * len(res.Memories), err
	})
	run("encoded", func() (int, error) {
		res, err := op.Call(b.Context(), n, []byte(question))
		if err != nil {
			return 0, err
		}
		data, err := robotmem.EncodeJSON(res)
		return len(data), err
	})
	node := httptest.NewServer(web.NewServer(n, web.Options{}).Handler)
	defer node.Close()
	run("REST", func() (int, error) {
		res, err := http.Post(node.URL+"/api/recall", "application/json", bytes.NewReader([]byte(question)))
		if err != nil {
			return 0, err
		}
		defer res.Body.Close()
		data, err := io.ReadAll(res.Body)
		return len(data), err
	})
	fromClient, toServer, err := os.Pipe()
	if err != nil {
		b.Fatal(err)
	}
	fromServer, toClient, err := os.Pipe()
	if err != nil {
		b.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- mcp.NewServer(n, mcp.Options{}).ServeStdio(context.Background(), fromClient, toClient) }()
	answers := bufio.NewReaderSize(fromServer, 64<<10)
	call := func(method, params string) (int, error) {
		if _, err := fmt.Fprintf(toServer, `{"jsonrpc":"2.0","id":1,"method":%q,"params":%s}`+"\n", method, params); err != nil {
			return 0, err
		}
		line, err := answers.ReadBytes('\n')
		return len(line), err
	}
	if _, err := call("initialize", `{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}`); err != nil {
		b.Fatal(err)
	}
	run("MCP stdio", func() (int, error) { return call("tools/call", `{"name":"recall","arguments":`+question+`}`) })
	if err := toServer.Close(); err != nil {
		b.Fatal(err)
	}
	if err := <-done; err != nil {
		b.Fatal(err)
	}
}
