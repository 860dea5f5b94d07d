package local

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"maps"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ncruces/go-sqlite3"
	"github.com/robotmem/robotmem-go"
	"github.com/robotmem/robotmem-go/classify"
	"github.com/robotmem/robotmem-go/robotmem"
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
	Disk       Disk             // where the file and the payloads lie; SystemDisk if nil
	Clock      func() time.Time // time.Now if nil
	Location   *time.Location   // what "yesterday" in a question means; time.Local if nil
	Logger     *slog.Logger     // silent if nil
}

const (
	defaultBusyTimeout = 5 * time.Second
	defaultRealWeight  = 1.5
	defaultMaxPayload  = 32 << 20
	defaultMaxStream   = 4 << 30
	writerCacheKiB     = 32 << 10
	readerCacheKiB     = 16 << 10
	maxReaders         = 4
)

// Engine is the local Service: one SQLite file.
type Engine struct {
	path     string
	options  Options
	rules    *classify.Rules
	readOnly string // why nothing is written, "" if it is
	way      readOnlyWay
	scratch  string // a folder of temporary files; "" if none is needed
	// madeIndex: the log's index beside a file that is only read is ours.
	madeIndex  bool
	lay        lying // how a file lay that is read without the shared index
	log        *slog.Logger
	user       string // who runs this program
	writer     *conn  // owned by runWriter
	turn       turn   // owned by runWriter
	purgesSeen int64  // by the writer
	rewritten  int64  // the last purge that the writer has written the file anew for
	jobs       chan *writeJob
	lone       *writeJob // what runWriter runs next, alone
	writerDone chan struct{}
	readers    chan *conn // nil entries are connections not opened yet

	roster  roster
	groups  groupCache
	tallies tallies
	meaning meaning
	words   words
	paths   pathIndex
	alike   keptFeatures
	keeping sync.Mutex    // held by who brings words and meaning up from far behind
	asked   chan struct{} // rouses the keeper
	// scrubbing rouses who finishes purges.
	scrubbing chan struct{}
	// featureless rouses who works out features.
	featureless  chan struct{}
	behind       atomic.Bool  // some may wait
	featuresSeen atomic.Int64 // the epoch of features at the last question

	// background are the goroutines that nobody waits for but Close.
	background sync.WaitGroup
	quit       context.CancelFunc
	quitting   <-chan struct{} // closed by quit
	watch      watch

	// closing is held for reading by every call, for writing by Close.
	closing sync.RWMutex
	closed  bool
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
		return nil, wrap("open", err)
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
	path, err := filepath.Abs(o.Path)
	if err != nil {
		return nil, robotmem.Errorf(robotmem.Invalid, "db", "is not a path")
	}
	path = realPath(path)
	e := &Engine{
		path: path, options: o, rules: rules, log: o.Logger, user: OSUser(),
		jobs: make(chan *writeJob, writeQueue), writerDone: make(chan struct{}),
		readers: make(chan *conn, maxReaders),
	}
	for range poolSize() {
		e.readers <- nil
	}
	background, quit := context.WithCancel(context.Background())
	e.quit, e.quitting = quit, background.Done()
	e.meaning.embedder, e.meaning.wake = o.Embedder, make(chan struct{}, 1)
	e.asked, e.featureless = make(chan struct{}, 1), make(chan struct{}, 1)
	e.scrubbing = make(chan struct{}, 1)
	if err := e.openFile(ctx); err != nil {
		quit()
		return nil, err
	}
	e.background.Go(func() { e.runKeeper(background) })
	if e.readOnly != "" {
		close(e.writerDone)
		return e, nil
	}
	go e.runWriter()
	e.tallies.start(e)
	if !o.Retention.none() {
		e.background.Go(func() { e.runRetention(background) })
	}
	if o.Embedder != nil {
		e.background.Go(func() { e.runEmbedder(background) })
	}
	if err := e.settleRules(ctx); err != nil {
		return nil, errors.Join(err, e.Close())
	}
	e.background.Go(func() { e.runScrub(background) })
	e.behind.Store(true)
	e.background.Go(func() { e.runFeatures(background) })
	return e, nil
}

// openFile opens the writing connection, or where nothing can be written the
// first that reads.
func (e *Engine) openFile(ctx context.Context) (err error) {
	switch e.readOnly = cannotWrite(e.path); {
	case e.options.ReadOnly:
		e.readOnly = askedReadOnly
	case e.readOnly == "":
		if err := refuseEmptied(e.path); err != nil {
			return err
		}
		err := e.openWritable(ctx)
		if e.readOnly = folderRefuses(e.path, err); e.readOnly == "" {
			return err
		}
	}
	if !e.options.ReadOnly {
		e.log.Warn("the memory is served read-only", "reason", e.readOnly)
	}
	if err := e.openReadOnly(ctx); err != nil {
		return errors.Join(err, e.closeReaders(), e.leaveNothing())
	}
	return nil
}

