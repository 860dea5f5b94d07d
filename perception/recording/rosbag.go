package recording

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"iter"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/ncruces/go-sqlite3"

	"github.com/robotmem/robotmem-go/perception/importing"
	"github.com/robotmem/robotmem-go/perception/message"
	"github.com/robotmem/robotmem-go/perception/segment"
)

const (
	// maxMetadataFile bounds a metadata.yaml in bytes: one of a thousand topics takes less
	// than a megabyte.
	maxMetadataFile = 8 << 20
	maxFiles        = 4096
	maxChannels     = 1 << 16 // as in MCAP
)

// bag is a rosbag2 recording of several files, one after the other.
type bag struct {
	name  string
	files []Source
}

var _ Source = (*bag)(nil)

// bagFile is what is read of a metadata.yaml.
type bagFile struct {
	Info struct {
		Files []string `yaml:"relative_file_paths"`
	} `yaml:"rosbag2_bagfile_information"`
}

func openBag(ctx context.Context, path string) (_ Source, err error) {
	const metadata = "metadata.yaml"
	name := filepath.Base(path)
	// The root also refuses a link within the folder that leads out of it.
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	var file bagFile
	text, err := importing.ReadFile(root, metadata, maxMetadataFile)
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("%s has no %s and %w", name, metadata, ErrFormat)
	}
	if err == nil {
		err = yaml.Unmarshal(text, &file)
	}
	if err != nil {
		return nil, fmt.Errorf("%s of %s: %w", metadata, name, err)
	}
	if n := len(file.Info.Files); n == 0 || n > maxFiles {
		return nil, fmt.Errorf("%s of %s names %d files; 1 to %d are read", metadata, name, n, maxFiles)
	}
	all := &bag{name: name}
	defer func() {
		if err != nil {
			err = errors.Join(err, all.Close())
		}
	}()
	for _, file := range file.Info.Files {
		if _, err := root.Stat(file); err != nil {
			return nil, fmt.Errorf("%s of %s names %q: %w", metadata, name, file, err)
		}
		src, err := openFile(ctx, filepath.Join(path, file))
		if err != nil {
			return nil, err
		}
		all.files = append(all.files, src)
	}
	return all, nil
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

// Info is that of all files. A channel that several of them have is listed once.
func (b *bag) Info(ctx context.Context) (*Info, error) {
	all := &Info{}
	at := map[string]int{}
	for _, file := range b.files {
		one, err := file.Info(ctx)
		if err != nil {
			return nil, err
		}
		all.Format = one.Format
		if one.spanned {
			all.span(one.Start, one.End, one.Messages)
		} else {
			all.Messages += one.Messages
		}
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
	all.sort()
	return all, nil
}

func (b *bag) Messages(ctx context.Context) iter.Seq2[*Message, error] {
	return func(yield func(*Message, error) bool) {
		for _, file := range b.files {
			for m, err := range file.Messages(ctx) {
				if !yield(m, err) {
					return
				}
			}
		}
	}
}

// db3File is a rosbag2 database. It has the tables topics and messages and, since 2023, one of
// message definitions. It is never written.
type db3File struct {
	path     string
	db       *sqlite3.Conn
	channels map[int64]*Channel
	maxRows  int64 // that the file can hold
	unpacker unpacker
}

var _ Source = (*db3File)(nil)

func openDB3(ctx context.Context, path string) (Source, error) {
	absolute, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	// The letter of a drive is not the name of a host: file:///C:/run.db3.
	slashed := "/" + strings.TrimPrefix(filepath.ToSlash(absolute), "/")
	uri := url.URL{Scheme: "file", Path: slashed, RawQuery: "mode=ro&immutable=1"}
	// SQLite ignores the write-ahead log of an immutable file, but it may hold messages.
	if stat, err := os.Stat(path + "-wal"); err == nil && stat.Size() > 0 {
		uri.RawQuery = "mode=ro"
	}
	db, err := sqlite3.OpenFlags(uri.String(), sqlite3.OPEN_READONLY|sqlite3.OPEN_URI)
	if err != nil {
		return nil, fmt.Errorf("opening %s: %w", filepath.Base(path), err)
	}
	f := &db3File{path: path, db: db, channels: map[int64]*Channel{}}
	for _, part := range []string{path, path + "-wal"} {
		if stat, err := os.Stat(part); err == nil {
			f.maxRows += importing.MaxSQLiteRows(stat.Size())
		}
	}
	if err := f.readSchema(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("%s is not a rosbag2 database: %w", filepath.Base(path), err), db.Close())
	}
	return f, nil
}

