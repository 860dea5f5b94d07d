package engine

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"log/slog"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	taxonomy "github.com/robotmem/robotmem-go"
	"github.com/robotmem/robotmem-go/classify"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/admin"
	"github.com/robotmem/robotmem-go/robotmem/internal/budget"
	"github.com/robotmem/robotmem-go/robotmem/internal/disk"
	"github.com/robotmem/robotmem-go/robotmem/internal/embeddings"
	"github.com/robotmem/robotmem-go/robotmem/internal/index"
	"github.com/robotmem/robotmem-go/robotmem/internal/maintenance"
	"github.com/robotmem/robotmem-go/robotmem/internal/recall"
	"github.com/robotmem/robotmem-go/robotmem/internal/record"
	"github.com/robotmem/robotmem-go/robotmem/internal/reranking"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
	"github.com/robotmem/robotmem-go/robotmem/internal/subjects"
	"github.com/robotmem/robotmem-go/robotmem/internal/units"
)

// Options configure an engine over any store. The fields of the same names in package local say what each does
// and what its default is.
type Options struct {
	Taxonomy   []byte
	Entities   []byte
	Secrets    string
	MaxPayload int64
	MaxStream  int64
	AllowPaths []string
	ClientType string
	Embedder   robotmem.Embedder
	Reranker   robotmem.Reranker
	Weights    map[string]float64
	Fusion     string
	Memory     budget.Memory
	RealWeight float64
	Retention  admin.Retention
	Disk       disk.Disk
	Clock      func() time.Time
	Location   *time.Location
	Logger     *slog.Logger
	ModelUse   func() (*admin.LanguageModelUse, error)
}

// OptionsOf returns the options of a struct with fields of the same names, such as the options of package
// local, and with the disk that was chosen for it. A name that the struct lacks keeps its zero value.
func OptionsOf(of disk.Chooser) (o Options) {
	o.Disk = disk.Chosen(of)

	from, to := reflect.ValueOf(of).Elem(), reflect.ValueOf(&o).Elem()
	for field, value := range to.Fields() {
		if v := from.FieldByName(field.Name); v.IsValid() {
			value.Set(v.Convert(field.Type))
		}
	}

	return o
}

const (
	defaultRealWeight = 1.5
	defaultMaxPayload = 32 << 20
	defaultMaxStream  = 4 << 30
)

// Engine is a [robotmem.Node] over a store. The operations are documented there.
type Engine struct {
	Store   *store.Store
	options Options
	records *record.Builder
	catalog *subjects.Catalog
	Log     *slog.Logger

	index       *index.Index
	embeddings  *embeddings.Worker
	reranking   *reranking.Caller
	counters    accessCounters
	maintenance *maintenance.Maintainer

	// background counts the goroutines that Close waits for.
	background sync.WaitGroup
	claimed    atomic.Bool // the folder of payloads was noted to be of this file after a payload was written
	quit       context.CancelFunc
	Changed    chan struct{}   // receives after a commit of this process that changed something
	Quitting   <-chan struct{} // closed by quit
}

var _ robotmem.Node = (*Engine)(nil)

// OpenDatabase opens the database of a store. records waits for the compiled rules.
type OpenDatabase func(s *store.Store, o *Options, records func() *record.Builder) (store.Database, error)

// Open opens an engine over a database. It fails with Invalid if an option is wrong, and as open does.
func Open(ctx context.Context, o Options, open OpenDatabase) (*Engine, error) {
	n, err := start(ctx, o, open)
	return n, robotmem.Wrap("open", err)
}

// CheckEntities fails with Invalid if a file of entities is faulty.
func CheckEntities(data []byte) error {
	if _, err := subjects.ParseCatalog(data); err != nil {
		return robotmem.Errorf(robotmem.Invalid, "entities", "%v", err)
	}
	return nil
}

