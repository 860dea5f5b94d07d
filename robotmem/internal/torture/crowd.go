package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ncruces/go-sqlite3/driver"
	"github.com/robotmem/robotmem-go/robotmem/local"
)

// Many processes use one file: five engines, one import after the other, and a
// program that takes the write lock for two seconds at a time. Engines are killed
// and started again. A fault is a kill, or a hold of the lock.

const (
	crowdEngines = 5
	crowdHold    = 2 * time.Second
	// busyLimit is how long a node waits for the lock. A write that was starved by
	// others fails then, and is counted.
	busyLimit = 5 * time.Second
	// readLimit is far above what a recall takes on a busy machine. One that waits
	// for the holder of the lock takes half a hold in the median.
	readLimit = crowdHold
	openers   = 6 // processes that open a new file at the same moment
	meetings  = 5
)

type crowdRun struct {
	*rig
	path     string
	ledger   *ledger
	held     atomic.Bool  // the lock is held on purpose
	released atomic.Int64 // when it was last, in ns
	kills    atomic.Int64

	mu                   sync.Mutex
	recalls, heldRecalls durations // the latter while the lock is held
}

func crowd(ctx context.Context, r *rig) error {
	c := &crowdRun{rig: r, path: filepath.Join(r.dir, memoryFile), ledger: newLedger()}
	for n := range meetings {
		if err := c.meet(ctx, fmt.Sprint("meeting-", n)); err != nil {
			return err
		}
	}

	c.note("%d times %d processes made, migrated and closed one new file at the same moment", meetings, openers)
	if err := c.opened(ctx, c.path, local.Options{}, "making the file", func(*local.Node) {}); err != nil {
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
	for i := range crowdEngines {
		run("engine", func(ctx context.Context) error { return c.engines(ctx, i) })
	}

	run("import", c.imports)
	run("holder", c.hold)
	all.Wait()
	if ctx.Err() != nil {
		return ctx.Err()
	}

	c.note("recall: %v; while the lock is held: %v", c.recalls, c.heldRecalls)
	if p := c.recalls.quantile(0.99); p > readLimit {
		c.broken("p99 of a recall is %v, over %v", p, readLimit)
	}
	if p := c.heldRecalls.quantile(0.5); p > crowdHold/2 {
		c.broken("p50 of a recall while the lock is held is %v: readers wait for the writer", p)
	}
	if err := c.reopened(ctx, c.path, c.ledger, "at the end"); err != nil {
		return err
	}

	merged := 0

	for _, s := range c.ledger.kept {
		if s.Status == "superseded" {
			merged++
		}
	}

	c.note("%d kills; %d memories, %d of them merged at the ends of sessions", c.kills.Load(), len(c.ledger.kept),
		merged)
	if c.kills.Load() == 0 || len(c.heldRecalls) == 0 || merged == 0 {
		return errors.New("no process was killed, nobody asked while the lock was held, or nothing was merged")
	}

	return nil
}

// meet lets processes open one new file at the same moment, write and close it.
func (c *crowdRun) meet(ctx context.Context, name string) error {
	l := newLedger()
	p := plan{Path: filepath.Join(c.dir, name, memoryFile), Visits: 1, Robots: 1, Steps: 3, Mix: everyday, Wait: true}

	var started []*process

	for range openers {
		one, err := c.startRobots(ctx, p, l.tell, nil)
		if err != nil {
			return err
		}
		started = append(started, one)
	}

	for _, one := range started {
		one.reach("ready", 1)
	}

	for _, one := range started {
		_ = one.stdin.Close()
	}

	for _, one := range started {
		if err := one.end(); err != nil {
			c.broken("%s: %v", name, err)
		}
	}

	return c.reopened(ctx, p.Path, l, name)
}

func (c *crowdRun) recalled(took time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.recalls = append(c.recalls, took)
	if c.held.Load() || time.Now().Add(-took).UnixNano() < c.released.Load() {
		c.heldRecalls = append(c.heldRecalls, took)
	}
}

// engines starts one engine after the other and kills all but the last. The first
// one only reads.
func (c *crowdRun) engines(ctx context.Context, i int) error {
	for ctx.Err() == nil {
		p := plan{
			Path: c.path, Name: fmt.Sprint("e", i), Visits: 1, Robots: 2, Mix: everyday, Pause: 80 * time.Millisecond,
		}
		if i == 0 {
			p.Mix = []string{"recall"}
		}
		one, err := c.startRobots(context.WithoutCancel(ctx), p, c.ledger.tell, c.recalled)
		if err != nil {
			return err
		}
		// Each is killed several times.
		sleep(ctx, max(4*time.Second, c.time/8)+time.Duration(i)*900*time.Millisecond)
		if ctx.Err() != nil {
			return one.end()
		}
		if one.kill() {
			c.kills.Add(1)
			c.fault()
		}
	}

	return nil
}

// imports imports one file after the other. Every eighth one is long: it takes
// the lock again without a pause.
func (c *crowdRun) imports(ctx context.Context) error {
	for i := 0; ctx.Err() == nil; i++ {
		n := importLines
		if i%8 == 0 {
			n *= 5
		}
		name := fmt.Sprint("import", i)
		file, stored, err := c.importFile(name, n)
		if err != nil {
			return err
		}
		if err := c.command(context.WithoutCancel(ctx), nil, "import", file, "--collection", name, "--db",
			c.path); err != nil {
			return err
		}
		c.ledger.tell(stored)
		sleep(ctx, 5*time.Second)
	}

	return nil
}

// hold takes the write lock for a while and releases it for a while, as a program
// with long transactions does.
func (c *crowdRun) hold(ctx context.Context) error {
	db, err := driver.Open("file:" + c.path + "?_txlock=immediate")
	if err != nil {
		return err
	}

	defer func() { _ = db.Close() }() // nothing was written

	for err == nil && ctx.Err() == nil {
		var tx *sql.Tx
		if tx, err = db.BeginTx(context.WithoutCancel(ctx), nil); err != nil {
			break
		}
		c.held.Store(true)
		c.fault()
		sleep(ctx, crowdHold)
		c.released.Store(time.Now().UnixNano())
		c.held.Store(false)
		err = tx.Rollback()
		sleep(ctx, 2*crowdHold)
	}

	return err
}

// durations are measured times.
type durations []time.Duration

// quantile returns the time that a share of all did not exceed: 0.99 is p99.
func (d durations) quantile(share float64) time.Duration {
	if len(d) == 0 {
		return 0
	}
	slices.Sort(d)
	return d[min(len(d)-1, int(share*float64(len(d))))]
}

func (d durations) String() string {
	return fmt.Sprintf("p50 %v, p99 %v, max %v of %d", d.quantile(0.5), d.quantile(0.99), d.quantile(1), len(d))
}
