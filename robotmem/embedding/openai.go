package embedding

import (
	"context"
	"fmt"
	"net/http"
	"net/url"

	"github.com/robotmem/robotmem-go/robotmem"
)

const defaultOpenAI = "https://api.openai.com/v1"

// openAI calls POST {base}/embeddings, which OpenAI, vLLM, LM Studio, llama.cpp,
// LiteLLM and others serve.
type openAI struct {
	service
	http *http.Client
	url  *url.URL
	key  string
}

var _ backend = (*openAI)(nil)

func openOpenAI(model string, o Options) (robotmem.Embedder, error) {
	if o.OpenAIURL == "" {
		o.OpenAIURL = defaultOpenAI
	}
	base, err := baseURL(o.OpenAIURL, "80")
	if err != nil {
		return nil, err
	}
	b := &openAI{
		service: service{
			name:   "the embedding service at " + origin(base),
			model:  model,
			start:  "check its address and the network",
			login:  "check the key",
			fetch:  "check the name of the model",
			secret: o.OpenAIKey,
		},
		http: httpClient(o),
		url:  base.JoinPath("embeddings"),
		key:  o.OpenAIKey,
	}
	if b.key == "" {
		b.login = "no key was given; set one"
	}
	return newEmbedder("openai:"+model, model, b, o, func() error {
		b.http.CloseIdleConnections()
		return nil
	}), nil
}

type openAIResponse struct {
	Data []struct {
		Index     *int       `json:"index"`
		Embedding []*float32 `json:"embedding"`
	} `json:"data"`
}

func (b *openAI) embed(ctx context.Context, texts []string) ([][]float32, error) {
	request := map[string]any{"model": b.model, "input": texts, "encoding_format": "float"}
	var answer openAIResponse
	if err := exchange(ctx, b.http, b.url, b.key, request, &answer); err != nil {
		return nil, err
	}
	return answer.vectors()
}

// vectors returns the vectors in the order of the texts. The API numbers the
// vectors and promises no order; servers without numbers answer in order.
func (r *openAIResponse) vectors() ([][]float32, error) {
	vectors := make([][]float32, len(r.Data))
	for i, d := range r.Data {
		if d.Index != nil {
			i = *d.Index
		}
		if i < 0 || i >= len(vectors) || vectors[i] != nil {
			return nil, &badAnswer{fmt.Sprintf("answered %d vectors, one of them with the index %d", len(vectors), i)}
		}
		var err error
		if vectors[i], err = vectorOf(d.Embedding); err != nil {
			return nil, err
		}
	}
	return vectors, nil
}
