package engine

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/admin"
)

// await starts a Changes call and returns a channel for its response.
func await(ctx context.Context, e *Engine, since int64) <-chan error {
	got := make(chan error, 1)
	go func() {
		res, err := e.Changes(ctx, &admin.ChangesRequest{Since: &since, WaitMS: 60000})
		if err == nil && !res.Changed {
			err = errors.New("the time was over")
		}
		got <- err
	}()
	return got
}

// begun lets the calls that were started wait.
func begun() { time.Sleep(watchInterval / 2) }

func counterOf(t *testing.T, e *Engine) int64 {
	t.Helper()
	res, err := e.Changes(t.Context(), &admin.ChangesRequest{})
	if err != nil {
		t.Fatal(err)
	}
	return res.Change
}

func TestAWriteOfAnotherProcessIsNoticed(t *testing.T) {
	t.Parallel()
	e := openTest(t, Options{})
	other, err := openFile(t.Context(), e.Store.Path(), Options{}) // shares nothing with e but the file
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	var all []<-chan error
	since := counterOf(t, e)
	for range 3 * 4 {
		all = append(all, await(t.Context(), e, since))
	}
	begun()
	// Waiting calls hold no connection: other calls are answered.
	for range 3 {
		if _, err := e.Stats(t.Context(), &admin.StatsRequest{}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := other.Learn(t.Context(), &robotmem.LearnRequest{Insight: "by another"}); err != nil {
		t.Fatal(err)
	}
	for _, got := range all {
		if err := <-got; err != nil {
			t.Error(err)
		}
	}
}

func TestAWriteOfOurOwnIsNoticed(t *testing.T) {
	t.Parallel()
	e := openTest(t, Options{})
	got := await(t.Context(), e, counterOf(t, e))
	begun()
	if _, err := e.Learn(t.Context(), &robotmem.LearnRequest{Insight: "our own"}); err != nil {
		t.Fatal(err)
	}
	if err := <-got; err != nil {
		t.Error(err)
	}
}

func TestAWaitEndsWithItsCallerOrTheEngine(t *testing.T) {
	t.Parallel()
	e := openTest(t, Options{})
	since := counterOf(t, e)
	ctx, cancel := context.WithCancel(t.Context())
	given, closed := await(ctx, e, since), await(t.Context(), e, since)
	begun()
	cancel()
	if err := <-given; robotmem.KindOf(err) != robotmem.Unavailable {
		t.Errorf("given up: %v", err)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-closed; robotmem.KindOf(err) != robotmem.Unavailable {
		t.Errorf("closed: %v", err)
	}
	if _, err := e.Changes(t.Context(), &admin.ChangesRequest{}); robotmem.KindOf(err) != robotmem.Unavailable {
		t.Errorf("after: %v", err)
	}
}
