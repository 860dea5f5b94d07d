package recorder

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"
)

// worker is the goroutine that empties the queues into the sink. While the sink fails,
// the same items are offered again and again, and the queues fill.
type worker struct {
	*Recorder
	items []Recorded
	from  []origin // of items
	data  []byte   // the bytes of items; reused by the next batch
	lost  uint64   // samples and frames dropped since Close gave up
	// failing means that the failure of the sink has been logged.
	failing bool
}

type origin struct {
	source *source
	n      uint64 // samples, or one frame
}

const (
	// maxBatch is the bytes of a batch, which the sources share evenly.
	maxBatch = 8 << 20
	// maxItems bounds what small frames cost besides their bytes.
	maxItems = 1024
	// firstWait and lastWait are the pauses between two tries of a failing sink; each is
	// twice the one before.
	firstWait = 50 * time.Millisecond
	lastWait  = time.Second
)

func (w *worker) run(ctx context.Context) {
	defer close(w.done)
	defer w.cancel(nil)
	tick := time.NewTicker(w.o.BatchEvery)
	defer tick.Stop()

	for {
		select {
		case <-tick.C:
			w.drain(ctx, false)
		case <-w.wake:
			w.drain(ctx, false)
		case flushed := <-w.flushes:
			w.drain(ctx, true)
			close(flushed)
		case <-w.closing:
			w.drain(ctx, true)
			if w.lost > 0 {
				w.err = w.timeout(fmt.Sprintf("the recorder dropped %d samples and frames as it closed", w.lost),
					context.Cause(ctx))
			}
			return
		}
	}
}

// drain sends what is in the queues now to the sink, in batches. With everything set, it also ends
// the chunks that may still grow and sends all counts.
func (w *worker) drain(ctx context.Context, everything bool) {
	sources := w.all()

	// The ends are fixed first, or a fast source would keep this pass from ending.
	ends := make([]uint64, len(sources))
	for i, s := range sources {
		ends[i] = s.queue.head.Load()
	}

	for more := true; more; {
		more = false

		for i, s := range sources {
			if !w.gather(s, ends[i], len(sources)) {
				more = true
			} else if s.chunk != nil && s.chunk.len() > 0 && (everything || time.Since(s.chunk.touched) >= w.o.Chunk) {
				w.endChunk(s)
			}
		}
		if len(w.items) > 0 {
			w.offer(ctx)
		}
		clear(w.items)
		w.items, w.from, w.data = w.items[:0], w.from[:0], w.data[:0]
	}

	changed := func(s *source) bool { return s.counts.read(s.name) != s.reported }
	// The counts include what was dropped just now.
	if everything && slices.ContainsFunc(w.all(), changed) {
		w.offer(ctx)
	}
}

// gather takes records of a source up to end, or a little more than its share of a batch.
// It reports whether it came to the end.
func (w *worker) gather(s *source, end uint64, shares int) bool {
	now := time.Now()

	// Each source has a share, so that a camera does not delay the force sensor behind it.
	bytes, items := len(w.data)+maxBatch/shares, len(w.items)+max(1, maxItems/shares)
	for len(w.data) < bytes && len(w.items) < items {
		h, ok := s.queue.next(end)
		if !ok {
			return true
		}
		if s.chunk == nil {
			begin := len(w.data)
			w.data = s.queue.take(w.data, h)
			metadata := maps.Clone(s.item.Metadata)
			metadata["seq"] = h.seq
			w.append(s, s.recorded(h.at, w.data[begin:len(w.data):len(w.data)], metadata), 1)
			continue
		}
		if !s.chunk.fits(h) {
			w.endChunk(s)
		}
		s.chunk.add(&s.queue, h, now)
	}

	return s.queue.tail.Load() == end
}

// endChunk makes an item of the chunk of a source.
func (w *worker) endChunk(s *source) {
	c := s.chunk
	begin := len(w.data)
	w.data = append(w.data, c.data...)
	w.append(s, s.recorded(c.stamps[0], w.data[begin:len(w.data):len(w.data)], c.describe(s.item.Metadata)),
		uint64(c.len()))
	c.reset()
}

func (w *worker) append(s *source, it Recorded, n uint64) {
	w.items, w.from = append(w.items, it), append(w.from, origin{s, n})
}

// offer has the sink store the batch, and drops what cannot be stored.
func (w *worker) offer(ctx context.Context) {
	err := w.keep(ctx, w.items, w.from)
	if err == nil {
		return
	}

	for i := range w.items {
		err := err
		// One bad item refuses the whole batch. Alone, the others can be stored.
		if len(w.items) > 1 && errors.Is(err, ErrRefused) {
			err = w.keep(ctx, w.items[i:i+1], w.from[i:i+1])
		}
		if err == nil {
			continue
		}
		s, n := w.from[i].source, w.from[i].n
		s.counts.dropped.Add(n)
		if errors.Is(err, ErrRefused) {
			w.o.Log.Warn("dropped what the sink refused", "source", s.name, "samples", n, "error", err)
		} else {
			w.lost += n
		}
	}
}

// keep offers items until they are stored or refused, or ctx ends.
func (w *worker) keep(ctx context.Context, items []Recorded, from []origin) error {
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
			// The sink's earlier error says more than this one.
			return ctx.Err()
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
		case <-hurry: // Close allows little time
			hurry, wait = nil, firstWait
		}
	}
}

// keepOnce offers items with the counts as they are now.
func (w *worker) keepOnce(ctx context.Context, items []Recorded, from []origin) error {
	sources := w.all()
	b := Batch{SessionID: w.o.SessionID, Collection: w.o.Collection, Items: items}

	now := make([]SourceCount, len(sources))
	for i, s := range sources {
		// Read anew for each try: samples go on being dropped while the sink fails.
		now[i] = s.counts.read(s.name)
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
		s.counts.stored.Store(now[i].Stored)
		s.counts.bytes.Store(now[i].Bytes)
		s.reported = now[i]
	}

	return nil
}

func (c SourceCount) since(o SourceCount) SourceCount {
	return SourceCount{
		c.Source, c.Received - o.Received, c.Stored - o.Stored, c.Dropped - o.Dropped, c.Missed - o.Missed,
		c.Bytes - o.Bytes,
	}
}
