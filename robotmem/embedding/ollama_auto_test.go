package embedding_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/embedding"
)

// tagged answers /api/tags with a list, and /api/embed with good vectors.
func tagged(list ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/api/tags" {
			fmt.Fprintf(w, `{"models":[%s]}`, strings.Join(list, ","))
			return
		}
		var in struct{ Input []string }
		_ = json.NewDecoder(r.Body).Decode(&in)
		rows(slices.Repeat([]string{"[1,2]"}, len(in.Input))...)(w, r) // none for the request that loads the model
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
			e := open(t, "auto", embedding.Options{OllamaURL: newRaw(t, tagged(test.list...))})
			if got := e.State().Model; got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
			embed(t, e, robotmem.ForQuestion, "door")
		})
	}
}

func TestAutoWithoutOllamaIsNoFailure(t *testing.T) {
	for name, h := range map[string]http.HandlerFunc{
		"nothing":          hang,
		"an error":         reply(500, ""),
		"another program":  reply(200, "<html>hello</html>"),
		"no models":        reply(200, `{"models":[]}`),
		"null":             reply(200, `null`),
		"no embedding one": reply(200, `{"models":[`+entry("llama3:8b", "llama")+`]}`),
	} {
		t.Run(name, func(t *testing.T) {
			e, err := openSpec("auto", newRaw(t, h), newClock())
			if e != nil || err != nil {
				t.Errorf("got %v, %v, want none", e, err)
			}
		})
	}
}
