package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/local"
)

// The part flips damages the files of a memory and asks it everything. It may
// refuse, or name what it cannot answer, or answer as if nothing had happened.
// No answer may differ without an error, but where the log was damaged and the
// opening said so: what follows damage in a log cannot be read. And a doctor who
// is asked sees what is damaged.
//
// Processes of their own do it, so that a panic or a hang ends one of them and
// is counted; each says what it is about to do, and then what came of it.

const (
	flipRole = "flips"
	// flipLimit is how long one fault may take before it counts as a hang.
	flipLimit = 60 * time.Second
	// flipDoctor is how many faults go by until the doctor is asked though all
	// answers were right.
	flipDoctor = 16
	// flipKeeps is how many damaged images one process keeps to be looked at.
	flipKeeps = 5

	// The outcomes of a fault.
	flipRefused = "refused"                                 // opening failed
	flipNamed   = "named"                                   // some answer was an error, or the doctor saw it though all were right
	flipEqual   = "equal"                                   // every answer was right
	flipTold    = "a damaged log, told at the opening"      // an answer was of the time before the damage
	flipSeen    = "answered wrongly, seen by doctor --deep" // broken: an answer differed, and only the doctor saw why
	flipSilent  = "silent"                                  // broken: nobody saw it
)

// flipReport is a line that a process prints: what it does, then what came of it.
type flipReport struct {
	Begun   string `json:"begun,omitempty"`
	Outcome string `json:"outcome,omitempty"`
	Wrong   string `json:"wrong,omitempty"` // a promise that did not hold
}

func runFlips(ctx context.Context, r *rig) (err error) {
	dir := r.dir
	if memory, err := os.MkdirTemp("/dev/shm", "torture-flips-"); err == nil {
		dir = memory // a disk would only slow it down
		defer func() {
			if r.Broken > 0 || err != nil && ctx.Err() == nil {
				fmt.Fprintf(r.log, "  the damaged images are kept in %s\n", memory)
				return
			}
			_ = os.RemoveAll(memory)
		}()
	}
	build := filepath.Join(dir, "build")
	closed, live, err := makeImages(ctx, build)
	if err != nil {
		return fmt.Errorf("the memory to damage: %w", err)
	}
	for name, im := range map[string]flipImage{"closed": closed, "live": live} {
		if err := im.write(filepath.Join(dir, name)); err != nil {
			return err
		}
	}
	r.acknowledged(flipFacts + 6*flipSessions + 12)
	r.note("%d pages, %d KiB of log, %d payload files", len(closed[flipDB])/flipPage, len(live[flipDB+"-wal"])>>10, len(closed)-1)
	var left atomic.Int64
	left.Store(int64(r.times))
	var outcomes sync.Map
	var wg sync.WaitGroup
	errs := make([]error, runtime.NumCPU())
	seeds := make([]uint64, len(errs))
	for i := range seeds {
		seeds[i] = r.rand.Uint64()
	}
	for i := range errs {
		wg.Go(func() {
			for seed := seeds[i]; errs[i] == nil && ctx.Err() == nil && left.Load() > 0; seed++ {
				errs[i] = superviseFlips(ctx, r, dir, i, seed, &left, &outcomes)
			}
		})
	}
	wg.Wait()
	counts := map[string]int64{flipSeen: 0, flipSilent: 0} // told even if there was none
	outcomes.Range(func(k, v any) bool { counts[k.(string)] = v.(*atomic.Int64).Load(); return true })
	for _, k := range slices.Sorted(maps.Keys(counts)) {
		r.note("%s: %d", k, counts[k])
	}
	return errors.Join(append(errs, ctx.Err())...)
}

// superviseFlips starts a process and follows it until it ends, by itself, by a
// panic or by a hang.
func superviseFlips(ctx context.Context, r *rig, dir string, worker int, seed uint64, left *atomic.Int64, outcomes *sync.Map) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	cmd := exec.CommandContext(ctx, self, dir, strconv.Itoa(worker), strconv.FormatUint(seed, 10))
	cmd.Env = append(os.Environ(), childRole+"="+flipRole)
	var stderr lastWords
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	var hung, enough atomic.Bool
	watchdog := time.AfterFunc(flipLimit, func() { hung.Store(true); cancel() })
	defer watchdog.Stop()
	doing := ""
	for lines := bufio.NewScanner(out); lines.Scan(); {
		watchdog.Reset(flipLimit)
		var report flipReport
		if err := json.Unmarshal(lines.Bytes(), &report); err != nil {
			break // what a panic printed
		}
		if report.Begun != "" {
			doing = report.Begun
			continue
		}
		doing = ""
		r.fault()
		n, _ := outcomes.LoadOrStore(report.Outcome, new(atomic.Int64))
		n.(*atomic.Int64).Add(1)
		if report.Wrong != "" {
			r.broken("%s", report.Wrong)
		}
		if left.Add(-1) <= 0 {
			enough.Store(true)
			cancel()
			break
		}
	}
	_, _ = io.Copy(io.Discard, out) // so that it can end
	err = cmd.Wait()
	switch {
	case enough.Load():
		return nil
	case hung.Load():
		r.broken("%s: no answer within %v", doing, flipLimit)
		keepWork(dir, worker, seed)
	case doing != "" && ctx.Err() == nil:
		r.broken("%s: the process died: %s", doing, stderr.head())
		keepWork(dir, worker, seed)
	case err != nil && ctx.Err() == nil:
		return fmt.Errorf("%w: %s", err, stderr.head())
	}
	return nil
}

