package client

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"net/url"
	"os"
	"slices"
	"strings"

	"github.com/robotmem/robotmem-go/robotmem"
)

// OpenData implements robotmem.Streams. It fetches the bytes into a temporary file, which
// the reader's Close removes, and compares them with their checksum.
func (c *Client) OpenData(ctx context.Context, r *robotmem.MemoryRequest) (*robotmem.DataReader, error) {
	op := robotmem.OpByName("data")
	fields, err := fieldsOf(op, r)
	if err != nil {
		return nil, err
	}
	path := strings.ReplaceAll(op.Path(), "{memory_id}", url.PathEscape(text(fields["memory_id"])))
	req, err := c.newRequest(ctx, op, path, nil, "*/*")
	if err != nil {
		return nil, err
	}

	// Content-Length must be the length of the payload, and that of a compressed answer is not.
	req.Header.Set("Accept-Encoding", "identity")
	res, err := c.opts.HTTP.Do(req)
	if err != nil {
		return nil, c.unreachable(op, err)
	}

	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		problem, err := io.ReadAll(io.LimitReader(res.Body, maxProblem))
		if err != nil {
			return nil, c.unreachable(op, err)
		}
		return nil, c.failure(op, res, problem)
	}

	// The ETag of a payload is its checksum. A proxy that compresses answers makes it weak.
	d := &robotmem.DataReader{MemoryID: r.MemoryID, MediaType: res.Header.Get("Content-Type"), Bytes: res.ContentLength}
	d.SHA256 = strings.Trim(strings.TrimPrefix(res.Header.Get("ETag"), "W/"), `"`)
	if sum, err := hex.DecodeString(d.SHA256); err != nil || len(sum) != sha256.Size || d.Bytes < 0 {
		return nil, c.notANode(op, errors.New("the answer has no checksum or no length"))
	}

	// The reader can seek, and the checksum is known only at the end, so the bytes go to a file first.
	file, err := os.CreateTemp("", "robotmem-payload-*")
	if err != nil {
		return nil, writeError(op, err)
	}

	d.ReadSeekCloser = download{file}
	if err := c.fetch(op, res.Body, d, robotmem.MemoryName(r.MemoryID, r.UID), file); err != nil {
		// Close removes the file, which is incomplete.
		_ = d.Close()
		return nil, err
	}

	return d, nil
}

// fetch writes the bytes of a perception to a file and leaves the file at its beginning.
func (c *Client) fetch(op *robotmem.Op, body io.Reader, d *robotmem.DataReader, memory string, file *os.File) error {
	hash := sha256.New()
	n, err := io.Copy(io.MultiWriter(file, hash), body)
	if err == nil && hex.EncodeToString(hash.Sum(nil)) != d.SHA256 {
		err := fmt.Errorf("the bytes of memory %s are not those that were saved; run robotmem doctor on the node", memory)
		return &robotmem.Error{Op: op.Name, Kind: robotmem.Corrupt, Err: err}
	}
	if err == nil {
		_, err = file.Seek(0, io.SeekStart)
	}

	switch {
	case errors.As(err, new(*fs.PathError)):
		// Reading an answer gives no PathError, so this is an error of the file.
		return writeError(op, err)
	case errors.Is(err, io.ErrUnexpectedEOF):
		// The node ends the answer early if the payload is damaged.
		err = fmt.Errorf("the answer of %s ended after %d of %d bytes: %w; "+
			"run robotmem doctor on the node to check the payload", c.base, n, d.Bytes, err)
		return &robotmem.Error{Op: op.Name, Kind: robotmem.Unavailable, Err: err}
	case err != nil:
		return c.unreachable(op, err)
	}

	return nil
}

func writeError(op *robotmem.Op, err error) error {
	// The outer error has the path of the file, which means nothing to the caller.
	err = fmt.Errorf("the payload could not be written to a temporary file (%w); "+
		"free space for temporary files, or set TMPDIR", errors.Unwrap(err))

	return &robotmem.Error{Op: op.Name, Kind: robotmem.Unavailable, Err: err}
}

// download is a payload in a temporary file.
type download struct{ *os.File }

func (d download) Close() error { return errors.Join(d.File.Close(), os.Remove(d.Name())) }

// SavePerceptionFrom implements robotmem.Streams. The payload streams to the node as the last part of a form.
func (c *Client) SavePerceptionFrom(
	ctx context.Context, r *robotmem.SavePerceptionRequest, data io.Reader,
) (*robotmem.SavePerceptionResponse, error) {
	op := robotmem.OpByName("save_perception")
	fields, err := fieldsOf(op, r)
	if err != nil {
		return nil, err
	}

	out, in := io.Pipe()
	form := multipart.NewWriter(in)

	go func() { in.CloseWithError(writeForm(form, fields, data)) }()

	// The node may answer before the end of the form. Closing the pipe then ends the goroutine.
	defer out.Close()

	req, err := c.newRequest(ctx, op, op.Path(), out, "application/json")
	if err != nil {
		return nil, err
	}

	req.Header.Set("Content-Type", form.FormDataContentType())

	// net/http passes on the error of the body. An error of the caller's reader is not one of the node.
	res, err := answer[robotmem.SavePerceptionResponse](c, op, req)
	if failed := (*unreadError)(nil); errors.As(err, &failed) {
		err := fmt.Errorf("could not be read to its end (%w); nothing was stored", failed.error)
		return nil, &robotmem.Error{Op: op.Name, Kind: robotmem.Invalid, Field: "data", Err: err}
	}

	return res, err
}

// unreadError is an error of reading a payload.
type unreadError struct{ error }

// writeForm writes the fields before the payload, so that the node can stream the payload.
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

	if _, err := io.Copy(part, data); errors.Is(err, io.ErrClosedPipe) {
		// The node has answered already and the pipe is closed. data itself may also be a closed pipe.
		return err
	} else if err != nil {
		return &unreadError{err}
	}

	return form.Close()
}
