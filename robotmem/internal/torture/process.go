package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/robotmem/robotmem-go/robotmem/local"
)

// process is a child: the program under test, or this program in a role.
type process struct {
	rig    *rig
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	stdout *bufio.Reader
	stderr bytes.Buffer  // complete once gone is closed
	gone   chan struct{} // closed when it has ended

	// Of a role: the phases it has reached, closed at the end of its output.
	phases chan string
	heard  sync.WaitGroup
}

// endsWithin is how long a process may take to end when it is asked to.
const endsWithin = 20 * time.Second

// start starts the program under test on a file.
func (r *rig) start(ctx context.Context, db string, args ...string) (*process, error) {
	return r.spawn(exec.CommandContext(ctx, r.program, append(args, "--db", db)...))
}

// environment is that of the program under test: nothing of its user's.
func (r *rig) environment(more ...string) []string {
	return slices.Concat(os.Environ(), []string{"ROBOTMEM_HOME=" + r.dir, "ROBOTMEM_EMBEDDER=none"}, more)
}

func (r *rig) spawn(cmd *exec.Cmd, env ...string) (*process, error) {
	p := &process{rig: r, cmd: cmd, gone: make(chan struct{})}
	// A pipe of our own: Wait closes that of StdoutPipe before it is read to its end.
	out, in, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	if p.stdin, err = cmd.StdinPipe(); err != nil {
		return nil, err
	}

	p.stdout = bufio.NewReaderSize(out, 1<<20)
	cmd.Env = r.environment(env...)
	cmd.Stdout, cmd.Stderr = in, &p.stderr
	cmd.WaitDelay = time.Second

	if err := cmd.Start(); err != nil {
		return nil, err
	}

	go func() {
		// ProcessState says how it ended.
		_ = cmd.Wait()
		close(p.gone)
	}()

	return p, in.Close()
}

// kill ends the process by SIGKILL and reports whether that is what ended it. A
// panic before is counted.
func (p *process) kill() bool {
	_ = p.cmd.Process.Kill()
	<-p.gone
	p.heard.Wait()
	if err := p.panicked(); err != nil {
		p.rig.broken("%v", err)
	}
	status, ok := p.cmd.ProcessState.Sys().(syscall.WaitStatus)

	return ok && status.Signaled() && status.Signal() == syscall.SIGKILL
}

// end closes stdin and waits for the process. The error says that it hung, failed or panicked.
func (p *process) end() error {
	_ = p.stdin.Close()
	select {
	case <-p.gone:
	case <-time.After(endsWithin):
		p.kill()
		return fmt.Errorf("%v had not ended after %s", p.cmd.Args[1:], endsWithin)
	}
	p.heard.Wait()
	if !p.cmd.ProcessState.Success() {
		return fmt.Errorf("%v: %s: %s", p.cmd.Args[1:], p.cmd.ProcessState, &p.stderr)
	}

	return p.panicked()
}

func (p *process) panicked() error {
	if text := p.stderr.String(); strings.Contains(text, "panic:") || strings.Contains(text, "fatal error:") {
		return fmt.Errorf("%v panicked: %s", p.cmd.Args[1:], text)
	}
	return nil
}

// reach waits until a role has been in a phase so often.
func (p *process) reach(phase string, times int) bool {
	for at := range p.phases {
		if at == phase {
			if times--; times <= 0 {
				return true
			}
		}
	}

	return false
}

// childRole names, in the environment of this program, the role of a child.
const childRole = "ROBOTMEM_TORTURE_CHILD"

// roles are what a child may do, with an argument in JSON, until its stdin ends.
var roles = map[string]func(ctx context.Context, arg []byte, out *output) error{
	"robots": robots,
	"flips":  flipFiles,
}

func runChild(role string) int {
	ctx, stop := context.WithCancel(context.Background())

	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		stop()
	}()
	out := &output{Encoder: json.NewEncoder(os.Stdout)}
	if err := roles[role](ctx, []byte(os.Args[1]), out); err != nil {
		out.say(line{Failed: err.Error()})
		return 1
	}

	return 0
}

// line is what a child prints: one of its fields. Lines are not buffered: what was
// printed happened before.
type line struct {
	Phase  string        `json:",omitempty"`
	Call   *call         `json:",omitempty"`
	Recall time.Duration `json:",omitempty"` // how long one took
	Flip   *flipTried    `json:",omitempty"`
	Failed string        `json:",omitempty"`
}

