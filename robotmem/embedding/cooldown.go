package embedding

import (
	"errors"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
)

const (
	firstCooldown   = 60 * time.Second
	longestCooldown = 300 * time.Second
	// longestRetryAfter bounds what a service may ask for itself: a wrong date
	// must not switch the search by meaning off for a day.
	longestRetryAfter = time.Hour
)

// cooldown leaves a failing service alone: 60, 120, 240, then 300 s after each
// failure in a row. When a pause is over one request tries again while others
// go on failing at once; one success ends it.
type cooldown struct {
	now func() time.Time

	mu       sync.Mutex // guards all below
	failures int        // in a row, 0 while the service works
	round    int        // how often a failure was counted
	reason   string
	until    time.Time
	trying   bool // a request is under way although the last one failed
}

// turn is the leave to make one request; each is given back through succeeded,
// failed or undecided.
type turn struct {
	round int
	retry bool
}

// begin gives leave for a request, or fails with Unavailable.
func (c *cooldown) begin() (turn, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.failures == 0 {
		return turn{round: c.round}, nil
	}
	if left := c.until.Sub(c.now()); left > 0 {
		return turn{}, &robotmem.Error{Kind: robotmem.Unavailable, Err: fmt.Errorf("not asked for another %.0f s: %s", math.Ceil(left.Seconds()), c.reason)}
	}
	if c.trying {
		return turn{}, &robotmem.Error{Kind: robotmem.Unavailable, Err: fmt.Errorf("being tried again just now: %s", c.reason)}
	}
	c.trying = true
	return turn{round: c.round, retry: true}, nil
}

// succeeded ends the cool-down and says whether there was one.
func (c *cooldown) succeeded(turn) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	recovered := c.failures > 0
	c.failures, c.reason, c.until, c.trying = 0, "", time.Time{}, false
	return recovered
}

// failed starts a pause and returns its length: wait, or the next of the series
// if wait is zero. Requests that were under way together count once.
func (c *cooldown) failed(t turn, reason string, wait time.Duration) time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	if t.round != c.round {
		return c.until.Sub(c.now())
	}
	if wait <= 0 {
		wait = min(firstCooldown<<min(c.failures, 3), longestCooldown)
	}
	c.round++
	c.failures++
	c.reason, c.until, c.trying = reason, c.now().Add(wait), false
	return wait
}

// undecided gives a turn back that says nothing about the service.
func (c *cooldown) undecided(t turn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if t.retry && t.round == c.round {
		c.trying = false
	}
}

// state returns why the service is not asked now and until when, or nothing.
func (c *cooldown) state() (reason string, until time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.failures == 0 || !c.trying && !c.now().Before(c.until) {
		return "", time.Time{}
	}
	return c.reason, c.until.UTC()
}

// retryAfter returns how long the service asked to be left alone: the header
// Retry-After in seconds or as a date (RFC 9110, section 10.2.3), an hour at
// most, 0 if it did not say.
func retryAfter(err error, now time.Time) time.Duration {
	status := (*statusError)(nil)
	if !errors.As(err, &status) || status.retryAfter == "" {
		return 0
	}
	wait := time.Duration(0)
	if seconds, err := strconv.Atoi(status.retryAfter); err == nil {
		wait = time.Duration(min(max(seconds, 0), int(longestRetryAfter/time.Second))) * time.Second
	} else if date, err := http.ParseTime(status.retryAfter); err == nil {
		wait = date.Sub(now)
	}
	return min(max(wait, 0), longestRetryAfter)
}
