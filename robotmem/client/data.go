package client

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"maps"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"slices"
	"strconv"
	"strings"

	"github.com/robotmem/robotmem-go/robotmem"
)

// OpenData implements robotmem.Streams. After a Seek, the next Read sends a new
// request for the rest of the bytes.
func (c *Client) OpenData(ctx context.Context, r *robotmem.MemoryRequest) (*robotmem.DataReader, error) {
	b := &remoteBytes{ctx: ctx, c: c, op: robotmem.OpByName("data"), id: r.MemoryID, hash: sha256.New()}
	res, err := b.get(0) //nolint:bodyclose // the DataReader's Close does
	if err != nil {
		return nil, err
	}
	b.body, b.size = res.Body, res.ContentLength
	b.sum = strings.Trim(strings.TrimPrefix(res.Header.Get("ETag"), "W/"), `"`)
	if sum, err := hex.DecodeString(b.sum); err != nil || len(sum) != sha256.Size || b.size < 0 {
		return nil, errors.Join(c.notANode(b.op, errors.New("the answer has no checksum or no length")), b.Close())
	}
	return &robotmem.DataReader{ReadSeekCloser: b, MemoryID: r.MemoryID, MediaType: res.Header.Get("Content-Type"), Bytes: b.size, SHA256: b.sum}, nil
}

// remoteBytes reads the bytes of a perception of the node.
type remoteBytes struct {
	ctx  context.Context // of OpenData; the reader has no other
	c    *Client
	op   *robotmem.Op
	id   int64
	size int64
	sum  string // SHA-256 in hex
	at   int64
	body io.ReadCloser // the bytes from at on; nil after a Seek

	// hash is the hash of the first hashed bytes.
	hash   hash.Hash
	hashed int64
}

func (b *remoteBytes) fail(kind robotmem.Kind, format string, args ...any) error {
	return &robotmem.Error{Op: b.op.Name, Kind: kind, Err: fmt.Errorf(format, args...)}
}

func (b *remoteBytes) get(from int64) (*http.Response, error) {
	path := strings.ReplaceAll(b.op.Path(), "{memory_id}", strconv.FormatInt(b.id, 10))
	req, err := b.c.newRequest(b.ctx, b.op, path, nil, "*/*")
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept-Encoding", "identity") // ranges and the length must be those of the payload
	want := http.StatusOK
	if from > 0 {
		req.Header.Set("Range", fmt.Sprintf("bytes=%d-", from))
		want = http.StatusPartialContent
	}
	res, err := b.c.opts.HTTP.Do(req)
	if err != nil {
		return nil, b.c.unreachable(b.op, err)
	}
	if res.StatusCode == want {
		return res, nil
	}
	defer res.Body.Close()
	problem, err := io.ReadAll(io.LimitReader(res.Body, maxProblem))
	if err != nil {
		return nil, b.c.unreachable(b.op, err)
	}
	return nil, b.c.failure(b.op, res, problem)
}

// Read implements io.Reader. As with a local memory, it fails with Corrupt if all bytes
// were read in order and are not the saved ones.
func (b *remoteBytes) Read(p []byte) (int, error) {
	if b.at >= b.size {
		return 0, io.EOF
	}
	if b.body == nil {
		res, err := b.get(b.at) //nolint:bodyclose // Close does
		if err != nil {
			return 0, err
		}
		b.body = res.Body
	}
	n, err := b.body.Read(p[:min(int64(len(p)), b.size-b.at)])
	if b.at == 0 {
		b.hash.Reset()
		b.hashed = 0
	}
	if b.at == b.hashed {
		b.hash.Write(p[:n])
		b.hashed += int64(n)
	}
	b.at += int64(n)
	switch {
	case b.at == b.size && b.hashed == b.size && hex.EncodeToString(b.hash.Sum(nil)) != b.sum:
		return 0, b.fail(robotmem.Corrupt, "the bytes of memory %d are not those that were saved; run robotmem doctor on the node", b.id)
	case b.at == b.size:
		return n, nil // the next Read returns io.EOF
	case err == io.EOF || err == io.ErrUnexpectedEOF:
		return n, b.fail(robotmem.Unavailable, "the answer of %s ended after %d of %d bytes: %w; run robotmem doctor on the node to check the payload", b.c.base, b.at, b.size, io.ErrUnexpectedEOF)
	case err != nil:
		return n, b.c.unreachable(b.op, err)
	}
	return n, nil
}

// Seek implements io.Seeker.
func (b *remoteBytes) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekStart:
	case io.SeekCurrent:
		offset += b.at
	case io.SeekEnd:
		offset += b.size
	default:
		return b.at, fmt.Errorf("seeking a payload: there is no whence %d", whence)
	}
	if offset < 0 {
		return b.at, fmt.Errorf("seeking a payload: %d is before its beginning", offset)
	}
	if offset == b.at {
		return offset, nil
	}
	err := b.Close()
	b.at, b.body = offset, nil
	return offset, err
}

// Close implements io.Closer.
func (b *remoteBytes) Close() error {
	if b.body == nil {
		return nil
	}
	return b.body.Close()
}

// SavePerceptionFrom implements robotmem.Streams.
func (c *Client) SavePerceptionFrom(ctx context.Context, r *robotmem.SavePerceptionRequest, data io.Reader) (*robotmem.SavePerceptionResponse, error) {
	op := robotmem.OpByName("save_perception")
	fields, err := fieldsOf(op, r)
	if err != nil {
		return nil, err
	}
	out, in := io.Pipe()
	form := multipart.NewWriter(in)
	go func() { in.CloseWithError(writeForm(form, fields, source{data})) }()
	defer out.Close() // ends the goroutine if the node answers before the end
	req, err := c.newRequest(ctx, op, op.Path(), out, "application/json")
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", form.FormDataContentType())
	res, err := answer[robotmem.SavePerceptionResponse](c, op, req)
	if unread := (*unreadError)(nil); errors.As(err, &unread) {
		return nil, &robotmem.Error{Op: op.Name, Kind: robotmem.Invalid, Field: "data", Err: fmt.Errorf("could not be read to its end (%w); nothing was stored", unread.error)}
	}
	return res, err
}

// source is a payload whose errors of reading are told from those of the node.
type source struct{ io.Reader }

type unreadError struct{ error }

func (s source) Read(p []byte) (int, error) {
	n, err := s.Reader.Read(p)
	if err != nil && err != io.EOF {
		err = &unreadError{err}
	}
	return n, err
}

// writeForm writes the fields before the payload, so that the node can stream the
// payload.
func writeForm(form *multipart.Writer, fields map[string]json.RawMessage, data io.Reader) error {
	for _, name := range slices.Sorted(maps.Keys(fields)) {
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