// keepWork puts what a process was at out of the way of the next one.
func keepWork(dir string, worker int, seed uint64) {
	_ = os.Rename(filepath.Join(dir, fmt.Sprint("work-", worker)), filepath.Join(dir, fmt.Sprintf("died-%d-seed-%d", worker, seed)))
}

// lastWords keeps the first of what a process says before it dies.
type lastWords struct{ text []byte }

func (t *lastWords) Write(p []byte) (int, error) {
	t.text = append(t.text, p[:min(len(p), 4000-len(t.text))]...)
	return len(p), nil
}

func (t *lastWords) head() string { return strings.Join(strings.Fields(string(t.text)), " ") }

// flipper is the process that damages and asks.
type flipper struct {
	ear
	dir    string
	images []flipImage
	truth  []answers
	counts []int64 // memories of each image
	rand   *rand.Rand
}

func flipChild(args []string) error {
	if len(args) != 3 {
		return errors.New("wants a folder, a number and a seed")
	}
	seed, err := strconv.ParseUint(args[2], 10, 64)
	if err != nil {
		return err
	}
	f := &flipper{dir: filepath.Join(args[0], "work-"+args[1]), rand: rand.New(rand.NewPCG(seed, 1))}
	ctx := context.Background()
	for _, name := range []string{"closed", "live"} {
		im, err := readImage(filepath.Join(args[0], name))
		if err != nil {
			return err
		}
		if err := f.learnTruth(ctx, im); err != nil {
			return fmt.Errorf("the memory before any damage: %w", err)
		}
	}
	enc := json.NewEncoder(os.Stdout)
	kept := 0
	for n := 0; ; n++ {
		i := f.rand.IntN(len(f.images))
		fault := drawFault(f.images[i], f.rand)
		readOnly := f.rand.IntN(4) == 0
		what := fmt.Sprintf("%s, image %d, seed %d, fault %d, read-only %t", fault.what, i, seed, n, readOnly)
		if slices.Equal(fault.data, f.images[i][fault.file]) {
			continue // nothing changed
		}
		if err := enc.Encode(flipReport{Begun: what}); err != nil {
			return err
		}
		report, err := f.try(ctx, i, fault, readOnly, n%flipDoctor == 0)
		if err != nil {
			return err
		}
		if report.Wrong != "" {
			report.Wrong = what + ": " + report.Wrong
			if kept++; kept <= flipKeeps { // as it was before anybody opened it
				if err := f.damaged(i, fault).write(filepath.Join(args[0], fmt.Sprintf("wrong-%s-seed-%d-fault-%d", args[1], seed, n))); err != nil {
					return err
				}
			}
		}
		if err := enc.Encode(report); err != nil {
			return err
		}
	}
}

// lay writes an image into a folder of its own.
func (f *flipper) lay(im flipImage) error {
	if err := os.RemoveAll(f.dir); err != nil {
		return err
	}
	return im.write(f.dir)
}

func (f *flipper) open(ctx context.Context, readOnly bool) (*local.Node, error) {
	o := flipOptions(filepath.Join(f.dir, flipDB), []byte(flipRules))
	o.ReadOnly = readOnly
	f.said.Store(false)
	o.Logger = slog.New(&f.ear)
	return local.Open(ctx, o)
}

func (f *flipper) learnTruth(ctx context.Context, im flipImage) error {
	if err := f.lay(im); err != nil {
		return err
	}
	m, err := f.open(ctx, false)
	if err != nil {
		return err
	}
	list, err := m.List(ctx, &robotmem.ListRequest{Status: "all", Limit: 1})
	if err != nil || len(list.Memories) == 0 {
		return errors.Join(errors.New("it is empty"), err, m.Close())
	}
	last := list.Memories[0].MemoryID
	truth := askAll(ctx, m, last)
	for name, a := range truth {
		if a.err != nil && !errors.Is(a.err, robotmem.NotFound) || a.degraded {
			err = errors.Join(err, fmt.Errorf("%s: %q %w", name, a.text, a.err))
		}
	}
	d, derr := m.Doctor(ctx, &robotmem.DoctorRequest{Deep: true})
	if derr == nil && !d.Healthy {
		derr = fmt.Errorf("the doctor says %+v", d.Checks)
	}
	f.images, f.truth, f.counts = append(f.images, im), append(f.truth, truth), append(f.counts, last)
	return errors.Join(err, derr, m.Close())
}

