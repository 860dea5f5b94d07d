package model

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"sync/atomic"
)

// openAI asks POST {base}/chat/completions, which OpenAI, vLLM, LM Studio, llama.cpp, LiteLLM and others serve.
type openAI struct {
	server
	noSchema atomic.Bool // the server does not know response_format
}

// Ask implements Model.
func (m *openAI) Ask(ctx context.Context, q *Question) (*Answer, error) {
	var content any = q.Text
	if len(q.Images) > 0 {
		parts := []any{map[string]any{"type": "text", "text": q.Text}}
		for _, data := range q.Images {
			parts = append(parts, map[string]any{"type": "image_url", "image_url": map[string]any{
				"url": "data:" + http.DetectContentType(data) + ";base64," + base64.StdEncoding.EncodeToString(data),
			}})
		}
		content = parts
	}

	request := map[string]any{
		"model": m.model, "temperature": 0, "max_tokens": q.MaxTokens,
		"messages": []any{
			map[string]any{"role": "system", "content": q.System},
			map[string]any{"role": "user", "content": content},
		},
	}
	if q.Schema != nil && !m.noSchema.Load() {
		request["response_format"] = map[string]any{"type": "json_schema", "json_schema": map[string]any{
			"name": "answer", "strict": true, "schema": q.Schema,
		}}
	}

	answer, err := m.ask(ctx, request)

	// Older servers refuse the format. The system prompt asks for JSON, too, and what is not is refused.
	var status *statusError
	if errors.As(err, &status) && status.code == http.StatusBadRequest && request["response_format"] != nil &&
		(strings.Contains(status.message, "response_format") || strings.Contains(status.message, "json_schema")) {
		m.noSchema.Store(true)
		delete(request, "response_format")
		answer, err = m.ask(ctx, request)
	}
	if err != nil {
		return nil, m.explain(ctx, err)
	}

	return answer, nil
}

func (m *openAI) ask(ctx context.Context, request map[string]any) (*Answer, error) {
	var wire struct {
		Choices []struct {
			Message struct {
				Content json.RawMessage
				Refusal string
			}
			FinishReason string `json:"finish_reason"`
		}
		Usage *struct {
			Prompt     int64 `json:"prompt_tokens"`
			Completion int64 `json:"completion_tokens"`
		}
	}
	if err := m.post(ctx, "chat/completions", request, &wire); err != nil {
		return nil, err
	}
	if len(wire.Choices) == 0 {
		return nil, errors.New("answered no choices")
	}

	choice := wire.Choices[0]
	if choice.Message.Refusal != "" {
		return nil, errors.New("refused: " + m.shown(choice.Message.Refusal))
	}

	a := &Answer{Cut: choice.FinishReason == "length", Prompt: -1, Completion: -1}
	if wire.Usage != nil {
		a.Prompt, a.Completion = wire.Usage.Prompt, wire.Usage.Completion
	}
	// The content is null beside calls of tools, of which none were offered.
	if err := json.Unmarshal(choice.Message.Content, &a.Text); err != nil && len(choice.Message.Content) > 0 {
		return nil, errors.New("answered a message that is no text")
	}

	return a, nil
}
