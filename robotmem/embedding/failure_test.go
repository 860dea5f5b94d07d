package embedding_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/embedding"
)

// services are the specs of embedders over the network.
var services = []string{"ollama:m", "openai:m"}

func withHeader(name, value string, then http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set(name, value)
		then(w, r)
	}
}

func TestFailures(t *testing.T) {
	ofModel := `{"error":"model \"m\" not found, try pulling it first"}`
	tests := []struct {
		name  string
		reply http.HandlerFunc
		kind  robotmem.Kind
		text  string
		pause time.Duration // 0 for none
	}{
		{"401", reply(401, `{"error":{"message":"Incorrect API key"}}`), robotmem.Forbidden, "401 Unauthorized; ", time.Minute},
		{"403", reply(403, ""), robotmem.Forbidden, "403 Forbidden; ", time.Minute},
		{"404 of a model", reply(404, ofModel), robotmem.NotFound, "has no model m; ", time.Minute},
		{"404 of a path", reply(404, "404 page not found"), robotmem.NotFound, "check the address", time.Minute},
		{"400 of a model", reply(400, `{"message":"The model m does not exist"}`), robotmem.NotFound, "has no model m; ", time.Minute},
		{"a model that only talks", reply(400, `{"error":"this model does not support embeddings"}`), robotmem.NotFound, "makes no embeddings", time.Minute},
		{"429", reply(429, ""), robotmem.Unavailable, "429 Too Many Requests", time.Minute},
		{"500", reply(500, `{"error":"out  of\nmemory"}`), robotmem.Unavailable, "500 Internal Server Error: out of memory;", time.Minute},
		{"429 with seconds", withHeader("Retry-After", "90", reply(429, "")), robotmem.Unavailable, "429", time.Minute},
		{"503", reply(503, ""), robotmem.Unavailable, "503", time.Minute},
		{"400", reply(400, `{"error":"input is too long"}`), robotmem.Invalid, "input is too long", 0},
		{"413", reply(413, ""), robotmem.Invalid, "refused a text", 0},
		{"half of an answer", reply(200, `{"data":[{"index":0,"embedding":[1,`), robotmem.Unavailable, "cannot be read", time.Minute},
		{"no JSON", reply(200, "<html>hello</html>"), robotmem.Unavailable, "cannot be read", time.Minute},
		{"nothing", reply(200, ""), robotmem.Unavailable, "", time.Minute},
		{"no vectors", rows(), robotmem.Unavailable, "0 vectors for 1 texts", time.Minute},
		{"too many vectors", rows("[1,2]", "[1,2]"), robotmem.Unavailable, "2 vectors for 1 texts", time.Minute},
		{"an empty vector", rows("[]"), robotmem.Unavailable, "of 0 and 0 numbers", time.Minute},
		{"zeros", rows("[0,0]"), robotmem.Unavailable, "only zeros for text 1 of 1", time.Minute},
		{"null for a number", rows("[1,null]"), robotmem.Unavailable, "null", time.Minute},
		{"null for a vector", rows("null"), robotmem.Unavailable, "", time.Minute},
		{"a number out of range", rows("[1,1e999]"), robotmem.Unavailable, "cannot be read", time.Minute},
		{"a number out of a float32", rows("[1,1e39]"), robotmem.Unavailable, "cannot be read", time.Minute},
		{"a connection that breaks", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, robotmem.Unavailable, "broke the connection", time.Minute},
		{"100 MB", hundredMegabytes, robotmem.Unavailable, "more than 32 MiB", time.Minute},
		{"an error without end", func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(500)
			for r.Context().Err() == nil {
				hundredMegabytes(w, r)
			}
		}, robotmem.Unavailable, "500", time.Minute},
	}
	for _, spec := range services {
		for _, test := range tests {
			t.Run(spec+"/"+test.name, func(t *testing.T) {
				t.Parallel()
				now, f := newClock(), newFake(t)
				e := open(t, spec, f.options(now))
				f.set(test.reply)
				_, err := e.Embed(t.Context(), robotmem.ForMemory, []string{"door"})
				if !errors.Is(err, test.kind) || !strings.Contains(err.Error(), test.text) {
					t.Errorf("got %v, want %s with %q", err, test.kind, test.text)
				}
				checkError(t, err)
				checkPause(t, e, f, now, spec, err, test.pause)
			})
		}
	}
}

