package model

import (
	"context"
	"time"

	"github.com/ollama/ollama/api"
)

// keepLoaded is how long Ollama keeps the model in memory: workers ask in bursts, and what it takes is missing elsewhere.
const keepLoaded = 2 * time.Minute

// ollama asks the API of Ollama. https://github.com/ollama/ollama/blob/main/docs/api.md
type ollama struct{ server }

// Ask implements Model.
func (m *ollama) Ask(ctx context.Context, q *Question) (*Answer, error) {
	// Without num_ctx Ollama cuts a long question without a word.
	tokens := int(mostTokens(q))
	// Ollama makes room for the whole context, so it is made in steps.
	const step = 1024
	size := (tokens + step - 1) / step * step

	off := false

	request := &api.ChatRequest{
		Model: m.model, Stream: &off, Format: q.Schema, KeepAlive: &api.Duration{Duration: keepLoaded},
		Options:  map[string]any{"num_ctx": size, "num_predict": q.MaxTokens, "temperature": 0, "seed": 1},
		Messages: []api.Message{{Role: "system", Content: q.System}, {Role: "user", Content: q.Text}},
	}
	for _, data := range q.Images {
		request.Messages[1].Images = append(request.Messages[1].Images, data)
	}

	var answer api.ChatResponse
	if err := m.post(ctx, "api/chat", request, &answer); err != nil {
		return nil, m.explain(ctx, err)
	}

	return &Answer{
		Text: answer.Message.Content, Cut: answer.DoneReason == "length",
		Prompt: int64(answer.PromptEvalCount), Completion: int64(answer.EvalCount),
	}, nil
}
