package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/admin"
	"github.com/robotmem/robotmem-go/robotmem/client"
)

// node answers every request with one response and records the requests.
type node struct {
	status      int
	contentType string
	answer      string

	method, target, body string
	header               http.Header
}

func (n *node) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	n.method, n.target, n.body, n.header = r.Method, r.URL.RequestURI(), string(body), r.Header
	if n.contentType != "" {
		w.Header().Set("Content-Type", n.contentType)
	}
	w.WriteHeader(n.status)
	_, _ = io.WriteString(w, n.answer)
}

// whole is an object with every field of every answer.
func whole() string {
	fields := map[string]any{}
	for _, op := range robotmem.Ops() {
		for _, f := range reflect.VisibleFields(op.Out) {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			fields[name] = nil
		}
	}
	data, _ := json.Marshal(fields) // names alone
	return string(data)
}

// What another program answers to anything is no success.
func TestAnEmptyAnswerIsNoSuccess(t *testing.T) {
	for _, answer := range []string{`{}`, `null`, `{"status":"ok"}`, `[]`} {
		c := serve(t, &node{status: 200, answer: answer})
		for name, do := range map[string]func() error{
			"learn": func() error { _, err := c.Learn(t.Context(), &robotmem.LearnRequest{Insight: "x"}); return err },
			"forget": func() error {
				_, err := c.Forget(t.Context(), &robotmem.ForgetRequest{MemoryID: 1, Reason: "x"})
				return err
			},
			"recall": func() error { _, err := c.Recall(t.Context(), &robotmem.RecallRequest{Query: "x"}); return err },
			"end_session": func() error {
				_, err := c.EndSession(t.Context(), &robotmem.EndSessionRequest{SessionID: "x"})
				return err
			},
			"perception": func() error {
				_, err := c.SavePerceptionFrom(t.Context(), &robotmem.SavePerceptionRequest{Description: "a force"}, strings.NewReader("1"))
				return err
			},
		} {
			if err := do(); !errors.Is(err, robotmem.Unavailable) {
				t.Errorf("%s answered %s: %v", name, answer, err)
			}
		}
	}
}

// The token and what is to be stored reach no other address.
func TestRedirectsAreNotFollowed(t *testing.T) {
	other := &node{status: 200, answer: whole()}
	away := httptest.NewServer(other)
	t.Cleanup(away.Close)
	home := httptest.NewServer(http.RedirectHandler(away.URL, http.StatusTemporaryRedirect))
	t.Cleanup(home.Close)
	c := client.New(home.URL, client.Options{Token: "t0k"})
	if _, err := c.Learn(t.Context(), &robotmem.LearnRequest{Insight: "x"}); !errors.Is(err, robotmem.Unavailable) || !strings.Contains(err.Error(), "redirects to "+away.URL) {
		t.Errorf("got %v", err)
	}
	if other.method != "" {
		t.Errorf("it was sent on: %s %s with %v", other.method, other.body, other.header)
	}
}

func serve(t *testing.T, n *node) *client.Client {
	t.Helper()
	ts := httptest.NewServer(n)
	t.Cleanup(ts.Close)
	return client.New(ts.URL+"/", client.Options{HTTP: ts.Client(), Token: "t0k"})
}

func TestFieldsGoWhereTheRouteWantsThem(t *testing.T) {
	at := time.Date(2026, 3, 1, 14, 5, 0, 7, time.UTC)
	for _, tt := range []struct {
		name                 string
		do                   func(robotmem.Service) error
		method, target, body string
	}{
		{"post", func(s robotmem.Service) error {
			_, err := s.Learn(t.Context(), &robotmem.LearnRequest{Insight: "x", ObservedAt: &at, Context: robotmem.Object{"n": json.Number("12.50")}})
			return err
		}, "POST", "/api/learn", `{"context":{"n":12.50},"insight":"x","observed_at":"2026-03-01T14:05:00.000000007Z"}`},
		{"put", func(s robotmem.Service) error {
			_, err := s.Update(t.Context(), &robotmem.UpdateRequest{MemoryID: 7, NewContent: "y"})
			return err
		}, "PUT", "/api/memory/7", `{"new_content":"y"}`},
		{"delete", func(s robotmem.Service) error {
			_, err := s.Forget(t.Context(), &robotmem.ForgetRequest{MemoryID: 7, Reason: "a & b"})
			return err
		}, "DELETE", "/api/memory/7?reason=a+%26+b", ""},
		{"get", func(s robotmem.Service) error {
			_, err := s.List(t.Context(), &robotmem.ListRequest{Page: 2, ConfidenceMax: new(0.0)})
			return err
		}, "GET", "/api/memories?confidence_max=0&page=2", ""},
		{"text that looks like JSON", func(s robotmem.Service) error {
			_, err := s.Search(t.Context(), &robotmem.SearchRequest{Q: `{"a":1}`})
			return err
		}, "GET", "/api/search?q=%7B%22a%22%3A1%7D", ""},
		{"escaped path", func(s robotmem.Service) error {
			_, err := s.SessionMemories(t.Context(), &admin.SessionMemoriesRequest{SessionID: "a/b ?"})
			return err
		}, "GET", "/api/sessions/a%2Fb%20%3F/memories", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			n := &node{status: 200, answer: whole()}
			if err := tt.do(serve(t, n)); err != nil {
				t.Fatal(err)
			}
			got := []string{n.method, n.target, n.body}
			if diff := cmp.Diff([]string{tt.method, tt.target, tt.body}, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if n.header.Get("Authorization") != "Bearer t0k" || n.header.Get("Accept") != "application/json" {
				t.Errorf("headers %v", n.header)
			}
		})
	}
}