// checkError checks what is true of every error.
func checkError(t *testing.T, err error) {
	t.Helper()
	if e := (*robotmem.Error)(nil); !errors.As(err, &e) {
		t.Errorf("got %T, want a *robotmem.Error", err)
	}
	if strings.Contains(err.Error(), secret) {
		t.Errorf("the key is told: %v", err)
	}
	if len(err.Error()) > 600 {
		t.Errorf("an error of %d bytes: %.100s", len(err.Error()), err)
	}
}

// checkPause checks that the service is not called during the pause, and called
// after it.
func checkPause(t *testing.T, e robotmem.Embedder, f *fake, now *clock, spec string, failure error, pause time.Duration) {
	t.Helper()
	want := robotmem.EmbedderState{Model: spec}
	if pause > 0 {
		want.Reason, want.Until = failure.Error(), now.Now().Add(pause)
	}
	if got := e.State(); got != want {
		t.Errorf("got the state %+v, want %+v", got, want)
	}
	f.set(nil)
	if pause > 0 {
		now.advance(pause - 1500*time.Millisecond)
		before := len(f.asked())
		_, err := e.Embed(t.Context(), robotmem.ForQuestion, []string{"door"})
		if !errors.Is(err, robotmem.Unavailable) || !strings.Contains(err.Error(), "for another 2 s") {
			t.Errorf("got %v within the pause, want Unavailable for another 2 s", err)
		}
		if got := len(f.asked()); got != before {
			t.Errorf("%d requests within the pause", got-before)
		}
		now.advance(1500 * time.Millisecond)
	}
	embed(t, e, robotmem.ForQuestion, "door")
	if got, want := e.State(), (robotmem.EmbedderState{Model: spec}); got != want {
		t.Errorf("got the state %+v after a success, want %+v", got, want)
	}
}

func hundredMegabytes(w http.ResponseWriter, _ *http.Request) {
	piece := bytes.Repeat([]byte(" "), 1<<20)
	for range 100 {
		if _, err := w.Write(piece); err != nil {
			return // whoever reads has had enough
		}
	}
}

func TestNextSteps(t *testing.T) {
	ofModel := `{"error":"model \"m:2b\" not found, try pulling it first"}`
	for _, test := range []struct {
		spec, text string
		key        string
		reply      http.HandlerFunc
	}{
		{"ollama:m:2b", "fetch it with `ollama pull m:2b`", "", reply(404, ofModel)},
		{"openai:m", "check the name of the model", "", reply(404, ofModel)},
		{"openai:m", "check the key", secret, reply(401, "")},
		{"openai:m", "check the key", "", reply(401, "")},
	} {
		f := newFake(t)
		f.set(test.reply)
		e := open(t, test.spec, embedding.Options{OllamaURL: f.URL, OpenAIURL: f.URL, OpenAIKey: test.key})
		if _, err := e.Embed(t.Context(), robotmem.ForMemory, []string{"door"}); err == nil || !strings.Contains(err.Error(), test.text) {
			t.Errorf("%s: got %v, want %q", test.spec, err, test.text)
		}
	}
}

// The key does not get into an error, even if a proxy echoes the request.
func TestKeyInAMessageIsNotTold(t *testing.T) {
	for _, body := range []string{secret + " is no key", `{"error":{"message":"` + secret + ` is no key"}}`, `{"message":"` + secret + ` is no key"}`} {
		f := newFake(t)
		e := open(t, "openai:m", f.options(newClock()))
		f.set(reply(500, body))
		_, err := e.Embed(t.Context(), robotmem.ForMemory, []string{"door"})
		if err == nil || !strings.Contains(err.Error(), "Error: … is no key") {
			t.Errorf("%s: got %v, want the message without the key", body, err)
		}
	}
}

