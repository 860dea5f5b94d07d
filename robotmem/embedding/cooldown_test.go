package embedding_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/embedding"
)

func TestPausesGrowUntilASuccess(t *testing.T) {
	now, f := newClock(), newFake(t)
	e := open(t, "openai:m", f.options(now))
	var got []time.Duration
	fail := func(times int) {
		f.set(reply(500, ""))
		for range times {
			if _, err := e.Embed(t.Context(), robotmem.ForMemory, []string{"door"}); !errors.Is(err, robotmem.Unavailable) {
				t.Fatalf("got %v, want Unavailable", err)
			}
			pause := e.State().Until.Sub(now.Now())
			got = append(got, pause)
			now.advance(pause)
		}
		f.set(nil)
	}
	fail(6)
	embed(t, e, robotmem.ForMemory, "door")
	fail(2)
	want := []time.Duration{60, 120, 240, 300, 300, 300, 60, 120}
	for i := range want {
		want[i] *= time.Second
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("pauses (-want +got):\n%s", diff)
	}
}

func TestStateAfterAPauseIsWorthAsking(t *testing.T) {
	now, f := newClock(), newFake(t)
	e := open(t, "openai:m", f.options(now))
	f.set(reply(500, ""))
	_, _ = e.Embed(t.Context(), robotmem.ForMemory, []string{"door"})
	now.advance(time.Minute)
	if got, want := e.State(), (robotmem.EmbedderState{Model: "openai:m"}); got != want {
		t.Errorf("got the state %+v, want %+v", got, want)
	}
}

// A caller that stops waiting is no failure of the service.
func TestCallerThatGivesUpStartsNoPause(t *testing.T) {
	for _, spec := range services {
		for name, limit := range map[string]func(context.Context) (context.Context, context.CancelFunc){
			"canceled": func(ctx context.Context) (context.Context, context.CancelFunc) {
				ctx, cancel := context.WithCancel(ctx)
				time.AfterFunc(20*time.Millisecond, cancel)
				return ctx, cancel
			},
			"a short deadline": func(ctx context.Context) (context.Context, context.CancelFunc) {
				return context.WithTimeout(ctx, 20*time.Millisecond)
			},
		} {
			f := newFake(t)
			e := open(t, spec, f.options(newClock()))
			f.set(hang)
			ctx, cancel := limit(t.Context())
			_, err := e.Embed(ctx, robotmem.ForMemory, []string{"door"})
			cancel()
			if !errors.Is(err, robotmem.Unavailable) || !errors.Is(err, ctx.Err()) {
				t.Errorf("%s, %s: got %v, want Unavailable over %v", spec, name, err, ctx.Err())
			}
			if got, want := e.State(), (robotmem.EmbedderState{Model: spec}); got != want {
				t.Errorf("%s, %s: got the state %+v, want %+v", spec, name, got, want)
			}
		}
	}
}

// A service that hangs is paused even if the deadline of each caller is earlier
// than the time limit.
func TestDeadlineWithPatienceStartsAPause(t *testing.T) {
	t.Parallel()
	now, f := newClock(), newFake(t)
	e := open(t, "openai:m", f.options(now))
	f.set(hang)
	ctx, cancel := context.WithTimeout(t.Context(), 1100*time.Millisecond)
	defer cancel()
	_, err := e.Embed(ctx, robotmem.ForMemory, []string{"door"})
	checkPause(t, e, f, now, "openai:m", err, time.Minute)
}

func TestFailuresSideBySideCountOnce(t *testing.T) {
	now, f := newClock(), newFake(t)
	e := open(t, "openai:m", f.options(now))
	var all sync.WaitGroup
	const callers = 5
	all.Add(callers)
	f.set(func(w http.ResponseWriter, r *http.Request) {
		all.Done()
		all.Wait()
		w.WriteHeader(http.StatusInternalServerError)
	})
	var calls sync.WaitGroup
	for range callers {
		calls.Go(func() { _, _ = e.Embed(t.Context(), robotmem.ForMemory, []string{"door"}) })
	}
	calls.Wait()
	if got, want := e.State().Until.Sub(now.Now()), time.Minute; got != want {
		t.Errorf("got a pause of %v, want %v", got, want)
	}
}

// After a caller that gives up, the next caller may try the service again.
func TestTurnIsGivenBack(t *testing.T) {
	now, f := newClock(), newFake(t)
	e := open(t, "openai:m", f.options(now))
	f.set(reply(500, ""))
	_, _ = e.Embed(t.Context(), robotmem.ForMemory, []string{"door"})
	now.advance(time.Minute)
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := e.Embed(canceled, robotmem.ForMemory, []string{"door"}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want canceled", err)
	}
	f.set(reply(400, ""))
	if _, err := e.Embed(t.Context(), robotmem.ForMemory, []string{"door"}); !errors.Is(err, robotmem.Invalid) {
		t.Errorf("got %v, want Invalid", err)
	}
	f.set(nil)
	embed(t, e, robotmem.ForMemory, "door")
}

func TestQuestionsOfThePastAreAnsweredInAPause(t *testing.T) {
	f := newFake(t)
	e := open(t, "openai:m", f.options(newClock()))
	first := embed(t, e, robotmem.ForQuestion, "door")
	first[0][0] = -1 // the caller's own from now on
	f.set(reply(500, ""))
	_, _ = e.Embed(t.Context(), robotmem.ForMemory, []string{"wall"})
	for range 2 {
		again := embed(t, e, robotmem.ForQuestion, "door")
		if diff := cmp.Diff([][]float32{{4, 1}}, again); diff != "" {
			t.Errorf("vectors (-want +got):\n%s", diff)
		}
		again[0][0] = -1
	}
}

// slowToEnd is a transport whose requests never get an answer and take a while
// to notice that they are canceled.
type slowToEnd struct {
	begun chan bool
	ended atomic.Bool
}

func (s *slowToEnd) RoundTrip(r *http.Request) (*http.Response, error) {
	s.begun <- true
	<-r.Context().Done()
	time.Sleep(50 * time.Millisecond)
	s.ended.Store(true)
	return nil, r.Context().Err()
}

// Close ends the background work and waits for it. It may be called twice.
func TestCloseEndsTheBackground(t *testing.T) {
	for _, spec := range []string{"ollama:m"} {
		transport := &slowToEnd{begun: make(chan bool, 1)}
		e := open(t, spec, embedding.Options{HTTPClient: &http.Client{Transport: transport}})
		<-transport.begun
		closeNow(t, e)
		if !transport.ended.Load() {
			t.Errorf("%s: a request goes on after Close", spec)
		}
		if got := e.State().Reason; got != "" {
			t.Errorf("%s: got the reason %q after Close", spec, got)
		}
	}
}

// closeNow closes an embedder before its test ends.
func closeNow(t testing.TB, e robotmem.Embedder) {
	t.Helper()
	if err := e.(io.Closer).Close(); err != nil {
		t.Fatal(err)
	}
}
