package embedding

import (
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
	searchTimeout  = 500 * time.Millisecond // for the list of models of a local Ollama
	searchInterval = 3 * time.Minute
)

// preferred are the models that auto looks for, best first: small and good at
// retrieval before large.
var preferred = []string{
	"nomic-embed-text", "mxbai-embed-large", "bge-m3", "all-minilm",
	"snowflake-arctic-embed", "embeddinggemma", "qwen3-embedding",
}

// auto is the embedder of the first embedding model that a local Ollama turns
// out to have. It looks when it is opened and then, in the background, whenever
// it is used and some minutes have passed.
type auto struct {
	options Options
	client  *api.Client
	base    *url.URL
	http    *http.Client

	mu       sync.Mutex // guards all below but searches
	found    *embedder
	stop     context.CancelFunc // ends the search under way, nil without one
	next     time.Time          // not before this is it looked for again
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
	return a, nil
}

// State implements robotmem.Embedder. It is zero until a model was found: none
// was asked for.
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
	return nil, s.fail(robotmem.Unavailable, "was not found, or has no embedding model; start it with `ollama serve` and fetch one with `ollama pull %s`", preferred[0])
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
	return nil
}

// model returns the embedder that was found, or nil and starts to look when it
// is time to.
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
		a.options.Logger.Debug("no Ollama was found", "address", origin(a.base))
	} else if name := choose(list.Models); name != "" {
		found = newOllama(a.client, a.base, name, a.options)
		a.options.Logger.Info("an embedding model was found", "embedder", found.model)
	}
	a.mu.Lock()
	a.found, a.stop = found, nil
	a.mu.Unlock()
}

// choose returns the name of the model to embed with, "" if none can.
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