func (f *db3File) readSchema(ctx context.Context) error {
	err := importing.GuardSQLite(ctx, f.db, "topics", "messages", "message_definitions")
	if err == nil {
		err = f.db.Exec("PRAGMA cache_size=-8192")
	}
	query := func(sql string, row func(*sqlite3.Stmt)) {
		if err == nil {
			err = f.query(ctx, sql, func(s *sqlite3.Stmt) bool { row(s); return true })
		}
	}
	limit := strconv.Itoa(maxChannels)
	tables := map[string]bool{}
	query("SELECT name FROM sqlite_schema WHERE type = 'table'", func(s *sqlite3.Stmt) { tables[s.ColumnText(0)] = true })
	if err == nil && (!tables["topics"] || !tables["messages"]) {
		return errors.New("it has no tables topics and messages")
	}
	definitions := map[string][2]string{} // encoding and text by type
	if tables["message_definitions"] {
		query("SELECT topic_type, encoding, encoded_message_definition FROM message_definitions LIMIT "+limit, func(s *sqlite3.Stmt) {
			definitions[s.ColumnText(0)] = [2]string{s.ColumnText(1), s.ColumnText(2)}
		})
	}
	qos := "''"
	query("SELECT name FROM pragma_table_info('topics') WHERE name = 'offered_qos_profiles'", func(s *sqlite3.Stmt) {
		qos = s.ColumnText(0)
	})
	query("SELECT id, name, type, serialization_format, "+qos+" FROM topics LIMIT "+limit, func(s *sqlite3.Stmt) {
		c := builtIn(s.ColumnText(1), s.ColumnText(2), s.ColumnText(3))
		c.Metadata = map[string]string{"offered_qos_profiles": s.ColumnText(4)}
		if d := definitions[c.SchemaName]; d[1] != "" {
			c.SchemaEncoding, c.SchemaData = d[0], []byte(d[1])
		}
		f.channels[s.ColumnInt64(0)] = c
	})
	return err
}

func builtIn(topic, schema, encoding string) *Channel {
	c := &Channel{Topic: topic, SchemaName: schema, MessageEncoding: encoding}
	if text, ok := message.Definition(schema); ok {
		c.SchemaEncoding, c.SchemaData = "ros2msg", []byte(text)
	}
	return c
}

// query calls row for each row until it returns false. The context interrupts it.
func (f *db3File) query(ctx context.Context, sql string, row func(*sqlite3.Stmt) bool) error {
	old := f.db.SetInterrupt(ctx)
	defer f.db.SetInterrupt(old)
	s, _, err := f.db.Prepare(sql)
	if err != nil {
		return err
	}
	for s.Step() && row(s) {
	}
	return s.Close() // the error of Step
}

func (f *db3File) Name() string { return filepath.Base(f.path) }

func (f *db3File) ID(ctx context.Context) (string, error) {
	file, err := os.Open(f.path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	return hashReader(ctx, file)
}

func (f *db3File) Close() error {
	f.unpacker.close()
	return f.db.Close()
}

// countMessages counts the messages of each topic, and those after 1970 with their span. The last times
// of 64 bits are too late to be stored.
const countMessages = `SELECT topic_id, count(*), count(t), min(t), max(t) FROM (SELECT topic_id,
	CASE WHEN timestamp BETWEEN 0 AND 9200000000000000000 THEN timestamp END AS t FROM messages NOT INDEXED LIMIT `

func (f *db3File) Info(ctx context.Context) (*Info, error) {
	info := &Info{Format: formatDB3}
	counts := map[int64]uint64{}
	err := f.query(ctx, countMessages+strconv.FormatInt(f.maxRows, 10)+") GROUP BY topic_id", func(s *sqlite3.Stmt) bool {
		all, timed := uint64(s.ColumnInt64(1)), uint64(s.ColumnInt64(2))
		counts[s.ColumnInt64(0)] = all
		if timed > 0 {
			info.span(uint64(s.ColumnInt64(3)), uint64(s.ColumnInt64(4)), timed)
		}
		info.Messages += all - timed
		return true
	})
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		// Messages reports a damaged file, after the messages before the damage.
		info.Messages = 0
	}
	for id, c := range f.channels {
		info.Channels = append(info.Channels, ChannelInfo{Channel: c, Messages: counts[id]})
	}
	info.sort()
	return info, nil
}

func (f *db3File) Messages(ctx context.Context) iter.Seq2[*Message, error] {
	return func(yield func(*Message, error) bool) {
		var last uint64
		rows, lost, stopped := int64(0), 0, false
		// The order of another column could ask for sorting.
		err := f.query(ctx, "SELECT topic_id, timestamp, data FROM messages ORDER BY rowid", func(s *sqlite3.Stmt) bool {
			if rows++; rows > f.maxRows {
				return false
			}
			c, ok := f.channels[s.ColumnInt64(0)]
			if !ok {
				lost++
				return true
			}
			last = uint64(s.ColumnInt64(1))
			stopped = !yield(&Message{c, segment.Message{LogTime: last, PublishTime: last, Data: f.unpacker.unpack(c, s.ColumnRawBlob(2))}}, nil)
			return !stopped
		})
		switch {
		case stopped:
			return
		case ctx.Err() != nil:
			yield(nil, ctx.Err())
			return
		case rows > f.maxRows:
			err = fmt.Errorf("there are more messages than a file of its size can hold; its pages are damaged")
		case err == nil && lost > 0:
			err = fmt.Errorf("%d messages belong to no topic", lost)
		}
		if err != nil {
			yield(nil, &BreakError{Offset: -1, LastLogTime: last, Err: err})
		}
	}
}
