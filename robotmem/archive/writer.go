package archive

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/klauspost/compress/zstd"
)

const (
	manifestName = "manifest.json"
	sumsName     = "SHA256SUMS"

	// A part ends at the first of these limits.
	maxPartLines    = 500
	partBytes       = 4 << 20
	partPayloads    = 16 << 20 // bytes of the payloads that come after it
	maxPartBytes    = 64 << 20 // of a part with one record alone, too
	maxManifest     = 64 << 10
	maxPayload      = 4 << 30
	maxDecoderBytes = 64 << 20 // what decompressing may take
)

// Writer is the [Sink] that writes a file. It keeps one part in memory, and the sums: some 150
// bytes a payload.
type Writer struct {
	zip    *zstd.Encoder // nil when nothing is compressed
	tar    *tar.Writer
	at     time.Time
	sums   bytes.Buffer
	number int

	kind     string // of the part that is being gathered
	lines    bytes.Buffer
	count    int
	payloads []pendingBytes
	pending  int64
}

type pendingBytes struct {
	Payload
	open func() (io.ReadCloser, error)
}

var _ Sink = (*Writer)(nil)

// NewWriter writes an archive to w, compressed with zstd or not.
func NewWriter(w io.Writer, compress bool) *Writer {
	a := &Writer{}
	if compress {
		// Fails only for bad options.
		a.zip, _ = zstd.NewWriter(w, zstd.WithEncoderConcurrency(1))
		w = a.zip
	}
	a.tar = tar.NewWriter(w)

	return a
}

func (a *Writer) Begin(m *Manifest) error {
	m.Format, m.Version = Format, version

	var err error
	if a.at, err = time.Parse(time.RFC3339Nano, m.CreatedAt); err != nil {
		return err
	}
	line, err := encode(m)
	if err != nil {
		return err
	}

	return a.file(manifestName, int64(len(line)+1), bytes.NewReader(append(line, '\n')), "")
}

func (a *Writer) Session(s *Session) error { return a.line("sessions", s) }

func (a *Writer) Link(l *Link) error { return a.line("links", l) }

func (a *Writer) Memory(m *Memory, b *Bytes) error {
	if err := a.line("memories", m); err != nil {
		return err
	}
	if b != nil && b.First {
		a.payloads = append(a.payloads, pendingBytes{*m.Payload, b.Open})
		a.pending += m.Payload.Bytes
	}

	// Payloads follow the memories that name them. Without this limit a part of small memories could be followed by
	// gigabytes before the next part.
	if a.pending >= partPayloads {
		return a.flush()
	}

	return nil
}

func (a *Writer) line(kind string, v any) error {
	data, err := encode(v)
	if err != nil {
		return err
	}
	if len(data) >= maxPartBytes {
		return fmt.Errorf("a record of %d bytes does not fit the archive; the limit is %d", len(data), maxPartBytes)
	}

	isFull := a.count == maxPartLines || a.lines.Len() > 0 && a.lines.Len()+len(data) >= partBytes
	if kind != a.kind || isFull {
		if err := a.flush(); err != nil {
			return err
		}
	}
	a.kind = kind
	a.count++
	a.lines.Write(data)
	a.lines.WriteByte('\n')

	return nil
}

// flush writes the current part with its payloads.
func (a *Writer) flush() error {
	if a.count == 0 {
		return nil
	}

	a.number++
	sum := sha256.Sum256(a.lines.Bytes())
	name := fmt.Sprintf("%s/%06d-%x.jsonl", a.kind, a.number, sum)
	if err := a.file(name, int64(a.lines.Len()), bytes.NewReader(a.lines.Bytes()), ""); err != nil {
		return err
	}

	// A reader stores a memory first and its payload right after it.
	for _, p := range a.payloads {
		if err := a.payload(p); err != nil {
			return err
		}
	}

	a.lines.Reset()
	a.payloads, a.count, a.pending = nil, 0, 0

	return nil
}

// payload copies a payload. One that was removed meanwhile is left out, and a reader counts it
// as missing.
func (a *Writer) payload(p pendingBytes) error {
	r, err := p.open()
	if err != nil {
		return nil //nolint:nilerr // the memory says that there were bytes, so its absence shows
	}
	return errors.Join(a.file("payloads/"+p.SHA256[:2]+"/"+p.SHA256, p.Bytes, r, p.SHA256), r.Close())
}

// file writes a file of size bytes and its sum, which must be want unless that is empty.
func (a *Writer) file(name string, size int64, data io.Reader, want string) error {
	if err := a.header(name, size); err != nil {
		return err
	}
	h := sha256.New()
	n, err := io.Copy(io.MultiWriter(a.tar, h), data)
	if err != nil {
		return err
	}

	// The header has the size and the name has the hash already, so other bytes would make the archive invalid.
	sum := hex.EncodeToString(h.Sum(nil))
	if want != "" && (n != size || sum != want) {
		return fmt.Errorf("payload %s has changed while it was read", want)
	}
	fmt.Fprintf(&a.sums, "%s  %s\n", sum, name)

	return nil
}

func (a *Writer) header(name string, size int64) error {
	return a.tar.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Size: size, Mode: 0o600, ModTime: a.at})
}

// Close implements Sink. It does not close the writer of NewWriter.
func (a *Writer) Close() error {
	err := a.flush()
	if err == nil {
		err = a.header(sumsName, int64(a.sums.Len()))
	}
	if err == nil {
		_, err = a.sums.WriteTo(a.tar)
	}
	if err == nil {
		err = a.tar.Close()
	}

	if a.zip != nil {
		// A broken archive must not get an end that looks complete.
		if err == nil {
			err = a.zip.Close()
		} else {
			a.zip.Reset(io.Discard)
		}
	}

	return err
}
