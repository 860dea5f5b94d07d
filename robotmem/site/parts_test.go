package site

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/local"
	"github.com/robotmem/robotmem-go/robotmem/robotmemtest/rounds"
)

// noise is a text that no compression makes shorter than half.
func noise(n int) string {
	b := make([]byte, n/2)
	_, _ = rand.Read(b)
	return hex.EncodeToString(b)
}

// Neither a thousand episodes that ended while the robot was away nor a memory with a long history keeps what comes
// after them from the site. What stays on the robot is named.
func TestNothingBlocksTheSync(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	r := newRobot(t, s, "arm-1", nil, local.Options{})
	ctx := t.Context()

	episodes := rounds.Of(400, 4000)
	for i := range episodes {
		id := fmt.Sprintf("run-%d", i)
		if _, err := r.StartSession(ctx, &robotmem.StartSessionRequest{SessionID: id, Context: robotmem.Object{"note": noise(6000)}}); err != nil {
			t.Fatal(err)
		}
		if _, err := r.EndSession(ctx, &robotmem.EndSessionRequest{SessionID: id, Outcome: "success"}); err != nil {
			t.Fatal(err)
		}
	}

	long := r.learns(t, "a text that changes often", nil)
	for i := range 160 {
		text := fmt.Sprintf("state %d of the text %s", i, noise(16_000))
		if _, err := r.Update(ctx, &robotmem.UpdateRequest{MemoryID: long, NewContent: text}); err != nil {
			t.Fatal(err)
		}
	}
	r.learns(t, "what comes after them", nil)
	r.sync(t)

	found := texts(t, s.Node)
	newest := 0
	for text := range found {
		if strings.HasPrefix(text, "state 159 ") {
			newest++
		}
	}
	if found["what comes after them"] != 1 || newest != 1 {
		t.Errorf("%d texts at the site", len(found))
	}
	sessions, err := s.Sessions(ctx, &robotmem.SessionsRequest{Status: "ended", Limit: 1})
	if err != nil || sessions.Total != int64(episodes) {
		t.Errorf("%d of %d episodes at the site, %v", sessions.Total, episodes, err)
	}

	status, err := r.Status(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if len(status.Refused) > 0 || status.Waiting != 0 {
		t.Errorf("%+v", status)
	}

	// The next sync sends what is new and nothing else.
	r.learns(t, "another day", nil)
	r.sync(t)
	if texts(t, s.Node)["another day"] != 1 {
		t.Error("the day after does not arrive")
	}
}
