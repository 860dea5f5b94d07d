package embedding

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/robotmem/robotmem-go/robotmem"
)

// maxText is where a text is cut, in bytes. The longest context among common
// embedding models is 8,192 tokens; more than this only costs time.
const maxText = 8 << 10

// patience is what a caller has to allow a service before a passed deadline of
// the caller's own counts as a failure of the service.
const patience = time.Second

// backend computes vectors.
type backend interface {
	// embed returns a vector for each text; the caller checks the answer.
	embed(ctx context.Context, texts []string) ([][]float32, error)
	// explain says what an error of embed, or of its answer, means and what to
	// do next. Invalid stands for a text that the model refuses.
	explain(err error) *robotmem.Error
}

// embedder asks a backend: with prompts, in batches, under time limits, with
// pauses while it fails, and with no trust in the answer.
type embedder struct {
	model    string // the identity that State tells
	prompts  prompts
	backend  backend
	limits   [2]time.Duration // of a request, by purpose
	batch    int
	guard    guard
	cooldown *cooldown
	cache    *cache
	log      *slog.Logger
	close    func() error
}

var (
	_ robotmem.Embedder = (*embedder)(nil)
	_ io.Closer         = (*embedder)(nil)
)

// newEmbedder returns the embedder that asks b; name is what the table of
// prompts is asked for, model the identity, stop what Close calls.
func newEmbedder(model, name string, b backend, o Options, stop func() error) *embedder {
	return &embedder{
		model:    model,
		prompts:  promptsOf(name),
		backend:  b,
		limits:   [2]time.Duration{robotmem.ForMemory: o.Timeout, robotmem.ForQuestion: o.QuestionTimeout},
		batch:    o.Batch,
		cooldown: &cooldown{now: o.Clock},
		cache:    newCache(cachedQuestions),
		log:      o.Logger.With("embedder", model),
		close:    stop,
	}
}

// State implements robotmem.Embedder.
func (e *embedder) State() robotmem.EmbedderState {
	reason, until := e.cooldown.state()
	return robotmem.EmbedderState{Model: e.model, Reason: reason, Until: until}
}

// Close ends what runs in the background and waits for it. It does not end
// calls of Embed.
func (e *embedder) Close() error {
	return e.close()
}

// Embed implements robotmem.Embedder.
func (e *embedder) Embed(ctx context.Context, purpose robotmem.Purpose, texts []string) ([][]float32, error) {
	if int(purpose) >= len(e.limits) {
		return nil, &robotmem.Error{Kind: robotmem.Invalid, Field: "purpose", Err: fmt.Errorf("%d is not a purpose", purpose)}
	}
	asked := make([]string, len(texts))
	vectors := make([][]float32, len(texts))
	var missing []int
	for i, text := range texts {
		if strings.TrimSpace(text) == "" {
			return nil, refused(i, "is blank, and nothing has no meaning: leave it out")
		}
		asked[i] = e.prompts[purpose] + cut(text)
		if purpose == robotmem.ForQuestion {
			vectors[i] = e.cache.get(asked[i])
		}
		if vectors[i] == nil {
			missing = append(missing, i)
		}
	}
	for batch := range slices.Chunk(missing, e.batch) {
		some := make([]string, len(batch))
		for k, i := range batch {
			some[k] = asked[i]
		}
		got, err := e.request(ctx, e.limits[purpose], some)
		if err != nil {
			return nil, renumber(err, batch)
		}
		for k, i := range batch {
			vectors[i] = got[k]
			if purpose == robotmem.ForQuestion {
				e.cache.put(asked[i], got[k])
			}
		}
	}
	return vectors, nil
}

// request asks the backend once, unless it is cooling down, and tells the
// cool-down how it went.
func (e *embedder) request(ctx context.Context, limit time.Duration, texts []string) ([][]float32, error) {
	t, err := e.cooldown.begin()
	if err != nil {
		return nil, err
	}
	hurried := false
	if deadline, ok := ctx.Deadline(); ok {
		hurried = time.Until(deadline) < patience
	}
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	vectors, err := e.backend.embed(limited, texts)
	if err == nil {
		err = e.guard.check(vectors, len(texts))
	}
	if err == nil {
		if e.cooldown.succeeded(t) {
			e.log.Info("the embedder answers again")
		}
		return vectors, nil
	}
	if gaveUp := ctx.Err(); errors.Is(gaveUp, context.Canceled) || gaveUp != nil && hurried {
		e.cooldown.undecided(t)
		return nil, &robotmem.Error{Kind: robotmem.Unavailable, Err: fmt.Errorf("gave up waiting for %s: %w", e.model, gaveUp)}
	}
	if limited.Err() != nil && ctx.Err() == nil {
		err = &timeoutError{limit}
	}
	failure := e.backend.explain(err)
	if failure.Kind == robotmem.Invalid {
		e.cooldown.undecided(t)
		return nil, failure
	}
	wait := e.cooldown.failed(t, failure.Detail(), retryAfter(err, e.cooldown.now()))
	e.log.Warn("the embedder failed", "error", failure.Detail(), "cooldown", wait)
	return nil, failure
}

// timeoutError is a request that took longer than it may.
type timeoutError struct{ limit time.Duration }

func (e *timeoutError) Error() string { return fmt.Sprintf("no answer within %v", e.limit) }
func (e *timeoutError) Unwrap() error { return context.DeadlineExceeded }

// refusal is a text that the model cannot take, by its place in a request.
type refusal struct {
	index  int
	reason string
}

func (r *refusal) Error() string { return r.reason }

// refused is the error of a text that cannot have a vector.
func refused(index int, reason string) *robotmem.Error {
	return &robotmem.Error{Kind: robotmem.Invalid, Field: fmt.Sprintf("texts[%d]", index), Err: &refusal{index, reason}}
}

// renumber makes the place of a refused text in a batch its place in the call.
func renumber(err error, batch []int) error {
	if r := (*refusal)(nil); errors.As(err, &r) && r.index < len(batch) {
		return refused(batch[r.index], r.reason)
	}
	return err
}

// cut returns the first maxText bytes of s, less the rest of a cut rune.
func cut(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if len(s) <= maxText {
		return s
	}
	n := maxText
	for !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
