package embedding_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/embedding"
)

// rerankService answers requests for reranking and records their paths and bodies.
type rerankService struct {
	url string

	mu     sync.Mutex
	answer http.HandlerFunc // gets the body again
	asked  []string         // path and body
	keys   map[string]bool
}

func newRerankService(t testing.TB, answer http.HandlerFunc) *rerankService {
	s := &rerankService{answer: answer, keys: map[string]bool{}}
	s.url = newRaw(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		s.mu.Lock()
		s.asked = append(s.asked, r.Method+" "+r.URL.Path+" "+string(body))
		s.keys[r.Header.Get("Authorization")] = true
		answer := s.answer
		s.mu.Unlock()
		r.Body = io.NopCloser(strings.NewReader(string(body)))
		answer(w, r)
	})
	return s
}

func (s *rerankService) set(answer http.HandlerFunc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answer = answer
}

func (s *rerankService) requests() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := s.asked
	s.asked = nil
	return out
}

func openReranker(t testing.TB, address string, o embedding.Options) robotmem.Reranker {
	t.Helper()
	r, err := embedding.OpenReranker(address, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.(io.Closer).Close() })
	return r
}

// field returns the texts of a field of the body, nil if there is none.
func field(r *http.Request, name string) []string {
	var body map[string]json.RawMessage
	var texts []string
	_ = json.NewDecoder(r.Body).Decode(&body)
	_ = json.Unmarshal(body[name], &texts)
	return texts
}

// The answers have the forms that the documentation of the services shows.

func jinaAnswer(w http.ResponseWriter, r *http.Request) {
	if field(r, "documents") == nil {
		reply(422, `{"detail":"documents: field required"}`)(w, r)
		return
	}
	fmt.Fprint(w, `{"model":"jina-reranker-v2-base-multilingual","usage":{"total_tokens":815},"results":[
		{"index":2,"document":{"text":"c"},"relevance_score":0.8780},
		{"index":0,"document":{"text":"a"},"relevance_score":0.1164},
		{"index":1,"document":{"text":"b"},"relevance_score":-0.05}]}`)
}

func cohereAnswer(w http.ResponseWriter, _ *http.Request) {
	fmt.Fprint(w, `{"id":"07734bd2-2473-4f07-94e1-0d9f0e6843cf","results":[
		{"index":2,"relevance_score":0.999071},{"index":0,"relevance_score":0.32713068},{"index":1,"relevance_score":0.1}],
		"meta":{"api_version":{"version":"2"},"billed_units":{"search_units":1}}}`)
}

func llamaAnswer(w http.ResponseWriter, _ *http.Request) {
	fmt.Fprint(w, `{"model":"bge","object":"list","usage":{"prompt_tokens":48,"total_tokens":48},
		"results":[{"index":0,"relevance_score":-8.2},{"index":1,"relevance_score":-11.0},{"index":2,"relevance_score":4.3}]}`)
}

