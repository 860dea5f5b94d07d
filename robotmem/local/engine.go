package local

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"math"
	"slices"
	"sync"
	"time"

	taxonomy "github.com/robotmem/robotmem-go"
	"github.com/robotmem/robotmem-go/classify"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/sqlite"
	"github.com/robotmem/robotmem-go/robotmem/internal/vector"
)

// Durability says what an acknowledged write survives.
type Durability string

const (
	// DurabilityFull: power loss. Every commit reaches the disk first.
	DurabilityFull Durability = "full"
	// DurabilityNormal: the death of the process, but the last commits before
	// a power loss may be gone. Never a damaged file.
	DurabilityNormal Durability = "normal"
)

// Options configure an Engine. The zero value of every field but Path works.
type Options struct {
	Path        string            // the file; created, with its folder, if absent
	ReadOnly    bool              // nothing is written, and what would write fails with Unavailable
	Taxonomy    []byte            // rules as YAML; the embedded ones if nil
	Durability  Durability        // DurabilityFull if empty
	BusyTimeout time.Duration     // how long to wait for another process's lock; 5 s if zero
	MaxPayload  int64             // bytes of one payload within a request; 32 MiB if zero
	MaxStream   int64             // bytes of one payload that is streamed or read from a path; 4 GiB if zero
	AllowPaths  []string          // folders that save_perception may read files from; none if empty
	ClientType  string            // stored with sessions; "library" if empty
	Embedder    robotmem.Embedder // recall by meaning; none if nil. Open does not close it
	// Weights are what the ranked lists count when they are merged: "bm25",
	// "vector", "place" and "likeness", each from 0; 1 if absent, for vector 0.1
	// to 1 by how near the nearest is.
	Weights map[string]float64
	// RealWeight favours what was sensed in the real world
	// (env.sim_or_real = "real"); 1.5 if zero.
	RealWeight float64
	Retention  Retention        // budgets that the engine keeps; none if zero
	Disk       Disk             // where the file and the payloads lie; the computer's own if nil
	Clock      func() time.Time // time.Now if nil
	Location   *time.Location   // what "yesterday" in a question means; time.Local if nil
	Logger     *slog.Logger     // silent if nil
}

const (
	defaultBusyTimeout = 5 * time.Second
	defaultRealWeight  = 1.5
	defaultMaxPayload  = 32 << 20
	defaultMaxStream   = 4 << 30
)

// Disk is what an Engine changes files through.
type Disk = sqlite.Disk

// Engine is the local Service: one SQLite file.
type Engine struct {
	store   *store
	options Options
	records *builder
	log     *slog.Logger

	index       *indexes
	embeddings  embeddings
	tallies     tallies
	maintenance *maintainer

	// background are the goroutines that nobody waits for but Close.
	background sync.WaitGroup
	quit       context.CancelFunc
	quitting   <-chan struct{} // closed by quit
	watch      watch
}

var (
	_ robotmem.Service = (*Engine)(nil)
	_ robotmem.Streams = (*Engine)(nil)
)

// Open opens the memory at o.Path and creates it if it is absent. It fails
// with Corrupt if the file is damaged or another program's, Conflict if a
// newer robotmem wrote it, Unavailable if it cannot be opened, Invalid if an
// option is wrong.
func Open(ctx context.Context, o Options) (*Engine, error) {
	e, err := open(ctx, o)
	if err != nil {
		return nil, sqlite.Wrap("open", err)
	}
	return e, nil
}

func open(ctx context.Context, o Options) (*Engine, error) {
	if err := o.complete(); err != nil {
		return nil, err
	}
	rules, err := classify.Parse(o.Taxonomy)
	if err != nil {
		return nil, robotmem.Errorf(robotmem.Invalid, "taxonomy", "%v", err)
	}
	e := &Engine{options: o, records: &builder{rules}, log: o.Logger}
	background, quit := context.WithCancel(context.Background())
	e.quit, e.quitting = quit, background.Done()
	e.embeddings.embedder, e.embeddings.wake = o.Embedder, make(chan struct{}, 1)
	e.store = &store{clock: o.Clock, disk: o.Disk, user: OSUser(), paths: map[string]int64{}, changed: func(revision int64) {
		e.watch.saw(revision)
		e.embeddings.rouse()
	}}
	e.index = &indexes{store: e.store, log: o.Logger, quitting: e.quitting, withVectors: o.Embedder != nil, asked: make(chan struct{}, 1)}
	e.maintenance = &maintainer{
		store: e.store, index: e.index, records: e.records, log: o.Logger, retention: o.Retention, embedder: o.Embedder,
		scrubbing: make(chan struct{}, 1), featureless: make(chan struct{}, 1),
	}
	if e.store.DB, err = sqlite.OpenDB(ctx, o.Path, sqlite.Options{
		ReadOnly: o.ReadOnly, Normal: o.Durability == DurabilityNormal, BusyTimeout: o.BusyTimeout, Disk: o.Disk, Log: o.Logger, Beside: payloadsSuffix,
		SetUp: func(c *sqlite.Conn) error {
			return vector.Register(c.Conn, "memories_vec", func(unit []float32, k int) ([]vector.Hit, error) { return e.index.nearest(&conn{c}, unit, k) })
		},
		Check: refuseForeign, Migrate: migrate, Version: schemaVersion(), Group: e.store,
	}); err != nil {
		quit()
		return nil, err
	}
	e.background.Go(func() { e.index.run(background) })
	if e.store.ReadOnly() != "" {
		return e, nil
	}
	e.tallies.start(e)
	if !o.Retention.none() {
		e.background.Go(func() { e.maintenance.runRetention(background) })
	}
	if o.Embedder != nil {
		e.background.Go(func() { e.runEmbedder(background) })
	}
	if err := e.settleRules(ctx); err != nil {
		return nil, errors.Join(err, e.Close())
	}
	e.background.Go(func() { e.maintenance.runScrub(background) })
	e.maintenance.behind.Store(true)
	e.background.Go(func() { e.maintenance.runFeatures(background) })
	return e, nil
}

