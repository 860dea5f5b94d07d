package main

import (
	"bufio"
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/robotmem/robotmem-go/perception/recording"
	"github.com/robotmem/robotmem-go/perception/recording/recordingtest"
	"github.com/robotmem/robotmem-go/robotmem/local"
)

// importFigures are of a recording that was imported into an empty memory.
type importFigures struct {
	Bytes       int64        `json:"bytes"`
	Messages    uint64       `json:"messages"`
	Perceptions int          `json:"perceptions"`
	Stored      int          `json:"stored"`
	Seconds     float64      `json:"seconds"`
	Memory      memoryCourse `json:"memory"`
	Files       int64        `json:"file_bytes"`
}

// importSeed makes the same recording on every machine.
const importSeed = 1

func (f *importFigures) measure(ctx context.Context, a *app, m *local.Node, path string, bytes int64) (err error) {
	file := filepath.Join(filepath.Dir(path), "recording.mcap") // beside what is measured, and no part of it
	defer func() { err = errors.Join(err, os.Remove(file)) }()
	if err := writeSynthetic(file, bytes); err != nil {
		return err
	}
	src, err := recording.Open(file)
	if err != nil {
		return err
	}
	defer src.Close()
	info, err := os.Stat(file)
	if err != nil {
		return err
	}
	f.Bytes = info.Size()
	begun := time.Now()
	f.Memory.Start = memoryNow(begun)
	bar := a.newProgress("import", 0)
	defer bar.Done()
	stop := f.watch(begun)
	report, err := recording.Import(ctx, src, recording.Options{}, &importSink{m: m}, func(at recording.Progress) { bar.Set(int64(at.Messages), int64(at.Total)) })
	stop()
	if err != nil {
		return err
	}
	f.Seconds = time.Since(begun).Seconds()
	f.Messages, f.Perceptions, f.Stored = report.Messages, report.Perceptions, report.Stored
	f.Memory.End = memoryNow(begun)
	f.Files, err = filesOf(path)
	return err
}

// watch looks at the memory a few times a second until it is stopped.
func (f *importFigures) watch(begun time.Time) (stop func()) {
	quit, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(200 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-quit:
				return
			case <-tick.C:
				f.Memory.add(memoryNow(begun))
			}
		}
	}()
	return func() { close(quit); <-done }
}

func writeSynthetic(path string, bytes int64) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	out := bufio.NewWriterSize(f, 1<<20)
	return errors.Join(recordingtest.Write(out, bytes, importSeed), out.Flush(), f.Close())
}

func (f *importFigures) print(w *lines) {
	if f == nil {
		return
	}
	w.line("")
	w.line("imported %s, %d messages as %d perceptions, in %.1f s (%s/s), %s on disk", sizeText(f.Bytes), f.Messages, f.Stored,
		f.Seconds, sizeText(int64(float64(f.Bytes)/f.Seconds)), sizeText(f.Files))
	w.line("resident %s before, at most %s, %s after; heap at most %s", sizeText(f.Memory.Start.RSSBytes), sizeText(f.Memory.Max.RSSBytes),
		sizeText(f.Memory.End.RSSBytes), sizeText(f.Memory.Max.HeapBytes))
}
