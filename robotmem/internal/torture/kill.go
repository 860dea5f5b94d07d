package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/engine"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
	"github.com/robotmem/robotmem-go/robotmem/internal/store/sqlite"
	"github.com/robotmem/robotmem-go/robotmem/local"
)

// Processes are killed at random moments of their lives, and the file is opened
// and compared after each.

const (
	fullFile    = 3000 // memories, before the next file begins
	importLines = 1200 // two whole batches and a part of one
)

// killing is one file, with the ledger of its writes.
type killing struct {
	*rig
	path   string
	ledger *ledger
	n      int // of the attempt
	midway int // killed migrations that left the file at its old version
}

// way is how a process is killed: in a phase of a plan and a random time after
// it, or by a function.
type way struct {
	name  string
	plan  plan
	phase string
	most  time.Duration
	run   func(*killing, context.Context) (killed bool, err error)
}

var (
	writes = plan{Visits: 1, Robots: 3, Mix: everyday}
	visits = plan{Robots: 1, Steps: 4, Mix: everyday}
	ways   = []way{
		{name: "writing", plan: writes, phase: "open", most: 600 * time.Millisecond},
		{name: "opening", plan: writes, phase: "opening", most: 30 * time.Millisecond},
		{name: "closing", plan: visits, phase: "closing", most: 12 * time.Millisecond},
		{name: "making a new file", run: (*killing).migrating},
		{name: "one of two", run: (*killing).oneOfTwo},
		{name: "making backups", run: (*killing).backup},
		{name: "importing", run: (*killing).importing},
		{name: "restoring", run: (*killing).restoring},
		{name: "purging", run: (*killing).purging},
		{name: "migrating an older file", run: (*killing).migratingOlder},
	}
)

func kill(ctx context.Context, r *rig) error {
	k := &killing{rig: r}

	counts := make([]int, len(ways))
	for r.faults < r.times && ctx.Err() == nil {
		if k.ledger == nil || len(k.ledger.kept) > fullFile {
			k.path = filepath.Join(k.dir, fmt.Sprintf("file-%d", k.n), memoryFile)
			k.ledger = newLedger()
		}
		i := slices.Index(counts, slices.Min(counts))
		if k.n++; k.n > 5*r.times+20 {
			return fmt.Errorf("%d of %d processes ended before they could be killed", k.n-r.faults, k.n)
		}
		killed, err := k.die(ctx, ways[i])
		if err != nil {
			return fmt.Errorf("%s: %w", ways[i].name, err)
		}
		if killed {
			r.fault()
			counts[i]++
		}
		if err := r.reopened(ctx, k.path, k.ledger, fmt.Sprintf("after kill %d, %s", k.n, ways[i].name)); err != nil {
			return err
		}
	}

	for i, w := range ways {
		r.note("%d killed while %s", counts[i], w.name)
		if counts[i] == 0 {
			r.failed = fmt.Errorf("no process was killed while %s", w.name)
		}
	}

	r.note("%d migrations of older files were killed before their commit", k.midway)

	return errors.Join(ctx.Err(), r.failed)
}

// die starts a process and kills it in one of the ways.
func (k *killing) die(ctx context.Context, w way) (bool, error) {
	if w.run != nil {
		return w.run(k, ctx)
	}
	p, err := k.child(ctx, w.plan)
	if err != nil {
		return false, err
	}
	times := 1
	if w.plan.Visits == 0 {
		times += k.n % 3
	}
	there := p.reach(w.phase, times)
	time.Sleep(k.between(0, w.most))

	return p.kill() && there, nil
}

func (k *killing) child(ctx context.Context, p plan) (*process, error) {
	p.Path, p.Name = k.path, fmt.Sprint("k", k.n)
	return k.startRobots(ctx, p, k.ledger.tell, nil)
}

// migrating kills a process that makes a new file: all migrations run.
func (k *killing) migrating(ctx context.Context) (bool, error) {
	fresh := &killing{
		rig: k.rig, path: filepath.Join(k.dir, fmt.Sprintf("fresh-%d", k.n), memoryFile), ledger: newLedger(), n: k.n,
	}
	killed, err := fresh.die(ctx, way{plan: writes, phase: "opening", most: 40 * time.Millisecond})
	if err == nil {
		err = k.reopened(ctx, fresh.path, fresh.ledger, fmt.Sprintf("after kill %d, migrating", k.n))
	}

	return killed, err
}

