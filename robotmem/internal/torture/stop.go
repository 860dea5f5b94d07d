package main

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/ncruces/go-sqlite3"
	"github.com/ncruces/go-sqlite3/driver"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/local"
)

// A process that writes is stopped by SIGSTOP (as by a debugger, a paused container
// or a machine that swaps) while it holds the write lock. Nobody can take the lock
// from it: all others must say so in time, and read on.

const (
	// stillWrites is when a write must have been refused: the node's own limit,
	// and what a busy machine takes beside.
	stillWrites = busyLimit + 4*time.Second
	// stillReads is less than the limit, so that a read has not waited for the lock.
	stillReads = 4 * time.Second
	knownWords = "gripper wheel camera elbow table dock"
)

func stop(ctx context.Context, r *rig) error {
	for n := range r.times {
		path, l := filepath.Join(r.dir, fmt.Sprint("stop-", n), memoryFile), newLedger()

		var failed error
		err := r.opened(ctx, path, local.Options{}, "before",
			func(near *local.Node) { failed = r.stopAtWork(ctx, path, l, near) })
		if err := errors.Join(err, failed); err != nil {
			return err
		}
		if err := r.reopened(ctx, path, l, fmt.Sprint("after stop ", n)); err != nil {
			return err
		}
	}

	return nil
}

// stopAtWork stops a process that writes, asks everything of all others, and lets
// it go on. near is another engine on the file.
func (r *rig) stopAtWork(ctx context.Context, path string, l *ledger, near *local.Node) error {
	before := newRobot("before", near, 1, l.tell)
	for range 40 {
		if err := before.learn(ctx); err != nil {
			return err
		}
	}

	p, err := r.startRobots(ctx, plan{Path: path, Name: "stopped", Visits: 1, Robots: 1, Mix: everyday}, l.tell, nil)
	if err != nil {
		return err
	}

	defer p.kill()
	if err := r.stopWithLock(ctx, path, p); err != nil {
		return err
	}

	r.fault()
	r.askMeanwhile(path, near)
	if err := p.signal("CONT"); err != nil {
		return err
	}

	r.takes("a learn once it goes on", stillWrites, before.learn)

	return p.end()
}

func (p *process) signal(name string) error {
	return exec.Command("kill", "-"+name, strconv.Itoa(p.cmd.Process.Pid)).Run() //nolint:noctx // it takes no time
}

// stopWithLock stops a process at random moments until it holds the lock.
func (r *rig) stopWithLock(ctx context.Context, path string, p *process) error {
	db, err := driver.Open("file:" + path + "?_txlock=immediate&_pragma=busy_timeout(0)")
	if err != nil {
		return err
	}

	defer func() { _ = db.Close() }() // nothing was written

	for range 500 {
		time.Sleep(r.between(0, 30*time.Millisecond))
		if err := p.signal("STOP"); err != nil {
			return err
		}

		held := true
		// Others hold it for moments.
		for try := 0; held && try < 3; try++ {
			time.Sleep(10 * time.Millisecond)
			tx, err := db.BeginTx(ctx, nil)
			if held = errors.Is(err, sqlite3.BUSY); !held {
				if err == nil {
					err = tx.Rollback()
				}
				if err := errors.Join(err, p.signal("CONT")); err != nil {
					return err
				}
			}
		}
		if held {
			return nil
		}
	}

	return errors.New("it was never stopped with the lock")
}

// takes counts an answer that fails or takes too long.
func (r *rig) takes(what string, most time.Duration, ask func(context.Context) error) {
	ctx, cancel := context.WithTimeout(context.Background(), 6*busyLimit)
	defer cancel()
	start := time.Now()
	err := ask(ctx)
	if took := time.Since(start); err != nil || took > most {
		r.broken("%s took %.1f s of %s: %v", what, took.Seconds(), most, err)
	}
}

// askMeanwhile asks everything of others while a process is stopped.
func (r *rig) askMeanwhile(path string, near *local.Node) {
	found := func(res *robotmem.RecallResponse, err error) error {
		if err == nil && res.Total == 0 {
			err = errors.New("nothing was found")
		}
		return err
	}
	refused := func(err error) error {
		if err != nil && strings.Contains(err.Error(), "holds the file's lock") {
			return nil
		}
		return fmt.Errorf("answered %w, want that the file is locked", err)
	}

	var all sync.WaitGroup
	do := func(what string, most time.Duration, ask func(context.Context) error) {
		all.Go(func() { r.takes(what, most, ask) })
	}
	do("a learn", stillWrites, func(ctx context.Context) error {
		_, err := near.Learn(ctx, &robotmem.LearnRequest{Insight: "nobody can store this now"})
		return refused(err)
	})
	do("a command that learns", stillWrites, func(ctx context.Context) error {
		return refused(r.command(ctx, nil, "learn", "nobody can store this now", "--db", path))
	})
	do("a recall", stillReads, func(ctx context.Context) error {
		return found(near.Recall(ctx, &robotmem.RecallRequest{Query: knownWords}))
	})
	do("a command that recalls", stillReads, func(ctx context.Context) error {
		res := &robotmem.RecallResponse{}
		return found(res, r.command(ctx, res, "recall", knownWords, "--json", "--db", path))
	})
	do("a list and a check-up", stillReads, func(ctx context.Context) error {
		_, err := listAll(ctx, near)
		_, derr := near.Doctor(ctx, nil)
		return errors.Join(err, derr)
	})
	all.Wait()
}