func (f *flipper) damaged(i int, fault flipFault) flipImage {
	im := maps.Clone(f.images[i])
	im[fault.file] = fault.data
	return im
}

// try opens a damaged image and compares all answers with the truth.
func (f *flipper) try(ctx context.Context, i int, fault flipFault, readOnly, doctor bool) (flipReport, error) {
	if err := f.lay(f.damaged(i, fault)); err != nil {
		return flipReport{}, err
	}
	m, err := f.open(ctx, readOnly)
	if err != nil {
		return flipReport{Outcome: flipRefused, Wrong: unclear("opening", err)}, nil
	}
	if err := m.Warm(ctx); err != nil && unclear("warming", err) != "" {
		return flipReport{Outcome: flipNamed, Wrong: unclear("warming", err)}, m.Close()
	}
	got, want := askAll(ctx, m, f.counts[i]), f.truth[i]
	report := flipReport{Outcome: flipEqual}
	silent := ""
	for _, name := range slices.Sorted(maps.Keys(want)) {
		a, ok := got[name]
		switch {
		case !ok: // asked only of what another answer lists
		case a.err != nil && !errors.Is(a.err, robotmem.NotFound):
			report.Outcome = flipNamed
			if report.Wrong == "" {
				report.Wrong = unclear(name, a.err)
			}
		case a.degraded:
			report.Outcome = flipNamed
		case a.text != want[name].text || (a.err == nil) != (want[name].err == nil):
			if silent == "" {
				silent = fmt.Sprintf("%s: got %s (%v), want %s", name, cut(a.text), a.err, cut(want[name].text))
			}
		}
	}
	overlooked := false
	if silent != "" || doctor {
		d, err := m.Doctor(ctx, &robotmem.DoctorRequest{Deep: true})
		healthy := err == nil && d.Healthy
		switch {
		case err != nil && unclear("doctor", err) != "":
			report.Wrong = unclear("doctor", err)
		case silent != "" && healthy:
			report.Outcome, report.Wrong = flipSilent, "silent: "+silent
		case silent != "" && f.told(fault, readOnly):
			report.Outcome = flipTold
		case silent != "":
			report.Outcome, report.Wrong = flipSeen, "only the doctor saw it: "+silent
		case healthy:
			overlooked = true
		default:
			report.Outcome = flipNamed
		}
	}
	if err := m.Close(); err != nil && report.Outcome == flipEqual && report.Wrong == "" {
		report.Wrong = unclear("closing", err)
	}
	if overlooked && report.Wrong == "" {
		// By what lies there afterwards: a node may have written anew, or given
		// away, what was damaged.
		after, err := readImage(f.dir)
		if err != nil {
			return report, err
		}
		if fault.lies(after) {
			report.Outcome, report.Wrong = flipSilent, "the doctor calls it healthy"
		}
	}
	return report, nil
}

// told reports whether the opening said that the log is damaged, and kept a copy
// unless it may not write.
func (f *flipper) told(fault flipFault, readOnly bool) bool {
	kept, err := filepath.Glob(filepath.Join(f.dir, fault.file+".damaged-*"))
	return f.said.Load() && err == nil && (readOnly || len(kept) > 0)
}

// ear is a log that only listens for errors.
type ear struct{ said atomic.Bool }

func (e *ear) Enabled(_ context.Context, level slog.Level) bool { return level >= slog.LevelError }

func (e *ear) WithAttrs([]slog.Attr) slog.Handler { return e }

func (e *ear) WithGroup(string) slog.Handler { return e }

func (e *ear) Handle(_ context.Context, r slog.Record) error {
	if strings.Contains(r.Message, "log of the file is damaged") {
		e.said.Store(true)
	}
	return nil
}

// unclear says what is wrong with an error: that it is of no kind that tells the
// caller what to do.
func unclear(doing string, err error) string {
	switch kind := robotmem.KindOf(err); kind {
	case robotmem.Corrupt, robotmem.Unavailable, robotmem.Conflict:
		return ""
	default:
		return fmt.Sprintf("%s fails as %s: %v (%v)", doing, kind, err, cause(err))
	}
}

// cause is the innermost error, for whoever mends it.
func cause(err error) error {
	for inner := errors.Unwrap(err); inner != nil; inner = errors.Unwrap(err) {
		err = inner
	}
	return err
}

func cut(s string) string {
	if len(s) > 200 {
		return s[:200] + "…"
	}
	return s
}
