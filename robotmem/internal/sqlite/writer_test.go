package sqlite

import (
	"testing"
	"time"
)

// A group waits for as many callers as the last one had, up to its time limit.
func TestGatherWaitsForTheLastCallers(t *testing.T) {
	db := &DB{jobs: make(chan *job)}
	never := make(chan time.Time)
	go func() {
		for range 7 {
			db.jobs <- &job{}
		}
	}()
	if got := len(db.gather([]*job{{}}, 8, never)); got != 8 {
		t.Errorf("a group of %d, want all 8 callers", got)
	}
	passed := make(chan time.Time, 1)
	passed <- time.Now()
	if got := len(db.gather([]*job{{}}, 8, passed)); got != 1 {
		t.Errorf("a group of %d after its time, want 1", got)
	}
	if got := len(db.gather([]*job{{}}, 1, never)); got != 1 {
		t.Errorf("a group of %d after a single caller, want 1 at once", got)
	}
	go func() { db.jobs <- &job{alone: true} }()
	if got := len(db.gather([]*job{{}}, 8, never)); got != 1 || db.lone == nil {
		t.Errorf("a group of %d, want 1: the job that runs alone comes next", got)
	}
}
