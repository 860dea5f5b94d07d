package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/robotmem/robotmem-go/robotmem/local"
)

// roleGuest waits until its stdin ends, then opens a file, learns one fact and
// closes it. It prints what acks hears.
const roleGuest = "guest"

func guest(args []string) error {
	path, name, seed, err := childArgs(args)
	if err != nil {
		return err
	}
	out := &say{out: os.Stdout}
	out.line("ready")
	ctx, stop := untilStdinEnds()
	defer stop()
	<-ctx.Done()
	m, err := local.Open(context.Background(), local.Options{Path: path})
	if err != nil {
		return err
	}
	b := newBusyRobot(name, m, seed, out.line)
	return errors.Join(b.learn(context.Background(), b.text(), ""), m.Close())
}

const (
	guests = 6
	// fullRounds is how often they meet in the long form.
	fullRounds = 50
)

// openTogether lets processes open a file that is not there yet at the same
// moment: one of them makes it, all of them find it whole.
func (c *crowd) openTogether(ctx context.Context) error {
	rounds := fullRounds
	if c.time < time.Minute {
		rounds = 4
	}
	for round := range rounds {
		if err := c.meet(ctx, round); err != nil {
			return err
		}
	}
	// They are no faults: nothing goes wrong at a meeting.
	c.note("%d times %d processes made and migrated one new file at the same moment", rounds, guests)
	return ctx.Err()
}

func (c *crowd) meet(ctx context.Context, round int) error {
	k := &killing{rig: c.rig, path: filepath.Join(c.dir, fmt.Sprintf("meeting-%d", round), "memory.db"), acks: newAcks(), n: round}
	var came []*child
	for range guests {
		one, err := k.startChild(ctx, roleGuest, k.path, k.acks)
		if err != nil {
			return err
		}
		came = append(came, one)
	}
	for _, one := range came {
		if !one.reach("ready", 1) {
			return fmt.Errorf("a guest: %s", one.stderr)
		}
	}
	var ending sync.WaitGroup
	for _, one := range came {
		ending.Go(func() {
			if err := one.end(childEnds); err != nil {
				c.broken("opening together: %v", err)
			}
			<-one.heard
		})
	}
	ending.Wait()
	if n := k.acks.len(); n != guests {
		c.broken("%d of %d guests learnt something", n, guests)
	}
	return errors.Join(k.check(ctx, true), c.clear(k.path))
}

// clear removes a file that is looked at no more, unless something has broken:
// it may be what shows how.
func (c *crowd) clear(path string) error {
	c.rig.mu.Lock()
	well := c.Lost+c.Broken == 0
	c.rig.mu.Unlock()
	if !well {
		return nil
	}
	return os.RemoveAll(filepath.Dir(path))
}

// comeAndGo lets processes open and close a file all the time, so that some
// open while the last one closes and removes the log.
func (c *crowd) comeAndGo(ctx context.Context) error {
	k := &killing{rig: c.rig, path: filepath.Join(c.dir, "visited", "memory.db"), acks: newAcks()}
	var came []*child
	for range 3 {
		one, err := k.startChild(ctx, roleVisitor, k.path, k.acks)
		if err != nil {
			return err
		}
		came = append(came, one)
	}
	closed := 0
	time.AfterFunc(c.time/10, func() {
		for _, one := range came {
			_ = one.stdin.Close()
		}
	})
	for _, one := range came {
		for one.reach("closed", 1) {
			closed++
		}
		if err := one.end(childEnds); err != nil {
			c.broken("coming and going: %v", err)
		}
	}
	c.note("opened and closed %d times beside each other", closed)
	return errors.Join(k.check(ctx, true), c.clear(k.path))
}
