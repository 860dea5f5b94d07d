package lerobot_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"

	"github.com/robotmem/robotmem-go/perception/importers"
	"github.com/robotmem/robotmem-go/perception/importers/importerstest"
	"github.com/robotmem/robotmem-go/perception/importers/lerobot"
)

func run(t *testing.T, folder string, o lerobot.Options) (*importers.Report, *importerstest.Memory) {
	t.Helper()
	sink := importerstest.New(t)
	report, err := lerobot.Import(t.Context(), folder, sink, o)
	if err != nil {
		t.Fatal(err)
	}
	return report, sink
}

func TestImport(t *testing.T) {
	for _, folder := range []string{"v30"} {
		t.Run(folder, func(t *testing.T) {
			report, sink := run(t, "testdata/"+folder, lerobot.Options{Name: "glass"})
			perceptions := 3 * 6 // of each episode: state, effort, action, done, reward, success
			want := &importers.Report{Sessions: 3, Perceptions: perceptions, Stored: perceptions, Messages: 68}
			if diff := cmp.Diff(want, report); diff != "" {
				t.Errorf("report (-want +got):\n%s", diff)
			}
			for i, outcome := range []float64{1, 0, 1} {
				s := sink.Sessions["lerobot/glass/episode/00000"+string(rune('0'+i))]
				if s == nil || !s.Ended || s.Ending.Outcome == nil || *s.Ending.Outcome != outcome {
					t.Errorf("episode %d: session %+v, want it ended with %v", i, s, outcome)
				}
			}
		})
	}
}

func TestTraceHoldsTheNumbersOfTheDataset(t *testing.T) {
	_, sink := run(t, "testdata/v30", lerobot.Options{Name: "glass"})
	joints := []string{"shoulder_pan.pos", "shoulder_lift.pos", "elbow_flex.pos", "wrist_flex.pos", "wrist_roll.pos", "gripper.pos"}
	tests := []struct {
		feature, kind, description string
		metadata                   map[string]any
		at                         func(i, c int) float64 // as testdata/make.py
		tolerance                  float64
	}{
		{"observation.state", "proprioceptive", "Place the glass on the shelf: observation state, 12 samples of 6 channels at 10 Hz, episode 1 of glass, so101 follower",
			map[string]any{"feature": "observation.state", "dtype": "<f8", "shape": []int64{12, 6}, "rate_hz": 10.0, "channels": joints},
			func(i, c int) float64 { return 2 * math.Sin(float64(i)/10+float64(c)) }, 1e-6},
		{"action", "procedural", "Place the glass on the shelf: action, 12 samples of 6 channels at 10 Hz, episode 1 of glass, so101 follower",
			map[string]any{"feature": "action", "dtype": "<f8", "shape": []int64{12, 6}, "rate_hz": 10.0, "channels": joints},
			func(i, c int) float64 { return 2*math.Sin(float64(i)/10+float64(c)) + 0.125 }, 1e-6},
		{"observation.effort", "proprioceptive", "Place the glass on the shelf: observation effort, 12 samples of 2 channels at 10 Hz, episode 1 of glass, so101 follower",
			map[string]any{"feature": "observation.effort", "dtype": "<f8", "shape": []int64{12, 2}, "rate_hz": 10.0, "channels": []string{"elbow", "gripper"}},
			func(i, c int) float64 { return float64(i) / 10 * float64(1-2*c) }, 0},
		{"next.reward", "proprioceptive", "Place the glass on the shelf: next reward, 12 samples of 1 channel at 10 Hz, episode 1 of glass, so101 follower",
			map[string]any{"feature": "next.reward", "dtype": "<f8", "shape": []int64{12, 1}, "rate_hz": 10.0},
			func(i, _ int) float64 { return float64(float32(float64(i) / 11)) }, 0},
	}
	for _, tt := range tests {
		t.Run(tt.feature, func(t *testing.T) {
			p, ok := sink.Saved["lerobot/glass/episode/000001/"+tt.feature]
			if !ok {
				t.Fatalf("not saved; there are %q", sink.Order)
			}
			if p.Type != tt.kind || p.MediaType != "application/x-samples" || p.Session != "lerobot/glass/episode/000001" || p.Messages != 12 {
				t.Errorf("got %s, %s in %q of %d frames", p.Type, p.MediaType, p.Session, p.Messages)
			}
			if p.Description != tt.description {
				t.Errorf("described as %q, want %q", p.Description, tt.description)
			}
			if diff := cmp.Diff(tt.metadata, p.Metadata); diff != "" {
				t.Errorf("metadata (-want +got):\n%s", diff)
			}
			width := int(p.Metadata["shape"].([]int64)[1])
			got := numbers(t, p.Data, p.Metadata["dtype"].(string))
			if len(got) != 12*width {
				t.Fatalf("%d numbers, want %d", len(got), 12*width)
			}
			for n, v := range got {
				if want := tt.at(n/width, n%width); math.Abs(v-want) > tt.tolerance {
					t.Fatalf("sample %d, channel %d: %v, want %v", n/width, n%width, v, want)
				}
			}
		})
	}
}

