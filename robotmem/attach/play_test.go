package attach_test

import (
	"context"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/robotmem/robotmem-go/perception/importers/recording"
	"github.com/robotmem/robotmem-go/perception/importers/timeline"
	"github.com/robotmem/robotmem-go/robotmem/attach"
	"github.com/robotmem/robotmem-go/robotmem/attach/foxglove"
)

// watcher is a client that keeps what a player sends.
type watcher struct {
	client *foxglove.Client

	mu     sync.Mutex
	times  []uint64
	data   map[message]int
	states []*foxglove.PlaybackState
}

// watch connects to a server and subscribes to all of its channels.
func watch(t testing.TB, url string) *watcher {
	t.Helper()
	w := &watcher{data: map[message]int{}}
	var err error
	w.client, err = foxglove.Dial(t.Context(), "ws"+strings.TrimPrefix(url, "http"), foxglove.Options{
		Subscribe: func(*foxglove.Channel) bool { return true },
		Handler: foxglove.Handler{
			Message: func(c *foxglove.Channel, logTime uint64, data []byte) {
				w.mu.Lock()
				defer w.mu.Unlock()
				w.times = append(w.times, logTime)
				w.data[message{c.Topic, c.SchemaName + string(c.SchemaData), c.MessageEncoding, logTime, string(data)}]++
			},
			Playback: func(s *foxglove.PlaybackState) {
				w.mu.Lock()
				defer w.mu.Unlock()
				w.states = append(w.states, s)
			},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	running := make(chan struct{})
	go func() {
		defer close(running)
		_ = w.client.Run(t.Context())
	}()
	t.Cleanup(func() {
		_ = w.client.Close()
		<-running
	})
	return w
}

// until waits until a condition holds.
func (w *watcher) until(t testing.TB, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		w.mu.Lock()
		ok := holds()
		w.mu.Unlock()
		if ok {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("it never came to: %s; %d messages, states %+v", what, len(w.times), w.states)
		}
	}
}

// ended reports whether the last state says that the recording has ended.
func (w *watcher) ended() bool {
	return len(w.states) > 0 && w.states[len(w.states)-1].Status == foxglove.Ended
}

// A player sends all messages of a recording in the order of their time, and goes where a client wants.
func TestPlay(t *testing.T) {
	path := file(t, "recordings/nav_failures.mcap")
	want := map[message]int{}
	src, err := recording.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	for m, err := range src.Messages(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		want[message{m.Topic, m.SchemaName + string(m.SchemaData), m.MessageEncoding, m.LogTime, string(m.Data)}]++
	}

	recorded, err := timeline.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer recorded.Close()
	start, end, n := recorded.Span()
	player, err := attach.NewPlayer(recorded, attach.PlayOptions{Name: "nav", Speed: 100})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(player.Server())
	ctx, cancel := context.WithCancel(t.Context())
	played := make(chan error, 1)
	go func() { played <- player.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-played; err != nil {
			t.Error(err)
		}
		_ = player.Server().Close()
		server.Close()
	})

	w := watch(t, server.URL)
	if r := w.client.Info().Playback; r == nil || r.Start != start || r.End != end {
		t.Errorf("the span is %+v, want %d to %d", r, start, end)
	}
	w.until(t, "the end", w.ended)
	w.mu.Lock()
	if len(w.times) != int(n) || !slices.IsSorted(w.times) {
		t.Errorf("%d of %d messages, in the order of their time: %v", len(w.times), n, slices.IsSorted(w.times))
	}
	for m, count := range want {
		if w.data[m] != count {
			t.Errorf("%s at %d came %d times, want %d", m.Topic, m.Time, w.data[m], count)
		}
	}
	w.times = nil
	w.mu.Unlock()

	// Back to the middle, paused; nothing comes. Then it plays from there.
	middle := start + (end-start)/2
	ask := func(r *foxglove.PlaybackRequest) {
		t.Helper()
		if err := w.client.RequestPlayback(r); err != nil {
			t.Fatal(err)
		}
		w.until(t, "an answer to "+r.ID, func() bool {
			return slices.ContainsFunc(w.states, func(s *foxglove.PlaybackState) bool { return s.RequestID == r.ID })
		})
	}
	ask(&foxglove.PlaybackRequest{Command: foxglove.Pause, Speed: 100, SeekTime: &middle, ID: "seek"})
	time.Sleep(50 * time.Millisecond)
	w.mu.Lock()
	if s := w.states[len(w.states)-1]; len(w.times) > 0 || !s.DidSeek || s.Time != middle || s.Status != foxglove.Paused {
		t.Errorf("%d messages while it is paused; %+v", len(w.times), s)
	}
	w.mu.Unlock()
	ask(&foxglove.PlaybackRequest{Command: foxglove.Play, Speed: 200, ID: "play"})
	w.until(t, "the end again", w.ended)
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.times) == 0 || w.times[0] < middle || len(w.times) < int(n)/3 || len(w.times) > 2*int(n)/3 {
		t.Errorf("after the seek %d messages came, the first at %d", len(w.times), w.times[0])
	}
}