// oneOfTwo kills one of two processes that write; the other one must go on.
func (k *killing) oneOfTwo(ctx context.Context) (bool, error) {
	stays, err := k.child(ctx, writes)
	if err != nil {
		return false, err
	}
	killed, err := k.die(ctx, way{plan: writes, phase: "open", most: 400 * time.Millisecond})
	time.Sleep(k.between(0, 200*time.Millisecond))
	if err := stays.end(); err != nil {
		k.broken("the process beside a killed one: %v", err)
	}

	return killed, err
}

// program starts the program under test, kills it within a time, and returns what it has said.
func (k *killing) program(
	ctx context.Context, most time.Duration, args ...string,
) (killed bool, said string, err error) {
	p, err := k.start(ctx, k.path, args...)
	if err != nil {
		return false, "", err
	}
	time.Sleep(k.between(0, most))
	killed = p.kill()
	text, err := io.ReadAll(p.stdout)

	return killed, string(text), err
}

// importing kills an import and runs it again: each line is there once.
func (k *killing) importing(ctx context.Context) (bool, error) {
	file, c, err := k.importFile(fmt.Sprint("import", k.n), 5*importLines)
	if err != nil {
		return false, err
	}
	args := []string{"import", file, "--collection", c.Robot}
	if k.n%2 == 0 {
		args = append(args, "--keep-duplicates")
	}
	killed, said, err := k.program(ctx, 400*time.Millisecond, args...)
	// One that has said that it is done is not run again: with --keep-duplicates
	// it would store all lines twice, as it should.
	if err == nil && said == "" {
		err = k.command(ctx, nil, append(args, "--db", k.path)...)
	}
	k.ledger.tell(c)

	return killed, err
}

// importFile writes learn requests to a file, and returns them as an acknowledged call.
func (r *rig) importFile(name string, n int) (path string, c call, err error) {
	b := newRobot(name, nil, 1, nil)

	var (
		out strings.Builder
		all []state
	)

	for range n {
		s := state{Text: b.text(), Status: "active"}
		all = append(all, s)
		fmt.Fprintf(&out, `{"insight":%q,"context":{"note":%q}}`+"\n", s.Text, name)
	}
	path = filepath.Join(r.dir, name+".jsonl")

	return path, call{Robot: name, Parts: chunks(all), Outcome: acknowledged}, os.WriteFile(path, []byte(out.String()),
		0o600)
}

// backup kills some backups. Those that are listed then are whole.
func (k *killing) backup(ctx context.Context) (killed bool, err error) {
	folder := filepath.Join(filepath.Dir(k.path), "backups")
	if _, err := os.Stat(k.path); err != nil {
		return false, nil // no file yet
	}
	start := time.Now()
	err = k.command(ctx, nil, "backup", folder, "--db", k.path)

	most := time.Since(start)
	for try := 0; try < 4 && err == nil; try++ {
		died, _, failed := k.program(ctx, most, "backup", folder)
		killed, err = killed || died, failed
		if err := k.command(ctx, nil, "backup", "verify", folder); err != nil {
			k.broken("after kill %d, making a backup: %v", k.n, err)
		}
	}

	return killed, err
}

// restoring kills a restore of a backup over a memory that has gone on: it is the one
// or the other.
func (k *killing) restoring(ctx context.Context) (killed bool, err error) {
	if _, err := os.Stat(k.path); err != nil {
		return false, nil // no file yet
	}

	var b struct{ Path string }
	start, inBackup := time.Now(), maps.Clone(k.ledger.kept)
	if err := k.command(ctx, &b, "backup", "--db", k.path, "--json"); err != nil {
		return false, err
	}

	most := time.Since(start) * 3 / 2
	p, err := k.child(ctx, plan{Visits: 1, Robots: 1, Steps: 15, Mix: everyday})
	if err == nil {
		err = p.end()
	}
	if err == nil {
		err = k.reopened(ctx, k.path, k.ledger, "before a restore")
	}
	if err == nil {
		killed, _, err = k.program(ctx, most, "backup", "restore", b.Path)
	}
	if err != nil {
		return killed, err
	}

	where := fmt.Sprintf("after kill %d, restoring", k.n)
	err = k.opened(ctx, k.path, local.Options{}, where, func(e *local.Node) {
		if found, err := listAll(ctx, e); err == nil && maps.Equal(found, inBackup) {
			k.ledger.kept = inBackup
		}
		k.check(ctx, e, k.ledger, where)
	})

	aside, _ := filepath.Glob(k.path + ".before-restore-*")
	for _, name := range aside {
		err = errors.Join(err, os.RemoveAll(name))
	}

	return killed, err
}

