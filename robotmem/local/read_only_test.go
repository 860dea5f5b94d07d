package local_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/admin"
	"github.com/robotmem/robotmem-go/robotmem/internal/store/sqlite"
	"github.com/robotmem/robotmem-go/robotmem/local"
)

// contents returns the files of a folder with their bytes, except the -shm file and an
// empty log, which SQLite needs in order to read beside other processes.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if !strings.HasSuffix(path, "-shm") && (len(data) > 0 || !strings.HasSuffix(path, "-wal")) {
			out[path] = string(data)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// readsAll fails the test unless a memory with three facts answers reads and refuses
// writes.
func readsAll(s *local.Node, why string) error {
	ctx := context.Background()
	var errs []error
	found, err := s.Recall(ctx, &robotmem.RecallRequest{Query: "crate"})
	if err != nil || found.Total != 3 {
		errs = append(errs, fmt.Errorf("recall: %+v, %w", found, err))
	}
	m, err := s.Get(ctx, &robotmem.MemoryRequest{MemoryID: 3})
	if err != nil || m.Content != "crate number 2 is at the dock" {
		errs = append(errs, fmt.Errorf("get: %+v, %w", m, err))
	}
	d, err := s.Doctor(ctx, nil)
	if err != nil || !d.Healthy {
		errs = append(errs, fmt.Errorf("doctor: %+v, %w", d, err))
	}
	if told := fmt.Sprint(d); !strings.Contains(told, "read-only") {
		errs = append(errs, fmt.Errorf("the doctor does not say that it is read-only: %s", told))
	}
	stats, err := s.Stats(ctx, nil)
	if err != nil || stats.Total != 3 || !strings.Contains(fmt.Sprint(stats.Workers), why) {
		errs = append(errs, fmt.Errorf("stats: %+v, %w", stats, err))
	}
	refuse := func(name string, err error) {
		if !errors.Is(err, robotmem.Unavailable) || !strings.Contains(err.Error(), why) {
			errs = append(errs, fmt.Errorf("%s: %v, want unavailable with %q", name, err, why))
		}
	}
	_, err = s.Learn(ctx, &robotmem.LearnRequest{Insight: "one more"})
	refuse("learn", err)
	_, err = s.SavePerceptionFrom(ctx, &robotmem.SavePerceptionRequest{Description: "a scan"}, strings.NewReader(strings.Repeat("x", 1<<20)))
	refuse("save_perception", err)
	_, err = s.Forget(ctx, &robotmem.ForgetRequest{MemoryID: 1, Reason: "test"})
	refuse("forget", err)
	_, err = s.StartSession(ctx, &robotmem.StartSessionRequest{})
	refuse("start_session", err)
	_, err = s.Retain(ctx, &admin.RetainRequest{MinFreeBytes: 1, Apply: true})
	refuse("retain", err)
	_, err = s.Repair(ctx, nil)
	refuse("repair", err)
	return errors.Join(errs...)
}

func threeFacts() (facts []string) {
	for i := range 3 {
		facts = append(facts, fmt.Sprintf("crate number %d is at the dock", i))
	}
	return facts
}

func TestReadOnlyChangesNothing(t *testing.T) {
	t.Parallel()
	path := closedWith(t, threeFacts()...)
	before := contents(t, filepath.Dir(path))
	e, err := local.Open(t.Context(), path, local.Options{ReadOnly: true, Retention: admin.Retention{MinFreeBytes: 1}})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(readsAll(e, "as was asked"), e.Close(), e.Close()); err != nil {
		t.Error(err)
	}
	if after := contents(t, filepath.Dir(path)); len(after) != len(before) || after[path] != before[path] {
		t.Errorf("there were %d files, now %d; or the file has changed", len(before), len(after))
	}
}

// Writes of another process are visible.
func TestReadOnlyFollowsAWriter(t *testing.T) {
	t.Parallel()
	path := closedWith(t, threeFacts()[:2]...)
	w := openAt(t, path, local.Options{})
	r := openAt(t, path, local.Options{ReadOnly: true})
	learn(t, w, threeFacts()[2], nil)
	if err := readsAll(r, "as was asked"); err != nil {
		t.Error(err)
	}
}

// halfChanged returns a file as a kill within a transaction leaves it, with the journal
// that undoes the transaction.
func halfChanged(t *testing.T) string {
	path := closedWith(t, threeFacts()...)
	c, err := sqlite.Open(t.Context(), path, sqlite.ConnOptions{Exclusive: true})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.Exec("PRAGMA journal_mode=DELETE; PRAGMA cache_size=1; BEGIN; UPDATE memories SET content = hex(zeroblob(100000))"); err != nil {
		t.Fatal(err)
	}
	killed := filepath.Join(t.TempDir(), "m.db")
	for _, suffix := range []string{"", "-journal"} {
		data, err := os.ReadFile(path + suffix)
		if err == nil {
			err = os.WriteFile(killed+suffix, data, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return killed
}

func TestReadOnlyRefuses(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		path string
		want robotmem.Kind
		say  string
	}{
		{"no file", filepath.Join(t.TempDir(), "none.db"), robotmem.Unavailable, "none is made"},
		{"an empty file", filepath.Join(t.TempDir(), "empty.db"), robotmem.Unavailable, "empty"},
		{"an older schema", unzip(t, filepath.Join("testdata", "v1.db.gz")), robotmem.Conflict, "takes writing"},
		{"another program's", database(t, "CREATE TABLE t(x)"), robotmem.Corrupt, "another program"},
		{"a change half done", halfChanged(t), robotmem.Unavailable, "without --read-only"},
		{"a folder", t.TempDir(), robotmem.Unavailable, "regular file"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.name == "an empty file" {
				if err := os.WriteFile(tt.path, nil, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			before := contents(t, filepath.Dir(tt.path))
			e, err := local.Open(t.Context(), tt.path, local.Options{ReadOnly: true})
			if err == nil {
				_ = e.Close()
			}
			if !errors.Is(err, tt.want) || !strings.Contains(err.Error(), tt.say) {
				t.Errorf("got %v, want %s saying %q", err, tt.want, tt.say)
			}
			if after := contents(t, filepath.Dir(tt.path)); len(after) != len(before) || after[tt.path] != before[tt.path] {
				t.Error("something was written")
			}
		})
	}
}
