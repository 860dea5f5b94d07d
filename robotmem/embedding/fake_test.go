package embedding_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/robotmem/robotmem-go/robotmem/embedding"
)

// secret is the key, which must not appear in an error.
const secret = "sk-do-not-tell"

// request is a request to a fake service.
type request struct {
	path, key string
	texts     []string
}

// fake is an embedding service that speaks Ollama's API and OpenAI's. Its
// vectors are [length of the text, 1] unless a test sets a reply.
type fake struct {
	*httptest.Server

	mu       sync.Mutex
	reply    http.HandlerFunc // nil for good vectors
	requests []request
}

// reply answers with a status and a body.
func reply(status int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		fmt.Fprint(w, body)
	}
}

// rows answers with vectors, each in JSON, in the format of the API.
func rows(vectors ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/api/embed" {
			fmt.Fprintf(w, `{"model":"m","embeddings":[%s]}`, strings.Join(vectors, ","))
			return
		}
		data := make([]string, len(vectors))
		for i, v := range vectors {
			data[i] = fmt.Sprintf(`{"object":"embedding","index":%d,"embedding":%s}`, i, v)
		}
		fmt.Fprintf(w, `{"object":"list","data":[%s]}`, strings.Join(data, ","))
	}
}

// newFake starts a service. Requests without texts, which only load a model,
// are answered and not counted.
func newFake(t testing.TB) *fake {
	f := &fake{}
	f.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var in struct{ Input []string }
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
			http.Error(w, err.Error(), http.StatusTeapot)
			return
		}
		if len(in.Input) == 0 {
			rows()(w, r)
			return
		}
		f.mu.Lock()
		f.requests = append(f.requests, request{r.URL.Path, r.Header.Get("Authorization"), in.Input})
		reply := f.reply
		f.mu.Unlock()
		if reply == nil {
			vectors := make([]string, len(in.Input))
			for i, text := range in.Input {
				vectors[i] = fmt.Sprintf("[%d,1]", len(text))
			}
			reply = rows(vectors...)
		}
		reply(w, r)
	}))
	t.Cleanup(f.Close)
	return f
}

func (f *fake) set(reply http.HandlerFunc) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.reply = reply
}

// asked returns the requests so far.
func (f *fake) asked() []request {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]request(nil), f.requests...)
}

// options are those of an embedder of this service.
func (f *fake) options(now *clock) embedding.Options {
	return embedding.Options{OllamaURL: f.URL, OpenAIURL: f.URL, OpenAIKey: secret, Clock: now.Now}
}