func TestNothingListens(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	l.Close()
	for spec, text := range map[string]string{"ollama:m": "start it with `ollama serve`", "openai:m": "check its address"} {
		o := embedding.Options{OllamaURL: address, OpenAIURL: "http://user:" + secret + "@" + address + "/v1?key=" + secret, OpenAIKey: secret}
		e := open(t, spec, o)
		_, err := e.Embed(t.Context(), robotmem.ForMemory, []string{"door"})
		if !errors.Is(err, robotmem.Unavailable) || !strings.Contains(err.Error(), text) || !strings.Contains(err.Error(), "http://"+address) {
			t.Errorf("%s: got %v, want Unavailable with the address and %q", spec, err, text)
		}
		checkError(t, err)
	}
}

func TestHang(t *testing.T) {
	t.Parallel()
	for _, spec := range services {
		now, f := newClock(), newFake(t)
		o := f.options(now)
		o.QuestionTimeout = 300 * time.Millisecond
		e := open(t, spec, o)
		f.set(hang)
		_, err := e.Embed(t.Context(), robotmem.ForQuestion, []string{"door"})
		if !errors.Is(err, robotmem.Unavailable) || !strings.Contains(err.Error(), "no answer within 300ms") {
			t.Errorf("%s: got %v, want Unavailable after 300ms", spec, err)
		}
		checkPause(t, e, f, now, spec, err, time.Minute)
	}
}

// hang answers nothing until the caller closes the request.
func hang(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }

func TestRedirectToAnotherHostIsNotFollowed(t *testing.T) {
	for _, spec := range services {
		for _, status := range []int{http.StatusMovedPermanently, http.StatusFound, http.StatusTemporaryRedirect, http.StatusPermanentRedirect} {
			f, other := newFake(t), newFake(t)
			e := open(t, spec, f.options(newClock()))
			f.set(func(w http.ResponseWriter, r *http.Request) {
				http.Redirect(w, r, other.URL+r.URL.Path+"?key="+secret, status)
			})
			_, err := e.Embed(t.Context(), robotmem.ForMemory, []string{"door"})
			if !errors.Is(err, robotmem.Unavailable) || !strings.Contains(err.Error(), "redirects to "+other.URL) {
				t.Errorf("%s, %d: got %v, want Unavailable that names %s", spec, status, err, other.URL)
			}
			checkError(t, err)
			if got := other.asked(); len(got) > 0 {
				t.Errorf("%s, %d: the other host was asked: %v", spec, status, got)
			}
		}
	}
}

func TestRedirectOnTheSameHostIsFollowed(t *testing.T) {
	f := newFake(t)
	e := open(t, "openai:m", f.options(newClock()))
	f.set(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/embeddings" {
			http.Redirect(w, r, "/moved", http.StatusPermanentRedirect)
			return
		}
		rows("[1,2]")(w, r)
	})
	embed(t, e, robotmem.ForMemory, "door")
	asked := f.asked()
	if got := fmt.Sprint(asked[len(asked)-1]); got != "{/moved Bearer "+secret+" [door]}" {
		t.Errorf("got the request %s", got)
	}
}

// That the model was loaded does not end a pause: a request may have failed meanwhile.
func TestLoadingAModelDoesNotEndAPause(t *testing.T) {
	loading, loaded := make(chan bool), make(chan bool)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var in struct{ Input []string }
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil || len(in.Input) > 0 {
			w.WriteHeader(500)
			return
		}
		loading <- true
		<-loaded
		rows()(w, r)
	}))
	defer s.Close()
	e := open(t, "ollama:m", embedding.Options{OllamaURL: s.URL, Clock: newClock().Now})
	<-loading
	_, err := e.Embed(t.Context(), robotmem.ForMemory, []string{"door"})
	close(loaded)
	for range 100 {
		if reason := e.State().Reason; err == nil || reason != err.Error() {
			t.Fatalf("the pause is for %q after the error %v", reason, err)
		}
		time.Sleep(time.Millisecond)
	}
}
