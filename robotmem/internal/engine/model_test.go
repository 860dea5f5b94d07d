package engine_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/admin"
	"github.com/robotmem/robotmem-go/robotmem/local"
	"github.com/robotmem/robotmem-go/robotmem/robotmemtest/rounds"
	"pgregory.net/rapid"
)

// TestModel runs random sequences of all operations on two nodes that share a file, and
// compares each response and all stored data with a model in memory that implements the
// contract without indexes, caches or SQL. A sequence with a difference is shrunk to the
// shortest one.
//
// The test sets the clock: it jumps forwards and backwards, over leap days, new years
// and changes of summer time. Calls are repeated, made twice at the same time, and
// canceled at every step that checks the context: a call that failed must have changed
// nothing, a call that succeeded must be stored completely.
//
// To run longer, and to repeat a failure:
//
//	go test ./robotmem/internal/engine -run TestModel -timeout 0 -rapid.checks 5000
//	go test ./robotmem/internal/engine -run TestModel -rapid.seed N
func TestModel(t *testing.T) {
	dir := t.TempDir()
	checks := modelChecks(t)
	happened := map[string]int{}
	defer func() {
		t.Logf("of %d sequences: %v", checks, happened)
		for _, what := range []string{"duplicate by exact", "duplicate by sequence", "superseded", "evicted", "cancelled", "asked of the past", "clock back"} {
			if checks >= 100 && happened[what] == 0 {
				t.Errorf("%s: it never happened", what)
			}
		}
	}()
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(t, dir)
		w.happened = happened
		defer w.discard()
		t.Repeat(map[string]func(*rapid.T){
			"":               w.compare,
			"clock":          w.moveClock,
			"learn":          w.learn,
			"learn again":    w.learnAgain,
			"learn near":     w.learnNear,
			"learn at once":  w.learnAtOnce,
			"learn batch":    w.learnBatch,
			"update":         w.update,
			"forget":         w.forget,
			"forget at once": w.forgetAtOnce,
			"restore":        w.restore,
			"pin":            w.pin,
			"perceive":       w.perceive,
			"perceive more":  w.perceive,
			"episode":        w.episode,
			"start session":  w.startSession,
			"end session":    w.endSession,
			"recall words":   w.recallWords,
			"recall places":  w.recallPlaces,
			"recall times":   w.recallTimes,
			"replay":         w.replay,
			"list":           w.list,
			"look":           w.look,
			"count":          w.count,
			"failures":       w.failures,
			"retain":         w.retain,
			"repair":         w.repair,
			"reopen":         w.reopen,
		})
		w.finish(t)
	})
}

// modelChecks is the default number of sequences, which take about ten seconds.
func modelChecks(t *testing.T) int {
	t.Helper()
	n := rounds.Of(8, 20)
	if testing.Short() {
		n = 4
	}
	flag.Visit(func(f *flag.Flag) {
		if given, err := strconv.Atoi(f.Value.String()); f.Name == "rapid.checks" && err == nil {
			n = given
		}
	})
	if err := flag.Set("rapid.checks", strconv.Itoa(n)); err != nil {
		t.Fatal(err)
	}
	return n
}

// world holds the nodes under test and the model.
type world struct {
	dir     string
	path    string
	engines [2]*local.Node
	turn    int // whose it is
	zone    *time.Location
	now     atomic.Int64 // nanoseconds since 1970
	// monotone is true if the clock has never run backwards; otherwise the state at a
	// time is ambiguous.
	monotone bool

	memories []*known // in the order of their ids
	sessions []*episode
	origins  map[string]*known // collection and origin
	recalls  int64
	zeroHits int64
	evicted  int64
	happened map[string]int // what the sequences came to, all of them
}

var modelZones = []string{"UTC", "Asia/Shanghai", "America/New_York", "Pacific/Apia"}

func newWorld(t *rapid.T, parent string) *world {
	dir, err := os.MkdirTemp(parent, "model-")
	if err != nil {
		t.Fatal(err)
	}
	w := &world{dir: dir, path: filepath.Join(dir, "memory.db"), monotone: true, origins: map[string]*known{}}
	if w.zone, err = time.LoadLocation(rapid.SampledFrom(modelZones).Draw(t, "zone")); err != nil {
		t.Fatal(err)
	}
	w.now.Store(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC).UnixNano())
	for i := range w.engines {
		w.engines[i] = w.open(t)
	}
	return w
}

func (w *world) open(t *rapid.T) *local.Node {
	e, err := local.Open(context.Background(), w.path, local.Options{BusyTimeout: time.Minute, Durability: local.DurabilityNormal, Clock: w.time, Location: w.zone})
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	return e
}

func (w *world) time() time.Time { return time.Unix(0, w.now.Load()).UTC() }

// discard ends a sequence and ignores errors.
func (w *world) discard() {
	for _, e := range w.engines {
		_ = e.Close() // twice is harmless; finish has looked at the error
	}
	_ = os.RemoveAll(w.dir)
}

// engine returns the node for the next call and alternates between the nodes.
func (w *world) engine() *local.Node {
	w.turn++
	return w.engines[w.turn%len(w.engines)]
}

