package local_test

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
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
	t.Parallel()
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
			if m := l.Memories[3]; m.Outcome != "failure" || m.OutcomeSource == "" {
				t.Errorf("%q has the outcome %s from %q", m.Content, m.Outcome, m.OutcomeSource)
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

// Pages of version 5 have reserved bytes for a checksum, which other programs do not update.
func TestReservedBytesDoNoHarm(t *testing.T) {
	t.Parallel()
	for name, script := range map[string]string{
		"as it was":           "",
		"written to by stock": "db.execute(\"update counters set value = value + 1 where name = 'recalls'\"); db.commit()",
		"vacuumed by stock":   "db.execute('vacuum')",
	} {
		t.Run(name, func(t *testing.T) {
			path := unzip(t, "testdata/v5.db.gz")
			for range 2 { // a node writes after the other program, and the other way round
				if script != "" {
					stock(t, path, script)
				}
				e, err := local.Open(t.Context(), path, local.Options{})
				if err != nil {
					t.Fatal(err)
				}
				if _, err := e.Learn(t.Context(), &robotmem.LearnRequest{Insight: "the cup weighs 0.3 kg"}); err != nil {
					t.Error(err)
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
			e, err := local.Open(t.Context(), path, local.Options{BusyTimeout: time.Minute})
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

// Vectors of older versions are float32, before version 6 without checksums. All go, and
// the models compute them again in the stored form of this version.
func TestVectorsOfOlderVersions(t *testing.T) {
	t.Parallel()
	const rows = 20
	float := func(id int) []float32 { return []float32{0.6, -0.8 + float32(id)/rows, 0} }
	checksum := func(id int, raw []byte) int64 {
		return int64(crc32.Update(uint32(id), crc32.MakeTable(crc32.Castagnoli), raw))
	}
	for name, sealed := range map[string]bool{"v5": false, "v6": true} {
		t.Run(name, func(t *testing.T) {
			path := unzip(t, "testdata/"+name+".db.gz")
			db, err := sqlite3.Open(path)
			if err != nil {
				t.Fatal(err)
			}
			column, values := "", "?1, ?2, ?3"
			if sealed {
				column, values = ", checksum INTEGER", "?1, ?2, ?3, ?4"
			}
			err = db.Exec("BEGIN; INSERT INTO models(id, name, dims, upto, seq, state) VALUES (1, 'test:three', 3, 1000, 2, 'present'), (2, 'test:next', 3, 1000, 20, 'filling')")
			for table, n := range map[string]int{"vectors_1": 2, "vectors_2": rows} {
				err = errors.Join(err, db.Exec(fmt.Sprintf("CREATE TABLE %[1]s(memory_id INTEGER PRIMARY KEY, seq INTEGER NOT NULL, vector BLOB%[2]s); CREATE INDEX idx_%[1]s_seq ON %[1]s(seq)", table, column)))
				insert, _, perr := db.Prepare("INSERT INTO " + table + " VALUES (" + values + ")")
				err = errors.Join(err, perr)
				for id := 1; id <= n && err == nil; id++ {
					raw, _ := binary.Append(nil, binary.LittleEndian, float(id))
					sum := checksum(id, raw)
					if id == 7 { // a changed bit
						raw[0] ^= 1
					}
					err = errors.Join(insert.BindInt64(1, int64(id)), insert.BindInt64(2, int64(id)), insert.BindBlob(3, raw))
					if sealed {
						err = errors.Join(err, insert.BindInt64(4, sum))
					}
					err = errors.Join(err, insert.Exec())
				}
				err = errors.Join(err, insert.Close())
			}
			if err = errors.Join(err, db.Exec("UPDATE vectors_1 SET vector = NULL WHERE memory_id = 2; COMMIT"), db.Close()); err != nil {
				t.Fatal(err)
			}
			other := filepath.Join(t.TempDir(), "memory.db")
			data, err := os.ReadFile(path)
			if err = errors.Join(err, os.WriteFile(other, data, 0o600)); err != nil {
				t.Fatal(err)
			}
			recovered(t, other)
			e := openAt(t, path, local.Options{})
			d, err := e.Doctor(t.Context(), &admin.DoctorRequest{Deep: true})
			if err != nil || !d.Healthy {
				t.Errorf("doctor %+v, %v", d, err)
			}
			if err := e.Close(); err != nil {
				t.Fatal(err)
			}
			const left = `print(*db.execute("SELECT (SELECT count(*) FROM vectors_1), (SELECT count(checksum) FROM vectors_2), (SELECT sum(upto) FROM models), (SELECT count(*) FROM sqlite_schema WHERE name LIKE 'idx_vectors_%')").fetchone())`
			for path, want := range map[string]string{path: "0 0 0 2", other: "1 0 0 2"} { // a recovery copies that a text was refused
				if got := stock(t, path, left); got != want {
					t.Errorf("%s has vectors of model 1, of model 2, the models' upto and indexes %s, want %s", path, got, want)
				}
			}
		})
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
