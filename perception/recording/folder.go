package recording

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"

	"github.com/goccy/go-yaml"
	"github.com/klauspost/compress/zstd"
)

const (
	// maxMetadataFile bounds a metadata.yaml: those of a thousand topics take
	// less than a megabyte.
	maxMetadataFile = 8 << 20
	maxFiles        = 4096
)

// folder is a rosbag2 recording of several files, one after the other.
type folder struct {
	name  string
	files []Source
	info  *Info
}

var _ Source = (*folder)(nil)

// bagFile is what is read of a metadata.yaml.
type bagFile struct {
	Info struct {
		Storage           string   `yaml:"storage_identifier"`
		Files             []string `yaml:"relative_file_paths"`
		CompressionFormat string   `yaml:"compression_format"`
		CompressionMode   string   `yaml:"compression_mode"`
	} `yaml:"rosbag2_bagfile_information"`
}

func openFolder(path string) (_ Source, err error) {
	const metadata = "metadata.yaml"
	name := filepath.Base(path)
	f, err := os.Open(filepath.Join(path, metadata))
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("%s has no %s and %w", name, metadata, ErrFormat)
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxMetadataFile+1))
	if err != nil {
		return nil, err
	}
	var bag bagFile
	if len(text) > maxMetadataFile {
		err = fmt.Errorf("it takes more than %d bytes", maxMetadataFile)
	} else {
		err = yaml.Unmarshal(text, &bag)
	}
	if err != nil {
		return nil, fmt.Errorf("%s of %s: %w", metadata, name, err)
	}
	if mode := bag.Info.CompressionMode; mode == "MESSAGE" || mode == "message" {
		return nil, fmt.Errorf("%s is compressed message by message, which is not read; convert it first: ros2 bag convert with compression_mode none", name)
	}
	if n := len(bag.Info.Files); n == 0 || n > maxFiles {
		return nil, fmt.Errorf("%s of %s names %d files; 1 to %d are read", metadata, name, n, maxFiles)
	}
	// A link within the folder may lead out of it, too, which the root refuses.
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	all := &folder{name: name}
	defer func() {
		if err != nil {
			err = errors.Join(err, all.Close())
		}
	}()
	for _, file := range bag.Info.Files {
		if !filepath.IsLocal(file) {
			return nil, fmt.Errorf("%s of %s names %q, which lies elsewhere", metadata, name, file)
		}
		if _, err := root.Stat(file); err != nil {
			return nil, fmt.Errorf("%s of %s names %q: %w", metadata, name, file, err)
		}
		src, err := openFile(filepath.Join(path, file))
		if err != nil {
			return nil, err
		}
		all.files = append(all.files, src)
	}
	return all, nil
}

func (f *folder) Name() string { return f.name }

func (f *folder) Close() error {
	var err error
	for _, file := range f.files {
		err = errors.Join(err, file.Close())
	}
	return err
}

func (f *folder) ID(ctx context.Context) (string, error) {
	h := sha256.New()
	for _, file := range f.files {
		id, err := file.ID(ctx)
		if err != nil {
			return "", err
		}
		h.Write([]byte(id))
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// Info is that of all files. A topic that several of them hold is listed once.
func (f *folder) Info(ctx context.Context) (*Info, error) {
	if f.info != nil {
		return f.info, nil
	}
	all := &Info{}
	at := map[string]int{}
	for _, file := range f.files {
		one, err := file.Info(ctx)
		if err != nil {
			return nil, err
		}
		all.Format, all.Profile = one.Format, cmp.Or(all.Profile, one.Profile)
		if one.Messages > 0 && (all.Messages == 0 || one.Start < all.Start) {
			all.Start = one.Start
		}
		all.End = max(all.End, one.End)
		all.Messages += one.Messages
		all.Metadata = append(all.Metadata, one.Metadata...)
		all.Attachments = append(all.Attachments, one.Attachments...)
		for _, c := range one.Channels {
			key := channelKey(c.Channel)
			if i, ok := at[key]; ok {
				all.Channels[i].Messages += c.Messages
				continue
			}
			at[key] = len(all.Channels)
			all.Channels = append(all.Channels, c)
		}
	}
	sortChannels(all.Channels)
	f.info = all
	return all, nil
}

func (f *folder) Messages(ctx context.Context) iter.Seq2[*Message, error] {
	return func(yield func(*Message, error) bool) {
		for _, file := range f.files {
			for m, err := range file.Messages(ctx) {
				if !yield(m, err) {
					return
				}
			}
		}
	}
}

// unpacked is a recording that was decompressed into a file of its own, which
// goes when it is closed.
type unpacked struct {
	Source
	original, temporary string
}

func (u *unpacked) Name() string                           { return filepath.Base(u.original) }
func (u *unpacked) ID(ctx context.Context) (string, error) { return hashFile(ctx, u.original) }
func (u *unpacked) Close() error                           { return errors.Join(u.Source.Close(), os.Remove(u.temporary)) }

// A recording in zstd unfolds to at most unpackRatio times its size, and some.
const (
	unpackRatio = 256
	unpackSlack = 64 << 20
	zstdWindow  = 128 << 20
)

func openCompressed(path string, f *os.File) (_ Source, err error) {
	stat, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	z, err := zstd.NewReader(f, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(zstdWindow))
	if err != nil {
		return nil, err
	}
	defer z.Close()
	out, err := os.CreateTemp("", "robotmem-recording-*")
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(out.Name()))
		}
	}()
	limit := stat.Size()*unpackRatio + unpackSlack
	n, err := io.Copy(out, io.LimitReader(z, limit+1))
	if err == nil && n > limit {
		err = fmt.Errorf("it unfolds to more than %d bytes", limit)
	}
	if err = errors.Join(err, out.Close()); err != nil {
		return nil, fmt.Errorf("decompressing %s: %w", filepath.Base(path), err)
	}
	src, err := openUnpacked(out.Name())
	if err != nil {
		return nil, fmt.Errorf("%s, decompressed: %w", filepath.Base(path), err)
	}
	return &unpacked{Source: src, original: path, temporary: out.Name()}, nil
}

// openUnpacked refuses what is compressed once more.
func openUnpacked(path string) (Source, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	head := make([]byte, len(zstdMagic))
	_, _ = io.ReadFull(f, head) // a shorter file is no recording, which openFile says
	if err := f.Close(); err != nil {
		return nil, err
	}
	if string(head) == zstdMagic {
		return nil, ErrFormat
	}
	return openFile(path)
}

// channelKey is the same for channels that differ in nothing.
func channelKey(c *Channel) string {
	return fmt.Sprintf("%q %q %q %x %q %q", c.Topic, c.SchemaName, c.SchemaEncoding, sha256.Sum256(c.SchemaData), c.MessageEncoding, c.Metadata)
}