// instants are times at which calendars have exceptions.
var instants = []string{
	"2028-02-28T23:59:59.999Z", "2028-02-29T12:00:00Z", "2028-03-01T00:00:00Z", "2026-12-31T23:59:59.999Z", "2027-01-01T00:00:00Z",
	"2026-03-08T06:59:59Z", "2026-03-08T07:00:00Z", "2026-11-01T05:30:00Z", "2026-11-01T06:30:00Z", // New York
	"2011-12-30T09:59:59Z", "2011-12-30T10:00:00Z", "2011-12-31T11:00:00Z", // Apia has no 30 December 2011
	"2100-02-28T23:00:00Z", "1999-12-31T23:59:59Z",
}

func (w *world) moveClock(t *rapid.T) {
	at := w.time()
	switch rapid.IntRange(0, 9).Draw(t, "jump") {
	case 0:
		at = at.Add(-time.Duration(rapid.IntRange(1, 3600).Draw(t, "seconds back")) * time.Second)
	case 1:
		at = at.AddDate(0, 0, -rapid.IntRange(1, 400).Draw(t, "days back"))
	case 2:
		var err error
		if at, err = time.Parse(time.RFC3339Nano, rapid.SampledFrom(instants).Draw(t, "instant")); err != nil {
			t.Fatal(err)
		}
	case 3, 4, 5:
		at = at.AddDate(0, 0, rapid.IntRange(1, 150).Draw(t, "days"))
	default:
		at = at.Add(time.Duration(rapid.IntRange(1, 100_000).Draw(t, "seconds")) * time.Second)
	}
	if at.Year() < 1990 || at.Year() > 2200 {
		return
	}
	if at.Before(w.time()) {
		w.monotone = false
		w.happened["clock back"]++
	}
	w.now.Store(at.UnixNano())
}

// patience is a context that ends after so many checks: a call is canceled at each of
// its steps in turn, and at the same step when it is repeated.
type patience struct {
	context.Context
	cancel context.CancelFunc
	left   atomic.Int64
}

func (p *patience) Err() error {
	p.look()
	return p.Context.Err()
}

func (p *patience) Done() <-chan struct{} {
	p.look()
	return p.Context.Done()
}

func (p *patience) look() {
	if p.left.Add(-1) < 0 {
		p.cancel()
	}
}

// call runs a write, sometimes with a context that ends before or during the call. It
// reports whether the call failed because of that and must have changed nothing, which
// the comparison after every step verifies.
func (w *world) call(t *rapid.T, run func(context.Context, *local.Node) error) (err error, cancelled bool) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	ending := false
	if rapid.IntRange(0, 4).Draw(t, "cancel") == 0 {
		p := &patience{Context: ctx, cancel: cancel}
		p.left.Store(int64(rapid.IntRange(0, 12).Draw(t, "after looks")))
		ctx, ending = p, true
	}
	err = run(ctx, w.engine())
	if robotmem.KindOf(err) == robotmem.Unavailable && err != nil && ending {
		w.happened["cancelled"]++
		return nil, true
	}
	return err, false
}

// expect compares the result of a call with the expected kind of error, "" for none. It
// reports whether the call succeeded.
func expect(t *rapid.T, what string, err error, want robotmem.Kind) bool {
	got := robotmem.Kind("")
	if err != nil {
		got = robotmem.KindOf(err)
	}
	if got != want {
		t.Fatalf("%s: got %q (%v), want %q", what, got, err, want)
	}
	return err == nil
}

// reopen closes one of the nodes and opens it again.
func (w *world) reopen(t *rapid.T) {
	i := rapid.IntRange(0, len(w.engines)-1).Draw(t, "which")
	if err := w.engines[i].Close(); err != nil {
		t.Fatalf("close: %v", err)
	}
	w.engines[i] = w.open(t)
}

// repair must not change any response.
func (w *world) repair(t *rapid.T) {
	if rapid.IntRange(0, 3).Draw(t, "seldom") > 0 {
		t.Skip("takes long")
	}
	res, err := w.engine().Repair(context.Background(), &admin.RepairRequest{})
	if err != nil || !res.Doctor.Healthy {
		t.Fatalf("repair: %+v, %v", res, err)
	}
}

// finish reopens both nodes, so that everything is read from the file.
func (w *world) finish(t *rapid.T) {
	for i, e := range w.engines {
		if err := e.Close(); err != nil {
			t.Fatalf("close: %v", err)
		}
		w.engines[i] = w.open(t)
	}
	w.compare(t)
	w.compare(t)
	w.credits(t)
	w.count(t)
	res, err := w.engine().Doctor(context.Background(), &admin.DoctorRequest{Deep: true})
	if err != nil || !res.Healthy {
		t.Fatalf("doctor: %s, %v", unhealthyChecks(res), err)
	}
}

func unhealthyChecks(res *admin.DoctorResponse) (out string) {
	if res == nil {
		return "no answer"
	}
	for _, c := range res.Checks {
		if c.Status != "ok" {
			out += fmt.Sprintf("%s %s: %s; ", c.Name, c.Status, c.Detail)
		}
	}
	return out
}
