package lerobot

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/robotmem/robotmem-go/perception/importers/importerstest"
)

func seed(f *testing.F, name string) []byte {
	f.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		f.Fatal(err)
	}
	return data
}

// FuzzInfo gives a whole import an info.json and a table of episodes.
func FuzzInfo(f *testing.F) {
	episodes := seed(f, "testdata/v30/meta/episodes/chunk-000/file-000.parquet")
	f.Add(seed(f, "testdata/v30/meta/info.json"), episodes)
	f.Add([]byte(`{"codebase_version":"v3.0","fps":1,"data_path":"data/chunk-{chunk_index:03d}/file-{file_index:03d}.parquet","features":{"a":{"dtype":"int64","names":{"x":0}}}}`), episodes)
	data := seed(f, "testdata/v30/data/chunk-000/file-000.parquet")
	f.Fuzz(func(t *testing.T, info, episodes []byte) {
		dir := t.TempDir()
		for name, content := range map[string][]byte{
			"meta/info.json": info, "meta/episodes/chunk-000/file-000.parquet": episodes, "data/chunk-000/file-000.parquet": data,
		} {
			path := filepath.Join(dir, name)
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, content, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		// The sink fails the test when a limit is broken.
		report, err := Import(t.Context(), dir, importerstest.New(t), Options{Name: "fuzz"})
		if err == nil && report.Stored != report.Perceptions {
			t.Errorf("%d of %d perceptions were stored: two have one origin", report.Stored, report.Perceptions)
		}
	})
}

// FuzzParquet reads every column of a damaged data file.
func FuzzParquet(f *testing.F) {
	for _, name := range []string{
		"testdata/episode.parquet", "testdata/v30/meta/tasks.parquet", "testdata/v30/meta/episodes/chunk-000/file-000.parquet",
	} {
		f.Add(seed(f, name))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		table, err := openTable(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			return
		}
		var leaves func(c *parquet.Column) []*parquet.Column
		leaves = func(c *parquet.Column) (out []*parquet.Column) {
			if c.Leaf() {
				return []*parquet.Column{c}
			}
			for _, child := range c.Columns() {
				out = append(out, leaves(child)...)
			}
			return out
		}
		const most = 1 << 16 // rows: a run of one value can be long
		enough := errors.New("enough rows")
		for g := range table.Metadata().RowGroups {
			for _, c := range leaves(table.Root()) {
				rows := 0
				table.rows(g, []field{{c, func(v parquet.Value) error {
					number(v)
					text(v)
					return nil
				}}}, func() error {
					if rows++; rows > most {
						return enough
					}
					return nil
				})
			}
		}
	})
}

func TestLengthsAreCheckedBeforeTheyAreBelieved(t *testing.T) {
	tests := []struct {
		name  string
		bytes []byte
		ok    bool
	}{
		{"an integer", []byte{0x15, 0x02, 0}, true},
		{"a list of two bytes", []byte{0x19, 0x23, 1, 2, 0}, true},
		{"a list of 2^31 structs", []byte{0x19, 0xfc, 0xff, 0xff, 0xff, 0xff, 0x07, 0}, false},
		{"a string of 2^31 bytes", []byte{0x18, 0xff, 0xff, 0xff, 0xff, 0x07, 0}, false},
		{"a string of 2^64-12 bytes", []byte{0x18, 0xf4, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01, 0}, false},
		{"a map", []byte{0x1b, 0, 0}, false},
		{"no end", []byte{0x15, 0x02}, false},
		{"a hundred lists, each in another", append(bytes.Repeat([]byte{0x19}, 100), 0x13, 5, 0), false},
		{"structs without end", bytes.Repeat([]byte{0x1c}, 100), false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := thriftSize(tt.bytes); (err == nil) != tt.ok {
				t.Errorf("error %v, want one: %v", err, !tt.ok)
			}
		})
	}
}
