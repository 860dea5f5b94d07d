package embedding_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/embedding"
)

// tagged answers /api/tags with a list, and /api/embed with good vectors.
func tagged(lists *atomic.Int64, list func() string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/api/tags" {
			fmt.Fprintf(w, `{"models":[%s]}`, list())
			lists.Add(1)
			return
		}
		rows("[1,2]")(w, r)
	}
}

func entry(name, family string) string {
	return fmt.Sprintf(`{"name":%q,"model":%q,"details":{"family":%q,"families":null}}`, name, name, family)
}

func TestAutoChooses(t *testing.T) {
	for name, test := range map[string]struct {
		list []string
		want string
	}{
		"the preferred before the first":   {[]string{entry("all-minilm:latest", "bert"), entry("nomic-embed-text:latest", "nomic-bert")}, "ollama:nomic-embed-text"},
		"a tag":                            {[]string{entry("mxbai-embed-large:335m", "bert")}, "ollama:mxbai-embed-large:335m"},
		"somebody's copy":                  {[]string{entry("someone/bge-m3:latest", "bert")}, "ollama:someone/bge-m3"},
		"a family":                         {[]string{entry("llama3:8b", "llama"), entry("paraphrase:latest", "bert")}, "ollama:paraphrase"},
		"a name":                           {[]string{entry("llama3:8b", "llama"), entry("My-Embedder:latest", "other")}, "ollama:My-Embedder"},
		"the preferred before a family":    {[]string{entry("paraphrase:latest", "bert"), entry("qwen3-embedding:0.6b", "qwen3")}, "ollama:qwen3-embedding:0.6b"},
		"no name that only begins like it": {[]string{entry("x-embed:latest", "other"), entry("all-minilm:22m", "bert"), entry("bge-m3-chat:latest", "llama")}, "ollama:all-minilm:22m"},
	} {
		t.Run(name, func(t *testing.T) {
			var lists atomic.Int64
			url := newRaw(t, tagged(&lists, func() string { return strings.Join(test.list, ",") }))
			e := open(t, "auto", embedding.Options{OllamaURL: url, Clock: newClock().hasty})
			if got := waitForModel(t, e); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
			embed(t, e, robotmem.ForQuestion, "door")
		})
	}
}

func TestAutoLooksAgain(t *testing.T) {
	var lists atomic.Int64
	var installed atomic.Bool
	url := newRaw(t, tagged(&lists, func() string {
		if installed.Load() {
			return entry("nomic-embed-text:latest", "nomic-bert")
		}
		return entry("llama3:8b", "llama")
	}))
	now := newClock()
	e, err := openSpec("", url, now)
	if err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(5 * time.Second); lists.Load() == 0 && time.Now().Before(deadline); {
		time.Sleep(time.Millisecond)
	}
	installed.Store(true)
	now.advance(2 * time.Minute)
	for range 50 {
		time.Sleep(time.Millisecond) // a search that should not be would be over
		if got := e.State(); got != (robotmem.EmbedderState{}) {
			t.Fatalf("got the state %+v before it was time to look again, want none", got)
		}
	}
	_, err = e.Embed(t.Context(), robotmem.ForMemory, []string{"door"})
	if !errors.Is(err, robotmem.Unavailable) || !strings.Contains(err.Error(), "`ollama pull nomic-embed-text`") {
		t.Errorf("got %v, want Unavailable with what to do", err)
	}
	if got := lists.Load(); got != 1 {
		t.Errorf("the models were listed %d times, want once", got)
	}
	now.advance(time.Minute)
	if got := waitForModel(t, e); got != "ollama:nomic-embed-text" {
		t.Errorf("got %q, want ollama:nomic-embed-text", got)
	}
	if got := lists.Load(); got != 2 {
		t.Errorf("the models were listed %d times, want twice", got)
	}
}

func TestAutoWithoutOllamaIsNoFailure(t *testing.T) {
	for name, h := range map[string]http.HandlerFunc{
		"an error":         reply(500, ""),
		"another program":  reply(200, "<html>hello</html>"),
		"no models":        reply(200, `{"models":[]}`),
		"null":             reply(200, `null`),
		"no embedding one": reply(200, `{"models":[`+entry("llama3:8b", "llama")+`]}`),
	} {
		t.Run(name, func(t *testing.T) {
			asked := make(chan bool, 8)
			url := newRaw(t, func(w http.ResponseWriter, r *http.Request) { h(w, r); asked <- true })
			e, err := openSpec("auto", url, newClock())
			if err != nil {
				t.Fatal(err)
			}
			<-asked
			closeNow(t, e) // waits for the search
			if got := e.State(); got != (robotmem.EmbedderState{}) {
				t.Errorf("got the state %+v, want none", got)
			}
		})
	}
}
