package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"image"
	"image/color"
	"image/jpeg"
	"io/fs"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/robotmem/robotmem-go/perception/recorder"
	"github.com/robotmem/robotmem-go/robotmem"
)

const (
	sensorPeriod = time.Millisecond
	cameraPeriod = time.Second / 30
	// maxLate is how far a sensor's loop catches up; what it is later for is
	// never offered, as with a driver whose buffer has gone round.
	maxLate = 20 * time.Millisecond
	// watchPeriod is how often memory and the background are looked at.
	watchPeriod = time.Second
)

// pushed is how long each push took, in the order of the recorder's sources.
type pushed [2][]time.Duration

// record runs the sensor, the camera and the watch until the length is over.
func (b *recordingBench) record(ctx context.Context, r *recorder.Recorder, images [][]byte) (took pushed, begun time.Time, err error) {
	wrench, err := r.Trace("wrist/wrench", recorder.TraceOptions{
		Channels: []string{"Fx", "Fy", "Fz", "Tx", "Ty", "Tz"}, Units: []string{"N", "N", "N", "Nm", "Nm", "Nm"},
		RateHz: 1 / sensorPeriod.Seconds(), Kind: "wrench", Float32: true,
	})
	if err != nil {
		return took, begun, err
	}
	camera, err := r.Frames("wrist/camera", recorder.FrameOptions{MediaType: "image/jpeg"})
	if err != nil {
		return took, begun, err
	}
	ctx, cancel := context.WithTimeout(ctx, b.length)
	defer cancel()
	begun = time.Now()
	b.figures.Memory.Start = memoryNow(begun)
	var sources sync.WaitGroup
	sources.Go(func() {
		rng, values := rand.New(rand.NewPCG(1, 2)), make([]float64, 6)
		took[0] = every(ctx, begun, sensorPeriod, b.length, func(seq uint64, at time.Time) time.Duration {
			readWrench(values, at.Sub(begun), rng)
			start := time.Now()
			wrench.Push(seq, at, values)
			return time.Since(start)
		})
	})
	sources.Go(func() {
		took[1] = every(ctx, begun, cameraPeriod, b.length, func(seq uint64, at time.Time) time.Duration {
			data := numbered(images, seq)
			start := time.Now()
			camera.Push(seq, at, data)
			return time.Since(start)
		})
	})
	err = b.watch(ctx, begun)
	sources.Wait()
	return took, begun, err
}

// every calls f at each period of a sensor's clock until ctx ends.
func every(ctx context.Context, begun time.Time, period, length time.Duration, f func(seq uint64, at time.Time) time.Duration) []time.Duration {
	took := make([]time.Duration, 0, length/period+1)
	for seq := uint64(0); ctx.Err() == nil; seq++ {
		at := begun.Add(time.Duration(seq) * period)
		time.Sleep(time.Until(at))
		if time.Since(at) <= max(maxLate, period) {
			took = append(took, f(seq, at))
		}
	}
	return took
}

// readWrench is a tool that is pressed and lifted, with the noise of a sensor: N
// and Nm.
func readWrench(values []float64, t time.Duration, rng *rand.Rand) {
	const pressed, noise = 40, 0.3
	phase := 2 * math.Pi * 0.5 * t.Seconds()
	fz := -pressed * max(math.Sin(phase), 0)
	for i, v := range [...]float64{0.2 * fz * math.Cos(3*phase), 0, fz, 0, -0.024 * fz * math.Cos(3*phase), 0} {
		values[i] = v + noise*rng.NormFloat64()
		if i >= 3 {
			values[i] = v + noise*0.05*rng.NormFloat64()
		}
	}
}

const (
	imageCount = 16
	imageBytes = 100_000 // at least
	imageW     = 640
	imageH     = 480
	// commentAt is where the first eight bytes of an image's comment are: behind
	// the marker of the image, and the marker and length of the comment.
	commentAt = 2 + 4
)

// cameraImages are made beforehand, so that no encoder takes the time of what is
// measured. They are noisy enough for their quality to take imageBytes.
func cameraImages(ctx context.Context) ([][]byte, error) {
	images := make([][]byte, imageCount)
	quality := 50
	for i := range images {
		drawn := drawImage(i)
		for images[i] == nil || len(images[i]) < imageBytes && quality < 100 {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			if images[i] != nil {
				quality++
			}
			var b bytes.Buffer
			if err := jpeg.Encode(&b, drawn, &jpeg.Options{Quality: quality}); err != nil {
				return nil, err
			}
			images[i] = withComment(b.Bytes())
		}
	}
	return images, nil
}

