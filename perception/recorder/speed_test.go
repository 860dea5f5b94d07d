package recorder_test

import (
	"context"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/robotmem/robotmem-go/perception/recorder"
)

// lazy is a sink that takes its time and keeps nothing.
type lazy time.Duration

func (s lazy) Keep(context.Context, recorder.Batch) error {
	time.Sleep(time.Duration(s))
	return nil
}

func sixAxes(t testing.TB, r *recorder.Recorder) *recorder.TraceSource {
	t.Helper()
	return mustTrace(t, r, "wrist/wrench", recorder.TraceOptions{Channels: []string{"Fx", "Fy", "Fz", "Tx", "Ty", "Tz"}, RateHz: 1000, Kind: "wrench"})
}

func TestRecorderPushAllocatesNothing(t *testing.T) {
	r := recorder.New(lazy(0), recorder.Options{BatchEvery: time.Hour})
	trace, camera := sixAxes(t, r), mustFrames(t, r, "camera", recorder.FrameOptions{})
	eight, frame := make([]float64, 6), make([]byte, 1000)
	var seq uint64
	// The queues do not come to half full, where the worker would wake.
	got := testing.AllocsPerRun(1000, func() {
		trace.Push(seq, begin, eight)
		camera.Push(seq, begin, frame)
		seq++
	})
	if got != 0 {
		t.Errorf("got %v allocations, want 0", got)
	}
	mustClose(t, r)
}

// BenchmarkPush is of what finds room; a full queue is flushed off the clock.
func BenchmarkPush(b *testing.B) {
	b.Run("trace of 6", func(b *testing.B) {
		r := recorder.New(lazy(0), recorder.Options{})
		s := mustTrace(b, r, "a", recorder.TraceOptions{Channels: make([]string, 6), QueueBytes: 16 << 20})
		values := make([]float64, 6)
		benchmarkPush(b, r, func(seq uint64) bool {
			return s.Push(seq, begin.Add(time.Duration(seq)*time.Millisecond), values)
		})
	})
	b.Run("frame of 100 kB", func(b *testing.B) {
		r := recorder.New(lazy(0), recorder.Options{})
		s := mustFrames(b, r, "a", recorder.FrameOptions{QueueBytes: 16 << 20})
		frame := make([]byte, 100_000)
		b.SetBytes(int64(len(frame)))
		benchmarkPush(b, r, func(seq uint64) bool { return s.Push(seq, begin, frame) })
	})
}

func benchmarkPush(b *testing.B, r *recorder.Recorder, push func(seq uint64) bool) {
	for seq := uint64(0); b.Loop(); seq++ {
		if push(seq) {
			continue
		}
		b.StopTimer()
		if err := r.Flush(b.Context()); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
	}
	if err := r.Close(context.Background()); err != nil {
		b.Fatal(err)
	}
}

// TestRecorderSoak runs a control loop of 1 kHz and a camera of 30 fps for 3 s
// beside two goroutines that make garbage, into a sink that takes 5 ms a batch.
// How long Push takes is logged; examples/recorder measures it in front of a real node.
func TestRecorderSoak(t *testing.T) {
	if testing.Short() {
		t.Skip("takes 1.5 s")
	}
	r := recorder.New(lazy(5*time.Millisecond), recorder.Options{})
	wrench, camera := sixAxes(t, r), mustFrames(t, r, "camera", recorder.FrameOptions{})
	stop := make(chan struct{})
	var busy sync.WaitGroup
	for range 2 {
		busy.Go(func() { litter(stop) })
	}
	busy.Go(func() {
		tick := time.NewTicker(time.Second / 30)
		defer tick.Stop()
		frame := make([]byte, 100_000)
		for seq := uint64(0); ; seq++ {
			select {
			case at := <-tick.C:
				camera.Push(seq, at, frame)
			case <-stop:
				return
			}
		}
	})
	const n = 1_500
	took := make([]time.Duration, n)
	values := make([]float64, 6)
	due := time.Now()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for i := range took {
		due = due.Add(time.Millisecond)
		time.Sleep(time.Until(due))
		begun := time.Now()
		wrench.Push(uint64(i), begun, values)
		took[i] = time.Since(begun)
	}
	runtime.ReadMemStats(&after)
	close(stop)
	busy.Wait()
	mustClose(t, r)

	slices.Sort(took)
	at := func(per10000 int) time.Duration { return took[n*per10000/10_000] }
	t.Logf("enqueue p50 %v, p99 %v, p99.9 %v, max %v; %d collections meanwhile", at(5000), at(9900), at(9990), took[n-1], after.NumGC-before.NumGC)
	for _, c := range r.Counts() {
		t.Logf("%+v", c)
		if c.Dropped != 0 || c.Received != c.Stored {
			t.Errorf("%s: got %+v, want all stored", c.Source, c)
		}
	}
}

// litter keeps a core and the garbage collector busy.
func litter(stop <-chan struct{}) {
	var keep [256][]*[64]byte
	for i := 0; ; i++ {
		select {
		case <-stop:
			return
		default:
		}
		some := make([]*[64]byte, 256)
		for j := range some {
			some[j] = new([64]byte)
		}
		keep[i%len(keep)] = some
	}
}
