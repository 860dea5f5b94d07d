package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/local"
)

// The part of many processes on one file: four that models talk to over stdio,
// one that serves REST, one import after the other, and one that takes the
// write lock for two seconds at a time. Some are killed and begun again. A
// fault is a kill, or a hold of the lock that all others met.

const (
	crowdMCPs = 4
	crowdHold = 2 * time.Second
	// busyLimit is how long the node waits for the lock before it gives up: a
	// write that waits longer has been starved by the others.
	busyLimit = 5 * time.Second
	// readLimit is far above what a recall takes, also on a machine that has
	// ten times as much to do as it can. One that waits for a writer takes half a
	// hold in the median: that is told apart while the lock is held.
	readLimit = crowdHold
)

type crowd struct {
	*rig
	path string
	acks *acks
	held atomic.Bool // the lock, on purpose

	kills, holds atomic.Int64

	mu      sync.Mutex
	waits   map[string]*waits
	imports map[string]map[string]bool // collection -> its texts
	merged  int
	answers int
}

func runCrowd(ctx context.Context, r *rig) error {
	c := &crowd{rig: r, path: filepath.Join(r.dir, "memory.db"), acks: newAcks(), waits: map[string]*waits{}, imports: map[string]map[string]bool{}}
	if err := c.openTogether(ctx); err != nil {
		return err
	}
	if err := c.comeAndGo(ctx); err != nil {
		return err
	}
	if err := c.create(ctx); err != nil {
		return err
	}
	working, stop := context.WithTimeout(ctx, r.time)
	defer stop()
	var all sync.WaitGroup
	run := func(what string, f func(context.Context) error) {
		all.Go(func() {
			if err := f(working); err != nil {
				r.broken("%s: %v", what, err)
			}
		})
	}
	for i := range crowdMCPs {
		run("mcp", func(ctx context.Context) error { return c.talk(ctx, i) })
	}
	run("web", c.serve)
	run("import", c.importAll)
	run("holder", c.hold)
	all.Wait()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	c.bounds()
	return errors.Join(c.inspect(ctx), c.happened())
}

