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
)

// gcPercent trades a little time for memory: the indexes of a node are large and
// hold no pointers, so collecting often is cheap. GOGC overrides it.
const gcPercent = 25

func main() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// run is the program without its process: arguments in, exit code out.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	// The first signal asks the command to finish what it has begun; with the
	// handler gone, a second one ends the process.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	defer stop()

	a := &app{Version: version(), Stdin: stdin, Stdout: stdout, Stderr: stderr, env: os.LookupEnv}
	if len(args) == 0 {
		args = []string{"--help"}
	}
	defer a.close()
	done, err := a.execute(ctx, args)
	if err != nil {
		return a.fail(err)
	}
	return done
}
