package local

import (
	"io"

	"github.com/robotmem/robotmem-go/robotmem/internal/sqlite"
)

// needed says how large a payload is: as was declared, or at least as much as
// came of it.
func (in *incoming) needed(came int64) string {
	if in.size >= 0 {
		return sqlite.About(in.size)
	}
	return "more than " + sqlite.BytesText(came)
}

// countingReader counts the bytes read from a payload.
type countingReader struct {
	io.Reader
	bytes int64
}

func (c *countingReader) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.bytes += int64(n)
	return n, err
}
