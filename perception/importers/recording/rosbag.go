package recording

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"

	"github.com/robotmem/robotmem-go/perception/importers"
	"github.com/robotmem/robotmem-go/perception/segment"
)

const (
	metadataFile = "metadata.yaml"
	// maxMetadataFile bounds a metadata.yaml in bytes: one of a thousand topics takes less
	// than a megabyte.
	maxMetadataFile = 8 << 20
	maxFiles        = 4096
)

// bag is a rosbag2 recording of several files, one after the other.
type bag struct {
	name    string
	files   []Source
	counted uint64 // messages, as the metadata.yaml says; 0 is unknown
}

var _ Source = (*bag)(nil)

// bagFile is the part of a metadata.yaml that is read.
type bagFile struct {
	Info struct {
		Files    []string `yaml:"relative_file_paths"`
		Messages uint64   `yaml:"message_count"`
	} `yaml:"rosbag2_bagfile_information"`
}

// openBag opens the files that the metadata.yaml of a folder names. A recorder that was killed writes no
// metadata.yaml. Then all recordings of the folder are read, in the order of their numbers.
func openBag(ctx context.Context, folder string) (_ Source, err error) {
	name := filepath.Base(folder)
	// The root also refuses a link within the folder that leads out of it.
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil, err
	}

	defer root.Close()
	named, counted, err := filesOf(root, name)
	if err != nil {
		return nil, err
	}
	if n := len(named); n == 0 || n > maxFiles {
		return nil, fmt.Errorf("%s names %d files; 1 to %d are read", name, n, maxFiles)
	}

	all := &bag{name: name, counted: counted}
	defer func() {
		if err != nil {
			err = errors.Join(err, all.Close())
		}
	}()
	// One budget for all files: definitions of thousands of files are in memory together.
	budget := segment.NewBudget()

	var refused error

	for _, file := range named {
		f, info, err := importers.OpenFile(root, file)
		if err != nil {
			return nil, fmt.Errorf("%s: %s: %w", name, file, err)
		}
		src, err := openFile(ctx, filepath.Join(folder, file), f, info.Size(), budget)
		if ctx.Err() != nil {
			return nil, errors.Join(err, ctx.Err())
		}
		// One damaged file does not prevent the others from being imported.
		if err != nil {
			refused = cmp.Or(refused, err)
			src = &unreadable{name: file, err: err}
		}
		all.files = append(all.files, src)
	}

	if !slices.ContainsFunc(all.files, func(src Source) bool { _, bad := src.(*unreadable); return !bad }) {
		return nil, refused
	}

	return all, nil
}

// filesOf returns the names of the files of a bag within its folder, and how many messages they have.
func filesOf(root *os.Root, name string) (names []string, counted uint64, err error) {
	var file bagFile
	text, err := importers.ReadFile(root, metadataFile, maxMetadataFile)
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(bytes.TrimSpace(text)) == 0 {
		if names = recordingsIn(root.FS()); len(names) == 0 {
			return nil, 0, fmt.Errorf("%s has no %s and no files of recordings; it %w", name, metadataFile, ErrFormat)
		}
		return names, 0, nil
	}

	if err == nil {
		err = yaml.Unmarshal(text, &file)
	}
	if err != nil {
		return nil, 0, fmt.Errorf("%s of %s: %w", metadataFile, name, err)
	}

	var missing []string

	for _, given := range file.Info.Files {
		found, err := find(root, given)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			missing = append(missing, given)
		case err != nil:
			return nil, 0, fmt.Errorf("%s of %s names %q: %w", metadataFile, name, given, err)
		}
		names = append(names, found)
	}

	// The ID of a partial bag differs from that of the whole one. Importing the whole bag later would store its
	// messages twice.
	if len(missing) > 0 {
		return nil, 0, fmt.Errorf("%s lacks %q, which its %s names; put it back, or remove %s to import the files that are there", name, missing, metadataFile, metadataFile)
	}

	return names, file.Info.Messages, nil
}

// find returns the name under which the folder has a file of its metadata.yaml. The first releases of
// rosbag2 wrote the folder before the name, and a file may have been compressed or unpacked since.
func find(root *os.Root, name string) (string, error) {
	base := path.Base(strings.ReplaceAll(name, "\\", "/"))

	plain := base
	for _, packing := range packings {
		plain = strings.TrimSuffix(plain, packing)
	}

	tried := []string{name, base, plain}
	for _, packing := range packings {
		tried = append(tried, plain+packing)
	}

	for _, one := range tried {
		// Any other error ends the search, such as that of a link that leads out of the folder.
		if _, err := root.Stat(one); !errors.Is(err, fs.ErrNotExist) {
			return one, err
		}
	}

	return "", fs.ErrNotExist
}

