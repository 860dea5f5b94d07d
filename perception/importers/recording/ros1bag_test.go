package recording_test

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/foxglove/mcap/go/mcap"
	gocmp "github.com/google/go-cmp/cmp"

	"github.com/robotmem/robotmem-go/perception/events"
	"github.com/robotmem/robotmem-go/perception/importers/importerstest"
	"github.com/robotmem/robotmem-go/perception/importers/message"
	"github.com/robotmem/robotmem-go/perception/importers/recording"
	"github.com/robotmem/robotmem-go/perception/segment"
)

// ros1Topic is what rosbags reads in a topic of a bag: testdata/ros1.py.
type ros1Topic struct {
	Count   int    `json:"count"`
	Type    string `json:"type"`
	First   string `json:"first"`
	Last    string `json:"last"`
	Data    string `json:"data"`
	Numbers string `json:"numbers"`
}

func ros1Oracle(t testing.TB) map[string]map[string]ros1Topic {
	t.Helper()
	text, err := os.ReadFile("testdata/ros1.json")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]map[string]ros1Topic{}
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	return all
}

// ros1Made are the bags of testdata/ros1, by how their chunks are compressed.
var ros1Made = []string{"none.bag", "bz2.bag", "lz4.bag"}

// ros1File reads a bag of the oracle.
func ros1File(t testing.TB, name string) []byte {
	t.Helper()
	if !slices.Contains(ros1Made, name) {
		return realFile(t, "recordings/"+name)
	}
	data, err := os.ReadFile(filepath.Join("testdata", "ros1", name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// flatten writes the numbers and the texts of a value, as testdata/ros1.py does.
func flatten(h hash.Hash, v *message.Value) {
	number := func(f float64) {
		if math.IsNaN(f) {
			f = 0.125
		}
		h.Write(binary.LittleEndian.AppendUint64(nil, math.Float64bits(f)))
	}
	switch {
	case v.IsNumber():
		number(v.Float)
	case v.Kind == message.String:
		h.Write(append([]byte(v.Text), 0))
	}
	h.Write(v.Data)
	for _, f := range v.Numbers {
		number(f)
	}
	for i := range v.List {
		flatten(h, &v.List[i])
	}
}

// topicsRead are the messages of a recording as the oracle describes them.
func topicsRead(t testing.TB, rows []row) map[string]ros1Topic {
	t.Helper()
	slices.SortStableFunc(rows, func(a, b row) int {
		return cmp.Or(cmp.Compare(a.LogTime, b.LogTime), cmp.Compare(a.Data, b.Data))
	})
	got, data, numbers := map[string]ros1Topic{}, map[string]hash.Hash{}, map[string]hash.Hash{}
	for _, r := range rows {
		one := got[r.Topic]
		if one.Count == 0 {
			data[r.Topic], numbers[r.Topic] = sha256.New(), sha256.New()
			one.First = fmt.Sprint(r.LogTime)
		}
		one.Count, one.Type, one.Last = one.Count+1, r.Schema, fmt.Sprint(r.LogTime)
		got[r.Topic] = one
		head := binary.LittleEndian.AppendUint64(nil, r.LogTime)
		data[r.Topic].Write(append(binary.LittleEndian.AppendUint32(head, uint32(len(r.Data))), r.Data...))

		schema, err := message.Parse(r.Schema, r.SchemaEncoding, []byte(r.SchemaText))
		if err != nil {
			t.Fatalf("%s: %v", r.Topic, err)
		}
		v, err := schema.Decode([]byte(r.Data))
		if err != nil {
			t.Fatalf("%s: %v", r.Topic, err)
		}
		flatten(numbers[r.Topic], v)
	}
	for topic, one := range got {
		one.Data, one.Numbers = hex.EncodeToString(data[topic].Sum(nil))[:16], hex.EncodeToString(numbers[topic].Sum(nil))[:16]
		got[topic] = one
	}
	return got
}

// A bag gives the messages, times and numbers that rosbags reads in it, also compressed as a file.
func TestROS1BagsAreReadWhole(t *testing.T) {
	for name, want := range ros1Oracle(t) {
		t.Run(name, func(t *testing.T) {
			data := ros1File(t, name)
			for file, data := range map[string][]byte{name: data, name + ".zst": zstded(t, data)} {
				rows, broken := read(t, open(t, write(t, file, data)))
				if len(broken) > 0 {
					t.Fatalf("%s: %v", file, broken)
				}
				if diff := gocmp.Diff(want, topicsRead(t, rows)); diff != "" {
					t.Errorf("%s (-want +got)\n%s", file, diff)
				}
				report, err := accounted(t, write(t, file, data))
				if err != nil || report.Broken != "" || report.Undecoded+report.Lost != 0 {
					t.Errorf("%s: got %+v, %v", file, report, err)
				}
			}
		})
	}
}

// What was imported of a bag or a ULog and exported again is what was recorded.
func TestRoundTripOfOtherFormats(t *testing.T) {
	exported := func(path string) []row {
		s := newStore()
		importAll(t, open(t, path), recording.Options{}, s)
		out, _ := export(t, s)
		rows, broken := read(t, open(t, out))
		if len(broken) > 0 {
			t.Errorf("%s: %v", path, broken)
		}
		return rows
	}
	if diff := gocmp.Diff(ros1Oracle(t)["bz2.bag"], topicsRead(t, exported(filepath.Join("testdata", "ros1", "bz2.bag")))); diff != "" {
		t.Errorf("bag (-want +got)\n%s", diff)
	}
	log := filepath.Join("testdata", "ulog", "made.ulg")
	rows, _ := read(t, open(t, log))
	if diff := gocmp.Diff(readULog(t, rows), readULog(t, exported(log))); diff != "" {
		t.Errorf("log (-recorded +exported)\n%s", diff)
	}
}

// A chunk that decompresses to more than it claims is refused before it takes the memory.
func TestROS1ChunkThatClaimsLess(t *testing.T) {
	for _, bag := range []string{"bz2.bag", "lz4.bag"} {
		data := bytes.Clone(ros1File(t, bag))
		start, _ := ros1Chunk(t, data, ros1IndexPos(data))
		ros1Set(t, data, start, "size", []byte{100, 0, 0, 0})
		_, broken := read(t, open(t, write(t, "a.bag", data)))
		if len(broken) != 1 || !strings.Contains(broken[0].Error(), "more bytes than the 100 that its head claims") {
			t.Errorf("%s: got %v", bag, broken)
		}
	}
}

// A bag becomes the perceptions and the facts that an MCAP file of the same messages becomes.
func TestROS1BagsAreAsInMCAP(t *testing.T) {
	path := filepath.Join("testdata", "ros1", "lz4.bag")
	rows, _ := read(t, open(t, path))
	var b bytes.Buffer
	w, err := mcap.NewWriter(&b, &mcap.WriterOptions{OverrideLibrary: true})
	if err == nil {
		err = w.WriteHeader(&mcap.Header{Profile: "ros1"})
	}
	if err != nil {
		t.Fatal(err)
	}
	ids := map[string]uint16{}
	for _, r := range rows {
		key := r.Topic + r.Metadata["callerid"]
		if ids[key] == 0 {
			ids[key] = uint16(len(ids) + 1)
			c := &segment.Channel{Topic: r.Topic, SchemaName: r.Schema, SchemaEncoding: r.SchemaEncoding, SchemaData: []byte(r.SchemaText), MessageEncoding: r.Encoding, Metadata: r.Metadata}
			if err := c.Write(w, ids[key], ids[key]); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.WriteMessage(&mcap.Message{ChannelID: ids[key], LogTime: r.LogTime, PublishTime: r.PublishTime, Data: []byte(r.Data)}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}

	about := func(path string) (all []string) {
		sink := importerstest.New(t)
		src := open(t, path)
		report, err := recording.Import(t.Context(), src, recording.Options{Events: events.Builtin()}, sink, nil)
		if err != nil || report.Events == 0 || report.Undecoded > 0 {
			t.Fatalf("got %+v, %v", report, err)
		}
		id, err := src.ID(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range sink.Saved {
			if p.MediaType == recording.ManifestType {
				continue
			}
			spatial, _ := json.Marshal(p.Context["spatial"])
			origin := strings.TrimPrefix(p.Origin, id[:32])
			all = append(all, fmt.Sprintf("%s %s %s %x %s", origin, p.MediaType, p.ObservedAt, sha256.Sum256(p.Data), spatial))
		}
		for _, f := range sink.Facts {
			all = append(all, fmt.Sprintf("%s | %s | %v", f.Outcome, f.Text, f.ObservedAt))
		}
		slices.Sort(all)
		return all
	}
	got := about(path)
	if diff := gocmp.Diff(about(write(t, "a.mcap", b.Bytes())), got); diff != "" {
		t.Errorf("(-mcap +bag)\n%s", diff)
	}
	said := strings.Join(got, "\n")
	for _, want := range []string{"failure | /move_base: Aborting because a valid plan could not be found", "image/x-raw", `"frame_id":"map"`} {
		if !strings.Contains(said, want) {
			t.Errorf("%q is not in\n%s", want, said)
		}
	}
}

// ros1Set changes the value of a field in the head of a record, which it finds after a place.
func ros1Set(t testing.TB, data []byte, after int, name string, value []byte) {
	t.Helper()
	at := bytes.Index(data[after:], []byte(name+"="))
	if at < 0 {
		t.Fatalf("no field %s", name)
	}
	copy(data[after+at+len(name)+1:], value)
}

// ros1Chunk is where the last chunk before a place begins, and where its data does.
func ros1Chunk(t testing.TB, data []byte, before int) (start, body int) {
	t.Helper()
	at := bytes.LastIndex(data[:before], []byte("compression="))
	// The writer puts the fields of a head in an order of its own, so look for the head by its length.
	for start = at - 4; start >= 0; start-- {
		length := int(binary.LittleEndian.Uint32(data[start:]))
		if length > 30 && length < 100 && start+4+length > at {
			return start, start + 4 + length + 4
		}
	}
	t.Fatal("no chunk")
	return 0, 0
}

func ros1IndexPos(data []byte) int {
	at := bytes.Index(data, []byte("index_pos="))
	return int(binary.LittleEndian.Uint64(data[at+len("index_pos="):]))
}

// A bag that was not closed is read to its end, and the report says so.
func TestUnclosedROS1Bags(t *testing.T) {
	for _, name := range ros1Made {
		t.Run(name, func(t *testing.T) {
			data := ros1File(t, name)
			whole, _ := read(t, open(t, write(t, "a.bag", data)))
			unclosed := bytes.Clone(data[:ros1IndexPos(data)])
			ros1Set(t, unclosed, 0, "index_pos", make([]byte, 8))

			// A killed recorder has not written the lengths of its last chunk, and no index behind it.
			start, body := ros1Chunk(t, data, ros1IndexPos(data))
			length := int(binary.LittleEndian.Uint32(data[body-4:]))
			killed := bytes.Clone(unclosed[:body+length])
			ros1Set(t, killed, start, "size", make([]byte, 4))
			copy(killed[body-4:], make([]byte, 4))

			for what, data := range map[string][]byte{"without an index": unclosed, "killed": killed} {
				path := write(t, "a.bag.active", data)
				if f, err := os.Open(path); err != nil || !recording.Recognizes(path, f) {
					t.Errorf("%s: not recognized, %v", what, err)
				}
				rows, broken := read(t, open(t, path))
				if len(rows) != len(whole) || len(broken) != 1 || !strings.Contains(fmt.Sprint(broken), "not closed") {
					t.Errorf("%s: got %d of %d messages, errors %v", what, len(rows), len(whole), broken)
				}
			}

			// One that is cut within its last chunk has the whole messages before that. A block of bz2 is whole or nothing.
			rows, broken := read(t, open(t, write(t, "a.bag", killed[:body+length*3/4])))
			if len(broken) == 0 || len(rows) == 0 || len(rows) >= len(whole) {
				t.Errorf("cut: got %d of %d messages, errors %v", len(rows), len(whole), broken)
			}
		})
	}
}

// A damaged chunk is reported with the number of its messages, and all others are read.
func TestDamagedROS1Chunk(t *testing.T) {
	for name, what := range map[string]func(data []byte, start, body int){
		"data":        func(data []byte, _, body int) { copy(data[body+20:], strings.Repeat("\xff", 60)) },
		"length":      func(data []byte, _, body int) { data[body-4]++ },
		"head":        func(data []byte, start, _ int) { data[start] ^= 0x40 },
		"compression": func(data []byte, start, _ int) { ros1Set(t, data, start, "compression", []byte("x")) },
	} {
		for _, bag := range ros1Made {
			t.Run(name+"/"+bag, func(t *testing.T) {
				data := bytes.Clone(ros1File(t, bag))
				whole, _ := read(t, open(t, write(t, "a.bag", data)))
				last, _ := ros1Chunk(t, data, ros1IndexPos(data))
				start, body := ros1Chunk(t, data, last) // the last but one
				what(data, start, body)
				src := open(t, write(t, "a.bag", data))
				rows, broken := read(t, src)
				lost := uint64(0)
				for _, err := range broken {
					if at := (*recording.BreakError)(nil); errors.As(err, &at) {
						lost += at.Lost
					}
				}
				if len(broken) == 0 || uint64(len(rows))+lost != uint64(len(whole)) || lost == 0 && name != "length" {
					t.Errorf("got %d of %d messages, %d lost, errors %v", len(rows), len(whole), lost, broken)
				}
				if end := rows[len(rows)-1].LogTime; end != whole[len(whole)-1].LogTime {
					t.Errorf("the last message is of %d, want the last of the bag", end)
				}
			})
		}
	}
}

// ros1Retime gives a message of an uncompressed bag another time.
func ros1Retime(t testing.TB, data []byte, rng *rand.Rand) {
	t.Helper()
	from := rng.IntN(ros1IndexPos(data))
	// The field time of a message, and not start_time or end_time of a chunk.
	at := bytes.Index(data[from:], []byte("\x00time="))
	if at < 0 {
		at, from = bytes.Index(data, []byte("\x00time=")), 0
	}
	at += from + len("\x00time=")
	binary.LittleEndian.PutUint32(data[at:], []uint32{0, 1, 1<<32 - 1, rng.Uint32()}[rng.IntN(4)])
	binary.LittleEndian.PutUint32(data[at+4:], []uint32{0, 999_999_999, 1<<32 - 1}[rng.IntN(3)])
}

// No damage of a bag loses a message without a word, and no time does.
func TestDamagedROS1BagsLoseNothingSilently(t *testing.T) {
	const mutations = 300
	named := 0
	for seed := range uint64(mutations) {
		rng := rand.New(rand.NewPCG(seed, 2))
		name := ros1Made[seed%3]
		data := bytes.Clone(ros1File(t, name))
		const n = 164
		retimed := false
		switch kind := rng.IntN(4); {
		case kind == 0:
			data = data[:rng.IntN(len(data))]
		case kind == 1 && name == "none.bag":
			retimed = true
			for range 1 + rng.IntN(4) {
				ros1Retime(t, data, rng)
			}
		default:
			for range 1 + rng.IntN(3) {
				data[rng.IntN(len(data))] ^= byte(1 << rng.IntN(8))
			}
		}
		report, err := accounted(t, write(t, "a.bag", data))
		switch {
		case retimed:
			if err != nil || report.Messages != n || report.Broken != "" {
				t.Errorf("seed %d, retimed: %+v, %v", seed, report, err)
			}
		case err != nil:
			named++
		case report.Messages != n && report.Broken == "":
			t.Errorf("seed %d, %s: %d were read without a word", seed, name, report.Messages)
		case report.Messages > n, report.Messages+report.Lost > n:
			t.Errorf("seed %d, %s: %d were read and %d lost: %s", seed, name, report.Messages, report.Lost, report.Broken)
		case report.Broken != "":
			named++
		}
	}
	if named < mutations/3 {
		t.Errorf("only %d of %d mutations did any damage", named, mutations)
	}
}

// ros1Record is a record of the given fields.
func ros1Record(data string, fields ...string) string {
	head := ""
	for _, f := range fields {
		head += string(binary.LittleEndian.AppendUint32(nil, uint32(len(f)))) + f
	}
	return string(binary.LittleEndian.AppendUint32(nil, uint32(len(head)))) + head + string(binary.LittleEndian.AppendUint32(nil, uint32(len(data)))) + data
}

func hostileBags() map[string]string {
	const line = "#ROSBAG V2.0\n"
	header := line + ros1Record("", "op=\x03", "index_pos=\x00\x00\x00\x00\x00\x00\x00\x00", "conn_count=\x00\x00\x00\x00", "chunk_count=\x00\x00\x00\x00")
	return map[string]string{
		"nothing":      line,
		"head":         header + "\xff\xff\xff\xff",
		"field":        header + "\x05\x00\x00\x00\xff\xff\xff\xffx",
		"no value":     header + ros1Record("", "op"),
		"no kind":      header + ros1Record("", "conn=\x00\x00\x00\x00"),
		"width":        header + ros1Record("", "op=\x02", "conn=\x00"),
		"data":         header + ros1Record("", "op=\x02")[:13] + "\xff\xff\xff\xff",
		"claimed size": header + ros1Record("x", "op=\x05", "compression=lz4", "size=\xff\xff\xff\xff"),
		"bz2":          header + ros1Record("BZh9garbage", "op=\x05", "compression=bz2", "size=\xff\xff\xff\x0f"),
		"lz4":          header + ros1Record("\x04\x22\x4d\x18garbage", "op=\x05", "compression=lz4", "size=\xff\xff\xff\x0f"),
		"compression":  header + ros1Record("", "op=\x05", "compression=xz", "size=\x00\x00\x00\x01"),
		"connection":   header + ros1Record("", "op=\x02", "conn=\x07\x00\x00\x00", "time=\x00\x00\x00\x00\x00\x00\x00\x00"),
		"no time":      header + ros1Record("", "op=\x02", "conn=\x07\x00\x00\x00"),
		"no number":    header + ros1Record("", "op=\x07", "topic=/a"),
		"in a chunk":   header + ros1Record(ros1Record("", "op=\x02"), "op=\x05", "compression=none"),
	}
}

func TestHostileROS1Bags(t *testing.T) {
	for name, text := range hostileBags() {
		t.Run(name, func(t *testing.T) {
			rows, broken := read(t, open(t, write(t, "x.bag", []byte(text))))
			if len(rows) != 0 || len(broken) == 0 {
				t.Errorf("got %d messages, errors %v", len(rows), broken)
			}
			for _, err := range broken {
				if at := (*recording.BreakError)(nil); !errors.As(err, &at) {
					t.Errorf("got %T: %v", err, err)
				}
			}
		})
	}
	encrypted := "#ROSBAG V2.0\n" + ros1Record("", "op=\x03", "encryptor=rosbag/AesCbcEncryptor")
	if _, err := recording.Open(t.Context(), write(t, "x.bag", []byte(encrypted))); err == nil || !strings.Contains(err.Error(), `encrypted with "rosbag/AesCbcEncryptor"`) {
		t.Errorf("got %v", err)
	}
}

// A folder of bags is one recording, as a recorder splits it.
func TestFolderOfROS1Bags(t *testing.T) {
	data := ros1File(t, "lz4.bag")
	dir := folder(t, map[string][]byte{"run_0.bag": data, "run_1.bag": ros1File(t, "bz2.bag"), "run_2.bag.active": data[:len(data)/2]})
	if !recording.RecognizesFolder(dir) {
		t.Error("the folder is not recognized")
	}
	report := importAll(t, open(t, dir), recording.Options{}, newStore())
	if report.Messages <= 328 || !strings.Contains(report.Broken, "run_2.bag.active") {
		t.Errorf("got %d messages, %s", report.Messages, report.Broken)
	}
}

func FuzzROS1Bag(f *testing.F) {
	for _, text := range hostileBags() {
		f.Add([]byte(text))
	}
	for _, name := range ros1Made {
		data, err := os.ReadFile(filepath.Join("testdata", "ros1", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		drain(t, write(t, "x", append([]byte("#ROSBAG V2.0\n"), bytes.TrimPrefix(data, []byte("#ROSBAG V2.0\n"))...)))
	})
}

// The messages of a chunk come by time, unless the time of a connection steps back.
func TestOrderWithinROS1Chunks(t *testing.T) {
	for name, test := range map[string]struct{ conns, times, want []byte }{
		"one connection after the other": {[]byte{0, 0, 1, 1}, []byte{10, 12, 11, 13}, []byte{10, 11, 12, 13}},
		"a clock that is set back":       {[]byte{0, 1, 0, 1}, []byte{10, 11, 5, 6}, []byte{10, 11, 5, 6}},
	} {
		chunk := ""
		for _, id := range "\x00\x01" {
			conn := "conn=" + string(id) + "\x00\x00\x00"
			head := ros1Record("", "type=std_msgs/Empty", "md5sum=*", "message_definition=")
			chunk += ros1Record(head[4:len(head)-4], "op=\x07", conn, "topic=/"+string('a'+id))
		}
		for i, at := range test.times {
			chunk += ros1Record("", "op=\x02", "conn="+string(rune(test.conns[i]))+"\x00\x00\x00", "time="+string(rune(at))+"\x00\x00\x00\x00\x00\x00\x00")
		}
		size := string(binary.LittleEndian.AppendUint32(nil, uint32(len(chunk))))
		rows, _ := read(t, open(t, write(t, "x.bag", []byte("#ROSBAG V2.0\n"+ros1Record(chunk, "op=\x05", "compression=none", "size="+size)))))
		var got []byte
		for _, r := range rows {
			got = append(got, byte(r.LogTime/1e9))
		}
		if diff := gocmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s: times (-want +got):\n%s", name, diff)
		}
	}
}
