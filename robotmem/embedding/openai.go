package embedding

import (
	"cmp"
	"context"
	"fmt"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/outgoing"
)

const defaultOpenAI = "https://api.openai.com/v1"

// openAI calls POST {base}/embeddings, which OpenAI, vLLM, LM Studio, llama.cpp,
// LiteLLM and others serve.
type openAI struct{ service }

var _ backend = (*openAI)(nil)

func openOpenAI(model string, o Options) (robotmem.Embedder, error) {
	base, err := baseURL(cmp.Or(o.OpenAIURL, defaultOpenAI), "80")
	if err != nil {
		return nil, err
	}
	b := &openAI{service{
		base:  base,
		http:  outgoing.Client(o.HTTPClient),
		key:   o.OpenAIKey,
		name:  "the embedding service at " + outgoing.Origin(base),
		model: model,
		start: "check its address and the network",
		fetch: "check the name of the model",
	}}

	return newEmbedder("openai:"+model, model, b, o, func() error {
		b.http.CloseIdleConnections()
		return nil
	}), nil
}

// embed implements backend. The API numbers the vectors and promises no order;
// servers without numbers answer in order.
func (b *openAI) embed(ctx context.Context, _ robotmem.Purpose, texts []string) ([][]float32, error) {
	var answer struct {
		Data []struct {
			Index     *int
			Embedding numbers
		}
	}
	request := map[string]any{"model": b.model, "input": texts, "encoding_format": "float"}
	if err := b.call(ctx, "embeddings", request, &answer); err != nil {
		return nil, err
	}

	vectors := make([][]float32, len(answer.Data))
	// An index may come twice or be out of range, which would leave another text without its vector.
	for i, d := range answer.Data {
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
