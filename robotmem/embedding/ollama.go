package embedding

import (
	"cmp"
	"context"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ollama/ollama/api"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/outgoing"
)

const (
	defaultOllama = "http://127.0.0.1:11434"
	ollamaPort    = "11434"
	// keepLoaded is how long Ollama keeps the model in memory after a request.
	// With its default of 5 minutes, a robot that asks now and then would wait for
	// the disk each time, longer than QuestionTimeout.
	keepLoaded = 30 * time.Minute
	// loadTimeout is the time limit for the first load of a model.
	loadTimeout = 2 * time.Minute

	searchTimeout  = 500 * time.Millisecond // for the list of models of a local Ollama
	searchInterval = 3 * time.Minute
)

// ollama calls the API of Ollama. https://github.com/ollama/ollama/blob/main/docs/api.md
type ollama struct{ service }

var _ backend = (*ollama)(nil)

// newOllama returns the client of a model, "" for none yet.
func newOllama(model string, o Options) (*ollama, error) {
	base, err := baseURL(cmp.Or(o.OllamaURL, defaultOllama), ollamaPort)
	if err != nil {
		return nil, err
	}
	b := &ollama{service{
		base:  base,
		http:  outgoing.Client(o.HTTPClient),
		name:  "Ollama at " + outgoing.Origin(base),
		start: "start it with `ollama serve`",
	}}
	b.setModel(model)

	return b, nil
}

func (b *ollama) setModel(model string) {
	b.model = strings.TrimSuffix(model, ":latest") // the default tag
	b.fetch = "fetch it with `ollama pull " + b.model + "`"
}

func (b *ollama) embedder(o Options, close func() error) *embedder {
	return newEmbedder("ollama:"+b.model, b.model, b, o, close)
}

// openOllama returns the embedder of a model. Ollama starts to load the model in the background,
// so that State is soon right and the first query does not wait for the disk.
func openOllama(model string, o Options) (robotmem.Embedder, error) {
	b, err := newOllama(model, o)
	if err != nil {
		return nil, err
	}

	ctx, cancel := context.WithCancel(context.Background())

	var background sync.WaitGroup
	e := b.embedder(o, func() error {
		cancel()
		background.Wait()
		b.http.CloseIdleConnections()
		return nil
	})
	background.Go(func() {
		// Without texts the request only loads the model. A failure shows in State and in the next call of Embed.
		_, _ = e.request(ctx, robotmem.ForMemory, loadTimeout, []string{})
	})

	return e, nil
}

func (b *ollama) embed(ctx context.Context, _ robotmem.Purpose, texts []string) ([][]float32, error) {
	var answer struct{ Embeddings []numbers }
	request := &api.EmbedRequest{Model: b.model, Input: texts, KeepAlive: &api.Duration{Duration: keepLoaded}}
	if err := b.call(ctx, "api/embed", request, &answer); err != nil {
		return nil, err
	}

	vectors := make([][]float32, len(answer.Embeddings))
	for i, v := range answer.Embeddings {
		vectors[i] = v
	}

	return vectors, nil
}

// preferred lists the models that auto looks for first, the best first: small models that are good at
// retrieval come before large ones.
var preferred = []string{
	"nomic-embed-text", "mxbai-embed-large", "bge-m3", "all-minilm",
	"snowflake-arctic-embed", "embeddinggemma", "qwen3-embedding",
}

// auto is the embedder of the model in the program, unless the memory is bound to another. For such
// a memory, and in a program without a model, it is that of the best embedding model that a local
// Ollama has, or else of the model that was pulled last. It searches in the background: when it is
// opened, and when it is used at least searchInterval after the last search.
type auto struct {
	options Options
	builtin *embedder // nil if the program has none
	ollama  *ollama   // of no model

	mu       sync.Mutex // guards the fields below except searches
	bound    bool       // the memory has vectors of another model than builtin
	found    *embedder
	stop     context.CancelFunc // ends the current search, nil without one
	next     time.Time          // when the next search is due
	closed   bool
	searches sync.WaitGroup
}

var (
	_ robotmem.Embedder = (*auto)(nil)
	_ io.Closer         = (*auto)(nil)
)

