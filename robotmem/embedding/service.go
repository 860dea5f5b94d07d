package embedding

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
	"regexp"
	"strings"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/outgoing"
)

const (
	// maxAnswer is the largest answer in bytes: 64 vectors of 8,192 numbers are some 11 MB of JSON.
	maxAnswer = 32 << 20
	// maxMessage is how much of an error answer is read, and maxQuoted how much
	// of its message is shown, in bytes.
	maxMessage = 8 << 10
	maxQuoted  = 200
)

// service is a service over HTTP that computes vectors or scores.
type service struct {
	base *url.URL
	http *http.Client
	key  string // sent as a bearer token and replaced in every text, "" without one
	most int64  // the largest answer in bytes, maxAnswer if zero

	// For the texts of errors.
	name  string // "Ollama at http://127.0.0.1:11434"
	model string
	start string // what to do when nothing answers
	fetch string // what to do when it does not have the model
}

// call posts a request in JSON, or gets the path if request is nil, and decodes the answer.
func (s *service) call(ctx context.Context, path string, request, answer any) error {
	method, body := http.MethodGet, []byte(nil)
	if request != nil {
		method = http.MethodPost
		body, _ = json.Marshal(request) // texts and numbers
	}

	req, err := http.NewRequestWithContext(ctx, method, s.base.JoinPath(path).String(), bytes.NewReader(body))
	if err != nil {
		return err
	}

	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json")
	if s.key != "" {
		req.Header.Set("Authorization", "Bearer "+s.key)
	}

	res, err := s.http.Do(req)
	if err != nil {
		return err
	}

	defer res.Body.Close()
	if err := statusOf(res); err != nil {
		return err
	}

	// Anything may answer at an address that is wrong, also with an endless answer.
	return json.NewDecoder(http.MaxBytesReader(nil, res.Body, cmp.Or(s.most, maxAnswer))).Decode(answer)
}

// numbers holds a vector. Encoders write NaN as null, and a decoder would read it as 0.
type numbers []float32

func (n *numbers) UnmarshalJSON(data []byte) error {
	if bytes.Contains(data, []byte("null")) {
		return &badAnswer{"answered null instead of a number"}
	}
	return json.Unmarshal(data, (*[]float32)(n))
}

// statusError is an answer with a status from 400 on.
type statusError struct {
	code    int
	status  string // "404 Not Found"
	message string // from the service, in one line
}

func (e *statusError) Error() string {
	if e.message == "" {
		return e.status
	}
	return e.status + ": " + e.message
}

var errorMessage = regexp.MustCompile(`"(?:error|message)":\s*("(?:[^"\\]|\\.)*")`)

// statusOf returns the statusError of an answer, or nil. The message is the text in
// {"error":"…"}, {"error":{"message":"…"}} or {"message":"…"}, or a body of another form.
func statusOf(res *http.Response) error {
	if res.StatusCode < http.StatusBadRequest {
		return nil
	}
	body, err := io.ReadAll(io.LimitReader(res.Body, maxMessage))
	if err != nil {
		return err
	}

	// If the message cannot be decoded, the whole body is shown.
	text := string(body)
	if m := errorMessage.FindSubmatch(body); m != nil {
		_ = json.Unmarshal(m[1], &text)
	}

	text = strings.Join(strings.Fields(text), " ")
	if len(text) > maxQuoted {
		text = strings.ToValidUTF8(text[:maxQuoted], "") + "…"
	}

	return &statusError{res.StatusCode, res.Status, text}
}

// baseURL parses the address of a service, see [outgoing.Address].
func baseURL(raw, defaultPort string) (*url.URL, error) {
	u, err := outgoing.Address(raw, defaultPort)
	if err != nil {
		return nil, invalid("the address of the embedding service %w", err)
	}

	return u, nil
}

// explain returns what an error of a request means: its kind, what failed, and what to do.
func (s *service) explain(err error) *robotmem.Error {
	var (
		status   *statusError
		bad      *badAnswer
		slow     *timeoutError
		dial     *net.OpError
		tooLong  *http.MaxBytesError
		broken   *url.Error
		redirect *outgoing.RedirectError
	)

	if errors.As(err, &redirect) {
		err = &badAnswer{redirect.Error()}
	}

	// From the most specific error to the least: http wraps nearly everything in a url.Error, so broken comes last.
	switch {
	case errors.As(err, &status):
		return s.explainStatus(status)
	case errors.As(err, &bad):
		return s.fail(robotmem.Unavailable, "%s; check the address and the log of the service, "+
			"and restart robotmem if the model %s was replaced", bad, s.model)
	case errors.As(err, &slow):
		return s.fail(robotmem.Unavailable, "gave %s; use a smaller model, or see the log of the service", slow)
	case errors.As(err, &tooLong):
		return s.fail(robotmem.Unavailable, "answered more than %d MiB; check the address", tooLong.Limit>>20)
	case errors.Is(err, context.DeadlineExceeded):
		return s.fail(robotmem.Unavailable, "gave no answer before the deadline of the call")
	case errors.As(err, &dial) && dial.Op == "dial":
		return s.fail(robotmem.Unavailable, "cannot be reached (%s); %s", dial.Err, s.start)
	case errors.As(err, &broken):
		return s.fail(robotmem.Unavailable, "broke the connection: %s; %s", broken.Err, s.start)
	}

	return s.fail(robotmem.Unavailable, "gave an answer that cannot be read (%s); check the address", err)
}

func (s *service) explainStatus(e *statusError) *robotmem.Error {
	message := strings.ToLower(e.message)
	switch {
	case e.code == http.StatusUnauthorized, e.code == http.StatusForbidden:
		return s.fail(robotmem.Forbidden, "answered %s; check the key if it needs one, and the address: "+
			"a proxy in front of it may ask for credentials", e.status)
	case strings.Contains(message, "model") &&
		(strings.Contains(message, "not found") || strings.Contains(message, "not exist")):
		// A missing model also has the status 404, so the message is looked at before the status.
		return s.fail(robotmem.NotFound, "has no model %s; %s", s.model, s.fetch)
	case strings.Contains(message, "not support embed"):
		return s.fail(robotmem.NotFound, "says that the model %s makes no embeddings; "+
			"use one that does, such as nomic-embed-text", s.model)
	case e.code == http.StatusNotFound:
		return s.fail(robotmem.NotFound, "answered %s; check the address", e)
	case e.code == http.StatusBadRequest,
		e.code == http.StatusRequestEntityTooLarge,
		e.code == http.StatusUnprocessableEntity:
		return s.fail(robotmem.Invalid, "refused a text (%s); shorten it", e)
	}

	return s.fail(robotmem.Unavailable, "answered %s; see the log of the service", e)
}

func (s *service) fail(kind robotmem.Kind, format string, args ...any) *robotmem.Error {
	text := s.name + " " + fmt.Sprintf(format, args...)

	// A service may repeat the key in its message, and the text goes to logs and answers.
	if s.key != "" {
		text = strings.ReplaceAll(text, s.key, "…")
	}

	return &robotmem.Error{Kind: kind, Err: errors.New(text)}
}
