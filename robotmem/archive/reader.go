package archive

import (
	"archive/tar"
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"regexp"
	"strconv"
	"strings"

	"github.com/klauspost/compress/zstd"
)

// The errors of an archive. Every error of a [Reader] wraps one, or is that of the reader below it.
var (
	// ErrDamaged means that bytes are missing or are not those that were written.
	ErrDamaged = errors.New("the archive is damaged")
	// ErrFormat means that the file is not an archive, or was not written by robotmem.
	ErrFormat = errors.New("not an archive of robotmem")
	// ErrLimit means that a part is larger than allowed.
	ErrLimit = errors.New("the archive is over a limit")
	// ErrNewer means that a newer robotmem wrote it.
	ErrNewer = errors.New("the archive is of a newer robotmem")
)

// Reader is the [Source] of a file. It checks a part before it returns anything of it, and a
// payload while it is read.
type Reader struct {
	tar *tar.Reader
	zip *zstd.Decoder // nil when nothing is compressed

	manifest *Manifest
	seen     Counts
	number   int
	rolling  hash.Hash // of the lines that SHA256SUMS must have
	rollSize int64
	open     *payloadReader
	ended    bool
}

var _ Source = (*Reader)(nil)

var (
	partPattern    = regexp.MustCompile(`^(sessions|memories|links)/([0-9]{6,})-([0-9a-f]{64})\.jsonl$`)
	payloadPattern = regexp.MustCompile(`^payloads/([0-9a-f]{2})/([0-9a-f]{64})$`)
	zstdMagic      = []byte{0x28, 0xb5, 0x2f, 0xfd}
)

// HeadBytes is how much of a file [Recognizes] needs.
const HeadBytes = 512

// Recognizes reports whether a file begins like an archive: it is a tar, or compressed with zstd.
func Recognizes(head []byte) bool {
	return bytes.HasPrefix(head, zstdMagic) || len(head) >= 262 && string(head[257:262]) == "ustar"
}

// NewReader reads an archive, compressed or not. Close it.
func NewReader(r io.Reader) (*Reader, error) {
	a := &Reader{rolling: sha256.New()}
	in := bufio.NewReaderSize(r, 256<<10)
	head, err := in.Peek(len(zstdMagic))
	if err != nil && err != io.EOF {
		return nil, err
	}
	a.tar = tar.NewReader(in)
	if bytes.Equal(head, zstdMagic) {
		// A few bytes can ask for gigabytes of window.
		a.zip, err = zstd.NewReader(in,
			zstd.WithDecoderConcurrency(1),
			zstd.WithDecoderMaxMemory(maxDecoderBytes),
			zstd.WithDecoderMaxWindow(maxDecoderBytes))
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrFormat, err)
		}
		a.tar = tar.NewReader(a.zip)
	}

	return a, nil
}

// Close frees the decoder.
func (a *Reader) Close() error {
	if a.zip != nil {
		a.zip.Close()
	}
	return nil
}

// Payloads returns how many payloads the manifest names, 0 before it is read. Its memories may name more.
func (a *Reader) Payloads() int64 {
	if a.manifest == nil {
		return 0
	}
	return a.manifest.Payloads
}

// Next implements Source. No call may follow an error.
func (a *Reader) Next() (*Entry, error) {
	if err := a.finishPayload(); err != nil {
		return nil, err
	}

	h, err := a.tar.Next()
	switch {
	case err == io.EOF && a.ended:
		return nil, io.EOF
	case err == io.EOF && a.manifest == nil:
		return nil, fmt.Errorf("%w: it has no manifest.json", ErrFormat)
	case err == io.EOF, errors.Is(err, io.ErrUnexpectedEOF):
		return nil, fmt.Errorf("%w: it ends before its SHA256SUMS; the rest was cut off", ErrDamaged)
	case err != nil && a.manifest == nil && errors.Is(err, tar.ErrHeader):
		return nil, fmt.Errorf("%w: it is no tar", ErrFormat)
	case err != nil:
		return nil, a.broken(err)
	case a.ended:
		return nil, fmt.Errorf("%w: there is more after its SHA256SUMS", ErrFormat)
	case h.Typeflag != tar.TypeReg:
		return nil, fmt.Errorf("%w: %.120q is a link, a folder or a device; only files are taken", ErrFormat, h.Name)
	case h.PAXRecords["GNU.sparse.major"]+h.PAXRecords["GNU.sparse.map"] != "":
		// A sparse file claims any size without the bytes for it.
		return nil, fmt.Errorf("%w: %.120q has holes; only files that are there in full are taken", ErrFormat, h.Name)
	}

	return a.entry(h)
}