// happened fails when what this part is there for did not take place, so that
// nothing broken says nothing.
func (c *crowd) happened() error {
	c.note("%d kills, %d holds of the lock", c.kills.Load(), c.holds.Load())
	var err error
	if c.kills.Load() == 0 {
		err = errors.Join(err, errors.New("no process was killed"))
	}
	if c.holds.Load() == 0 {
		err = errors.Join(err, errors.New("the lock was never held"))
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, name := range []string{"recall while the lock is held", "every learn"} {
		if c.waits[name] == nil {
			err = errors.Join(err, fmt.Errorf("nothing was measured of: %s", name))
		}
	}
	return err
}

// create makes the file before the crowd comes.
func (c *crowd) create(ctx context.Context) error {
	m, err := local.Open(ctx, local.Options{Path: c.path})
	if err != nil {
		return err
	}
	return m.Close()
}

// measure keeps how long something took, apart when the lock was held
// meanwhile.
func (c *crowd) measure(face, op string, do func() error) error {
	held, start := c.held.Load(), time.Now()
	err := do()
	took := time.Since(start)
	if err != nil {
		return err
	}
	name := op + " over " + face
	if held || c.held.Load() {
		name = op + " while the lock is held"
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.answers++
	for _, name := range []string{name, "every " + op} {
		if c.waits[name] == nil {
			c.waits[name] = &waits{}
		}
		c.waits[name].add(took)
	}
	return nil
}

// work lets a robot ask a process until ctx ends or the process is told to end.
// One that only reads recalls, as often as others write.
func (c *crowd) work(ctx context.Context, face, name string, seed uint64, node memoryNode, writes bool, ending <-chan struct{}) {
	b := newBusyRobot(name, node, seed, func(line string) { c.acks.hear(line) })
	defer func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.merged += b.merged
	}()
	for round := 0; ctx.Err() == nil; round++ {
		var err error
		if writes {
			err = c.write(context.WithoutCancel(ctx), face, b, round)
		}
		if err == nil {
			err = c.measure(face, "recall", func() error {
				_, err := node.Recall(context.WithoutCancel(ctx), &robotmem.RecallRequest{Query: b.pick(subjects) + " " + b.pick(places), N: 5})
				return err
			})
		}
		select {
		case <-ending:
			return // what fails now is no wonder
		default:
		}
		if err != nil && !errors.Is(err, robotmem.Conflict) {
			c.broken("%s: %v", face, err)
		}
		// Bursts of two seconds as fast as it goes, then a while at leisure.
		if time.Now().Unix()/2%3 > 0 {
			sleep(ctx, time.Duration(b.rand.IntN(80))*time.Millisecond)
		}
	}
}

// write learns, and now and then does something else; first of all an episode,
// so that every process has ended one.
func (c *crowd) write(ctx context.Context, face string, b *busyRobot, round int) error {
	if round == 0 {
		return b.session(ctx)
	}
	err := c.measure(face, "learn", func() error { return b.learn(ctx, b.text(), "") })
	if err == nil && round%4 == 0 {
		err = b.step(ctx)
	}
	return err
}

// life is how long a process lives before it is killed: each is, several times.
func (c *crowd) life(i int) time.Duration {
	return max(4*time.Second, c.time/8) + time.Duration(i)*900*time.Millisecond
}

// talk is a model's program: it starts a robotmem mcp, again when that was killed.
func (c *crowd) talk(ctx context.Context, i int) error {
	for n := 0; ctx.Err() == nil; n++ {
		m, err := c.startMCP(context.WithoutCancel(ctx), c.path)
		if err != nil {
			return err
		}
		if err := m.shakeHands(ctx); err != nil && ctx.Err() == nil {
			m.kill()
			return fmt.Errorf("opening: %w: %s", err, m.stderr)
		}
		life, over := context.WithTimeout(ctx, c.life(i))
		ending := make(chan struct{})
		var working sync.WaitGroup
		working.Go(func() { c.work(ctx, "MCP", fmt.Sprintf("mcp%d-%d", i, n), uint64(i*1000+n), m, true, ending) })
		<-life.Done()
		over()
		if ctx.Err() == nil {
			close(ending)
			if m.kill() {
				c.kills.Add(1)
				c.fault()
			}
		}
		working.Wait()
		if ctx.Err() != nil {
			if err := m.end(childEnds); err != nil {
				return err
			}
		}
		if err := m.fellOver(); err != nil {
			return err
		}
	}
	return nil
}

// serve runs a robotmem web with two robots and a reader, and ends it in turn by SIGKILL
// and by the signal that lets it finish.
func (c *crowd) serve(ctx context.Context) error {
	for n := 0; ctx.Err() == nil; n++ {
		w, err := c.startWeb(context.WithoutCancel(ctx), c.path)
		if err != nil {
			return err
		}
		life, over := context.WithTimeout(ctx, c.life(crowdMCPs))
		ending := make(chan struct{})
		var working sync.WaitGroup
		for i := range 3 {
			working.Go(func() {
				c.work(ctx, "REST", fmt.Sprintf("web%d-%d", i, n), uint64(9000+i*1000+n), w.Client, i > 0, ending)
			})
		}
		<-life.Done()
		over()
		close(ending)
		if n%2 == 0 && ctx.Err() == nil {
			if w.kill() {
				c.kills.Add(1)
				c.fault()
			}
		} else if err := askToEnd(w.spawned); err != nil {
			return err
		}
		working.Wait()
		if err := w.fellOver(); err != nil {
			return err
		}
	}
	return nil
}

// askToEnd sends the signal at which a server finishes what it has begun.
func askToEnd(s *spawned) error {
	if err := terminate(s.cmd.Process); err != nil {
		s.kill()
		return err
	}
	return s.end(childEnds)
}

// importFlood is how often an import is a long one, which gives the lock away
// and takes it again without a pause.
const importFlood = 8

// importAll imports one file after the other, each into a collection of its own.
func (c *crowd) importAll(ctx context.Context) error {
	for i := 0; ctx.Err() == nil; i++ {
		name := fmt.Sprintf("import-%d", i)
		lines := filepath.Join(c.dir, name+".jsonl")
		n := importLines
		if i%importFlood == 0 {
			n *= 5
		}
		want, err := writeLines(lines, name, n)
		if err != nil {
			return err
		}
		s, err := c.startProgram(context.WithoutCancel(ctx), c.path, "import", lines, "--collection", name)
		if err != nil {
			return err
		}
		_, _ = io.Copy(io.Discard, s.stdout)
		if err := s.end(time.Minute); err != nil {
			return err
		}
		c.mu.Lock()
		c.imports[name] = want
		c.mu.Unlock()
		c.acknowledged(len(want))
		if err := os.Remove(lines); err != nil {
			return err
		}
		sleep(ctx, 5*time.Second)
	}
	return nil
}

// hold lets a process take the lock for a while, and let go for a while.
func (c *crowd) hold(ctx context.Context) error {
	s, err := c.startRole(context.WithoutCancel(ctx), roleHolder, c.path, crowdHold.String(), (2 * crowdHold).String())
	if err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, func() { _ = s.stdin.Close() })
	defer stop()
	for {
		line, err := s.stdout.ReadString('\n')
		if err != nil {
			return s.end(childEnds)
		}
		c.held.Store(strings.TrimSpace(line) == "holding")
		if c.held.Load() {
			c.holds.Add(1)
			c.fault()
		}
	}
}

// bounds reports how long callers waited, and what is too long.
func (c *crowd) bounds() {
	c.mu.Lock()
	defer c.mu.Unlock()
	var names []string
	for name := range c.waits {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		w := c.waits[name]
		c.note("%s: %s", name, w)
		limit := busyLimit
		if strings.Contains(name, "recall") {
			limit = readLimit
		}
		if p := w.at(0.99); p > limit {
			c.broken("%s: p99 is %s, over %s", name, p, limit)
		}
		if p := w.at(0.5); name == "recall while the lock is held" && p > crowdHold/2 {
			c.broken("%s: p50 is %s, over half a hold: readers wait for the writer", name, p)
		}
	}
}

// inspect opens the file when all have gone.
func (c *crowd) inspect(ctx context.Context) error {
	writes, _ := c.acks.take()
	c.acknowledged(writes)
	m, err := local.Open(ctx, local.Options{Path: c.path})
	if err != nil {
		c.broken("the file does not open afterwards: %v", err)
		return nil
	}
	c.acks.verify(ctx, c.rig, m, c.acks.all())
	for name, want := range c.imports {
		c.comparesCollection(ctx, m, name, want)
	}
	c.examine(ctx, m, true)
	if err := m.Close(); err != nil {
		c.broken("closing: %v", err)
	}
	if what, err := integrity(c.path); err != nil || what != "ok" {
		c.broken("integrity_check: %s %v", what, err)
	}
	c.note("%d memories, %d imports, %d superseded at the end of episodes", c.acks.len(), len(c.imports), c.merged)
	if c.merged == 0 {
		c.broken("no episode's end has merged anything")
	}
	return ctx.Err()
}
