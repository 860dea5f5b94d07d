// Mcp-client is a robot controller that starts a robotmem node as a child process and uses it
// over MCP. It inserts a peg twice. In the first episode it searches for the force, in the
// second it recalls the force. It uses seven tools of the node.
//
//	go run ./examples/mcp-client                     # builds the node itself
//	go run ./examples/mcp-client -robotmem PATH      # uses this binary
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

func main() {
	log.SetFlags(0)
	path := flag.String("robotmem", "", "the robotmem binary (default: build it, which needs the Go toolchain)")
	flag.Parse()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	if err := run(ctx, *path); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, robotmemPath string) (err error) {
	dir, err := os.MkdirTemp("", "robotmem-mcp-client-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if robotmemPath == "" {
		if robotmemPath, err = build(ctx, dir); err != nil {
			return err
		}
	}
	db := filepath.Join(dir, "memory.db")

	var attempts [2]int
	for i := range attempts {
		fmt.Printf("episode %d\n", i+1)
		// Each episode starts a new child, so that the second one reads the memory from disk.
		if attempts[i], err = withMemory(ctx, robotmemPath, db, insertPeg); err != nil {
			return err
		}
	}
	fmt.Printf("attempts: %d in the first episode, %d in the second\n", attempts[0], attempts[1])
	if attempts[1] != 1 {
		return errors.New("the memory did not help: the second episode should need one attempt")
	}

	return nil
}

func build(ctx context.Context, dir string) (string, error) {
	out := filepath.Join(dir, "robotmem")
	if runtime.GOOS == "windows" {
		out += ".exe"
	}
	cmd := exec.CommandContext(ctx, "go", "build", "-o", out, "github.com/robotmem/robotmem-go/cmd/robotmem")
	cmd.Stderr = os.Stderr
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("building robotmem: %w; pass a binary with -robotmem", err)
	}

	return out, nil
}

func withMemory(
	ctx context.Context, robotmemPath, db string, live func(context.Context, *memory) (int, error),
) (n int, err error) {
	m, err := start(ctx, robotmemPath, db)
	if err != nil {
		return 0, fmt.Errorf("starting %s mcp: %w", robotmemPath, err)
	}
	defer func() { err = errors.Join(err, m.close()) }()
	tools, err := m.tools(ctx)
	if err != nil {
		return 0, err
	}
	fmt.Println("  tools:", strings.Join(tools, " "))

	return live(ctx, m)
}
