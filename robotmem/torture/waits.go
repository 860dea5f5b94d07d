package main

import (
	"fmt"
	"slices"
	"sync"
	"time"
)

// waits is how long callers waited for one kind of answer.
type waits struct {
	mu  sync.Mutex
	all []time.Duration
}

func (w *waits) add(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.all = append(w.all, d)
}

// at returns the wait that a part of all callers did not exceed: 0.99 is p99.
func (w *waits) at(part float64) time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.all) == 0 {
		return 0
	}
	slices.Sort(w.all)
	return w.all[min(len(w.all)-1, int(part*float64(len(w.all))))]
}

func (w *waits) String() string {
	ms := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
	return fmt.Sprintf("p50 %.1f ms, p99 %.1f ms, max %.0f ms of %d", ms(w.at(0.5)), ms(w.at(0.99)), ms(w.at(1)), len(w.all))
}
