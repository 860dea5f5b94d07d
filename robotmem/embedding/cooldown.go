package embedding

import (
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
)

const (
	firstCooldown   = 60 * time.Second
	longestCooldown = 300 * time.Second
)

// cooldown pauses requests to a failing service: for 60, 120, 240, then 300 s
// after each failure in a row. One success ends the cool-down.
type cooldown struct {
	now func() time.Time

	mu       sync.Mutex // guards the fields below
	failures int        // in a row, 0 while the service works
	reason   string
	until    time.Time
}

// begin permits a request, or fails with Unavailable. The result of the request is
// reported with succeeded or failed.
func (c *cooldown) begin() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if left := c.until.Sub(c.now()); left > 0 {
		err := fmt.Errorf("paused for another %.0f s: %s", math.Ceil(left.Seconds()), c.reason)
		return &robotmem.Error{Kind: robotmem.Unavailable, Err: err}
	}

	return nil
}

// succeeded ends the cool-down and reports whether there was one.
func (c *cooldown) succeeded() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	recovered := c.failures > 0
	c.failures, c.reason, c.until = 0, "", time.Time{}
	return recovered
}

// failed starts the next pause of the series and returns its length. Requests that
// ran at the same time count once.
func (c *cooldown) failed(reason string) time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	if left := c.until.Sub(c.now()); left > 0 {
		return left
	}
	wait := min(firstCooldown<<min(c.failures, 3), longestCooldown)
	c.failures++
	c.reason, c.until = reason, c.now().Add(wait)

	return wait
}

// state returns the reason and the end of the current pause, zero values without one.
func (c *cooldown) state() (reason string, until time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.now().Before(c.until) {
		return "", time.Time{}
	}
	return c.reason, c.until.UTC()
}
