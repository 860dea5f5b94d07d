//go:build unix

package engine_test

import (
	"crypto/sha256"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/engine"
	"github.com/robotmem/robotmem-go/robotmem/local"
)

// A memory that is put in the place of another has the payloads of that one beside it. A repair removes none of
// them, until the note of their owner is gone.
func TestRepairLeavesThePayloadsOfAnotherFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path, other := filepath.Join(dir, "memory.db"), filepath.Join(dir, "other.db")
	learnt := func(path string) {
		t.Helper()
		n := openAt(t, path, local.Options{})
		must(n.SavePerception(t.Context(), &robotmem.SavePerceptionRequest{Description: "a trace of " + path, Data: payloadText() + path, PerceptionType: "procedural"}))(t)
		if err := n.Close(); err != nil {
			t.Fatal(err)
		}
	}
	learnt(path)
	n := openAt(t, path, local.Options{}) // notes whose the folder is
	if err := n.Close(); err != nil {
		t.Fatal(err)
	}
	learnt(other)
	payloads := func() (found []string) {
		t.Helper()
		err := filepath.WalkDir(path+".payloads", func(name string, d os.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				found = append(found, name)
				old := time.Now().Add(-48 * time.Hour)
				err = os.Chtimes(name, old, old)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	if len(payloads()) != 1 {
		t.Fatalf("payloads: %q", payloads())
	}
	if err := os.Rename(path, filepath.Join(dir, "aside.db")); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(other, path); err != nil {
		t.Fatal(err)
	}

	n = openAt(t, path, local.Options{})
	must(n.Repair(t.Context(), nil))(t)
	if len(payloads()) != 1 {
		t.Errorf("a repair has removed the payload of the other file")
	}
	// What eviction does for a payload that no row of this file names any more.
	if err := engine.Of(n).Store.RemoveFiles(t.Context(), [][sha256.Size]byte{sha256.Sum256([]byte(payloadText() + path))}); err != nil {
		t.Fatal(err)
	}
	if len(payloads()) != 1 {
		t.Errorf("an eviction has removed the payload of the other file")
	}
	said := func() string {
		t.Helper()
		for _, c := range must(n.Doctor(t.Context(), nil))(t).Checks {
			if c.Name == "payloads" {
				return c.Status + ": " + c.Detail + "; " + c.Remedy
			}
		}
		return ""
	}
	if got := said(); !strings.HasPrefix(got, "fail: ") { // its own payload stayed beside other.db
		t.Errorf("got %s", got)
	}

	if err := n.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(path + ".payloads.owner"); err != nil {
		t.Fatal(err)
	}
	n = openAt(t, path, local.Options{})
	must(n.Repair(t.Context(), nil))(t)
	if left := payloads(); len(left) != 0 {
		t.Errorf("left over, though nobody else owns them: %q", left)
	}
}

// Two memories may reach one folder of payloads through links, such as a memory whose payloads are on another disk and
// a copy of its file. What the copy purges or sweeps stays for the first.
func TestALinkedFolderOfPayloadsHasOneOwner(t *testing.T) {
	t.Parallel()
	dir, disk := t.TempDir(), t.TempDir()
	path, other := filepath.Join(dir, "memory.db"), filepath.Join(dir, "copy.db")
	n := openAt(t, path, local.Options{})
	saved := must(n.SavePerception(t.Context(), &robotmem.SavePerceptionRequest{Description: "a trace of the arm", Data: payloadText(), PerceptionType: "procedural"}))(t)
	if err := n.Close(); err != nil {
		t.Fatal(err)
	}

	// Its owner moves the folder to another disk.
	err := errors.Join(os.Rename(path+".payloads", filepath.Join(disk, "payloads")), os.Rename(path+".payloads.owner", filepath.Join(disk, "payloads.owner")),
		os.Symlink(filepath.Join(disk, "payloads"), path+".payloads"))
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.WriteFile(other, data, 0o600), os.Symlink(filepath.Join(disk, "payloads"), other+".payloads")); err != nil {
		t.Fatal(err)
	}
	n = openAt(t, other, local.Options{})
	purged := must(n.Forget(t.Context(), &robotmem.ForgetRequest{MemoryID: saved.MemoryID, Reason: "a test", Purge: true}))(t)
	if !strings.HasPrefix(purged.Purged.Payload, "kept: the folder") || purged.Purged.Bytes != 0 {
		t.Errorf("the copy says of the payload: %+v", purged.Purged)
	}
	must(n.Repair(t.Context(), nil))(t)
	if err := n.Close(); err != nil {
		t.Fatal(err)
	}

	n = openAt(t, path, local.Options{})
	for _, c := range must(n.Doctor(t.Context(), nil))(t).Checks {
		if c.Name == "payloads" && c.Status != "ok" {
			t.Errorf("the first memory has lost a payload: %+v", c)
		}
	}
	// The owner itself may purge.
	purged = must(n.Forget(t.Context(), &robotmem.ForgetRequest{MemoryID: saved.MemoryID, Reason: "a test", Purge: true}))(t)
	if purged.Purged.Payload != "removed" {
		t.Errorf("the owner says of the payload: %+v", purged.Purged)
	}
	if err := n.Close(); err != nil {
		t.Fatal(err)
	}
}
