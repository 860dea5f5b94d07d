package site

import (
	"testing"
	"time"

	"github.com/robotmem/robotmem-go/robotmem/fleet"
	"github.com/robotmem/robotmem-go/robotmem/local"
)

// A robot that leaves with its copies, and joins again, has them again.
func TestALeaverJoinsAgain(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	lift := newRobot(t, s, "lift", nil, local.Options{})
	const fact = "corridor B is blocked by a pallet"
	lift.learns(t, fact, nil)
	lift.sync(t)

	cart := newRobot(t, s, "cart", func(p *fleet.Peer) { p.Subscribe = []fleet.Subscription{{Collection: "*"}} }, local.Options{})
	join := func() {
		t.Helper()
		if err := cart.Peer.Save(cart.Node); err != nil {
			t.Fatal(err)
		}
		if err := cart.Reset(t.Context()); err != nil {
			t.Fatal(err)
		}
		cart.sync(t)
	}
	join()
	if texts(t, cart.Node)[fact] != 1 {
		t.Fatal("the cart has no copy")
	}

	for _, drop := range []bool{true, false} {
		r, err := fleet.LeaveSite(t.Context(), cart.Node, fleet.LeaveOptions{DropCopies: drop})
		if err != nil || r.Site != s.url || (r.Dropped == 1) != drop || (r.Kept == 1) == drop {
			t.Errorf("drop %v: %+v %v", drop, r, err)
		}
		if got := texts(t, cart.Node)[fact]; (got == 1) == drop {
			t.Errorf("drop %v: %d copies", drop, got)
		}
		join()
		if got := texts(t, cart.Node)[fact]; got != 1 {
			t.Errorf("drop %v: %d copies after it has joined again", drop, got)
		}
	}
	if got := texts(t, s.Node)[fact]; got != 1 {
		t.Errorf("the site has it %d times", got)
	}
}

// A program that runs when a command leaves the site does not go on with it.
func TestARunningReplicatorEndsWhenItsMemoryLeaves(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	cart := newRobot(t, s, "cart", nil, local.Options{})
	if err := cart.Peer.Save(cart.Node); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		cart.Run(t.Context())
		close(ended)
	}()
	cart.learns(t, "said before", nil)
	for until := time.Now().Add(time.Minute); texts(t, s.Node)["said before"] == 0; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(until) {
			t.Fatal("nothing was sent")
		}
	}

	if _, err := fleet.LeaveSite(t.Context(), cart.Node, fleet.LeaveOptions{DropCopies: true}); err != nil {
		t.Fatal(err)
	}
	cart.learns(t, "said behind its back", nil)
	select {
	case <-ended:
	case <-time.After(time.Minute):
		t.Error("it goes on")
	}
	if texts(t, s.Node)["said behind its back"] != 0 {
		t.Error("what was learnt after the departure was sent")
	}
}
