package foxglove

import (
	"context"
	"fmt"
	"io"

	"github.com/coder/websocket"
)

const (
	// defaultMaxMessage is some twenty times a point cloud, in bytes.
	defaultMaxMessage = 128 << 20

	// firstBuffer is most messages of a robot without its images, in bytes.
	firstBuffer = 64 << 10

	// keptBuffer is how much of a buffer is used again, in bytes. Larger messages are given away with
	// the buffer that they were read into.
	keptBuffer = 1 << 20
)

// errTooLarge is of a message over the limit, which was read past. The connection goes on.
type errTooLarge struct {
	size  int64
	limit int64
}

func (e *errTooLarge) Error() string {
	return fmt.Sprintf("a message of %d bytes is over the limit of %d", e.size, e.limit)
}

// messageReader reads whole messages into a buffer that it uses again.
type messageReader struct {
	conn   *websocket.Conn
	limit  int64
	buffer []byte
}

func newMessageReader(conn *websocket.Conn, limit int64) *messageReader {
	// The library would end the connection at its own limit.
	conn.SetReadLimit(-1)

	return &messageReader{conn: conn, limit: limit}
}

// next returns the next message, which is valid until the next call unless own was called. After
// errTooLarge there are more.
func (r *messageReader) next(ctx context.Context) (websocket.MessageType, []byte, error) {
	kind, from, err := r.conn.Reader(ctx)
	if err != nil {
		return 0, nil, err
	}

	b := r.buffer[:0]
	if cap(b) == 0 {
		b = make([]byte, 0, firstBuffer)
	}

	for {
		if len(b) == cap(b) {
			if int64(len(b)) > r.limit {
				rest, err := io.Copy(io.Discard, from)
				if err != nil {
					return 0, nil, err
				}
				r.buffer = nil

				return kind, nil, &errTooLarge{int64(len(b)) + rest, r.limit}
			}
			// The limit and one byte: a message of exactly the limit is not yet over it.
			larger := make([]byte, len(b), min(2*int64(cap(b)), max(r.limit+1, int64(cap(b))+1)))
			copy(larger, b)
			b = larger
		}

		n, err := from.Read(b[len(b):cap(b)])
		b = b[:len(b)+n]
		if err == io.EOF {
			break
		}
		if err != nil {
			return 0, nil, err
		}
	}

	r.buffer = b
	if int64(len(b)) > r.limit {
		return kind, nil, &errTooLarge{int64(len(b)), r.limit}
	}

	return kind, b, nil
}

// own returns a part of the last message for good.
func (r *messageReader) own(part []byte) []byte {
	// What is not used of the buffer would be kept as well.
	if len(part) > keptBuffer && len(part) > cap(r.buffer)/2 {
		r.buffer = nil
		return part
	}

	return append(make([]byte, 0, len(part)), part...)
}

// release lets go of a buffer that a large message has left.
func (r *messageReader) release() {
	if cap(r.buffer) > keptBuffer {
		r.buffer = nil
	}
}
