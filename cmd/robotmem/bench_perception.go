package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/robotmem/robotmem-go/perception/recorder"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/local"
)

type benchPerceptionCmd struct {
	Seconds int    `name:"seconds" default:"60" help:"How long to record (default ${default})."`
	Import  string `name:"import" placeholder:"SIZE" help:"Then write a recording of this size, such as 2GB, and import it: camera, wrench, odometry and transforms."`
	Dir     string `name:"dir" placeholder:"DIR" type:"path" help:"Where to put the temporary file, to measure another disk."`
	JSON    bool   `name:"json" help:"Print the figures as JSON."`
}

// perceptionReport is what was measured.
type perceptionReport struct {
	Machine    machine          `json:"machine"`
	Durability string           `json:"durability"`
	Recording  recordingFigures `json:"recording"`
	Import     *importFigures   `json:"import,omitempty"`
}

// recordingFigures are of a force sensor and a camera recorded at once.
type recordingFigures struct {
	Seconds  float64        `json:"seconds"`
	Sources  []sourceFigure `json:"sources"`
	Batches  batchFigures   `json:"batches"`
	Close    float64        `json:"close_s"` // from the last reading until all were kept
	Memory   memoryCourse   `json:"memory"`
	Disk     diskFigures    `json:"disk"`
	Features lagFigures     `json:"features"`
}

// sourceFigure is the account of one source and how long its pushes took. What
// the sensor's own loop came too late for was never offered: it is missed.
type sourceFigure struct {
	Source  string  `json:"source"`
	Offered uint64  `json:"offered"`
	Stored  uint64  `json:"stored"`
	Dropped uint64  `json:"dropped"`
	Missed  uint64  `json:"missed"`
	Bytes   uint64  `json:"bytes"`
	P50     float64 `json:"push_p50_us"`
	P99     float64 `json:"push_p99_us"`
	P999    float64 `json:"push_p999_us"`
	Max     float64 `json:"push_max_us"`
}

// batchFigures are of the batches that the engine kept, each one commit. The
// times are from being given the items: their summaries are part of it.
type batchFigures struct {
	Count int     `json:"count"`
	P50   float64 `json:"p50_ms"`
	P99   float64 `json:"p99_ms"`
	Max   float64 `json:"max_ms"`
}

// memoryCourse is what the process took as the recording went on.
type memoryCourse struct {
	Start  memoryAt   `json:"start"`
	Max    memoryAt   `json:"max"` // of each figure, at the time of the most resident
	End    memoryAt   `json:"end"`
	Course []memoryAt `json:"course"`
}

type memoryAt struct {
	At        float64 `json:"at_s"`
	RSSBytes  int64   `json:"rss_bytes"`
	HeapBytes int64   `json:"heap_bytes"`
}

// diskFigures are bytes.
type diskFigures struct {
	Payload int64 `json:"payload_bytes"` // as the sources gave them
	Stored  int64 `json:"stored_bytes"`  // the same as they are kept
	Files   int64 `json:"file_bytes"`    // everything, the log and the indexes too
}

// lagFigures say how far the background, which works out what perceptions are
// compared by, is behind the recording.
type lagFigures struct {
	Most     int64   `json:"most_waiting"`
	AtClose  int64   `json:"waiting_at_close"`
	CaughtUp float64 `json:"caught_up_s"` // from close
}

const (
	leastSeconds = 1
	mostSeconds  = 3600
	// closeLimit is what the last batches may take.
	closeLimit = time.Minute
	// featureLimit is what the background may take to catch up.
	featureLimit = 10 * time.Minute
)

// Run records into a file of its own.
func (c *benchPerceptionCmd) Run(ctx context.Context, a *app) error {
	if c.Seconds < leastSeconds || c.Seconds > mostSeconds {
		return invalid("seconds", "must be between %d and %d, not %d", leastSeconds, mostSeconds, c.Seconds)
	}
	var importBytes int64
	if c.Import != "" {
		var err error
		if importBytes, err = parseSize(c.Import); err != nil {
			return invalid("import", "must be a size such as 2GB, not %q", c.Import)
		}
	}
	r := perceptionReport{Machine: thisMachine(), Durability: a.Config.Durability}
	a.Embedder = noEmbedder
	err := a.inTempMemory(ctx, c.Dir, func(m *local.Node, path string) error {
		b := &recordingBench{a: a, m: m, path: path, length: time.Duration(c.Seconds) * time.Second, figures: &r.Recording}
		return b.run(ctx)
	})
	if err != nil {
		return err
	}
	if importBytes > 0 {
		r.Import = &importFigures{}
		err := a.inTempMemory(ctx, c.Dir, func(m *local.Node, path string) error {
			return r.Import.measure(ctx, a, m, path, importBytes)
		})
		if err != nil {
			return err
		}
	}
	if c.JSON {
		return a.PrintJSON(r)
	}
	return printPerceptionBench(a, &r)
}