func teiAnswer(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path != "/rerank" {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	if field(r, "texts") == nil {
		reply(422, "Failed to deserialize the JSON body into the target type: missing field `texts` at line 1 column 40")(w, r)
		return
	}
	fmt.Fprint(w, `[{"index":2,"score":0.9976},{"index":0,"score":0.0124},{"index":1,"score":0.0001}]`)
}

func TestRerankProtocols(t *testing.T) {
	documents := `{"documents":["a","b","c"],"query":"q","top_n":3}`
	named := `{"documents":["a","b","c"],"model":"rank-1","query":"q","top_n":3}`
	texts := `{"query":"q","texts":["a","b","c"],"truncate":true}`
	only := func(path string, answer http.HandlerFunc, otherwise int) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != path {
				reply(otherwise, `{"error":{"message":"File Not Found"}}`)(w, r)
				return
			}
			answer(w, r)
		}
	}
	for _, tt := range []struct {
		name, path, model string
		answer            http.HandlerFunc
		want              []float64
		asked             []string // by the first call; the second is its last
	}{
		{"Jina", "", "rank-1", only("/v1/rerank", jinaAnswer, 404), []float64{0.1164, -0.05, 0.878}, []string{"/v1/rerank " + named}},
		{"llama.cpp", "", "", only("/v1/rerank", llamaAnswer, 404), []float64{-8.2, -11, 4.3}, []string{"/v1/rerank " + documents}},
		{"Cohere", "/v2/rerank", "rank-1", only("/v2/rerank", cohereAnswer, 404), []float64{0.32713068, 0.1, 0.999071}, []string{"/v2/rerank " + named}},
		{"a slash at the end", "/v2/rerank/", "", only("/v2/rerank", cohereAnswer, 404), []float64{0.32713068, 0.1, 0.999071}, []string{"/v2/rerank " + documents}},
		{"only /rerank", "", "", only("/rerank", jinaAnswer, 405), []float64{0.1164, -0.05, 0.878}, []string{"/v1/rerank " + documents, "/rerank " + documents}},
		{"below a path", "/models/a", "", only("/models/a/v1/rerank", jinaAnswer, 404), []float64{0.1164, -0.05, 0.878}, []string{"/models/a/v1/rerank " + documents}},
		{"Text Embeddings Inference", "", "", teiAnswer, []float64{0.0124, 0.0001, 0.9976}, []string{"/v1/rerank " + documents, "/rerank " + documents, "/rerank " + texts}},
		{"Text Embeddings Inference by its path", "/rerank", "", teiAnswer, []float64{0.0124, 0.0001, 0.9976}, []string{"/rerank " + documents, "/rerank " + texts}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newRerankService(t, tt.answer)
			r := openReranker(t, s.url+tt.path, embedding.Options{RerankerModel: tt.model, RerankerKey: secret})
			want := make([]string, len(tt.asked))
			for i := range want {
				want[i] = "POST " + tt.asked[i]
			}
			for range 2 {
				got, err := r.Rerank(t.Context(), "q", []string{"a", "b", "c"})
				if diff := cmp.Diff(tt.want, got); diff != "" || err != nil {
					t.Fatalf("error %v, scores (-want +got):\n%s", err, diff)
				}
				if diff := cmp.Diff(want, s.requests()); diff != "" {
					t.Errorf("requests (-want +got):\n%s", diff)
				}
				want = want[len(want)-1:] // what worked is remembered
			}
			if diff := cmp.Diff(map[string]bool{"Bearer " + secret: true}, s.keys); diff != "" {
				t.Errorf("keys (-want +got):\n%s", diff)
			}
		})
	}
}

// Another service at the address is found after one failure.
func TestRerankForgetsAFormThatNoLongerWorks(t *testing.T) {
	now := newClock()
	s := newRerankService(t, jinaAnswer)
	r := openReranker(t, s.url, embedding.Options{Clock: now.Now})
	texts := []string{"a", "b", "c"}
	if _, err := r.Rerank(t.Context(), "q", texts); err != nil {
		t.Fatal(err)
	}
	s.set(teiAnswer)
	if _, err := r.Rerank(t.Context(), "q", texts); !errors.Is(err, robotmem.NotFound) {
		t.Errorf("got %v, want not found", err)
	}
	now.advance(time.Minute)
	if got, err := r.Rerank(t.Context(), "q", texts); err != nil || got[2] != 0.9976 {
		t.Errorf("got %v, %v", got, err)
	}
}

func TestRerankLeavesOutTexts(t *testing.T) {
	s := newRerankService(t, reply(200, `{"results":[{"index":1,"relevance_score":-3}]}`))
	got, err := openReranker(t, s.url, embedding.Options{}).Rerank(t.Context(), "q", []string{"a", "b"})
	if err != nil || !math.IsInf(got[0], -1) || got[1] != -3 {
		t.Errorf("got %v, %v, want -Inf for the text that is left out", got, err)
	}
}

