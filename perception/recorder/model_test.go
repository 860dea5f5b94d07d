package recorder_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/robotmem/robotmem-go/perception/recorder"
)

// told is what a model knows of one source: what Push said of each offer.
type told struct {
	offered, missed uint64
	kept            [][]byte // in order, those that Push said true of
	done            chan struct{}
}

// TestRecorderModel runs sources with random sizes, pauses, gaps and restarts
// against sinks that are slow, fail, refuse and hang, with flushes between, and
// compares the account with what the callers were told.
func TestRecorderModel(t *testing.T) {
	seeds := uint64(300)
	if testing.Short() {
		seeds = 60
	}
	for seed := range seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { runModel(t, rand.New(rand.NewPCG(seed, 1))) })
		})
	}
}

func runModel(t *testing.T, rnd *rand.Rand) {
	sink := &shelf{before: moods(rand.New(rand.NewPCG(rnd.Uint64(), 2)))}
	r := recorder.New(sink, recorder.Options{
		Chunk: time.Duration(1+rnd.IntN(300)) * time.Millisecond, BatchEvery: time.Duration(1+rnd.IntN(300)) * time.Millisecond,
	})
	models := map[string]*told{}
	widths := map[string]int{}
	for i := range 1 + rnd.IntN(4) {
		name, m := fmt.Sprint("source ", i), &told{done: make(chan struct{})}
		models[name] = m
		var push func(rnd *rand.Rand, seq uint64) (bool, []byte)
		if rnd.IntN(2) == 0 {
			width := 1 + rnd.IntN(8)
			widths[name] = width
			push = samples(mustTrace(t, r, name, recorder.TraceOptions{Channels: make([]string, width), QueueBytes: 100 + rnd.IntN(9000)}), width)
		} else {
			push = frames(mustFrames(t, r, name, recorder.FrameOptions{QueueBytes: 100 + rnd.IntN(9000)}))
		}
		go m.run(rand.New(rand.NewPCG(rnd.Uint64(), 3)), push)
	}
	for range rnd.IntN(4) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Duration(rnd.IntN(2000))*time.Millisecond)
		if err := r.Flush(ctx); err != nil && !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("flush: got %v", err)
		}
		cancel()
	}
	finished := rnd.IntN(2) == 0
	if finished { // else they push on while it closes
		for _, m := range models {
			<-m.done
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Duration(rnd.IntN(20_000))*time.Millisecond)
	defer cancel()
	if err := r.Close(ctx); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("close: got %v", err)
	}
	for _, m := range models {
		<-m.done
	}

	stored := map[string][][]byte{}
	for _, it := range sink.items {
		size := len(it.Data)
		if width := widths[it.Source]; width > 0 {
			size = 8 * width
		}
		stored[it.Source] = append(stored[it.Source], pieces(it.Data, size)...)
	}
	for _, c := range r.Counts() {
		m := models[c.Source]
		if c.Received != m.offered || c.Received != c.Stored+c.Dropped {
			t.Errorf("got %+v, want %d received, all stored or dropped", c, m.offered)
		}
		if finished && c.Missed != m.missed {
			t.Errorf("got %+v, want %d missed", c, m.missed)
		}
		got := stored[c.Source]
		if uint64(len(got)) != c.Stored {
			t.Errorf("the sink has %d of %s, want %d", len(got), c.Source, c.Stored)
		}
		// What the sink refused, or Close gave up, Push took and is lacking; when
		// none is, within means equal.
		lacking := len(m.kept) - len(got)
		if lost := int(c.Dropped) - int(m.offered) + len(m.kept); lacking != lost {
			t.Errorf("%s lacks %d that Push took, want %d", c.Source, lacking, lost)
		}
		if !within(got, m.kept) {
			t.Errorf("%s holds what was not pushed, or in another order", c.Source)
		}
		sum := sink.counts[c.Source]
		if sum.Stored != c.Stored || sum.Bytes != c.Bytes || sum.Received > c.Received || sum.Dropped > c.Dropped {
			t.Errorf("the sink was told %+v, want %+v", sum, c)
		}
	}
}

// moods is a sink that changes its mind every few calls.
func moods(rnd *rand.Rand) func(context.Context, int, recorder.Batch) error {
	mood, left := 0, 0
	return func(ctx context.Context, _ int, b recorder.Batch) error {
		if left--; left < 0 {
			mood, left = rnd.IntN(6), rnd.IntN(8)
		}
		switch mood {
		case 0:
			return errors.New("not now")
		case 1:
			select {
			case <-time.After(time.Duration(rnd.IntN(3000)) * time.Millisecond):
			case <-ctx.Done():
				return ctx.Err()
			}
		case 2:
			for _, it := range b.Items {
				if len(it.Data)%3 == 0 {
					return fmt.Errorf("of this size: %w", recorder.ErrRefused)
				}
			}
		}
		return nil
	}
}

func (m *told) run(rnd *rand.Rand, push func(*rand.Rand, uint64) (bool, []byte)) {
	defer close(m.done)
	seq := rnd.Uint64N(1000)
	for range rnd.IntN(600) {
		switch rnd.IntN(30) {
		case 0:
			gap := 1 + rnd.Uint64N(5)
			if m.offered > 0 {
				m.missed += gap
			}
			seq += gap
		case 1:
			if m.offered > 0 {
				seq -= min(seq, 1+rnd.Uint64N(9))
			}
		}
		ok, data := push(rnd, seq)
		m.offered++
		if ok {
			m.kept = append(m.kept, data)
		}
		seq++
		if rnd.IntN(4) == 0 {
			time.Sleep(time.Duration(rnd.IntN(20)) * time.Millisecond)
		}
	}
}

func samples(s *recorder.TraceSource, width int) func(*rand.Rand, uint64) (bool, []byte) {
	eight := make([]float64, width)
	return func(rnd *rand.Rand, seq uint64) (bool, []byte) {
		var data []byte
		for c := range eight {
			eight[c] = math.Float64frombits(rnd.Uint64())
			data = binary.LittleEndian.AppendUint64(data, math.Float64bits(eight[c]))
		}
		at := time.Now()
		if rnd.IntN(100) == 0 {
			at = at.Add(-time.Second)
		}
		return s.Push(seq, at, eight), data
	}
}

func frames(s *recorder.FrameSource) func(*rand.Rand, uint64) (bool, []byte) {
	return func(rnd *rand.Rand, seq uint64) (bool, []byte) {
		data := bytes.Repeat(binary.LittleEndian.AppendUint64(nil, rnd.Uint64()), 190)[:rnd.IntN(1500)]
		ok := s.Push(seq, time.Now(), data)
		return ok, append([]byte{}, data...)
	}
}

// pieces divides data into pieces of size bytes; an empty frame is one piece.
func pieces(data []byte, size int) [][]byte {
	if len(data) == 0 {
		return [][]byte{{}}
	}
	var out [][]byte
	for ; len(data) > 0; data = data[size:] {
		out = append(out, data[:size])
	}
	return out
}

// within reports whether all of part occur in whole, in the same order.
func within(part, whole [][]byte) bool {
	for _, w := range whole {
		if len(part) > 0 && bytes.Equal(part[0], w) {
			part = part[1:]
		}
	}
	return len(part) == 0
}
