package main

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// measure is one kind of call. The times are of single calls; a batch's are of
// whole batches, while its rate is in rows.
type measure struct {
	Name      string  `json:"name"`
	Calls     int     `json:"calls"`
	P50       float64 `json:"p50_ms"`
	P95       float64 `json:"p95_ms"`
	PerSecond float64 `json:"per_second"`
	Found     float64 `json:"found,omitempty"` // memories an answer, mean
}

// measure calls f(0..n-1) from so many goroutines and times each call.
func (b *bench) measure(name string, n, callers int, f func(i int) (found int, err error)) error {
	bar := b.a.newProgress(name, int64(n))
	defer bar.Done()
	took := make([]time.Duration, n)
	var next, found atomic.Int64
	var first error
	var once sync.Once
	var wg sync.WaitGroup
	start := time.Now()
	for range callers {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				begun := time.Now()
				got, err := f(i)
				if err != nil {
					once.Do(func() { first = fmt.Errorf("bench: %s: %w", name, err) })
					return
				}
				took[i] = time.Since(begun)
				found.Add(int64(got))
				bar.Add(1)
			}
		})
	}
	wg.Wait()
	whole := time.Since(start)
	if first != nil {
		return first
	}
	m := summarize(name, took)
	m.PerSecond = float64(n) / whole.Seconds()
	m.Found = float64(found.Load()) / float64(n)
	b.report.Measures = append(b.report.Measures, m)
	return nil
}

// summarize makes a measure of calls that came one after the other.
func summarize(name string, took []time.Duration) measure {
	var sum time.Duration
	for _, d := range took {
		sum += d
	}
	sorted := slices.Sorted(slices.Values(took))
	at := func(p float64) float64 {
		return float64(sorted[int(p*float64(len(sorted)-1))].Microseconds()) / 1000
	}
	return measure{Name: name, Calls: len(took), P50: at(0.5), P95: at(0.95), PerSecond: float64(len(took)) / sum.Seconds()}
}
