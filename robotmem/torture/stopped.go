package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/local"
)

// The part that stops a process (SIGSTOP: a debugger, a container that is
// paused, a machine that swaps) while it holds a lock of the file. Nobody can
// take that lock from it; all others have to say so in time, and to read on.

const (
	// stillWrites is when a write must have been refused: the node's own limit,
	// and what a loaded machine takes beside.
	stillWrites = busyLimit + 4*time.Second
	// stillReads is what a read may take: less than the limit, so that it has
	// not waited for the lock.
	stillReads = 4 * time.Second
	// stillOpens is when a program must have begun, or said why it cannot.
	stillOpens = 2*busyLimit + 5*time.Second
)

// standstill is one file with a process that has been stopped on it.
type standstill struct {
	*rig
	path string
	acks *acks
	near *local.Node // opened before
	n    int
}

// standstills are what a process is stopped in the middle of, in turn.
var standstills = []struct {
	name string
	run  func(context.Context, *standstill) error
}{
	{"mcp at work", stopMCP},
	{"a long transaction", stopTransaction},
	{"recovering the log", stopRecovering},
	{"closing", stopClosing},
}

func runStopped(ctx context.Context, r *rig) error {
	var names []string
	for n := range r.times {
		kind := standstills[n%len(standstills)]
		s := &standstill{rig: r, n: n, path: filepath.Join(r.dir, fmt.Sprintf("still-%d", n), "memory.db"), acks: newAcks()}
		start := time.Now()
		if err := s.prepare(ctx); err != nil {
			return err
		}
		if err := kind.run(ctx, s); err != nil {
			return fmt.Errorf("%s: %w", kind.name, err)
		}
		if err := s.after(ctx); err != nil {
			return err
		}
		names = append(names, fmt.Sprintf("%s (%.0f s)", kind.name, time.Since(start).Seconds()))
	}
	r.note("stopped in: %s", strings.Join(names, ", "))
	return nil
}

