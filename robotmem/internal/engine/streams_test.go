package engine

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/robotmem/robotmem-go/perception"
	"github.com/robotmem/robotmem-go/perception/recorder"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/admin"
)

var streamStart = time.Date(2026, 3, 1, 14, 5, 0, 0, time.UTC)

func startSession(t *testing.T, e *Engine, collection string) string {
	t.Helper()
	s, err := e.StartSession(t.Context(), &robotmem.StartSessionRequest{Collection: collection})
	if err != nil {
		t.Fatal(err)
	}
	return s.SessionID
}

// sourceMemories returns the perceptions of a source in a session, in time order.
func sourceMemories(t *testing.T, e *Engine, session, source string) (out []robotmem.Memory) {
	t.Helper()
	for page := 1; ; page++ {
		l, err := e.SessionMemories(t.Context(), &admin.SessionMemoriesRequest{SessionID: session, Page: page})
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range l.Memories {
			if m.Metadata["source"] == source {
				out = append(out, m)
			}
		}
		if len(l.Memories) < l.Limit {
			return out
		}
	}
}

// sampleOf returns a sample with bits that rounding would change.
func sampleOf(seq uint64, channel int) float64 {
	v := 10 * math.Sin(float64(seq)/57+float64(channel))
	if seq%997 == 5 {
		v = math.Float64frombits(0x7ff8000000000000 | seq) // a NaN with a payload
	}
	return v
}

func frameOf(seq uint64) []byte { return noise(seq, 1000+int(seq)*3001) }

// offer repeats a push until the queue has space.
func offer(t *testing.T, push func() bool) {
	t.Helper()
	for wait := time.Now().Add(20 * time.Second); !push(); {
		if time.Now().After(wait) {
			t.Fatal("there is no room for 20 s")
		}
		time.Sleep(time.Millisecond)
	}
}

// One second of a sensor at 1 kHz and frames of a camera are stored bit for bit, and all
// samples are counted.
func TestRecordingsComeBackBitForBit(t *testing.T) {
	t.Parallel()
	e := openTest(t, Options{})
	session := startSession(t, e, "arm")
	r := e.Recorder(recorder.Options{SessionID: session, BatchEvery: 20 * time.Millisecond})
	const channels, samples, frames = 6, 3000, 20
	wrench, err := r.Trace("wrench", recorder.TraceOptions{Channels: []string{"Fx", "Fy", "Fz", "Tx", "Ty", "Tz"}, Units: []string{"N", "N", "N", "Nm", "Nm", "Nm"}, RateHz: 1000, Kind: "wrench", QueueBytes: 4 << 20})
	if err != nil {
		t.Fatal(err)
	}
	camera, err := r.Frames("camera", recorder.FrameOptions{MediaType: "application/octet-stream", Description: "what the wrist camera sees"})
	if err != nil {
		t.Fatal(err)
	}
	values := make([]float64, channels)
	var want []byte
	for seq := range uint64(samples) {
		at := streamStart.Add(time.Duration(seq) * time.Millisecond)
		if n := seq / 150; seq%150 == 0 && !camera.Push(n, at, frameOf(n)) {
			t.Fatalf("frame %d was dropped", n)
		}
		if seq == 1500 {
			continue // the sensor skipped one
		}
		for c := range values {
			values[c] = sampleOf(seq, c)
			want = binary.LittleEndian.AppendUint64(want, math.Float64bits(values[c]))
		}
		if !wrench.Push(seq, at, values) {
			t.Fatalf("sample %d was dropped", seq)
		}
	}
	if wrench.Push(samples, streamStart.Add(time.Minute), values[:3]) {
		t.Error("a sample of three values was taken")
	}
	if err := r.Close(t.Context()); err != nil {
		t.Fatal(err)
	}

	var got []byte
	for _, m := range sourceMemories(t, e, session, "wrench") {
		d, err := e.Data(t.Context(), &robotmem.MemoryRequest{MemoryID: m.MemoryID})
		if err != nil {
			t.Fatal(err)
		}
		if m.PerceptionType != "tactile" || m.MediaType != "application/x-samples" || m.Metadata["dtype"] != "<f8" || m.Collection != "arm" {
			t.Errorf("memory %d: %+v", m.MemoryID, m)
		}
		first, _ := m.Metadata["first_seq"].(json.Number).Int64()
		if at := streamStart.Add(time.Duration(first) * time.Millisecond); !m.ObservedAt.Equal(at) {
			t.Errorf("the chunk from sample %d on was observed at %v, want %v", first, m.ObservedAt, at)
		}
		got = append(got, d.DataBase64...)
	}
	if string(got) != string(want) {
		t.Errorf("%d bytes come back that are not the %d that went in", len(got), len(want))
	}
	pictures := sourceMemories(t, e, session, "camera")
	if len(pictures) != frames {
		t.Errorf("%d frames are kept, want %d", len(pictures), frames)
	}
	for _, m := range pictures {
		seq, _ := m.Metadata["seq"].(json.Number).Int64()
		sameData(t, e, m.MemoryID, frameOf(uint64(seq)))
	}

	counts := []admin.StreamCount{
		{Source: "camera", Received: frames, Stored: frames, Bytes: framesBytes(frames)},
		{Source: "wrench", Received: samples, Stored: samples - 1, Dropped: 1, Missed: 1, Bytes: int64(len(want))},
	}
	s, err := e.Stats(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(counts, s.Streams); diff != "" {
		t.Errorf("stats (-want +got):\n%s", diff)
	}
	end, err := e.EndSession(t.Context(), &robotmem.EndSessionRequest{SessionID: session})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(counts, end.Summary.Streams); diff != "" {
		t.Errorf("summary (-want +got):\n%s", diff)
	}
	if !strings.Contains(end.Summary.Text, "dropped") {
		t.Errorf("the summary says nothing of what was dropped: %q", end.Summary.Text)
	}
	healthy(t, e)
}

func framesBytes(n uint64) (sum int64) {
	for seq := range n {
		sum += int64(len(frameOf(seq)))
	}
	return sum
}

func TestAnEndedSessionTakesNoMore(t *testing.T) {
	t.Parallel()
	e := openTest(t, Options{})
	session := startSession(t, e, "")
	r := e.Recorder(recorder.Options{SessionID: session, BatchEvery: time.Hour})
	camera, err := r.Frames("camera", recorder.FrameOptions{})
	if err != nil {
		t.Fatal(err)
	}
	push := func(seq uint64) {
		t.Helper()
		if !camera.Push(seq, streamStart, noise(seq, 300_000)) {
			t.Fatal("no room")
		}
	}
	push(1)
	if err := r.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := e.EndSession(t.Context(), &robotmem.EndSessionRequest{SessionID: session}); err != nil {
		t.Fatal(err)
	}
	push(2)
	push(3)
	if err := r.Close(t.Context()); err != nil {
		t.Errorf("what is refused for good is no failure to close: %v", err)
	}
	want := recorder.SourceCount{Source: "camera", Received: 3, Stored: 1, Dropped: 2, Bytes: 300_000}
	if diff := cmp.Diff([]recorder.SourceCount{want}, r.Counts()); diff != "" {
		t.Errorf("the recorder counts (-want +got):\n%s", diff)
	}
	s, err := e.Stats(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]admin.StreamCount{{Source: "camera", Received: 3, Stored: 1, Dropped: 2, Bytes: 300_000}}, s.Streams); diff != "" {
		t.Errorf("stats (-want +got):\n%s", diff)
	}
	if files, stray := folderFiles(t, e); files != 1 || len(stray) > 0 {
		t.Errorf("%d files and %v, want that of the first frame", files, stray)
	}
	healthy(t, e)
}

