package embedding_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/embedding"
)

// newRaw starts a server and returns its address.
func newRaw(t testing.TB, h http.HandlerFunc) string {
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL
}

func openSpec(spec, url string, now *clock) (robotmem.Embedder, error) {
	e, err := embedding.Open(spec, embedding.Options{OllamaURL: url, OpenAIURL: url, Clock: now.Now})
	bindElsewhere(e)
	return e, err
}

func TestOpenRefusesOtherSpecs(t *testing.T) {
	for _, spec := range []string{"ollama", "ollama:", "ollama:a b", "openai:", "none:", "auto:x", "model2vec:", "model2vec", "onnx:", "gpt", ":", "ollama:a\nb"} {
		e, err := embedding.Open(spec, embedding.Options{})
		if !errors.Is(err, robotmem.Invalid) || !strings.Contains(err.Error(), "ollama:<model>") {
			t.Errorf("%q: got %v, %v, want Invalid with the forms", spec, e, err)
		}
	}
}

func TestONNXNeedsABuild(t *testing.T) {
	_, err := embedding.Open("onnx:"+t.TempDir(), embedding.Options{})
	if !errors.Is(err, robotmem.Invalid) || !strings.Contains(err.Error(), "`make onnx`") {
		t.Errorf("got %v, want Invalid with the command that builds it", err)
	}
}

func TestOpenNone(t *testing.T) {
	if e, err := embedding.Open("none", embedding.Options{}); e != nil || err != nil {
		t.Errorf("got %v, %v, want neither", e, err)
	}
}

func TestOpenRefusesAddresses(t *testing.T) {
	for _, address := range []string{"ftp://host", "http://[::1", "::1", "http://host:port"} {
		for _, spec := range []string{"auto", "ollama:m", "openai:m"} {
			if _, err := embedding.Open(spec, embedding.Options{OllamaURL: address, OpenAIURL: address}); !errors.Is(err, robotmem.Invalid) {
				t.Errorf("%s at %q: got %v, want Invalid", spec, address, err)
			}
		}
	}
}

// The short forms of OLLAMA_HOST, including those for servers.
func TestShortAddresses(t *testing.T) {
	f := newFake(t)
	port := f.URL[strings.LastIndex(f.URL, ":")+1:]
	for _, address := range []string{"127.0.0.1:" + port, ":" + port, "0.0.0.0:" + port, "http://0.0.0.0:" + port + "/"} {
		e := open(t, "ollama:m", embedding.Options{OllamaURL: address})
		embed(t, e, robotmem.ForMemory, "door")
	}
}

func TestModelNames(t *testing.T) {
	f := newFake(t)
	for spec, want := range map[string]string{
		"ollama:m":                "ollama:m",
		"ollama:m:latest":         "ollama:m",
		"ollama:m:2b":             "ollama:m:2b",
		"openai:BAAI/bge-m3":      "openai:BAAI/bge-m3",
		" ollama:hf.co/a/b:Q4_0 ": "ollama:hf.co/a/b:Q4_0",
	} {
		if got := open(t, spec, f.options(newClock())).State().Model; got != want {
			t.Errorf("%q: got %q, want %q", spec, got, want)
		}
	}
}

func TestRequests(t *testing.T) {
	f := newFake(t)
	o := f.options(newClock())
	o.Batch = 2
	for _, spec := range services {
		before := len(f.asked())
		e := open(t, spec, o)
		vectors := embed(t, e, robotmem.ForMemory, "a", "bb", "ccc", "dddd", "eeeee")
		if diff := cmp.Diff([][]float32{{1, 1}, {2, 1}, {3, 1}, {4, 1}, {5, 1}}, vectors); diff != "" {
			t.Errorf("%s: vectors (-want +got):\n%s", spec, diff)
		}
		want := "[{/api/embed  [a bb]} {/api/embed  [ccc dddd]} {/api/embed  [eeeee]}]"
		if spec == "openai:m" {
			want = strings.ReplaceAll(want, "/api/embed ", "/embeddings Bearer "+secret)
		}
		if got := fmt.Sprint(f.asked()[before:]); got != want {
			t.Errorf("%s: got the requests %s, want %s", spec, got, want)
		}
	}
}

