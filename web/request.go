package web

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/robotmem/robotmem-go/robotmem"
)

// idempotencyKey is the header that names a call, as request_id does; its text may be in quotes. HTTP
// clients know it: net/http of Go sends a request again by itself only if it has one.
const idempotencyKey = "Idempotency-Key"

// errMediaType means that the route does not read the media type of the body.
var errMediaType = &refusal{status: http.StatusUnsupportedMediaType, why: "unsupported media type"}

// request returns the JSON request of the operation: the body, overlaid by the query,
// overlaid by the path.
func (s *server) request(c echo.Context, op *robotmem.Op) (json.RawMessage, error) {
	values, err := textValues(c, op)
	if err != nil {
		return nil, err
	}

	overlay, err := op.Request(values)
	if err != nil || op.Method() == http.MethodGet {
		return overlay, err
	}

	// The media type is checked before the body is read, so that a wrong upload costs no memory.
	r := c.Request()
	if err := jsonBody(r, op); err != nil {
		return nil, err
	}
	body, err := s.readBody(r, op)
	if err != nil {
		return nil, err
	}

	return merge(body, overlay, len(values) > 0), nil
}

func invalid(op *robotmem.Op, field string, err error) error {
	if e := (*robotmem.Error)(nil); errors.As(err, &e) {
		return e
	}
	return &robotmem.Error{Op: op.Name, Kind: robotmem.Invalid, Field: field, Err: err}
}

// textValues returns the values of the query, overlaid by those of the path and of the header.
func textValues(c echo.Context, op *robotmem.Op) (url.Values, error) {
	values, err := url.ParseQuery(c.Request().URL.RawQuery)
	if err != nil {
		return nil, invalid(op, "", fmt.Errorf("the query string cannot be read: %s", err))
	}

	for _, name := range c.ParamNames() {
		// echo matches RawPath if there is one and leaves its escapes in the parameters. Otherwise net/http has
		// unescaped the path.
		v := c.Param(name)
		if c.Request().URL.RawPath != "" {
			if v, err = url.PathUnescape(v); err != nil {
				return nil, invalid(op, name, errors.New("has a bad % escape"))
			}
		}
		values[name] = []string{v}
	}

	switch key := c.Request().Header.Get(idempotencyKey); {
	case key == "":
	case op.Has("request_id"):
		values["request_id"] = []string{strings.Trim(key, `"`)}
	case !op.Hints.ReadOnly && !op.Hints.Idempotent:
		// Ignoring the key would let the client believe that it may repeat the call.
		return nil, invalid(op, idempotencyKey, errors.New("has no effect on this operation, "+
			"which may do its work twice; items of a batch take a request_id, start_session takes a session_id of yours"))
	}

	return values, nil
}

// jsonBody refuses a body that is declared as something else than JSON.
func jsonBody(r *http.Request, op *robotmem.Op) error {
	declared := r.Header.Get("Content-Type")
	if declared == "" || r.ContentLength == 0 {
		return nil
	}
	if mediaType, _, err := mime.ParseMediaType(declared); err == nil && mediaType == "application/json" {
		return nil
	}

	err := fmt.Errorf("%w %q; send application/json, or multipart/form-data to save_perception", errMediaType, declared)

	return &robotmem.Error{Op: op.Name, Kind: robotmem.Invalid, Field: "Content-Type", Err: err}
}

// merge returns the fields of body, overlaid by those of overlay, which come last and
// so count. The operation refuses a body that is not an object.
func merge(body, overlay json.RawMessage, overlaid bool) json.RawMessage {
	body = bytes.TrimSpace(body)
	switch {
	case len(body) == 0, overlaid && string(body) == "null":
		return overlay
	case !overlaid || body[0] != '{' || body[len(body)-1] != '}':
		return body
	}
	fields := bytes.TrimSpace(body[1 : len(body)-1])
	if len(fields) == 0 {
		return overlay
	}

	return slices.Concat([]byte("{"), fields, []byte(","), overlay[1:])
}
