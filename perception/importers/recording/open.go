package recording

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/klauspost/compress/zstd"

	"github.com/robotmem/robotmem-go/perception/importers"
	"github.com/robotmem/robotmem-go/perception/media"
	"github.com/robotmem/robotmem-go/perception/payload"
	"github.com/robotmem/robotmem-go/perception/segment"
)

// ErrFormat means that a file is not a recording in a format that is read.
var ErrFormat = errors.New("is not a recording in a known format; give an MCAP file, a rosbag2 .db3, a ROS 1 .bag, a PX4 .ulg or a folder of them")

// The first bytes of files.
const (
	sqliteMagic = "SQLite format 3\x00"
	ros1Magic   = "#ROSBAG V"
	zstdMagic   = "\x28\xb5\x2f\xfd"
)

// Extensions are the names of recordings, in lower case. Each may be compressed as a whole.
var extensions = []string{".mcap", ".db3", ".bag", ".ulg"}

// packings are the extensions of files that are compressed as a whole.
var packings = []string{".zst", ".zstd"}

// activeSuffix ends the name of a ROS 1 bag that its recorder has not closed.
const activeSuffix = ".active"

// hasExtension reports whether the name is that of a recording.
func hasExtension(name string) bool {
	name = strings.ToLower(name)
	for _, packing := range packings {
		name = strings.TrimSuffix(name, packing)
	}
	name = strings.TrimSuffix(name, activeSuffix)

	return slices.Contains(extensions, filepath.Ext(name))
}

// Recognizes reports whether a file is one that [Open] reads, or refuses with a better error than
// another reader: its first bytes, also its first decompressed ones, are those of a recording, or its
// name is.
func Recognizes(name string, f io.ReaderAt) bool {
	head := make([]byte, len(sqliteMagic))
	n, err := f.ReadAt(head, 0)
	if err != nil && err != io.EOF {
		return false
	}
	format := formatOf(head[:n])
	if format == formatZstd {
		format = formatOf(packedHead(io.NewSectionReader(f, 0, math.MaxInt64)))
	}

	return hasExtension(name) || format != formatNone
}

// RecognizesFolder reports whether a folder is one that [Open] reads: it has a metadata.yaml, or files
// with the names of recordings.
func RecognizesFolder(path string) bool {
	if _, err := os.Stat(filepath.Join(path, metadataFile)); err == nil {
		return true
	}
	return len(recordingsIn(os.DirFS(path))) > 0
}

// format is the format of a file, as its first bytes prove it.
type format int

const (
	formatNone format = iota
	formatMCAP
	formatSQLite
	formatROS1
	formatULog
	formatZstd
)

func formatOf(head []byte) format {
	for f, magic := range map[format]string{
		formatMCAP: media.MCAPMagic, formatSQLite: sqliteMagic, formatROS1: ros1Magic,
		formatULog: ulogMagic, formatZstd: zstdMagic,
	} {
		if bytes.HasPrefix(head, []byte(magic)) {
			return f
		}
	}

	return formatNone
}

// Open opens a recording: an MCAP file, a rosbag2 database, a ROS 1 bag, a log of PX4, each also compressed with zstd, or a
// folder of them. The first bytes decide, not the name.
func Open(ctx context.Context, path string) (Source, error) {
	stat, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if stat.IsDir() {
		return openBag(ctx, path)
	}
	f, info, err := importers.Open(path)
	if err != nil {
		return nil, err
	}

	return openFile(ctx, path, f, info.Size(), segment.NewBudget())
}

// openFile opens a file of a recording. The source closes f, and openFile closes it if it fails.
func openFile(ctx context.Context, path string, f *os.File, size int64, budget *segment.Budget) (_ Source, err error) {
	defer func() {
		if err != nil {
			err = errors.Join(err, f.Close())
		}
	}()
	head := make([]byte, len(sqliteMagic))
	n, err := f.ReadAt(head, 0)
	if err != nil && err != io.EOF {
		return nil, err
	}

	name := filepath.Base(path)

	switch formatOf(head[:n]) {
	case formatMCAP:
		return newMCAP(name, contents{file: f, size: size}, budget), nil
	case formatSQLite:
		return openDB3(ctx, name, path, f, size, budget, f.Close)
	case formatROS1:
		return openROS1(name, contents{file: f, size: size}, budget)
	case formatULog:
		return openULog(name, f, size, contents{file: f, size: size}, budget, f.Close)
	case formatZstd:
		return openPacked(ctx, name, f, size, budget)
	}

	if size == 0 {
		return nil, fmt.Errorf("%s is empty: nothing was recorded", name)
	}

	return nil, fmt.Errorf("%s %w", name, ErrFormat)
}

