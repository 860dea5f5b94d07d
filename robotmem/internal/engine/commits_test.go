package engine

import (
	"strings"
	"testing"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/admin"
)

// Every call that writes syncs once, and a call that writes nothing does not.
func TestCommitsPerCall(t *testing.T) {
	t.Parallel()
	e := openTest(t, Options{})
	ctx := t.Context()
	var session, memory = "", int64(0)
	photo := &robotmem.SavePerceptionRequest{Description: "the gripper above the tray", Data: strings.Repeat("x", 1000), Origin: "photo 1"}
	for _, call := range []struct {
		name    string
		commits int64
		run     func() error
	}{
		{"start_session", 1, func() error {
			res, err := e.StartSession(ctx, &robotmem.StartSessionRequest{})
			session = res.SessionID
			return err
		}},
		{"learn", 1, func() error {
			res, err := e.Learn(ctx, &robotmem.LearnRequest{Insight: "valve 3 sticks at 4 bar", SessionID: session, Context: robotmem.Object{"params": map[string]any{"pressure": 4}}})
			memory = res.MemoryID
			return err
		}},
		{"learn_batch", 1, func() error {
			_, err := e.LearnBatch(ctx, &robotmem.LearnBatchRequest{Items: facts(100)})
			return err
		}},
		{"update", 1, func() error {
			_, err := e.Update(ctx, &robotmem.UpdateRequest{MemoryID: memory, NewContent: "valve 3 sticks at 5 bar"})
			return err
		}},
		{"pin", 1, func() error {
			_, err := e.Pin(ctx, &admin.PinRequest{MemoryID: memory, Pinned: new(true)})
			return err
		}},
		{"save_perception", 1, func() error { _, err := e.SavePerception(ctx, photo); return err }},
		{"save_perception again", 0, func() error { _, err := e.SavePerception(ctx, photo); return err }},
		{"recall", 0, func() error {
			_, err := e.Recall(ctx, &robotmem.RecallRequest{Query: "valve", ForSession: session})
			return err
		}},
		{"end_session", 1, func() error {
			_, err := e.EndSession(ctx, &robotmem.EndSessionRequest{SessionID: session, OutcomeScore: new(1.0), UsedMemoryIDs: []int64{memory}})
			return err
		}},
		{"forget", 1, func() error {
			_, err := e.Forget(ctx, &robotmem.ForgetRequest{MemoryID: memory, Reason: "test"})
			return err
		}},
	} {
		before, bytes := e.Store.Written()
		if err := call.run(); err != nil {
			t.Fatal(call.name, err)
		}
		commits, after := e.Store.Written()
		if commits-before != call.commits || after-bytes < 4096*call.commits {
			t.Errorf("%s: %d commits of %d bytes, want %d", call.name, commits-before, after-bytes, call.commits)
		}
	}
	stats, err := e.Stats(ctx, &admin.StatsRequest{})
	if err != nil || stats.Commits < 8 || stats.LogBytes < 8*4096 {
		t.Errorf("stats: %d commits, %d bytes, %v", stats.Commits, stats.LogBytes, err)
	}
}

// The counts of recalls are kept when the session that would store them does not end.
func TestCountsOfARefusedEnd(t *testing.T) {
	t.Parallel()
	e := openTest(t, Options{})
	if _, err := e.Recall(t.Context(), &robotmem.RecallRequest{Query: "valve"}); err != nil {
		t.Fatal(err)
	}
	if _, err := e.EndSession(t.Context(), &robotmem.EndSessionRequest{SessionID: "no session"}); err == nil {
		t.Fatal("a session that does not exist was ended")
	}
	stats, err := e.Stats(t.Context(), &admin.StatsRequest{})
	if err != nil || stats.Recalls != 1 || stats.ZeroHits != 1 {
		t.Errorf("%d recalls, %d of them without a result, want 1 and 1 (%v)", stats.Recalls, stats.ZeroHits, err)
	}
}