// output writes lines, each in one write.
type output struct {
	mu sync.Mutex
	*json.Encoder
}

func (o *output) say(l line) {
	o.mu.Lock()
	defer o.mu.Unlock()
	// The reader may be gone.
	_ = o.Encode(l)
}

// startRole starts this program in a role. hear gets the lines that are no phases,
// one after the other.
func (r *rig) startRole(ctx context.Context, role string, arg any, hear func(line)) (*process, error) {
	self, err := os.Executable()
	text, jerr := json.Marshal(arg)
	if err := errors.Join(err, jerr); err != nil {
		return nil, err
	}

	p, err := r.spawn(exec.CommandContext(ctx, self, string(text)), childRole+"="+role)
	if err != nil {
		return nil, err
	}

	// More than any role reaches.
	p.phases = make(chan string, 10_000)
	p.heard.Go(func() {
		defer close(p.phases)

		for {
			text, err := p.stdout.ReadBytes('\n')

			var l line
			if err != nil || json.Unmarshal(text, &l) != nil {
				// Half a line was not said.
				return
			}
			if l.Phase != "" {
				p.phases <- l.Phase
			} else {
				hear(l)
			}
		}
	})

	return p, nil
}

// plan is what the role "robots" does: it opens a file, lets robots change it,
// and closes it. Its phases are ready, opening, open, closing and closed.
type plan struct {
	Path, Name    string
	Seed          uint64
	Visits        int // how often it opens the file; until its stdin ends if 0
	Robots, Steps int // robots at a time, and steps of each; until stdin ends if 0
	Mix           []string
	Pause         time.Duration // after each step, at most
	Wait          bool          // until stdin ends, before it opens the file
}

// startRobots starts a child that follows a plan and tells a ledger. recalled gets
// the times of recalls, if the plan has them.
func (r *rig) startRobots(
	ctx context.Context, p plan, tell func(call), recalled func(time.Duration),
) (*process, error) {
	p.Seed = uint64(r.between(0, 1<<62))
	p.Name += fmt.Sprintf("x%x", p.Seed&0xfffff)

	return r.startRole(ctx, "robots", p, func(l line) {
		switch {
		case l.Call != nil:
			tell(*l.Call)
		case l.Recall > 0:
			recalled(l.Recall)
		default:
			r.broken("a child: %s", l.Failed)
		}
	})
}

func robots(ctx context.Context, arg []byte, out *output) error {
	var p plan
	if err := json.Unmarshal(arg, &p); err != nil {
		return err
	}

	if p.Wait {
		out.say(line{Phase: "ready"})
		<-ctx.Done()
	}

	for visit := 0; p.Visits > 0 && visit < p.Visits || p.Visits == 0 && ctx.Err() == nil; visit++ {
		out.say(line{Phase: "opening"})
		e, err := local.Open(context.Background(), p.Path, local.Options{})
		if err != nil {
			return err
		}
		out.say(line{Phase: "open"})

		var working sync.WaitGroup

		for i := range p.Robots {
			name := fmt.Sprintf("%sv%dr%d", p.Name, visit, i)
			b := newRobot(name, e, p.Seed+uint64(visit*p.Robots+i), func(c call) { out.say(line{Call: &c}) })
			b.recalled = func(took time.Duration) { out.say(line{Recall: took}) }
			working.Go(func() {
				for step := 0; p.Steps > 0 && step < p.Steps || p.Steps == 0 && ctx.Err() == nil; step++ {
					// A step that was begun is finished: its answer is an acknowledgement.
					if err := b.step(context.Background(), p.Mix); err != nil {
						out.say(line{Failed: err.Error()})
					}
					time.Sleep(time.Duration(b.rand.Int64N(int64(p.Pause) + 1)))
				}
			})
		}
		working.Wait()
		out.say(line{Phase: "closing"})
		if err := e.Close(); err != nil {
			return err
		}
		out.say(line{Phase: "closed"})
	}

	return nil
}

// command runs the program under test to its end and reads its answer into out,
// if that is not nil.
func (r *rig) command(ctx context.Context, out any, args ...string) error {
	cmd := exec.CommandContext(ctx, r.program, args...)
	cmd.Env = r.environment()
	said, err := cmd.Output()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		err = fmt.Errorf("%v: %w: %s", args, err, exit.Stderr)
	}
	if err == nil && out != nil {
		err = json.Unmarshal(said, out)
	}

	return err
}