func TestBadScores(t *testing.T) {
	other := newRerankService(t, jinaAnswer)
	for name, tt := range map[string]struct {
		answer http.HandlerFunc
		want   string
		kind   robotmem.Kind
	}{
		"an index above":       {reply(200, `{"results":[{"index":3,"relevance_score":1}]}`), "without the index", robotmem.Unavailable},
		"an index below":       {reply(200, `[{"index":-1,"score":1}]`), "without the index", robotmem.Unavailable},
		"no index":             {reply(200, `[{"score":1}]`), "without the index", robotmem.Unavailable},
		"half an index":        {reply(200, `[{"index":0.5,"score":1}]`), "cannot be read", robotmem.Unavailable},
		"an index twice":       {reply(200, `[{"index":0,"score":1},{"index":0,"score":2}]`), "two scores for text 0", robotmem.Unavailable},
		"null":                 {reply(200, `{"results":[{"index":0,"relevance_score":null}]}`), "no number", robotmem.Unavailable},
		"no score":             {reply(200, `{"results":[{"index":0}]}`), "no number", robotmem.Unavailable},
		"NaN":                  {reply(200, `{"results":[{"index":0,"relevance_score":NaN}]}`), "cannot be read", robotmem.Unavailable},
		"too large":            {reply(200, `{"results":[{"index":0,"relevance_score":1e999}]}`), "cannot be read", robotmem.Unavailable},
		"a text":               {reply(200, `{"results":[{"index":0,"relevance_score":"1"}]}`), "cannot be read", robotmem.Unavailable},
		"none":                 {reply(200, `{"results":[]}`), "answered no scores for 3 texts", robotmem.Unavailable},
		"another object":       {reply(200, `{"data":[]}`), "answered no scores", robotmem.Unavailable},
		"null alone":           {reply(200, `null`), "answered no scores", robotmem.Unavailable},
		"HTML":                 {reply(200, `<html><body>It works!</body></html>`), "cannot be read", robotmem.Unavailable},
		"nothing":              {reply(200, ``), "cannot be read", robotmem.Unavailable},
		"half":                 {reply(200, `{"results":[{"index":0,`), "cannot be read", robotmem.Unavailable},
		"too much":             {reply(200, `[{"index":0,"score":1,"text":"`+strings.Repeat("x", 2<<20)+`"}]`), "more than 1 MiB", robotmem.Unavailable},
		"500":                  {reply(500, `{"error":{"message":"input is too large to process, key `+secret+`"}}`), "input is too large to process", robotmem.Unavailable},
		"501":                  {reply(501, `{"error":{"message":"This server does not support reranking. Start it with --reranking"}}`), "does not support reranking", robotmem.Unavailable},
		"a model is missing":   {reply(422, `{"message":"model is required"}`), "refused the request (422 Unprocessable Entity: model is required); set reranker_model", robotmem.Invalid},
		"the model is unknown": {reply(404, `{"error":{"message":"The model rank-1 does not exist."}}`), "has no model rank-1; check the setting reranker_model", robotmem.NotFound},
		"no such page":         {reply(404, `404 page not found`), "404 Not Found", robotmem.NotFound},
		"no such key":          {reply(401, `{"error":"bad key `+secret+`"}`), "check the key", robotmem.Forbidden},
		"a redirect": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, other.url+r.URL.Path+"?key="+secret, http.StatusTemporaryRedirect)
		}, "redirects to " + other.url, robotmem.Unavailable},
		"a broken connection": {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, "broke the connection", robotmem.Unavailable},
	} {
		t.Run(name, func(t *testing.T) {
			s := newRerankService(t, tt.answer)
			var log strings.Builder
			o := embedding.Options{RerankerModel: "rank-1", RerankerKey: secret, Logger: slog.New(slog.NewTextHandler(&log, nil))}
			r := openReranker(t, s.url, o)
			got, err := r.Rerank(t.Context(), "q", []string{"a", "b", "c"})
			if got != nil || !errors.Is(err, tt.kind) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, %v, want %q", got, err, tt.want)
			}
			state := r.State()
			if state.Reason == "" || state.Until.IsZero() {
				t.Errorf("got the state %+v, want a pause", state)
			}
			if all := fmt.Sprint(err, state, log.String()); strings.Contains(all, secret) {
				t.Errorf("the key is in %s", all)
			}
		})
	}
	if asked := other.requests(); len(asked) > 0 {
		t.Errorf("the other host was asked: %v", asked)
	}
}

