package main

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"time"
)

// A command that waits for its standard input ends at the first signal.
func TestTheFirstSignalEndsAWaitForInput(t *testing.T) {
	for _, args := range []string{"learn -", "import -"} {
		t.Run(args, func(t *testing.T) {
			t.Setenv("ROBOTMEM_HOME", t.TempDir())
			t.Setenv("ROBOTMEM_EMBEDDER", "none")
			stdin, hold := io.Pipe() // nothing comes
			defer hold.Close()
			ended := make(chan int, 1)
			ctx, signal := context.WithCancel(t.Context())
			go func() { ended <- runUntil(ctx, strings.Fields(args), stdin, io.Discard, io.Discard) }()
			time.AfterFunc(300*time.Millisecond, signal)
			select {
			case code := <-ended:
				if code == 0 {
					t.Error("an interrupted command succeeded")
				}
			case <-time.After(20 * time.Second):
				t.Fatal("it waits on")
			}
		})
	}
}

func TestInterruptibleInputIsWhole(t *testing.T) {
	text := strings.Repeat("a fact of the robot\n", 20_000)
	err := iotest.TestReader(&interruptible{ctx: t.Context(), in: iotest.HalfReader(strings.NewReader(text))}, []byte(text))
	if err != nil {
		t.Error(err)
	}
	broken := errors.New("broken")
	if _, err := io.ReadAll(&interruptible{ctx: t.Context(), in: iotest.ErrReader(broken)}); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
}
