package recording

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/ncruces/go-sqlite3"
	"github.com/robotmem/robotmem-go/perception/message"
)

// A rosbag2 database has the tables topics and messages and, from 2023 on, one
// of message definitions. It is read only, never written, and no table of it may
// be anything but a table: a view could run forever.

const db3Format = "rosbag2 sqlite3"

type db3File struct {
	path     string
	db       *sqlite3.Conn
	channels map[int64]*Channel
	indexed  bool // by time
	info     *Info
}

var _ Source = (*db3File)(nil)

func openDB3(path string) (Source, error) {
	absolute, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	// A drive's letter is not the name of a host: file:///C:/run.db3.
	slashed := "/" + strings.TrimPrefix(filepath.ToSlash(absolute), "/")
	uri := url.URL{Scheme: "file", Path: slashed, RawQuery: "mode=ro&immutable=1"}
	// Messages that were written and not yet moved into the file stand in the
	// log beside it, which an immutable file has none of.
	if stat, err := os.Stat(path + "-wal"); err == nil && stat.Size() > 0 {
		uri.RawQuery = "mode=ro"
	}
	db, err := sqlite3.OpenFlags(uri.String(), sqlite3.OPEN_READONLY|sqlite3.OPEN_URI)
	if err != nil {
		return nil, fmt.Errorf("opening %s: %w", filepath.Base(path), err)
	}
	f := &db3File{path: path, db: db, channels: map[int64]*Channel{}}
	if err := f.setUp(); err != nil {
		return nil, errors.Join(fmt.Errorf("%s is no rosbag2 database: %w", filepath.Base(path), err), db.Close())
	}
	return f, nil
}

func (f *db3File) setUp() error {
	f.db.Limit(sqlite3.LIMIT_LENGTH, maxRecord)
	if err := f.db.Exec("PRAGMA trusted_schema=OFF; PRAGMA cell_size_check=ON; PRAGMA cache_size=-8192"); err != nil {
		return err
	}
	tables := map[string]bool{}
	err := f.query(context.Background(), "SELECT name, sql FROM sqlite_schema WHERE type = 'table'", func(s *sqlite3.Stmt) error {
		tables[s.ColumnText(0)] = !strings.Contains(strings.ToUpper(s.ColumnText(1)), "VIRTUAL")
		return nil
	})
	if err != nil {
		return err
	}
	if !tables["topics"] || !tables["messages"] {
		return errors.New("it has no tables topics and messages")
	}
	definitions := map[string][2]string{}
	if tables["message_definitions"] {
		err := f.query(context.Background(), "SELECT topic_type, encoding, encoded_message_definition FROM message_definitions", func(s *sqlite3.Stmt) error {
			definitions[s.ColumnText(0)] = [2]string{s.ColumnText(1), s.ColumnText(2)}
			return nil
		})
		if err != nil {
			return err
		}
	}
	qos := "''"
	err = f.query(context.Background(), "SELECT name FROM pragma_table_info('topics') WHERE name = 'offered_qos_profiles'", func(s *sqlite3.Stmt) error {
		qos = s.ColumnText(0)
		return nil
	})
	if err != nil {
		return err
	}
	err = f.query(context.Background(), "SELECT id, name, type, serialization_format, "+qos+" FROM topics", func(s *sqlite3.Stmt) error {
		f.channels[s.ColumnInt64(0)] = f.channel(s, definitions)
		return nil
	})
	if err != nil {
		return err
	}
	return f.query(context.Background(), "SELECT 1 FROM pragma_index_list('messages') AS l, pragma_index_info(l.name) AS c WHERE c.seqno = 0 AND c.name = 'timestamp'", func(*sqlite3.Stmt) error {
		f.indexed = true
		return nil
	})
}

// channel finds the definition of a topic's type in the file, else among the
// built-in ones.
func (f *db3File) channel(s *sqlite3.Stmt, definitions map[string][2]string) *Channel {
	c := &Channel{
		Topic: s.ColumnText(1), SchemaName: s.ColumnText(2), MessageEncoding: s.ColumnText(3),
		Metadata: map[string]string{"offered_qos_profiles": s.ColumnText(4)},
	}
	if d, ok := definitions[c.SchemaName]; ok && d[1] != "" {
		c.SchemaEncoding, c.SchemaData = d[0], []byte(d[1])
	} else if text, ok := message.Definition(c.SchemaName); ok {
		c.SchemaEncoding, c.SchemaData = "ros2msg", []byte(text)
	}
	return c
}

// query calls row for each row. The context interrupts it.
func (f *db3File) query(ctx context.Context, sql string, row func(*sqlite3.Stmt) error) (err error) {
	old := f.db.SetInterrupt(ctx)
	defer f.db.SetInterrupt(old)
	s, _, err := f.db.Prepare(sql)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	for s.Step() {
		if err := row(s); err != nil {
			return err
		}
	}
	return nil // Close reports what Step met
}

func (f *db3File) Name() string { return filepath.Base(f.path) }

func (f *db3File) ID(ctx context.Context) (string, error) { return hashFile(ctx, f.path) }

func (f *db3File) Close() error { return f.db.Close() }

func (f *db3File) Info(ctx context.Context) (*Info, error) {
	if f.info != nil {
		return f.info, nil
	}
	info := &Info{Format: db3Format, Profile: "ros2"}
	counts := map[int64]uint64{}
	err := f.query(ctx, "SELECT topic_id, count(*), min(timestamp), max(timestamp) FROM messages GROUP BY topic_id", func(s *sqlite3.Stmt) error {
		n, from, to := uint64(s.ColumnInt64(1)), uint64(s.ColumnInt64(2)), uint64(s.ColumnInt64(3))
		counts[s.ColumnInt64(0)] = n
		if info.Messages == 0 || from < info.Start {
			info.Start = from
		}
		info.Messages += n
		info.End = max(info.End, to)
		return nil
	})
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		// A damaged file is told by Messages, which delivers what comes before.
		info.Messages = 0
	}
	for id, c := range f.channels {
		info.Channels = append(info.Channels, ChannelInfo{Channel: c, Messages: counts[id]})
	}
	sortChannels(info.Channels)
	f.info = info
	return info, nil
}

func (f *db3File) Messages(ctx context.Context) iter.Seq2[*Message, error] {
	return func(yield func(*Message, error) bool) {
		order := "id"
		if f.indexed {
			order = "timestamp, id"
		}
		var last uint64
		var lost int
		stopped := errors.New("stopped")
		err := f.query(ctx, "SELECT topic_id, timestamp, data FROM messages ORDER BY "+order, func(s *sqlite3.Stmt) error {
			c, ok := f.channels[s.ColumnInt64(0)]
			if !ok {
				lost++
				return nil
			}
			last = uint64(s.ColumnInt64(1))
			if !yield(&Message{Channel: c, LogTime: last, PublishTime: last, Data: s.ColumnRawBlob(2)}, nil) {
				return stopped
			}
			return nil
		})
		switch {
		case errors.Is(err, stopped):
		case ctx.Err() != nil:
			yield(nil, ctx.Err())
		case err != nil:
			yield(nil, &BreakError{Offset: -1, LastLogTime: last, Err: err})
		case lost > 0:
			yield(nil, &BreakError{Offset: -1, LastLogTime: last, Err: fmt.Errorf("%d messages belong to no topic", lost)})
		}
	}
}
