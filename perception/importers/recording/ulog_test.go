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
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/robotmem/robotmem-go/perception"
	"github.com/robotmem/robotmem-go/perception/events"
	"github.com/robotmem/robotmem-go/perception/importers/importerstest"
	"github.com/robotmem/robotmem-go/perception/importers/message"
	"github.com/robotmem/robotmem-go/perception/importers/recording"
)

// ulogOracle is what pyulog reads in a log: testdata/ulog.py. Of a damaged copy the topics are those that differ from
// the whole log, nil if it lacks them.
type ulogOracle struct {
	File     string                `json:"file"`
	Cut      int                   `json:"cut"`
	Flips    [][2]int              `json:"flips"`
	Topics   map[string]*ulogTopic `json:"topics"`
	Lines    [][3]any              `json:"lines"` // time, level, text
	Dropouts []float64             `json:"dropouts"`
	Changed  [][3]any              `json:"changed"` // time, name, value
	Info     map[string]any        `json:"info"`
	Initial  any                   `json:"initial"` // parameters, or how many
	Corrupt  bool                  `json:"corrupt"`
}

type ulogTopic struct {
	Count   int    `json:"count"`
	Type    string `json:"type"`
	First   string `json:"first"`
	Last    string `json:"last"`
	Numbers string `json:"numbers"`
}

func ulogOracles(t testing.TB) []*ulogOracle {
	t.Helper()
	text, err := os.ReadFile("testdata/ulog.json")
	if err != nil {
		t.Fatal(err)
	}
	var all []*ulogOracle
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	whole := map[string]*ulogOracle{}
	for _, o := range all {
		first := whole[o.File]
		if first == nil {
			whole[o.File] = o
			continue
		}
		for topic, about := range first.Topics {
			if _, given := o.Topics[topic]; !given {
				o.Topics[topic] = about
			}
		}
		for topic, about := range o.Topics {
			if about == nil {
				delete(o.Topics, topic)
			}
		}
	}
	return all
}

// ulogData is the file of the oracle with its damage.
func ulogData(t testing.TB, o *ulogOracle) []byte {
	t.Helper()
	var data []byte
	if o.File == "made.ulg" {
		var err error
		if data, err = os.ReadFile(filepath.Join("testdata", "ulog", o.File)); err != nil {
			t.Fatal(err)
		}
	} else {
		data = realFile(t, "recordings/"+o.File)
	}
	data = bytes.Clone(data[:o.Cut])
	for _, f := range o.Flips {
		data[f[0]] ^= byte(f[1])
	}
	return data
}

// readULog describes the messages as the oracle does.
func readULog(t testing.TB, rows []row) *ulogOracle {
	t.Helper()
	got, numbers := &ulogOracle{Topics: map[string]*ulogTopic{}, Dropouts: []float64{}, Lines: [][3]any{}, Changed: [][3]any{}}, map[string]hash.Hash{}
	schemas := map[string]*message.Schema{}
	for _, r := range rows {
		encoding := map[string]string{"ros1": "ros1msg", "json": "jsonschema"}[r.Encoding]
		if schemas[r.Topic] == nil {
			schema, err := message.Parse(r.Schema, encoding, []byte(r.SchemaText))
			if err != nil {
				t.Fatalf("%s: %v", r.Topic, err)
			}
			schemas[r.Topic] = schema
		}
		v, err := schemas[r.Topic].Decode([]byte(r.Data))
		if err != nil {
			t.Fatalf("%s: %v", r.Topic, err)
		}
		at := float64(r.LogTime)
		switch r.Topic {
		case "/ulog/log":
			got.Lines = append(got.Lines, [3]any{at, v.At("level").Float, v.At("message").Text})
			continue
		case "/ulog/dropouts":
			got.Dropouts = append(got.Dropouts, v.At("duration_ms").Float)
			continue
		case "/ulog/info":
			var about struct{ Info map[string]any }
			if err := json.Unmarshal([]byte(r.Data), &about); err != nil {
				t.Fatal(err)
			}
			// Infos at the end of the log may be of several parts alone.
			if about.Info != nil {
				got.Info = about.Info
			}
			continue
		case "/ulog/parameters":
			for _, one := range v.At("changed").List {
				value := cmp.Or(one.At("value", "double_value").Float, one.At("value", "integer_value").Float)
				got.Changed = append(got.Changed, [3]any{at, one.At("name").Text, value})
			}
			if initial := v.At("initial"); initial.Kind == message.Struct {
				all := map[string]any{}
				for i, name := range initial.Names {
					all[name] = initial.List[i].Float
					if initial.List[i].Kind == message.Null {
						all[name] = nil
					}
				}
				got.Initial = all
			}
			continue
		}
		one := got.Topics[r.Topic]
		if one == nil {
			one = &ulogTopic{Type: r.Schema, First: fmt.Sprint(r.LogTime)}
			got.Topics[r.Topic], numbers[r.Topic] = one, sha256.New()
		}
		one.Count, one.Last = one.Count+1, fmt.Sprint(r.LogTime)
		flatten(numbers[r.Topic], v)
	}
	for topic, one := range got.Topics {
		one.Numbers = hex.EncodeToString(numbers[topic].Sum(nil))[:16]
	}
	slices.SortFunc(got.Lines, func(a, b [3]any) int {
		return cmp.Or(cmp.Compare(a[0].(float64), b[0].(float64)), cmp.Compare(a[1].(float64), b[1].(float64)), cmp.Compare(a[2].(string), b[2].(string)))
	})
	return got
}