func TestTwoRecordersAddUp(t *testing.T) {
	t.Parallel()
	e := openTest(t, Options{})
	session := startSession(t, e, "")
	const each = 500
	var wg sync.WaitGroup
	for k := range 2 {
		wg.Go(func() {
			r := e.Recorder(recorder.Options{SessionID: session, BatchEvery: 5 * time.Millisecond})
			imu, err := r.Trace("imu", recorder.TraceOptions{Channels: []string{"ax"}, RateHz: 100})
			if err != nil {
				t.Error(err)
				return
			}
			for seq := range uint64(each) {
				imu.Push(seq, streamStart.Add(time.Duration(seq)*10*time.Millisecond), []float64{float64(k)})
			}
			if err := r.Close(context.WithoutCancel(t.Context())); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	end, err := e.EndSession(t.Context(), &robotmem.EndSessionRequest{SessionID: session})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]admin.StreamCount{{Source: "imu", Received: 2 * each, Stored: 2 * each, Bytes: 2 * each * 8}}, end.Summary.Streams); diff != "" {
		t.Errorf("streams (-want +got):\n%s", diff)
	}
	samples := int64(0)
	for _, m := range sourceMemories(t, e, session, "imu") {
		n, _ := m.Metadata["shape"].([]any)[0].(json.Number).Int64()
		samples += n
	}
	if samples != 2*each {
		t.Errorf("%d samples are kept, want %d", samples, 2*each)
	}
}

func TestBatchesAreKeptWholeOrRefused(t *testing.T) {
	t.Parallel()
	e := openTest(t, Options{})
	session, other := startSession(t, e, "arm"), startSession(t, e, "leg")
	item := func(description string, size int) recorder.Recorded {
		return recorder.Recorded{Item: perception.Item{Type: "visual", Data: noise(uint64(size), size)}, Description: description, Source: "camera", ObservedAt: streamStart}
	}
	count := recorder.SourceCount{Source: "camera", Received: 3, Stored: 2, Dropped: 1, Missed: 4, Bytes: 5}
	for _, tt := range []struct {
		name    string
		batch   recorder.Batch
		refused robotmem.Kind // "" if it is kept
	}{
		{"counts only", recorder.Batch{SessionID: session, Counts: []recorder.SourceCount{count}}, ""},
		{"counts without a session", recorder.Batch{Collection: "arm", Counts: []recorder.SourceCount{count}}, ""},
		{"items and counts", recorder.Batch{SessionID: session, Items: []recorder.Recorded{item("a frame", 400_000)}, Counts: []recorder.SourceCount{count}}, ""},
		{"nothing", recorder.Batch{SessionID: session}, ""},
		{"an unknown session", recorder.Batch{SessionID: "019a0000-0000-7000-8000-000000000000", Counts: []recorder.SourceCount{count}}, robotmem.NotFound},
		{"items of an unknown session", recorder.Batch{SessionID: "019a0000-0000-7000-8000-000000000000", Items: []recorder.Recorded{item("a frame", 400_001)}}, robotmem.NotFound},
		{"another collection", recorder.Batch{SessionID: other, Collection: "arm", Items: []recorder.Recorded{item("a frame", 400_002)}}, robotmem.Invalid},
		{"one of two without a description", recorder.Batch{SessionID: session, Items: []recorder.Recorded{item("a frame", 400_003), item("", 400_004)}, Counts: []recorder.SourceCount{count}}, robotmem.Invalid},
		{"one of two too large", recorder.Batch{SessionID: session, Items: []recorder.Recorded{item("a frame", 400_005), item("a large one", defaultMaxPayload+1)}}, robotmem.TooLarge},
	} {
		t.Run(tt.name, func(t *testing.T) {
			rows, perceptions := payloadRows(t, e)
			files, _ := folderFiles(t, e)
			before, err := e.Stats(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			err = e.Keep(t.Context(), tt.batch)
			if tt.refused == "" {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			if !errors.Is(err, recorder.ErrRefused) || !errors.Is(err, tt.refused) {
				t.Errorf("got %v, want it refused as %s", err, tt.refused)
			}
			after, err := e.Stats(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			r, p := payloadRows(t, e)
			f, stray := folderFiles(t, e)
			if r != rows || p != perceptions || f != files || len(stray) > 0 || !cmp.Equal(before.Streams, after.Streams) {
				t.Errorf("it leaves %d rows, %d perceptions, %d files, %v, %v", r-rows, p-perceptions, f-files, stray, after.Streams)
			}
		})
	}
	s, err := e.Stats(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]admin.StreamCount{{Source: "camera", Received: 9, Stored: 6, Dropped: 3, Missed: 12, Bytes: 15}}, s.Streams); diff != "" {
		t.Errorf("streams (-want +got):\n%s", diff)
	}
	closed, err := openFile(t.Context(), t.TempDir()+"/m.db", Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := closed.Close(); err != nil {
		t.Fatal(err)
	}
	if err := closed.Keep(t.Context(), recorder.Batch{Items: []recorder.Recorded{item("a frame", 10)}}); err == nil || errors.Is(err, recorder.ErrRefused) {
		t.Errorf("a closed node answers %v; it must be tried again", err)
	}
}

// The features of recorded perceptions are computed later, in the background.
func TestRecordingsBecomeComparable(t *testing.T) {
	t.Parallel()
	e := openTest(t, Options{})
	session := startSession(t, e, "")
	r := e.Recorder(recorder.Options{SessionID: session})
	imu, err := r.Trace("imu", recorder.TraceOptions{Channels: []string{"ax", "ay"}, RateHz: 100})
	if err != nil {
		t.Fatal(err)
	}
	for seq := range uint64(1000) {
		offer(t, func() bool {
			return imu.Push(seq, streamStart.Add(time.Duration(seq)*10*time.Millisecond), []float64{float64(seq/100) + math.Sin(float64(seq)), 1})
		})
	}
	if err := r.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	waitComparable(t, e)
	chunks := sourceMemories(t, e, session, "imu")
	if len(chunks) < 9 {
		t.Fatalf("only %d chunks", len(chunks))
	}
	d, err := e.Data(t.Context(), &robotmem.MemoryRequest{MemoryID: chunks[4].MemoryID})
	if err != nil {
		t.Fatal(err)
	}
	res, ids := recalled(t, e, &robotmem.RecallRequest{Like: &robotmem.Like{DataBase64: d.DataBase64, MediaType: d.MediaType, Metadata: robotmem.Object{"dtype": "<f8", "shape": []any{len(d.DataBase64) / 16, 2}}}, N: 3})
	if len(ids) != 3 || ids[0] != chunks[4].MemoryID || len(res.Degraded) > 0 {
		t.Errorf("like chunk %d finds %v, %q", chunks[4].MemoryID, ids, res.Degraded)
	}
}

// waitComparable waits until the background has computed all features.
func waitComparable(t *testing.T, e *Engine) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		s, err := e.Stats(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		if s.ToCompare == 0 {
			return
		}
		if time.Now().After(end) {
			t.Fatal(fmt.Sprint("still waiting to be compared: ", s.ToCompare))
		}
	}
}
