package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"
)

// spawned is a process that a part has started and may kill.
type spawned struct {
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	stdout *bufio.Reader
	stderr *tail
	gone   chan struct{} // closed once it has ended
}

// startRole starts this program again in a role.
func (r *rig) startRole(ctx context.Context, role string, args ...string) (*spawned, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return spawn(exec.CommandContext(ctx, self, args...), childRole+"="+role)
}

// startProgram starts the program under test on a file.
func (r *rig) startProgram(ctx context.Context, db string, args ...string) (*spawned, error) {
	args = append(args, "--db", db, "--embedder", "none")
	return spawn(exec.CommandContext(ctx, r.program, args...), "ROBOTMEM_HOME="+r.dir)
}

func spawn(cmd *exec.Cmd, env string) (*spawned, error) {
	s := &spawned{cmd: cmd, stderr: &tail{}, gone: make(chan struct{})}
	// A pipe of our own: Wait closes that of StdoutPipe under its reader, and
	// the last lines of what was killed would be lost.
	out, in, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	if s.stdin, err = cmd.StdinPipe(); err != nil {
		return nil, err
	}
	s.stdout = bufio.NewReaderSize(out, 1<<20)
	cmd.Env = append(os.Environ(), env)
	cmd.Stdout, cmd.Stderr = in, s.stderr
	cmd.WaitDelay = time.Second
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		_ = cmd.Wait() // told by ProcessState
		close(s.gone)
	}()
	return s, in.Close()
}

// kill ends the process as kill -9 does, and reports whether that is what
// ended it.
func (s *spawned) kill() bool {
	_ = s.cmd.Process.Kill()
	<-s.gone
	status, ok := s.cmd.ProcessState.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && status.Signal() == syscall.SIGKILL
}

// end closes stdin and waits for the process, at most so long. Its error is
// that of a process that hung, failed or fell over.
func (s *spawned) end(within time.Duration) error {
	_ = s.stdin.Close()
	select {
	case <-s.gone:
	case <-time.After(within):
		s.kill()
		return fmt.Errorf("hung: it had not ended after %s", within)
	}
	if !s.cmd.ProcessState.Success() {
		return fmt.Errorf("%s: %s", s.cmd.ProcessState, s.stderr)
	}
	return s.fellOver()
}

// fellOver is the error of a process that panicked.
func (s *spawned) fellOver() error {
	if text := s.stderr.String(); strings.Contains(text, "panic:") || strings.Contains(text, "fatal error:") {
		return fmt.Errorf("it fell over: %s", text)
	}
	return nil
}

// tail keeps the last of what is written to it.
type tail struct {
	mu   sync.Mutex
	text []byte
}

func (t *tail) Write(p []byte) (int, error) {
	const most = 8 << 10
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, p...)
	if over := len(t.text) - most; over > 0 {
		t.text = append(t.text[:0], t.text[over:]...)
	}
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.text)
}
