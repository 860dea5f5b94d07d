package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/local"
)

// The part that kills: a process that writes is ended by SIGKILL at a random
// moment of its life, and the file is opened again as its user would open it.

const (
	// fullFile is how many memories a file grows to before the next begins.
	fullFile = 20_000
	// fullCheck is how many kills pass between two checks of everything.
	fullCheck   = 25
	sampleCheck = 100 // older memories, looked up after each kill
)

// killing is one file with what was acknowledged of it.
type killing struct {
	*rig
	path   string
	acks   *acks
	counts map[string]int // kills by the way they were done
	n      int            // attempts, which names and seeds are made of
	files  int
}

// waysToDie are drawn as often as they are named.
var waysToDie = []struct {
	name  string
	often int
	run   func(context.Context, *killing) (killed bool, err error)
}{
	{"writing", 5, killWriting},
	{"opening", 3, killOpening},
	{"migrating", 2, killMigrating},
	{"closing", 3, killClosing},
	{"one of two", 2, killOneOfTwo},
	{"mcp", 3, killMCP},
	{"web", 2, killWeb},
	{"import", 2, killImport},
}

func runKill(ctx context.Context, r *rig) error {
	k := &killing{rig: r, counts: map[string]int{}}
	k.newFile()
	var bag []int
	for way := range waysToDie {
		for range waysToDie[way].often {
			bag = append(bag, way)
		}
	}
	for happened := 0; happened < r.times && ctx.Err() == nil; {
		if k.n%len(bag) == 0 {
			r.rand.Shuffle(len(bag), func(i, j int) { bag[i], bag[j] = bag[j], bag[i] })
		}
		way := waysToDie[bag[k.n%len(bag)]]
		if k.n++; k.n > 2*r.times+20 {
			return fmt.Errorf("%d of %d children ended before they could be killed", k.n-happened, k.n)
		}
		killed, err := way.run(ctx, k)
		if err != nil {
			return fmt.Errorf("%s: %w", way.name, err)
		}
		if killed {
			r.fault()
			happened++
			k.counts[way.name]++
			if happened%50 == 0 {
				fmt.Fprintf(r.log, "  %d killed\n", happened)
			}
		}
		if err := k.check(ctx, happened%fullCheck == 0 || happened == r.times); err != nil {
			return err
		}
		if k.acks.len() > fullFile && happened < r.times {
			if err := k.finish(ctx); err != nil {
				return err
			}
			k.newFile()
		}
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	var by []string
	for _, way := range waysToDie {
		by = append(by, fmt.Sprintf("%d %s", k.counts[way.name], way.name))
	}
	r.note("killed while: %s", strings.Join(by, ", "))
	r.note("%d memories in the last file; %d files", k.acks.len(), k.files)
	return k.finish(ctx)
}

func (k *killing) newFile() {
	k.files++
	k.path = filepath.Join(k.dir, fmt.Sprintf("file-%d", k.files), "memory.db")
	k.acks = newAcks()
}

// check opens the file and compares it with what was acknowledged.
func (k *killing) check(ctx context.Context, everything bool) error {
	writes, ids := k.acks.take()
	k.acknowledged(writes)
	if everything {
		ids = k.acks.all()
	} else {
		ids = append(ids, k.acks.sample(k.rand, sampleCheck)...)
	}
	return k.opened(ctx, func(m *local.Node) {
		k.acks.verify(ctx, k.rig, m, ids)
		k.examine(ctx, m, everything)
	})
}

// opened opens the file, calls f, closes it, and has SQLite check it.
func (k *killing) opened(ctx context.Context, f func(*local.Node)) error {
	m, err := local.Open(ctx, local.Options{Path: k.path})
	if ctx.Err() != nil {
		return errors.Join(ctx.Err(), err)
	}
	if err != nil {
		k.broken("after the kill the file does not open: %v", err)
		return nil
	}
	f(m)
	if err := m.Close(); err != nil {
		k.broken("closing: %v", err)
	}
	if what, err := integrity(k.path); err != nil || what != "ok" {
		k.broken("integrity_check: %s %v", what, err)
	}
	return ctx.Err()
}

// examine counts what the node itself finds wrong.
func (r *rig) examine(ctx context.Context, m robotmem.Service, deep bool) {
	d, err := m.Doctor(ctx, &robotmem.DoctorRequest{Deep: deep})
	if ctx.Err() != nil {
		return
	}
	if err != nil {
		r.broken("doctor: %v", err)
		return
	}
	for _, c := range d.Checks {
		if c.Status == "fail" {
			r.broken("doctor: %s: %s", c.Name, c.Detail)
		}
	}
}

// finish lets the node tidy a folder that many died over: what was being
// written when they did is swept, and all that was acknowledged stays.
func (k *killing) finish(ctx context.Context) error {
	old := time.Now().Add(-2 * time.Hour)
	var left, after int
	each := func(visit func(path string) error) error {
		return filepath.WalkDir(k.path+".payloads", func(path string, d os.DirEntry, err error) error {
			if errors.Is(err, os.ErrNotExist) {
				return nil
			}
			if err != nil || d.IsDir() {
				return err
			}
			return visit(path)
		})
	}
	err := each(func(path string) error {
		if strings.HasPrefix(filepath.Base(path), "tmp-") {
			left++
		}
		return os.Chtimes(path, old, old)
	})
	if err != nil {
		return err
	}
	err = k.opened(ctx, func(m *local.Node) {
		if _, err := m.Repair(ctx, nil); err != nil {
			k.broken("repair: %v", err)
		}
		k.acks.verify(ctx, k.rig, m, k.acks.all())
	})
	if err != nil {
		return err
	}
	err = each(func(path string) error {
		if strings.HasPrefix(filepath.Base(path), "tmp-") {
			after++
		}
		return nil
	})
	if after > 0 {
		k.broken("%d half payloads stay after a repair", after)
	}
	k.note("half payloads that the dead left in the folder: %d, after a repair %d", left, after)
	return err
}

// child is a spawned engine whose lines are heard.
type child struct {
	*spawned
	phases chan string   // opening, open, closing, closed; the last few
	heard  chan struct{} // closed when stdout has ended
}

func (k *killing) startChild(ctx context.Context, role, path string, to *acks) (*child, error) {
	s, err := k.startRole(ctx, role, path, fmt.Sprintf("k%d-%d", k.n, k.rand.Uint32()), fmt.Sprint(k.rand.Uint64()))
	if err != nil {
		return nil, err
	}
	c := &child{spawned: s, phases: make(chan string, 1024), heard: make(chan struct{})}
	go func() {
		defer close(c.heard)
		defer close(c.phases)
		for {
			line, err := s.stdout.ReadString('\n')
			if err != nil {
				return // what has no end was not said
			}
			line = strings.TrimSuffix(line, "\n")
			switch {
			case to.hear(line):
			case strings.HasPrefix(line, "failed"):
				k.broken("a child: %s", line)
			default:
				select {
				case c.phases <- line:
				default:
				}
			}
		}
	}()
	return c, nil
}

// reach waits for a phase, the nth time that it comes.
func (c *child) reach(phase string, nth int) bool {
	for p := range c.phases {
		if p == phase {
			if nth--; nth <= 0 {
				return true
			}
		}
	}
	return false
}

// dies kills the child and hears its last words.
func (k *killing) dies(c *child) bool {
	killed := c.kill()
	<-c.heard
	if err := c.fellOver(); err != nil {
		k.broken("a child: %v", err)
	}
	return killed
}

// within waits for a random part of a time, each moment as likely as another.
func (k *killing) within(most time.Duration) { time.Sleep(time.Duration(k.rand.Int64N(int64(most)))) }

func killWriting(ctx context.Context, k *killing) (bool, error) {
	c, err := k.startChild(ctx, roleDiary, k.path, k.acks)
	if err != nil {
		return false, err
	}
	begun := c.reach("open", 1)
	k.within(600 * time.Millisecond)
	return k.dies(c) && begun, nil
}

func killOpening(ctx context.Context, k *killing) (bool, error) {
	c, err := k.startChild(ctx, roleDiary, k.path, k.acks)
	if err != nil {
		return false, err
	}
	begun := c.reach("opening", 1)
	k.within(30 * time.Millisecond)
	return k.dies(c) && begun, nil
}

// killMigrating opens a file that is not there yet: every migration runs.
func killMigrating(ctx context.Context, k *killing) (bool, error) {
	fresh := &killing{rig: k.rig, path: filepath.Join(k.dir, fmt.Sprintf("fresh-%d", k.n), "memory.db"), acks: newAcks(), n: k.n}
	c, err := fresh.startChild(ctx, roleDiary, fresh.path, fresh.acks)
	if err != nil {
		return false, err
	}
	begun := c.reach("opening", 1)
	k.within(40 * time.Millisecond)
	killed := k.dies(c) && begun
	err = fresh.check(ctx, true)
	return killed, errors.Join(err, os.RemoveAll(filepath.Dir(fresh.path)))
}

// killClosing kills where the log is written back and removed.
func killClosing(ctx context.Context, k *killing) (bool, error) {
	c, err := k.startChild(ctx, roleVisitor, k.path, k.acks)
	if err != nil {
		return false, err
	}
	begun := c.reach("closing", 1+k.rand.IntN(3))
	k.within(12 * time.Millisecond)
	return k.dies(c) && begun, nil
}

// killOneOfTwo kills one of two that write; the other must not mind.
func killOneOfTwo(ctx context.Context, k *killing) (bool, error) {
	stays, err := k.startChild(ctx, roleDiary, k.path, k.acks)
	if err != nil {
		return false, err
	}
	dies, err := k.startChild(ctx, roleDiary, k.path, k.acks)
	if err != nil {
		return false, err
	}
	begun := dies.reach("open", 1) && stays.reach("open", 1)
	k.within(400 * time.Millisecond)
	killed := k.dies(dies) && begun
	k.within(200 * time.Millisecond)
	if err := stays.end(childEnds); err != nil {
		k.broken("the one that stays: %v", err)
	}
	<-stays.heard
	return killed, nil
}

// childEnds is how long a child may take to end when it is asked to.
const childEnds = 20 * time.Second

// killMCP kills the program while it is asked over stdio.
func killMCP(ctx context.Context, k *killing) (bool, error) {
	n, err := k.startMCP(ctx, k.path)
	if err != nil {
		return false, err
	}
	if err := n.shakeHands(ctx); err != nil {
		n.kill()
		return false, fmt.Errorf("%w: %s", err, n.stderr)
	}
	return k.diesAtWork(ctx, n.spawned, n), nil
}

// killWeb kills the program while it is asked over REST.
func killWeb(ctx context.Context, k *killing) (bool, error) {
	w, err := k.startWeb(ctx, k.path)
	if err != nil {
		return false, err
	}
	return k.diesAtWork(ctx, w.spawned, w.Client, w.Client), nil
}

// diesAtWork lets robots ask a process until it is killed.
func (k *killing) diesAtWork(ctx context.Context, s *spawned, nodes ...memoryNode) bool {
	var working sync.WaitGroup
	dying := make(chan struct{})
	for i, node := range nodes {
		b := newBusyRobot(fmt.Sprintf("p%d-%d-%d", k.n, i, k.rand.Uint32()), node, k.rand.Uint64(), func(line string) { k.acks.hear(line) })
		working.Go(func() {
			for ctx.Err() == nil {
				if err := b.step(ctx); err != nil {
					select {
					case <-dying:
					case <-ctx.Done():
					default:
						k.broken("before the kill: %v", err)
					}
					return
				}
			}
		})
	}
	k.within(600 * time.Millisecond)
	close(dying)
	killed := s.kill()
	working.Wait()
	if err := s.fellOver(); err != nil {
		k.broken("%v", err)
	}
	return killed
}

const importLines = 1200 // two whole batches and a part of one

// killImport kills an import and goes on with it: every line is there once.
func killImport(ctx context.Context, k *killing) (bool, error) {
	name := fmt.Sprintf("import-%d", k.n)
	lines := filepath.Join(k.dir, name+".jsonl")
	want, err := writeLines(lines, name, importLines)
	if err != nil {
		return false, err
	}
	args := []string{"import", lines, "--collection", name}
	if k.rand.IntN(2) == 0 {
		args = append(args, "--keep-duplicates")
	}
	s, err := k.startProgram(ctx, k.path, args...)
	if err != nil {
		return false, err
	}
	k.within(500 * time.Millisecond)
	killed := s.kill()
	// An import that has said that it is done is not run again: to keep
	// duplicates would double it, as it should.
	if said, err := io.ReadAll(s.stdout); err != nil || len(said) == 0 {
		again, err := k.startProgram(ctx, k.path, args...)
		if err != nil {
			return killed, err
		}
		_, _ = io.Copy(io.Discard, again.stdout)
		if err := again.end(time.Minute); err != nil {
			k.broken("going on with an import: %v", err)
		}
	}
	k.acknowledged(len(want))
	if err := k.opened(ctx, func(m *local.Node) { k.comparesCollection(ctx, m, name, want) }); err != nil {
		return killed, err
	}
	return killed, os.Remove(lines)
}

// writeLines writes learn requests and returns their texts.
func writeLines(path, name string, n int) (map[string]bool, error) {
	b := newBusyRobot(name, nil, 1, nil)
	var out strings.Builder
	want := map[string]bool{}
	for range n {
		text := b.text()
		want[text] = true
		fmt.Fprintf(&out, `{"insight":%q,"context":{"note":%q}}`+"\n", text, name)
	}
	return want, os.WriteFile(path, []byte(out.String()), 0o600)
}

// comparesCollection looks for every text once in a collection.
func (r *rig) comparesCollection(ctx context.Context, m robotmem.Service, name string, want map[string]bool) {
	found := map[string]int{}
	cursor := ""
	for {
		page, err := m.List(ctx, &robotmem.ListRequest{Collection: name, Limit: 1000, Status: "all", Cursor: cursor})
		if err != nil {
			r.broken("listing %s: %v", name, err)
			return
		}
		for i := range page.Memories {
			found[page.Memories[i].Content]++
		}
		if cursor = page.Next; cursor == "" {
			break
		}
	}
	for text := range want {
		if found[text] == 0 {
			r.lost("line %q of %s", text, name)
		}
	}
	for text, n := range found {
		if n > 1 || !want[text] {
			r.broken("%d times in %s: %q", n, name, text)
		}
	}
}