func (a *Reader) entry(h *tar.Header) (*Entry, error) {
	if a.manifest == nil {
		return a.readManifest(h)
	}
	if h.Name == sumsName {
		return nil, a.readSums(h)
	}
	if m := partPattern.FindStringSubmatch(h.Name); m != nil {
		return a.readPart(h, m[1], m[2], m[3])
	}

	m := payloadPattern.FindStringSubmatch(h.Name)
	if m == nil || m[2][:2] != m[1] {
		return nil, fmt.Errorf("%w: %.120q is no name of a part or a payload", ErrFormat, h.Name)
	}

	// The counts of the manifest bound what the caller stores before SHA256SUMS is read.
	a.seen.Payloads++
	a.seen.PayloadBytes += h.Size

	switch {
	case h.Size > maxPayload:
		return nil, fmt.Errorf("%w: payload %s has %d bytes; the limit of one is %d",
			ErrLimit, m[2], h.Size, int64(maxPayload))
	case a.seen.Payloads > a.manifest.Payloads || a.seen.PayloadBytes > a.manifest.PayloadBytes:
		return nil, fmt.Errorf("%w: there are more payloads than its manifest says", ErrFormat)
	}

	a.open = &payloadReader{a: a, sum: m[2], name: h.Name, hash: sha256.New()}

	return &Entry{Payload: &Data{SHA256: m[2], Bytes: h.Size, Reader: a.open}}, nil
}

func (a *Reader) readManifest(h *tar.Header) (*Entry, error) {
	if h.Name != manifestName {
		return nil, fmt.Errorf("%w: it begins with %.120q, not with %s", ErrFormat, h.Name, manifestName)
	}

	data, err := a.readAll(h, maxManifest)
	if err != nil {
		return nil, err
	}

	m := &Manifest{}
	if err := json.Unmarshal(data, m); err != nil || m.Format != Format {
		return nil, fmt.Errorf("%w: its manifest is of something else", ErrFormat)
	}
	if m.Version > version {
		return nil, fmt.Errorf("%w: format %d, this program reads up to %d; install a newer robotmem",
			ErrNewer, m.Version, version)
	}

	a.manifest = m
	sum := sha256.Sum256(data)
	a.noteSum(hex.EncodeToString(sum[:]), h.Name)

	return &Entry{Manifest: m}, nil
}

// readAll reads a file of at most limit bytes.
func (a *Reader) readAll(h *tar.Header, limit int64) ([]byte, error) {
	if h.Size > limit {
		return nil, fmt.Errorf("%w: %.120q has %d bytes; the limit is %d", ErrLimit, h.Name, h.Size, limit)
	}

	// The buffer grows as bytes arrive. One of the claimed size could be allocated for nothing.
	data, err := io.ReadAll(a.tar)
	if err != nil {
		return nil, a.broken(err)
	}

	return data, nil
}

// broken returns an error of reading with its class.
func (a *Reader) broken(err error) error {
	if errors.Is(err, zstd.ErrWindowSizeExceeded) || errors.Is(err, zstd.ErrDecoderSizeExceeded) {
		return fmt.Errorf("%w: decompressing it takes more than %d bytes of memory", ErrLimit, maxDecoderBytes)
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("%w: it ends in the middle; the rest was cut off", ErrDamaged)
	}

	return fmt.Errorf("%w: %w", ErrDamaged, err)
}

// noteSum notes the line that SHA256SUMS must have for a file.
func (a *Reader) noteSum(sum, name string) {
	n, _ := fmt.Fprintf(a.rolling, "%s  %s\n", sum, name) // a hash never fails
	a.rollSize += int64(n)
}

