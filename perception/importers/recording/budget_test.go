package recording_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/foxglove/mcap/go/mcap"
	"github.com/ncruces/go-sqlite3"

	"github.com/robotmem/robotmem-go/perception/importers/recording"
	"github.com/robotmem/robotmem-go/perception/segment"
)

// largeDefinitions is a small file of n chunks, each with a channel of its own, whose definition or
// metadata is large, and one message.
func largeDefinitions(t testing.TB, n, size int, inMetadata bool) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := mcap.NewWriter(&b, &mcap.WriterOptions{Chunked: true, ChunkSize: 1, Compression: mcap.CompressionZSTD, IncludeCRC: true, OverrideLibrary: true, SkipRepeatedSchemas: true, SkipRepeatedChannelInfos: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.WriteHeader(&mcap.Header{Profile: "ros2", Library: segment.Library}); err != nil {
		t.Fatal(err)
	}
	for i := range uint16(n) {
		c := vec()
		c.Topic, c.SchemaName = fmt.Sprint("/t", i), fmt.Sprint("own/msg/T", i)
		if inMetadata {
			c.Metadata = map[string]string{}
			for k := range size / 20 {
				c.Metadata[fmt.Sprintf("%07d", k)] = "12345"
			}
		} else {
			c.SchemaData = append(c.SchemaData, bytes.Repeat([]byte("\n"), size)...)
		}
		if err := c.Write(w, i+1, i+1); err != nil {
			t.Fatal(err)
		}
		at := 1_700_000_000e9 + uint64(i)*1e7
		if err := w.WriteMessage(&mcap.Message{ChannelID: i + 1, LogTime: at, PublishTime: at, Data: vecMessage(1)}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// The definitions of a recording have one budget, however many records they come in. A message whose
// definition is over it is kept as bytes.
func TestDefinitionsHaveOneBudget(t *testing.T) {
	const mib = 1 << 20
	schema, meta := largeDefinitions(t, 12, 12*mib, false), largeDefinitions(t, 12, 1*mib, true)
	database := filepath.Join(t.TempDir(), "x.db3")
	db, err := sqlite3.Open(database)
	if err != nil {
		t.Fatal(err)
	}
	err = db.Exec(`CREATE TABLE topics(id INTEGER PRIMARY KEY, name TEXT, type TEXT, serialization_format TEXT, offered_qos_profiles TEXT);
		CREATE TABLE message_definitions(id INTEGER PRIMARY KEY, topic_type TEXT, encoding TEXT, encoded_message_definition TEXT);
		CREATE TABLE messages(id INTEGER PRIMARY KEY, topic_id INTEGER, timestamp INTEGER, data BLOB);
		INSERT INTO message_definitions VALUES (1, 'own/msg/Vec', 'ros2msg', 'float64 x' || printf('%.*c', 10485760, ' '));
		WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200) INSERT INTO topics SELECT i, '/t' || i, 'own/msg/Vec', 'cdr', '' FROM n;
		INSERT INTO messages SELECT id, id, 1700000000000000000 + id, x'00010000' || x'000000000000f03f' FROM topics;`)
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}

	for name, test := range map[string]struct {
		path     string
		messages uint64
		lost     bool
	}{
		"schemas":                 {write(t, "schemas.mcap", schema), 12, false},
		"metadata":                {write(t, "metadata.mcap", meta), 12, true},
		"a type of many topics":   {database, 200, false},
		"schemas of split files":  {folder(t, map[string][]byte{"a_0.mcap": schema, "a_1.mcap": schema, "a_2.mcap": schema}), 36, false},
		"metadata of split files": {folder(t, map[string][]byte{"a_0.mcap": meta, "a_1.mcap": meta}), 24, true},
	} {
		t.Run(name, func(t *testing.T) {
			src := open(t, test.path)
			s := newStore()
			runtime.GC()
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			report := importAll(t, src, recording.Options{}, s)
			runtime.ReadMemStats(&after)
			if got := (after.TotalAlloc - before.TotalAlloc) / mib; got > 250 {
				t.Errorf("the import allocates %d MiB", got)
			}
			if report.Messages+report.Lost != test.messages || test.lost != (report.Lost > 0) || !test.lost && report.Undecoded == 0 {
				t.Errorf("of %d messages %d are read, %d not decoded, %d lost: %s", test.messages, report.Messages, report.Undecoded, report.Lost, report.Broken)
			}
			stored := 0
			for _, p := range s.saved {
				stored += len(p.Data)
			}
			if stored > 64*mib {
				t.Errorf("%d MiB are stored", stored/mib)
			}
		})
	}
}

// What is lost with a damaged chunk is counted by its index.
func TestLostMessagesAreCounted(t *testing.T) {
	var b bytes.Buffer
	w, err := mcap.NewWriter(&b, &mcap.WriterOptions{Chunked: true, ChunkSize: 1000, IncludeCRC: true, OverrideLibrary: true})
	if err != nil {
		t.Fatal(err)
	}
	const n = 200
	if err := w.WriteHeader(&mcap.Header{Profile: "ros2", Library: segment.Library}); err != nil {
		t.Fatal(err)
	}
	if err := vec().Write(w, 1, 1); err != nil {
		t.Fatal(err)
	}
	for i := range uint64(n) {
		if err := w.WriteMessage(&mcap.Message{ChannelID: 1, LogTime: 1_700_000_000e9 + i, Data: vecMessage(float64(i))}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	data := b.Bytes()
	at := bytes.Index(data, vecMessage(100))
	data[at+5] ^= 0xff
	report := importAll(t, open(t, write(t, "x.mcap", data)), recording.Options{}, newStore())
	if report.Lost == 0 || report.Messages+report.Lost != n || !strings.Contains(report.Broken, "checksum") || !strings.Contains(report.Broken, "messages lost") {
		t.Errorf("%d read, %d lost of %d: %s", report.Messages, report.Lost, n, report.Broken)
	}
}

// A record that is no longer recognized is missed by the count of the summary, and a message that was
// changed by the checksum of the data.
func TestSilentDamageIsNamed(t *testing.T) {
	whole := vecs(t, 0, 50)
	record := append(binary.LittleEndian.AppendUint64([]byte{byte(mcap.OpMessage)}, 22+20), 1, 0)
	at := bytes.LastIndex(whole, record)
	for name, change := range map[string]func(data []byte){
		"its kind":    func(data []byte) { data[at] = 0x2f },
		"its channel": func(data []byte) { data[at+9] = 9 },
	} {
		data := bytes.Clone(whole)
		change(data)
		report := importAll(t, open(t, write(t, "x.mcap", data)), recording.Options{}, newStore())
		if report.Messages != 49 || report.Lost != 1 || report.Broken == "" {
			t.Errorf("%s: %d read, %d lost: %q", name, report.Messages, report.Lost, report.Broken)
		}
	}
}

// A page of a database that only says that it has fewer rows is found.
func TestAPageThatHidesARow(t *testing.T) {
	var times []int64
	var data [][]byte
	for i := range 500 {
		times, data = append(times, 1_700_000_000e9+int64(i)), append(data, vecMessage(float64(i)))
	}
	file, err := os.ReadFile(db3Of(t, times, data))
	if err != nil {
		t.Fatal(err)
	}
	const page, leaf = 4096, 0x0d
	hidden := false
	for at := len(file) - page; at > 0 && !hidden; at -= page {
		if cells := binary.BigEndian.Uint16(file[at+3:]); file[at] == leaf && cells > 10 {
			binary.BigEndian.PutUint16(file[at+3:], cells-1)
			hidden = true
		}
	}
	report := importAll(t, open(t, write(t, "x.db3", file)), recording.Options{}, newStore())
	if !hidden || report.Messages != 499 || !strings.Contains(report.Broken, "the database is damaged") {
		t.Errorf("%d were read, hidden %t: %q", report.Messages, hidden, report.Broken)
	}
}