func start(ctx context.Context, o Options, open OpenDatabase) (*Engine, error) {
	if err := o.Complete(); err != nil {
		return nil, err
	}

	records, err := o.Records()
	if err != nil {
		return nil, err
	}

	if err := CheckEntities(o.Entities); err != nil {
		return nil, err
	}
	catalog, _ := subjects.ParseCatalog(o.Entities) // it is faultless

	n := &Engine{options: o, catalog: catalog, Log: o.Logger, counters: accessCounters{wake: make(chan struct{}, 1)}}
	background, quit := context.WithCancel(context.Background())
	n.quit, n.Quitting = quit, background.Done()

	n.Changed = make(chan struct{}, 1)
	n.Store = &store.Store{Clock: o.Clock, Disk: o.Disk, User: store.OSUser(), Changed: func(int64) {
		n.embeddings.Stored()
		maintenance.Wake(n.Changed)
	}}
	n.embeddings = embeddings.New(n.Store, o.Logger, o.Embedder)
	n.reranking = reranking.New(n.Store, o.Logger, o.Reranker)
	n.index = &index.Index{
		Store: n.Store, Log: o.Logger, Quitting: n.Quitting, Columns: index.Columns{Memory: o.Memory},
		WithVectors: o.Embedder != nil, Wake: make(chan struct{}, 1),
	}
	n.maintenance = &maintenance.Maintainer{
		Store: n.Store, Index: n.index, Log: o.Logger, Retention: o.Retention, Embedder: o.Embedder, Reranker: o.Reranker,
		WakeScrub: make(chan struct{}, 1), WakeFeatures: make(chan struct{}, 1),
	}
	n.embeddings.Paused = &n.maintenance.Paused
	if n.Store.Database, err = open(n.Store, &o, records); err != nil {
		quit()
		return nil, err
	}

	// A copied file gets its own id first. With the id of the original it would claim the payload folder of that file.
	n.recognise(ctx)
	if err := n.Store.ClaimFolder(ctx, false); err != nil {
		n.Log.Warn("the folder of payloads is not noted to be of this file", "err", err)
	}

	n.records = records()
	n.maintenance.Records = n.records
	if err := n.embeddings.Bind(ctx); err != nil {
		return nil, errors.Join(err, n.Close())
	}

	n.background.Go(func() { n.index.Run(background) })

	// All further workers write.
	if n.Store.ReadOnly() != "" {
		return n, nil
	}

	n.background.Go(func() { n.counters.run(background, n) })
	if !o.Retention.None() {
		n.background.Go(func() { n.maintenance.RunRetention(background) })
	}
	if o.Embedder != nil {
		n.background.Go(func() { n.embeddings.Run(background) })
	}

	// RunFeatures looks for perceptions without features, so those of older rules are dropped before it starts.
	if err := n.dropOldFeatures(ctx); err != nil {
		return nil, errors.Join(err, n.Close())
	}

	n.background.Go(func() { n.maintenance.RunScrub(background) })

	// Until the first scan nobody knows whether perceptions wait for features.
	n.maintenance.Behind.Store(true)
	n.background.Go(func() { n.maintenance.RunFeatures(background) })

	return n, nil
}

// recogniseLimit bounds the time that the start of a node waits until the place of its file is noted.
const recogniseLimit = 2 * time.Second

// recognise gives a copied file an id of its own. A node starts without it: on a full disk, say.
func (n *Engine) recognise(ctx context.Context) {
	limited, cancel := context.WithTimeout(ctx, recogniseLimit)
	defer cancel()

	isCopy, err := n.Store.Recognise(limited)
	switch {
	case err != nil:
		n.Log.Warn("the place of the file is not noted", "err", err)
	case isCopy:
		n.Log.Info("the file is a copy, and has an id of its own now: the backups, the tokens and the site of the other file are not its own")
	}
}

// Complete fills in the defaults and checks the options.
func (o *Options) Complete() error {
	if o.Memory == 0 {
		o.Memory = budget.Default()
	}
	if o.Memory < budget.Least {
		return robotmem.Errorf(robotmem.Invalid, "memory", "must be at least %s, not %s", units.BytesText(budget.Least),
			units.BytesText(int64(o.Memory)))
	}

	o.RealWeight = cmp.Or(o.RealWeight, defaultRealWeight)
	o.MaxPayload, o.MaxStream = cmp.Or(o.MaxPayload, defaultMaxPayload), cmp.Or(o.MaxStream, defaultMaxStream)
	o.ClientType, o.Location = cmp.Or(o.ClientType, "library"), cmp.Or(o.Location, time.Local)
	if o.Taxonomy == nil {
		o.Taxonomy = taxonomy.YAML
	}
	if err := o.checkWeights(); err != nil {
		return err
	}
	o.Secrets = cmp.Or(o.Secrets, record.SecretsWarn)
	if !slices.Contains(record.SecretsChoices, o.Secrets) {
		return robotmem.Errorf(robotmem.Invalid, "secrets", "must be one of %s, not %q", strings.Join(record.SecretsChoices, ", "), o.Secrets)
	}

	o.Disk, o.Logger = cmp.Or[disk.Disk](o.Disk, disk.System{}), cmp.Or(o.Logger, slog.New(slog.DiscardHandler))
	if o.Clock == nil {
		o.Clock = time.Now
	}

	return nil
}

