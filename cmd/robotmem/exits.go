package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"syscall"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/web"
)

// exitCode ends the program when what failed is said already.
type exitCode int

func (c exitCode) Error() string { return fmt.Sprintf("exit code %d", int(c)) }

// exitCodes maps every kind to the code it ends with.
var exitCodes = map[robotmem.Kind]exitCode{
	robotmem.Invalid:     2,
	robotmem.Forbidden:   2,
	robotmem.NotFound:    3,
	robotmem.Conflict:    1,
	robotmem.TooLarge:    2,
	robotmem.Unavailable: 1,
	robotmem.Corrupt:     4,
	robotmem.Internal:    1,
}

const exitUnhealthy exitCode = 4

// exits are the codes with which the program ends, as docs/reference/exit-codes.md and the manual list them.
var exits = []struct {
	code    exitCode
	meaning string
	next    string
}{
	{0, "the command did what it was asked", ""},
	{1, "it failed: unavailable, conflict, internal", "try again, after what the message names"},
	{2, "the request or the command line is wrong: invalid, forbidden, too_large", "change the command; the message names the flag"},
	{3, "there is no such memory, episode or backup: not_found", "look it up with list, session list or backup list"},
	{4, "something is damaged: corrupt, or doctor found a problem", "robotmem doctor names the remedy"},
	{130, "Ctrl-C (SIGINT) ended it before it was done", "run it again; what it has stored is kept"},
	{143, "SIGTERM ended it before it was done", "run it again; what it has stored is kept"},
}

// signalled is why a command ends early.
type signalled struct{ os.Signal }

func (s signalled) Error() string { return s.String() }

// afterSignal is the exit code of a command that failed, or is 128 and the number of the signal if one ended it.
func afterSignal(ctx context.Context, code int) int {
	var by signalled
	if code != 1 || !errors.As(context.Cause(ctx), &by) {
		return code
	}
	number, _ := by.Signal.(syscall.Signal)

	return 128 + int(number)
}

// fail prints an error and returns the exit code. The internal cause goes to the log.
func (a *app) fail(err error) int {
	a.bar.End()
	code := exitCodes[robotmem.KindOf(err)]
	if errors.As(err, &code) {
		return int(code)
	}
	if a.asJSON {
		// What reads the answer reads the error too: the object is that of REST.
		_, _ = a.Stdout.Write(web.ProblemJSON(err)) // stderr says the same
	}
	text := err.Error()
	if a.spoken != nil {
		text = a.spoken(err)
	}
	fmt.Fprintln(a.Stderr, "robotmem: "+text)
	if a.Log != nil {
		level := slog.LevelDebug
		if k := robotmem.KindOf(err); k == robotmem.Internal || k == robotmem.Corrupt {
			level = slog.LevelError
		}
		if cause := innermost(err); !strings.Contains(err.Error(), cause.Error()) {
			a.Log.Log(context.Background(), level, "cause", "kind", robotmem.KindOf(err), "err", cause)
		}
	}

	return int(code)
}

// innermost is the first cause of an error.
func innermost(err error) error {
	for {
		inner := errors.Unwrap(err)
		if joined, ok := err.(interface{ Unwrap() []error }); ok {
			inner = joined.Unwrap()[0]
		}
		if inner == nil {
			return err
		}
		err = inner
	}
}