// Every method must call its own operation, whose name is a string.
func TestEveryMethodHasItsRoute(t *testing.T) {
	for _, op := range robotmem.Ops() {
		n := &node{status: 200, answer: whole()}
		request := `{"memory_id":7,"session_id":"s"}`
		fields := map[string]any{}
		for _, name := range op.Fields() {
			if strings.Contains(op.Path(), "{"+name+"}") {
				fields[name] = map[string]any{"memory_id": 7, "session_id": "s"}[name]
			}
		}
		if data, err := json.Marshal(fields); err == nil {
			request = string(data)
		}
		if _, err := op.Call(t.Context(), serve(t, n), json.RawMessage(request)); err != nil {
			t.Errorf("%s: %v", op.Name, err)
			continue
		}
		want := strings.NewReplacer("{memory_id}", "7", "{session_id}", "s").Replace(op.Path())
		path, _, _ := strings.Cut(n.target, "?")
		if n.method != op.Method() || path != want {
			t.Errorf("%s: asked %s %s", op.Name, n.method, n.target)
		}
	}
	if got, want := reflect.TypeFor[robotmem.Service]().NumMethod(), len(robotmem.Ops()); got != want {
		t.Errorf("%d methods, %d operations", got, want)
	}
}

func TestProblemsBecomeErrors(t *testing.T) {
	n := &node{status: 409, contentType: "application/problem+json", answer: `{"kind":"conflict","field":"session_id","detail":"ended","op":"end_session"}`}
	_, err := serve(t, n).EndSession(t.Context(), &robotmem.EndSessionRequest{SessionID: "s"})
	var e *robotmem.Error
	if !errors.As(err, &e) || !errors.Is(err, robotmem.Conflict) || e.Field != "session_id" || e.Op != "end_session" || e.Error() != "end_session: session_id: ended" {
		t.Errorf("got %#v", err)
	}
}

func TestWhatIsNoNodeIsUnavailable(t *testing.T) {
	for name, tt := range map[string]struct {
		node *node
		kind robotmem.Kind
	}{
		"a page":          {&node{status: 200, answer: "<html>"}, robotmem.Unavailable},
		"a proxy's error": {&node{status: 502, contentType: "text/html", answer: "bad gateway"}, robotmem.Unavailable},
		"a login":         {&node{status: 401, answer: "who?"}, robotmem.Unavailable},
		"a proxy's limit": {&node{status: 413, answer: "no"}, robotmem.Unavailable},
	} {
		_, err := serve(t, tt.node).Stats(t.Context(), &admin.StatsRequest{})
		if !errors.Is(err, tt.kind) || !strings.Contains(err.Error(), "not") || !strings.Contains(err.Error(), "robotmem node") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestNobodyThere(t *testing.T) {
	ts := httptest.NewServer(http.NotFoundHandler())
	ts.Close()
	_, err := client.New(ts.URL, client.Options{}).Stats(t.Context(), &admin.StatsRequest{})
	if !errors.Is(err, robotmem.Unavailable) || !strings.Contains(err.Error(), "is `robotmem web` running there?") || !strings.Contains(err.Error(), ts.URL) {
		t.Errorf("got %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := client.New(ts.URL, client.Options{}).Stats(ctx, &admin.StatsRequest{}); !errors.Is(err, context.Canceled) || !errors.Is(err, robotmem.Unavailable) {
		t.Errorf("cancelled: %v", err)
	}
}

func TestWhatJSONCannotCarryIsRefusedHere(t *testing.T) {
	n := &node{status: 200, answer: whole()}
	c := serve(t, n)
	_, learn := c.Learn(t.Context(), &robotmem.LearnRequest{Insight: "a\xff"})
	_, batch := c.LearnBatch(t.Context(), &robotmem.LearnBatchRequest{Items: []robotmem.LearnRequest{{Insight: "a"}, {Insight: "\xff"}}})
	_, nan := c.Learn(t.Context(), &robotmem.LearnRequest{Insight: "a", Context: robotmem.Object{"x": math.NaN()}})
	_, path := c.EndSession(t.Context(), &robotmem.EndSessionRequest{})
	for field, err := range map[string]error{"insight": learn, "items[1].insight": batch, "context": nan, "session_id": path} {
		var e *robotmem.Error
		if !errors.As(err, &e) || e.Kind != robotmem.Invalid || e.Field != field {
			t.Errorf("%s: %v", field, err)
		}
	}
	if n.method != "" {
		t.Error("the node was asked")
	}
}

func TestNumbersKeepTheirSpelling(t *testing.T) {
	n := &node{status: 200, answer: `{"memory_id":7,"uid":"x","context":{"params":{"f":12.50,"i":9007199254740993}},"params":{"f":12.50}}`}
	m, err := serve(t, n).Get(t.Context(), &robotmem.MemoryRequest{MemoryID: 7})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]any{"f": json.Number("12.50")}
	if diff := cmp.Diff(want, m.Params); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