// openPacked opens a file that is compressed as a whole. MCAP and ROS 1 bags are read as they are decompressed. SQLite
// and ULog are read in any order, so these are unpacked into a temporary file.
func openPacked(ctx context.Context, name string, f *os.File, size int64, budget *segment.Budget) (Source, error) {
	packed := contents{file: f, size: size, packed: true}
	switch formatOf(packedHead(io.NewSectionReader(f, 0, size))) {
	case formatMCAP:
		return newMCAP(name, packed, budget), nil
	case formatROS1:
		return openROS1(name, packed, budget)
	case formatSQLite:
		return openUnpacked(ctx, name, packed, func(plain *os.File, size int64, closer func() error) (Source, error) {
			return openDB3(ctx, name, "", plain, size, budget, closer)
		})
	case formatULog:
		return openUnpacked(ctx, name, packed, func(plain *os.File, size int64, closer func() error) (Source, error) {
			return openULog(name, plain, size, packed, budget, closer)
		})
	}

	return nil, fmt.Errorf("%s holds no recording that can be read; unpack it and look at it: zstd -d %s", name, name)
}

// A compressed file is read up to unpackRatio times its size, and at least up to unpackBytes: a decompression bomb of
// 200 KB would fill a disk or be read for hours. Recordings are usually compressed to a tenth.
const (
	unpackRatio = 256
	unpackBytes = 64 << 20
)

// openUnpacked decompresses a file into a temporary one, and opens that. The function is given what closes both.
func openUnpacked(
	ctx context.Context, name string, packed contents,
	openPlain func(plain *os.File, size int64, closer func() error) (Source, error),
) (_ Source, err error) {
	plain, err := os.CreateTemp("", "robotmem-*")
	if err != nil {
		return nil, fmt.Errorf("unpacking %s: %w", name, err)
	}

	drop := func() error {
		return errors.Join(plain.Close(), os.Remove(plain.Name()))
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, drop())
		}
	}()

	r, done, err := packed.reader()
	if err != nil {
		return nil, err
	}

	defer done()

	size, err := io.Copy(plain, payload.ReaderWith(ctx, r))
	if err != nil {
		return nil, fmt.Errorf("unpacking %s, after %d bytes: %w", name, size, err)
	}

	return openPlain(plain, size, func() error { return errors.Join(drop(), packed.file.Close()) })
}

// contents holds the bytes of a recording, which can be read from the beginning more than once.
type contents struct {
	file   *os.File
	size   int64 // of the file
	packed bool  // the file is compressed with zstd
}

// maxWindow bounds the memory of a decoder, in bytes: the window of zstd --ultra -22.
const maxWindow = 128 << 20

// reader returns the bytes and a function that frees the decoder.
func (c contents) reader() (io.Reader, func(), error) {
	plain := io.NewSectionReader(c.file, 0, c.size)
	if !c.packed {
		return plain, func() {}, nil
	}
	r, err := unpacked(plain)
	if err != nil {
		return nil, nil, err
	}

	return &bounded{in: r, limit: max(unpackBytes, c.size*unpackRatio)}, r.Close, nil
}

// bounded fails behind a number of bytes.
type bounded struct {
	in          io.Reader
	read, limit int64
}

func (b *bounded) Read(p []byte) (int, error) {
	n, err := b.in.Read(p)
	if b.read += int64(n); b.read > b.limit {
		return 0, fmt.Errorf("it unpacks to more than %d bytes; unpack it first, with zstd -d", b.limit)
	}

	return n, err
}

// unpacked decompresses a file on the goroutine of its reader.
func unpacked(file io.Reader) (*zstd.Decoder, error) {
	return zstd.NewReader(file, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
		zstd.WithDecoderMaxWindow(maxWindow))
}

// length returns the number of bytes, -1 if it is unknown.
func (c contents) length() int64 {
	if c.packed {
		return -1
	}
	return c.size
}

// id is the hash of the decompressed bytes, so that a recording is the same however it is compressed.
func (c contents) id(ctx context.Context) (string, error) {
	r, done, err := c.reader()
	if err != nil {
		return "", err
	}
	defer done()
	if id, err := hashReader(ctx, r); err == nil || !c.packed || ctx.Err() != nil {
		return id, err
	}
	// A compressed file that is damaged is known by its own bytes.
	return hashReader(ctx, io.NewSectionReader(c.file, 0, c.size))
}

// packedHead returns the first bytes of what a file holds, nil if it cannot be decompressed.
func packedHead(packed io.Reader) []byte {
	r, err := unpacked(packed)
	if err != nil {
		return nil
	}
	defer r.Close()
	head := make([]byte, len(sqliteMagic))
	// A file may hold fewer bytes, or be damaged after some: its format is recognised by those that there are.
	n, _ := io.ReadFull(r, head)

	return head[:n]
}
