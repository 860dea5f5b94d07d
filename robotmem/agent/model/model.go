// Package model asks language models for what they add to a memory: of Ollama, or of any server with the chat API of OpenAI.
// Each call is counted in a ledger before it is made, and none is made beyond the caps of a day.
//
//	question -> Metered -> ledger: reserve -> Ollama or OpenAI -> ledger: settle -> answer
//
// A model is never needed: whoever asks one goes on without its answer.
package model

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/outgoing"
)

// Question is one call of a model.
type Question struct {
	Task   string // what it is for, such as extract: the ledger counts by it
	System string
	Text   string
	// Schema is a JSON schema that the answer has to follow; nil for plain text.
	Schema json.RawMessage
	// Images are sent with the text: PNG or JPEG.
	Images [][]byte
	// MaxTokens is the most tokens of the answer, at least 1.
	MaxTokens int
}

// Answer is what a model has said.
type Answer struct {
	Text       string
	Prompt     int64 // tokens of the question, as the server counts them; -1 if it does not say
	Completion int64 // tokens of the answer
	Cut        bool  // it ended at MaxTokens
}

// Model is a language model. Its methods may be called concurrently.
type Model interface {
	// Name is the name of the setting, such as ollama:qwen3:4b.
	Name() string
	// Ask returns the answer. Errors are *robotmem.Error.
	Ask(context.Context, *Question) (*Answer, error)
}

// Options say where models are.
type Options struct {
	OllamaURL string // "" is 127.0.0.1:11434
	OpenAIURL string // with /v1; "" is that of OpenAI
	OpenAIKey string
	HTTP      *http.Client // nil for one of its own
}

const (
	defaultOllama = "http://127.0.0.1:11434"
	defaultOpenAI = "https://api.openai.com/v1"

	maxAnswer  = 4 << 20 // bytes
	maxMessage = 8 << 10 // bytes of an error answer
	maxQuoted  = 200     // bytes of it that are shown
)

// Open returns the model of a setting, ollama:MODEL or openai:MODEL. It is nil for "" and none. Nothing is asked yet.
func Open(name string, o Options) (Model, error) {
	if name == "" || name == "none" {
		return nil, nil
	}

	kind, id, ok := strings.Cut(name, ":")
	if !ok || id == "" || kind != "ollama" && kind != "openai" {
		return nil, robotmem.Errorf(robotmem.Invalid, "llm", "must be none, ollama:MODEL or openai:MODEL, not %q", name)
	}

	s := server{name: name, model: id, http: outgoing.Client(o.HTTP)}

	var err error
	if kind == "ollama" {
		s.start, s.fetch = "start it with `ollama serve`", "fetch it with `ollama pull "+id+"`"
		s.base, err = address(o.OllamaURL, defaultOllama, "11434")
		return &ollama{s}, err
	}

	s.start, s.fetch = "check its address (openai_url) and the network", "check the name of the model"
	s.key = o.OpenAIKey
	s.base, err = address(o.OpenAIURL, defaultOpenAI, "80")

	return &openAI{server: s}, err
}

// address parses the address of a server, see [outgoing.Address].
func address(raw, usual, port string) (*url.URL, error) {
	u, err := outgoing.Address(cmp.Or(raw, usual), port)
	if err != nil {
		return nil, robotmem.Errorf(robotmem.Invalid, "llm", "the address of the language model %w", err)
	}

	return u, nil
}

// server is a server of models.
type server struct {
	name, model  string
	base         *url.URL
	http         *http.Client
	key          string
	start, fetch string // what to do if nothing answers, and if it does not have the model
}

// Name implements Model.
func (s *server) Name() string { return s.name }

// statusError is an answer with a status from 400 on.
type statusError struct {
	code    int
	message string
}

func (e *statusError) Error() string { return fmt.Sprintf("answered %d: %s", e.code, e.message) }