// openWritable opens the writing connection of a file, which it makes if it has
// to.
func (e *Engine) openWritable(ctx context.Context) error {
	o := &e.options
	if err := createFile(ctx, o.Disk, e.path, e.connOptions(writerCacheKiB)); err != nil {
		return e.openFull(err)
	}
	leave, err := enter(ctx, e.path, o.BusyTimeout)
	if err != nil {
		return err
	}
	defer leave()
	if e.writer, err = openWriter(ctx, o.Disk, e.path, e.connOptions(writerCacheKiB)); err != nil {
		return e.openFull(err)
	}
	if err := e.writer.BusyTimeout(min(lockSlice, o.BusyTimeout)); err != nil {
		return errors.Join(err, e.writer.close())
	}
	e.turn = openTurn(e.path)
	return nil
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
		o.Disk = SystemDisk{}
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

// realPath is where a link to the file leads, so that its log and payloads lie
// in one place whatever name it is opened by. Payloads that lie beside the link
// alone are left where they are.
func realPath(path string) string {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return path
	}
	_, there := os.Stat(real + payloadsSuffix)
	if _, here := os.Stat(path + payloadsSuffix); here == nil && there != nil {
		return path
	}
	return real
}

// reason is a file error without its path.
func reason(err error) string {
	if p := (*fs.PathError)(nil); errors.As(err, &p) {
		return p.Err.Error()
	}
	if l := (*os.LinkError)(nil); errors.As(err, &l) {
		return l.Err.Error()
	}
	return err.Error()
}

// openWriter opens the writing connection. A file that is not ours is looked
// at read-only first, so that not a byte of it changes.
func openWriter(ctx context.Context, d Disk, path string, o connOptions) (*conn, error) {
	if info, err := os.Stat(path); err == nil && info.Size() > 0 {
		if err := lookAt(ctx, path, o); err != nil {
			return nil, err
		}
	}
	c, err := openConn(ctx, path, o)
	if err != nil {
		return nil, err
	}
	if err := settleLog(c, d, path); err != nil {
		return nil, errors.Join(err, c.close())
	}
	if err := migrate(c); err != nil {
		return nil, errors.Join(err, c.close())
	}
	if err := dropReserved(c, path); err != nil {
		return nil, errors.Join(err, c.close())
	}
	makePrivate(path)
	return c, nil
}

// settleLog puts the log's name on the disk: the driver syncs a new log and not
// its folder, and what was acknowledged would go with the name. SQLite makes the
// log when the file is first read, and no process removes it while a connection
// is open.
func settleLog(c *conn, d Disk, path string) error {
	if _, err := refuseForeign(c); err != nil {
		return err
	}
	return d.SyncFolder(filepath.Dir(path))
}

// lookAt fails if a file is not ours. One that its program was writing to when
// the power failed cannot be read before that is undone, as whoever opens it
// would: then the writer is the first to look.
func lookAt(ctx context.Context, path string, o connOptions) error {
	o.readOnly = true
	c, err := openConn(ctx, path, o)
	if err == nil {
		_, err = refuseForeign(c)
		err = errors.Join(err, c.close())
	}
	if errors.Is(err, sqlite3.READONLY_ROLLBACK) {
		return nil
	}
	return err
}

// makePrivate closes the log and its index to others, as the file is, and gives
// them to its owner. SQLite makes them when it opens the file. On a file system
// without modes there is nothing to close.
func makePrivate(path string) {
	for _, suffix := range []string{"-wal", "-shm"} {
		_ = os.Chmod(path+suffix, 0o600)
		giveToOwner(path, path+suffix)
	}
}

func (e *Engine) connOptions(cacheKiB int) connOptions {
	return connOptions{
		durability: e.options.Durability, busyTimeout: e.options.BusyTimeout, vfs: e.options.Disk.VFS(), cacheKiB: cacheKiB, nearest: e.nearest,
		readOnly: e.readOnly != "", noLog: e.way == noLog, logIndex: e.ownIndexPath(),
	}
}

// poolSize is how many connections read.
func poolSize() int { return min(maxReaders, max(2, runtime.NumCPU())) }

func (e *Engine) now() time.Time { return e.options.Clock().UTC() }

// settleRules fills tag_meta from the rules in use, and drops what older rules
// of likeness have made.
func (e *Engine) settleRules(ctx context.Context) error {
	var rows [][3]string
	for _, t := range e.rules.Tags() {
		rows = append(rows, [3]string{t.Name, t.Parent, t.DisplayName})
	}
	// Looked at first: a file is opened while another process has the lock.
	settled := false
	err := e.read(ctx, func(c *conn) (err error) {
		if settled, err = c.holdsTagMeta(rows); err == nil && settled {
			settled, err = c.featuresAreCurrent()
		}
		return err
	})
	if err != nil || settled {
		return err
	}
	return e.write(ctx, func(tx *writeTx) error {
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
	if err := e.keepSnapshots(context.Background()); err != nil && !errors.Is(err, robotmem.Unavailable) {
		e.log.Warn("snapshots not stored; the next opening takes longer", "err", err)
	}
	last.Wait()
	e.closing.Lock()
	if e.closed {
		e.closing.Unlock()
		return nil
	}
	e.closed = true
	close(e.jobs)
	e.closing.Unlock()
	<-e.writerDone
	e.turn.close()
	e.meaning.asking.Wait()
	err := e.closeReaders()
	if e.writer != nil {
		err = errors.Join(err, e.writer.close())
	}
	return errors.Join(err, e.leaveNothing())
}

func (e *Engine) closeReaders() error {
	var errs []error
	for range cap(e.readers) {
		select {
		case c := <-e.readers:
			if c != nil {
				errs = append(errs, c.close())
			}
		default:
		}
	}
	return errors.Join(errs...)
}
