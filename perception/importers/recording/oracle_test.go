package recording_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/foxglove/mcap/go/mcap"
	"github.com/klauspost/compress/zstd"
	"github.com/ncruces/go-sqlite3"

	"github.com/robotmem/robotmem-go/perception/importers/recording"
)

// oracle is what the official readers count, by file and topic: testdata/oracle.py.
func oracle(t testing.TB) map[string]map[string]uint64 {
	t.Helper()
	text, err := os.ReadFile("testdata/oracle.json")
	if err != nil {
		t.Fatal(err)
	}
	counts := map[string]map[string]uint64{}
	if err := json.Unmarshal(text, &counts); err != nil {
		t.Fatal(err)
	}
	return counts
}

// realFile reads a file of the oracle.
func realFile(t testing.TB, name string) []byte {
	t.Helper()
	folder, base := filepath.Split(name)
	data, err := os.ReadFile(filepath.Join(shared(t, filepath.Clean(folder)), base))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// rewritten writes the messages of an MCAP file again, their log times changed by retime.
func rewritten(t testing.TB, data []byte, o mcap.WriterOptions, retime func(i int, ns uint64) uint64) []byte {
	t.Helper()
	reader, err := mcap.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	it, err := reader.Messages(mcap.UsingIndex(false))
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	o.OverrideLibrary, o.IncludeCRC = true, true
	w, err := mcap.NewWriter(&b, &o)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.WriteHeader(&mcap.Header{Profile: "ros2", Library: "test"}); err != nil {
		t.Fatal(err)
	}
	known := map[uint16]bool{}
	for i := 0; ; i++ {
		schema, channel, m, err := it.NextInto(nil)
		if err != nil {
			break
		}
		if !known[channel.ID] {
			known[channel.ID] = true
			if err := errors.Join(w.WriteSchema(schema), w.WriteChannel(channel)); err != nil {
				t.Fatal(err)
			}
		}
		if retime != nil {
			m.LogTime = retime(i, m.LogTime)
		}
		if err := w.WriteMessage(m); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// changedDB3 changes a database by SQL. The function z compresses a message.
func changedDB3(t testing.TB, data []byte, sql string) []byte {
	t.Helper()
	path := write(t, "x.db3", data)
	db, err := sqlite3.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	enc, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer enc.Close()
	err = errors.Join(
		db.CreateFunction("z", 1, sqlite3.DETERMINISTIC, func(ctx sqlite3.Context, arg ...sqlite3.Value) {
			ctx.ResultBlob(enc.EncodeAll(arg[0].RawBlob(), nil))
		}),
		db.Exec("PRAGMA journal_mode=DELETE"), db.Exec(sql), db.Close())
	if err != nil {
		t.Fatal(err)
	}
	if data, err = os.ReadFile(path); err != nil {
		t.Fatal(err)
	}
	return data
}

// copies are a recording as it is and compressed, by the names of the files.
func copies(t testing.TB, name string, data []byte) map[string][]byte {
	t.Helper()
	ext := filepath.Ext(name)
	all := map[string][]byte{"x" + ext: data, "x" + ext + ".zst": zstded(t, data)}
	if ext == ".db3" {
		all["messages.db3"] = changedDB3(t, data, "UPDATE messages SET data = z(data)")
		return all
	}
	all["plain.mcap"] = rewritten(t, data, mcap.WriterOptions{}, nil)
	all["zstd.mcap"] = rewritten(t, data, mcap.WriterOptions{Chunked: true, ChunkSize: 4 << 10, Compression: mcap.CompressionZSTD}, nil)
	all["lz4.mcap"] = rewritten(t, data, mcap.WriterOptions{Chunked: true, ChunkSize: 4 << 10, Compression: mcap.CompressionLZ4}, nil)
	return all
}

// accounted imports a recording and checks that every message that was read is stored.
func accounted(t testing.TB, path string) (*recording.Report, error) {
	t.Helper()
	src, err := recording.Open(t.Context(), path)
	if err != nil {
		return nil, err
	}
	defer src.Close()
	s := newStore()
	report := importAll(t, src, recording.Options{}, s)
	stored, noted, read := uint64(0), uint64(0), uint64(0)
	for _, p := range s.saved {
		stored += uint64(p.Messages)
	}
	for _, topic := range report.Topics {
		read += topic.Read
		for _, n := range topic.Notes {
			noted += n
		}
	}
	if stored != report.Messages || read != report.Messages {
		t.Errorf("%s: %d messages are read, %d counted by topic, %d stored", filepath.Base(path), report.Messages, read, stored)
	}
	if noted < report.Undecoded || noted < report.Mistimed {
		t.Errorf("%s: %d messages are noted, %d not decoded and %d mistimed", filepath.Base(path), noted, report.Undecoded, report.Mistimed)
	}
	return report, nil
}

// Every recording gives the messages that the official reader counts, also compressed.
func TestRealRecordingsAreReadWhole(t *testing.T) {
	for name, topicCounts := range oracle(t) {
		for file, data := range copies(t, name, realFile(t, name)) {
			t.Run(name+"/"+file, func(t *testing.T) {
				report, err := accounted(t, write(t, file, data))
				if err != nil {
					t.Fatal(err)
				}
				if report.Broken != "" || report.Lost+report.Mistimed > 0 {
					t.Errorf("broken %q, %d lost, %d mistimed", report.Broken, report.Lost, report.Mistimed)
				}
				for _, topic := range report.Topics {
					if topic.Read != topicCounts[topic.Topic] {
						t.Errorf("%s: %d messages, want %d", topic.Topic, topic.Read, topicCounts[topic.Topic])
					}
				}
				for topic, want := range topicCounts {
					if got := topics(report)[topic].Kept; got != want {
						t.Errorf("%s: %d messages are kept, want %d", topic, got, want)
					}
				}
			})
		}
	}
}

// No damage loses a message without a word: of 200 recordings that are cut, changed at random bytes or
// given other times, each message is stored, or the report says that some are missing and where.
func TestDamagedRecordingsLoseNothingSilently(t *testing.T) {
	type whole struct {
		name string
		data []byte
		n    uint64
		wall bool // its times are those of a wall clock
	}
	var all []whole
	for name, topicCounts := range oracle(t) {
		n := uint64(0)
		for _, count := range topicCounts {
			n += count
		}
		for file, data := range copies(t, name, realFile(t, name)) {
			rows, _ := read(t, open(t, write(t, file, data)))
			all = append(all, whole{file, data, n, rows[0].LogTime > 1e18})
		}
	}
	slices.SortFunc(all, func(a, b whole) int { // the order of maps changes
		return cmp.Or(cmp.Compare(a.name, b.name), cmp.Compare(a.n, b.n), cmp.Compare(len(a.data), len(b.data)), bytes.Compare(a.data, b.data))
	})

	const mutations = 200
	named := 0
	for seed := range uint64(mutations) {
		rng := rand.New(rand.NewPCG(seed, 1))
		w := all[seed%uint64(len(all))]
		data, kind := bytes.Clone(w.data), [...]string{"cut", "flipped", "flipped", "retimed"}[rng.IntN(4)]
		mistimed := uint64(0)
		switch kind {
		case "cut":
			data = data[:rng.IntN(len(data))]
		case "flipped":
			for range 1 + rng.IntN(3) {
				data[rng.IntN(len(data))] ^= byte(1 << rng.IntN(8))
			}
		case "retimed":
			data, mistimed = retimed(t, rng, w.name, data, int(w.n), w.wall)
		}
		report, err := accounted(t, write(t, w.name, data))
		where := fmt.Sprintf("seed %d, %s %s of %d messages", seed, kind, w.name, w.n)
		switch {
		case err != nil: // it names the file and what is wrong with it
			named++
			if kind == "retimed" {
				t.Errorf("%s: %v", where, err)
			}
		case kind == "retimed" && (report.Messages != w.n || report.Mistimed != mistimed || report.Broken != ""):
			t.Errorf("%s: %d read, %d mistimed, want %d; %s", where, report.Messages, report.Mistimed, mistimed, report.Broken)
		case report.Messages != w.n && report.Broken == "":
			t.Errorf("%s: %d were read without a word", where, report.Messages)
		case report.Messages > w.n, report.Lost > 0 && report.Messages+report.Lost > w.n:
			t.Errorf("%s: %d were read and %d lost", where, report.Messages, report.Lost)
		case report.Broken != "":
			named++
		}
	}
	if named < mutations/10 {
		t.Errorf("only %d of %d mutations did any damage", named, mutations)
	}
}

// retimed gives some messages times that cannot be. It returns how many they are.
func retimed(t testing.TB, rng *rand.Rand, name string, data []byte, n int, wall bool) ([]byte, uint64) {
	t.Helper()
	impossible := []uint64{1<<64 - 1, 1 << 63, 9_300_000_000e9}
	if wall {
		impossible = append(impossible, 1_700_000_000) // seconds
	}
	changed := map[int]uint64{}
	for range 1 + rng.IntN(4) {
		changed[rng.IntN(n)] = impossible[rng.IntN(len(impossible))]
	}
	if packed := filepath.Ext(name) == ".zst"; packed {
		dec, err := zstd.NewReader(nil)
		if err != nil {
			t.Fatal(err)
		}
		defer dec.Close()
		if data, err = dec.DecodeAll(data, nil); err != nil {
			t.Fatal(err)
		}
		name = name[:len(name)-len(".zst")]
	}
	if filepath.Ext(name) == ".mcap" {
		return rewritten(t, data, mcap.WriterOptions{}, func(i int, ns uint64) uint64 {
			if to, ok := changed[i]; ok {
				return to
			}
			return ns
		}), uint64(len(changed))
	}
	sql := ""
	for i, to := range changed {
		sql += fmt.Sprintf("UPDATE messages SET timestamp = %d WHERE rowid = (SELECT rowid FROM messages ORDER BY rowid LIMIT 1 OFFSET %d);", int64(to), i)
	}
	return changedDB3(t, data, sql), uint64(len(changed))
}
