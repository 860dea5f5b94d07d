// Package stdin reads the standard input of a command that a signal may end.
package stdin

import (
	"context"
	"errors"
	"io"
	"os"

	"github.com/robotmem/robotmem-go/perception/importers"
	"github.com/robotmem/robotmem-go/robotmem"
)

// interruptible is a reader whose Read returns when ctx ends. A read of a terminal or a pipe cannot be cancelled,
// so the signal that ends ctx would have no effect until more input comes. The goroutine of such a read is left
// behind: it holds nothing but its buffer, and the process is about to end.
type interruptible struct {
	ctx   context.Context
	in    io.Reader
	reads chan readResult // the result of the read in progress, nil without one
	rest  []byte          // what was read and not yet returned
	err   error           // of the last read, returned with the end of rest
}

// New returns a reader of in that ends with ctx.
func New(ctx context.Context, in io.Reader) io.Reader { return &interruptible{ctx: ctx, in: in} }

// HasInput reports whether stdin is a pipe or a file with bytes. It reads nothing, and does not wait. A pipe without
// bytes is what many programs give to those that they start.
func HasInput(in io.Reader) bool {
	if r, ok := in.(*interruptible); ok {
		in = r.in
	}
	f, ok := in.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	if err != nil {
		return false
	}

	return info.Mode().IsRegular() && info.Size() > 0 || info.Mode()&os.ModeNamedPipe != 0 && isReadable(f)
}

// Interrupted reports whether err is of a read that a signal has ended: what was to be read is not at fault.
func Interrupted(err error) bool { return errors.Is(err, robotmem.Unavailable) }

type readResult struct {
	data []byte
	err  error
}

// Read implements io.Reader.
func (r *interruptible) Read(p []byte) (int, error) {
	if len(r.rest) == 0 && r.err == nil {
		if r.reads == nil {
			r.reads = make(chan readResult, 1)
			go func(to chan<- readResult) {
				// A buffer of its own: after an interrupt the read may still write, and the caller may have reused
				// p.
				buffer := make([]byte, max(1, min(len(p), 64<<10)))
				n, err := r.in.Read(buffer)
				to <- readResult{buffer[:n], err}
			}(r.reads)
		}

		select {
		case got := <-r.reads:
			r.reads = nil
			r.rest, r.err = got.data, got.err
		case <-r.ctx.Done():
			return 0, &robotmem.Error{Kind: robotmem.Unavailable, Err: context.Cause(r.ctx)}
		}
	}

	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	if len(r.rest) > 0 {
		return n, nil
	}

	return n, r.err
}

// Most bounds what - reads; the memory's own limit is far below.
const Most = 64 << 20

// ReadFile reads a file that a setting names; - is stdin. A pipe in its place would keep the program waiting.
func ReadFile(path string, in io.Reader) ([]byte, error) {
	if path == "-" && in != nil {
		return io.ReadAll(io.LimitReader(in, Most))
	}

	f, _, err := importers.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()

	return io.ReadAll(f)
}
