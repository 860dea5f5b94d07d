package foxglove

import (
	"strconv"
	"strings"
	"time"
)

const (
	// maxEnded and maxEndedBytes bound the subscriptions that are remembered after their end, in number
	// and by the definitions of their channels.
	maxEnded      = 1024
	maxEndedBytes = 8 << 20

	// maxRetries is how often a subscription is asked for again: after firstRetry, then after twice as long
	// each time.
	maxRetries = 6
	firstRetry = 10 * time.Millisecond
)

// subscriptions are those of a client. Ended ones are remembered for a while: the SDK sends the end of a
// channel before messages of it that wait, as often as after them.
type subscriptions struct {
	byID      map[uint32]*Channel
	byChannel map[uint64]uint32
	retries   map[uint32]int

	ended      map[uint32]*Channel
	endedOrder []uint32
	endedBytes int

	next   uint32
	issued uint64 // ids that there were
}

func newSubscriptions() subscriptions {
	return subscriptions{
		byID: map[uint32]*Channel{}, byChannel: map[uint64]uint32{}, retries: map[uint32]int{}, ended: map[uint32]*Channel{},
	}
}

// begin returns the id of a new subscription. Ids are used again after all 2^32.
func (s *subscriptions) begin(c *Channel) uint32 {
	id := s.next
	for s.byID[id] != nil || s.ended[id] != nil {
		id++
	}
	s.next = id + 1
	s.issued = max(s.issued, uint64(id)+1)
	s.byID[id], s.byChannel[c.ID] = c, id

	return id
}

// end returns the id of the subscription to a channel, if there was one.
func (s *subscriptions) end(c *Channel) (uint32, bool) {
	id, ok := s.byChannel[c.ID]
	if !ok {
		return 0, false
	}
	delete(s.byChannel, c.ID)
	delete(s.byID, id)
	delete(s.retries, id)

	s.ended[id] = c
	s.endedOrder = append(s.endedOrder, id)

	s.endedBytes += c.size()
	for len(s.endedOrder) > maxEnded || s.endedBytes > maxEndedBytes {
		oldest := s.endedOrder[0]
		s.endedOrder = s.endedOrder[1:]
		s.endedBytes -= s.ended[oldest].size()
		delete(s.ended, oldest)
	}

	return id, true
}

// channel returns that of a subscription, even if it has ended of late.
func (s *subscriptions) channel(id uint32) *Channel {
	if c := s.byID[id]; c != nil {
		return c
	}

	return s.ended[id]
}

// refused returns the subscription that a status refuses without a reason, and when to ask for it again. The
// SDK, as of 0.30.3, advertises a channel a moment before it takes subscriptions to it, and one of a hundred
// comes too early.
func (s *subscriptions) refused(status *Status) (again subscription, wait time.Duration) {
	text, ok := strings.CutPrefix(status.Message, "Unknown channel ID: ")
	if !ok || status.Level != LevelError {
		return subscription{}, 0
	}
	channel, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return subscription{}, 0
	}
	id, ok := s.byChannel[channel]
	if !ok || s.retries[id] == maxRetries {
		return subscription{}, 0
	}
	wait = firstRetry << s.retries[id]
	s.retries[id]++

	return subscription{&id, &channel}, wait
}

// retry asks for a subscription again after a while, unless it has ended.
func (c *Client) retry(again subscription, wait time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()

	var timer *time.Timer
	timer = time.AfterFunc(wait, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.retrying[*again.ID] == timer {
			delete(c.retrying, *again.ID)
			// Of a queue that has ended, or is full, Run hears anyway.
			_ = c.sendControl(subscribe{"subscribe", []subscription{again}})
		}
	})
	c.retrying[*again.ID] = timer
}

// stopRetry keeps a subscription from being asked for again.
func (c *Client) stopRetry(id uint32) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if timer := c.retrying[id]; timer != nil {
		timer.Stop()
		delete(c.retrying, id)
	}
}
