package embedding

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/robotmem/robotmem-go/robotmem"
)

// maxText is the length in bytes to which a text is cut. Common embedding models
// read at most 8,192 tokens; more text only costs time.
const maxText = 8 << 10

// minTimeout is how much time a caller's deadline must leave before a passed
// deadline counts as a failure of the service.
const minTimeout = time.Second

// cachedQueries is the number of query embeddings that are kept: 3 MB with 768
// dimensions. A robot asks the same few questions all day.
const cachedQueries = 1000

// backend computes vectors.
type backend interface {
	// embed returns a vector for each text. The caller checks the vectors.
	embed(ctx context.Context, purpose robotmem.Purpose, texts []string) ([][]float32, error)
	// explain returns what an error of embed, or of the check of its vectors,
	// means and what to do next. Invalid means that the model refuses a text.
	explain(err error) *robotmem.Error
}

// embedder calls a backend with prompts, in batches and under time limits. It
// checks every answer and pauses while the backend fails.
type embedder struct {
	model    string // the identity in State
	prompts  prompts
	backend  backend
	timeouts [2]time.Duration // of a request, by robotmem.Purpose
	batch    int
	cooldown *cooldown
	cache    *lru.Cache[string, []float32] // query embeddings by text, with its prompt
	log      *slog.Logger
	close    func() error

	dim       atomic.Int64 // dimension of all vectors so far, 0 before the first
	running   atomic.Int32 // requests that the backend works on
	questions atomic.Int32 // those of them that are for questions
	answers   atomic.Int32 // requests for vectors that it answered
	tooSlow   atomic.Bool  // many texts took too long, and nothing was answered since
}

var (
	_ robotmem.Embedder = (*embedder)(nil)
	_ io.Closer         = (*embedder)(nil)
)

// newEmbedder returns the embedder that calls b. name is looked up in the table
// of prompts, model is the identity, and Close calls stop.
func newEmbedder(model, name string, b backend, o Options, stop func() error) *embedder {
	// Fails only for a size below 1.
	cache, _ := lru.New[string, []float32](cachedQueries)

	return &embedder{
		model:    model,
		prompts:  promptsOf(name),
		backend:  b,
		timeouts: [2]time.Duration{robotmem.ForMemory: o.Timeout, robotmem.ForQuestion: o.QuestionTimeout},
		batch:    o.Batch,
		cooldown: &cooldown{now: o.Clock},
		cache:    cache,
		log:      o.Logger.With("embedder", model),
		close:    stop,
	}
}

func (e *embedder) State() robotmem.EmbedderState {
	reason, until := e.cooldown.state()
	return robotmem.EmbedderState{Model: e.model, Reason: reason, Until: until}
}

// Close ends the background work and waits for it. It does not end calls of Embed.
func (e *embedder) Close() error { return e.close() }

func (e *embedder) Embed(ctx context.Context, purpose robotmem.Purpose, texts []string) ([][]float32, error) {
	if int(purpose) >= len(e.timeouts) {
		return nil, &robotmem.Error{
			Kind: robotmem.Invalid, Field: "purpose", Err: fmt.Errorf("%d is not a purpose", purpose),
		}
	}

	prompted := make([]string, len(texts))
	vectors := make([][]float32, len(texts))

	var missing []int

	for i, text := range texts {
		if strings.TrimSpace(text) == "" {
			return nil, robotmem.Errorf(robotmem.Invalid, "texts", "one is blank and has no meaning; leave it out")
		}

		text = strings.ToValidUTF8(text, "\uFFFD")
		prompted[i] = e.prompts[purpose] + strings.ToValidUTF8(text[:min(len(text), maxText)], "")

		// Only queries are cached: a stored text is embedded once.
		if purpose == robotmem.ForQuestion {
			if v, ok := e.cache.Get(prompted[i]); ok {
				vectors[i] = slices.Clone(v)
				continue
			}
		}
		missing = append(missing, i)
	}

	for batch := range slices.Chunk(missing, e.batch) {
		input := make([]string, len(batch))
		for k, i := range batch {
			input[k] = prompted[i]
		}

		output, err := e.request(ctx, purpose, e.timeouts[purpose], input)
		if err != nil {
			return nil, err
		}

		for k, i := range batch {
			vectors[i] = output[k]
			if purpose == robotmem.ForQuestion {
				e.cache.Add(prompted[i], slices.Clone(output[k]))
			}
		}
	}

	return vectors, nil
}

