package embedding

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
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
	base, err := baseURL(cmp.Or(o.OpenAIURL, defaultOpenAI), "80")
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

type openAIRequest struct {
	Model          string   `json:"model"`
	Input          []string `json:"input"`
	EncodingFormat string   `json:"encoding_format"`
}

type openAIResponse struct {
	Data []struct {
		Index     *int      `json:"index"`
		Embedding []float32 `json:"embedding"`
	} `json:"data"`
}

func (b *openAI) embed(ctx context.Context, texts []string) ([][]float32, error) {
	body, err := json.Marshal(openAIRequest{Model: b.model, Input: texts, EncodingFormat: "float"})
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, b.url.String(), bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json")
	if b.key != "" {
		req.Header.Set("Authorization", "Bearer "+b.key)
	}
	res, err := b.http.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	var answer openAIResponse
	if err := json.NewDecoder(res.Body).Decode(&answer); err != nil {
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
		vectors[i] = d.Embedding
	}
	return vectors, nil
}