// purging kills a purge: the perception is there, or no byte of it is found once
// another process has finished the purge.
func (k *killing) purging(ctx context.Context) (killed bool, err error) {
	s := state{Text: fmt.Sprintf("purge%dmark of a frame", k.n), Status: "active"}
	data := []byte(strings.Repeat(s.Text, 300_000/len(s.Text)))
	s.Data = sumOf(data)
	file := filepath.Join(k.dir, "frame")

	var saved struct {
		ID int64 `json:"memory_id"`
	}
	start := time.Now()
	err = os.WriteFile(file, data, 0o600)
	if err == nil {
		err = k.command(ctx, &saved, "save-perception", s.Text, "--file", file, "--db", k.path, "--json")
	}
	if err != nil {
		return false, err
	}

	s.ID = saved.ID
	killed, _, err = k.program(ctx, time.Since(start), "forget", fmt.Sprint(s.ID), "--purge", "--reason",
		"to see it gone")
	if err != nil {
		return killed, err
	}

	return killed, k.opened(ctx, k.path, local.Options{}, "after a purge", func(e *local.Node) {
		k.purged(ctx, e, k.ledger, s, fmt.Sprintf("after kill %d, purging", k.n))
	})
}

// purged examines a memory after a purge of s that was perhaps not finished: s is there,
// or the purge is finished in the background and no byte of s is left.
func (r *rig) purged(ctx context.Context, e *local.Node, l *ledger, s state, where string) {
	_, err := e.Get(ctx, &robotmem.MemoryRequest{MemoryID: s.ID})
	gone := errors.Is(err, robotmem.NotFound)
	if !gone {
		l.tell(call{Robot: s.Text, Parts: only(s), Outcome: acknowledged})
	}

	r.check(ctx, e, l, where)

	left := int64(1)
	for start := time.Now(); gone && left > 0 && ctx.Err() == nil; time.Sleep(time.Millisecond) {
		if err := engine.Of(e).Store.Read(ctx,
			func(c *store.Conn) (err error) { left, err = c.ToScrub(); return err }); err != nil ||
			time.Since(start) > endsWithin {
			r.broken("%s: it is not finished after %s, %v", where, endsWithin, err)
			return
		}
	}

	mark, _, _ := strings.Cut(s.Text, " ")
	_ = filepath.WalkDir(filepath.Dir(engine.Of(e).Store.Path()), func(name string, d fs.DirEntry, err error) error {
		if data, rerr := os.ReadFile(name); gone &&
			(rerr == nil && bytes.Contains(data, []byte(mark)) || s.Data != "" && strings.Contains(name, s.Data)) {
			r.broken("%s: %s still holds it", where, name)
		}
		return err
	})
}

// migratingOlder kills the migration of a file of an older schema version.
func (k *killing) migratingOlder(ctx context.Context) (bool, error) {
	version := 1 + int(k.between(0, 6))
	path, check, err := k.oldFile(ctx, filepath.Join(k.dir, fmt.Sprint("old-", k.n)), version, 8_000)
	if err != nil {
		return false, err
	}

	where := fmt.Sprintf("after kill %d, migrating a file of version %d", k.n, version)
	killed, _, err := (&killing{rig: k.rig, path: path}).program(ctx, time.Second, "stats")
	if err != nil {
		return killed, err
	}

	// Not read-only: a journal may have to be rolled back.
	c, err := sqlite.OpenTables(ctx, path, sqlite.ConnOptions{BusyTimeout: time.Second})
	if err != nil {
		return killed, err
	}

	at, err := c.File.Number("SELECT user_version FROM pragma_user_version")
	switch {
	case killed && int(at) == version:
		k.midway++
	case int(at) != version && int(at) != sqlite.SchemaVersion():
		k.broken("%s: it has version %d", where, at)
	}

	return killed, errors.Join(err, c.Close(),
		k.opened(ctx, path, local.Options{}, where, func(e *local.Node) { check(e, where) }),
		os.RemoveAll(filepath.Dir(path)))
}
