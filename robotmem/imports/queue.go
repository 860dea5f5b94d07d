package imports

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/robotmem/robotmem-go/perception/importers"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/admin"
	"github.com/robotmem/robotmem-go/robotmem/internal/files"
)

const (
	// DefaultLimit is the default of Options.Limit, in bytes.
	DefaultLimit = 16 << 30
	maxPending   = 32  // imports that are received, wait or run
	maxEnded     = 100 // imports that are remembered after their end
	// allowedPause is the interval at which a running import asks whether its caller may still write.
	allowedPause = time.Second
)

// Options of a queue.
type Options struct {
	Node   robotmem.Node // stores what is imported
	Memory string        // the path of the memory's database, beside which the folder of received files is
	FileID string        // of the memory's file
	// Limit is how many bytes the files of all recordings that are received or wait may take together;
	// 0 is DefaultLimit.
	Limit int64
	// ReadOnly says why the node stores nothing; "" if it does.
	ReadOnly string
	Log      *slog.Logger // nil is silent
}

// Queue receives recordings and imports one at a time. Its methods may be called from several goroutines.
type Queue struct {
	o     Options
	base  string
	ctx   context.Context // ends with Close
	stop  context.CancelFunc
	tasks sync.WaitGroup // the goroutine that imports

	mu      sync.Mutex // guards the fields below, and those of the jobs
	jobs    []*job     // oldest first
	held    int64      // bytes of the files of all jobs
	folder  *folder    // nil before the first recording
	working bool
}

// job is an import. Its Import is copied for callers.
type job struct {
	admin.Import
	request admin.ImportRequest
	caller  robotmem.Caller
	allowed func() bool
	ctx     context.Context // of the job; ends with Cancel and Close
	cancel  context.CancelFunc
	path    string // of its own folder
	source  string // what is imported: a file in it, or a folder
	held    int64
}

// Open returns a queue, and removes what processes that were killed have left. Its folder is made with the first
// recording.
func Open(o Options) *Queue {
	o.Limit = cmp.Or(o.Limit, DefaultLimit)
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	q := &Queue{o: o, base: files.At(o.Memory).Imports()}
	q.ctx, q.stop = context.WithCancel(context.Background())

	if o.ReadOnly == "" {
		switch n, err := removeLeftovers(q.base, o.FileID); {
		case err != nil:
			o.Log.Warn("recordings that a stopped node has received are still there", "folder", q.base, "err", err)
		case n > 0:
			o.Log.Info("recordings that a stopped node has received were removed", "folder", q.base, "folders", n)
		}
	}

	return q
}

// Close ends all imports, waits for the running one, and removes the files. What was stored stays.
func (q *Queue) Close() error {
	q.stop()
	q.tasks.Wait()
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.folder == nil {
		return nil
	}

	err := q.folder.close()
	q.folder = nil
	if err != nil {
		return fmt.Errorf("removing received recordings: %w", err)
	}

	return nil
}

// Receive writes the files of a recording to the disk and puts its import into the queue. It returns when all of them
// are there.
func (q *Queue) Receive(ctx context.Context, r *admin.ImportRequest, in admin.ImportFiles) (*admin.Import, error) {
	j, err := q.begin(ctx, r, in)
	if err != nil {
		return nil, err
	}

	stopped := context.AfterFunc(ctx, j.cancel)
	defer stopped()
	if err := q.write(j, in); err != nil {
		if j.ctx.Err() != nil {
			err = robotmem.Errorf(robotmem.Unavailable, "", "the import was cancelled before all of it had arrived; nothing was stored")
		}
		q.drop(j)

		return nil, err
	}
	if !stopped() || j.ctx.Err() != nil {
		q.drop(j)
		return nil, robotmem.Errorf(robotmem.Unavailable, "", "the import was cancelled before it began; nothing was stored")
	}

	q.mu.Lock()
	defer q.mu.Unlock()
	j.State = admin.ImportQueued
	if !q.working {
		q.working = true
		q.tasks.Go(q.work)
	}

	return q.shown(j), nil
}

