package web

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/url"
	"unicode/utf8"

	"github.com/labstack/echo/v4"

	"github.com/robotmem/robotmem-go/robotmem"
)

// An upload is a form. The part data or file holds the payload, and every other part
// is a field as text. The payload is the last part: it streams from the connection to the
// disk, and the memory limits its size.

const (
	// maxFields is the largest size of all fields of a form together in bytes: a
	// description, a context and metadata as JSON.
	maxFields = 2 << 20
	maxParts  = 64
)

// save serves save_perception, from JSON or from a form.
func (s *server) save(op *robotmem.Op) echo.HandlerFunc {
	plain := s.operation(op)

	return func(c echo.Context) error {
		mediaType, params, err := mime.ParseMediaType(c.Request().Header.Get("Content-Type"))
		if err != nil || mediaType != "multipart/form-data" {
			return plain(c)
		}

		overlay, err := textValues(c, op)
		if err != nil {
			return err
		}
		if params["boundary"] == "" {
			return invalid(op, "Content-Type", errors.New("names no boundary; "+
				"send multipart/form-data; boundary=…, as libraries for forms do"))
		}

		u := &upload{
			op:     op,
			form:   multipart.NewReader(c.Request().Body, params["boundary"]),
			values: overlay,
			room:   maxFields,
		}
		res, err := u.save(c.Request().Context(), s.svc)

		return answer(c, res, err)
	}
}

type upload struct {
	op        *robotmem.Op
	form      *multipart.Reader
	values    url.Values
	partCount int
	room      int64 // bytes that are left for fields
}

// save reads the form up to its payload, which the service then reads.
func (u *upload) save(ctx context.Context, to robotmem.Node) (*robotmem.SavePerceptionResponse, error) {
	payload, err := u.next()
	switch {
	case err != nil:
		return nil, err
	case payload == nil:
		return u.send(ctx, to, nil)
	case u.values["description"] == nil:
		// A misspelt name has a better error: the one that suggests the right name.
		if _, err := u.op.Request(u.values); err != nil {
			return nil, err
		}

		// The part data may be meant as a text beside the payload, so the error names what was sent.
		name := "description"
		if payload.FormName() == "data" {
			name = "data"
		}

		return nil, invalid(u.op, name,
			errors.New("the description is required before the payload; send all fields first"))
	}

	return u.send(ctx, to, &lastPart{u, payload})
}

func (u *upload) send(
	ctx context.Context, to robotmem.Node, payload io.Reader,
) (*robotmem.SavePerceptionResponse, error) {
	raw, err := u.op.Request(u.values)
	if err != nil {
		return nil, err
	}

	req := &robotmem.SavePerceptionRequest{}
	notes, err := u.op.Decode(ctx, to, raw, req)
	if err != nil {
		return nil, err
	}

	var res *robotmem.SavePerceptionResponse
	if payload == nil {
		res, err = to.SavePerception(ctx, req)
	} else {
		res, err = to.SavePerceptionFrom(ctx, req, payload)
	}

	// The operation is called directly and not through Op.Call, which would add these notes.
	if err == nil {
		*res.HowRead() = notes
	}

	return res, err
}

// next reads the fields before the payload and returns the payload's part, nil at the
// end of the form.
func (u *upload) next() (*multipart.Part, error) {
	for {
		part, err := u.form.NextRawPart()
		if err == io.EOF {
			return nil, nil
		}
		if err != nil {
			return nil, u.readError("", err)
		}
		if u.partCount++; u.partCount > maxParts {
			return nil, invalid(u.op, "", fmt.Errorf("the form has more than %d parts", maxParts))
		}
		if isPayload(part) {
			u.useMediaType(part)
			return part, nil
		}
		if err := u.field(part); err != nil {
			return nil, err
		}
	}
}

func isPayload(part *multipart.Part) bool {
	return part.FormName() == "data" || part.FormName() == "file"
}

func (u *upload) field(part *multipart.Part) error {
	name := part.FormName()
	text, err := io.ReadAll(io.LimitReader(part, u.room+1))
	if err != nil {
		return u.readError(name, err)
	}
	if u.room -= int64(len(text)); u.room < 0 {
		err := fmt.Errorf("makes the fields of the form more than %d bytes; "+
			"only the part data or file may be large", maxFields)
		return &robotmem.Error{Op: u.op.Name, Kind: robotmem.TooLarge, Field: name, Err: err}
	}
	if !utf8.Valid(text) {
		return invalid(u.op, name, errors.New("is not valid UTF-8; send bytes as the part data or file"))
	}
	u.values[name] = append(u.values[name], string(text))

	return nil
}

// readError returns the error of a form that cannot be read to its end.
func (u *upload) readError(name string, err error) error {
	return invalid(u.op, name, fmt.Errorf("reading the form: %w; nothing was stored", err))
}

// useMediaType uses the media type of the payload's part, unless a field has one.
func (u *upload) useMediaType(part *multipart.Part) {
	t, _, _ := mime.ParseMediaType(part.Header.Get("Content-Type"))
	if _, named := u.values["media_type"]; !named && t != "" && t != "application/octet-stream" {
		u.values["media_type"] = []string{part.Header.Get("Content-Type")}
	}
}

// lastPart is a payload that must be the last part, because a field after it would be lost.
type lastPart struct {
	u    *upload
	part io.Reader
}

func (l *lastPart) Read(p []byte) (int, error) {
	n, err := l.part.Read(p)
	if err != io.EOF {
		return n, err
	}

	// The service stores nothing if reading the payload fails. So this last read must find the end of the form.
	switch next, err := l.u.form.NextRawPart(); {
	case err == io.EOF:
		return n, io.EOF
	case err != nil:
		return n, err
	case isPayload(next):
		return n, invalid(l.u.op, "data", errors.New("there is more than one part with a payload; "+
			"send each perception separately"))
	default:
		return n, fmt.Errorf("the field %s comes after the payload; send the payload last", next.FormName())
	}
}
