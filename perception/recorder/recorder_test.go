package recorder_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/robotmem/robotmem-go/perception"
	"github.com/robotmem/robotmem-go/perception/recorder"
)

// shelf is a sink that keeps everything in memory.
type shelf struct {
	// before is asked first, with the number of the call; its error refuses.
	before func(ctx context.Context, call int, b recorder.Batch) error

	mu     sync.Mutex
	calls  int
	items  []recorder.Recorded
	counts map[string]recorder.SourceCount // sums
}

func (s *shelf) Keep(ctx context.Context, b recorder.Batch) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls++
	if s.before != nil {
		if err := s.before(ctx, s.calls, b); err != nil {
			return err
		}
	}
	for _, it := range b.Items {
		it.Data = bytes.Clone(it.Data)
		s.items = append(s.items, it)
	}
	if s.counts == nil {
		s.counts = map[string]recorder.SourceCount{}
	}
	for _, c := range b.Counts {
		sum := s.counts[c.Source]
		s.counts[c.Source] = recorder.SourceCount{
			Source: c.Source, Received: sum.Received + c.Received, Stored: sum.Stored + c.Stored,
			Dropped: sum.Dropped + c.Dropped, Missed: sum.Missed + c.Missed, Bytes: sum.Bytes + c.Bytes,
		}
	}
	return nil
}

