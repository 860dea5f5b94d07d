package foxglove

import (
	"errors"
	"sync"

	"github.com/coder/websocket"
)

// outgoing is a message that waits to be written.
type outgoing struct {
	kind  websocket.MessageType
	bytes []byte
	order uint64
}

// queue holds the messages for one peer until its writer takes them, in the order in which they came.
// Adding to it never blocks. Control messages are never dropped: a peer that does not read them has to be
// cut off. Of data messages the oldest is dropped for a new one.
type queue struct {
	maxControl int // bytes
	maxData    int // bytes
	maxCount   int // data messages

	mu           sync.Mutex // guards what follows
	ready        sync.Cond
	control      []outgoing
	data         []outgoing
	controlBytes int
	dataBytes    int
	order        uint64
	dropped      uint64
	sent         uint64 // data messages
	err          error  // why the queue has ended
}

// errBacklog is of a peer that does not read what it is sent.
var errBacklog = errors.New("the other side does not read what it is sent")

func newQueue(maxControl, maxData, maxCount int) *queue {
	q := &queue{maxControl: maxControl, maxData: maxData, maxCount: maxCount}
	q.ready.L = &q.mu

	return q
}

// addControl fails with errBacklog if too much waits, and with the error of end after it.
func (q *queue) addControl(kind websocket.MessageType, b []byte) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.err != nil {
		return q.err
	}
	// A single message may be larger than the limit.
	if len(q.control) > 0 && q.controlBytes+len(b) > q.maxControl {
		return errBacklog
	}

	q.order++
	q.control = append(q.control, outgoing{kind, b, q.order})
	q.controlBytes += len(b)
	q.ready.Signal()

	return nil
}

// addData drops the oldest data messages for one that there is no room for.
func (q *queue) addData(b []byte) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.err != nil {
		return
	}

	for len(q.data) > 0 && (len(q.data) >= q.maxCount || q.dataBytes+len(b) > q.maxData) {
		q.dropped++
		q.takeData()
	}

	q.order++
	q.data = append(q.data, outgoing{websocket.MessageBinary, b, q.order})
	q.dataBytes += len(b)
	q.ready.Signal()
}

// next waits for the next message. It fails after end.
func (q *queue) next() (outgoing, error) {
	q.mu.Lock()
	defer q.mu.Unlock()

	for q.err == nil && len(q.control) == 0 && len(q.data) == 0 {
		q.ready.Wait()
	}
	if q.err != nil {
		return outgoing{}, q.err
	}
	if len(q.control) == 0 || len(q.data) > 0 && q.data[0].order < q.control[0].order {
		q.sent++
		return q.takeData(), nil
	}

	first := q.control[0]
	q.control[0] = outgoing{}
	q.control = q.control[1:]
	q.controlBytes -= len(first.bytes)

	return first, nil
}

func (q *queue) takeData() outgoing {
	first := q.data[0]
	q.data[0] = outgoing{}
	q.data = q.data[1:]
	q.dataBytes -= len(first.bytes)

	return first
}

// end lets go of what waits. The first error stays.
func (q *queue) end(err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.err == nil {
		q.err = err
	}
	q.control, q.data, q.controlBytes, q.dataBytes = nil, nil, 0, 0
	q.ready.Broadcast()
}

// counts returns how many data messages were handed to the writer, and how many were dropped.
func (q *queue) counts() (sent, dropped uint64) {
	q.mu.Lock()
	defer q.mu.Unlock()

	return q.sent, q.dropped
}