// recordingBench records a force sensor of 1 kHz and a camera of 30 images a
// second, and watches what that takes.
type recordingBench struct {
	a       *app
	m       *local.Node
	path    string
	length  time.Duration
	figures *recordingFigures
}

func (b *recordingBench) run(ctx context.Context) error {
	session, err := b.m.StartSession(ctx, &robotmem.StartSessionRequest{})
	if err != nil {
		return err
	}
	images, err := cameraImages(ctx)
	if err != nil {
		return err
	}
	sink := &timedSink{Sink: b.m}
	r := recorder.New(sink, recorder.Options{SessionID: session.SessionID, Log: b.a.Log})
	pushes, begun, err := b.record(ctx, r, images)
	ended := time.Now()
	closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeLimit)
	defer cancel()
	if err := errors.Join(err, r.Close(closing), ctx.Err()); err != nil {
		return err
	}
	f := b.figures
	f.Seconds, f.Close = ended.Sub(begun).Seconds(), time.Since(ended).Seconds()
	f.Sources = sourceFigures(r.Counts(), pushes)
	f.Batches = sink.figures()
	if err := b.catchUp(ctx); err != nil {
		return err
	}
	f.Memory.End = memoryNow(begun)
	return b.disk(ctx)
}

// timedSink times what the engine is given to keep. One goroutine calls Keep.
type timedSink struct {
	recorder.Sink
	took []time.Duration
}

func (s *timedSink) Keep(ctx context.Context, b recorder.Batch) error {
	start := time.Now()
	err := s.Sink.Keep(ctx, b)
	s.took = append(s.took, time.Since(start))
	return err
}

func (s *timedSink) figures() batchFigures {
	at := quantiles(s.took, time.Millisecond)
	return batchFigures{Count: len(s.took), P50: at(0.5), P99: at(0.99), Max: at(1)}
}

// catchUp waits until all that was recorded can be compared.
func (b *recordingBench) catchUp(ctx context.Context) error {
	bar := b.a.newProgress("features", 0)
	defer bar.Done()
	const pause = 20 * time.Millisecond
	start := time.Now()
	for first := true; ; first = false {
		stats, err := b.m.Stats(ctx, &robotmem.StatsRequest{})
		if err != nil {
			return err
		}
		f := &b.figures.Features
		f.CaughtUp = time.Since(start).Seconds()
		if first {
			f.AtClose = stats.ToCompare
			f.Most = max(f.Most, f.AtClose)
		}
		bar.Set(f.AtClose-stats.ToCompare, f.AtClose)
		if stats.ToCompare == 0 {
			return nil
		}
		if time.Since(start) > featureLimit {
			return fmt.Errorf("bench: %d perceptions still wait to be compared after %v", stats.ToCompare, featureLimit)
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (b *recordingBench) disk(ctx context.Context) error {
	stats, err := b.m.Stats(ctx, &robotmem.StatsRequest{})
	if err != nil {
		return err
	}
	d := &b.figures.Disk
	d.Payload, d.Stored = stats.PayloadBytes, stats.StoredBytes
	d.Files, err = filesOf(b.path)
	return err
}

func printPerceptionBench(a *app, r *perceptionReport) error {
	f, w := &r.Recording, &lines{w: a.Stdout}
	w.line("%.0f s of recording, durability %s, on %s", f.Seconds, r.Durability, r.Machine)
	w.line("")
	w.table("\toffered\tstored\tdropped\tmissed\tpush p50 us\tp99\tp99.9\tmax", len(f.Sources), func(i int) string {
		s := f.Sources[i]
		return fmt.Sprintf("%s\t%d\t%d\t%d\t%d\t%.1f\t%.1f\t%.1f\t%.1f", s.Source, s.Offered, s.Stored, s.Dropped, s.Missed, s.P50, s.P99, s.P999, s.Max)
	})
	w.line("")
	course := f.Memory.rows()
	w.table("\tat s\tresident\theap", len(course), func(i int) string {
		return fmt.Sprintf("%s\t%.0f\t%s\t%s", course[i].name, course[i].At, sizeText(course[i].RSSBytes), sizeText(course[i].HeapBytes))
	})
	w.line("")
	batches := &f.Batches
	w.line("%d batches, summarised and committed in p50 %.1f ms, p99 %.1f ms, at most %.1f ms; all kept %.2f s after the last reading",
		batches.Count, batches.P50, batches.P99, batches.Max, f.Close)
	w.line("%s offered, stored as %s, %s on disk", sizeText(f.Disk.Payload), sizeText(f.Disk.Stored), sizeText(f.Disk.Files))
	w.line("likeness at most %d perceptions behind; %d at the end, none %.2f s later", f.Features.Most, f.Features.AtClose, f.Features.CaughtUp)
	r.Import.print(w)
	return w.err
}