// begin makes a job with a folder of its own.
func (q *Queue) begin(ctx context.Context, r *admin.ImportRequest, in admin.ImportFiles) (*job, error) {
	switch {
	case q.o.ReadOnly != "":
		return nil, robotmem.Errorf(robotmem.Unavailable, "", "this node serves the memory read-only: %s", q.o.ReadOnly)
	case in.Size > q.o.Limit:
		return nil, q.tooLarge()
	}

	q.mu.Lock()
	defer q.mu.Unlock()
	if q.ctx.Err() != nil {
		return nil, robotmem.Errorf(robotmem.Unavailable, "", "the node is stopping; send it again when it runs")
	}
	pending := 0

	for _, j := range q.jobs {
		if !ended(&j.Import) {
			pending++
		}
	}
	if pending >= maxPending {
		return nil, robotmem.Errorf(robotmem.Unavailable, "", "%d recordings wait already; send it again when some of them are imported", pending)
	}
	if in.Size > q.o.Limit-q.held {
		return nil, q.full()
	}

	if q.folder == nil {
		var err error
		if q.folder, err = openFolder(q.base, q.o.FileID); err != nil {
			return nil, diskError(err)
		}
	}

	id := uuid.Must(uuid.NewV7()).String()
	j := &job{
		Import: admin.Import{
			ID: id, Name: in.Name, State: admin.ImportReceiving, Who: robotmem.CallerOf(ctx).Who, Robot: r.Robot, MapID: r.MapID,
			Collection: r.Collection, ReceivedAt: time.Now().UTC(),
		},
		request: *r, caller: robotmem.CallerOf(ctx), allowed: in.Allowed, path: filepath.Join(q.folder.path, id),
	}
	if err := os.Mkdir(j.path, 0o700); err != nil {
		return nil, diskError(err)
	}
	// The import outlives the request that sent it, and ends with the queue.
	j.ctx, j.cancel = context.WithCancel(q.ctx)
	q.jobs = append(q.jobs, j)

	return j, nil
}

// drop forgets a job that was not received whole.
func (q *Queue) drop(j *job) {
	j.cancel()
	q.removeFiles(j)
	q.mu.Lock()
	defer q.mu.Unlock()
	q.jobs = slices.DeleteFunc(q.jobs, func(o *job) bool { return o == j })
}

// removeFiles removes the files of a job.
func (q *Queue) removeFiles(j *job) {
	if err := os.RemoveAll(j.path); err != nil {
		q.o.Log.Error("a received recording is still there", "folder", j.path, "err", err)
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.held -= j.held
	j.held = 0
}

// work imports until nothing waits.
func (q *Queue) work() {
	for {
		q.mu.Lock()
		at := slices.IndexFunc(q.jobs, func(j *job) bool { return j.State == admin.ImportQueued })
		if at < 0 || q.ctx.Err() != nil {
			q.working = false
			q.mu.Unlock()
			return
		}
		j := q.jobs[at]
		j.State = admin.ImportRunning
		q.mu.Unlock()

		result, err := q.run(j)
		q.removeFiles(j)
		q.end(j, result, err)
	}
}

// run imports one recording, for as long as its caller may write.
func (q *Queue) run(j *job) (result *admin.ImportResult, err error) {
	// A panic of an importer must not end the node.
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("importing %s: panic: %v", j.Name, v)
		}
	}()

	caller := j.caller
	caller.Tool = robotmem.ToolImport
	ctx, cancel := context.WithCancelCause(robotmem.WithCaller(j.ctx, caller))
	defer cancel(nil)

	var watch sync.WaitGroup
	defer watch.Wait()
	defer cancel(nil)
	watch.Go(func() {
		tick := time.NewTicker(allowedPause)
		defer tick.Stop()

		for {
			if j.allowed != nil && !j.allowed() {
				cancel(errRevoked)
				return
			}

			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
		}
	})

	result, err = importSource(ctx, q.o.Node, j, func(p importers.Progress) {
		q.mu.Lock()
		defer q.mu.Unlock()
		j.Done, j.Total = p.Done, p.Total
	})
	if err != nil && errors.Is(context.Cause(ctx), errRevoked) {
		err = errRevoked
	}

	return result, err
}