func numbers(t *testing.T, data []byte, dtype string) []float64 {
	t.Helper()
	var out []float64
	for len(data) >= 8 || dtype == "<f4" && len(data) >= 4 {
		if dtype == "<f4" {
			out, data = append(out, float64(math.Float32frombits(binary.LittleEndian.Uint32(data)))), data[4:]
		} else {
			out, data = append(out, math.Float64frombits(binary.LittleEndian.Uint64(data))), data[8:]
		}
	}
	return out
}

func TestEpisodesThatAreWanted(t *testing.T) {
	report, sink := run(t, "testdata/v30", lerobot.Options{Name: "glass", Episodes: []lerobot.Range{{First: 1, Last: 1}}})
	want := []string{"action", "next.done", "next.reward", "next.success", "observation.effort", "observation.state"}
	for i := range want {
		want[i] = "lerobot/glass/episode/000001/" + want[i]
	}
	if diff := cmp.Diff(want, sink.Order); diff != "" {
		t.Errorf("saved (-want +got):\n%s", diff)
	}
	if report.Sessions != 1 || report.Messages != 12 || report.Broken != "" {
		t.Errorf("report %+v", report)
	}
}

func TestAgainStoresNothing(t *testing.T) {
	_, sink := run(t, "testdata/v30", lerobot.Options{Name: "glass"})
	report, err := lerobot.Import(t.Context(), "testdata/v30", sink, lerobot.Options{Name: "glass"})
	if err != nil {
		t.Fatal(err)
	}
	want := &importers.Report{Ended: 3, Skipped: map[string]map[string]int64{
		"episode 0": {"imported before": 25}, "episode 1": {"imported before": 12}, "episode 2": {"imported before": 31},
	}}
	if diff := cmp.Diff(want, report); diff != "" {
		t.Errorf("report (-want +got):\n%s", diff)
	}
}

// dataset is a copy of testdata/v30 with some files changed; nil removes one.
func dataset(t *testing.T, change map[string]func([]byte) []byte) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("testdata/v30")); err != nil {
		t.Fatal(err)
	}
	for name, f := range change {
		path := filepath.Join(dir, name)
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if data = f(data); data == nil {
			err = os.Remove(path)
		} else {
			err = os.WriteFile(path, data, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func replace(old, with string) func([]byte) []byte {
	return func(b []byte) []byte { return bytes.ReplaceAll(b, []byte(old), []byte(with)) }
}

func TestNoDatasetThatIsRead(t *testing.T) {
	const info = "meta/info.json"
	tests := []struct {
		name string
		edit func([]byte) []byte
		want string
	}{
		{"no info.json", func([]byte) []byte { return nil }, "meta/info.json is missing; the folder is not a LeRobot dataset"},
		{"not JSON", replace(`"fps": 10,`, `"fps": 10`), "meta/info.json: invalid character"},
		{"version 1.6", replace(`"v3.0"`, `"v1.6"`), `has the format "v1.6"; v2.0, v2.1 and v3 are read`},
		{"paths of version 3", replace(`"v3.0"`, `"v2.1"`), `data_path is "data/chunk-{chunk_index`},
		{"no chunks", func(b []byte) []byte {
			return replace(`"chunks_size": 1000`, `"chunks_size": 0`)(replace(`"v3.0"`, `"v2.1"`)(b))
		}, "chunks_size is 0"},
		{"version 4", replace(`"v3.0"`, `"v4.0"`), `has the format "v4.0"; v2.0, v2.1 and v3 are read`},
		{"no rate", replace(`"fps": 10`, `"fps": 0`), "fps is 0"},
		{"absurd shape", replace("                2\n", "                4000000000\n"), "side of 4000000000; 1 to 65536 are read"},
		{"path upwards", replace("data/chunk-", "../../chunk-"), `data_path is "../../chunk-`},
		{"absolute path", replace("data/chunk-", "/etc/chunk-"), `data_path is "/etc/chunk-`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			sink := importerstest.New(t)
			_, err := lerobot.Import(t.Context(), dataset(t, map[string]func([]byte) []byte{info: tt.edit}), sink, lerobot.Options{})
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want %q", err, tt.want)
			}
			if len(sink.Order) != 0 {
				t.Errorf("saved %q", sink.Order)
			}
		})
	}
}

func TestDamageLeavesTheRestWhole(t *testing.T) {
	const first, second = "data/chunk-000/file-000.parquet", "data/chunk-000/file-001.parquet"
	tests := []struct {
		name, file string
		edit       func([]byte) []byte
		sessions   int
		want       string
	}{
		{"file is missing", second, func([]byte) []byte { return nil }, 2, "no such file"},
		{"file is cut short", first, func(b []byte) []byte { return b[:len(b)/2] }, 1, "cut short"},
		{"file is empty", first, func(b []byte) []byte { return b[:0:0] }, 1, "a file of 0 bytes is too short for parquet"},
		{"footer claims too much", first, func(b []byte) []byte {
			binary.LittleEndian.PutUint32(b[len(b)-8:], 1<<31)
			return b
		}, 1, "the parquet footer claims 2147483648 bytes"},
		{"page is overwritten", first, func(b []byte) []byte {
			copy(b[4:200], bytes.Repeat([]byte{0xff}, 196))
			return b
		}, 2, "row group 0"},
		{"frames fewer than claimed", "meta/info.json", replace(`"total_frames": 68`, `"total_frames": 69`), 3, "it claims 3 episodes of 69 frames; meta/episodes lists 3 of 68"},
		{"absurd number of episodes", "meta/info.json", replace(`"total_episodes": 3`, `"total_episodes": 3000000000`), 3, "it claims 3000000000 episodes of 68 frames; meta/episodes lists 3 of 68"},
		{"vector is longer than claimed", "meta/info.json", func(b []byte) []byte {
			return bytes.Replace(b, []byte("                6\n"), []byte("                5\n"), 1)
		}, 0, "more than the 5 numbers that meta/info.json claims"},
		{"vector is shorter than claimed", "meta/info.json", func(b []byte) []byte {
			return bytes.Replace(b, []byte("                6\n"), []byte("                7\n"), 1)
		}, 0, "has 6 numbers; meta/info.json claims 7"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			report, _ := run(t, dataset(t, map[string]func([]byte) []byte{tt.file: tt.edit}), lerobot.Options{})
			if report.Sessions != tt.sessions {
				t.Errorf("%d sessions, want %d", report.Sessions, tt.sessions)
			}
			if !strings.Contains(report.Broken, tt.want) {
				t.Errorf("broken: %q, want %q", report.Broken, tt.want)
			}
		})
	}
}

