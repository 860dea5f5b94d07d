// Recorder records a control loop of 1 kHz and a camera of 30 fps. The loop never waits for the
// disk. Ctrl-C ends the recording early; the samples until then are stored.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/robotmem/robotmem-go/perception/recorder"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/local"
)

// closeLimit is the time limit for storing the last batches.
const closeLimit = 10 * time.Second

func main() {
	log.SetFlags(0)
	length := flag.Duration("for", 5*time.Second, "how long to record")
	out := flag.String("out", "", "write the plot of the recalled second into this folder")
	flag.Parse()
	// The signal ends the recording; the recall afterwards still runs.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, *length)
	defer cancel()
	if err := run(ctx, *out); err != nil {
		log.Fatal(err)
	}
}

// run records until the context recording ends, and then recalls the recording.
func run(recording context.Context, out string) (err error) {
	ctx := context.WithoutCancel(recording)
	dir, err := os.MkdirTemp("", "robotmem-recorder-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	m, err := local.Open(ctx, filepath.Join(dir, "memory.db"), local.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, m.Close()) }()
	session, err := m.StartSession(ctx, &robotmem.StartSessionRequest{
		Collection: "press-fit",
		Context:    robotmem.Object{"task": map[string]any{"name": "press the peg against the plate"}},
	})
	if err != nil {
		return err
	}

	r := m.Recorder(recorder.Options{
		SessionID: session.SessionID, Collection: "press-fit",
		Log: slog.New(slog.NewTextHandler(os.Stderr, nil)),
	})
	pushes, err := record(recording, r)
	closing, cancel := context.WithTimeout(ctx, closeLimit)
	defer cancel()
	// Close also after an error, so that the samples until then are stored.
	if err := errors.Join(err, r.Close(closing)); err != nil {
		return err
	}
	account(r.Counts(), pushes)

	if err := remember(ctx, m, session.SessionID, out); err != nil {
		return err
	}
	ended, err := m.EndSession(ctx, &robotmem.EndSessionRequest{SessionID: session.SessionID})
	if err != nil {
		return err
	}
	fmt.Println("ended:", ended.Summary.Text)

	return nil
}

const period = time.Millisecond

// record runs the control loop and the camera until ctx ends. It returns how long
// each push of the control loop took.
func record(ctx context.Context, r *recorder.Recorder) (pushes []time.Duration, err error) {
	wrist, err := r.Trace("wrist/wrench", recorder.TraceOptions{
		Channels:    []string{"Fx", "Fy", "Fz", "Tx", "Ty", "Tz"},
		Units:       []string{"N", "N", "N", "Nm", "Nm", "Nm"},
		RateHz:      1 / period.Seconds(),
		Kind:        "wrench",
		Description: "wrench at the wrist while the peg is pressed against the plate",
		Context:     map[string]any{"robot": map[string]any{"arm": "left"}},
	})
	if err != nil {
		return nil, err
	}
	camera, err := r.Frames("wrist/camera", recorder.FrameOptions{
		MediaType:   "image/jpeg",
		Description: "view of the wrist camera on the peg",
	})
	if err != nil {
		return nil, err
	}
	begun := time.Now()

	var filming sync.WaitGroup
	filming.Go(func() { film(ctx, camera, begun) })
	pushes = control(ctx, wrist, begun)
	filming.Wait()

	return pushes, nil
}

// maxLate is the largest delay after which the loop still reads a sample.
const maxLate = 20 * period

// control is the control loop of 1 kHz. The sensor numbers its readings and gives each a time.
// The loop skips readings that are over maxLate old; they are counted as missed.
func control(ctx context.Context, wrist *recorder.TraceSource, begun time.Time) (pushes []time.Duration) {
	for cycle := uint64(1); ctx.Err() == nil; cycle++ {
		at := begun.Add(time.Duration(cycle) * period)
		time.Sleep(time.Until(at))
		if time.Since(at) > maxLate {
			continue
		}
		wrench := contactAt(at.Sub(begun)).wrench(cycle)
		before := time.Now()
		wrist.Push(cycle, at, wrench[:])
		pushes = append(pushes, time.Since(before))
	}

	return pushes
}

// film is the camera. It runs in a separate goroutine, like a driver.
func film(ctx context.Context, camera *recorder.FrameSource, begun time.Time) {
	tick := time.NewTicker(time.Second / 30)
	defer tick.Stop()

	for seq := uint64(0); ; seq++ {
		select {
		case at := <-tick.C:
			camera.Push(seq, at, contactAt(at.Sub(begun)).picture())
		case <-ctx.Done():
			return
		}
	}
}

func account(counts []recorder.SourceCount, pushes []time.Duration) {
	fmt.Printf("%-14s %9s %9s %9s %9s %10s\n", "source", "received", "stored", "dropped", "missed", "bytes")

	for _, c := range counts {
		fmt.Printf("%-14s %9d %9d %9d %9d %10d\n", c.Source, c.Received, c.Stored, c.Dropped, c.Missed, c.Bytes)
	}
	if len(pushes) == 0 {
		return
	}
	slices.Sort(pushes)
	at := func(share float64) time.Duration { return pushes[int(share*float64(len(pushes)-1))] }
	fmt.Printf("%d pushes of the control loop: p50 %v, p99 %v, p99.9 %v, at most %v\n", len(pushes), at(0.5), at(0.99),
		at(0.999), at(1))
}
