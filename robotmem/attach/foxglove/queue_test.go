package foxglove

import (
	"errors"
	"testing"

	"github.com/coder/websocket"
	"github.com/google/go-cmp/cmp"
)

func TestTheOldestDataAreDroppedInOrder(t *testing.T) {
	q := newQueue(100, 10, 3)
	q.addData([]byte("1"))
	if err := q.addControl(websocket.MessageText, []byte("a")); err != nil {
		t.Fatal(err)
	}
	for _, s := range []string{"2", "3", "4", "a message over the limit of all", "5"} {
		q.addData([]byte(s))
	}
	if err := q.addControl(websocket.MessageText, []byte("b")); err != nil {
		t.Fatal(err)
	}
	q.addData([]byte("6"))

	var got []string
	for range 4 {
		m, err := q.next()
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, string(m.bytes))
	}
	if diff := cmp.Diff([]string{"a", "5", "b", "6"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if sent, dropped := q.counts(); sent != 2 || dropped != 5 {
		t.Errorf("got %d sent and %d dropped", sent, dropped)
	}
}

func TestControlMessagesAreNotDropped(t *testing.T) {
	q := newQueue(10, 10, 3)
	for n, want := range []error{nil, errBacklog} { // one is larger than the limit
		if err := q.addControl(websocket.MessageText, make([]byte, 20)); err != want {
			t.Errorf("message %d: got %v, want %v", n, err, want)
		}
	}
	q.end(ErrClosed)
	q.end(errors.New("another"))
	if err := q.addControl(websocket.MessageText, nil); err != ErrClosed {
		t.Errorf("got %v", err)
	}
	if _, err := q.next(); err != ErrClosed {
		t.Errorf("got %v", err)
	}
}
