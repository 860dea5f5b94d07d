package embedding

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
)

const (
	defaultOllama = "http://127.0.0.1:11434"
	ollamaPort    = "11434"
	// keepLoaded is how long Ollama keeps the model in memory after a request.
	// With its default of 5 minutes, a robot that asks now and then would wait for
	// the disk each time, longer than QuestionTimeout.
	keepLoaded = "30m"
	// loadTimeout is the time limit for the first load of a model.
	loadTimeout = 2 * time.Minute

	searchTimeout = 500 * time.Millisecond // for the list of models of a local Ollama
)

// ollama calls the API of Ollama.
// https://github.com/ollama/ollama/blob/main/docs/api.md
type ollama struct{ service }

var _ backend = (*ollama)(nil)

func newOllama(model string, o Options) (*ollama, error) {
	base, err := baseURL(cmp.Or(o.OllamaURL, defaultOllama), ollamaPort)
	if err != nil {
		return nil, err
	}
	model = strings.TrimSuffix(model, ":latest") // the default tag
	return &ollama{service{
		base:  base,
		http:  httpClient(o),
		name:  "Ollama at " + origin(base),
		model: model,
		start: "start it with `ollama serve`",
		login: "a proxy in front of Ollama asks for credentials; check the address",
		fetch: "fetch it with `ollama pull " + model + "`",
	}}, nil
}

// openOllama returns the embedder of a model. Ollama starts to load the model in
// the background, so that State is soon right and the first query does not wait
// for the disk.
func openOllama(model string, o Options) (robotmem.Embedder, error) {
	b, err := newOllama(model, o)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	var background sync.WaitGroup
	e := newEmbedder("ollama:"+b.model, b.model, b, o, func() error {
		cancel()
		background.Wait()
		b.http.CloseIdleConnections()
		return nil
	})
	background.Go(func() {
		// Without texts. A failure shows in State and in the next call of Embed.
		_, _ = e.request(ctx, robotmem.ForMemory, loadTimeout, []string{})
	})
	return e, nil
}

func (b *ollama) embed(ctx context.Context, texts []string) ([][]float32, error) {
	var answer struct{ Embeddings []numbers }
	request := map[string]any{"model": b.model, "input": texts, "keep_alive": keepLoaded}
	if err := b.call(ctx, "api/embed", request, &answer); err != nil {
		return nil, err
	}
	vectors := make([][]float32, len(answer.Embeddings))
	for i, v := range answer.Embeddings {
		vectors[i] = v
	}
	return vectors, nil
}

// preferred are the models that auto looks for first, the best first: small and
// good at retrieval before large.
var preferred = []string{
	"nomic-embed-text", "mxbai-embed-large", "bge-m3", "all-minilm",
	"snowflake-arctic-embed", "embeddinggemma", "qwen3-embedding",
}

// openAuto returns the embedder of the best embedding model that a local Ollama has, or else
// of the model that was pulled last, nil without one.
func openAuto(o Options) (robotmem.Embedder, error) {
	b, err := newOllama("", o)
	if err != nil {
		return nil, err
	}
	defer b.http.CloseIdleConnections()
	ctx, cancel := context.WithTimeout(context.Background(), searchTimeout)
	defer cancel()
	var tags struct{ Models []listedModel }
	if err := b.call(ctx, "api/tags", nil, &tags); err != nil {
		o.Logger.Debug("found no Ollama", "address", origin(b.base))
	}
	if name := choose(tags.Models); name != "" {
		o.Logger.Info("found an embedding model", "embedder", "ollama:"+name)
		return openOllama(name, o)
	}
	if e := (Models{o.Models, o.Runtimes}).newest(o); o.Models != "" && e != nil {
		o.Logger.Info("found an embedding model", "embedder", e.model)
		return e, nil
	}
	return nil, nil
}

// listedModel is a model in the list of Ollama.
type listedModel struct {
	Name    string
	Details struct {
		Family   string
		Families []string
	}
}

// choose returns the name of the best embedding model, "" if there is none.
func choose(models []listedModel) string {
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
