package fleet

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/outgoing"
)

// ask sends a request as JSON and decodes the answer.
func (r *Replicator) ask(ctx context.Context, what string, request, answer any) error {
	data, err := json.Marshal(request)
	if err != nil {
		return err
	}
	body, err := gzipped(data)
	if err != nil {
		return err
	}

	return r.send(ctx, what, body, answer)
}

// answers are the fields that the answer to each request has.
var answers = map[string][]string{"hello": {"upto", "protocol"}, "push": {"upto", "memories", "protocol"}, "pull": {"protocol"}}

func (r *Replicator) send(ctx context.Context, what string, body []byte, answer any) error {
	ctx, cancel := context.WithTimeout(ctx, requestTime)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, r.Peer.URL+"/api/fleet/"+what, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Content-Encoding", "gzip")

	return r.do(req, answer, answers[what]...)
}

// do sends a request and decodes the answer, which must have the required fields.
func (r *Replicator) do(req *http.Request, answer any, required ...string) error {
	data, err := r.answer(req)
	if err != nil {
		return err
	}

	fields := map[string]json.RawMessage{}
	if err := json.Unmarshal(data, &fields); err != nil {
		return r.notASite("its answer is no JSON object")
	}

	// A proxy or another program may answer with some other JSON.
	for _, name := range required {
		if fields[name] == nil {
			return r.notASite("its answer has no " + name)
		}
	}

	if err := json.Unmarshal(data, answer); err != nil {
		return r.notASite("its answer cannot be read")
	}

	return nil
}

// notASite is the error of an answer that a site would not give. What was sent counts as not arrived.
func (r *Replicator) notASite(why string) error {
	return robotmem.Errorf(robotmem.Unavailable, "fleet",
		"%s does not answer as a site of robotmem: %s; check the address, and proxies between here and the site",
		r.Peer.URL, why)
}

// respond sends a request and returns the answer if it is a success. The caller closes its body.
func (r *Replicator) respond(req *http.Request) (*http.Response, error) {
	if r.Peer.Token != "" {
		req.Header.Set("Authorization", "Bearer "+r.Peer.Token)
	}

	res, err := r.http.Do(req)
	if redirect := (*outgoing.RedirectError)(nil); errors.As(err, &redirect) {
		return nil, r.notASite(redirect.Error())
	}
	if err != nil {
		return nil, robotmem.Errorf(robotmem.Unavailable, "fleet", "the site at %s is not reached (%s)", r.Peer.URL,
			robotmem.Reason(err))
	}

	if res.StatusCode != http.StatusOK {
		defer res.Body.Close()

		var problem struct{ Kind, Field, Detail string }
		data, _ := io.ReadAll(io.LimitReader(res.Body, 1<<16))
		if json.Unmarshal(data, &problem) != nil || problem.Detail == "" {
			problem.Detail = strings.TrimSpace(res.Status)
		}

		// Unavailable lets the caller try again. An error of the request itself would occur again.
		kind := robotmem.Unavailable

		switch {
		case res.StatusCode == http.StatusNotFound && req.URL.Path == chunkPath:
			kind = robotmem.NotFound
		case res.StatusCode == http.StatusNotFound && req.URL.Path != payloadPath:
			// Only a site has the routes of the protocol. A payload may be of a memory that it does not have.
			return nil, robotmem.Errorf(robotmem.Invalid, "fleet", "there is no site at %s: what answers there keeps its memory in a "+
				"file, or is another program; a site is started with robotmem web --db postgres://…", r.Peer.URL)
		case res.StatusCode == http.StatusUnauthorized || res.StatusCode == http.StatusForbidden:
			kind = robotmem.Forbidden
		case res.StatusCode == http.StatusConflict:
			kind = robotmem.Conflict
		case res.StatusCode >= 400 && res.StatusCode < 500 && res.StatusCode != http.StatusTooManyRequests:
			kind = robotmem.Invalid
		}

		return nil, robotmem.Errorf(kind, cmp.Or(problem.Field, "fleet"), "the site answers: %s", problem.Detail)
	}

	return res, nil
}
