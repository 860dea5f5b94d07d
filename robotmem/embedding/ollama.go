package embedding

import (
	"cmp"
	"context"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ollama/ollama/api"

	"github.com/robotmem/robotmem-go/robotmem"
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

type ollama struct {
	service
	client *api.Client
}

var _ backend = (*ollama)(nil)

// openOllama returns the embedder of a model. Ollama starts to load the model in
// the background, so that State is soon right and the first query does not wait
// for the disk.
func openOllama(model string, o Options) (robotmem.Embedder, error) {
	client, base, hc, err := ollamaClient(o)
	if err != nil {
		return nil, err
	}
	e := newOllama(client, base, model, o)
	ctx, cancel := context.WithCancel(context.Background())
	var background sync.WaitGroup
	background.Go(func() {
		// Without texts. A failure shows in State and in the next call of Embed.
		_, _ = e.request(ctx, robotmem.ForMemory, loadTimeout, []string{})
	})
	e.close = func() error {
		cancel()
		background.Wait()
		hc.CloseIdleConnections()
		return nil
	}
	return e, nil
}

func ollamaClient(o Options) (*api.Client, *url.URL, *http.Client, error) {
	base, err := baseURL(cmp.Or(o.OllamaURL, defaultOllama), ollamaPort)
	if err != nil {
		return nil, nil, nil, err
	}
	hc := httpClient(o)
	return api.NewClient(base, hc), base, hc, nil
}

// newOllama returns the embedder of a model. Its Close does nothing.
func newOllama(client *api.Client, base *url.URL, model string, o Options) *embedder {
	model = strings.TrimSuffix(model, ":latest") // the default tag
	b := &ollama{
		service: service{
			name:  "Ollama at " + origin(base),
			model: model,
			start: "start it with `ollama serve`",
			login: "a proxy in front of Ollama asks for credentials; check the address",
			fetch: "fetch it with `ollama pull " + model + "`",
		},
		client: client,
	}
	return newEmbedder("ollama:"+model, model, b, o, func() error { return nil })
}

func (b *ollama) embed(ctx context.Context, texts []string) ([][]float32, error) {
	res, err := b.client.Embed(ctx, &api.EmbedRequest{Model: b.model, Input: texts, KeepAlive: &api.Duration{Duration: keepLoaded}})
	if err != nil {
		return nil, err
	}
	return res.Embeddings, nil
}

// preferred are the models that auto looks for first, the best first: small and
// good at retrieval before large.
var preferred = []string{
	"nomic-embed-text", "mxbai-embed-large", "bge-m3", "all-minilm",
	"snowflake-arctic-embed", "embeddinggemma", "qwen3-embedding",
}

// auto is the embedder of the best embedding model that a local Ollama has, or else of the
// model that was pulled last. It searches in the background: when it is opened, and when it
// is used at least searchInterval after the last search.
type auto struct {
	options Options
	client  *api.Client
	base    *url.URL
	http    *http.Client

	mu       sync.Mutex // guards the fields below except searches
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
	client, base, hc, err := ollamaClient(o)
	if err != nil {
		return nil, err
	}
	a := &auto{options: o, client: client, base: base, http: hc}
	a.model()
	if o.Models != "" && len((Models{o.Models, o.Runtimes}).List()) > 0 {
		a.searches.Wait() // a model is there, and the first recall may be the only one
	}
	return a, nil
}

// State implements robotmem.Embedder. It is zero until a model is found, as the
// user asked for no certain model.
func (a *auto) State() robotmem.EmbedderState {
	if e := a.model(); e != nil {
		return e.State()
	}
	return robotmem.EmbedderState{}
}

// Embed implements robotmem.Embedder.
func (a *auto) Embed(ctx context.Context, purpose robotmem.Purpose, texts []string) ([][]float32, error) {
	if e := a.model(); e != nil {
		return e.Embed(ctx, purpose, texts)
	}
	s := service{name: "Ollama at " + origin(a.base)}
	return nil, s.fail(robotmem.Unavailable, "was not found or has no embedding model; start it with `ollama serve` and fetch a model with `ollama pull %s`", preferred[0])
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
	a.http.CloseIdleConnections()
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
	now := a.options.Clock()
	if a.found == nil && a.stop == nil && !now.Before(a.next) && !a.closed {
		ctx, stop := context.WithTimeout(context.Background(), searchTimeout)
		a.stop, a.next = stop, now.Add(searchInterval)
		a.searches.Go(func() {
			defer stop()
			a.search(ctx)
		})
	}
	return a.found
}

func (a *auto) search(ctx context.Context) {
	var found *embedder
	if list, err := a.client.List(ctx); err != nil {
		a.options.Logger.Debug("found no Ollama", "address", origin(a.base))
	} else if name := choose(list.Models); name != "" {
		found = newOllama(a.client, a.base, name, a.options)
	}
	if found == nil && a.options.Models != "" {
		found = Models{a.options.Models, a.options.Runtimes}.newest(a.options)
	}
	if found != nil {
		a.options.Logger.Info("found an embedding model", "embedder", found.model)
	}
	a.mu.Lock()
	a.found, a.stop = found, nil
	a.mu.Unlock()
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