// A log has the messages, times and numbers that pyulog reads in it, also if it is cut or damaged; and damage is named.
func TestULogsAreReadWhole(t *testing.T) {
	for i, want := range ulogOracles(t) {
		t.Run(fmt.Sprintf("%s/%d", want.File, i), func(t *testing.T) {
			data := ulogData(t, want)
			whole := want.Info != nil
			rows, broken := read(t, open(t, write(t, "a.ulg", data)))
			got := readULog(t, rows)
			if diff := gocmp.Diff(want.Topics, got.Topics); diff != "" {
				t.Errorf("topics (-want +got)\n%s", diff)
			}
			for _, line := range want.Lines {
				line[2] = strings.ToValidUTF8(line[2].(string), "")
			}
			if diff := gocmp.Diff(want.Lines, got.Lines); diff != "" {
				t.Errorf("lines (-want +got)\n%s", diff)
			}
			if !slices.Equal(want.Dropouts, got.Dropouts) || len(want.Changed) != len(got.Changed) {
				t.Errorf("got the dropouts %v and changes %v, want %v and %v", got.Dropouts, got.Changed, want.Dropouts, want.Changed)
			}
			if want.Corrupt && len(broken) == 0 {
				t.Error("the damage is not reported")
			}
			if !whole {
				return
			}

			if len(broken) > 0 {
				t.Errorf("got errors %v", broken)
			}
			if diff := gocmp.Diff(want.Info, got.Info); diff != "" {
				t.Errorf("info (-want +got)\n%s", diff)
			}
			if diff := gocmp.Diff(want.Changed, got.Changed); diff != "" {
				t.Errorf("changed (-want +got)\n%s", diff)
			}
			initial, _ := got.Initial.(map[string]any)
			if parameters, ok := want.Initial.(map[string]any); ok {
				for name, value := range parameters {
					if f, isNumber := value.(float64); isNumber {
						value, _ = strconv.ParseFloat(strconv.FormatFloat(f, 'g', -1, 32), 64)
					}
					if initial[name] != value {
						t.Errorf("the parameter %s is %v, want %v", name, initial[name], value)
					}
				}
			} else if float64(len(initial)) != want.Initial {
				t.Errorf("got %d parameters, want %v", len(initial), want.Initial)
			}

			packed, alsoBroken := read(t, open(t, write(t, "a.ulg.zst", zstded(t, data))))
			if len(packed) != len(rows) || len(alsoBroken) > 0 {
				t.Errorf("compressed: got %d of %d messages, errors %v", len(packed), len(rows), alsoBroken)
			}
			report, err := accounted(t, write(t, "a.ulg", data))
			if err != nil || report.Undecoded+report.Mistimed > 0 {
				t.Errorf("got %+v, %v", report, err)
			}
		})
	}
}

