package embedding

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"

	"github.com/robotmem/robotmem-go/robotmem"
)

// service is who is asked, for the texts of errors.
type service struct {
	name   string // "Ollama at http://127.0.0.1:11434"
	model  string
	start  string // the next step when nothing answers
	login  string // when it wants to know who asks
	fetch  string // when it does not have the model
	secret string // never told, "" if there is none
}

// explain says what err means: which kind it is, what failed, what to do.
func (s *service) explain(err error) *robotmem.Error {
	status, redirect, bad := (*statusError)(nil), (*redirectError)(nil), (*badAnswer)(nil)
	dial, slow := (*net.OpError)(nil), (*timeoutError)(nil)
	tooLong := (*http.MaxBytesError)(nil)
	switch {
	case errors.As(err, &status):
		return s.explainStatus(status)
	case errors.As(err, &redirect):
		return s.fail(robotmem.Unavailable, "%s, and is not followed: set the address to where the service is", redirect)
	case errors.As(err, &bad):
		return s.fail(robotmem.Unavailable, "%s; if the model %s was replaced, restart, else see the log of the service", bad, s.model)
	case errors.As(err, &slow):
		return s.fail(robotmem.Unavailable, "gave %s; a smaller model is faster, and the log of the service says what it does", slow)
	case errors.As(err, &tooLong):
		return s.fail(robotmem.Unavailable, "answered more than %d MiB, of which no more was read; check the address", tooLong.Limit>>20)
	case errors.Is(err, context.DeadlineExceeded):
		return s.fail(robotmem.Unavailable, "gave no answer before the deadline of the call")
	case errors.As(err, &dial) && dial.Op == "dial":
		return s.fail(robotmem.Unavailable, "cannot be reached (%s); %s", dial.Err, s.start)
	}
	if u := (*url.Error)(nil); errors.As(err, &u) {
		return s.fail(robotmem.Unavailable, "broke off: %s; %s", u.Err, s.start)
	}
	return s.fail(robotmem.Unavailable, "gave an answer that cannot be read (%s); check the address", err)
}

func (s *service) explainStatus(e *statusError) *robotmem.Error {
	message := strings.ToLower(e.message)
	noModel := strings.Contains(message, "model") && (strings.Contains(message, "not found") || strings.Contains(message, "not exist"))
	switch e.code {
	case http.StatusUnauthorized, http.StatusForbidden:
		return s.fail(robotmem.Forbidden, "answered %s; %s", e.status, s.login)
	case http.StatusNotFound:
		if !noModel {
			return s.fail(robotmem.NotFound, "answered %s; check the address", e)
		}
		return s.fail(robotmem.NotFound, "has no model %s; %s", s.model, s.fetch)
	case http.StatusTooManyRequests:
		return s.fail(robotmem.Unavailable, "answered %s; it is asked again later", e)
	case http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity, http.StatusNotImplemented:
		if noModel {
			return s.fail(robotmem.NotFound, "has no model %s; %s", s.model, s.fetch)
		}
		if strings.Contains(message, "not support embed") {
			return s.fail(robotmem.NotFound, "says that the model %s makes no embeddings; choose one that does, such as nomic-embed-text", s.model)
		}
		if e.code != http.StatusNotImplemented {
			return s.fail(robotmem.Invalid, "refused a text (%s); shorten it", e)
		}
	}
	return s.fail(robotmem.Unavailable, "answered %s; see the log of the service", e)
}

func (s *service) fail(kind robotmem.Kind, format string, args ...any) *robotmem.Error {
	text := s.name + " " + fmt.Sprintf(format, args...)
	if s.secret != "" {
		text = strings.ReplaceAll(text, s.secret, "…")
	}
	return &robotmem.Error{Kind: kind, Err: errors.New(text)}
}
