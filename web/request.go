package web

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime"
	"mime/multipart"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/robotmem/robotmem-go/robotmem"
)

// errMediaType is a body in a form that the route does not read.
var errMediaType = errors.New("unsupported media type")

// request is the operation's JSON request: the body, overlaid by the query,
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
	r := c.Request()
	mediaType, params, err := contentType(r, op)
	if err != nil {
		return nil, err
	}
	if r.ContentLength > s.maxBody {
		return nil, s.tooLarge(op)
	}
	r.Body = http.MaxBytesReader(c.Response(), r.Body, s.maxBody)
	var body json.RawMessage
	if mediaType == "multipart/form-data" {
		body, err = multipartRequest(multipart.NewReader(r.Body, params["boundary"]), op)
	} else {
		body, err = io.ReadAll(r.Body)
	}
	if large := (*http.MaxBytesError)(nil); errors.As(err, &large) {
		return nil, s.tooLarge(op)
	}
	if err != nil {
		return nil, invalid(op, "", fmt.Errorf("reading the request body: %w", err))
	}
	return merge(body, overlay, len(values) > 0), nil
}

func (s *server) tooLarge(op *robotmem.Op) error {
	return &robotmem.Error{Op: op.Name, Kind: robotmem.TooLarge, Err: fmt.Errorf("the request body is over %d bytes; split it, or raise the limit of the node", s.maxBody)}
}

func invalid(op *robotmem.Op, field string, err error) error {
	if e := (*robotmem.Error)(nil); errors.As(err, &e) {
		return e
	}
	return &robotmem.Error{Op: op.Name, Kind: robotmem.Invalid, Field: field, Err: err}
}

// textValues collects the query and, over it, the path.
func textValues(c echo.Context, op *robotmem.Op) (robotmem.Values, error) {
	query, err := url.ParseQuery(c.Request().URL.RawQuery)
	if err != nil {
		return nil, invalid(op, "", fmt.Errorf("the query string cannot be read: %s", err))
	}
	values := robotmem.Values{}
	maps.Copy(values, query)
	for _, name := range c.ParamNames() {
		v := c.Param(name)
		if c.Request().URL.RawPath != "" { // else net/http has unescaped it
			if v, err = url.PathUnescape(v); err != nil {
				return nil, invalid(op, name, errors.New("has a bad % escape"))
			}
		}
		values[name] = []string{v}
	}
	return values, nil
}

// contentType is the media type of the body. No body and no declared type
// both count as JSON.
func contentType(r *http.Request, op *robotmem.Op) (string, map[string]string, error) {
	declared := r.Header.Get("Content-Type")
	if declared == "" || r.ContentLength == 0 {
		return "application/json", nil, nil
	}
	allowed := []string{"application/json"}
	if op.Name == "save_perception" {
		allowed = append(allowed, "multipart/form-data")
	}
	mediaType, params, err := mime.ParseMediaType(declared)
	if err != nil || !slices.Contains(allowed, mediaType) {
		return "", nil, &robotmem.Error{Op: op.Name, Kind: robotmem.Invalid, Field: "Content-Type", Err: fmt.Errorf("%w %q; send %s", errMediaType, declared, strings.Join(allowed, " or "))}
	}
	return mediaType, params, nil
}

// merge lays the fields of overlay over those of body. A body that is no
// object is left as it is: the operation refuses it and says why.
func merge(body, overlay json.RawMessage, overlaid bool) json.RawMessage {
	switch {
	case len(body) == 0:
		return overlay
	case !overlaid:
		return body
	}
	var fields, over map[string]json.RawMessage
	if json.Unmarshal(body, &fields) != nil || json.Unmarshal(overlay, &over) != nil {
		return body
	}
	if fields == nil {
		return overlay
	}
	maps.Copy(fields, over)
	merged, err := json.Marshal(fields)
	if err != nil {
		return body
	}
	return merged
}

// multipartRequest makes a request of a form: the part data or file holds the
// bytes, every other part a field as text.
func multipartRequest(form *multipart.Reader, op *robotmem.Op) (json.RawMessage, error) {
	values, payload := robotmem.Values{}, []byte(nil)
	given := false
	for {
		part, err := form.NextRawPart()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
		data, err := io.ReadAll(part)
		if err != nil {
			return nil, err
		}
		switch name := part.FormName(); {
		case name != "data" && name != "file":
			values[name] = append(values[name], string(data))
		case given:
			return nil, invalid(op, name, errors.New("there is more than one part with a payload; send each perception by itself"))
		default:
			given, payload = true, data
			t, _, _ := mime.ParseMediaType(part.Header.Get("Content-Type"))
			if _, named := values["media_type"]; !named && t != "" && t != "application/octet-stream" {
				values["media_type"] = []string{part.Header.Get("Content-Type")}
			}
		}
	}
	request, err := op.Request(values)
	if err != nil || len(payload) == 0 {
		return request, err
	}
	if values["data_base64"] != nil || values["path"] != nil {
		return nil, invalid(op, "data", errors.New("give at most one of data, data_base64 and path"))
	}
	encoded, err := json.Marshal(map[string][]byte{"data_base64": payload})
	if err != nil {
		return nil, err
	}
	return merge(request, encoded, true), nil
}