// Lines of a log become facts, and parameters that were changed stand in their context.
func TestWhatHappenedInAULog(t *testing.T) {
	sink := importerstest.New(t)
	src := open(t, filepath.Join("testdata", "ulog", "made.ulg"))
	report, err := recording.Import(t.Context(), src, recording.Options{Events: events.Builtin()}, sink, nil)
	if err != nil || report.Broken != "" {
		t.Fatalf("got %+v, %v", report, err)
	}
	var got []string
	for _, f := range sink.Facts {
		params, _ := json.Marshal(f.Context["params"])
		event, _ := f.Context["event"].(map[string]any)
		got = append(got, fmt.Sprintf("%s | %s | %v | %s", f.Outcome, f.Text, event["level"], params))
	}
	slices.Sort(got)
	want := []string{
		` | autopilot: [commander] low battery | WARN | null`,
		`failure | autopilot: [commander] engine failure | CRITICAL | {"MC_ROLL_P":7.25}`,
		`failure | autopilot: hard fault | EMERGENCY | {"MC_ROLL_P":7.25}`,
		`failure | failsafe of the autopilot | <nil> | {"MC_ROLL_P":7.25}`,
	}
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Errorf("facts (-want +got)\n%s", diff)
	}
	for _, p := range sink.Saved {
		if p.Metadata["topic"] != "/gyro/1" {
			continue
		}
		if got := perception.Summarize(perception.Item{MediaType: p.MediaType, Data: p.Data}); !strings.Contains(got, "200 messages of ulog/gyro on /gyro/1 over 1.99 s; xyz[0] peak") {
			t.Errorf("got %q", got)
		}
		return
	}
	t.Error("no segment of /gyro/1")
}

// ulogRecord is a record of a log.
func ulogRecord(kind byte, body string) string {
	return string(binary.LittleEndian.AppendUint16(nil, uint16(len(body)))) + string(kind) + body
}