var errRevoked = robotmem.Errorf(robotmem.Forbidden, "", "the token was revoked; what came before is stored")

// end notes how a job ended.
func (q *Queue) end(j *job, result *admin.ImportResult, err error) {
	cancelled := j.ctx.Err() != nil
	j.cancel()
	q.mu.Lock()
	defer q.mu.Unlock()
	j.Result, j.EndedAt, j.State = result, time.Now().UTC(), admin.ImportDone

	switch {
	case err != nil && cancelled:
		j.State = admin.ImportCancelled
	case err != nil:
		j.State = admin.ImportFailed
		e := robotmem.Explain(err)
		j.Error = &admin.ImportError{Kind: string(e.Kind), Field: e.Field, Detail: e.Detail()}
		if e.Kind == robotmem.Internal {
			q.o.Log.Error("an import failed", "name", j.Name, "err", err)
			j.Error.Detail = "internal error; the node's log has the cause"
		}
	}

	// The oldest of those that have ended is forgotten first.
	count := 0

	for i := len(q.jobs) - 1; i >= 0; i-- {
		if !ended(&q.jobs[i].Import) {
			continue
		}
		if count++; count > maxEnded {
			q.jobs = slices.Delete(q.jobs, i, i+1)
		}
	}
}

func ended(i *admin.Import) bool { return !i.EndedAt.IsZero() }

// Imports returns the imports of this process, the newest first.
func (q *Queue) Imports(context.Context) (*admin.Imports, error) {
	q.mu.Lock()
	defer q.mu.Unlock()

	out := &admin.Imports{
		Imports: make([]admin.Import, 0, len(q.jobs)), LimitBytes: q.o.Limit, HeldBytes: q.held, ReadOnly: q.o.ReadOnly,
	}
	for _, j := range slices.Backward(q.jobs) {
		one := q.shown(j)
		one.Result = nil
		out.Imports = append(out.Imports, *one)
	}

	return out, nil
}

// Import returns one import.
func (q *Queue) Import(_ context.Context, id string) (*admin.Import, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	j, err := q.job(id)
	if err != nil {
		return nil, err
	}

	return q.shown(j), nil
}

// Cancel ends an import. What it has stored stays. One that has ended stays as it is.
func (q *Queue) Cancel(_ context.Context, id string) (*admin.Import, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	j, err := q.job(id)
	if err != nil {
		return nil, err
	}

	j.cancel()
	if j.State == admin.ImportQueued {
		j.State, j.EndedAt = admin.ImportCancelled, time.Now().UTC()
		// It may be large, and no caller waits for a disk while the queue is locked.
		q.tasks.Go(func() { q.removeFiles(j) })
	}

	return q.shown(j), nil
}

// job finds a job. The caller holds the lock.
func (q *Queue) job(id string) (*job, error) {
	for _, j := range q.jobs {
		if j.ID == id {
			return j, nil
		}
	}

	return nil, robotmem.Errorf(robotmem.NotFound, "import_id", "there is no such import; the node forgets them when it restarts, and the episodes tell what was imported")
}

// shown copies a job. The caller holds the lock.
func (q *Queue) shown(j *job) *admin.Import {
	out := j.Import
	if out.State == admin.ImportQueued {
		for _, o := range q.jobs {
			if o == j {
				break
			}
			if o.State == admin.ImportQueued || o.State == admin.ImportRunning {
				out.Ahead++
			}
		}
	}

	return &out
}
