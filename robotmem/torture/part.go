package main

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"
)

// part is one way to break a node.
type part struct {
	name string
	what string // as the table says it
	// full and short are how much of it makes a run: so many faults, or so long.
	full, short amount
	run         func(ctx context.Context, r *rig) error
}

// amount is a number of faults, or a time to keep making them.
type amount struct {
	times int
	time  time.Duration
}

func (a amount) String() string {
	switch {
	case a.times > 0:
		return strconv.Itoa(a.times) + "×"
	case a.time >= time.Minute && a.time%time.Minute == 0:
		return fmt.Sprintf("%d min", a.time/time.Minute)
	}
	return fmt.Sprintf("%.0f s", a.time.Seconds())
}

// rig is what a part works with. Its counts may be raised by many goroutines.
type rig struct {
	amount
	program string // path of the robotmem binary
	dir     string // a folder of the part's own, empty
	rand    *rand.Rand
	log     io.Writer

	mu sync.Mutex
	result
}

// result is what came of a part.
type result struct {
	Faults       int      `json:"faults"`       // that really happened
	Acknowledged int      `json:"acknowledged"` // writes that the node said it had
	Lost         int      `json:"lost"`         // of those
	Broken       int      `json:"broken"`       // panics, silent errors, damaged files, hangs
	Findings     []string `json:"findings,omitempty"`
	Notes        []string `json:"notes,omitempty"` // figures
}

// maxFindings bounds what is told of a part; all are counted.
const maxFindings = 20

func (r *rig) fault() { r.mu.Lock(); defer r.mu.Unlock(); r.Faults++ }

func (r *rig) acknowledged(n int) { r.mu.Lock(); defer r.mu.Unlock(); r.Acknowledged += n }

// lost counts one acknowledged write that is not there as it was written.
func (r *rig) lost(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.Lost++
	r.find("lost: "+format, args...)
}

// broken counts one promise that did not hold.
func (r *rig) broken(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.Broken++
	r.find("broken: "+format, args...)
}

func (r *rig) find(format string, args ...any) {
	if len(r.Findings) < maxFindings {
		r.Findings = append(r.Findings, fmt.Sprintf(format, args...))
		fmt.Fprintf(r.log, "  "+format+"\n", args...)
	}
}

// wrongs are what was lost or broken until now.
func (r *rig) wrongs() int { r.mu.Lock(); defer r.mu.Unlock(); return r.Lost + r.Broken }

// note keeps a figure for the reader.
func (r *rig) note(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.Notes = append(r.Notes, fmt.Sprintf(format, args...))
}

// folder makes a folder of the part's own for one run.
func (r *rig) folder(name string) (string, error) {
	dir := filepath.Join(r.dir, name)
	return dir, os.MkdirAll(dir, 0o700)
}
