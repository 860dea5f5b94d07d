package recording

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/ncruces/go-sqlite3"
	"github.com/ncruces/go-sqlite3/util/ioutil"
	"github.com/ncruces/go-sqlite3/vfs/readervfs"

	"github.com/robotmem/robotmem-go/perception/importers"
	"github.com/robotmem/robotmem-go/perception/importers/message"
	"github.com/robotmem/robotmem-go/perception/segment"
)

// maxChannels bounds the topics of a database, as in MCAP.
const maxChannels = 1 << 16

// db3File is a rosbag2 database. It has the tables topics and messages and, since 2023, one of
// message definitions. It is never written.
type db3File struct {
	name     string
	file     *os.File
	size     int64
	drop     func() error // closes the file
	reader   string       // the name of the file among those that SQLite reads through this program, or ""
	db       *sqlite3.Conn
	channels map[int64]*Channel
	maxRows  int64 // that the file can hold
	unpacker unpacker
}

var _ Source = (*db3File)(nil)

// readers numbers the files that SQLite reads through this program.
var readers atomic.Int64

// openDB3 opens a database whose file is open. SQLite reads through that file, so that the same file is read even
// if its name is replaced meanwhile. A write-ahead log may hold messages. If there is one, SQLite opens the database
// and its log by their names. The path is "" if the file has no name.
func openDB3(
	ctx context.Context, name, path string, file *os.File, size int64, budget *segment.Budget, drop func() error,
) (_ Source, err error) {
	f := &db3File{
		name: name, file: file, size: size, drop: drop, channels: map[int64]*Channel{},
		maxRows: importers.MaxSQLiteRows(size),
	}
	uri := url.URL{Scheme: "file"}
	if log, err := os.Stat(path + "-wal"); path != "" && err == nil && log.Size() > 0 {
		if err := importers.CheckSQLite(path); err != nil {
			return nil, err
		}
		absolute, err := filepath.Abs(path)
		if err != nil {
			return nil, err
		}
		// The letter of a drive is not the name of a host: file:///C:/run.db3.
		uri.Path, uri.RawQuery = "/"+strings.TrimPrefix(filepath.ToSlash(absolute), "/"), "mode=ro"
		f.maxRows += importers.MaxSQLiteRows(log.Size())
	} else {
		// Without a log the file is complete, so SQLite needs no locks and may treat it as immutable.
		f.reader = "recording-" + strconv.FormatInt(readers.Add(1), 10)
		readervfs.Create(f.reader, ioutil.NewSizeReaderAt(file))
		uri.Opaque, uri.RawQuery = f.reader, "vfs=reader&mode=ro&immutable=1"
	}

	if f.db, err = sqlite3.OpenFlags(uri.String(), sqlite3.OPEN_READONLY|sqlite3.OPEN_URI); err != nil {
		return nil, errors.Join(fmt.Errorf("opening %s: %w", name, err), f.forget())
	}
	if err := f.readSchema(ctx, budget); err != nil {
		return nil, errors.Join(fmt.Errorf("%s is not a rosbag2 database: %w", name, err), f.db.Close(), f.forget())
	}

	return f, nil
}

// forget ends the reading through this program. The file stays open.
func (f *db3File) forget() error {
	if f.reader != "" {
		readervfs.Delete(f.reader)
	}
	return nil
}

func (f *db3File) readSchema(ctx context.Context, budget *segment.Budget) error {
	err := importers.GuardSQLite(ctx, f.db, "topics", "messages", "message_definitions")
	if err == nil {
		// 8 MiB: each file of a bag has its own connection.
		err = f.db.Exec("PRAGMA cache_size=-8192")
	}

	query := func(sql string, row func(*sqlite3.Stmt)) {
		if err == nil {
			err = f.query(ctx, sql, func(s *sqlite3.Stmt) bool { row(s); return true })
		}
	}
	limit := strconv.Itoa(maxChannels)
	tables := map[string]bool{}
	query("SELECT name FROM sqlite_schema WHERE type = 'table'",
		func(s *sqlite3.Stmt) { tables[s.ColumnText(0)] = true })
	if err == nil && (!tables["topics"] || !tables["messages"]) {
		return errors.New("it has no tables topics and messages")
	}

	definitions := &definitions{budget: budget, found: map[string]definition{}}
	if tables["message_definitions"] {
		// The length is asked first, since a row that is read takes its memory.
		query("SELECT topic_type, encoding, length(CAST(encoded_message_definition AS BLOB)), rowid FROM message_definitions LIMIT "+
			limit, func(s *sqlite3.Stmt) {
			definitions.list(s.ColumnText(0), s.ColumnText(1), s.ColumnInt64(2), s.ColumnInt64(3))
		})
	}

	// Databases of older releases of rosbag2 lack this column, and SQLite refuses a statement that names it.
	qos, tooMuch := "''", error(nil)
	query("SELECT name FROM pragma_table_info('topics') WHERE name = 'offered_qos_profiles'", func(s *sqlite3.Stmt) {
		qos = s.ColumnText(0)
	})
	query("SELECT id, name, type, serialization_format, "+qos+" FROM topics LIMIT "+limit, func(s *sqlite3.Stmt) {
		// Charge the texts to the budget before they are copied: damaged rows may hold gigabytes.
		length := 0
		for column := 1; column <= 4; column++ {
			length += len(s.ColumnRawText(column))
		}
		if spent := budget.Take(length); spent != nil {
			tooMuch = spent
			return
		}
		f.channels[s.ColumnInt64(0)] = &Channel{
			Topic: s.ColumnText(1), SchemaName: s.ColumnText(2), MessageEncoding: s.ColumnText(3),
			Metadata: map[string]string{"offered_qos_profiles": s.ColumnText(4)},
		}
	})

	err = cmp.Or(err, tooMuch)
	for _, c := range f.channels {
		if err == nil {
			c.SchemaEncoding, c.SchemaData, err = definitions.of(ctx, f, c.SchemaName)
		}
	}

	return err
}