func (o *Options) complete() error {
	if o.Path == "" {
		return robotmem.Errorf(robotmem.Invalid, "db", "is required: the path of the memory's file")
	}
	switch o.Durability {
	case "":
		o.Durability = DurabilityFull
	case DurabilityFull, DurabilityNormal:
	default:
		return robotmem.Errorf(robotmem.Invalid, "durability", "must be full or normal, not %q", string(o.Durability))
	}
	if o.BusyTimeout == 0 {
		o.BusyTimeout = defaultBusyTimeout
	}
	if o.MaxPayload == 0 {
		o.MaxPayload = defaultMaxPayload
	}
	if o.MaxStream == 0 {
		o.MaxStream = defaultMaxStream
	}
	if o.Taxonomy == nil {
		o.Taxonomy = taxonomy.YAML
	}
	if o.ClientType == "" {
		o.ClientType = "library"
	}
	if o.RealWeight == 0 {
		o.RealWeight = defaultRealWeight
	}
	if err := o.checkWeights(); err != nil {
		return err
	}
	if o.Disk == nil {
		o.Disk = sqlite.SystemDisk{}
	}
	if o.Clock == nil {
		o.Clock = time.Now
	}
	if o.Location == nil {
		o.Location = time.Local
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return nil
}

func (o *Options) checkWeights() error {
	for _, list := range slices.Sorted(maps.Keys(o.Weights)) {
		if w := o.Weights[list]; !slices.Contains([]string{listWords, listVector, listPlace, listLikeness}, list) || !(w >= 0) || math.IsInf(w, 0) {
			return robotmem.Errorf(robotmem.Invalid, "weights", "%s: %v is not possible; bm25, vector, place and likeness take a number from 0", list, w)
		}
	}
	if !(o.RealWeight > 0) || math.IsInf(o.RealWeight, 0) {
		return robotmem.Errorf(robotmem.Invalid, "real_weight", "must be a number above 0, not %v", o.RealWeight)
	}
	return nil
}

func (e *Engine) now() time.Time { return e.store.now() }

// settleRules fills tag_meta from the rules in use, and drops what older rules
// of likeness have made.
func (e *Engine) settleRules(ctx context.Context) error {
	var rows [][3]string
	for _, t := range e.records.rules.Tags() {
		rows = append(rows, [3]string{t.Name, t.Parent, t.DisplayName})
	}
	// Looked at first: a file is opened while another process has the lock.
	settled := false
	err := e.store.read(ctx, func(c *conn) (err error) {
		if settled, err = c.holdsTagMeta(rows); err == nil && settled {
			settled, err = c.featuresAreCurrent()
		}
		return err
	})
	if err != nil || settled {
		return err
	}
	return e.store.write(ctx, func(tx *writeTx) error {
		return errors.Join(writeTagMeta(tx.conn, rows), tx.dropOldFeatures())
	})
}

// Close waits for the calls in flight, stores the counters and closes the
// file. Further calls fail with Unavailable. Closing twice is harmless.
func (e *Engine) Close() error {
	e.quit()
	e.background.Wait()
	// Side by side: both may wait for another process's lock.
	var last sync.WaitGroup
	last.Go(func() { e.tallies.stop(e) })
	if err := e.index.keepSnapshots(context.Background()); err != nil && !errors.Is(err, robotmem.Unavailable) {
		e.log.Warn("snapshots not stored; the next opening takes longer", "err", err)
	}
	last.Wait()
	err := e.store.Close()
	e.embeddings.asking.Wait()
	return err
}
