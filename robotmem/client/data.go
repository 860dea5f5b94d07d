package client

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"net/http"
	"strconv"
	"strings"

	"github.com/robotmem/robotmem-go/robotmem"
)

// OpenData implements robotmem.Streams. Seeking asks the node anew, for the
// rest.
func (c *Client) OpenData(ctx context.Context, r *robotmem.DataRequest) (*robotmem.DataReader, error) {
	b := &remoteBytes{ctx: ctx, c: c, op: robotmem.OpByName("data"), id: r.MemoryID, hash: sha256.New()}
	res, err := b.get(0) //nolint:bodyclose // the DataReader's Close does
	if err != nil {
		return nil, err
	}
	b.body, b.size = res.Body, res.ContentLength
	b.sum = strings.Trim(strings.TrimPrefix(res.Header.Get("ETag"), "W/"), `"`)
	if sum, err := hex.DecodeString(b.sum); err != nil || len(sum) != sha256.Size || b.size < 0 {
		return nil, errors.Join(b.fail(robotmem.Unavailable, "%s did not answer as a robotmem node: its answer has no checksum or no length; check the address and what stands between", c.base), b.Close())
	}
	return &robotmem.DataReader{ReadSeekCloser: b, MemoryID: r.MemoryID, MediaType: res.Header.Get("Content-Type"), Bytes: b.size, SHA256: b.sum}, nil
}

// remoteBytes are the bytes of a perception on another node.
type remoteBytes struct {
	ctx  context.Context // of OpenData, whose stream this is
	c    *Client
	op   *robotmem.Op
	id   int64
	size int64
	sum  string // SHA-256 in hex
	at   int64
	body io.ReadCloser // from at on; nil after a Seek

	// hash has seen the bytes before hashed, read from the beginning on.
	hash   hash.Hash
	hashed int64
}

func (b *remoteBytes) fail(kind robotmem.Kind, format string, args ...any) error {
	return &robotmem.Error{Op: b.op.Name, Kind: kind, Err: fmt.Errorf(format, args...)}
}

func (b *remoteBytes) get(from int64) (*http.Response, error) {
	path := strings.ReplaceAll(b.op.Path(), "{memory_id}", strconv.FormatInt(b.id, 10))
	req, err := http.NewRequestWithContext(b.ctx, http.MethodGet, b.c.base+path, nil)
	if err != nil {
		return nil, b.fail(robotmem.Invalid, "the address of the node: %w", err)
	}
	b.c.mark(req, "*/*")
	req.Header.Set("Accept-Encoding", "identity") // ranges and length are those of the payload
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

// Read fails, like that of an Engine, when the bytes from the first to the last
// are not those that were saved.
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
		return n, nil // the end comes with the next read
	case err == io.EOF || err == io.ErrUnexpectedEOF:
		return n, b.fail(robotmem.Unavailable, "the answer of %s broke off after %d of %d bytes: %w; robotmem doctor there says whether the payload is damaged", b.c.base, b.at, b.size, io.ErrUnexpectedEOF)
	case err != nil:
		return n, b.c.unreachable(b.op, err)
	}
	return n, nil
}

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

func (b *remoteBytes) Close() error {
	if b.body == nil {
		return nil
	}
	return b.body.Close()
}
