package embedding

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/outgoing"
)

// Services for reranking speak one of two protocols:
//
//	POST /v1/rerank  {model, query, documents, top_n}  {"results": [{index, relevance_score}, …]}
//	POST /rerank     {query, texts, truncate}          [{index, score}, …]
//
// The first is that of Cohere and Jina, which llama.cpp and vLLM also serve, partly at /rerank too.
// The second is that of Text Embeddings Inference. Which one a service speaks is found out with the
// first request.

const (
	// maxPassage is the length in bytes to which a text is cut. Many reranking models read 512
	// tokens of the query and the text together, and some services refuse more.
	maxPassage = 2 << 10
	// maxScores is the largest answer in bytes. Some services send the texts back.
	maxScores = 1 << 20
)

// rerankForm is a path and a form of request.
type rerankForm struct {
	path  string // below the address of the service
	texts bool   // the protocol of Text Embeddings Inference
}

// reranker asks a service under a time limit, checks its answers and pauses while it fails.
type reranker struct {
	service
	model    string // sent with a request, none if empty
	shown    string // in State
	timeout  time.Duration
	cooldown *cooldown
	log      *slog.Logger

	forms   []rerankForm               // to try, in order
	form    atomic.Pointer[rerankForm] // that worked last, nil before
	answers atomic.Int32               // requests that the service answered
}

var (
	_ robotmem.Reranker = (*reranker)(nil)
	_ io.Closer         = (*reranker)(nil)
)

// OpenReranker returns the reranker at an address, nil for "" and "none". An address whose path ends
// in "rerank" is used as it is; below another one, /v1/rerank and /rerank are tried. It never waits for
// the network. The reranker is an io.Closer. OpenReranker fails with Invalid for an address of another form.
func OpenReranker(address string, o Options) (robotmem.Reranker, error) {
	o = o.withDefaults()
	address = strings.TrimSpace(address)
	if address == "" || address == "none" {
		return nil, nil
	}

	base, err := baseURL(address, "80")
	if err != nil {
		return nil, robotmem.Errorf(robotmem.Invalid, "reranker", "must be none or the address of a reranking "+
			"service, such as http://127.0.0.1:8080")
	}

	// /rerank is tried in both protocols, because llama.cpp and others serve the first one there too.
	base.Path, base.RawPath = strings.TrimRight(base.Path, "/"), ""
	forms := []rerankForm{{path: "v1/rerank"}, {path: "rerank"}, {path: "rerank", texts: true}}
	if strings.HasSuffix(base.Path, "rerank") {
		forms = []rerankForm{{}, {texts: true}}
	}

	shown := outgoing.Origin(base)
	if o.RerankerModel != "" {
		shown = o.RerankerModel + " at " + shown
	}

	return &reranker{
		service: service{
			base:  base,
			http:  outgoing.Client(o.HTTPClient),
			key:   o.RerankerKey,
			most:  maxScores,
			name:  "the reranking service at " + outgoing.Origin(base),
			model: cmp.Or(o.RerankerModel, "(none was named)"),
			start: "check its address and the network",
			fetch: "check the setting reranker_model",
		},
		model:    o.RerankerModel,
		shown:    shown,
		timeout:  o.QuestionTimeout,
		cooldown: &cooldown{now: o.Clock},
		log:      o.Logger.With("reranker", shown),
		forms:    forms,
	}, nil
}

func (r *reranker) State() robotmem.RerankerState {
	reason, until := r.cooldown.state()
	return robotmem.RerankerState{Model: r.shown, Reason: reason, Until: until}
}

// Close closes idle connections. It does not end calls of Rerank.
func (r *reranker) Close() error {
	r.http.CloseIdleConnections()
	return nil
}

func (r *reranker) Rerank(ctx context.Context, query string, texts []string) ([]float64, error) {
	if len(texts) == 0 {
		return nil, nil
	}
	if err := r.cooldown.begin(); err != nil {
		return nil, err
	}

	passages := make([]string, len(texts))
	for i, text := range texts {
		passages[i] = clipBytes(text, maxPassage)
	}

	// A caller that leaves almost no time says nothing about the service when the time is over.
	short := false
	if deadline, ok := ctx.Deadline(); ok {
		short = time.Until(deadline) < minTimeout
	}

	limited, cancel := context.WithTimeout(ctx, r.timeout)
	defer cancel()
	before := r.answers.Load()

	scores, err := r.ask(limited, clipBytes(query, maxPassage), passages)
	if err == nil {
		r.answers.Add(1)
		if r.cooldown.succeeded() {
			r.log.Info("the reranker answers again")
		}
		return scores, nil
	}

	// A service that answers others is busy, not broken.
	busy := r.answers.Load() != before
	if gaveUp := limited.Err(); errors.Is(gaveUp, context.Canceled) || gaveUp != nil && (busy || short) {
		return nil, &robotmem.Error{Kind: robotmem.Unavailable, Err: fmt.Errorf("%s did not answer in time", r.name)}
	}
	if limited.Err() != nil && ctx.Err() == nil {
		err = &timeoutError{r.timeout}
	}

	failure := r.explain(err)
	wait := r.cooldown.failed(failure.Detail())
	r.log.Warn("the reranker failed", "error", failure.Detail(), "cooldown", wait)

	return nil, failure
}

