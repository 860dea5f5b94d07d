package site

import (
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/admin"
	"github.com/robotmem/robotmem-go/robotmem/internal/files"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
	"github.com/robotmem/robotmem-go/robotmem/internal/store/postgres/postgrestest"
)

// Two databases do not share a folder of payloads, and what was there before it had an owner is not removed.
func TestPayloadsAreOfOneDatabase(t *testing.T) {
	dir, url := t.TempDir(), postgrestest.NewURL(t)
	n, err := Open(t.Context(), url, Options{Payloads: dir})
	if err != nil {
		t.Fatal(err)
	}
	data := make([]byte, 2<<20)
	_, _ = rand.NewChaCha8([32]byte{1}).Read(data) // never fails
	saved, err := n.SavePerception(t.Context(), &robotmem.SavePerceptionRequest{Description: "a large recording", DataBase64: data})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), postgrestest.NewURL(t), Options{Payloads: dir}); !errors.Is(err, robotmem.Conflict) {
		t.Fatalf("another database opens the folder: %v", err)
	}
	again, err := Open(t.Context(), url, Options{Payloads: dir}) // another node of the same
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(again.Close(), n.Close()); err != nil {
		t.Fatal(err)
	}

	// As if an earlier version had let both use it: the file is older than the note, and no row names it.
	folder := store.PayloadFolder(files.At(filepath.Join(dir, "tenant-1")), nil, nil)
	sums, _, err := folder.List()
	if err != nil || len(sums) != 1 {
		t.Fatalf("%d payloads, %v", len(sums), err)
	}
	if err := os.Remove(filepath.Join(dir, store.OwnerFile)); err != nil {
		t.Fatal(err)
	}
	long := time.Now().Add(-48 * time.Hour)
	err = filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			err = os.Chtimes(path, long, long)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	other, err := Open(t.Context(), postgrestest.NewURL(t), Options{Payloads: dir})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := other.Repair(t.Context(), &admin.RepairRequest{}); err != nil {
		t.Fatal(err)
	}
	if left, _, err := folder.List(); err != nil || len(left) != 1 || left[0] != sums[0] {
		t.Errorf("a repair has removed the payload of memory %d of another database: %v", saved.MemoryID, err)
	}
	if err := other.Close(); err != nil {
		t.Error(err)
	}
}