var begin = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func mustTrace(t testing.TB, r *recorder.Recorder, name string, o recorder.TraceOptions) *recorder.TraceSource {
	t.Helper()
	if o.Channels == nil {
		o.Channels = []string{"a", "b"}
	}
	s, err := r.Trace(name, o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func mustFrames(t testing.TB, r *recorder.Recorder, name string, o recorder.FrameOptions) *recorder.FrameSource {
	t.Helper()
	s, err := r.Frames(name, o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func mustClose(t testing.TB, r *recorder.Recorder) {
	t.Helper()
	if err := r.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// eights reads a chunk of 8-byte readings.
func eights(t testing.TB, data []byte) []float64 {
	t.Helper()
	out := make([]float64, len(data)/8)
	if _, err := binary.Decode(data, binary.LittleEndian, out); err != nil {
		t.Fatal(err)
	}
	return out
}

func TestRecorderTrace(t *testing.T) {
	sink := &shelf{}
	r := recorder.New(sink, recorder.Options{SessionID: "s", Collection: "c"})
	context := map[string]any{"arm": "left"}
	s := mustTrace(t, r, "wrist/force", recorder.TraceOptions{
		Channels: []string{"Fx", "Fy"}, Units: []string{"N", "N"}, RateHz: 1000, Kind: "force",
		Description: "force at the wrist", Context: context, Metadata: map[string]any{"sensor": 7, "dtype": "overridden"},
	})
	odd := math.Float64frombits(0x7ff0_0000_dead_beef) // a NaN that carries bits
	want := []float64{1, 0.1, math.Copysign(0, -1), odd, math.MaxFloat64, 3}
	for i := range 3 {
		// Sample 12 is never offered.
		seq := []uint64{10, 11, 13}[i]
		at := begin.Add(time.Duration(seq-10) * time.Millisecond)
		if !s.Push(seq, at, want[2*i:2*i+2]) {
			t.Fatalf("sample %d was dropped", i)
		}
	}
	mustClose(t, r)

	if len(sink.items) != 1 {
		t.Fatalf("got %d items, want 1", len(sink.items))
	}
	got := sink.items[0]
	gotValues, wantValues := eights(t, got.Data), want
	for i := range wantValues {
		if math.Float64bits(gotValues[i]) != math.Float64bits(wantValues[i]) {
			t.Errorf("value %d: got %v, want %v", i, gotValues[i], wantValues[i])
		}
	}
	got.Data = nil
	if diff := cmp.Diff(got, recorder.Recorded{
		Item: perception.Item{
			Type: "proprioceptive", MediaType: "application/x-samples",
			Metadata: map[string]any{
				"sensor": 7, "dtype": "<f8", "shape": []any{3, 2}, "channels": []string{"Fx", "Fy"}, "units": []string{"N", "N"},
				"kind": "force", "rate_hz": 1000.0, "source": "wrist/force", "first_seq": uint64(10), "last_seq": uint64(13),
				"start": "2026-03-01T12:00:00Z", "end": "2026-03-01T12:00:00.003Z",
				"times_s": []float64{0, 0.001, 0.003},
			},
		},
		Description: "force at the wrist", Source: "wrist/force", Context: context, ObservedAt: begin,
	}); diff != "" {
		t.Errorf("item (-got +want):\n%s", diff)
	}
	wantCount := recorder.SourceCount{Source: "wrist/force", Received: 3, Stored: 3, Missed: 1, Bytes: 48}
	if diff := cmp.Diff(r.Counts(), []recorder.SourceCount{wantCount}); diff != "" {
		t.Errorf("counts (-got +want):\n%s", diff)
	}
	if diff := cmp.Diff(sink.counts, map[string]recorder.SourceCount{"wrist/force": wantCount}); diff != "" {
		t.Errorf("counts of the sink (-got +want):\n%s", diff)
	}
}

func TestRecorderChunks(t *testing.T) {
	type sample struct {
		seq uint64
		ms  int64
	}
	steady := func(n int, from uint64, ms int64) (out []sample) {
		for i := range n {
			out = append(out, sample{from + uint64(i), ms + int64(i)})
		}
		return out
	}
	for _, test := range []struct {
		name    string
		chunk   time.Duration
		width   int
		samples []sample
		want    []int // samples of each chunk
		missed  uint64
	}{
		{"a second of sensor time", 0, 1, steady(2500, 0, 0), []int{1000, 1000, 500}, 0},
		{"a chunk of 10 ms", 10 * time.Millisecond, 1, steady(25, 0, 0), []int{10, 10, 5}, 0},
		{"64 KiB", time.Hour, 64, steady(200, 0, 0), []int{128, 72}, 0},
		{"a clock that jumps back", 0, 1, append(steady(5, 0, 1000), steady(5, 5, 0)...), []int{5, 5}, 0},
		{"a clock that jumps back a little", 0, 1, []sample{{0, 0}, {1, 1}, {2, 2}, {3, 1}, {4, 2}}, []int{3, 2}, 0},
		{"the end of the numbers", 0, 1, []sample{{math.MaxUint64, 0}, {0, 1}, {1, 2}}, []int{1, 2}, 0},
		{"a stamp twice", 0, 1, []sample{{0, 0}, {1, 0}, {2, 1}}, []int{3}, 0},
		{"a gap", 0, 1, append(steady(5, 0, 0), steady(5, 8, 8)...), []int{10}, 3},
		{"a driver that starts anew", 0, 1, append(steady(5, 90, 0), steady(5, 0, 5)...), []int{5, 5}, 0},
		{"a number twice", 0, 1, []sample{{7, 0}, {7, 1}, {8, 2}}, []int{1, 2}, 0},
		{"a jump beyond all sense", 0, 1, []sample{{0, 0}, {1 << 62, 1}, {1<<62 + 3, 2}}, []int{1, 2}, 2},
		{"a restart with a gap after it", 0, 1, []sample{{9, 0}, {3, 1}, {6, 2}}, []int{1, 2}, 2},
		{"the clock's whole range", 0, 1, []sample{{0, -9e12}, {1, 9e12}}, []int{1, 1}, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			sink := &shelf{}
			r := recorder.New(sink, recorder.Options{Chunk: test.chunk})
			s := mustTrace(t, r, "a", recorder.TraceOptions{Channels: make([]string, test.width), QueueBytes: 1 << 20})
			for _, at := range test.samples {
				if !s.Push(at.seq, time.UnixMilli(at.ms), make([]float64, test.width)) {
					t.Fatal("dropped")
				}
			}
			mustClose(t, r)
			var got []int
			for _, it := range sink.items {
				got = append(got, it.Metadata["shape"].([]any)[0].(int))
			}
			if diff := cmp.Diff(got, test.want); diff != "" {
				t.Errorf("samples of the chunks (-got +want):\n%s", diff)
			}
			if got := r.Counts()[0].Missed; got != test.missed {
				t.Errorf("got %d missed, want %d", got, test.missed)
			}
		})
	}
}

func TestRecorderTimes(t *testing.T) {
	for _, test := range []struct {
		name string
		rate float64
		n    int
		at   func(i int) time.Duration
		want map[string]any
	}{
		{"regular", 1000, 100, func(i int) time.Duration { return time.Duration(i) * time.Millisecond }, map[string]any{"rate_hz": 1000.0}},
		{"a little jitter", 1000, 100, func(i int) time.Duration {
			return time.Duration(i)*time.Millisecond + time.Duration(i%2)*90*time.Microsecond
		}, map[string]any{"rate_hz": 1000.0}},
		{"an unknown rate", 0, 101, func(i int) time.Duration { return time.Duration(i) * 5 * time.Millisecond }, map[string]any{"rate_hz": 200.0}},
		{"few and far between", 1000, 3, func(i int) time.Duration { return time.Duration(i*i) * time.Millisecond },
			map[string]any{"rate_hz": 1000.0, "times_s": []float64{0, 0.001, 0.004}}},
		{"much jitter", 1000, 100, func(i int) time.Duration {
			return time.Duration(i)*time.Millisecond + time.Duration(i%2)*250*time.Microsecond
		},
			map[string]any{"rate_hz": 1000.0, "gaps": "[]", "gaps_total": 0, "jitter_s": 0.00025}},
		{"a gap", 1000, 100, func(i int) time.Duration { return time.Duration(i+i/50*7) * time.Millisecond },
			map[string]any{"rate_hz": 1000.0, "gaps": "[{49 0.008}]", "gaps_total": 1, "jitter_s": 0.0}},
		{"one sample", 0, 1, func(int) time.Duration { return 0 }, map[string]any{}},
	} {
		t.Run(test.name, func(t *testing.T) {
			sink := &shelf{}
			r := recorder.New(sink, recorder.Options{})
			s := mustTrace(t, r, "a", recorder.TraceOptions{Channels: []string{"a"}, RateHz: test.rate})
			for i := range test.n {
				s.Push(uint64(i), begin.Add(test.at(i)), []float64{0})
			}
			mustClose(t, r)
			got := maps.Clone(sink.items[0].Metadata)
			maps.DeleteFunc(got, func(k string, _ any) bool {
				return k != "rate_hz" && k != "times_s" && !strings.HasPrefix(k, "gaps") && k != "jitter_s"
			})
			if g, ok := got["gaps"]; ok {
				got["gaps"] = fmt.Sprint(g)
			}
			if diff := cmp.Diff(got, test.want); diff != "" {
				t.Errorf("times (-got +want):\n%s", diff)
			}
		})
	}
}

func TestRecorderFrames(t *testing.T) {
	sink := &shelf{}
	r := recorder.New(sink, recorder.Options{QueueBytes: 4000})
	s := mustFrames(t, r, "camera", recorder.FrameOptions{MediaType: "image/jpeg", QueueBytes: 1000, Metadata: map[string]any{"lens": "wide"}})
	var want [][]byte
	offer := func(seq uint64, n int, kept bool) {
		t.Helper()
		data := bytes.Repeat([]byte{byte(seq)}, n)
		if got := s.Push(seq, begin.Add(time.Duration(seq)*time.Second/30), data); got != kept {
			t.Fatalf("frame %d: got %v, want %v", seq, got, kept)
		}
		if kept {
			want = append(want, data)
		}
		if err := r.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	offer(0, 500, true)
	offer(1, 0, true)
	offer(2, 977, false) // with its header one byte too many
	offer(5, 976, true)  // two missed, one dropped
	for seq := range uint64(20) {
		offer(6+seq, 700, true) // across the end of the ring
	}
	mustClose(t, r)

	var got [][]byte
	for _, it := range sink.items {
		got = append(got, it.Data)
	}
	if diff := cmp.Diff(got, want, cmp.Comparer(bytes.Equal)); diff != "" {
		t.Errorf("frames (-got +want):\n%s", diff)
	}
	if diff := cmp.Diff(sink.items[2].Metadata, map[string]any{"lens": "wide", "source": "camera", "seq": uint64(5)}); diff != "" {
		t.Errorf("metadata (-got +want):\n%s", diff)
	}
	if it := sink.items[2]; it.Type != "visual" || it.MediaType != "image/jpeg" || !it.ObservedAt.Equal(begin.Add(5*time.Second/30)) {
		t.Errorf("got %+v", it)
	}
	if diff := cmp.Diff(r.Counts()[0], recorder.SourceCount{Source: "camera", Received: 24, Stored: 23, Dropped: 1, Missed: 2, Bytes: 500 + 976 + 20*700}); diff != "" {
		t.Errorf("counts (-got +want):\n%s", diff)
	}
}

func TestRecorderSourcesThatDoNotFit(t *testing.T) {
	r := recorder.New(&shelf{}, recorder.Options{QueueBytes: 100_000})
	mustFrames(t, r, "taken", recorder.FrameOptions{})
	one := []string{"a"}
	for _, test := range []struct {
		name   string
		source string
		o      recorder.TraceOptions
		want   string
	}{
		{"no name", "", recorder.TraceOptions{Channels: one}, "1 to 256 bytes"},
		{"a long name", strings.Repeat("a", 257), recorder.TraceOptions{Channels: one}, "1 to 256 bytes"},
		{"a name of no text", "\xff", recorder.TraceOptions{Channels: one}, "UTF-8"},
		{"a name twice", "taken", recorder.TraceOptions{Channels: one, QueueBytes: 100}, `"taken" already`},
		{"no channel", "a", recorder.TraceOptions{}, "0 channels; 1 to 1024"},
		{"many channels", "a", recorder.TraceOptions{Channels: make([]string, 1025)}, "1025 channels"},
		{"few units", "a", recorder.TraceOptions{Channels: []string{"a", "b"}, Units: one}, "1 units for 2 channels"},
		{"a rate below 0", "a", recorder.TraceOptions{Channels: one, RateHz: -1}, "rate of -1 Hz"},
		{"a rate of NaN", "a", recorder.TraceOptions{Channels: one, RateHz: math.NaN()}, "rate of NaN Hz"},
		{"too large a queue", "a", recorder.TraceOptions{Channels: one, RateHz: 1e6}, "75000 of the recorder's 100000 are left"},
		{"too small a queue", "a", recorder.TraceOptions{Channels: one, QueueBytes: 31}, "no room for one sample"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if _, err := r.Trace(test.source, test.o); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
	mustClose(t, r)
	if _, err := r.Frames("late", recorder.FrameOptions{}); err == nil || !strings.Contains(err.Error(), "closed") {
		t.Errorf("after Close: got %v", err)
	}
}

func TestRecorderDropsAndCounts(t *testing.T) {
	sink := &shelf{}
	r := recorder.New(sink, recorder.Options{})
	s := mustTrace(t, r, "a", recorder.TraceOptions{QueueBytes: 10 * (24 + 16)})
	for name, got := range map[string]bool{
		"too few values":  s.Push(0, begin, []float64{1}),
		"too many values": s.Push(1, begin, []float64{1, 2, 3}),
		"the zero time":   s.Push(2, time.Time{}, []float64{1, 2}),
		"a far future":    s.Push(3, begin.AddDate(1000, 0, 0), []float64{1, 2}),
	} {
		if got {
			t.Errorf("%s: got kept, want dropped", name)
		}
	}
	mustClose(t, r)
	if diff := cmp.Diff(sink.counts["a"], recorder.SourceCount{Source: "a", Received: 4, Dropped: 4}); diff != "" {
		t.Errorf("counts of the sink (-got +want):\n%s", diff)
	}
	if s.Push(9, begin, []float64{1, 2}) {
		t.Error("after Close: got kept, want dropped")
	}
	if diff := cmp.Diff(r.Counts()[0], recorder.SourceCount{Source: "a", Received: 5, Dropped: 5}); diff != "" {
		t.Errorf("counts (-got +want):\n%s", diff)
	}
	if err := r.Flush(t.Context()); err != nil {
		t.Errorf("flush after Close: got %v", err)
	}
}

// A camera that floods its queue while the sink is stuck costs the trace
// nothing, and of the trace the oldest is kept.
func TestRecorderSlowSink(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sink := &shelf{before: func(ctx context.Context, _ int, _ recorder.Batch) error {
			time.Sleep(5 * time.Second)
			return nil
		}}
		r := recorder.New(sink, recorder.Options{QueueBytes: 2 << 20})
		camera := mustFrames(t, r, "camera", recorder.FrameOptions{QueueBytes: 1 << 20})
		wrench := mustTrace(t, r, "wrench", recorder.TraceOptions{RateHz: 1000})
		var lost uint64
		frame := make([]byte, 300<<10)
		for seq := range uint64(20_000) {
			if !wrench.Push(seq, time.Now(), []float64{float64(seq), 1}) {
				t.Fatalf("sample %d was dropped", seq)
			}
			if seq%33 == 0 && !camera.Push(seq/33, time.Now(), frame) {
				lost++
			}
			time.Sleep(time.Millisecond)
		}
		mustClose(t, r)
		counts := r.Counts()
		if lost == 0 || counts[0].Dropped != lost || counts[0].Received != counts[0].Stored+lost {
			t.Errorf("camera: got %+v, want %d dropped", counts[0], lost)
		}
		if counts[1].Stored != 20_000 {
			t.Errorf("wrench: got %+v, want 20000 stored", counts[1])
		}
	})
}

// A full queue drops the newest samples, and the counts say how many.
func TestRecorderFullQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sink := &shelf{before: func(context.Context, int, recorder.Batch) error {
			time.Sleep(time.Second)
			return nil
		}}
		r := recorder.New(sink, recorder.Options{Chunk: time.Hour})
		s := mustTrace(t, r, "a", recorder.TraceOptions{Channels: []string{"a"}, QueueBytes: 100 * 32})
		mustFrames(t, r, "b", recorder.FrameOptions{}).Push(0, begin, nil)
		time.Sleep(300 * time.Millisecond) // the sink is at the frame
		push := func(seq uint64) bool { return s.Push(seq, begin.Add(time.Duration(seq)), []float64{float64(seq)}) }
		for seq := range uint64(110) {
			if got := push(seq); got != (seq < 100) {
				t.Fatalf("sample %d: got %v", seq, got)
			}
		}
		time.Sleep(2 * time.Second) // now the queue is empty
		push(115)                   // 110 to 114 are never offered
		mustClose(t, r)
		m, c := sink.items[1].Metadata, r.Counts()[0]
		if len(sink.items) != 2 || c.Dropped != 10 || c.Missed != 5 || m["first_seq"] != uint64(0) || m["last_seq"] != uint64(115) {
			t.Errorf("got %d items, %v, %+v", len(sink.items), m, c)
		}
	})
}

func TestRecorderFailingSink(t *testing.T) {
	down := errors.New("the disk is away")
	t.Run("comes back", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			sink := &shelf{before: func(_ context.Context, call int, _ recorder.Batch) error {
				if call <= 5 {
					return down
				}
				return nil
			}}
			r := recorder.New(sink, recorder.Options{})
			s := mustTrace(t, r, "a", recorder.TraceOptions{})
			s.Push(0, begin, []float64{1, 2})
			if err := r.Flush(t.Context()); err != nil {
				t.Fatal(err)
			}
			if len(sink.items) != 1 || sink.calls != 6 || r.Counts()[0].Stored != 1 {
				t.Errorf("got %d items in %d calls, %+v", len(sink.items), sink.calls, r.Counts()[0])
			}
			mustClose(t, r)
		})
	})
	t.Run("comes back as the recorder closes", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			begun := time.Now()
			sink := &shelf{before: func(context.Context, int, recorder.Batch) error {
				if time.Since(begun) < 20*time.Second {
					return down
				}
				return nil
			}}
			r := recorder.New(sink, recorder.Options{})
			s := mustFrames(t, r, "a", recorder.FrameOptions{})
			s.Push(0, begin, []byte("frame"))
			time.Sleep(20*time.Second + time.Millisecond) // tries are a second apart by now
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
			defer cancel()
			if err := r.Close(ctx); err != nil || len(sink.items) != 1 {
				t.Errorf("got %v, %d items", err, len(sink.items))
			}
		})
	})
	t.Run("stays away", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			sink := &shelf{before: func(context.Context, int, recorder.Batch) error { return down }}
			r := recorder.New(sink, recorder.Options{})
			s := mustTrace(t, r, "a", recorder.TraceOptions{})
			for seq := range uint64(2000) {
				s.Push(seq, begin.Add(time.Duration(seq)*time.Millisecond), []float64{1, 2})
			}
			ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
			defer cancel()
			if err := r.Flush(ctx); !errors.Is(err, down) || !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("flush: got %v", err)
			}
			if got := r.Counts()[0].Dropped; got != 0 {
				t.Errorf("after the flush: got %d dropped, want none", got)
			}
			ctx, cancel = context.WithTimeout(t.Context(), 3*time.Second)
			defer cancel()
			begun := time.Now()
			err := r.Close(ctx)
			if !errors.Is(err, down) || !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "dropped 2000 samples") {
				t.Errorf("close: got %v", err)
			}
			if took := time.Since(begun); took != 3*time.Second {
				t.Errorf("close took %v, want 3s", took)
			}
			if again := r.Close(t.Context()); again != err {
				t.Errorf("second close: got %v, want the same", again)
			}
			if diff := cmp.Diff(r.Counts()[0], recorder.SourceCount{Source: "a", Received: 2000, Dropped: 2000}); diff != "" {
				t.Errorf("counts (-got +want):\n%s", diff)
			}
		})
	})
	t.Run("refuses one", func(t *testing.T) {
		sink := &shelf{before: func(_ context.Context, _ int, b recorder.Batch) error {
			for _, it := range b.Items {
				if len(it.Data) > 10 {
					return fmt.Errorf("too large: %w", recorder.ErrRefused)
				}
			}
			return nil
		}}
		r := recorder.New(sink, recorder.Options{})
		s := mustFrames(t, r, "camera", recorder.FrameOptions{})
		for seq, n := range []int{5, 11, 6} {
			s.Push(uint64(seq), begin, make([]byte, n))
		}
		mustClose(t, r)
		want := recorder.SourceCount{Source: "camera", Received: 3, Stored: 2, Dropped: 1, Bytes: 11}
		if diff := cmp.Diff(r.Counts()[0], want); diff != "" {
			t.Errorf("counts (-got +want):\n%s", diff)
		}
		if len(sink.items) != 2 || len(sink.items[0].Data) != 5 || len(sink.items[1].Data) != 6 {
			t.Errorf("got %d items", len(sink.items))
		}
		if got := sink.counts["camera"]; got.Stored != 2 || got.Received != 3 {
			t.Errorf("counts of the sink: got %+v", got)
		}
	})
}