// clipBytes returns the first n bytes of a text, without a part of a character.
func clipBytes(text string, n int) string {
	if len(text) <= n {
		return text
	}
	return strings.ToValidUTF8(text[:n], "")
}

// ask asks in the form that worked last, or else tries all forms.
func (r *reranker) ask(ctx context.Context, query string, texts []string) ([]float64, error) {
	forms := r.forms
	if known := r.form.Load(); known != nil {
		forms = []rerankForm{*known}
	}

	// The error to report is that of the first form whose page exists. If no page exists, it is the last one.
	var failed error
	found := false

	for _, form := range forms {
		scores, err := r.askIn(ctx, form, query, texts)
		if err == nil {
			r.form.Store(&form)
			return scores, nil
		}

		// Other errors have the same result in any form.
		status := (*statusError)(nil)
		if !errors.As(err, &status) || !status.asksOtherForm() {
			return nil, err
		}
		if !found {
			failed, found = err, !status.noPage()
		}
	}

	// Another service may have taken the address.
	r.form.Store(nil)

	return nil, failed
}

// noPage reports whether there is nothing at a path.
func (e *statusError) noPage() bool {
	return e.code == http.StatusNotFound || e.code == http.StatusMethodNotAllowed
}

// asksOtherForm reports whether a service may accept another path or another form of request. A page that
// does not know the model is the right one.
func (e *statusError) asksOtherForm() bool {
	if e.noPage() {
		return !strings.Contains(strings.ToLower(e.message), "model")
	}
	return e.code == http.StatusBadRequest || e.code == http.StatusUnprocessableEntity
}

// explain returns what an error means and what to do next.
func (r *reranker) explain(err error) *robotmem.Error {
	status, bad := (*statusError)(nil), (*badAnswer)(nil)
	switch {
	case errors.As(err, &bad):
		return r.fail(robotmem.Unavailable, "%s; check the address and the log of the service", bad)
	case errors.As(err, &status) && !status.noPage() && status.asksOtherForm():
		return r.fail(robotmem.Invalid, "refused the request (%s); set reranker_model if it needs the name of a "+
			"model, or see the log of the service", status)
	}

	return r.service.explain(err)
}

// askIn asks in one form.
func (r *reranker) askIn(ctx context.Context, form rerankForm, query string, texts []string) ([]float64, error) {
	request := map[string]any{"query": query}
	if form.texts {
		request["texts"], request["truncate"] = texts, true
	} else {
		request["documents"], request["top_n"] = texts, len(texts)
		if r.model != "" {
			request["model"] = r.model
		}
	}

	var answer rankings
	if err := r.call(ctx, form.path, request, &answer); err != nil {
		return nil, err
	}

	return answer.scores(len(texts))
}

// rankings holds an answer in either protocol.
type rankings []struct {
	Index     *int     `json:"index"`
	Relevance *float64 `json:"relevance_score"`
	Score     *float64 `json:"score"`
}

func (r *rankings) UnmarshalJSON(data []byte) error {
	type list rankings // without this method
	if bytes.HasPrefix(data, []byte("[")) {
		return json.Unmarshal(data, (*list)(r))
	}

	var answer struct {
		Results list `json:"results"`
	}
	err := json.Unmarshal(data, &answer)
	*r = rankings(answer.Results)

	return err
}

// scores returns the scores of n texts, negative infinity for those that are left out.
func (r rankings) scores(n int) ([]float64, error) {
	if len(r) == 0 {
		return nil, &badAnswer{fmt.Sprintf("answered no scores for %d texts", n)}
	}

	// Services may leave out texts, so each starts with the lowest score.
	scores := make([]float64, n)
	for i := range scores {
		scores[i] = math.Inf(-1)
	}

	for _, one := range r {
		score := cmp.Or(one.Relevance, one.Score)
		switch {
		case one.Index == nil || *one.Index < 0 || *one.Index >= n:
			return nil, &badAnswer{fmt.Sprintf("answered a score without the index of one of %d texts", n)}
		case score == nil || math.IsNaN(*score) || math.IsInf(*score, 0):
			return nil, &badAnswer{fmt.Sprintf("answered no number as the score of text %d", *one.Index)}
		case !math.IsInf(scores[*one.Index], -1):
			return nil, &badAnswer{fmt.Sprintf("answered two scores for text %d", *one.Index)}
		}
		scores[*one.Index] = *score
	}

	return scores, nil
}
