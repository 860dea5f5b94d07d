package attach_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/robotmem/robotmem-go/robotmem/attach"
)

func TestHub(t *testing.T) {
	h := &attach.Hub{}
	s := httptest.NewServer(h)
	t.Cleanup(s.Close) // after the bodies below

	get := func(path, origin string) *http.Response {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		if origin != "" {
			req.Header.Set("Origin", origin)
		}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = res.Body.Close() })
		return res
	}
	for path, want := range map[string]int{"/warnings": 200, "/incidents/": 200, "/": 404} {
		if got := get(path, "").StatusCode; got != want {
			t.Errorf("%s: %d, want %d", path, got, want)
		}
	}
	if got := get("/events", "https://example.com").StatusCode; got != http.StatusForbidden {
		t.Errorf("a page of another origin gets %d", got)
	}

	// Nothing waits for a subscriber that does not read, and it still gets the newest.
	stream := bufio.NewScanner(get("/events", s.URL).Body)
	for i := range 250 {
		h.Warning(attach.Warning{Text: fmt.Sprint("w", i)})
	}
	h.Incident(attach.Incident{Text: "last"})
	timeout := time.AfterFunc(time.Minute, s.CloseClientConnections)
	defer timeout.Stop()
	for stream.Scan() {
		if line := stream.Text(); strings.HasPrefix(line, "data: ") && strings.Contains(line, `"last"`) {
			break
		}
	}
	if stream.Err() != nil || !strings.Contains(stream.Text(), "last") {
		t.Errorf("the stream ends with %q, %v", stream.Text(), stream.Err())
	}

	var kept struct{ Warnings []attach.Warning }
	if err := json.NewDecoder(get("/warnings", "").Body).Decode(&kept); err != nil {
		t.Fatal(err)
	}
	if n := len(kept.Warnings); n != 100 || kept.Warnings[n-1].Text != "w249" {
		t.Errorf("%d warnings are kept", n)
	}
}
