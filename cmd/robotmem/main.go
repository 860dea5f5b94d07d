// Command robotmem is a memory for robots: one file, asked over the command line, MCP and REST.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strings"
	"sync"
	"syscall"
	"time"
	"unicode/utf8"

	"github.com/robotmem/robotmem-go/cmd/robotmem/internal/stdin"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/local"
)

// gcPercent saves memory for a little time: large indexes have no pointers, so that frequent collections
// are cheap. A small heap has garbageLeast between two.
const (
	gcPercent    = 10
	garbageLeast = 16 << 20
)

// limitHeap makes Go collect more often near a budget, less the page caches. GOMEMLIMIT overrides it.
func limitHeap(budget local.Memory) {
	if budget > 0 && os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(max(int64(budget)/2, int64(budget)-budget.PageCaches()))
	}
}

// afterCollection calls f with the bytes of the heap in use, now and after each collection.
func afterCollection(f func(live int64)) {
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(live)
	f(int64(live[0].Value.Uint64()))
	// The object is unreachable at once, so its cleanup runs after the next collection and prepares the one after
	// it.
	runtime.AddCleanup(new([1 << 10]byte), func(int) { afterCollection(f) }, 0)
}

// returnHeap keeps the memory of ended requests from staying resident. Go returns free pages at once
// only near its memory limit, which becomes 1.5 times the heap in use. Before, requests of 60 MB left
// 420 MB resident of which 230 were in use. GOMEMLIMIT and --memory override it.
func returnHeap(live int64) { debug.SetMemoryLimit(max(300<<20, live*3/2)) }

func main() {
	if os.Getenv("GOGC") == "" {
		// A short command ends before its first collection, at 16 MiB.
		debug.SetGCPercent(400)
		percent := func(live int64) {
			debug.SetGCPercent(max(gcPercent, int(min(garbageLeast, debug.SetMemoryLimit(-1)/8)*100/max(live, 4<<20))))
		}
		time.AfterFunc(time.Second, func() { afterCollection(percent) })
	}
	os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// checkLimits fails if the program would be refused memory that it only reserves: Go
// would end it with a stack trace, at any point.
func checkLimits() error {
	limit, need := local.AddressSpace()
	if limit == 0 || limit >= need {
		return nil
	}
	return &robotmem.Error{Kind: robotmem.Unavailable, Err: fmt.Errorf("the address space is limited to %d MiB (ulimit -v), and the program reserves %d MiB, of which it uses little; raise that limit, and limit the memory in use instead: --memory, MemoryMax= of systemd, memory.max of a cgroup, or GOMEMLIMIT", limit>>20, need>>20+1)}
}

// checkText refuses an argument that is not UTF-8, whose bytes would be replaced. A file may have such a name.
func checkText(args []string) error {
	for i, arg := range args {
		if utf8.ValidString(arg) {
			continue
		}
		_, value, _ := strings.Cut(arg, "=")
		if exists(arg) || exists(value) {
			continue
		}

		return invalid("", "argument %d is not valid UTF-8 (%q); convert it, for example with iconv", i+1, arg)
	}

	return nil
}

// run runs the program and returns the exit code.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	// The first signal ends ctx, and the command completes what it has begun. The handler is
	// then removed, so that a second signal ends the process.
	ctx, end := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	stop := sync.OnceFunc(func() { signal.Stop(signals); close(signals) })
	defer stop()

	go func() {
		if s, ok := <-signals; ok {
			stop()
			end(signalled{s})
		}
	}()

	return afterSignal(ctx, runUntil(ctx, args, stdin, stdout, stderr))
}

// runUntil runs the program until ctx ends, which interrupts it.
func runUntil(ctx context.Context, args []string, in io.Reader, stdout, stderr io.Writer) int {
	a := &app{Version: version(), Stdin: stdin.New(ctx, in), Stdout: stdout, Stderr: stderr, env: os.LookupEnv, files: map[string][]byte{}}
	if len(args) == 0 {
		args = []string{"--help"}
	}
	defer a.close()
	if err := checkLimits(); err != nil {
		return a.fail(err)
	}
	if err := checkText(args); err != nil {
		return a.fail(err)
	}
	if err := a.execute(ctx, args); err != nil {
		// A client takes the code 2 of a hook for an order to stop its agent.
		if code := a.fail(err); args[0] != "hook" || code == 0 {
			return code
		}
		return 1
	}

	return 0
}
