package attach_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/robotmem/robotmem-go/robotmem/attach"
)

func TestWarningsAreFollowedThroughBreaks(t *testing.T) {
	h := &attach.Hub{}
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)

	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	told, lost := make(chan attach.Warning, 100), make(chan error, 100)
	go attach.FollowWarnings(ctx, s.URL+"/", func(w attach.Warning) { told <- w }, func(err error) { lost <- err })

	// A warning before the connection stands is not repeated, so it is given until it arrives.
	arrives := func(text string) {
		t.Helper()
		for {
			h.Warning(attach.Warning{Text: text, Failures: 2, Position: []float64{1, 2, 0}})
			h.Incident(attach.Incident{Text: "no warning"})

			select {
			case w := <-told:
				if w.Text == text && w.Failures == 2 && len(w.Position) == 3 {
					return
				}
			case <-time.After(100 * time.Millisecond):
			case <-ctx.Done():
				t.Fatalf("%q does not arrive", text)
			}
		}
	}
	arrives("before")
	s.CloseClientConnections()
	arrives("after")
	if err := <-lost; err == nil || !strings.Contains(err.Error(), "/events") {
		t.Errorf("the break is told as %v", err)
	}
}

func TestWhatIsNoHubIsNamed(t *testing.T) {
	s := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(s.Close)
	ctx, cancel := context.WithCancel(t.Context())
	lost := make(chan error, 1)
	go attach.FollowWarnings(ctx, s.URL, func(attach.Warning) { t.Error("a warning") }, func(err error) {
		lost <- err
		cancel()
	})
	if err := <-lost; !strings.Contains(err.Error(), "give the address that robotmem attach --listen prints") {
		t.Error(err)
	}

	if err := attach.CheckAddress("ws://127.0.0.1:8765"); err == nil {
		t.Error("an address of a bridge is taken")
	}
}
