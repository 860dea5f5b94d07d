package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"
	"sync"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/faultdisk"
	"github.com/robotmem/robotmem-go/robotmem/local"
)

// labour is a way to use a node.
type labour struct {
	name  string
	work  func(*worker, context.Context) error
	loose bool // several work at a time
}

var labours = []labour{
	{name: "facts", work: (*worker).facts},
	{name: "batches", work: (*worker).batches},
	{name: "changes", work: (*worker).changes},
	{name: "episodes", work: (*worker).episodes},
	{name: "payloads", work: (*worker).payloads},
	{name: "evictions", work: (*worker).evictions},
	{name: "checkpoints", work: (*worker).checkpoints},
	{name: "reopenings", work: (*worker).reopenings},
	{name: "together", work: (*worker).together, loose: true},
}

// worker uses a node and keeps what it was told.
type worker struct {
	disk   *faultdisk.Disk
	engine *local.Node
	rnd    *rand.Rand

	mu    sync.Mutex // guards what follows
	n     int
	known map[int64]memo
	steps []step
}

func (w *worker) open(ctx context.Context) (err error) {
	w.engine, err = local.Open(ctx, local.Options{Path: filepath.Join(w.disk.Root(), memoryName), Disk: w.disk})
	return err
}

// acknowledged takes down a call that has answered.
func (w *worker) acknowledged(parts ...map[int64]memo) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, part := range parts {
		for id, m := range part {
			w.known[id] = m
		}
	}
	w.steps = append(w.steps, parts)
	w.disk.Mark(len(w.steps))
}

// text is a sentence that no other is like: its number is content.
func (w *worker) text() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.n++
	return fmt.Sprintf("power%06d the arm held the %s at %d N", w.n, []string{"cup", "glass", "bottle", "crate"}[w.rnd.IntN(4)], w.n)
}

func (w *worker) noise(size int) []byte {
	w.mu.Lock()
	defer w.mu.Unlock()
	data := make([]byte, size)
	for i := range data {
		data[i] = byte(w.rnd.Uint32())
	}
	return data
}

func (w *worker) learn(ctx context.Context, session string) (int64, error) {
	text := w.text()
	res, err := w.engine.Learn(ctx, &robotmem.LearnRequest{Insight: text, SessionID: session, Context: robotmem.Object{"params": robotmem.Object{"force": float64(w.count())}}})
	if err != nil {
		return 0, err
	}
	w.acknowledged(map[int64]memo{res.MemoryID: {text: text, status: "active"}})
	return res.MemoryID, nil
}

func (w *worker) count() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.n
}

func (w *worker) save(ctx context.Context, data []byte, stream bool) (int64, error) {
	req := &robotmem.SavePerceptionRequest{Description: w.text(), MediaType: "application/octet-stream"}
	var res *robotmem.SavePerceptionResponse
	var err error
	if stream {
		res, err = w.engine.SavePerceptionFrom(ctx, req, io.MultiReader(bytes.NewReader(data)))
	} else {
		req.DataBase64 = data
		res, err = w.engine.SavePerception(ctx, req)
	}
	if err != nil {
		return 0, err
	}
	w.acknowledged(map[int64]memo{res.MemoryID: {req.Description, "active", sumOf(data)}})
	return res.MemoryID, nil
}

// observed takes down a call that changes what it will, and must have changed it
// at once.
func (w *worker) observed(ctx context.Context) error {
	now, err := listAll(ctx, w.engine)
	if err != nil {
		return err
	}
	changed := map[int64]memo{}
	for id, m := range now {
		if w.known[id] != m {
			changed[id] = m
		}
	}
	w.acknowledged(changed)
	return nil
}

func (w *worker) facts(ctx context.Context) error {
	for range 40 {
		if _, err := w.learn(ctx, ""); err != nil {
			return err
		}
	}
	return nil
}

// batches are longer than the engine stores at once.
func (w *worker) batches(ctx context.Context) error {
	const size, chunk = 620, 500
	for range 2 {
		req := &robotmem.LearnBatchRequest{}
		for range size {
			req.Items = append(req.Items, robotmem.LearnRequest{Insight: w.text()})
		}
		res, err := w.engine.LearnBatch(ctx, req)
		if err != nil {
			return err
		}
		var parts step
		for i, one := range res.Results {
			if one.Error != nil {
				return fmt.Errorf("item %d: %s", i, one.Error.Detail)
			}
			if i%chunk == 0 {
				parts = append(parts, map[int64]memo{})
			}
			parts[i/chunk][one.MemoryID] = memo{text: req.Items[i].Insight, status: "active"}
		}
		w.acknowledged(parts...)
	}
	return nil
}