// post sends a request in JSON and decodes the answer.
func (s *server) post(ctx context.Context, path string, request, answer any) error {
	body, err := json.Marshal(request)
	if err != nil {
		return err
	}

	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.base.JoinPath(path).String(), bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	if s.key != "" {
		req.Header.Set("Authorization", "Bearer "+s.key)
	}

	res, err := s.http.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()

	if res.StatusCode >= http.StatusBadRequest {
		text, _ := io.ReadAll(io.LimitReader(res.Body, maxMessage))
		return &statusError{res.StatusCode, s.shown(string(text))}
	}

	// Anything may answer at an address that is wrong, also without an end.
	data, err := io.ReadAll(http.MaxBytesReader(nil, res.Body, maxAnswer))
	if err != nil {
		return err
	}
	if err := json.Unmarshal(data, answer); err != nil {
		return fmt.Errorf("answered %q, which is not the JSON of its API", s.shown(string(data)))
	}

	return nil
}

// shown is a text of a server for an error: short, in one line, without the key.
func (s *server) shown(text string) string {
	var wire struct {
		Error   json.RawMessage
		Message string
	}
	if json.Unmarshal([]byte(text), &wire) == nil {
		var nested struct{ Message string }
		switch {
		case json.Unmarshal(wire.Error, &nested) == nil && nested.Message != "":
			text = nested.Message
		case json.Unmarshal(wire.Error, &text) != nil && wire.Message != "":
			text = wire.Message
		}
	}
	if s.key != "" {
		text = strings.ReplaceAll(text, s.key, "KEY")
	}

	text = strings.Join(strings.Fields(robotmem.Visible(text)), " ")
	if len(text) > maxQuoted {
		text = strings.ToValidUTF8(text[:maxQuoted], "") + "…"
	}

	return text
}

// explain says what failed and what to do.
func (s *server) explain(ctx context.Context, err error) error {
	at := outgoing.Origin(s.base)
	fail := func(kind robotmem.Kind, format string, args ...any) error {
		return &robotmem.Error{Kind: kind, Field: "llm", Err: fmt.Errorf("the language model %s at %s "+format, append([]any{s.name, at}, args...)...)}
	}

	var (
		status *statusError
		dial   *net.OpError
		large  *http.MaxBytesError
	)

	switch {
	case ctx.Err() != nil:
		return fail(robotmem.Unavailable, "did not answer in time: %w", context.Cause(ctx))
	case errors.As(err, &status) && status.code == http.StatusUnauthorized:
		return fail(robotmem.Forbidden, "refused the key (openai_key): %w", err)
	case errors.As(err, &status) && status.code == http.StatusNotFound:
		return fail(robotmem.Unavailable, "%w; %s", err, s.fetch)
	case errors.As(err, &status) && status.code == http.StatusTooManyRequests:
		return fail(robotmem.Unavailable, "is asked too often: %w; it is tried again later", err)
	case errors.As(err, &large):
		return fail(robotmem.Unavailable, "answered more than %d MiB", maxAnswer>>20)
	case errors.As(err, &dial):
		return fail(robotmem.Unavailable, "cannot be reached; %s", s.start)
	}

	return fail(robotmem.Unavailable, "failed: %w", err)
}

// Decode reads the JSON of an answer. Models put it into a fence now and then; what is not JSON alone, or only half of it, is
// an error.
func Decode(a *Answer, v any) error {
	if a.Cut {
		return robotmem.Errorf(robotmem.Unavailable, "llm", "the answer of the language model ends in the middle, after %d tokens", a.Completion)
	}

	text := strings.TrimSpace(a.Text)
	if inner, ok := strings.CutPrefix(text, "```"); ok {
		if inner, ok = strings.CutSuffix(inner, "```"); ok {
			text = strings.TrimSpace(strings.TrimPrefix(inner, "json"))
		}
	}

	if err := json.Unmarshal([]byte(text), v); err != nil || !utf8.ValidString(text) {
		const most = 80
		return robotmem.Errorf(robotmem.Unavailable, "llm",
			"the language model was asked for JSON and answered %q", robotmem.Clip(robotmem.Visible(text), most))
	}

	return nil
}
