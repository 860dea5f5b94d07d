package engine_test

import (
	"bytes"
	"crypto/rand"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/disk"
	"github.com/robotmem/robotmem-go/robotmem/internal/faultdisk"
	"github.com/robotmem/robotmem-go/robotmem/local"
)

// onFaultDisk opens a memory on a disk that the test can fill.
func onFaultDisk(t *testing.T, o local.Options) (*local.Node, *faultdisk.Disk) {
	t.Helper()
	d, err := faultdisk.New(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.Close)
	disk.Choose(&o, d)
	return openAt(t, filepath.Join(d.Root(), "memory.db"), o), d
}

// A write that does not fit reports the free space, leaves nothing behind, and succeeds
// when there is space.
func TestWhatDoesNotFitSaysWhatIsFree(t *testing.T) {
	t.Parallel()
	e, d := onFaultDisk(t, local.Options{})
	learn(t, e, "the wrench is zeroed", nil)
	noise := func(size int) []byte {
		data := make([]byte, size)
		_, _ = rand.Read(data)
		return data
	}
	session, err := e.StartSession(t.Context(), &robotmem.StartSessionRequest{})
	if err != nil {
		t.Fatal(err)
	}
	perception := func(data []byte) *robotmem.SavePerceptionRequest {
		return &robotmem.SavePerceptionRequest{Description: "a scan", DataBase64: data}
	}
	small, large := noise(100<<10), noise(600<<10)
	batch := &robotmem.LearnBatchRequest{}
	for range 100 {
		batch.Items = append(batch.Items, robotmem.LearnRequest{Insight: rand.Text()})
	}
	for _, c := range []struct {
		name  string
		write func() error
	}{
		{"learn", func() error {
			_, err := e.Learn(t.Context(), &robotmem.LearnRequest{Insight: "the bin is 3 m away"})
			return err
		}},
		{"learn_batch", func() error { _, err := e.LearnBatch(t.Context(), batch); return err }},
		{"start_session", func() error {
			_, err := e.StartSession(t.Context(), &robotmem.StartSessionRequest{})
			return err
		}},
		{"end_session", func() error {
			_, err := e.EndSession(t.Context(), &robotmem.EndSessionRequest{SessionID: session.SessionID})
			return err
		}},
		{"save_perception, in the file", func() error {
			_, err := e.SavePerception(t.Context(), perception(small))
			return err
		}},
		{"save_perception, in the folder", func() error {
			_, err := e.SavePerception(t.Context(), perception(large))
			return err
		}},
		{"save_perception, a stream", func() error {
			_, err := e.SavePerceptionFrom(t.Context(), perception(nil), io.MultiReader(bytes.NewReader(noise(600<<10))))
			return err
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			d.Limit(4 << 10)
			refused := d.Refused()
			err := c.write()
			if !errors.Is(err, robotmem.Unavailable) || !regexp.MustCompile(`[0-9.]+ (KiB|B) are free\); nothing was stored`).MatchString(err.Error()) {
				t.Errorf("got %v, want unavailable and what is free", err)
			}
			if d.Refused() == refused {
				t.Error("the disk refused nothing: the test tests nothing")
			}
			for _, left := range strays(t, d.Root()) {
				t.Errorf("%s is left over", left)
			}
			if got := recall(t, e, &robotmem.RecallRequest{Query: "wrench"}); got.Total != 1 {
				t.Errorf("recall finds %d, want 1", got.Total)
			}
			d.Limit(-1)
			if err := c.write(); err != nil {
				t.Errorf("with space again: %v", err)
			}
		})
	}
	if got, err := e.Doctor(t.Context(), nil); err != nil || !got.Healthy {
		t.Errorf("doctor: %+v, %v", got, err)
	}
}

// strays returns the temporary files below a folder.
func strays(t *testing.T, dir string) (found []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		if strings.HasPrefix(filepath.Base(path), "tmp-") || strings.Contains(path, ".new-") {
			found = append(found, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// A closed memory opens on a completely full disk, or reports that there is no space.
func TestOpeningOnAFullDisk(t *testing.T) {
	t.Parallel()
	folder := smallDisk(t, "2m")
	path := filepath.Join(folder, "memory.db")
	e := openAt(t, path, local.Options{})
	learn(t, e, "the bin is 3 m away", nil)
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	fillDisk(t, filepath.Join(folder, "other"))
	got, err := local.Open(t.Context(), path, local.Options{})
	if err == nil {
		defer got.Close()
		if res := recall(t, got, &robotmem.RecallRequest{Query: "bin"}); res.Total != 1 {
			t.Errorf("recall finds %d, want 1", res.Total)
		}
		return
	}
	if !errors.Is(err, robotmem.Unavailable) || !strings.Contains(err.Error(), "0 B are free") {
		t.Errorf("got %v, want unavailable and what is free", err)
	}
	_, err = local.Open(t.Context(), filepath.Join(folder, "new.db"), local.Options{})
	if !errors.Is(err, robotmem.Unavailable) || !strings.Contains(err.Error(), "0 B are free") {
		t.Errorf("a new memory: got %v, want unavailable and what is free", err)
	}
	for _, left := range strays(t, folder) {
		t.Errorf("%s is left over", left)
	}
	if err := os.Remove(filepath.Join(folder, "other")); err != nil {
		t.Fatal(err)
	}
	again := openAt(t, path, local.Options{})
	if res := recall(t, again, &robotmem.RecallRequest{Query: "bin"}); res.Total != 1 {
		t.Errorf("recall finds %d once there is space, want 1", res.Total)
	}
}

// fillDisk writes a file until the disk is full.
func fillDisk(t *testing.T, path string) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, size := range []int{64 << 10, 4 << 10, 1} {
		for err == nil {
			_, err = f.Write(make([]byte, size))
		}
		err = nil
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}