func (w *worker) changes(ctx context.Context) error {
	for range 12 {
		id, err := w.learn(ctx, "")
		if err != nil {
			return err
		}
		text := w.text()
		if _, err := w.engine.Update(ctx, &robotmem.UpdateRequest{MemoryID: id, NewContent: text}); err != nil {
			return err
		}
		w.acknowledged(map[int64]memo{id: {text: text, status: "active"}})
		if _, err := w.engine.Forget(ctx, &robotmem.ForgetRequest{MemoryID: id, Reason: "to see it gone"}); err != nil {
			return err
		}
		w.acknowledged(map[int64]memo{id: {text: text, status: "invalidated"}})
		if w.rnd.IntN(2) == 0 {
			continue
		}
		if _, err := w.engine.Restore(ctx, &robotmem.RestoreRequest{MemoryID: id}); err != nil {
			return err
		}
		w.acknowledged(map[int64]memo{id: {text: text, status: "active"}})
	}
	return nil
}

// episodes say the same in many words, so that their ends have something to
// merge.
func (w *worker) episodes(ctx context.Context) error {
	for range 3 {
		s, err := w.engine.StartSession(ctx, &robotmem.StartSessionRequest{Collection: "arm"})
		if err != nil {
			return err
		}
		for _, place := range []string{"sink", "table", "shelf", "door", "belt", "bin"} {
			text := fmt.Sprintf("the wet glass slipped out of the soft gripper near the %s", place)
			res, err := w.engine.Learn(ctx, &robotmem.LearnRequest{Insight: text, SessionID: s.SessionID})
			if err != nil {
				return err
			}
			if res.Status == "created" {
				w.acknowledged(map[int64]memo{res.MemoryID: {text: text, status: "active"}})
			}
		}
		if _, err := w.learn(ctx, s.SessionID); err != nil {
			return err
		}
		if _, err := w.engine.EndSession(ctx, &robotmem.EndSessionRequest{SessionID: s.SessionID}); err != nil {
			return err
		}
		if err := w.observed(ctx); err != nil {
			return err
		}
	}
	return nil
}

// payloads are small ones in the file, large ones in the folder, as a request
// and as a stream, and the same bytes again.
func (w *worker) payloads(ctx context.Context) error {
	for range 4 {
		small, large := w.noise(2_000+w.rnd.IntN(60_000)), w.noise(270_000+w.rnd.IntN(300_000))
		for _, data := range [][]byte{small, large, large, bytes.Repeat([]byte("0.125,0.250\n"), 40_000+w.rnd.IntN(100))} {
			if _, err := w.save(ctx, data, w.rnd.IntN(2) == 0); err != nil {
				return err
			}
		}
	}
	return nil
}

func (w *worker) evictions(ctx context.Context) error {
	for range 3 {
		for range 4 {
			if _, err := w.save(ctx, w.noise(270_000+w.rnd.IntN(100_000)), false); err != nil {
				return err
			}
		}
		_, err := w.engine.Retain(ctx, &robotmem.RetainRequest{Budgets: []robotmem.Budget{{MaxBytes: 600_000}}, Apply: true})
		if err != nil {
			return err
		}
		if err := w.observed(ctx); err != nil {
			return err
		}
	}
	return nil
}

// checkpoints write more than the log is let grow to, and go on in a log that
// begins anew.
func (w *worker) checkpoints(ctx context.Context) error {
	for range 72 {
		if _, err := w.save(ctx, w.noise(240_000), false); err != nil {
			return err
		}
	}
	for range 6 {
		if _, err := w.learn(ctx, ""); err != nil {
			return err
		}
	}
	return nil
}

func (w *worker) reopenings(ctx context.Context) error {
	for i := range 4 {
		for range 5 {
			if _, err := w.learn(ctx, ""); err != nil {
				return err
			}
		}
		if i == 2 {
			if _, err := w.engine.Repair(ctx, &robotmem.RepairRequest{}); err != nil {
				return err
			}
		}
		if err := w.engine.Close(); err != nil {
			return err
		}
		if err := w.open(ctx); err != nil {
			return err
		}
	}
	return nil
}

// together has several callers share commits.
func (w *worker) together(ctx context.Context) error {
	var callers sync.WaitGroup
	failed := make(chan error, 4)
	for range cap(failed) {
		callers.Go(func() {
			for i := range 12 {
				var err error
				if i%6 == 5 {
					_, err = w.save(ctx, w.noise(280_000), true)
				} else {
					_, err = w.learn(ctx, "")
				}
				if err != nil {
					failed <- err
					return
				}
				time.Sleep(time.Millisecond)
			}
		})
	}
	callers.Wait()
	select {
	case err := <-failed:
		return err
	default:
		return nil
	}
}