// recordingsIn lists the files of a folder that have the names of recordings, in the order of their
// numbers: run_2 before run_10.
func recordingsIn(folder fs.FS) []string {
	entries, err := fs.ReadDir(folder, ".")
	if err != nil {
		return nil
	}

	var names []string

	for _, e := range entries {
		if !e.IsDir() && hasExtension(e.Name()) && !strings.HasPrefix(e.Name(), ".") {
			names = append(names, e.Name())
		}
	}
	slices.SortFunc(names, compareNumbered)

	return names
}

// compareNumbered compares names by their texts and by the values of the numbers in them.
func compareNumbered(a, b string) int {
	for a != "" && b != "" {
		na, restA := leadingNumber(a)
		nb, restB := leadingNumber(b)
		if na == "" || nb == "" {
			if a[0] != b[0] {
				return cmp.Compare(a[0], b[0])
			}
			a, b = a[1:], b[1:]
			continue
		}
		// Without leading zeros the longer number is the larger, and numbers of any length can be compared.
		if c := cmp.Or(cmp.Compare(len(na), len(nb)), cmp.Compare(na, nb)); c != 0 {
			return c
		}
		a, b = restA, restB
	}

	return cmp.Compare(len(a), len(b))
}

// leadingNumber cuts the digits off a name, without zeros before them.
func leadingNumber(s string) (number, rest string) {
	end := 0
	for end < len(s) && '0' <= s[end] && s[end] <= '9' {
		end++
	}
	if end == 0 {
		return "", s
	}

	return cmp.Or(strings.TrimLeft(s[:end], "0"), "0"), s[end:]
}

// unreadable stands for a file of a bag that cannot be opened as a recording.
type unreadable struct {
	name string
	err  error
}

var _ Source = (*unreadable)(nil)

func (u *unreadable) Name() string                        { return u.name }
func (u *unreadable) ID(context.Context) (string, error)  { return "unreadable " + u.name, nil }
func (u *unreadable) Info(context.Context) (*Info, error) { return &Info{}, nil }
func (u *unreadable) Close() error                        { return nil }

func (u *unreadable) Messages(context.Context) iter.Seq2[*Message, error] {
	return func(yield func(*Message, error) bool) {
		yield(nil, &BreakError{Offset: -1, Err: u.err})
	}
}

func (b *bag) Name() string { return b.name }

func (b *bag) Close() error {
	var err error
	for _, file := range b.files {
		err = errors.Join(err, file.Close())
	}
	return err
}

func (b *bag) ID(ctx context.Context) (string, error) {
	h := sha256.New()

	for _, file := range b.files {
		id, err := file.ID(ctx)
		if err != nil {
			return "", err
		}
		h.Write([]byte(id))
	}

	return hex.EncodeToString(h.Sum(nil)), nil
}

// Info describes all files together. A channel that several of them have is listed once.
func (b *bag) Info(ctx context.Context) (*Info, error) {
	all := &Info{}
	at := map[string]int{}
	// The files share definitions, so each is hashed once.
	sums := map[*byte]string{}

	for _, file := range b.files {
		one, err := file.Info(ctx)
		release(file)
		if err != nil {
			return nil, err
		}
		all.Format = cmp.Or(one.Format, all.Format)
		all.Attachments += one.Attachments
		all.MetadataRecords += one.MetadataRecords
		// A file without usable times has 0 as its start and would move the start of the bag to 1970.
		if one.spanned {
			all.span(one.Start, one.End, one.Messages)
			all.startWall(one.wallStart)
			all.endUnset(one.unsetEnd)
		} else {
			all.Messages += one.Messages
		}

		for _, c := range one.Channels {
			key := channelKeyOf(c.Channel, sums)
			if i, ok := at[key]; ok {
				all.Channels[i].Messages += c.Messages
				continue
			}
			at[key] = len(all.Channels)
			all.Channels = append(all.Channels, c)
		}
	}

	all.sort()

	return all, nil
}

// release frees the buffers of a file that was read.
func release(file Source) {
	if buffered, ok := file.(interface{ release() }); ok {
		buffered.release()
	}
}

func (b *bag) Messages(ctx context.Context) iter.Seq2[*Message, error] {
	return func(yield func(*Message, error) bool) {
		var read, last uint64
		whole := true

		for _, file := range b.files {
			for m, err := range file.Messages(ctx) {
				if broken := (*BreakError)(nil); errors.As(err, &broken) {
					whole = false
					broken.File = file.Name()
				}
				if err == nil {
					read++
					last = m.LogTime
				}
				if !yield(m, err) {
					return
				}
			}
			release(file)
		}

		// A file that broke has already reported its loss.
		if whole && read < b.counted && ctx.Err() == nil {
			err := fmt.Errorf("%s counts %d messages; %d were read", metadataFile, b.counted, read)
			yield(nil, &BreakError{Offset: -1, LastLogTime: last, Lost: b.counted - read, Err: err})
		}
	}
}