// builtIn has the built-in rules, which are compiled once per process. That takes milliseconds.
var builtIn = sync.OnceValue(func() *record.Builder {
	rules, _ := classify.Parse(taxonomy.YAML) // tests compile them
	return &record.Builder{Rules: rules}
})

// Records returns a function that waits for the compiled rules. The built-in ones are compiled
// while the file is opened.
func (o *Options) Records() (wait func() *record.Builder, err error) {
	if bytes.Equal(o.Taxonomy, taxonomy.YAML) {
		go builtIn()
		return func() *record.Builder { return &record.Builder{Rules: builtIn().Rules, Secrets: o.Secrets} }, nil
	}
	rules, err := classify.Parse(o.Taxonomy)
	if err != nil {
		err = robotmem.Errorf(robotmem.Invalid, "taxonomy", "%v", err)
	}

	return func() *record.Builder { return &record.Builder{Rules: rules, Secrets: o.Secrets} }, err
}

func (o *Options) checkWeights() error {
	if !slices.Contains([]string{"", "score", recall.FusionRRF}, o.Fusion) {
		return robotmem.Errorf(robotmem.Invalid, "fusion", "must be score or rrf, not %q", o.Fusion)
	}

	for _, list := range slices.Sorted(maps.Keys(o.Weights)) {
		if w := o.Weights[list]; !slices.Contains([]string{recall.ListWords, recall.ListVector, recall.ListPlace, recall.ListLikeness, recall.Evidence, recall.Neighbours, recall.Context}, list) ||
			!(w >= 0) || math.IsInf(w, 0) {
			return robotmem.Errorf(robotmem.Invalid, "weights",
				"%s: %v is not possible; bm25, vector, place, likeness, evidence, neighbours and context take a number from 0",
				list, w)
		}
	}
	if !(o.RealWeight > 0) || math.IsInf(o.RealWeight, 0) {
		return robotmem.Errorf(robotmem.Invalid, "real_weight", "must be a number above 0, not %v", o.RealWeight)
	}

	return nil
}

// Now returns the time of the node's clock.
func (n *Engine) Now() time.Time { return n.Store.Now() }

// LocalNow returns Now in the time zone of the node.
func (n *Engine) LocalNow() time.Time { return n.Now().In(n.options.Location) }

// dropOldFeatures drops the features of older rules.
func (n *Engine) dropOldFeatures(ctx context.Context) error {
	// Read first: opening must not wait for the lock of another process when nothing changes.
	settled := false
	err := n.Store.Read(ctx, func(c *store.Conn) (err error) { settled, err = c.FeaturesAreCurrent(); return err })
	if err != nil || settled {
		return err
	}
	return n.Store.Write(ctx, func(tx *store.Tx) error { return tx.DropOldFeatures() })
}

// Ready fails with Unavailable, and the reason, if nothing can be stored because the file,
// its log or its payloads are no longer where the node has opened them.
func (n *Engine) Ready() error { return robotmem.Wrap("ready", n.Store.InPlace()) }

// Pause begins or ends a pause of what a node computes in the background: vectors, the
// features of perceptions, and retention.
func (n *Engine) Pause(on bool) { n.maintenance.Paused.Set(on) }

// Close waits for the calls in flight, stores the counters and closes the
// file. Further calls fail with Unavailable. Closing twice is harmless.
func (n *Engine) Close() error {
	n.quit()
	n.background.Wait()
	// In parallel: both may wait for the lock of another process.
	var last sync.WaitGroup
	ctx, cancel := context.WithTimeout(context.Background(), flushLimit)
	defer cancel()
	last.Go(func() { n.counters.flush(ctx, n) })
	err := errors.Join(n.index.SaveSnapshots(context.Background()), n.Store.FillFullText(ctx))
	if err != nil && !errors.Is(err, robotmem.Unavailable) && ctx.Err() == nil {
		n.Log.Warn("the indexes of the file are not brought up to date; that is done later", "err", err)
	}
	last.Wait()
	err = n.Store.Close()
	n.embeddings.Wait()
	n.reranking.Wait()

	return err
}