// A chunk of a sensor that fell silent does not wait for its next sample.
func TestRecorderSilence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sink := &shelf{}
		r := recorder.New(sink, recorder.Options{})
		s := mustTrace(t, r, "a", recorder.TraceOptions{})
		s.Push(0, begin, []float64{1, 2})
		time.Sleep(900 * time.Millisecond)
		synctest.Wait()
		if got := r.Counts()[0].Stored; got != 0 {
			t.Errorf("after 0.9 s: got %d stored, want 0", got)
		}
		time.Sleep(600 * time.Millisecond)
		synctest.Wait()
		if got := r.Counts()[0].Stored; got != 1 {
			t.Errorf("after 1.5 s: got %d stored, want 1", got)
		}
		mustClose(t, r)
	})
}

// A queue that fills does not wait for the next batch.
func TestRecorderHalfFull(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := recorder.New(&shelf{}, recorder.Options{BatchEvery: time.Hour})
		s := mustFrames(t, r, "a", recorder.FrameOptions{QueueBytes: 1000})
		for seq, want := range []uint64{0, 2, 2, 4} {
			s.Push(uint64(seq), begin, make([]byte, 300))
			synctest.Wait()
			if got := r.Counts()[0].Stored; got != want {
				t.Errorf("after frame %d: got %d stored, want %d", seq, got, want)
			}
		}
		mustClose(t, r)
	})
}
