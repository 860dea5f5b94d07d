package site

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/fleet"
	"github.com/robotmem/robotmem-go/robotmem/internal/engine"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
	"github.com/robotmem/robotmem-go/robotmem/local"
)

// Memories returns the memory of the caller in ctx, if there is room in it for what a request
// stores: memories, and bytes of payloads. leave is called after its use.
type Memories func(ctx context.Context, memories, bytes int64) (n *local.Node, leave func(), err error)

// Handler serves the robots of a site below /api/fleet/. The returned error has not been answered: the caller has to
// write it.
func Handler(node Memories) func(http.ResponseWriter, *http.Request) error {
	feeds := newFeeds(node)
	calls := map[string]func(http.ResponseWriter, *http.Request) (any, error){
		"hello": decoded(node, 0, AnswerHello),
		"push": decoded(node, 0, func(ctx context.Context, n *local.Node, p *fleet.PushRequest) (*fleet.PushResponse, error) {
			return admitPush(ctx, node, n, p)
		}),
		"pull":   decoded(node, 0, feeds.answerPull),
		"settle": decoded(node, 0, answerSettle),
		"payload": func(_ http.ResponseWriter, r *http.Request) (any, error) {
			return map[string]bool{"stored": true}, receivePayload(r.Context(), node, r.Body)
		},
	}

	reads := map[string]func(context.Context, *local.Node, *http.Request) (any, error){
		"robots": func(ctx context.Context, n *local.Node, _ *http.Request) (any, error) { return Robots(ctx, n) },
		"conflicts": func(ctx context.Context, n *local.Node, r *http.Request) (any, error) {
			return Conflicts(ctx, n, r.URL.Query().Get("robot"))
		},
		"purges": func(ctx context.Context, n *local.Node, r *http.Request) (any, error) {
			return UnconfirmedPurges(ctx, n, r.URL.Query().Get("uid"))
		},
	}

	return func(w http.ResponseWriter, r *http.Request) error {
		if r.Method == http.MethodGet {
			return answerRead(w, r, node, feeds, reads)
		}

		call := calls[strings.TrimPrefix(r.URL.Path, "/api/fleet/")]
		if call == nil {
			return robotmem.Errorf(robotmem.NotFound, "", "robots do not call %.60q", r.URL.Path)
		}
		res, err := call(w, r)
		if err != nil {
			return robotmem.Explain(err)
		}
		w.Header().Set("Content-Type", "application/json")
		// The caller may be gone.
		_ = json.NewEncoder(w).Encode(res)

		return nil
	}
}

