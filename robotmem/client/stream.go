package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"slices"
	"strconv"
	"strings"

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
	go func() { in.CloseWithError(writeForm(form, fields, data)) }()
	defer out.Close() // ends the goroutine when the node answers early
	req, err := http.NewRequestWithContext(ctx, op.Method(), c.base+op.Path(), out)
	if err != nil {
		return nil, &robotmem.Error{Op: op.Name, Kind: robotmem.Invalid, Err: fmt.Errorf("the address of the node: %w", err)}
	}
	c.mark(req, "application/json")
	req.Header.Set("Content-Type", form.FormDataContentType())
	return answer[robotmem.SavePerceptionResponse](c, op, req)
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

// OpenData implements robotmem.Streams. Seeking asks the node anew, for the
// rest.
func (c *Client) OpenData(ctx context.Context, r *robotmem.DataRequest) (*robotmem.DataReader, error) {
	b := &remoteBytes{ctx: ctx, c: c, id: r.MemoryID}
	res, err := b.get(0)
	if err != nil {
		return nil, err
	}
	b.body, b.size = res.Body, res.ContentLength
	return &robotmem.DataReader{
		ReadSeekCloser: b, MemoryID: r.MemoryID, MediaType: res.Header.Get("Content-Type"), Bytes: b.size,
		SHA256: strings.Trim(res.Header.Get("ETag"), `"`),
	}, nil
}

// remoteBytes are the bytes of a perception on another node.
type remoteBytes struct {
	ctx  context.Context // of OpenData, whose stream this is
	c    *Client
	id   int64
	size int64
	at   int64
	body io.ReadCloser // from at on; nil after a Seek
}

func (b *remoteBytes) get(from int64) (*http.Response, error) {
	op := robotmem.OpByName("data")
	path := strings.ReplaceAll(op.Path(), "{memory_id}", strconv.FormatInt(b.id, 10))
	req, err := http.NewRequestWithContext(b.ctx, http.MethodGet, b.c.base+path, nil)
	if err != nil {
		return nil, &robotmem.Error{Op: op.Name, Kind: robotmem.Invalid, Err: fmt.Errorf("the address of the node: %w", err)}
	}
	b.c.mark(req, "*/*")
	want := http.StatusOK
	if from > 0 {
		req.Header.Set("Range", fmt.Sprintf("bytes=%d-", from))
		want = http.StatusPartialContent
	}
	res, err := b.c.opts.HTTP.Do(req)
	if err != nil {
		return nil, b.c.unreachable(op, err)
	}
	if res.StatusCode == want {
		return res, nil
	}
	defer res.Body.Close()
	problem, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	if err != nil {
		return nil, b.c.unreachable(op, err)
	}
	return nil, b.c.failure(op, res, problem)
}

func (b *remoteBytes) Read(p []byte) (int, error) {
	if b.at >= b.size {
		return 0, io.EOF
	}
	if b.body == nil {
		res, err := b.get(b.at)
		if err != nil {
			return 0, err
		}
		b.body = res.Body
	}
	n, err := b.body.Read(p)
	b.at += int64(n)
	if err == io.EOF && b.at < b.size {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

func (b *remoteBytes) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		offset += b.at
	case io.SeekEnd:
		offset += b.size
	}
	if offset < 0 {
		return b.at, errors.New("seek before the first byte")
	}
	if offset == b.at {
		return offset, nil
	}
	err := b.Close()
	b.at, b.body = offset, nil
	return offset, err
}

func (b *remoteBytes) Close() error {
	if b.body == nil {
		return nil
	}
	return b.body.Close()
}
