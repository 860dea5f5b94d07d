package local_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/ncruces/go-sqlite3"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/admin"
	"github.com/robotmem/robotmem-go/robotmem/local"
)

// A file of every past version opens with its content. The stored files were written by
// the program of that version and must not be rewritten.
func TestStoredVersionsOpen(t *testing.T) {
	files, err := filepath.Glob("testdata/v*.db.gz")
	if err != nil || len(files) == 0 {
		t.Fatal("no stored files", err)
	}
	for _, name := range files {
		t.Run(filepath.Base(name), func(t *testing.T) {
			e := openAt(t, unzip(t, name), local.Options{})
			l, err := e.List(t.Context(), &robotmem.ListRequest{Status: "all"})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, m := range l.Memories {
				got = append(got, m.Status+": "+m.Content)
			}
			want := []string{
				"invalidated: a mistake",
				"active: force trace of a slip",
				"active: 抓取湿玻璃时必须降低速度",
				"active: the glass slipped because the pad was worn",
				"active: grip_force=12.5 N holds wet glass",
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("memories (-want +got):\n%s", diff)
			}
			found := recall(t, e, &robotmem.RecallRequest{
				Query: "wet glass", Collection: "arm", ContextFilter: robotmem.Object{"params.grip_force": 12.5},
				SpatialSort: &robotmem.SpatialSort{Field: "spatial.position", Target: []float64{1, 2, 0}, FrameID: "map"},
			})
			if found.Total != 1 || *found.Memories[0].Distance != 0.5 {
				t.Errorf("recall finds %+v", found.Memories)
			}
			h, err := e.History(t.Context(), &robotmem.MemoryRequest{MemoryID: 2})
			if err != nil || len(h.Versions) != 2 || h.Versions[0].Content != "the glass slipped because the pad was dusty" {
				t.Errorf("history %+v, %v", h, err)
			}
			data, err := e.Data(t.Context(), &robotmem.MemoryRequest{MemoryID: 4})
			if err != nil || string(data.DataBase64) != "Fx,Fy\n1,2\n3,4\n" {
				t.Errorf("data %+v, %v", data, err)
			}
			past, err := e.Sessions(t.Context(), &robotmem.SessionsRequest{})
			if err != nil {
				t.Fatal(err)
			}
			if past.Total != 1 {
				t.Errorf("%d sessions, want the one", past.Total)
			}
			for _, s := range past.Sessions {
				got, err := e.Session(t.Context(), &robotmem.SessionRequest{SessionID: s.SessionID})
				if err != nil || got.Status != "ended" || got.MemoryCount == 0 || got.Summary == nil || got.Summary.Facts == 0 {
					t.Errorf("session %+v, %v", got, err)
				}
			}
			d, err := e.Doctor(t.Context(), &admin.DoctorRequest{Deep: true})
			if err != nil || !d.Healthy {
				t.Errorf("doctor %+v, %v", d, err)
			}
		})
	}
}

// Pages of version 5 have reserved bytes for a checksum. Opening rewrites the file
// without them, regardless of changes by other programs.
func TestReservedBytesAreDropped(t *testing.T) {
	const reservedAt = 20
	for name, script := range map[string]string{
		"as it was":           "",
		"written to by stock": "db.execute(\"update counters set value = value + 1 where name = 'recalls'\"); db.commit()",
		"vacuumed by stock":   "db.execute('vacuum')",
	} {
		t.Run(name, func(t *testing.T) {
			path := unzip(t, "testdata/v5.db.gz")
			if script != "" {
				stock(t, path, script)
			}
			e, err := local.Open(t.Context(), path, local.Options{})
			if err != nil {
				t.Fatal(err)
			}
			d, err := e.Doctor(t.Context(), &admin.DoctorRequest{Deep: true})
			if err != nil || !d.Healthy {
				t.Errorf("doctor %+v, %v", d, err)
			}
			for _, suffix := range []string{"-wal", "-shm"} {
				if info, err := os.Stat(path + suffix); err != nil || info.Mode().Perm() != 0o600 {
					t.Errorf("%s: %v, %v; want mode 0600", suffix, info, err)
				}
			}
			if err := e.Close(); err != nil {
				t.Fatal(err)
			}
			data, err := os.ReadFile(path)
			if err != nil || data[reservedAt] != 0 {
				t.Errorf("%d bytes of each page are reserved, want 0; %v", data[reservedAt], err)
			}
		})
	}
}

// A file is not migrated while another program has it open, which would continue to
// write older rows: they have no checksum, and count as damaged.
func TestMigrationNeedsTheFileForItself(t *testing.T) {
	path := unzip(t, "testdata/v5.db.gz")
	older, err := sqlite3.Open("file:" + path)
	if err != nil {
		t.Fatal(err)
	}
	if err := older.Exec("SELECT count(*) FROM memories"); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	e, err := local.Open(t.Context(), path, local.Options{BusyTimeout: 50 * time.Millisecond})
	if !errors.Is(err, robotmem.Unavailable) || !strings.Contains(err.Error(), "stop every robotmem") {
		t.Errorf("opening beside an older program: %v, want unavailable with the next step", err)
	}
	if err == nil {
		t.Fatal(e.Close())
	}
	if after, err := os.ReadFile(path); err != nil || !bytes.Equal(before, after) {
		t.Errorf("the file has changed, %v", err)
	}
	if err := older.Close(); err != nil {
		t.Fatal(err)
	}
	var opening sync.WaitGroup // of the current version: one migrates, the others wait
	for range 4 {
		opening.Go(func() {
			e, err := local.Open(t.Context(), path, local.Options{})
			if err != nil {
				t.Error(err)
				return
			}
			if d, err := e.Doctor(t.Context(), &admin.DoctorRequest{Deep: true}); err != nil || !d.Healthy {
				t.Errorf("doctor %+v, %v", d, err)
			}
			if err := e.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	opening.Wait()
}

// Vectors of version 5 have no checksums.
func TestVectorsOfVersion5(t *testing.T) {
	path := unzip(t, "testdata/v5.db.gz")
	stock(t, path, `import struct
db.execute("INSERT INTO models(id, name, dims, upto, seq, state) VALUES (1, 'test:two', 2, 1000, 2, 'present')")
db.execute("CREATE TABLE vectors_1(memory_id INTEGER PRIMARY KEY, seq INTEGER NOT NULL, vector BLOB)")
db.execute("INSERT INTO vectors_1 VALUES (1, 1, ?), (2, 2, NULL)", [struct.pack("<2f", 0.6, -0.8)])
db.commit()`)
	d, err := openAt(t, path, local.Options{}).Doctor(t.Context(), &admin.DoctorRequest{Deep: true})
	if err != nil || !d.Healthy {
		t.Errorf("doctor %+v, %v", d, err)
	}
}

func unzip(t *testing.T, name string) string {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "memory.db")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