func TestNoTexts(t *testing.T) {
	f := newFake(t)
	for _, spec := range services {
		if got := embed(t, open(t, spec, f.options(newClock())), robotmem.ForMemory); len(got) != 0 {
			t.Errorf("%s: got %v, want none", spec, got)
		}
	}
	if got := f.asked(); len(got) > 0 {
		t.Errorf("got the requests %v, want none", got)
	}
}

func TestBlankTextsAreRefused(t *testing.T) {
	f := newFake(t)
	e := open(t, "openai:m", f.options(newClock()))
	for i, blank := range []string{"", " ", "\n\t ", "\u3000"} {
		texts := []string{"a", "b", "c", "d"}
		texts[i] = blank
		_, err := e.Embed(t.Context(), robotmem.ForMemory, texts)
		if want := "texts: one is blank"; !errors.Is(err, robotmem.Invalid) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want Invalid that names %s", blank, err, want)
		}
	}
	if got := f.asked(); len(got) > 0 {
		t.Errorf("got the requests %v, want none", got)
	}
}

func TestUnknownPurposeIsRefused(t *testing.T) {
	e := open(t, "openai:m", newFake(t).options(newClock()))
	if _, err := e.Embed(t.Context(), robotmem.ForQuestion+1, []string{"a"}); !errors.Is(err, robotmem.Invalid) {
		t.Errorf("got %v, want Invalid", err)
	}
}

func TestLongTextsAreCutBetweenRunes(t *testing.T) {
	f := newFake(t)
	e := open(t, "openai:m", f.options(newClock()))
	embed(t, e, robotmem.ForMemory, strings.Repeat("x", 8192), strings.Repeat("x", 9000), "x"+strings.Repeat("湿", 3000), "a\xffb", "b"+strings.Repeat("\x80", 9000))
	texts := f.asked()[0].texts
	for i, want := range []int{8192, 8192, 8191, 5, 4} {
		if got := len(texts[i]); got != want || !utf8.ValidString(texts[i]) {
			t.Errorf("text %d: got %d bytes (valid: %v), want %d", i, got, utf8.ValidString(texts[i]), want)
		}
	}
}

func TestPrompts(t *testing.T) {
	const passages = "Represent this sentence for searching relevant passages: "
	for _, test := range []struct{ spec, memory, question string }{
		{"ollama:m", "", ""},
		{"ollama:all-minilm", "", ""},
		{"ollama:bge-m3", "", ""},
		{"openai:text-embedding-3-small", "", ""},
		{"ollama:nomic-embed-text", "search_document: ", "search_query: "},
		{"ollama:nomic-embed-text:v1.5", "search_document: ", "search_query: "},
		{"ollama:someone/nomic-embed-text-v2-moe", "search_document: ", "search_query: "},
		{"ollama:mxbai-embed-large", "", passages},
		{"ollama:snowflake-arctic-embed:22m", "", passages},
		{"ollama:snowflake-arctic-embed2", "", "query: "},
		{"openai:intfloat/multilingual-e5-base", "passage: ", "query: "},
		{"openai:intfloat/E5-small-v2", "passage: ", "query: "},
		{"openai:BAAI/bge-base-en-v1.5", "", passages},
		{"ollama:embeddinggemma", "title: none | text: ", "task: search result | query: "},
	} {
		f := newFake(t)
		e := open(t, test.spec, f.options(newClock()))
		embed(t, e, robotmem.ForMemory, "door")
		embed(t, e, robotmem.ForQuestion, "door")
		asked := f.asked()
		got := [2]string{asked[0].texts[0], asked[1].texts[0]}
		if want := [2]string{test.memory + "door", test.question + "door"}; got != want {
			t.Errorf("%s: got %q, want %q", test.spec, got, want)
		}
	}
}

