package client

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"slices"

	"github.com/robotmem/robotmem-go/robotmem"
)

// SavePerceptionFrom implements robotmem.Streams.
func (c *Client) SavePerceptionFrom(ctx context.Context, r *robotmem.SavePerceptionRequest, data io.Reader) (*robotmem.SavePerceptionResponse, error) {
	op := robotmem.OpByName("save_perception")
	fields, err := fieldsOf(op, r)
	if err != nil {
		return nil, err
	}
	out, in := io.Pipe()
	form := multipart.NewWriter(in)
	source := &source{data, make(chan error, 1)}
	go func() { in.CloseWithError(writeForm(form, fields, source)) }()
	defer out.Close() // ends the goroutine when the node answers early
	req, err := http.NewRequestWithContext(ctx, op.Method(), c.base+op.Path(), out)
	if err != nil {
		return nil, &robotmem.Error{Op: op.Name, Kind: robotmem.Invalid, Err: fmt.Errorf("the address of the node: %w", err)}
	}
	c.mark(req, "application/json")
	req.Header.Set("Content-Type", form.FormDataContentType())
	res, err := answer[robotmem.SavePerceptionResponse](c, op, req)
	if err == nil {
		return res, nil
	}
	select { // what broke off here is not the node's doing
	case why := <-source.failed:
		return nil, &robotmem.Error{Op: op.Name, Kind: robotmem.Invalid, Field: "data", Err: fmt.Errorf("could not be read to its end (%w); nothing was stored", why)}
	default:
		return nil, err
	}
}

// source is a payload that remembers why it could not be read.
type source struct {
	io.Reader
	failed chan error // holds one
}

func (s *source) Read(p []byte) (int, error) {
	n, err := s.Reader.Read(p)
	if err != nil && err != io.EOF {
		select {
		case s.failed <- err:
		default:
		}
	}
	return n, err
}

// writeForm writes the fields, then the payload: so the node can pass it on as
// it comes.
func writeForm(form *multipart.Writer, fields map[string]json.RawMessage, data io.Reader) error {
	names := make([]string, 0, len(fields))
	for name := range fields {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		if err := form.WriteField(name, text(fields[name])); err != nil {
			return err
		}
	}
	part, err := form.CreatePart(textproto.MIMEHeader{
		"Content-Disposition": {`form-data; name="data"; filename="data"`},
		"Content-Type":        {"application/octet-stream"},
	})
	if err != nil {
		return err
	}
	if _, err := io.Copy(part, data); err != nil {
		return err
	}
	return form.Close()
}
