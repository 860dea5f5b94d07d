package lerobot_test

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"

	"github.com/robotmem/robotmem-go/perception/importers"
	"github.com/robotmem/robotmem-go/perception/importers/lerobot"
)

const (
	v2Episodes = `{"episode_index": 0, "tasks": ["Pick up the glass."], "length": 25}
{"episode_index": 1, "tasks": ["Place the glass on the shelf."], "length": 12}

{"episode_index": 2, "tasks": ["Pick up the glass."], "length": 31}
`
	v2Tasks = `{"task_index": 0, "task": "Pick up the glass."}
{"task_index": 1, "task": "Place the glass on the shelf."}
`
)

// v2Dataset writes testdata/v30 in the layout of LeRobotDataset v2.1: a file for each episode.
func v2Dataset(t *testing.T, chunkSize int) string {
	t.Helper()
	dir := t.TempDir()
	write := func(name string, data []byte) {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}

	info, err := os.ReadFile("testdata/v30/meta/info.json")
	if err != nil {
		t.Fatal(err)
	}
	for old, with := range map[string]string{
		`"v3.0"`: `"v2.1"`, `"chunks_size": 1000`: fmt.Sprintf(`"chunks_size": %d`, chunkSize),
		"data/chunk-{chunk_index:03d}/file-{file_index:03d}.parquet": "data/chunk-{episode_chunk:03d}/episode_{episode_index:06d}.parquet",
	} {
		info = bytes.ReplaceAll(info, []byte(old), []byte(with))
	}
	write("meta/info.json", info)
	write("meta/episodes.jsonl", []byte(v2Episodes))
	write("meta/tasks.jsonl", []byte(v2Tasks))

	for index, rows := range v2Rows(t) {
		write(fmt.Sprintf("data/chunk-%03d/episode_%06d.parquet", index/chunkSize, index), rows)
	}
	return dir
}

// v2Rows are parquet files with the rows of each episode.
func v2Rows(t *testing.T) map[int][]byte {
	t.Helper()
	files, writers := map[int]*bytes.Buffer{}, map[int]*parquet.GenericWriter[any]{}
	for _, name := range []string{"file-000.parquet", "file-001.parquet"} {
		data, err := os.ReadFile(filepath.Join("testdata/v30/data/chunk-000", name))
		if err != nil {
			t.Fatal(err)
		}
		table, err := parquet.OpenFile(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			t.Fatal(err)
		}
		index := table.Root().Column("episode_index").Index()
		for _, group := range table.RowGroups() {
			rows, buf := group.Rows(), make([]parquet.Row, 1)
			for {
				n, err := rows.ReadRows(buf)
				if n == 1 {
					episode := -1
					buf[0].Range(func(column int, values []parquet.Value) bool {
						if column == index {
							episode = int(values[0].Int64())
						}
						return true
					})
					if writers[episode] == nil {
						files[episode] = new(bytes.Buffer)
						writers[episode] = parquet.NewGenericWriter[any](files[episode], table.Schema(), parquet.Compression(&parquet.Snappy), parquet.DataPageVersion(1))
					}
					if _, err := writers[episode].WriteRows(buf); err != nil {
						t.Fatal(err)
					}
				}
				if err == io.EOF {
					break
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			rows.Close()
		}
	}
	out := map[int][]byte{}
	for episode, w := range writers {
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		out[episode] = files[episode].Bytes()
	}
	return out
}

// A dataset gives the same sessions and traces in both versions of the format.
func TestVersion2(t *testing.T) {
	_, want := run(t, "testdata/v30", lerobot.Options{Name: "glass"})
	for _, chunkSize := range []int{1000, 2} {
		report, got := run(t, v2Dataset(t, chunkSize), lerobot.Options{Name: "glass"})
		if diff := cmp.Diff(&importers.Report{Sessions: 3, Perceptions: 18, Stored: 18, Messages: 68}, report); diff != "" {
			t.Errorf("chunks of %d: report (-want +got):\n%s", chunkSize, diff)
		}
		if diff := cmp.Diff(want.Sessions, got.Sessions); diff != "" {
			t.Errorf("chunks of %d: sessions (-v3 +v2):\n%s", chunkSize, diff)
		}
		if diff := cmp.Diff(want.Saved, got.Saved); diff != "" {
			t.Errorf("chunks of %d: perceptions (-v3 +v2):\n%s", chunkSize, diff)
		}
	}
}

func TestDamageOfVersion2(t *testing.T) {
	const episodes = "meta/episodes.jsonl"
	for name, test := range map[string]struct {
		file, old, with string
		sessions        int
		want            string
	}{
		"a line is no JSON":      {episodes, `{"episode_index": 1`, `{"episode_index": `, 2, "meta/episodes.jsonl, line 2"},
		"a line without index":   {episodes, `{"episode_index": 1, `, `{`, 2, "it has no episode_index"},
		"listed twice":           {episodes, `"episode_index": 1`, `"episode_index": 0`, 2, "listed twice"},
		"negative":               {episodes, `"episode_index": 1`, `"episode_index": -1`, 2, "index -1"},
		"another length":         {episodes, `"length": 12`, `"length": 13`, 2, "meta/episodes.jsonl claims 13 consecutive frames"},
		"an absurd length":       {episodes, `"length": 12`, `"length": 9000000000000000000`, 2, "its length is"},
		"a file of another":      {episodes, `"episode_index": 2`, `"episode_index": 7`, 2, "no such file"},
		"a very long line":       {episodes, `"Place the`, `"` + strings.Repeat("x", 2<<20), 1, "token too long"},
		"chunks of another size": {"meta/info.json", `"chunks_size": 1000`, `"chunks_size": 1`, 1, "no such file"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := v2Dataset(t, 1000)
			path := filepath.Join(dir, test.file)
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, bytes.Replace(data, []byte(test.old), []byte(test.with), 1), 0o600); err != nil {
				t.Fatal(err)
			}
			report, _ := run(t, dir, lerobot.Options{})
			said := report.Broken + fmt.Sprint(report.Skipped)
			if report.Sessions != test.sessions || !strings.Contains(said, test.want) {
				t.Errorf("got %d sessions, want %d; %s, want %q", report.Sessions, test.sessions, said, test.want)
			}
		})
	}
}