// Infos of several parts are whole, also those at the end of a flight, and the defaults of parameters are kept.
func TestInfosAndDefaultsOfAULog(t *testing.T) {
	const top, float = "\x0echar[6] thetop", "\x0bfloat ALPHA"
	log := "ULog\x01\x12\x35\x01" + strings.Repeat("\x00", 8) +
		ulogRecord('M', "\x00"+top+"hello ") + ulogRecord('M', "\x01"+top+"world.") + ulogRecord('M', "\x00"+top+"second") +
		ulogRecord('P', float+"\x00\x00\x00\x40") + ulogRecord('Q', "\x03"+float+"\x00\x00\x80\x3f") +
		ulogRecord('F', "x:uint64_t timestamp;") + ulogRecord('A', "\x00\x00\x00x") + ulogRecord('D', "\x00\x00"+strings.Repeat("\x01", 8)) +
		ulogRecord('M', "\x00"+top+"after.")
	rows, broken := read(t, open(t, write(t, "x.ulg", []byte(log))))
	if len(broken) > 0 {
		t.Error(broken)
	}
	var got []string
	for _, r := range rows {
		said := map[string]any{}
		if r.Topic == "/x" {
			continue
		}
		if err := json.Unmarshal([]byte(r.Data), &said); err != nil {
			t.Fatal(err)
		}
		delete(said, "timestamp")
		text, _ := json.Marshal(said)
		got = append(got, string(text))
	}
	want := []string{
		`{"multiple":{"thetop":["hello world.","second"]}}`, `{"defaults":{"ALPHA":1},"initial":{"ALPHA":2}}`,
		`{"multiple":{"thetop":["after."]}}`,
	}
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func hostileULogs() map[string]string {
	head := "ULog\x01\x12\x35\x01" + strings.Repeat("\x00", 8)
	record := ulogRecord
	deep := ""
	for i := range 40 {
		deep += record('F', fmt.Sprintf("t%d:t%d x;", i, i+1))
	}
	return map[string]string{
		"head":         "ULog\x01\x12\x35",
		"record":       head + "\xff\xffD",
		"zero":         head + strings.Repeat("\x00", 1000),
		"no fields":    head + record('F', "x"),
		"no name":      head + record('F', "x:int8_t;"),
		"length":       head + record('F', "x:int8_t[99999999] a;"),
		"wide":         head + record('F', "x:double[60000] a;") + record('A', "\x00\x00\x00x"),
		"itself":       head + record('F', "x:x a;") + record('A', "\x00\x00\x00x"),
		"deep":         head + deep + record('A', "\x00\x00\x00t0"),
		"missing":      head + record('A', "\x00\x00\x00x"),
		"no topic":     head + record('D', "\x00"),
		"topic":        head + record('D', "\x07\x00"),
		"size":         head + record('F', "x:uint64_t timestamp;") + record('A', "\x00\x00\x00x") + record('D', "\x00\x00abc"),
		"line":         head + record('L', "4"),
		"key":          head + record('I', "\xff"),
		"flags":        head + record('I', "\x01x"),
		"subscription": head + record('A', "\x00"),
		"dropout":      head + record('O', "\x00"),
	}
}

func TestHostileULogs(t *testing.T) {
	for name, text := range hostileULogs() {
		t.Run(name, func(t *testing.T) {
			rows, broken := read(t, open(t, write(t, "x.ulg", []byte(text))))
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
	flags := "ULog\x01\x12\x35\x01" + strings.Repeat("\x00", 8) + "\x28\x00B" + strings.Repeat("\x00", 8) + "\x02" + strings.Repeat("\x00", 31)
	if _, err := recording.Open(t.Context(), write(t, "x.ulg", []byte(flags))); err == nil || !strings.Contains(err.Error(), "features that are not known") {
		t.Errorf("got %v", err)
	}
}

func FuzzULog(f *testing.F) {
	for _, text := range hostileULogs() {
		f.Add([]byte(text))
	}
	data, err := os.ReadFile(filepath.Join("testdata", "ulog", "made.ulg"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Fuzz(func(t *testing.T, data []byte) {
		const magic = "ULog\x01\x12\x35"
		drain(t, write(t, "x", append([]byte(magic), bytes.TrimPrefix(data, []byte(magic))...)))
	})
}

// ulogRecords returns where the records of a log begin and where the last one ends.
func ulogRecords(data []byte) (at []int) {
	for i := 16; i+3 <= len(data); i += 3 + int(binary.LittleEndian.Uint16(data[i:])) {
		at = append(at, i)
	}
	return append(at, len(data))
}

// No damage of a log loses a message without a word, unless it is cut between two records: a log has no end. Times
// that cannot be are counted.
func TestDamagedULogsLoseNothingSilently(t *testing.T) {
	made, err := os.ReadFile(filepath.Join("testdata", "ulog", "made.ulg"))
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		whole     []byte
		mutations uint64
	}{"made": {made, 400}, "of a flight": {realFile(t, "recordings/sample_log_small.ulg"), 40}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			before, err := accounted(t, write(t, "a.ulg", tt.whole))
			if err != nil {
				t.Fatal(err)
			}
			records, named := ulogRecords(tt.whole), uint64(0)
			for seed := range tt.mutations {
				rng := rand.New(rand.NewPCG(seed, 4))
				data, kind, mistimed := bytes.Clone(tt.whole), [...]string{"cut", "flipped", "flipped", "retimed"}[rng.IntN(4)], map[int]bool{}
				switch kind {
				case "cut":
					if data = data[:rng.IntN(len(data))]; slices.Contains(records, len(data)) {
						continue
					}
				case "flipped":
					for range 1 + rng.IntN(3) {
						data[rng.IntN(len(data))] ^= byte(1 << rng.IntN(8))
					}
				case "retimed":
					for range 20 {
						// The time is the first field of a message, behind its topic.
						if at := records[rng.IntN(len(records)-1)]; data[at+2] == 'D' {
							binary.LittleEndian.PutUint64(data[at+5:], []uint64{1<<64 - 1, 1 << 63, 9_300_000_000e6}[rng.IntN(3)])
							mistimed[at] = true
						}
					}
				}
				report, err := accounted(t, write(t, "a.ulg", data))
				where := fmt.Sprintf("seed %d, %s", seed, kind)
				switch {
				case err != nil:
					named++
				case kind == "retimed" && (report.Messages != before.Messages || report.Mistimed != uint64(len(mistimed)) || report.Broken != ""):
					t.Errorf("%s: %d of %d read, %d mistimed, want %d; %s", where, report.Messages, before.Messages, report.Mistimed, len(mistimed), report.Broken)
				case report.Broken != "" || report.UnknownSkipped > before.UnknownSkipped:
					named++
				case report.Messages < before.Messages:
					t.Errorf("%s: %d of %d were read without a word", where, report.Messages, before.Messages)
				}
				if report != nil && report.Messages > before.Messages+1 { // what a logger says of the flight may come in two parts
					t.Errorf("%s: %d of %d were read", where, report.Messages, before.Messages)
				}
			}
			if named < tt.mutations/4 {
				t.Errorf("only %d of %d mutations did any damage", named, tt.mutations)
			}
		})
	}
}