func TestQuestionsAreKept(t *testing.T) {
	f := newFake(t)
	e := open(t, "openai:m", f.options(newClock()))
	requests := func(purpose robotmem.Purpose, texts ...string) int {
		before := len(f.asked())
		embed(t, e, purpose, texts...)
		return len(f.asked()) - before
	}
	for i, step := range []struct {
		purpose robotmem.Purpose
		texts   []string
		want    int
	}{
		{robotmem.ForMemory, []string{"door"}, 1},
		{robotmem.ForMemory, []string{"door"}, 1},
		{robotmem.ForQuestion, []string{"door"}, 1},
		{robotmem.ForQuestion, []string{"door"}, 0},
		{robotmem.ForQuestion, []string{"wall", "door"}, 1},
		{robotmem.ForQuestion, []string{"wall", "door"}, 0},
	} {
		if got := requests(step.purpose, step.texts...); got != step.want {
			t.Errorf("step %d: got %d requests, want %d", i, got, step.want)
		}
	}
	if got := f.asked()[3].texts; !cmp.Equal(got, []string{"wall"}) {
		t.Errorf("got %v, want wall alone: door was known", got)
	}
	many := make([]string, 1000)
	for i := range many {
		many[i] = fmt.Sprint("question ", i)
	}
	embed(t, e, robotmem.ForQuestion, many[:999]...) // with wall or door one too many
	if got := requests(robotmem.ForQuestion, "wall"); got != 1 {
		t.Errorf("got %d requests for the oldest question, want 1", got)
	}
	if got := requests(robotmem.ForQuestion, many[998]); got != 0 {
		t.Errorf("got %d requests for the latest question, want 0", got)
	}
}

func TestDimensionThatChanges(t *testing.T) {
	for _, spec := range services {
		f := newFake(t)
		e := open(t, spec, f.options(newClock()))
		embed(t, e, robotmem.ForMemory, "door")
		f.set(rows("[1,2,3]"))
		_, err := e.Embed(t.Context(), robotmem.ForMemory, []string{"wall"})
		if !errors.Is(err, robotmem.Unavailable) || !strings.Contains(err.Error(), "of 3 numbers, but of 2 before") {
			t.Errorf("%s: got %v, want Unavailable with both lengths", spec, err)
		}
	}
}

func TestDimensionsThatDiffer(t *testing.T) {
	for _, spec := range services {
		f := newFake(t)
		e := open(t, spec, f.options(newClock()))
		f.set(rows("[1,2]", "[1]"))
		_, err := e.Embed(t.Context(), robotmem.ForMemory, []string{"door", "wall"})
		if !errors.Is(err, robotmem.Unavailable) || !strings.Contains(err.Error(), "of 2 and 1 numbers") {
			t.Errorf("%s: got %v, want Unavailable with both lengths", spec, err)
		}
	}
}

func TestOpenAINumbersItsVectors(t *testing.T) {
	for name, test := range map[string]struct {
		body string
		want [][]float32 // nil for Unavailable
		text string
	}{
		"in another order":    {`{"data":[{"index":1,"embedding":[2]},{"index":0,"embedding":[1]}]}`, [][]float32{{1}, {2}}, ""},
		"without numbers":     {`{"data":[{"embedding":[1]},{"embedding":[2]}]}`, [][]float32{{1}, {2}}, ""},
		"one number twice":    {`{"data":[{"index":0,"embedding":[1]},{"index":0,"embedding":[2]}]}`, nil, "with the index 0"},
		"a number too large":  {`{"data":[{"index":0,"embedding":[1]},{"index":2,"embedding":[2]}]}`, nil, "with the index 2"},
		"a number below zero": {`{"data":[{"index":0,"embedding":[1]},{"index":-1,"embedding":[2]}]}`, nil, "with the index -1"},
		"as text":             {`{"data":[{"index":0,"embedding":"AACAPw=="},{"index":1,"embedding":"AACAPw=="}]}`, nil, "cannot be read"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t)
			e := open(t, "openai:m", f.options(newClock()))
			f.set(reply(200, test.body))
			got, err := e.Embed(t.Context(), robotmem.ForMemory, []string{"door", "wall"})
			if test.want == nil && (!errors.Is(err, robotmem.Unavailable) || !strings.Contains(err.Error(), test.text)) {
				t.Errorf("got %v, want Unavailable with %q", err, test.text)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("vectors (-want +got):\n%s", diff)
			}
		})
	}
}