// drawImage is a workpiece before a shaded wall, as a small sensor sees it.
func drawImage(number int) image.Image {
	const noise = 12
	rng := rand.New(rand.NewPCG(uint64(number), 3))
	img := image.NewRGBA(image.Rect(0, 0, imageW, imageH))
	left := imageW/4 + 8*number
	for y := range imageH {
		for x := range imageW {
			shade := 60 + 80*float64(x+y)/(imageW+imageH)
			if x > left && x < left+imageW/4 && y > imageH/3 {
				shade = 200 - 60*float64(y)/imageH
			}
			shade += noise * rng.NormFloat64()
			v := uint8(min(max(shade, 0), 255))
			img.SetRGBA(x, y, color.RGBA{R: v, G: v, B: uint8(0.9 * float64(v)), A: 255})
		}
	}
	return img
}

// withComment puts a comment of eight bytes (marker 0xFFFE) behind the marker
// that begins a JPEG.
func withComment(data []byte) []byte {
	return slices.Concat(data[:2], []byte{0xFF, 0xFE, 0, 2 + 8}, make([]byte, 8), data[2:])
}

// numbered is the next image, its number in the comment: no two are the same
// bytes, which a memory would keep once. It is valid until the next call.
func numbered(images [][]byte, seq uint64) []byte {
	data := images[seq%uint64(len(images))]
	binary.BigEndian.PutUint64(data[commentAt:], seq)
	return data
}

// watch reads what the recording takes until ctx ends.
func (b *recordingBench) watch(ctx context.Context, begun time.Time) error {
	bar := b.a.newProgress("record, ms", b.length.Milliseconds())
	defer bar.Done()
	drawing, watching := time.NewTicker(progressEvery), time.NewTicker(watchPeriod)
	defer drawing.Stop()
	defer watching.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-drawing.C:
			bar.Set(time.Since(begun).Milliseconds(), b.length.Milliseconds())
		case <-watching.C:
			b.figures.Memory.add(memoryNow(begun))
			stats, err := b.m.Stats(context.WithoutCancel(ctx), &robotmem.StatsRequest{})
			if err != nil {
				return err
			}
			b.figures.Features.Most = max(b.figures.Features.Most, stats.ToCompare)
		}
	}
}

func memoryNow(begun time.Time) memoryAt {
	m := processMemory()
	return memoryAt{At: time.Since(begun).Seconds(), RSSBytes: m.RSSBytes, HeapBytes: m.HeapBytes}
}

func (c *memoryCourse) add(at memoryAt) {
	c.Course = append(c.Course, at)
	if at.RSSBytes > c.Max.RSSBytes {
		c.Max.At, c.Max.RSSBytes = at.At, at.RSSBytes
	}
	c.Max.HeapBytes = max(c.Max.HeapBytes, at.HeapBytes)
}

type namedMemory struct {
	name string
	memoryAt
}

// rows are a few of the course, at even distances.
func (c *memoryCourse) rows() []namedMemory {
	rows := []namedMemory{{"start", c.Start}}
	const quarters = 4
	for q := 1; q < quarters && len(c.Course) >= quarters; q++ {
		rows = append(rows, namedMemory{[]string{"quarter", "half", "three quarters"}[q-1], c.Course[q*len(c.Course)/quarters-1]})
	}
	return append(rows, namedMemory{"end", c.End}, namedMemory{"most", c.Max})
}

func sourceFigures(counts []recorder.SourceCount, took pushed) []sourceFigure {
	out := make([]sourceFigure, len(counts))
	for i, c := range counts {
		at := quantiles(took[i], time.Microsecond)
		out[i] = sourceFigure{
			Source: c.Source, Offered: c.Received, Stored: c.Stored, Dropped: c.Dropped, Missed: c.Missed, Bytes: c.Bytes,
			P50: at(0.5), P99: at(0.99), P999: at(0.999), Max: at(1),
		}
	}
	return out
}

// quantiles returns how long a share of the calls took at most, in units; 0 when
// there was none.
func quantiles(took []time.Duration, unit time.Duration) func(share float64) float64 {
	sorted := slices.Sorted(slices.Values(took))
	return func(share float64) float64 {
		if len(sorted) == 0 {
			return 0
		}
		return float64(sorted[int(share*float64(len(sorted)-1))]) / float64(unit)
	}
}

// filesOf is the bytes of a memory's file and of all that stands beside it under
// its name.
func filesOf(path string) (total int64, err error) {
	err = filepath.WalkDir(filepath.Dir(path), func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasPrefix(p, path) {
			return err
		}
		info, err := d.Info()
		if err == nil {
			total += info.Size()
		}
		return err
	})
	return total, err
}
