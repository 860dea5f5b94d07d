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
	"strings"
	"sync"
)

// Reader reads a stored payload. Several goroutines may call ReadAt at once; Read and Seek
// are for one. Reading damaged bytes fails with [ErrDamaged] as far as the damage can be
// detected: see the package documentation.
type Reader struct {
	*io.SectionReader // of the payload; Reader has its own Read

	file   *os.File
	bytes  io.ReaderAt // of the file, decrypted
	length int64       // of bytes
	size   int64       // of the payload
	sum    [32]byte

	// hash covers the bytes from the beginning of the payload to the offset hashed.
	hash   hash.Hash
	hashed int64
	err    error // if the sum is wrong

	mu    sync.Mutex // guards the decoded block of coded
	coded *container // nil for a plain file
}

// Open opens the payload of size bytes. c is the codec that it was stored with; if there is no such
// file, one of another codec is opened. The error wraps [ErrMissing], [ErrDamaged] or [ErrDisk].
func (f Folder) Open(sum [32]byte, c Codec, size int64) (*Reader, error) {
	if _, err := c.parse(); err != nil {
		return nil, err
	}

	for _, path := range f.locations(sum, c) {
		r, err := f.openFile(path, sum, &size)
		if !errors.Is(err, ErrMissing) {
			return r, err
		}
	}

	return nil, missing(sum)
}

// openFile opens a payload of this size, or of any if size is nil.
func (f Folder) openFile(path string, sum [32]byte, size *int64) (*Reader, error) {
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, missing(sum)
	}
	if err != nil {
		return nil, onDisk(err)
	}
	r := &Reader{file: file, sum: sum, hash: sha256.New()}
	path, encrypted := strings.CutSuffix(path, sealed)
	err = r.measure()
	if err == nil && encrypted {
		err = r.decrypt(f.Cipher)
	}
	if err == nil {
		err = r.check(strings.HasSuffix(path, suffix), size)
	}
	if err != nil {
		_ = file.Close()
		return nil, err
	}
	r.SectionReader = io.NewSectionReader(damageReader{r}, 0, r.size)

	return r, nil
}

// measure takes the length of the file.
func (r *Reader) measure() error {
	info, err := r.file.Stat()
	if err != nil {
		return onDisk(err)
	}
	if !info.Mode().IsRegular() {
		return r.damaged(errors.New("it is not a regular file"))
	}

	r.bytes, r.length = r.file, info.Size()

	return nil
}

// decrypt opens an encrypted file.
func (r *Reader) decrypt(c Cipher) error {
	var err error
	if r.bytes, r.length, err = c.Open(r.file, r.length); err != nil {
		return r.damaged(err)
	}
	return nil
}

// check reads and compares the size and the header, without reading the payload.
func (r *Reader) check(coded bool, size *int64) (err error) {
	r.size = r.length
	if coded {
		if r.coded, err = openContainer(r.bytes, r.length); err != nil {
			return r.damaged(err)
		}
		if r.size = r.coded.size; r.coded.sum != r.sum {
			return r.damaged(fmt.Errorf("its file holds the payload %x", r.coded.sum))
		}
	}

	if size != nil && r.size != *size {
		return r.damaged(fmt.Errorf("it has %d bytes and should have %d", r.size, *size))
	}

	return nil
}

func (r *Reader) damaged(err error) error {
	if errors.Is(err, ErrDisk) {
		return err
	}
	return fmt.Errorf("%w: %x: %w", ErrDamaged, r.sum, err)
}

// Read implements [io.Reader]. If all bytes were read from the beginning and their sum is
// wrong, the read that reaches the end fails with [ErrDamaged] and returns no bytes.
func (r *Reader) Read(p []byte) (int, error) {
	if len(p) == 0 || r.err != nil {
		return 0, r.err
	}

	pos, _ := r.Seek(0, io.SeekCurrent) // never fails
	n, err := r.SectionReader.Read(p)
	if n == 0 {
		return 0, err
	}

	// A second pass from the beginning is hashed anew.
	if pos == 0 {
		r.hash.Reset()
		r.hashed = 0
	}

	// Bytes after a seek cannot be hashed. The sum is only compared if the whole payload is read in order.
	if pos == r.hashed {
		r.hash.Write(p[:n])
		r.hashed += int64(n)
		if r.hashed == r.size && [32]byte(r.hash.Sum(nil)) != r.sum {
			r.err = r.damaged(errors.New("its sum does not match"))
			return 0, r.err
		}
	}

	return n, err
}

// damageReader reads a payload and returns its damage as [ErrDamaged]. It is never asked for bytes beyond the size.
type damageReader struct{ *Reader }

func (r damageReader) ReadAt(p []byte, at int64) (n int, err error) {
	if r.coded == nil {
		if n, err = r.bytes.ReadAt(p, at); n < len(p) {
			return n, r.damaged(cut(err))
		}
		return n, nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()

	for n < len(p) {
		from := at + int64(n)
		if err := r.coded.load(int(from / int64(r.coded.block))); err != nil {
			return n, r.damaged(err)
		}
		n += copy(p[n:], r.coded.raw[from%int64(r.coded.block):])
	}

	return n, nil
}

func (r *Reader) Close() error { return r.file.Close() }

// Verify reads the whole payload in pieces. It calls count, unless it is nil, with the bytes of
// each piece. The error wraps [ErrMissing], [ErrDamaged] or [ErrDisk], or is the context's.
func (f Folder) Verify(ctx context.Context, sum [32]byte, c Codec, size int64, count func(int)) error {
	r, err := f.Open(sum, c, size)
	if err != nil {
		return err
	}
	defer r.Close()
	return r.verify(ctx, count)
}

func (r *Reader) verify(ctx context.Context, count func(int)) error {
	// An empty payload has no read that could compare the sum.
	if r.size == 0 && sha256.Sum256(nil) != r.sum {
		return r.damaged(errors.New("its sum does not match"))
	}

	chunk := make([]byte, min(r.size+1, sampleSize))

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
