package store

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"hash"
	"hash/crc32"
	"io"
	"time"

	"github.com/klauspost/compress/zstd"
)

// A snapshot is the content of an in-memory index at a revision, compressed by zstd. It is
// written in parts, each in its own transaction, so that other writers do not wait long; the head is
// written last and replaces an older one. A damaged or missing snapshot only makes the
// next opening slower.

const snapshotPart = 1 << 20 // bytes

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// SaveSnapshot stores the output of write, unless the file has a snapshot that is as
// new. purges is the number of purges that the index has applied. A snapshot that has
// missed one would restore purged data and is not stored.
func (s *Store) SaveSnapshot(ctx context.Context, name string, revision, purges int64,
	write func(io.Writer) error) error {
	// The generation tells the parts of this snapshot from those of other processes and of interrupted ones.
	w := &partWriter{
		ctx:        ctx,
		s:          s,
		name:       name,
		purges:     purges,
		generation: time.Now().UnixNano(),
		sum:        crc32.New(castagnoli),
	}
	parts := bufio.NewWriterSize(w, snapshotPart)
	z, err := zstd.NewWriter(parts, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1),
		zstd.WithWindowSize(snapshotPart))
	if err != nil {
		return err
	}
	if err = errors.Join(write(z), z.Close()); err == nil {
		err = parts.Flush()
	}
	if err == nil {
		err = s.Write(ctx, func(tx *Tx) error { return w.finish(tx, revision) })
	}

	// Parts without a head belong to the snapshot before, or to one that was not finished. Each is deleted in its own
	// transaction, so that other writers do not wait long.
	for more := true; more; {
		e := s.Write(context.WithoutCancel(ctx), func(tx *Tx) error {
			deleted, err := tx.Changed(DeleteLoosePart, name)
			more = deleted > 0
			return err
		})
		err, more = errors.Join(err, e), more && e == nil
	}

	return err
}

// partWriter stores each write as a part.
type partWriter struct {
	ctx        context.Context // of one SaveSnapshot
	s          *Store
	name       string
	purges     int64
	generation int64
	parts      int
	sum        hash.Hash32
}

func (w *partWriter) Write(p []byte) (int, error) {
	_, _ = w.sum.Write(p) // a hash accepts every write
	err := w.s.Write(w.ctx, func(tx *Tx) error {
		purges, err := tx.Purges()
		// The index may still hold a purged memory.
		if err == nil && purges != w.purges {
			err = ErrSuperseded
		}
		if err != nil {
			return err
		}

		return tx.Exec(InsertSnapshotPart, w.name,
			w.generation, w.parts, p)
	})
	w.parts++

	return len(p), err
}

var ErrSuperseded = errors.New("another process has stored a newer snapshot")

func (w *partWriter) finish(tx *Tx, revision int64) error {
	// Another process may have stored a newer snapshot, deleted the parts of this one as outdated, or purged a memory.
	// A snapshot that is ahead of the tables does not count as newer: somebody has restored an older file.
	newest, err := tx.Number(MayReplaceSnapshot, w.name, revision, w.generation, w.parts, w.purges)
	if err != nil {
		return err
	}
	if newest == 0 {
		return ErrSuperseded
	}

	return tx.Exec(PutSnapshotHead,
		w.name, w.generation, revision, w.parts, int64(w.sum.Sum32()))
}

// SnapshotRevision returns the revision of a stored snapshot; 0 if there is none, or if it is ahead of the tables.
func (c *Conn) SnapshotRevision(name string) (int64, error) {
	return c.Number(SnapshotRevision, name)
}

var ErrNoSnapshot = errors.New("no snapshot is stored")

// LoadSnapshot passes a stored snapshot to read, which must read it to its end, and
// returns its revision. The data is valid only if LoadSnapshot returns no error.
func (c *Conn) LoadSnapshot(name string, read func(io.Reader) error) (revision int64, err error) {
	r := &partReader{c: c, name: name}
	got := crc32.New(castagnoli)

	var sum uint32
	found, err := c.One(SnapshotHead, []any{name}, func(s Row) {
		r.generation = s.ColumnInt64(0)
		revision = s.ColumnInt64(1)
		r.parts = s.ColumnInt(2)
		sum = uint32(s.ColumnInt64(3))
	})
	if err != nil {
		return 0, err
	}
	if !found {
		return 0, ErrNoSnapshot
	}

	// The revision of the snapshot of vectors is a sequence number of the model, not of the change counter.
	if name != VectorsSnapshot {
		now, err := c.Changes()
		if err != nil {
			return 0, err
		}
		// The file was replaced by an older one. With this snapshot, changes up to its revision would never be read.
		if revision > now {
			return 0, fmt.Errorf("the snapshot is of change %d and the tables are at %d", revision, now)
		}
	}

	in := io.TeeReader(bufio.NewReaderSize(r, snapshotPart), got)
	z, err := zstd.NewReader(in, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(snapshotPart))
	if err != nil {
		return 0, err
	}

	defer z.Close()

	if err := read(z); err != nil {
		return 0, err
	}
	// The checksum covers all parts, also bytes that the decoder did not need.
	if _, err := io.Copy(io.Discard, in); err != nil {
		return 0, err
	}
	if got.Sum32() != sum {
		return 0, errors.New("the snapshot is damaged")
	}

	return revision, nil
}

// partReader reads a part at a time, into a buffer for the largest one.
type partReader struct {
	c          *Conn
	name       string
	generation int64
	part       int // the next part to read
	parts      int
}

func (r *partReader) Read(p []byte) (n int, err error) {
	if r.part == r.parts {
		return 0, io.EOF
	}
	found, err := r.c.One(SnapshotPart,
		[]any{r.name, r.generation, r.part},
		func(s Row) { n = copy(p, s.ColumnRawBlob(0)) })
	if err == nil && !found {
		err = io.ErrUnexpectedEOF
	}
	r.part++

	return n, err
}

// DropSnapshots drops every snapshot when the tables are no longer trusted. The next
// save deletes the parts.
func (tx *Tx) DropSnapshots() error { return tx.Exec(DeleteSnapshotHeads) }

// DropSnapshot drops the snapshot with a name.
func (tx *Tx) DropSnapshot(name string) error {
	return tx.Exec(DeleteSnapshotHead, name)
}

const (
	PostingsSnapshot = "words"
	VectorsSnapshot  = "codes"
	ColumnsSnapshot  = "roster"
)