// prepare makes a file that has something to recall.
func (s *standstill) prepare(ctx context.Context) (err error) {
	if s.near, err = local.Open(ctx, local.Options{Path: s.path}); err != nil {
		return err
	}
	b := newBusyRobot("before", s.near, uint64(s.n), s.hear)
	for range 60 {
		if err := b.step(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (s *standstill) hear(line string) { s.acks.hear(line) }

// after looks for all that was acknowledged once everything goes on.
func (s *standstill) after(ctx context.Context) error {
	if s.near != nil {
		if err := s.near.Close(); err != nil {
			s.broken("closing: %v", err)
		}
	}
	k := &killing{rig: s.rig, path: s.path, acks: s.acks}
	return errors.Join(k.check(ctx, true), os.RemoveAll(filepath.Dir(s.path)))
}

// takes has f end within a time.
func (s *standstill) takes(what string, most time.Duration, f func(context.Context) error) {
	ctx, cancel := context.WithTimeout(context.Background(), 6*busyLimit)
	defer cancel()
	start := time.Now()
	err := f(ctx)
	if took := time.Since(start); took > most {
		s.broken("%s took %.1f s, more than %s", what, took.Seconds(), most)
	}
	if err != nil {
		s.broken("%s: %v", what, err)
	}
}

// refused is the error of a write that was not refused as it should be.
func refused(err error) error {
	if errors.Is(err, robotmem.Unavailable) && strings.Contains(err.Error(), "lock") {
		return nil
	}
	return fmt.Errorf("answered %w, want unavailable for the lock", err)
}

// othersWhileStill asks everything of everybody while one process stands still
// with the write lock.
func (s *standstill) othersWhileStill(ctx context.Context) error {
	waiting := make([]*mcpNode, 3)
	for i := range waiting {
		var err error
		if waiting[i], err = s.startMCP(ctx, s.path); err != nil {
			return err
		}
		s.takes("opening a robotmem mcp", stillReads, waiting[i].shakeHands)
	}
	var all sync.WaitGroup
	do := func(what string, most time.Duration, f func(context.Context) error) {
		all.Go(func() { s.takes(what, most, f) })
	}
	fact := &robotmem.LearnRequest{Insight: fmt.Sprintf("said while another stood still, %d", s.n)}
	do("a learn of the engine", stillWrites, func(ctx context.Context) error {
		_, err := s.near.Learn(ctx, fact)
		return refused(err)
	})
	do("a learn over MCP", stillWrites, func(ctx context.Context) error {
		_, err := waiting[0].Learn(ctx, fact)
		err = refused(err)
		_, rerr := waiting[0].Recall(ctx, &robotmem.RecallRequest{Query: "gripper"})
		return errors.Join(err, rerr)
	})
	do("a learn whose process is left by its client", stillWrites, func(ctx context.Context) error {
		return s.leaves(ctx, waiting[1], fact, func(n *mcpNode) error { return nil })
	})
	do("a learn whose process is asked to end", stillWrites, func(ctx context.Context) error {
		return s.leaves(ctx, waiting[2], fact, func(n *mcpNode) error { return terminate(n.cmd.Process) })
	})
	do("a recall", stillReads, func(ctx context.Context) error { return s.finds(ctx, s.near) })
	do("a get, a list and a check-up", stillReads, s.reads)
	do("a program that recalls and ends", stillReads, s.recallOnce)
	all.Wait()
	return waiting[0].end(childEnds)
}

// leaves begins a write, tells the process to end, and waits for both.
func (s *standstill) leaves(ctx context.Context, n *mcpNode, fact *robotmem.LearnRequest, tell func(*mcpNode) error) error {
	answered := make(chan error, 1)
	go func() {
		_, err := n.Learn(ctx, fact)
		answered <- refused(err)
	}()
	time.Sleep(100 * time.Millisecond) // until it has been read
	return errors.Join(tell(n), n.end(childEnds), <-answered)
}

func (s *standstill) finds(ctx context.Context, m memoryNode) error {
	res, err := m.Recall(ctx, &robotmem.RecallRequest{Query: "gripper wheel camera elbow table dock"})
	if err == nil && res.Total == 0 {
		err = errors.New("nothing was found")
	}
	return err
}

func (s *standstill) reads(ctx context.Context) error {
	_, err := s.near.Get(ctx, &robotmem.GetRequest{MemoryID: 1})
	list, lerr := s.near.List(ctx, &robotmem.ListRequest{})
	if lerr == nil && list.Total == 0 {
		lerr = errors.New("the list is empty")
	}
	s.examine(ctx, s.near, false)
	return errors.Join(err, lerr)
}

// recallOnce is a command of a moment.
func (s *standstill) recallOnce(ctx context.Context) error {
	one, err := s.startProgram(ctx, s.path, "recall", "gripper wheel camera elbow table dock", "--json")
	if err != nil {
		return err
	}
	var said bytes.Buffer
	_, err = said.ReadFrom(one.stdout)
	if err = errors.Join(err, one.end(childEnds)); err == nil && !strings.Contains(said.String(), `"memory_id"`) {
		err = fmt.Errorf("it answered %.200q", said.String())
	}
	return err
}

// goesOn wakes the process, after which everybody writes again.
func (s *standstill) goesOn(p *spawned, ask func(context.Context) error) error {
	if err := resume(p.cmd.Process); err != nil {
		return err
	}
	s.takes("a learn once it goes on", stillWrites, ask)
	return nil
}

func (s *standstill) learnNear(ctx context.Context) error {
	b := newBusyRobot(fmt.Sprintf("after-%d", s.n), s.near, 1, s.hear)
	return b.learn(ctx, b.text(), "")
}

// stopMCP stops a robotmem mcp that is being asked, until it is found to have
// the lock.
func stopMCP(ctx context.Context, s *standstill) error {
	n, err := s.startMCP(ctx, s.path)
	if err != nil {
		return err
	}
	defer n.kill()
	if err := n.shakeHands(ctx); err != nil {
		return err
	}
	working, stop := context.WithCancel(ctx)
	defer stop()
	b := newBusyRobot(fmt.Sprintf("stopped-%d", s.n), n, s.rand.Uint64(), s.hear)
	var atWork sync.WaitGroup
	defer atWork.Wait()
	atWork.Go(func() {
		for working.Err() == nil {
			if err := b.step(ctx); err != nil {
				s.broken("the one that was stopped: %v", err)
				return
			}
		}
	})
	held := false
	for try := 0; try < 500 && !held; try++ {
		time.Sleep(time.Duration(s.rand.IntN(30)) * time.Millisecond)
		if err := suspend(n.cmd.Process); err != nil {
			return err
		}
		if held, err = stillHeld(s.path); err != nil {
			return err
		}
		if !held {
			if err := resume(n.cmd.Process); err != nil {
				return err
			}
		}
	}
	if !held {
		stop()
		return errors.New("it was never stopped with the lock")
	}
	s.fault()
	err = s.othersWhileStill(ctx)
	err = errors.Join(err, s.goesOn(n.spawned, s.learnNear))
	stop()
	atWork.Wait()
	return errors.Join(err, n.end(childEnds))
}

// stillHeld reports whether the lock is held now and a moment later: what was
// stopped does not let go of it.
func stillHeld(path string) (bool, error) {
	for range 3 {
		if held, err := lockHeld(path); err != nil || !held {
			return false, err
		}
		time.Sleep(10 * time.Millisecond)
	}
	return true, nil
}

// stopTransaction stops a program that has begun to write and does nothing.
func stopTransaction(ctx context.Context, s *standstill) error {
	h, err := s.startRole(ctx, roleHolder, s.path, "1h", "1h")
	if err != nil {
		return err
	}
	defer h.kill()
	if _, err := h.stdout.ReadString('\n'); err != nil {
		return fmt.Errorf("%w: %s", err, h.stderr)
	}
	if err := suspend(h.cmd.Process); err != nil {
		return err
	}
	if held, err := stillHeld(s.path); err != nil || !held {
		return errors.Join(err, errors.New("it was stopped without the lock"))
	}
	s.fault()
	if err := s.othersWhileStill(ctx); err != nil {
		return err
	}
	_ = h.stdin.Close()
	return s.goesOn(h, s.learnNear)
}