// definition is the definition of a type. Its text is read when a topic has the type.
type definition struct {
	encoding      string
	length, row   int64
	text          []byte
	read, refused bool
}

// definitions holds the definitions of the types of a database. Topics of one type share the text.
type definitions struct {
	budget *segment.Budget
	found  map[string]definition
}

func (d *definitions) list(name, encoding string, length, row int64) {
	if _, known := d.found[name]; !known && length > 0 {
		d.found[name] = definition{encoding: encoding, length: length, row: row}
	}
}

// of returns the definition that the file has for a type, or else the built-in one. One that is over
// the budget is left out. The events of a service are defined by the service.
func (d *definitions) of(ctx context.Context, f *db3File, name string) (encoding string, text []byte, err error) {
	stored := name
	if _, ok := d.found[stored]; !ok {
		if service, ok := message.EventOf(name); ok {
			stored = service
		}
	}

	one, ok := d.found[stored]
	switch {
	case !ok:
		// Nothing is left to read, also if the type is not built in. Another topic may have the type.
		one.read = true
		if text, known := message.Definition(name); known {
			one.encoding, one.text = "ros2msg", []byte(text)
		}
	// The refusal is remembered, since the topics of one type ask for the same definition.
	case !one.read && d.budget.Take(int(one.length)) != nil:
		one = definition{encoding: one.encoding, read: true, refused: true}
	case !one.read:
		one.read = true
		err = f.query(ctx, "SELECT encoded_message_definition FROM message_definitions WHERE rowid = "+
			strconv.FormatInt(one.row, 10), func(s *sqlite3.Stmt) bool {
			one.text = s.ColumnBlob(0, nil)
			return true
		})
	}

	d.found[stored] = one
	if one.refused {
		return segment.LeftOut, nil, err
	}

	return one.encoding, one.text, err
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

func (f *db3File) Name() string { return f.name }

func (f *db3File) ID(ctx context.Context) (string, error) {
	return hashReader(ctx, io.NewSectionReader(f.file, 0, f.size))
}

func (f *db3File) Close() error {
	f.unpacker.close()
	return errors.Join(f.db.Close(), f.forget(), f.drop())
}

// countMessages counts the messages of each topic, and those after 1970 with their span. The last times
// of 64 bits are too late to be stored.
const countMessages = `SELECT topic_id, count(*), count(t), min(t), max(t), min(CASE WHEN t >= 946684800000000000 THEN t END),
	max(CASE WHEN t < 946684800000000000 THEN t END) FROM (SELECT topic_id,
	CASE WHEN timestamp BETWEEN 0 AND 9200000000000000000 THEN timestamp END AS t FROM messages NOT INDEXED LIMIT `

func (f *db3File) Info(ctx context.Context) (*Info, error) {
	info := &Info{Format: formatDB3}
	counts := map[int64]uint64{}
	err := f.query(ctx, countMessages+strconv.FormatInt(f.maxRows, 10)+") GROUP BY topic_id", func(s *sqlite3.Stmt) bool {
		all, timed := uint64(s.ColumnInt64(1)), uint64(s.ColumnInt64(2))
		counts[s.ColumnInt64(0)] = all
		if timed > 0 {
			info.span(uint64(s.ColumnInt64(3)), uint64(s.ColumnInt64(4)), timed)
			info.startWall(uint64(s.ColumnInt64(5))) // 0 without
			info.endUnset(uint64(s.ColumnInt64(6)))  // 0 without
		}
		// Messages whose time cannot be stored count, but they do not extend the span.
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
		rows, lost, stopped := int64(0), uint64(0), false
		// The order of another column could ask for sorting.
		err := f.query(ctx, "SELECT topic_id, timestamp, data FROM messages ORDER BY rowid", func(s *sqlite3.Stmt) bool {
			// Damaged pages that refer to one another would yield rows without end.
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
			err = errors.New("messages belong to no topic")
		case err == nil:
			// A page may be damaged so that it only has fewer messages.
			if err = f.check(ctx); ctx.Err() != nil {
				yield(nil, ctx.Err())
				return
			}
		}

		if err != nil {
			yield(nil, &BreakError{Offset: -1, LastLogTime: last, Lost: lost, Err: err})
		}
	}
}

// check looks for damaged pages.
func (f *db3File) check(ctx context.Context) error {
	said := ""
	err := f.query(ctx, "PRAGMA quick_check(1)", func(s *sqlite3.Stmt) bool {
		said = s.ColumnText(0)
		return false
	})
	if err == nil && said != "ok" {
		err = fmt.Errorf("the database is damaged: %s", strings.Join(strings.Fields(said), " "))
	}

	return err
}
