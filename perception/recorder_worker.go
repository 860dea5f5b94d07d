package perception

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// recordWorker is the goroutine that empties the queues into the sink. While the sink
// fails, what has been taken out is offered again and again, and the queues fill.
type recordWorker struct {
	*Recorder
	items []Recorded
	from  []origin // of items
	data  []byte   // the bytes of items; begun anew with each batch
	lost  uint64   // samples and frames dropped since Close gave up
	// failing says that the log knows of the sink's failure.
	failing bool
}

// origin is where an item came from.
type origin struct {
	source *recordSource
	n      uint64 // samples, or one frame
}

const (
	// maxBatch is the bytes of a batch, shared by the sources evenly.
	maxBatch = 8 << 20
	// maxItems bounds what small frames cost beside their bytes.
	maxItems = 1024
	// firstWait and lastWait are between two tries of a failing sink, doubling.
	firstWait = 50 * time.Millisecond
	lastWait  = time.Second
)

func (w *recordWorker) run(ctx context.Context) {
	defer close(w.done)
	defer w.cancel(nil)
	tick := time.NewTicker(w.o.BatchEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			w.drain(ctx, onlyWhole)
		case <-w.wake:
			w.drain(ctx, onlyWhole)
		case flushed := <-w.flushes:
			w.drain(ctx, everything)
			close(flushed)
		case <-w.closing:
			w.drain(ctx, everything)
			if w.lost > 0 {
				w.err = w.late(fmt.Sprintf("the recorder dropped %d samples and frames as it closed", w.lost), context.Cause(ctx))
			}
			return
		}
	}
}

// extent is how far a drain goes.
type extent int

const (
	onlyWhole  extent = iota // leaves chunks open that may still grow
	everything               // ends them, and tells the sink of all counts
)

// drain takes what is in the queues now into one batch after another.
func (w *recordWorker) drain(ctx context.Context, x extent) {
	w.woken.Store(false)
	sources := w.all()
	ends := make([]uint64, len(sources))
	for i, s := range sources {
		ends[i] = s.queue.head.Load()
	}
	for more := true; more; {
		more = false
		for i, s := range sources {
			if !w.gather(s, ends[i], len(sources)) {
				more = true
			} else if s.chunk != nil && s.chunk.len() > 0 && (x == everything || time.Since(s.chunk.touched) >= w.o.Chunk) {
				w.seal(s)
			}
		}
		if len(w.items) > 0 {
			w.offer(ctx)
		}
		clear(w.items)
		w.items, w.from, w.data = w.items[:0], w.from[:0], w.data[:0]
	}
	if x == everything && w.changed() { // what was dropped just now too
		w.offer(ctx)
	}
}

// gather takes records of a source up to end, or a little above its share of a
// batch, one of so many. It reports whether it came to the end.
func (w *recordWorker) gather(s *recordSource, end uint64, shares int) bool {
	now := time.Now()
	bytes, items := len(w.data)+maxBatch/shares, len(w.items)+max(1, maxItems/shares)
	for len(w.data) < bytes && len(w.items) < items {
		h, ok := s.queue.next(end)
		if !ok {
			return true
		}
		if s.chunk == nil {
			begin := len(w.data)
			w.data = s.queue.take(w.data, h)
			w.append(s, s.frame(h, w.data[begin:len(w.data):len(w.data)]), 1)
			continue
		}
		if !s.chunk.fits(h) {
			w.seal(s)
		}
		s.chunk.add(&s.queue, h, now)
	}
	return s.queue.tail.Load() == end
}

// seal makes an item of the chunk of a source.
func (w *recordWorker) seal(s *recordSource) {
	c := s.chunk
	begin := len(w.data)
	w.data = append(w.data, c.data...)
	w.append(s, s.recorded(c.stamps[0], w.data[begin:len(w.data):len(w.data)], c.describe(s.about.metadata)), uint64(c.len()))
	c.reset()
}

func (w *recordWorker) append(s *recordSource, it Recorded, n uint64) {
	w.items, w.from = append(w.items, it), append(w.from, origin{s, n})
}

// changed reports whether the sink does not know some count.
func (w *recordWorker) changed() bool {
	for _, s := range w.all() {
		if s.total.read(s.name) != s.reported {
			return true
		}
	}
	return false
}

// offer has the batch kept, or drops what cannot be.
func (w *recordWorker) offer(ctx context.Context) {
	err := w.keep(ctx, w.items, w.from)
	switch {
	case err == nil:
		return
	case !errors.Is(err, ErrRefused):
		w.drop(w.from)
		for _, o := range w.from {
			w.lost += o.n
		}
		return
	}
	for i := range w.items {
		err := err
		if len(w.items) > 1 {
			err = w.keep(ctx, w.items[i:i+1], w.from[i:i+1])
		}
		if err == nil {
			continue
		}
		w.drop(w.from[i : i+1])
		if !errors.Is(err, ErrRefused) {
			w.lost += w.from[i].n
			continue
		}
		w.o.Log.Warn("dropped what the sink refused", "source", w.items[i].Source, "samples", w.from[i].n, "error", err)
	}
}

func (w *recordWorker) drop(from []origin) {
	for _, o := range from {
		o.source.total.dropped.Add(o.n)
	}
}

// keep offers items until they are kept, refused, or ctx ends.
func (w *recordWorker) keep(ctx context.Context, items []Recorded, from []origin) error {
	hurry := w.closing
	for wait := firstWait; ; wait = min(2*wait, lastWait) {
		err := ctx.Err()
		if err == nil {
			if err = w.keepOnce(ctx, items, from); err == nil {
				w.failing = false
				w.lastErr.Store(nil)
				return nil
			}
		}
		if ctx.Err() != nil {
			return ctx.Err() // what the sink said before is more use than this
		}
		w.lastErr.Store(&err)
		if errors.Is(err, ErrRefused) {
			return err
		}
		if !w.failing {
			w.failing = true
			w.o.Log.Warn("the sink fails; recording goes on while the queues have room", "error", err)
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
		case <-hurry: // whoever closes gives little time
			hurry, wait = nil, firstWait
		}
	}
}

// keepOnce offers items with the counts as they stand.
func (w *recordWorker) keepOnce(ctx context.Context, items []Recorded, from []origin) error {
	sources := w.all()
	b := Batch{SessionID: w.o.SessionID, Collection: w.o.Collection, Items: items}
	now := make([]SourceCount, len(sources))
	for i, s := range sources {
		now[i] = s.total.read(s.name)
		for j, o := range from {
			if o.source == s {
				now[i].Stored += o.n
				now[i].Bytes += uint64(len(items[j].Data))
			}
		}
		if now[i] != s.reported {
			b.Counts = append(b.Counts, now[i].since(s.reported))
		}
	}
	if err := w.sink.Keep(ctx, b); err != nil {
		return err
	}
	for i, s := range sources {
		s.total.stored.Store(now[i].Stored)
		s.total.bytes.Store(now[i].Bytes)
		s.reported = now[i]
	}
	return nil
}

func (c SourceCount) since(o SourceCount) SourceCount {
	return SourceCount{c.Source, c.Received - o.Received, c.Stored - o.Stored, c.Dropped - o.Dropped, c.Missed - o.Missed, c.Bytes - o.Bytes}
}