func TestEpisodeThatLies(t *testing.T) {
	type row struct {
		Index   int64   `parquet:"episode_index"`
		Task    string  `parquet:"tasks,plain"`
		Length  int64   `parquet:"length"`
		Chunk   int64   `parquet:"data/chunk_index"`
		File    int64   `parquet:"data/file_index"`
		From    int64   `parquet:"dataset_from_index"`
		To      int64   `parquet:"dataset_to_index"`
		InChunk int64   `parquet:"videos/observation.images.top/chunk_index"`
		InFile  int64   `parquet:"videos/observation.images.top/file_index"`
		Start   float64 `parquet:"videos/observation.images.top/from_timestamp"`
		End     float64 `parquet:"videos/observation.images.top/to_timestamp"`
	}
	var table bytes.Buffer
	rows := []row{{Index: 0, Length: 25, To: 25}, {Index: 1, Length: 13, From: 25, To: 38}, {Index: 2, Length: 31, File: 1, From: 37, To: 68},
		{Index: 2, Length: 1, To: 1}, {Index: -4, Length: 1, To: 1}}
	if err := parquet.Write(&table, rows, parquet.Compression(&parquet.Snappy), parquet.DataPageVersion(1)); err != nil {
		t.Fatal(err)
	}
	dir := dataset(t, map[string]func([]byte) []byte{"meta/episodes/chunk-000/file-000.parquet": func([]byte) []byte { return table.Bytes() }})
	report, sink := run(t, dir, lerobot.Options{Name: "glass"})
	if report.Sessions != 2 || sink.Sessions["lerobot/glass/episode/000001"] != nil {
		t.Errorf("%d sessions, broken %q, episode 1: %v", report.Sessions, report.Broken, sink.Sessions["lerobot/glass/episode/000001"])
	}
	for what, reason := range map[string]string{
		"episode 1":  "meta/episodes claims 13 consecutive frames; data/chunk-000/file-000.parquet has 12",
		"episode 2":  "it is listed twice",
		"episode -4": "index -4",
	} {
		found := false
		for got := range report.Skipped[what] {
			found = found || strings.HasPrefix(got, reason)
		}
		if !found {
			t.Errorf("%s: skipped for %v, want %q", what, report.Skipped[what], reason)
		}
	}
}

func TestLinkOutOfTheDataset(t *testing.T) {
	dir := dataset(t, nil)
	outside := filepath.Join(t.TempDir(), "secret.parquet")
	inside := filepath.Join(dir, "data/chunk-000/file-001.parquet")
	if err := os.Rename(inside, outside); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, inside); err != nil {
		t.Fatal(err)
	}
	report, _ := run(t, dir, lerobot.Options{})
	if report.Sessions != 2 || !strings.Contains(report.Broken, "file-001.parquet") {
		t.Errorf("%d sessions, broken: %q", report.Sessions, report.Broken)
	}
}

func TestFailureOfTheSinkEndsTheImport(t *testing.T) {
	sink := importerstest.New(t)
	sink.Fail = fs.ErrPermission
	if _, err := lerobot.Import(t.Context(), "testdata/v30", sink, lerobot.Options{}); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("error %v, want the sink's", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := lerobot.Import(ctx, "testdata/v30", importerstest.New(t), lerobot.Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want cancellation", err)
	}
}