func (a *Reader) readPart(h *tar.Header, kind, number, sum string) (*Entry, error) {
	// The numbers are without gaps, so that a part that was removed is noticed before the end.
	a.number++
	if n, err := strconv.Atoi(number); err != nil || n != a.number {
		return nil, fmt.Errorf("%w: part %d is missing before %.120q", ErrDamaged, a.number, h.Name)
	}

	data, err := a.readAll(h, maxPartBytes)
	if err != nil {
		return nil, err
	}

	// The hash is checked before anything of the part is decoded.
	if got := sha256.Sum256(data); hex.EncodeToString(got[:]) != sum {
		return nil, fmt.Errorf("%w: %.120q is not what was written", ErrDamaged, h.Name)
	}

	a.noteSum(sum, h.Name)
	entry := &Entry{}

	switch kind {
	case "sessions":
		entry.Sessions, err = readLines[Session](data, h.Name)
		a.seen.Sessions += int64(len(entry.Sessions))
	case "memories":
		entry.Memories, err = readLines[Memory](data, h.Name)
		a.seen.Memories += int64(len(entry.Memories))
	default:
		entry.Links, err = readLines[Link](data, h.Name)
		a.seen.Links += int64(len(entry.Links))
	}

	if err != nil {
		return nil, err
	}
	if a.seen.Sessions > a.manifest.Sessions || a.seen.Memories > a.manifest.Memories ||
		a.seen.Links > a.manifest.Links {
		return nil, fmt.Errorf("%w: there are more %s than its manifest says", ErrFormat, kind)
	}

	// An import names the place of a record that it refuses.
	for i := range entry.Sessions {
		entry.Sessions[i].Where = where(h.Name, i)
	}

	for i := range entry.Memories {
		entry.Memories[i].Where = where(h.Name, i)
	}

	return entry, nil
}

func where(name string, i int) string {
	kind, rest, _ := strings.Cut(name, "/")
	number, _, _ := strings.Cut(rest, "-")
	return fmt.Sprintf("%s/%s: line %d", kind, number, i+1)
}

// readLines reads records, one a line.
func readLines[T any](data []byte, name string) ([]T, error) {
	var out []T

	for len(data) > 0 {
		line, rest, _ := bytes.Cut(data, []byte("\n"))
		data = rest
		if len(out) == maxPartLines {
			return nil, fmt.Errorf("%w: %.120q has more than %d lines", ErrLimit, name, maxPartLines)
		}

		// Numbers in a context keep their spelling, which the content hash includes.
		var record T
		dec := json.NewDecoder(bytes.NewReader(line))
		dec.UseNumber()
		if err := dec.Decode(&record); err != nil {
			return nil, fmt.Errorf("%w: %s: %w", ErrFormat, where(name, len(out)), err)
		}
		out = append(out, record)
	}

	return out, nil
}

// readSums compares the last file with the sums of the others.
func (a *Reader) readSums(h *tar.Header) error {
	// The expected text is known only by its hash, because keeping it would take memory for each payload.
	got := sha256.New()
	n, err := io.Copy(got, io.LimitReader(a.tar, a.rollSize+1))
	if err != nil {
		return a.broken(err)
	}
	if n != a.rollSize || !bytes.Equal(got.Sum(nil), a.rolling.Sum(nil)) {
		return fmt.Errorf("%w: its files are not those of its %s", ErrDamaged, h.Name)
	}
	if a.seen.Memories != a.manifest.Memories || a.seen.Sessions != a.manifest.Sessions ||
		a.seen.Links != a.manifest.Links {
		return fmt.Errorf("%w: there is less in it than its manifest says", ErrDamaged)
	}

	// Next reports the end, or anything that follows it.
	a.ended = true
	_, err = a.Next()

	return err
}

// finishPayload reads the rest of the last payload, to check it.
func (a *Reader) finishPayload() error {
	if a.open == nil {
		return nil
	}
	p := a.open
	if _, err := io.Copy(io.Discard, p); err != nil {
		return err
	}
	a.open = nil
	a.noteSum(p.sum, p.name)

	return nil
}

// payloadReader reads a payload and fails at its end if the hash is another.
type payloadReader struct {
	a         *Reader
	sum, name string
	hash      hash.Hash
	err       error
}

func (p *payloadReader) Read(b []byte) (int, error) {
	if p.err != nil {
		return 0, p.err
	}
	n, err := p.a.tar.Read(b)
	p.hash.Write(b[:n])

	switch {
	case err == io.EOF && hex.EncodeToString(p.hash.Sum(nil)) != p.sum:
		err = fmt.Errorf("%w: payload %s is not what was written", ErrDamaged, p.sum)
	case err != nil && err != io.EOF:
		err = p.a.broken(err)
	}
	p.err = err

	return n, err
}
