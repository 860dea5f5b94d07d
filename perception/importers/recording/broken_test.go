package recording_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ncruces/go-sqlite3"
	"github.com/robotmem/robotmem-go/perception/importers"
	"github.com/robotmem/robotmem-go/perception/importers/importerstest"
	"github.com/robotmem/robotmem-go/perception/importers/recording"
)

func write(t testing.TB, name string, data []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func syntheticBytes(t testing.TB, size int64) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := writeSynthetic(&b, size, 1); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// A file that is cut anywhere gives the messages before, and where it was cut.
func TestCutMCAP(t *testing.T) {
	whole := syntheticBytes(t, 12<<20)
	all, broken := read(t, open(t, write(t, "whole.mcap", whole)))
	if broken != nil {
		t.Fatal(broken)
	}
	for _, part := range []float64{0.2, 0.5, 0.9, 0.999} {
		cut := whole[:int(float64(len(whole))*part)]
		src := open(t, write(t, "cut.mcap", cut))
		got, broken := read(t, src)
		var at *recording.BreakError
		if len(broken) != 1 || !errors.As(broken[0], &at) {
			t.Errorf("cut at %d: got errors %v", len(cut), broken)
			continue
		}
		if at.Offset <= 0 || at.Offset > int64(len(cut)) || !strings.Contains(at.Error(), "breaks at byte ") {
			t.Errorf("cut at %d: got %v", len(cut), at)
		}
		if part >= 0.5 && (len(got) == 0 || at.LastLogTime != got[len(got)-1].LogTime) {
			t.Errorf("cut at %d: got %d messages and last time %d", len(cut), len(got), at.LastLogTime)
		}
		if len(got) > len(all) {
			t.Errorf("cut at %d: got %d of %d messages", len(cut), len(got), len(all))
		}
		for i := range got {
			if got[i].Topic != all[i].Topic || got[i].Data != all[i].Data {
				t.Fatalf("cut at %d: message %d differs", len(cut), i)
			}
		}
		s := newStore()
		report := importAll(t, src, recording.Options{}, s)
		if int(report.Messages) != len(got) || report.Broken == "" || s.ended != 1 {
			t.Errorf("cut at %d: imported %d of %d, broken %q", len(cut), report.Messages, len(got), report.Broken)
		}
	}
}

// Damage within one chunk costs that chunk.
func TestDamagedChunk(t *testing.T) {
	whole := syntheticBytes(t, 16<<20)
	all, _ := read(t, open(t, write(t, "whole.mcap", whole)))
	bad := bytes.Clone(whole)
	bad[6<<20] ^= 0xff
	got, broken := read(t, open(t, write(t, "bad.mcap", bad)))
	if len(broken) == 0 || !strings.Contains(broken[0].Error(), "checksum") {
		t.Fatalf("got errors %v", broken)
	}
	if len(got) < len(all)/2 || len(got) >= len(all) {
		t.Errorf("got %d of %d messages", len(got), len(all))
	}
}

func mcapRecord(op byte, length uint64, body string) string {
	return string(binary.LittleEndian.AppendUint64([]byte{op}, length)) + body
}

const magic = "\x89MCAP0\r\n"

// hostile are files whose lengths lie.
func hostile() map[string]string {
	u32 := func(v uint32) string { return string(binary.LittleEndian.AppendUint32(nil, v)) }
	u64 := func(v uint64) string { return string(binary.LittleEndian.AppendUint64(nil, v)) }
	header := mcapRecord(1, 8, u32(0)+u32(0))
	chunk := func(size uint64, compression string, records string, length uint64) string {
		body := u64(0) + u64(1) + u64(size) + u32(0) + u32(uint32(len(compression))) + compression + u64(length) + records
		return mcapRecord(6, uint64(len(body)), body)
	}
	statistics := u64(0) + "\x00\x00" + u32(0) + u32(0) + u32(0) + u32(1) + u64(0) + u64(0) + u32(0)
	index := u64(0) + u64(1) + u64(1<<40) + u64(1<<40) + u32(0) + u64(0) + u32(0) + u64(1) + u64(1)
	return map[string]string{
		"record":             magic + header + mcapRecord(5, 1<<62, "x"),
		"negative":           magic + header + mcapRecord(5, 1<<64-1, "x"),
		"nothing":            magic,
		"chunk claims much":  magic + header + chunk(1<<40, "zstd", "x", 1),
		"chunk claims more":  magic + header + chunk(200<<20, "lz4", "x", 1),
		"chunk not zstd":     magic + header + chunk(10, "zstd", "0123456789", 10),
		"chunk records":      magic + header + chunk(10, "", "x", 1<<50),
		"compression length": magic + header + mcapRecord(6, 40, u64(0)+u64(0)+u64(0)+u32(0)+u32(1<<31)+u64(0)),
		"inner record":       magic + header + chunk(9, "", mcapRecord(5, 1<<60, ""), 9),
		"unknown channel":    magic + header + mcapRecord(5, 22, strings.Repeat("\x00", 22)),
		"unknown schema":     magic + header + mcapRecord(4, 16, "\x01\x00\x09\x00"+strings.Repeat("\x00", 12)),
		"index elsewhere":    magic + header + mcapRecord(8, uint64(len(index)), index) + mcapRecord(11, uint64(len(statistics)), statistics) + mcapRecord(2, 20, u64(25)+u64(0)+u32(0)) + magic,
		"summary elsewhere":  magic + header + mcapRecord(2, 20, u64(1<<63)+u64(0)+u32(0)) + magic,
	}
}

func TestHostileMCAP(t *testing.T) {
	for name, text := range hostile() {
		t.Run(name, func(t *testing.T) {
			src := open(t, write(t, "x.mcap", []byte(text)))
			rows, broken := read(t, src)
			// Without an index that can be used the file is read to its footer.
			if whole := strings.Contains(name, "elsewhere"); len(rows) != 0 || whole != (len(broken) == 0) {
				t.Errorf("got %d messages, errors %v", len(rows), broken)
			}
			if name == "record" && !strings.Contains(broken[0].Error(), "where 1 are left") {
				t.Errorf("got %v", broken[0])
			}
			for _, err := range broken {
				if at := (*recording.BreakError)(nil); !errors.As(err, &at) {
					t.Errorf("got %T: %v", err, err)
				}
			}
		})
	}
}

func TestOpenErrors(t *testing.T) {
	for name, test := range map[string]struct{ data, want string }{
		"empty.mcap": {"", "empty.mcap is empty"},
		"photo.mcap": {"\x89PNG\r\n\x1a\n", "is not a recording"},
		"old.bag":    {"#ROSBAG V1.2\n", "rosbag fix"},
		"x.db3":      {"SQLite format 3\x00" + strings.Repeat("\x00", 4080), "x.db3"},
		"x.zstd":     {"\x28\xb5\x2f\xfdgarbage", "zstd -d x.zstd"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := recording.Open(t.Context(), write(t, name, []byte(test.data)))
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
}

func TestFolderErrors(t *testing.T) {
	const head = "rosbag2_bagfile_information:\n"
	outside := write(t, "outside.mcap", syntheticBytes(t, 1<<10))
	for name, test := range map[string]struct{ metadata, want string }{
		"none":      {"", "link.mcap: path escapes"},
		"no yaml":   {"\t:", "metadata.yaml of"},
		"no files":  {head + "  version: 4\n", "names 0 files"},
		"elsewhere": {head + "  relative_file_paths: [../../etc/passwd]\n", "path escapes from parent"},
		"linked":    {head + "  relative_file_paths: [link.mcap]\n", "escapes"},
		"missing":   {head + "  relative_file_paths: [a.db3]\n", "a.db3"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.Symlink(outside, filepath.Join(dir, "link.mcap")); err != nil {
				t.Fatal(err)
			}
			if test.metadata != "" {
				if err := os.WriteFile(filepath.Join(dir, "metadata.yaml"), []byte(test.metadata), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := recording.Open(t.Context(), dir); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
}

// A database that is cut gives what is whole of it.
func TestCutDB3(t *testing.T) {
	data, err := os.ReadFile(filepath.Join(rosbag2(t), "wbag_0.db3"))
	if err != nil {
		t.Fatal(err)
	}
	src, err := recording.Open(t.Context(), write(t, "cut.db3", data[:len(data)/2]))
	if err != nil {
		return // its schema may already be out of reach
	}
	defer src.Close()
	rows, broken := read(t, src)
	if len(broken) == 0 || len(rows) >= 1246 {
		t.Errorf("got %d messages, errors %v", len(rows), broken)
	}
}

// A database whose schema computes its rows is refused, and one whose pages form a circle ends.
func TestDB3ThatNeverEnds(t *testing.T) {
	const topics = "CREATE TABLE topics(id INTEGER PRIMARY KEY, name TEXT, type TEXT, serialization_format TEXT); INSERT INTO topics VALUES (1, '/a', 'std_msgs/msg/String', 'cdr');"
	const messages = "CREATE TABLE messages(id INTEGER PRIMARY KEY, topic_id INTEGER, timestamp INTEGER, data BLOB); INSERT INTO messages VALUES (1, 1, 1, x'00'), (5, 1, 2, x'00');"
	const endless = "WITH RECURSIVE n(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n) SELECT id, 1 AS topic_id, id AS timestamp, x'00' AS data, '' AS name, '' AS type, '' AS serialization_format FROM n;"
	for name, test := range map[string]struct{ sql, table, want string }{
		"a view of messages": {sql: topics + "CREATE VIEW messages AS " + endless, want: "messages is a view"},
		"a view of topics":   {sql: messages + "CREATE VIEW topics AS " + endless, want: "topics is a view"},
		"a computed column":  {sql: topics + "CREATE TABLE messages(id INTEGER PRIMARY KEY, topic_id INTEGER, timestamp INTEGER, data AS (zeroblob(90000000)))", want: "messages is a table with computed columns"},
		"a circle of pages":  {sql: topics + messages, table: "messages", want: "more messages than a file of its size"},
		"a circle of topics": {sql: topics + messages, table: "topics", want: "the database is damaged"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "x.db3")
			db, err := sqlite3.Open(path)
			if err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(db.Exec(test.sql), db.Close()); err != nil {
				t.Fatal(err)
			}
			if test.table != "" {
				importerstest.EndlessTable(t, path, test.table)
			}
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second) // a guard against a hang
			defer cancel()
			src, err := recording.Open(ctx, path)
			if err == nil {
				defer src.Close()
				var report *recording.Report
				report, err = recording.Import(ctx, src, recording.Options{}, newStore(), nil)
				if err == nil && report.Broken != "" {
					err = errors.New(report.Broken)
				}
			}
			if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
}

func drain(t *testing.T, path string) {
	src, err := recording.Open(t.Context(), path)
	if err != nil {
		return
	}
	defer src.Close()
	if _, err := src.Info(t.Context()); err != nil {
		t.Fatalf("info: %v", err)
	}
	if _, err := recording.Import(t.Context(), src, recording.Options{}, newStore(), nil); err != nil {
		t.Fatalf("import: %v", err)
	}
}

func FuzzOpenMCAP(f *testing.F) {
	for _, text := range hostile() {
		f.Add([]byte(text))
	}
	f.Add(smallMCAP(f))
	f.Fuzz(func(t *testing.T, data []byte) {
		drain(t, write(t, "x", append([]byte(magic), bytes.TrimPrefix(data, []byte(magic))...)))
	})
}

// smallMCAP is an indexed file of a few messages.
func smallMCAP(t testing.TB) []byte {
	t.Helper()
	var b bytes.Buffer
	items := func(yield func(recording.Exported, error) bool) {
		yield(recording.Exported{Fact: true, Perception: importers.Perception{Description: "a fact"}}, nil)
	}
	if _, err := recording.Export(t.Context(), &b, items); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func FuzzDB3(f *testing.F) {
	for _, name := range []string{"cdr_test_0.db3", "test_bag_for_seek_0.db3"} {
		data, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "shared", "data", "rosbag2", name))
		if err == nil {
			f.Add(data)
		}
	}
	f.Add([]byte("SQLite format 3\x00"))
	f.Fuzz(func(t *testing.T, data []byte) {
		drain(t, write(t, "x", data))
	})
}
