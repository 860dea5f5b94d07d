package embedding

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/url"
	"regexp"
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
	// Its own 5 minutes make a robot that asks now and then wait for the disk
	// each time, longer than a question may take.
	keepLoaded = 30 * time.Minute
	// loadTimeout is how long Ollama may take to load a model at first.
	loadTimeout = 2 * time.Minute
)

// ollama asks Ollama for the vectors of one model.
type ollama struct {
	service
	client *api.Client
}

var _ backend = (*ollama)(nil)

// openOllama returns the embedder of a model, which Ollama begins to load in
// the background, so that State soon tells the truth and the first question
// does not wait for the disk.
func openOllama(model string, o Options) (robotmem.Embedder, error) {
	client, base, hc, err := ollamaClient(o)
	if err != nil {
		return nil, err
	}
	e := newOllama(client, base, model, o)
	ctx, cancel := context.WithCancel(context.Background())
	var background sync.WaitGroup
	background.Go(func() { e.load(ctx) })
	e.close = func() error {
		cancel()
		background.Wait()
		hc.CloseIdleConnections()
		return nil
	}
	return e, nil
}

// ollamaClient returns the client of the Ollama at the address of o.
func ollamaClient(o Options) (*api.Client, *url.URL, *http.Client, error) {
	raw := o.OllamaURL
	if raw == "" {
		raw = defaultOllama
	}
	base, err := baseURL(raw, ollamaPort)
	if err != nil {
		return nil, nil, nil, err
	}
	hc := httpClient(o)
	hc.Transport = nullsRefused{hc.Transport.(transport)}
	return api.NewClient(base, hc), base, hc, nil
}

// newOllama returns the embedder of a model, with nothing for Close to do.
func newOllama(client *api.Client, base *url.URL, model string, o Options) *embedder {
	model = strings.TrimSuffix(model, ":latest") // what no tag means
	b := &ollama{
		service: service{
			name:  "Ollama at " + origin(base),
			model: model,
			start: "start it with `ollama serve`",
			login: "something before Ollama wants a login: check the address",
			fetch: "fetch it with `ollama pull " + model + "`",
		},
		client: client,
	}
	return newEmbedder("ollama:"+model, model, b, o, func() error { return nil })
}

// load makes Ollama load the model: a request without texts does that and
// answers no vectors.
func (e *embedder) load(ctx context.Context) {
	// A failure shows in State and in the answer to whoever asks next.
	_, _ = e.request(ctx, loadTimeout, []string{})
}

// embed implements backend.
func (b *ollama) embed(ctx context.Context, texts []string) ([][]float32, error) {
	res, err := b.client.Embed(ctx, &api.EmbedRequest{Model: b.model, Input: texts, KeepAlive: &api.Duration{Duration: keepLoaded}})
	if err != nil {
		return nil, err
	}
	return res.Embeddings, nil
}

// nullsRefused finds null among the numbers of an answer, which is what JSON
// makes of NaN and what the client would read as 0.
type nullsRefused struct{ transport }

var nullNumber = regexp.MustCompile(`[\[,]\s*null`)

// RoundTrip implements http.RoundTripper.
func (t nullsRefused) RoundTrip(req *http.Request) (*http.Response, error) {
	res, err := t.transport.RoundTrip(req)
	if err != nil || !strings.HasSuffix(req.URL.Path, "/api/embed") {
		return res, err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		return nil, err
	}
	if nullNumber.Match(body) {
		return nil, &badAnswer{"answered null in place of a number"}
	}
	res.Body = io.NopCloser(bytes.NewReader(body))
	return res, nil
}
