// Command robotmem is a memory for robots: one file, asked over the command
// line, MCP and REST.
package main

import (
	"context"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"
	"time"
)

// gcPercent saves memory for a little time: the indexes of a node are large and have no
// pointers, so that frequent collections are cheap. It begins after startTime: a short command
// has ended by then, and with startPercent its first collection comes at 16 MiB. GOGC overrides
// both.
const (
	startPercent = 400
	gcPercent    = 25
	startTime    = time.Second
)

func main() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(startPercent)
		time.AfterFunc(startTime, func() { debug.SetGCPercent(gcPercent) })
	}
	os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// run runs the program and returns the exit code.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	// The first signal ends ctx, and the command completes what it has begun. The handler is
	// then removed, so that a second signal ends the process.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	defer stop()

	a := &app{Version: version(), Stdin: stdin, Stdout: stdout, Stderr: stderr, env: os.LookupEnv}
	if len(args) == 0 {
		args = []string{"--help"}
	}
	defer a.close()
	if err := checkLimits(); err != nil {
		return a.fail(err)
	}
	done, err := a.execute(ctx, args)
	if err != nil {
		return a.fail(err)
	}
	return done
}