func openAuto(o Options) (robotmem.Embedder, error) {
	b, err := newOllama("", o)
	if err != nil {
		return nil, err
	}
	a := &auto{options: o, ollama: b, builtin: openBuiltin(o)}
	if a.builtin == nil {
		a.begin()
	}

	return a, nil
}

// begin starts the search for another model than the one in the program.
func (a *auto) begin() {
	a.model()
	if o := a.options; o.Models != "" && len((Models{o.Models, o.Runtimes}).List()) > 0 {
		// A pulled model is there, and a command may make only one recall, so the search is waited for.
		a.searches.Wait()
	}
}

// Bind names the model that has made the vectors of the memory. It must be called before the first use.
func (a *auto) Bind(model string) {
	if a.builtin == nil || model == "" || model == a.builtin.model {
		return
	}
	a.mu.Lock()
	a.bound = true
	a.mu.Unlock()
	a.begin()
}

// State implements robotmem.Embedder. It is zero until a model is found, as the
// user asked for no certain model.
func (a *auto) State() robotmem.EmbedderState {
	if e := a.model(); e != nil {
		return e.State()
	}
	return robotmem.EmbedderState{}
}

func (a *auto) Embed(ctx context.Context, purpose robotmem.Purpose, texts []string) ([][]float32, error) {
	if e := a.model(); e != nil {
		return e.Embed(ctx, purpose, texts)
	}

	return nil, a.ollama.fail(robotmem.Unavailable, "was not found or has no embedding model; "+
		"start it with `ollama serve` and fetch a model with `ollama pull %s`", preferred[0])
}

// Close ends the search and waits for it.
func (a *auto) Close() error {
	a.mu.Lock()
	a.closed = true
	if a.stop != nil {
		a.stop()
	}
	a.mu.Unlock()
	a.searches.Wait()
	a.ollama.http.CloseIdleConnections()
	if a.found != nil {
		return a.found.Close()
	}

	return nil
}

// model returns the embedder of the found model. Without one it returns nil, and
// starts a search if one is due.
func (a *auto) model() *embedder {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.builtin != nil && !a.bound {
		return a.builtin
	}

	// At most one search runs. It is repeated after a pause, because a user may start Ollama later.
	now := a.options.Clock()
	if a.found == nil && a.stop == nil && !now.Before(a.next) && !a.closed {
		ctx, stop := context.WithTimeout(context.Background(), searchTimeout)
		a.stop, a.next = stop, now.Add(searchInterval)
		a.searches.Go(func() {
			defer stop()
			found := a.search(ctx)
			a.mu.Lock()
			a.found, a.stop = found, nil
			a.mu.Unlock()
		})
	}

	return a.found
}

// search returns the embedder of the best model that is there now, nil without one.
func (a *auto) search(ctx context.Context) (found *embedder) {
	var list api.ListResponse
	if err := a.ollama.call(ctx, "api/tags", nil, &list); err != nil {
		a.options.Logger.Debug("found no Ollama", "address", outgoing.Origin(a.ollama.base))
	} else if name := choose(list.Models); name != "" {
		b := &ollama{a.ollama.service}
		b.setModel(name)
		found = b.embedder(a.options, func() error { return nil })
	}
	if found == nil && a.options.Models != "" {
		found = Models{a.options.Models, a.options.Runtimes}.newest(a.options)
	}
	if found != nil {
		a.options.Logger.Info("found an embedding model", "embedder", found.model)
	}

	return found
}

// choose returns the name of the best embedding model, "" if there is none.
func choose(models []api.ListModelResponse) string {
	for _, want := range preferred {
		for _, m := range models {
			if base, _, _ := strings.Cut(m.Name, ":"); base[strings.LastIndex(base, "/")+1:] == want {
				return m.Name
			}
		}
	}

	for _, m := range models {
		bert := slices.ContainsFunc(append(m.Details.Families, m.Details.Family), func(family string) bool {
			return family == "bert" || family == "nomic-bert"
		})
		if bert || strings.Contains(strings.ToLower(m.Name), "embed") {
			return m.Name
		}
	}

	return ""
}
