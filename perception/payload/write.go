package payload

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"path/filepath"
)

const (
	// DefaultLimit is the default limit of a payload in bytes.
	DefaultLimit = 4 << 30
	// DefaultInline is the size up to which a database is as fast as a file, in bytes.
	DefaultInline = 256 << 10
)

// Options are the options of [Folder.Write]. The zero value works.
type Options struct {
	Limit  int64 // bytes; 0 is DefaultLimit
	Inline int64 // a payload of up to this many bytes gets no file; 0 is DefaultInline, less than 0 writes all
	Expect int64 // declared bytes; 0 or less is none
	// HeadLimit is how many of the first bytes the caller wants in Written.Head. It gets
	// at least 256 KiB.
	HeadLimit int64
}

// Written is the result of [Folder.Write].
type Written struct {
	Sum    [32]byte // SHA-256 of the payload
	Size   int64    // of the payload
	Stored int64    // bytes that it takes, encoded
	Codec  Codec
	Head   []byte // its first bytes; all of it if it is no longer than Options.HeadLimit
	Inline []byte // the encoded payload if it is small; then no file was written
	New    bool   // this call created the file
}

func (o Options) normal() Options {
	o.Limit = cmp.Or(max(o.Limit, 0), DefaultLimit)
	o.Inline = min(max(cmp.Or(o.Inline, DefaultInline), -1), MaxWhole)
	o.HeadLimit = max(o.HeadLimit, o.Inline, sampleSize)
	return o
}

// Write reads a payload from r to its end. When it returns nil, a large payload has a file
// that survives a loss of power. A file of the same payload that already exists is verified,
// and replaced if it is damaged. A call that fails leaves no file. The error wraps
// [ErrTooLarge], [ErrSize] or [ErrDisk], or is the context's or that of r.
//
// The context is checked before each read. The caller must end a read that hangs.
func (f Folder) Write(ctx context.Context, r io.Reader, o Options) (*Written, error) {
	o = o.normal()
	if o.Expect > o.Limit {
		return nil, fmt.Errorf("%w: %d bytes are declared; the limit is %d", ErrTooLarge, o.Expect, o.Limit)
	}

	src := &source{ctx: ctx, r: r, options: o, hash: sha256.New()}
	// One byte above the inline limit tells whether the payload is larger.
	room := max(o.Inline+1, sampleSize)
	if o.Expect > 0 {
		room = min(room, o.Expect+1)
	}

	start := make([]byte, room)
	n, err := io.ReadFull(src, start)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return nil, err
	}

	start = start[:n:n]
	w := &Written{Codec: Choose(start)}
	// R is at its end.
	if int64(n) <= o.Inline {
		if w.Inline, err = w.Codec.Encode(start); err != nil {
			return nil, err
		}
		w.Stored = int64(len(w.Inline))
	} else if err := f.writeFile(ctx, io.MultiReader(bytes.NewReader(start), src), src, w); err != nil {
		return nil, err
	}

	w.Sum, w.Size, w.Head = src.sum(), src.size, src.head

	return w, nil
}

// writeFile writes a temporary file, syncs it and renames it.
func (f Folder) writeFile(ctx context.Context, r io.Reader, src *source, w *Written) (err error) {
	if err := f.disk().MkdirAll(f.Dir, folderMode); err != nil {
		return onDisk(err)
	}

	name := filepath.Join(f.Dir, tempPrefix+rand.Text())
	temp, err := f.disk().Create(name, fileMode)
	if err != nil {
		return onDisk(err)
	}

	defer func() {
		if !w.New {
			// These errors matter less than that of the write.
			_ = temp.Close()
			_ = f.disk().Remove(name)
		}
	}()
	out := &diskWriter{file: temp}
	if err := f.writeBytes(out, r, src, w.Codec); err != nil {
		return err
	}
	w.Stored = out.written

	sum := src.sum()
	subfolder := filepath.Dir(f.locations(sum, Raw)[0])

	// The name is the hash, which is known only after all bytes were read. The payload may be stored already, also
	// by another process meanwhile.
	known, err := f.Describe(ctx, sum)
	switch {
	case err == nil:
		w.Codec, w.Stored = known.Codec, known.Stored
		// Its writer may have crashed before it synced the names.
		return f.syncNames(subfolder)
	case !errors.Is(err, ErrMissing) && !errors.Is(err, ErrDamaged):
		return err
	}

	// The bytes must be on the disk before the name: otherwise a loss of power leaves an empty file under a valid
	// name.
	if err := errors.Join(temp.Sync(), temp.Close()); err != nil {
		return onDisk(err)
	}
	if err := f.place(name, sum, w.Codec); err != nil {
		return err
	}

	w.New = true

	return f.syncNames(subfolder)
}

// writeBytes writes the file of a payload, encrypted if the folder has a cipher.
func (f Folder) writeBytes(out io.Writer, r io.Reader, src *source, c Codec) error {
	whole, err := f.sealing(out)
	if err != nil {
		return err
	}

	if c == Raw {
		// The plain reader hides WriteTo, with which CopyBuffer would not use the larger buffer.
		_, err = io.CopyBuffer(whole, struct{ io.Reader }{r}, make([]byte, sampleSize))
	} else {
		l, _ := c.parse() // Choose has made it
		_, err = writeContainer(whole, r, l, l.blockOf(blockSize), src.sum)
	}
	if err != nil {
		return err
	}

	return whole.Close()
}

// sealing encrypts what is written to it, if the folder has a cipher.
func (f Folder) sealing(w io.Writer) (io.WriteCloser, error) {
	if f.Cipher == nil {
		return unsealed{w}, nil
	}
	return f.Cipher.Seal(w)
}

// unsealed writes without a cipher.
type unsealed struct{ io.Writer }

func (unsealed) Close() error { return nil }

// diskWriter marks the errors of the file, to tell them from those of the source.
type diskWriter struct {
	file    File
	written int64
}

func (d *diskWriter) Write(p []byte) (int, error) {
	n, err := d.file.Write(p)
	d.written += int64(n)
	return n, onDisk(err)
}

// source counts, hashes and limits the bytes that are read, and keeps the first ones. Its
// first error stays.
type source struct {
	ctx     context.Context
	r       io.Reader
	options Options
	hash    hash.Hash
	size    int64
	head    []byte
	err     error
}

func (s *source) sum() [32]byte { return [32]byte(s.hash.Sum(nil)) }

func (s *source) Read(p []byte) (int, error) {
	if s.err != nil {
		return 0, s.err
	}
	if s.ctx.Err() != nil {
		s.err = fmt.Errorf("reading the payload: %w", context.Cause(s.ctx))
		return 0, s.err
	}
	n, err := s.r.Read(p)
	s.size += int64(n)
	s.hash.Write(p[:n])
	s.head = append(s.head, p[:min(int64(n), s.options.HeadLimit-int64(len(s.head)))]...)
	s.err = s.check(err)

	return n, s.err
}

// check returns what is wrong with the payload after a read that returned err.
func (s *source) check(err error) error {
	o := s.options
	switch {
	case o.Expect > 0 && s.size > o.Expect:
		return fmt.Errorf("%w: there are more than %d bytes", ErrSize, o.Expect)
	case s.size > o.Limit:
		return fmt.Errorf("%w: there are more than %d bytes, the limit", ErrTooLarge, o.Limit)
	case err == io.EOF && s.size < o.Expect:
		return fmt.Errorf("%w: there are %d bytes of %d", ErrSize, s.size, o.Expect)
	case err != nil && err != io.EOF:
		return fmt.Errorf("reading the payload: %w", err)
	}

	return err
}
