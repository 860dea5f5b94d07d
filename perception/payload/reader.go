package payload

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"sync"
)

// Reader reads a stored payload. ReadAt may be called by several goroutines at
// once; Read and Seek are for one. A read of bytes that are not those of the
// payload fails with [ErrDamaged], as far as it can tell: see the package's
// Damage.
type Reader struct {
	file *os.File
	size int64
	sum  [32]byte
	pos  int64

	// hash has seen the bytes before hashed, read from the beginning on.
	hash   hash.Hash
	hashed int64
	err    error // of the sum; it stays

	coded *container // nil for a plain file

	mu     sync.Mutex // guards raw and loaded
	raw    []byte     // block loaded
	loaded int        // -1 before the first
}

// Open opens the payload of size bytes. The codec is the one it was stored with;
// a file of another is read too, when there is no such. The error wraps
// [ErrMissing], [ErrDamaged] or [ErrDisk].
func (f Folder) Open(sum [32]byte, c Codec, size int64) (*Reader, error) {
	if _, err := c.parse(); err != nil {
		return nil, err
	}
	plain, coded := f.paths(sum)
	paths := []string{plain, coded}
	if c != Raw {
		paths = []string{coded, plain}
	}
	for _, path := range paths {
		r, err := openFile(path, sum, size, path == coded)
		if !errors.Is(err, ErrMissing) {
			return r, err
		}
	}
	return nil, fmt.Errorf("%w: %x", ErrMissing, sum)
}

func openFile(path string, sum [32]byte, size int64, coded bool) (*Reader, error) {
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: %x", ErrMissing, sum)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDisk, err)
	}
	r := &Reader{file: file, size: size, sum: sum, hash: sha256.New(), loaded: -1}
	if err := r.check(coded); err != nil {
		_ = file.Close()
		return nil, err
	}
	return r, nil
}

// check compares what can be known without reading the payload.
func (r *Reader) check(coded bool) error {
	info, err := r.file.Stat()
	if err != nil {
		return fmt.Errorf("%w: %w", ErrDisk, err)
	}
	if !info.Mode().IsRegular() {
		return r.damaged(errors.New("it is not a file"))
	}
	if !coded {
		if info.Size() != r.size {
			return r.damaged(fmt.Errorf("it has %d bytes and should have %d", info.Size(), r.size))
		}
		return nil
	}
	c, err := openContainer(r.file, info.Size())
	if err != nil {
		return r.damaged(err)
	}
	if c.sum != r.sum || c.size != r.size {
		return r.damaged(fmt.Errorf("its file is that of %x of %d bytes", c.sum, c.size))
	}
	r.coded = c
	return nil
}

// damaged wraps what is wrong with a payload's file.
func (r *Reader) damaged(err error) error {
	if disk, ok := errors.AsType[diskError](err); ok {
		return fmt.Errorf("%w: %w", ErrDisk, disk.err)
	}
	return fmt.Errorf("%w: %x: %w", ErrDamaged, r.sum, err)
}

// Read implements [io.Reader]. The read that reaches the end fails with
// [ErrDamaged], and gives no bytes, when all were read from the beginning on and
// their sum is wrong.
func (r *Reader) Read(p []byte) (int, error) {
	if len(p) == 0 || r.err != nil {
		return 0, r.err
	}
	n, err := r.ReadAt(p, r.pos)
	if n == 0 {
		return 0, err
	}
	if r.pos == 0 {
		r.hash.Reset()
		r.hashed = 0
	}
	if r.pos == r.hashed {
		r.hash.Write(p[:n])
		r.hashed += int64(n)
		if r.hashed == r.size && [32]byte(r.hash.Sum(nil)) != r.sum {
			r.err = r.damaged(errors.New("its sum does not match"))
			return 0, r.err
		}
	}
	r.pos += int64(n)
	if err == io.EOF {
		err = nil // it comes with the next read
	}
	return n, err
}

// Seek implements [io.Seeker].
func (r *Reader) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		offset += r.pos
	case io.SeekEnd:
		offset += r.size
	case io.SeekStart:
	default:
		return 0, fmt.Errorf("seeking a payload: there is no whence %d", whence)
	}
	if offset < 0 {
		return 0, fmt.Errorf("seeking a payload: %d is before its beginning", offset)
	}
	r.pos = offset
	return offset, nil
}

// ReadAt implements [io.ReaderAt].
func (r *Reader) ReadAt(p []byte, at int64) (int, error) {
	if at < 0 {
		return 0, fmt.Errorf("reading a payload: %d is before its beginning", at)
	}
	if at >= r.size {
		return 0, io.EOF
	}
	wanted := p[:min(int64(len(p)), r.size-at)]
	n, err := r.readInside(wanted, at)
	if err != nil {
		return n, r.damaged(err)
	}
	if len(wanted) < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// readInside reads what lies within the payload.
func (r *Reader) readInside(p []byte, at int64) (int, error) {
	if r.coded == nil {
		n, err := r.file.ReadAt(p, at)
		if n == len(p) {
			return n, nil
		}
		return n, cut(err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	done := 0
	for done < len(p) {
		i := int((at + int64(done)) / int64(r.coded.block))
		if err := r.load(i); err != nil {
			return done, err
		}
		done += copy(p[done:], r.raw[(at+int64(done))%int64(r.coded.block):])
	}
	return done, nil
}

// load makes block i the one at hand.
func (r *Reader) load(i int) error {
	if i == r.loaded {
		return nil
	}
	size := r.coded.rawSize(i)
	if cap(r.raw) < size {
		r.raw = make([]byte, size)
	}
	r.raw, r.loaded = r.raw[:size], -1
	if err := r.coded.read(i, r.raw); err != nil {
		return err
	}
	r.loaded = i
	return nil
}

// Close implements [io.Closer].
func (r *Reader) Close() error { return r.file.Close() }

// Verify reads the payload from end to end, a little at a time; count, unless it
// is nil, is told how many bytes each time. The error wraps [ErrMissing],
// [ErrDamaged] or [ErrDisk], or is the context's.
func (f Folder) Verify(ctx context.Context, sum [32]byte, c Codec, size int64, count func(int)) error {
	r, err := f.Open(sum, c, size)
	if err != nil {
		return err
	}
	defer r.Close()
	return r.verify(ctx, count)
}

func (r *Reader) verify(ctx context.Context, count func(int)) error {
	if r.size == 0 && sha256.Sum256(nil) != r.sum {
		return r.damaged(errors.New("its sum does not match"))
	}
	chunk := make([]byte, sampleSize)
	for {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("verifying a payload: %w", context.Cause(ctx))
		}
		n, err := r.Read(chunk)
		if count != nil {
			count(n)
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}
