package backup

import (
	"crypto/rand"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/local"
)

// A backup to a full disk reports the missing space, keeps the earlier backups, and
// succeeds when there is space.
func TestBackupOnAFullDisk(t *testing.T) {
	dir := smallDisk(t, "4m")
	e := openTest(t, local.Options{})
	learn(t, e, "the first fact")
	first, err := Make(t.Context(), e, Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	for range 8 {
		data := make([]byte, 1_000_000)
		if _, err := rand.Read(data); err != nil {
			t.Fatal(err)
		}
		if _, err := e.SavePerception(t.Context(), &robotmem.SavePerceptionRequest{Description: "a frame of the hall", DataBase64: data}); err != nil {
			t.Fatal(err)
		}
	}
	_, err = Make(t.Context(), e, Options{Dir: dir, Keep: 1})
	if !errors.Is(err, robotmem.Unavailable) || !strings.Contains(err.Error(), "no space left") {
		t.Errorf("a backup of payloads to a full disk answers %v, want unavailable with the reason", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "filler"), make([]byte, 4<<20), 0o600); err == nil {
		t.Fatal("the disk is not full: the test tests nothing")
	}
	other := openTest(t, local.Options{})
	learn(t, other, "of another memory")
	if _, err := Make(t.Context(), other, Options{Dir: dir}); !errors.Is(err, robotmem.Unavailable) || !strings.Contains(err.Error(), "are free") {
		t.Errorf("a backup to a full disk answers %v, want unavailable with what is free", err)
	}
	all, err := List(dir)
	if err != nil || len(all) != 1 || all[0].Name != first.Name {
		t.Errorf("there are %+v, %v; want the first alone", all, err)
	}
	if _, err := Verify(t.Context(), first.Path); err != nil {
		t.Error(err)
	}
	if entries, _ := filepath.Glob(filepath.Join(dir, "tmp-*")); len(entries) > 0 {
		t.Errorf("%v is left", entries)
	}
	run(t, "mount", "-o", "remount,size=64m", dir)
	b, err := Make(t.Context(), e, Options{Dir: dir})
	if err != nil || b.Copied != 8 {
		t.Errorf("with room again: %+v, %v", b, err)
	}
}
