package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"reflect"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	"github.com/robotmem/robotmem-go/cmd/robotmem/internal/stdin"
	"github.com/robotmem/robotmem-go/robotmem"
)

// endsWithin is generous for a busy machine.
const endsWithin = 10 * time.Second

// A command that waits, for its standard input or for requests, ends at the first signal.
func TestTheFirstSignalEndsAWaitForInput(t *testing.T) {
	waiting := []string{
		"import -", "update 1 -", "save-perception --file - arm-trace", "learn x --taxonomy -", "learn x --config -", "web --addr 127.0.0.1:0",
		"mcp", "web --addr 127.0.0.1:0 --until-stdin-ends", "demo --web --addr 127.0.0.1:0",
	}
	// Every operation whose text may be -.
	for _, op := range robotmem.Ops() {
		if op.In.NumField() == 0 {
			continue
		}
		if first := op.In.Field(0); op.CLI != "" && first.Tag.Get("cli") == "arg" && first.Type.Kind() == reflect.String && first.Name != "SessionID" {
			waiting = append(waiting, op.CLI+" -")
		}
	}
	if len(waiting) < 13 {
		t.Fatalf("only %q", waiting)
	}
	for _, args := range waiting {
		t.Run(args, func(t *testing.T) {
			t.Setenv("ROBOTMEM_HOME", t.TempDir())
			t.Setenv("ROBOTMEM_EMBEDDER", "none")
			t.Setenv("TMPDIR", t.TempDir()) // of the demo
			stdin, hold := io.Pipe()        // nothing comes
			defer hold.Close()
			ended := make(chan int, 1)
			out := &watchedOutput{serving: make(chan struct{})}
			ctx, signal := context.WithCancel(t.Context())
			go func() { ended <- runUntil(ctx, strings.Fields(args), stdin, out, io.Discard) }()
			// A node prints its address once it serves.
			if strings.HasPrefix(args, "web") || strings.HasPrefix(args, "demo") {
				<-out.serving
			} else {
				time.Sleep(300 * time.Millisecond)
			}
			signalled := time.Now()
			signal()
			select {
			case code := <-ended:
				// A node that is told to end has done what it was asked.
				serves := strings.HasPrefix(args, "web") || args == "mcp" || strings.HasPrefix(args, "demo")
				if want := map[bool]int{true: 0, false: 1}[serves]; code != want && args != "mcp" { // it may be signalled before it serves
					t.Errorf("exit code %d, want %d", code, want)
				}
				if took := time.Since(signalled); took > endsWithin {
					t.Errorf("it ended %v after the signal", took)
				}
			case <-time.After(20 * time.Second):
				t.Fatal("it waits on")
			}
		})
	}
}

func TestInterruptibleInputIsWhole(t *testing.T) {
	text := strings.Repeat("a fact of the robot\n", 20_000)
	err := iotest.TestReader(stdin.New(t.Context(), iotest.HalfReader(strings.NewReader(text))), []byte(text))
	if err != nil {
		t.Error(err)
	}
	broken := errors.New("broken")
	if _, err := io.ReadAll(stdin.New(t.Context(), iotest.ErrReader(broken))); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
}

// watchedOutput tells when an address was printed.
type watchedOutput struct {
	serving chan struct{}
	once    sync.Once
}

func (w *watchedOutput) Write(p []byte) (int, error) {
	if bytes.Contains(p, []byte("http://")) {
		w.once.Do(func() { close(w.serving) })
	}
	return len(p), nil
}
