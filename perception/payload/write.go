package payload

import (
	"bytes"
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
	// DefaultLimit is the most bytes of a payload, unless the options say else.
	DefaultLimit = 4 << 30
	// DefaultInline is the size up to which a database is as fast as a folder.
	DefaultInline = 256 << 10
)

// Options is how a payload is taken in. The zero value works.
type Options struct {
	Limit  int64 // bytes; 0 is DefaultLimit
	Inline int64 // bytes up to which nothing is written; 0 is DefaultInline, less than 0 is none at all
	Expect int64 // declared bytes; 0 or less when nobody declared any
	// HeadLimit is how many of the first bytes the caller wants to see, besides
	// the 256 KiB that are kept anyway.
	HeadLimit int64
	// Hint says which numbers follow, given the first bytes, at most 256 KiB of
	// them. nil is unknown.
	Hint func(head []byte) Hint
}

// Written is a payload that was taken in.
type Written struct {
	Sum    [32]byte // SHA-256 of the payload
	Size   int64    // of the payload
	Stored int64    // bytes that it takes, encoded
	Codec  Codec
	Head   []byte // its first bytes; all of it when it is no longer than Options.HeadLimit
	Inline []byte // it, encoded, when it is small; then nothing was written
	New    bool   // this call made the file; false when it was there, or for a small one
}

func (o Options) normal() Options {
	if o.Limit <= 0 {
		o.Limit = DefaultLimit
	}
	if o.Inline == 0 {
		o.Inline = DefaultInline
	}
	o.Inline = min(max(o.Inline, -1), MaxWhole)
	o.HeadLimit = max(o.HeadLimit, o.Inline, sampleSize)
	return o
}

// Write takes in what r holds, to its end. When it returns nil a large payload is
// on the disk, name and all, and survives a loss of power; one that was there
// already is read to see that it is whole, and replaced if it is not. When it
// fails nothing is left behind. The error wraps [ErrTooLarge], [ErrShort],
// [ErrLong] or [ErrDisk], the context's, or that of r.
//
// The context is looked at before each read; a read that hangs is for the caller
// to end.
func (f Folder) Write(ctx context.Context, r io.Reader, o Options) (*Written, error) {
	o = o.normal()
	if o.Expect > o.Limit {
		return nil, fmt.Errorf("%w: %d bytes are declared; the limit is %d", ErrTooLarge, o.Expect, o.Limit)
	}
	src := &source{ctx: ctx, r: r, options: o, hash: sha256.New()}
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
	sample := start[:min(n, sampleSize)]
	var hint Hint
	if o.Hint != nil {
		hint = o.Hint(sample)
	}
	w := &Written{Codec: Choose(sample, hint)}
	if int64(n) <= o.Inline { // so that the end was reached
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

// writeFile writes a file aside, and lets it take its name only when it is whole
// and on the disk.
func (f Folder) writeFile(ctx context.Context, r io.Reader, src *source, w *Written) (err error) {
	if err := f.disk().MkdirAll(f.Dir, folderMode); err != nil {
		return fmt.Errorf("%w: %w", ErrDisk, err)
	}
	name := filepath.Join(f.Dir, tempPrefix+rand.Text())
	temp, err := f.disk().Create(name, fileMode)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrDisk, err)
	}
	defer func() {
		if !w.New {
			// The error that counts, if there is one, came first.
			_ = temp.Close()
			_ = f.disk().Remove(name)
		}
	}()
	if w.Stored, err = encodeTo(diskWriter{temp}, r, w.Codec, src); err != nil {
		return err
	}
	sum := src.sum()
	known, err := f.find(ctx, sum, src.size)
	if err != nil {
		return err
	}
	if known != nil {
		w.Codec, w.Stored = known.Codec, known.Stored
		// Whoever wrote it may have died before the name was on the disk.
		return f.settle(filepath.Dir(f.path(sum, known.Codec)))
	}
	if err := errors.Join(temp.Sync(), temp.Close()); err != nil {
		return fmt.Errorf("%w: %w", ErrDisk, err)
	}
	if err := f.place(name, sum, w.Codec); err != nil {
		return fmt.Errorf("%w: %w", ErrDisk, err)
	}
	w.New = true
	return f.settle(filepath.Dir(f.path(sum, w.Codec)))
}

// encodeTo writes all that r holds, and returns how long that became.
func encodeTo(dst io.Writer, r io.Reader, c Codec, src *source) (int64, error) {
	l, err := c.parse()
	if err != nil {
		return 0, err
	}
	if l.compressed {
		return writeContainer(dst, r, l, l.blockOf(blockSize), src.sum)
	}
	return io.CopyBuffer(dst, struct{ io.Reader }{r}, make([]byte, sampleSize))
}

// diskWriter marks the errors of a file, so that they are told from those of a
// source.
type diskWriter struct{ file File }

func (d diskWriter) Write(p []byte) (int, error) {
	n, err := d.file.Write(p)
	if err != nil {
		err = fmt.Errorf("%w: %w", ErrDisk, err)
	}
	return n, err
}

// source counts, hashes and bounds what is read through it, and keeps the head.
// Its error stays.
type source struct {
	ctx     context.Context
	r       io.Reader
	options Options
	hash    hash.Hash
	size    int64
	head    []byte
	idle    int
	err     error
}

// maxIdle is how often in turn a reader may give nothing.
const maxIdle = 100

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
	s.idle++
	if n > 0 {
		s.idle = 0
	}
	s.err = s.judge(err)
	return n, s.err
}

// judge turns what the reader said into what is wrong with the payload.
func (s *source) judge(err error) error {
	o := s.options
	switch {
	case o.Expect > 0 && s.size > o.Expect:
		return fmt.Errorf("%w: there are more than %d bytes", ErrLong, o.Expect)
	case s.size > o.Limit:
		return fmt.Errorf("%w: there are more than %d bytes, the limit", ErrTooLarge, o.Limit)
	case err == io.EOF && s.size < o.Expect:
		return fmt.Errorf("%w: %d bytes came of %d", ErrShort, s.size, o.Expect)
	case err == nil && s.idle >= maxIdle:
		return fmt.Errorf("reading the payload: %w", io.ErrNoProgress)
	case err != nil && err != io.EOF:
		return fmt.Errorf("reading the payload: %w", err)
	}
	return err
}
