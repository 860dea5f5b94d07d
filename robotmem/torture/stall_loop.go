package main

import (
	"context"
	"runtime"
	"slices"
	"time"
)

// A control loop is measured beside one that does nothing: what the machine does
// to the second it does to the first as well.

const (
	loopPeriod = time.Millisecond
	// pushLimit is what a call of the control loop may take.
	pushLimit = time.Millisecond
)

// loopFigures are the times of the calls of one loop.
type loopFigures struct {
	took   []time.Duration
	waited time.Duration // the longest call in which the thread waited
}

// loop calls f every millisecond on a thread of its own until ctx ends.
func loop(ctx context.Context, f func(seq uint64, at time.Time)) *loopFigures {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	l := &loopFigures{}
	next := time.Now()
	for seq := uint64(1); ctx.Err() == nil; seq++ {
		time.Sleep(time.Until(next))
		before := threadWaits()
		start := time.Now()
		f(seq, start)
		took := time.Since(start)
		if threadWaits() != before {
			l.waited = max(l.waited, took)
		}
		l.took = append(l.took, took)
		if next = next.Add(loopPeriod); time.Since(next) > 20*loopPeriod {
			next = time.Now() // what it came too late for is never offered
		}
	}
	slices.Sort(l.took)
	return l
}

func (l *loopFigures) quantile(q float64) time.Duration {
	if len(l.took) == 0 {
		return 0
	}
	return l.took[min(int(q*float64(len(l.took))), len(l.took)-1)]
}

// slow is how many calls took longer than the limit.
func (l *loopFigures) slow() int {
	i, _ := slices.BinarySearch(l.took, pushLimit+1)
	return len(l.took) - i
}
