package recording

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
)

// Channel is a topic as one program published it.
type Channel struct {
	Topic           string
	SchemaName      string // sensor_msgs/msg/Image
	SchemaEncoding  string // ros2msg, jsonschema, protobuf …; "" without a schema
	SchemaData      []byte
	MessageEncoding string            // cdr, json, protobuf …
	Metadata        map[string]string // offered_qos_profiles …
}

// Message is one message of a recording. It and its Data are valid until the
// next one is asked for.
type Message struct {
	*Channel
	Sequence    uint32
	LogTime     uint64 // ns since 1970
	PublishTime uint64 // likewise
	Data        []byte
}

// Info is what a recording says of itself.
type Info struct {
	Format      string // mcap or rosbag2 sqlite3
	Profile     string // of MCAP: ros2, or ""
	Start, End  uint64 // log times of the first and the last message, ns
	Messages    uint64
	Channels    []ChannelInfo // by topic
	Metadata    []Metadata
	Attachments []Attachment
}

// ChannelInfo is a channel with the number of its messages.
type ChannelInfo struct {
	*Channel
	Messages uint64
}

// Metadata is a metadata record of MCAP.
type Metadata struct {
	Name   string            `json:"name"`
	Values map[string]string `json:"values"`
}

// Attachment is a file within a recording.
type Attachment struct {
	Name      string `json:"name"`
	MediaType string `json:"media_type,omitempty"`
	Bytes     uint64 `json:"bytes"`
}

// Source is an open recording. One goroutine uses it at a time.
type Source interface {
	// Name is the base name of the file or folder.
	Name() string
	// ID is the same for the same bytes: hexadecimal, of a SHA-256 over all.
	ID(ctx context.Context) (string, error)
	// Info reads the index, or the whole file when there is none.
	Info(ctx context.Context) (*Info, error)
	// Messages yields all messages, by log time when the file has an index and
	// in its order when it has none. An error is a [*BreakError] or the
	// context's; after a BreakError there may be more messages, unless the rest
	// cannot be read.
	Messages(ctx context.Context) iter.Seq2[*Message, error]
	Close() error
}

// BreakError says where a recording is damaged or cut.
type BreakError struct {
	Offset      int64  // byte in the file, -1 unknown
	LastLogTime uint64 // of the message before, ns, 0 without
	Err         error
}

func (e *BreakError) Error() string {
	s := "the recording breaks"
	if e.Offset >= 0 {
		s += fmt.Sprintf(" at byte %d", e.Offset)
	}
	if e.LastLogTime > 0 {
		s += ", after log time " + seconds(e.LastLogTime)
	}
	return s + ": " + e.Err.Error()
}

func (e *BreakError) Unwrap() error { return e.Err }

// seconds is a time of nanoseconds as seconds with all their digits.
func seconds(ns uint64) string { return fmt.Sprintf("%d.%09d s", ns/1e9, ns%1e9) }

// ErrFormat says that a file is no recording that is read here.
var ErrFormat = errors.New("is no recording that is read here; an MCAP file, a rosbag2 .db3 or a rosbag2 folder with its metadata.yaml is")

// The first bytes of files.
const (
	mcapMagic   = "\x89MCAP0\r\n"
	sqliteMagic = "SQLite format 3\x00"
	ros1Magic   = "#ROSBAG V"
	zstdMagic   = "\x28\xb5\x2f\xfd"
)

// Recognizes says whether a file that begins so is one that Open reads, or
// refuses with more to say than that it is none. 16 bytes are enough.
func Recognizes(head []byte) bool {
	for _, magic := range []string{mcapMagic, sqliteMagic, zstdMagic, ros1Magic} {
		if bytes.HasPrefix(head, []byte(magic)) {
			return true
		}
	}
	return false
}

// Open opens a recording: an MCAP file, a rosbag2 database, either of them in
// zstd, or a folder with a metadata.yaml. The first bytes decide, not the name.
func Open(path string) (Source, error) {
	stat, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if stat.IsDir() {
		return openFolder(path)
	}
	return openFile(path)
}

func openFile(path string) (Source, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	head := make([]byte, len(sqliteMagic))
	n, err := io.ReadFull(f, head)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return nil, errors.Join(err, f.Close())
	}
	head = head[:n]
	name := filepath.Base(path)
	var src Source
	switch {
	case bytes.HasPrefix(head, []byte(mcapMagic)):
		return newMCAP(name, f)
	case bytes.HasPrefix(head, []byte(sqliteMagic)):
		src, err = openDB3(path)
	case bytes.HasPrefix(head, []byte(zstdMagic)):
		src, err = openCompressed(path, f)
	case bytes.HasPrefix(head, []byte(ros1Magic)):
		err = fmt.Errorf("%s is a ROS 1 bag; convert it first: pip install rosbags && rosbags-convert --src %s --dst converted", name, name)
	default:
		err = fmt.Errorf("%s %w", name, ErrFormat)
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return nil, err
	}
	return src, nil
}

// hashFile is cancelled between pieces of a file.
func hashFile(ctx context.Context, path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	return hashReader(ctx, f)
}

func hashReader(ctx context.Context, r io.Reader) (string, error) {
	h := sha256.New()
	for {
		n, err := io.CopyN(h, r, 8<<20)
		if err == io.EOF {
			return hex.EncodeToString(h.Sum(nil)), nil
		}
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return "", fmt.Errorf("hashing %d bytes: %w", n, err)
		}
	}
}
