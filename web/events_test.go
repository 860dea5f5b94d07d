package web_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/admin"
	"github.com/robotmem/robotmem-go/robotmem/local"
	"github.com/robotmem/robotmem-go/robotmem/progress"
	"github.com/robotmem/robotmem-go/web"
)

type event struct{ name, id, data string }

// follow opens a stream of events. next returns the next event without comments, and
// false at the end.
func follow(t *testing.T, method, url, body string, headers ...string) (res *http.Response, next func() (event, bool)) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // a stream that hangs
	t.Cleanup(cancel)
	req, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Accept", "text/event-stream")
	for _, line := range headers {
		k, v, _ := strings.Cut(line, ": ")
		req.Header.Set(k, v)
	}
	res, err = http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { res.Body.Close() })
	in := bufio.NewScanner(res.Body)
	in.Buffer(nil, 1<<20)
	return res, func() (e event, ok bool) {
		for in.Scan() {
			field, value, _ := strings.Cut(in.Text(), ": ")
			switch {
			case in.Text() == "" && e != event{}:
				return e, true
			case field == "event":
				e.name = value
			case field == "id":
				e.id = value
			case field == "data":
				e.data = value
			}
		}
		return e, false
	}
}

func learn(t *testing.T, e *local.Node, insight string) {
	t.Helper()
	if _, err := e.Learn(t.Context(), &robotmem.LearnRequest{Insight: insight}); err != nil {
		t.Fatal(err)
	}
}

func TestEventsTellOfChanges(t *testing.T) {
	e, url := serveNode(t, web.Options{})
	res, next := follow(t, "GET", url+"/api/events", "")
	if res.StatusCode != 200 || res.Header.Get("Content-Type") != "text/event-stream" || res.Header.Get("Cache-Control") != "no-store" {
		t.Fatalf("%s %v", res.Status, res.Header)
	}
	ready, _ := next()
	if ready.name != "ready" || ready.id == "" || ready.data != `{"change":`+ready.id+`}` {
		t.Fatalf("got %+v", ready)
	}
	learn(t, e, "the charger is behind the door")
	changed, _ := next()
	if changed.name != "change" || changed.id == ready.id || changed.data != `{"change":`+changed.id+`}` {
		t.Errorf("got %+v after %+v", changed, ready)
	}
	// A client that reconnects is told at once if it has missed changes, and only then.
	_, next = follow(t, "GET", url+"/api/events", "", "Last-Event-ID: "+ready.id)
	if got, _ := next(); got.name != "change" {
		t.Errorf("having missed some: %+v", got)
	}
}

func TestEventsTellOfAnotherProcess(t *testing.T) {
	path := filepath.Join(t.TempDir(), "memory.db")
	_, ts := serveFile(t, path, local.Options{}, web.Options{})
	_, next := follow(t, "GET", ts.URL+"/api/events", "")
	next()
	other, err := local.Open(t.Context(), path, local.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	learn(t, other, "the ramp is slippery")
	if got, _ := next(); got.name != "change" {
		t.Errorf("got %+v", got)
	}
}

// Open streams do not keep a server from stopping, which serveNode checks. They end.
func TestStreamsEndWithTheServer(t *testing.T) {
	var ended func() (event, bool)
	t.Run("server", func(t *testing.T) {
		_, url := serveNode(t, web.Options{})
		req, err := http.NewRequest("GET", url+"/api/events", nil)
		if err != nil {
			t.Fatal(err)
		}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		ended = func() (event, bool) {
			defer res.Body.Close()
			_, err := io.Copy(io.Discard, res.Body)
			return event{}, err != nil
		}
	})
	if _, cut := ended(); cut {
		t.Error("the stream was cut and not ended")
	}
}

func TestStreamsAreBounded(t *testing.T) {
	_, url := serveNode(t, web.Options{})
	for range 64 {
		_, next := follow(t, "GET", url+"/api/events", "")
		if got, _ := next(); got.name != "ready" {
			t.Fatalf("got %+v", got)
		}
	}
	res := mustGet(t, url+"/api/events")
	if res.StatusCode == 200 {
		t.Fatal("one more was opened")
	}
	if p := problemOf(t, res); p.Status != 503 || p.Kind != robotmem.Unavailable || !strings.Contains(p.Detail, "64") {
		t.Errorf("got %+v", p)
	}
	if res, _ := askBody(t, "GET", url+"/api/stats", ""); res.StatusCode != 200 {
		t.Errorf("beside the streams: %s", res.Status)
	}
}

func mustGet(t *testing.T, url string) *http.Response {
	t.Helper()
	res, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { res.Body.Close() })
	return res
}

func TestOperationsTellHowFarTheyAre(t *testing.T) {
	e, url := serveNode(t, web.Options{})
	learn(t, e, "the charger is behind the door")
	_, next := follow(t, "POST", url+"/api/repair", "{}", "Content-Type: application/json")
	var reports int
	for {
		got, ok := next()
		if !ok {
			t.Fatal("the stream ended without a result")
		}
		if got.name == "progress" {
			var p progress.Report
			if err := json.Unmarshal([]byte(got.data), &p); err != nil || p.Stage == "" {
				t.Errorf("%s: %v", got.data, err)
			}
			reports++
			continue
		}
		var r admin.RepairResponse
		if err := json.Unmarshal([]byte(got.data), &r); got.name != "result" || err != nil {
			t.Errorf("%+v: %v", got, err)
		}
		break
	}
	if reports == 0 {
		t.Error("no progress was told")
	}
	if _, more := next(); more {
		t.Error("more came after the result")
	}
}

func TestStreamedErrorsAreProblems(t *testing.T) {
	s := &stub{err: &robotmem.Error{Op: "learn", Kind: robotmem.Conflict, Field: "insight", Err: errors.New("the reason")}}
	for _, tt := range []struct {
		name, path, body string
		status           int
		want             string
	}{
		{"of the operation", "/api/learn", `{"insight":"x"}`, 200, `"kind":"conflict"`},
		{"of the request", "/api/learn?insight=caf%e9", ``, 400, `UTF-8`},
	} {
		res := do(web.NewServer(s, web.Options{}).Handler, "POST", tt.path, tt.body, "Accept: text/event-stream")
		body := bodyOf(t, res)
		if res.StatusCode != tt.status || !strings.Contains(body, tt.want) {
			t.Errorf("%s: %s %s", tt.name, res.Status, body)
		}
		if tt.status == 200 && (!strings.HasPrefix(body, "event: problem\ndata: {") || !strings.Contains(body, `"request_id":"`+res.Header.Get("X-Request-Id")+`"`)) {
			t.Errorf("%s: %s", tt.name, body)
		}
	}
	// Categories is not implemented by the stub: a nil pointer, as a bug would be.
	if body := bodyOf(t, do(web.NewServer(s, web.Options{}).Handler, "GET", "/api/categories", "", "Accept: text/event-stream")); !strings.Contains(body, "event: problem") || !strings.Contains(body, `"kind":"internal"`) {
		t.Errorf("a panic: %s", body)
	}
}
