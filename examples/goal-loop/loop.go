package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
)

// loop tries to reach a goal until it is reached or a stop condition holds. The memory says what was tried; this
// program runs the commands.
type loop struct {
	Memory robotmem.Service
	Goal   string
	Checks []string // commands that all must exit with 0
	Try    string   // command that changes the working tree
	Dir    string   // a working tree of git

	MaxTries int
	MaxTime  time.Duration
	Stuck    int  // tries without progress after which the loop gives up
	Rollback bool // undo a try that made no progress
	Out      io.Writer
}

// run returns whether the goal was reached.
func (l *loop) run(ctx context.Context) (reached bool, err error) {
	repo, err := open(ctx, l.Dir)
	if err != nil {
		return false, err
	}

	ctx, cancel := context.WithTimeout(ctx, l.MaxTime)
	defer cancel()

	// Another run may have begun the attempt and was stopped.
	a, err := l.Memory.Attempt(ctx, &robotmem.AttemptRequest{Goal: l.Goal, Criteria: l.Checks})
	if err != nil {
		return false, err
	}
	l.say("%s: %s, %s so far", a.Goal, a.Status, count(len(a.Tries)+a.More))

	for tries := 0; ; tries++ {
		if why := l.stop(ctx, tries, a); why != "" {
			return false, l.giveUp(a, why)
		}
		if a, err = l.once(ctx, repo, a); err != nil {
			return false, err
		}
		if a.Status == "ended" {
			l.say("reached with try %d: %s", a.Number, a.Tries[len(a.Tries)-1].Changed)
			return true, nil
		}
	}
}

// stop returns the stop condition that holds, "" if none does.
func (l *loop) stop(ctx context.Context, tries int, a *robotmem.AttemptResponse) string {
	switch {
	case ctx.Err() != nil:
		return fmt.Sprintf("the time of %v is over", l.MaxTime)
	case tries >= l.MaxTries:
		return count(tries) + " made"
	case tries > 0 && a.WithoutProgress >= l.Stuck:
		return count(a.WithoutProgress) + " without progress"
	}

	return ""
}

// giveUp leaves the attempt open, so that the next run knows what was tried.
func (l *loop) giveUp(a *robotmem.AttemptResponse, why string) error {
	l.say("stopped: %s", why)
	if a.Advice != "" {
		l.say("%s", a.Advice)
	}

	return nil
}

// once makes one try: a snapshot, the command that changes something, the checks, and what came out for the memory.
func (l *loop) once(
	ctx context.Context, repo *repository, a *robotmem.AttemptResponse,
) (*robotmem.AttemptResponse, error) {
	number := 1
	if n := len(a.Tries); n > 0 {
		number = a.Tries[n-1].Number + 1
	}

	before, err := repo.snapshot(ctx, fmt.Sprintf("%s/before-%d", a.SessionID, number))
	if err != nil {
		return nil, err
	}

	said, _, err := l.command(ctx, l.Try, l.told(a, number))
	if err != nil {
		return nil, err
	}

	// The time limit may have passed. The snapshots and the stored try must still be complete.
	whole := context.WithoutCancel(ctx)

	after, err := repo.snapshot(whole, fmt.Sprintf("%s/after-%d", a.SessionID, number))
	if err != nil {
		return nil, err
	}
	changed, err := l.changed(whole, repo, said, before, after)
	if err != nil {
		return nil, err
	}

	ask := &robotmem.AttemptRequest{Goal: l.Goal, Changed: changed, Checks: robotmem.Object{}}
	for i, check := range l.Checks {
		out, status, err := l.command(ctx, check, nil)
		if err != nil {
			return nil, err
		}
		ask.Checks[fmt.Sprint(i+1)] = status
		if status != 0 {
			ask.Result += fmt.Sprintf("%s: %s\n", check, lastLine(out))
		}
	}

	// A check that was interrupted says nothing of the try.
	if ctx.Err() != nil {
		l.say("try %d was interrupted: %s", number, changed)
		if l.Rollback {
			err = repo.restore(whole, before, after)
		}

		return a, err
	}

	next, err := l.Memory.Attempt(whole, ask)
	if err != nil {
		return nil, err
	}
	last := next.Tries[len(next.Tries)-1]
	l.say("try %d: %s: %s", next.Number, last.Changed, last.Outcome)

	if l.Rollback && next.Status != "ended" && next.WithoutProgress > 0 {
		l.say("try %d is undone", next.Number)
		err = repo.restore(whole, before, after)
	}

	return next, err
}

// told returns the environment variables that the command of a try gets.
func (l *loop) told(a *robotmem.AttemptResponse, number int) []string {
	var tried []string
	for _, t := range a.Tries {
		tried = append(tried, fmt.Sprintf("%d. %s: %s %s", t.Number, t.Changed, t.Outcome, t.Result))
	}

	return []string{
		"GOAL=" + l.Goal, fmt.Sprintf("TRY=%d", number), "ADVICE=" + a.Advice, "TRIED=" + strings.Join(tried, "\n"),
	}
}

// changed returns the text of the line "Changed: …" in the output of the command; without one, the files that differ.
func (l *loop) changed(ctx context.Context, repo *repository, said, before, after string) (string, error) {
	for line := range strings.Lines(said) {
		if text, ok := strings.CutPrefix(strings.TrimSpace(line), "Changed:"); ok {
			return strings.TrimSpace(text), nil
		}
	}

	files, err := repo.changes(ctx, before, after)
	if err == nil && files == "" {
		files = "nothing"
	}

	return files, err
}

// command runs a command of the shell and returns its output and exit status.
func (l *loop) command(ctx context.Context, line string, env []string) (out string, status int, err error) {
	cmd := exec.CommandContext(ctx, "sh", "-c", line)
	cmd.Dir = l.Dir
	cmd.Env = append(os.Environ(), env...)
	// A child that keeps the pipe open must not keep the loop waiting after the time is over.
	cmd.WaitDelay = time.Second

	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	err = cmd.Run()
	if ctx.Err() != nil {
		return said.String(), -1, nil
	}

	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		return said.String(), exit.ExitCode(), nil
	}

	return said.String(), 0, err
}

func count(tries int) string {
	if tries == 1 {
		return "1 try"
	}
	return fmt.Sprintf("%d tries", tries)
}

func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return lines[len(lines)-1]
}

func (l *loop) say(format string, args ...any) { fmt.Fprintf(l.Out, format+"\n", args...) }