// answerRead answers what changes nothing: a chunk of a feed for a robot, and for operators what there is to see.
func answerRead(
	w http.ResponseWriter, r *http.Request, node Memories, feeds *feeds,
	reads map[string]func(context.Context, *local.Node, *http.Request) (any, error),
) error {
	name := strings.TrimPrefix(r.URL.Path, "/api/fleet/")
	if name == "chunk" {
		if err := feeds.chunk(w, r); err != nil {
			return robotmem.Explain(err)
		}
		return nil
	}
	read := reads[name]
	if read == nil {
		return robotmem.Errorf(robotmem.NotFound, "", "there is nothing to read at %.60q", r.URL.Path)
	}
	if err := requireOperator(r.Context()); err != nil {
		return err
	}

	n, leave, err := node(r.Context(), 0, 0)
	if err != nil {
		return err
	}
	defer leave()
	res, err := read(r.Context(), n, r)
	if err != nil {
		return robotmem.Explain(err)
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(res) // the caller may be gone

	return nil
}

// requireOperator fails for a token that does not see the whole tenant.
func requireOperator(ctx context.Context) error {
	switch c := robotmem.CallerOf(ctx); c.Role {
	case robotmem.RoleRobot, robotmem.RoleReader:
		return robotmem.Errorf(robotmem.Forbidden, "", "is for operators; the token is of the role %s", c.Role)
	default:
		return nil
	}
}

// settleRequest settles a conflict.
type settleRequest struct {
	ID   int64  `json:"id"`
	Keep string `json:"keep"` // site, robot or both
}

func answerSettle(ctx context.Context, n *local.Node, r *settleRequest) (*settleRequest, error) {
	if err := requireOperator(ctx); err != nil {
		return nil, err
	}
	return r, Settle(ctx, n, r.ID, r.Keep)
}

// admitPush stores a push if there is room for the memories in it that the site does not have. Over a quota it stores the
// rest, which needs no room and may make some, and fails, so that the robot sends the push again later.
func admitPush(ctx context.Context, node Memories, n *local.Node, p *fleet.PushRequest) (*fleet.PushResponse, error) {
	// Without its link it does not count as the push, which the robot sends again.
	known := *p
	known.Memories, known.Upto, known.Link, known.Prev = nil, 0, nil, nil

	err := engine.Of(n).Store.Read(ctx, func(c *store.Conn) error {
		for i := range p.Memories {
			id := int64(0)
			_, err := c.One(store.OriginOfMemory, []any{p.Memories[i].UID}, func(r store.Row) { id = r.ColumnInt64(0) })
			if err != nil {
				return err
			}
			if id != 0 {
				known.Memories = append(known.Memories, p.Memories[i])
			}
		}

		return nil
	})
	if err != nil {
		return nil, err
	}

	if fresh := int64(len(p.Memories) - len(known.Memories)); fresh > 0 {
		_, leave, err := node(ctx, fresh, 0)
		if errors.Is(err, robotmem.TooLarge) {
			if _, knownErr := AnswerPush(ctx, n, &known); knownErr != nil {
				return nil, knownErr
			}
			return nil, err
		}
		if err != nil {
			return nil, err
		}
		leave()
	}

	return AnswerPush(ctx, n, p)
}

// decoded decodes a request of at most 1 MiB, for f.
func decoded[Request, Response any](
	node Memories, memories int64, f func(context.Context, *local.Node, *Request) (*Response, error),
) func(http.ResponseWriter, *http.Request) (any, error) {
	return func(w http.ResponseWriter, r *http.Request) (any, error) {
		n, leave, err := node(r.Context(), memories, 0)
		if err != nil {
			return nil, err
		}
		defer leave()
		data, err := unpacked(http.MaxBytesReader(w, r.Body, fleet.MaxPush), r.Header.Get("Content-Encoding"))
		if err != nil {
			return nil, err
		}
		request := new(Request)
		if err := decode(data, request); err != nil {
			return nil, err
		}

		return f(r.Context(), n, request)
	}
}

// unpacked reads a request. A small one may unpack to any size.
func unpacked(body io.Reader, encoding string) ([]byte, error) {
	if encoding == "gzip" {
		z, err := gzip.NewReader(body)
		if err != nil {
			return nil, robotmem.Errorf(robotmem.Invalid, "body", "is not gzip")
		}
		body = z
	}

	data, err := io.ReadAll(io.LimitReader(body, fleet.MaxRequest+1))
	if large := (*http.MaxBytesError)(nil); errors.As(err, &large) {
		return nil, robotmem.Errorf(robotmem.TooLarge, "body", "must be at most %d bytes", large.Limit)
	}
	if err != nil {
		return nil, robotmem.Errorf(robotmem.Invalid, "body", "cannot be read (%s); send it again", robotmem.Reason(err))
	}
	if len(data) > fleet.MaxRequest {
		return nil, robotmem.Errorf(robotmem.TooLarge, "body", "must unpack to at most %d bytes", fleet.MaxRequest)
	}

	return data, nil
}

// decode decodes a request within the bounds of the protocol, and checks the version that it speaks.
func decode(data []byte, to any) error {
	// Decoding takes many times the memory of the text, so the items are counted first.
	if err := fleet.CheckBounds(data); err != nil {
		return err
	}

	// A field that this site does not know would be lost without a word.
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(to); err != nil {
		return robotmem.Errorf(robotmem.Invalid, "body", "is not the JSON of this request: %v", err)
	}
	if v, ok := to.(interface{ Speaks() int }); ok && v.Speaks() != fleet.Protocol {
		return robotmem.Errorf(robotmem.Conflict, "protocol",
			"is %d, and this site speaks %d; install the same version of robotmem on the robot and the site, the site first", v.Speaks(), fleet.Protocol)
	}
	if p, ok := to.(*fleet.PushRequest); ok {
		return p.CheckBounds()
	}

	return nil
}
