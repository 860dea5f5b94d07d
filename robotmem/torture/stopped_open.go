package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/robotmem/robotmem-go/robotmem/local"
)

// The locks that are held for a moment only, while a file is opened or closed.
// Whoever comes meanwhile cannot read either, and has to be told.

// stopRecovering stops a program that reads the log again after one was killed.
func stopRecovering(ctx context.Context, s *standstill) error {
	if err := s.closeNear(); err != nil {
		return err
	}
	for range 60 {
		k := &killing{rig: s.rig, path: s.path, acks: s.acks, n: s.n}
		dies, err := k.startChild(ctx, roleLogger, s.path, s.acks)
		if err != nil {
			return err
		}
		if !dies.reach("long", 1) {
			return fmt.Errorf("no long log: %s", dies.stderr)
		}
		k.dies(dies)
		n, err := s.startMCP(ctx, s.path)
		if err != nil {
			return err
		}
		held, err := s.stopIn(n.spawned, "-shm", recoverLock)
		if err == nil && held {
			s.fault()
			err = s.opensWhileStill(ctx, n.spawned)
			if err == nil {
				s.takes("the one that was stopped", stillOpens, n.shakeHands)
				err = n.end(childEnds)
			}
			n.kill()
			return err
		}
		n.kill()
		if err != nil {
			return err
		}
	}
	return errors.New("nobody was stopped while recovering")
}

// stopClosing stops the last program on a file while it writes the log back.
func stopClosing(ctx context.Context, s *standstill) error {
	if err := s.closeNear(); err != nil {
		return err
	}
	for range 60 {
		k := &killing{rig: s.rig, path: s.path, acks: s.acks, n: s.n}
		closes, err := k.startChild(ctx, roleLogger, s.path, s.acks)
		if err != nil {
			return err
		}
		if !closes.reach("long", 1) {
			return fmt.Errorf("no long log: %s", closes.stderr)
		}
		_ = closes.stdin.Close()
		if !closes.reach("closing", 1) {
			return fmt.Errorf("it does not close: %s", closes.stderr)
		}
		held, err := s.stopIn(closes.spawned, "", exclusiveLock)
		if err == nil && held {
			s.fault()
			if err = s.opensWhileStill(ctx, closes.spawned); err == nil {
				err = closes.end(childEnds)
			}
			closes.kill()
			<-closes.heard
			return err
		}
		closes.kill()
		<-closes.heard
		if err != nil {
			return err
		}
	}
	return errors.New("nobody was stopped while closing")
}

func (s *standstill) closeNear() error {
	err := s.near.Close()
	s.near = nil
	return err
}

// stopIn stops a process where it has a lock: each moment of its first tenth of
// a second may be the one.
func (s *standstill) stopIn(p *spawned, suffix string, lock lockedByte) (held bool, err error) {
	for range 100 {
		if err := suspend(p.cmd.Process); err != nil {
			return false, nil // it has ended
		}
		time.Sleep(time.Millisecond)
		if held, err = lock.heldExclusively(s.path + suffix); err != nil || held {
			return held, err
		}
		if err := resume(p.cmd.Process); err != nil {
			return false, nil
		}
		time.Sleep(time.Duration(s.rand.IntN(2000)) * time.Microsecond)
	}
	return false, nil
}

// opensWhileStill starts programs on the file, and lets the stopped one go on:
// they read, or say what is the matter, and then they read.
func (s *standstill) opensWhileStill(ctx context.Context, p *spawned) error {
	start := time.Now()
	s.takes("opening", stillOpens, func(ctx context.Context) error {
		m, err := local.Open(ctx, local.Options{Path: s.path})
		if err != nil {
			return refused(err)
		}
		return errors.Join(s.finds(ctx, m), m.Close())
	})
	one, err := s.startProgram(ctx, s.path, "recall", "gripper", "--json")
	if err != nil {
		return err
	}
	s.takes("a program that recalls", stillOpens, func(context.Context) error {
		err := one.end(childEnds)
		if err != nil && !strings.Contains(err.Error(), "lock") {
			return err
		}
		return nil
	})
	s.note("a file whose opener or closer stands still: answered after %.1f s", time.Since(start).Seconds())
	if err := resume(p.cmd.Process); err != nil {
		return err
	}
	s.takes("a program that recalls once it goes on", stillOpens, s.recallOnce)
	return nil
}

// lockedByte is where SQLite takes a lock of its files.
type lockedByte int64

const (
	recoverLock   lockedByte = 122        // of the log's index: 120 write, 121 checkpoint, 122 recover
	exclusiveLock lockedByte = 0x40000002 // of the file: the first of the shared ones
)

// heldExclusively looks in the kernel's list of locks.
func (b lockedByte) heldExclusively(path string) (bool, error) {
	inode, err := inodeOf(path)
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	list, err := os.ReadFile("/proc/locks")
	if err != nil {
		return false, fmt.Errorf("who has which lock cannot be seen here: %w", err)
	}
	// 1: OFDLCK ADVISORY  WRITE -1 08:01:393228 120 120
	for line := range strings.Lines(string(list)) {
		f := strings.Fields(line)
		if len(f) != 8 || f[3] != "WRITE" || !strings.HasSuffix(f[5], fmt.Sprintf(":%d", inode)) {
			continue
		}
		var first, last int64
		if n, _ := fmt.Sscan(f[6]+" "+f[7], &first, &last); n == 2 && first <= int64(b) && int64(b) <= last {
			return true, nil
		}
	}
	return false, nil
}
