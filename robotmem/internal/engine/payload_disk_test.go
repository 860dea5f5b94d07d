package engine_test

import (
	"bytes"
	"crypto/rand"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/admin"
	"github.com/robotmem/robotmem-go/robotmem/local"
)

// A payload that does not fit on the disk is refused and leaves nothing behind, in the
// file and in the folder.
func TestAPayloadOnAFullDiskLeavesNothing(t *testing.T) {
	t.Parallel()
	folder := smallDisk(t, "8m")
	e := openAt(t, filepath.Join(folder, "memory.db"), local.Options{})
	noise := make([]byte, 12<<20)
	if _, err := rand.Read(noise); err != nil {
		t.Fatal(err)
	}
	kept, err := e.SavePerception(t.Context(), &robotmem.SavePerceptionRequest{Description: "it fits", DataBase64: noise[:1<<20]})
	if err != nil {
		t.Fatal(err)
	}
	for name, size := range map[string]int{"at once": 12 << 20, "at its end": 7 << 20} {
		_, err := e.SavePerceptionFrom(t.Context(), &robotmem.SavePerceptionRequest{Description: "too much, " + name}, bytes.NewReader(noise[:size]))
		if !errors.Is(err, robotmem.Unavailable) {
			t.Errorf("a disk that is full %s answers %v, want unavailable", name, err)
		}
	}
	// There is space for this file, but not for its rows.
	refused := 0
	for size := 6 << 20; size > 1<<20 && refused < 40; size -= 16 << 10 {
		_, err := e.SavePerception(t.Context(), &robotmem.SavePerceptionRequest{Description: "its row is too much", DataBase64: noise[len(noise)-size:]})
		if err == nil {
			break
		}
		refused++
		if !errors.Is(err, robotmem.Unavailable) {
			t.Fatalf("got %v, want unavailable", err)
		}
		if files := payloadFiles(t, folder); len(files) != 1 {
			t.Fatalf("after %d bytes were refused there are %v, want one file", size, files)
		}
	}
	d, err := e.Doctor(t.Context(), &admin.DoctorRequest{Deep: true})
	if err != nil || !d.Healthy {
		t.Errorf("doctor on the full disk: %+v, %v", d, err)
	}
	if data, err := e.Data(t.Context(), &robotmem.MemoryRequest{MemoryID: kept.MemoryID}); err != nil || !bytes.Equal(data.DataBase64, noise[:1<<20]) {
		t.Errorf("what fitted is damaged: %v", err)
	}
}

func payloadFiles(t *testing.T, folder string) (names []string) {
	t.Helper()
	err := filepath.Walk(filepath.Join(folder, "memory.db.payloads"), func(path string, info os.FileInfo, err error) error {
		if err == nil && info.Mode().IsRegular() {
			names = append(names, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}