func TestRerankPauses(t *testing.T) {
	now := newClock()
	s := newRerankService(t, reply(500, ""))
	r := openReranker(t, s.url, embedding.Options{Clock: now.Now})
	ask := func() error {
		_, err := r.Rerank(t.Context(), "q", []string{"a", "b", "c"})
		return err
	}
	pauses := func(n int) (got []time.Duration) {
		for range n {
			if err := ask(); !errors.Is(err, robotmem.Unavailable) {
				t.Fatalf("got %v, want Unavailable", err)
			}
			got = append(got, r.State().Until.Sub(now.Now()))
			s.requests()
			if err := ask(); !errors.Is(err, robotmem.Unavailable) || !strings.Contains(err.Error(), "paused for another") {
				t.Errorf("during the pause: got %v", err)
			}
			if asked := s.requests(); len(asked) > 0 {
				t.Errorf("the service was asked during the pause: %v", asked)
			}
			now.advance(got[len(got)-1])
		}
		return got
	}
	want := []time.Duration{60 * time.Second, 120 * time.Second, 240 * time.Second, 300 * time.Second, 300 * time.Second}
	if diff := cmp.Diff(want, pauses(5)); diff != "" {
		t.Errorf("pauses (-want +got):\n%s", diff)
	}
	s.set(jinaAnswer)
	if err := ask(); err != nil || r.State().Reason != "" {
		t.Errorf("after the pause: %v, %+v", err, r.State())
	}
	s.set(reply(500, ""))
	if diff := cmp.Diff(want[:2], pauses(2)); diff != "" {
		t.Errorf("pauses after a success (-want +got):\n%s", diff)
	}
}

// A service that hangs is paused; a caller that gives it little time or goes away says nothing of it.
func TestRerankTimeLimits(t *testing.T) {
	s := newRerankService(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	for name, tt := range map[string]struct {
		limit   time.Duration // of the service
		context func(context.Context) (context.Context, context.CancelFunc)
		paused  bool
	}{
		"the service is too slow": {50 * time.Millisecond, context.WithCancel, true},
		"the caller leaves": {time.Minute, func(ctx context.Context) (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithCancel(ctx)
			time.AfterFunc(20*time.Millisecond, cancel)
			return ctx, cancel
		}, false},
		"the caller has little time": {time.Minute, func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeout(ctx, 50*time.Millisecond)
		}, false},
		"the caller has had enough time": {time.Minute, func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeout(ctx, 1100*time.Millisecond)
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := openReranker(t, s.url, embedding.Options{QuestionTimeout: tt.limit})
			ctx, cancel := tt.context(t.Context())
			defer cancel()
			_, err := r.Rerank(ctx, "q", []string{"a", "b"})
			if paused := r.State().Reason != ""; !errors.Is(err, robotmem.Unavailable) || paused != tt.paused {
				t.Errorf("got %v, paused %v, want %v", err, paused, tt.paused)
			}
		})
	}
}

func TestRerankClipsTexts(t *testing.T) {
	var sent []string
	s := newRerankService(t, func(w http.ResponseWriter, r *http.Request) {
		sent = field(r, "documents")
		fmt.Fprint(w, `[{"index":0,"score":1}]`)
	})
	long := strings.Repeat("夹爪", 1000)
	if _, err := openReranker(t, s.url, embedding.Options{}).Rerank(t.Context(), "q", []string{long, "short"}); err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(long, sent[0]) || !utf8.ValidString(sent[0]) || len(sent[0]) < 2000 || len(sent[0]) > 2048 || sent[1] != "short" {
		t.Errorf("sent %d bytes %q…, and %q", len(sent[0]), sent[0][:9], sent[1])
	}
}

func TestOpenReranker(t *testing.T) {
	for _, none := range []string{"", "none", " "} {
		if r, err := embedding.OpenReranker(none, embedding.Options{}); r != nil || err != nil {
			t.Errorf("%q: got %v, %v", none, r, err)
		}
	}
	for _, bad := range []string{"ftp://host", "http://[::1", "http://host:port"} {
		_, err := embedding.OpenReranker(bad, embedding.Options{})
		if known := (*robotmem.Error)(nil); !errors.Is(err, robotmem.Invalid) || !errors.As(err, &known) || known.Field != "reranker" {
			t.Errorf("%q: got %v, want reranker to be invalid", bad, err)
		}
	}
	r := openReranker(t, "https://user:"+secret+"@rank.example/v2/rerank?key="+secret, embedding.Options{RerankerModel: "rank-1"})
	if got, want := r.State(), (robotmem.RerankerState{Model: "rank-1 at https://rank.example"}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}