// request calls the backend once, unless it is cooling down, and reports the
// result to the cool-down. A query that took too long while the backend answered
// others is no failure, nor is the first batch that took too long.
func (e *embedder) request(
	ctx context.Context, purpose robotmem.Purpose, timeout time.Duration, texts []string,
) ([][]float32, error) {
	if err := e.cooldown.begin(); err != nil {
		return nil, err
	}

	// A caller that leaves almost no time says nothing about the backend when the time is over.
	short := false
	if deadline, ok := ctx.Deadline(); ok {
		short = time.Until(deadline) < minTimeout
	}

	limited, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()

	// The counters tell afterwards whether the backend was working for others meanwhile.
	before := e.answers.Load()
	e.running.Add(1)
	defer e.running.Add(-1)

	if purpose == robotmem.ForQuestion {
		e.questions.Add(1)
		defer e.questions.Add(-1)
	}

	vectors, err := e.backend.embed(limited, purpose, texts)
	if err == nil {
		err = e.check(vectors, len(texts))
	}

	if err == nil {
		e.answers.Add(int32(min(len(texts), 1)))
		e.tooSlow.Store(false)

		// A request without texts only loads the model. Its success does not show that the model answers.
		if len(texts) > 0 && e.cooldown.succeeded() {
			e.log.Info("the embedder answers again")
		}

		return vectors, nil
	}

	// A caller that left, or a query that waited behind others, starts no cool-down: that would take the backend away
	// from all of them.
	busy := purpose == robotmem.ForQuestion && (e.running.Load() > 1 || e.answers.Load() != before)
	gaveUp := limited.Err()
	if errors.Is(gaveUp, context.Canceled) || gaveUp != nil && (busy || short && ctx.Err() != nil) {
		err := fmt.Errorf("the caller stopped waiting for %s: %w", e.model, gaveUp)
		return nil, &robotmem.Error{Kind: robotmem.Unavailable, Err: err}
	}

	// The first batch that takes too long may only be too large for this machine. Callers send fewer texts then.
	if limited.Err() != nil && ctx.Err() == nil {
		err = &timeoutError{timeout}
		if len(texts) > 1 && !e.tooSlow.Swap(true) {
			err = fmt.Errorf("%s gave %w for %d texts; send fewer at once", e.model, err, len(texts))
			return nil, &robotmem.Error{Kind: robotmem.TooLarge, Err: err}
		}
	}

	// A refused text is the fault of the text, so the backend goes on with others.
	failure := e.backend.explain(err)
	if failure.Kind == robotmem.Invalid {
		return nil, failure
	}

	wait := e.cooldown.failed(failure.Detail())
	e.log.Warn("the embedder failed", "error", failure.Detail(), "cooldown", wait)

	return nil, failure
}

// timeoutError means that a request took longer than its time limit.
type timeoutError struct{ limit time.Duration }

func (e *timeoutError) Error() string { return fmt.Sprintf("no answer within %v", e.limit) }
func (e *timeoutError) Unwrap() error { return context.DeadlineExceeded }

// badAnswer is an answer that could be read but cannot be used.
type badAnswer struct{ text string }

func (e *badAnswer) Error() string { return e.text }

// check returns an error if vectors cannot be the answer for n texts. A vector of
// another length or with a NaN would be stored and make every later search wrong.
func (e *embedder) check(vectors [][]float32, n int) error {
	if len(vectors) != n {
		return &badAnswer{fmt.Sprintf("answered %d vectors for %d texts", len(vectors), n)}
	}
	if n == 0 {
		return nil
	}

	dim := len(vectors[0])
	for i, v := range vectors {
		if len(v) == 0 || len(v) != dim {
			return &badAnswer{fmt.Sprintf("answered vectors of %d and %d numbers at once", dim, len(v))}
		}

		// A vector of zeros has no direction, so its cosine with any other is not defined.
		zero := true

		for _, x := range v {
			if f := float64(x); math.IsNaN(f) || math.IsInf(f, 0) {
				return &badAnswer{fmt.Sprintf("answered a number that is not finite for text %d of %d", i+1, n)}
			}
			zero = zero && x == 0
		}
		if zero {
			return &badAnswer{fmt.Sprintf("answered only zeros for text %d of %d", i+1, n)}
		}
	}

	// The first answer fixes the dimension. Another one later means that the model was replaced under its name.
	e.dim.CompareAndSwap(0, int64(dim))
	if before := e.dim.Load(); before != int64(dim) {
		return &badAnswer{fmt.Sprintf("answered vectors of %d numbers, but of %d before", dim, before)}
	}

	return nil
}

// prompts holds the text that is put before a text, by robotmem.Purpose.
type prompts [2]string

const (
	passages = "Represent this sentence for searching relevant passages: "
	instruct = "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery: "
)

// promptTable lists the prompts that models were trained with, from their model
// cards. The first entry whose name is part of the model's name applies.
var promptTable = []struct {
	name   string
	memory string
	query  string
}{
	{"nomic-embed-text", "search_document: ", "search_query: "},
	{"mxbai-embed-large", "", passages},
	{"snowflake-arctic-embed2", "", "query: "},
	{"snowflake-arctic-embed-l-v2", "", "query: "},
	{"snowflake-arctic-embed-m-v2", "", "query: "},
	{"snowflake-arctic-embed", "", passages},
	{"bge-small-en", "", passages},
	{"bge-base-en", "", passages},
	{"bge-large-en", "", passages},
	{"embeddinggemma", "title: none | text: ", "task: search result | query: "},
	{"qwen3-embedding", "", instruct},
	{"e5-large-instruct", "", instruct},
	{"e5-mistral", "", instruct},
	{"e5-small", "passage: ", "query: "},
	{"e5-base", "passage: ", "query: "},
	{"e5-large", "passage: ", "query: "},
}

// promptsOf returns the prompts of a model, none for a model that is not in the table.
func promptsOf(model string) prompts {
	model = strings.ToLower(model)
	for _, p := range promptTable {
		if strings.Contains(model, p.name) {
			return prompts{p.memory, p.query}
		}
	}

	return prompts{}
}
