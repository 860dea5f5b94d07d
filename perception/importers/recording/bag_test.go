package recording_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/robotmem/robotmem-go/perception"
	"github.com/robotmem/robotmem-go/perception/importers/recording"
	"github.com/robotmem/robotmem-go/perception/segment"
)

const bagHead = "rosbag2_bagfile_information:\n"

// folder writes files by their names.
func folder(t testing.TB, files map[string][]byte) string {
	t.Helper()
	dir := t.TempDir()
	for name, data := range files {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// vecs is a file of n messages from the i-th second on.
func vecs(t testing.TB, i uint64, n int) []byte {
	t.Helper()
	var messages []segment.Message
	for k := range n {
		at := 1_700_000_000e9 + i*1e9 + uint64(k)*1e7
		messages = append(messages, segment.Message{LogTime: at, PublishTime: at, Data: vecMessage(float64(k))})
	}
	return mcapOf(t, vec(), messages)
}

func zstded(t testing.TB, data []byte) []byte {
	t.Helper()
	enc, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer enc.Close()
	return enc.EncodeAll(data, nil)
}

// A folder is one recording of its files, in the order of their numbers, whatever names them.
func TestBagFolders(t *testing.T) {
	a, b, c := vecs(t, 0, 10), vecs(t, 1, 20), vecs(t, 2, 30)
	for name, test := range map[string]struct {
		files    map[string][]byte
		messages uint64
		broken   string
	}{
		"a killed recorder":     {map[string][]byte{"k_2.mcap": b, "k_10.mcap": c, "k_0.mcap": a, "notes.txt": nil}, 60, ""},
		"a half-written list":   {map[string][]byte{"k_0.mcap": a, "metadata.yaml": []byte("\n")}, 10, ""},
		"the last file is new":  {map[string][]byte{"k_0.mcap": a, "k_1.mcap": nil}, 10, "k_1.mcap"},
		"the last file is cut":  {map[string][]byte{"k_0.mcap": a, "k_1.mcap": b[:len(b)/2]}, 0, "k_1.mcap"},
		"a file is another one": {map[string][]byte{"k_0.mcap": a, "k_1.mcap": []byte("hello")}, 10, "k_1.mcap"},
		"names of old releases": {map[string][]byte{"a_0.mcap": a, "metadata.yaml": []byte(bagHead + "  relative_file_paths: [rosbag2_2023/a_0.mcap]\n")}, 10, ""},
		"compressed since":      {map[string][]byte{"a_0.mcap.zstd": zstded(t, a), "metadata.yaml": []byte(bagHead + "  relative_file_paths: [a_0.mcap]\n")}, 10, ""},
		"unpacked since":        {map[string][]byte{"a_0.mcap": a, "metadata.yaml": []byte(bagHead + "  compression_mode: FILE\n  relative_file_paths: [a_0.mcap.zstd]\n")}, 10, ""},
		"compressed as files":   {map[string][]byte{"a_0.mcap.zstd": zstded(t, a), "a_1.mcap.zstd": zstded(t, b), "metadata.yaml": []byte(bagHead + "  compression_mode: FILE\n  relative_file_paths: [a_0.mcap.zstd, a_1.mcap.zstd]\n")}, 30, ""},
	} {
		t.Run(name, func(t *testing.T) {
			dir := folder(t, test.files)
			if !recording.RecognizesFolder(dir) {
				t.Error("the folder is not recognized")
			}
			src := open(t, dir)
			s := newStore()
			report := importAll(t, src, recording.Options{}, s)
			if test.messages > 0 && report.Messages != test.messages {
				t.Errorf("got %d messages, want %d", report.Messages, test.messages)
			}
			if test.broken == "" && report.Broken != "" || !strings.Contains(report.Broken, test.broken) {
				t.Errorf("got %q, want %q", report.Broken, test.broken)
			}
			rows, _ := read(t, src)
			for i := 1; i < len(rows); i++ {
				if rows[i].LogTime < rows[i-1].LogTime {
					t.Fatalf("message %d comes before the one that follows it", i)
				}
			}
			if len(s.sessions) != 1 {
				t.Errorf("got %d sessions", len(s.sessions))
			}
		})
	}
}

// A recording has the same ID however its files are compressed.
func TestCompressedFilesAreTheSameRecording(t *testing.T) {
	data := vecs(t, 0, 50)
	db3, err := os.ReadFile(db3Of(t, []int64{1, 2}, [][]byte{vecMessage(1), vecMessage(2)}))
	if err != nil {
		t.Fatal(err)
	}
	for name, plain := range map[string][]byte{"x.mcap": data, "x.db3": db3} {
		one, two := open(t, write(t, name, plain)), open(t, write(t, name+".zst", zstded(t, plain)))
		a, err1 := one.ID(t.Context())
		b, err2 := two.ID(t.Context())
		if err := errors.Join(err1, err2); err != nil || a != b {
			t.Errorf("%s: got %s and %s, %v", name, a, b, err)
		}
		rows, broken := read(t, one)
		packed, alsoBroken := read(t, two)
		if len(broken)+len(alsoBroken) > 0 || len(rows) == 0 || len(rows) != len(packed) {
			t.Errorf("%s: got %d and %d messages, errors %v %v", name, len(rows), len(packed), broken, alsoBroken)
		}
	}

	// A compressed file that is cut gives what comes before.
	noise := syntheticBytes(t, 4<<20)
	packed := zstded(t, noise)
	rows, broken := read(t, open(t, write(t, "cut.mcap.zst", packed[:len(packed)*3/4])))
	if whole, _ := read(t, open(t, write(t, "x.mcap", noise))); len(rows) > len(whole) || len(broken) != 1 {
		t.Errorf("got %d of %d messages, errors %v", len(rows), len(whole), broken)
	}
}

func TestNamesThatPromiseARecording(t *testing.T) {
	for name, test := range map[string]struct{ data, want string }{
		"empty.mcap":    {"", "empty.mcap is empty"},
		"empty.db3":     {"", "empty.db3 is empty"},
		"text.mcap":     {`{"insight":"x"}`, "text.mcap is not a recording"},
		"text.mcap.zst": {string(zstded(t, []byte("hello"))), "text.mcap.zst holds no recording"},
	} {
		_, err := recording.Open(t.Context(), write(t, name, []byte(test.data)))
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got %v, want %q", name, err, test.want)
		}
	}
	dir := folder(t, map[string][]byte{"a_0.mcap": vecs(t, 0, 1), "metadata.yaml": []byte(bagHead + "  relative_file_paths: [a_0.mcap, a_1.mcap, a_2.mcap]\n")})
	_, err := recording.Open(t.Context(), dir)
	for _, want := range []string{"a_1.mcap", "a_2.mcap", "put it back", "remove metadata.yaml"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	if recording.RecognizesFolder(folder(t, map[string][]byte{"a.csv": nil})) {
		t.Error("a folder of tables is recognized")
	}
}

// Service events are decoded by the .srv that the file holds.
func TestServiceEvents(t *testing.T) {
	for _, name := range []string{"topics_and_services.mcap", "topics_and_services.db3"} {
		s := newStore()
		report := importAll(t, open(t, filepath.Join(rosbag2(t), name)), recording.Options{}, s)
		if report.Undecoded != 0 || report.Messages != 13 {
			t.Errorf("%s: %d of %d messages are not decoded: %v", name, report.Undecoded, report.Messages, report.Topics)
		}
		p := s.of("/add_two_ints/_service_event")[0]
		samples, err := perception.MakeSamples(perception.Item{MediaType: p.MediaType, Data: p.Data}, perception.SamplesOptions{})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var names []string
		for _, c := range samples.Channels {
			names = append(names, c.Name)
		}
		if got := strings.Join(names, " "); !strings.Contains(got, "info.event_type info.sequence_number") {
			t.Errorf("%s: got channels %s", name, got)
		}
	}
}

// The metadata.yaml of every release of rosbag2 is read: versions 1 to 9 of its form.
func TestMetadataOfAllReleases(t *testing.T) {
	a, b := vecs(t, 0, 10), vecs(t, 1, 20)
	for version := 1; version <= 9; version++ {
		t.Run(fmt.Sprint(version), func(t *testing.T) {
			folderOf, qos, files := "run/", "", ""
			// Version 4 has names within the folder, and how topics were offered, which version 9 writes as a list.
			switch {
			case version >= 9:
				folderOf, qos = "", "        offered_qos_profiles:\n          - history: keep_last\n            depth: 10\n            reliability: reliable\n"
			case version >= 4:
				folderOf, qos = "", "        offered_qos_profiles: \"- history: 3\\n  depth: 0\"\n"
			}
			if version >= 7 {
				qos += "        type_description_hash: RIHS01_00\n"
			}
			if version >= 5 {
				for i, n := range []int{10, 20} {
					files += fmt.Sprintf("    - path: run_%d.mcap\n      starting_time:\n        nanoseconds_since_epoch: 170000000%d000000000\n      duration:\n        nanoseconds: 90000000\n      message_count: %d\n", i, i, n)
				}
				files = "  files:\n" + files
			}
			text := fmt.Sprintf("%s  version: %d\n  storage_identifier: mcap\n", bagHead, version)
			text += fmt.Sprintf("  relative_file_paths:\n    - %[1]srun_0.mcap\n    - %[1]srun_1.mcap\n", folderOf)
			text += "  duration:\n    nanoseconds: 1190000000\n  starting_time:\n    nanoseconds_since_epoch: 1700000000000000000\n  message_count: 30\n"
			text += "  topics_with_message_count:\n    - topic_metadata:\n        name: /t\n        type: own/msg/Vec\n        serialization_format: cdr\n" + qos + "      message_count: 30\n"
			if version >= 3 {
				text += "  compression_format: \"\"\n  compression_mode: \"\"\n"
			}
			text += files
			if version >= 6 {
				text += "  custom_data: ~\n"
			}
			if version >= 8 {
				text += "  ros_distro: jazzy\n"
			}

			report := importAll(t, open(t, folder(t, map[string][]byte{"run_0.mcap": a, "run_1.mcap": b, "metadata.yaml": []byte(text)})), recording.Options{}, newStore())
			if report.Messages != 30 || report.Broken != "" || report.Undecoded > 0 {
				t.Errorf("got %+v", report)
			}
			// One message is missing, and is missed.
			short := strings.Replace(text, "message_count: 30", "message_count: 31", 1)
			report = importAll(t, open(t, folder(t, map[string][]byte{"run_0.mcap": a, "run_1.mcap": b, "metadata.yaml": []byte(short)})), recording.Options{}, newStore())
			if report.Messages != 30 || report.Lost != 1 {
				t.Errorf("got %+v", report)
			}
		})
	}
}
