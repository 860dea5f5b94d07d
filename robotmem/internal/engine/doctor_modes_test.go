//go:build unix

package engine_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/admin"
	"github.com/robotmem/robotmem-go/robotmem/local"
)

func TestDoctorWarnsOfFilesThatOthersRead(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "memory.db")
	e := openAt(t, path, local.Options{})
	must(e.SavePerception(t.Context(), &robotmem.SavePerceptionRequest{Description: "a large one", Data: payloadText(), PerceptionType: "procedural"}))(t)
	check := func() admin.Check {
		checks := must(e.Doctor(t.Context(), nil))(t).Checks
		return checks[slices.IndexFunc(checks, func(c admin.Check) bool { return c.Name == "permissions" })]
	}
	if c := check(); c.Status != "ok" {
		t.Errorf("of new files: %+v", c)
	}
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path+".tokens", nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path+".payloads", 0o755); err != nil {
		t.Fatal(err)
	}
	c := check()
	if c.Status != "warn" || !strings.Contains(c.Remedy, "chmod 600 memory.db && chmod 600 memory.db.tokens && chmod 700 memory.db.payloads") {
		t.Errorf("of open ones: %+v", c)
	}
}

// A symbolic link to the file is the same memory: writes through either path use one log
// and one folder of payloads.
func TestALinkIsTheSameMemory(t *testing.T) {
	t.Parallel()
	dir, elsewhere := t.TempDir(), t.TempDir()
	path, link := filepath.Join(dir, "memory.db"), filepath.Join(elsewhere, "link.db")
	e := openAt(t, path, local.Options{})
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	other := openAt(t, link, local.Options{})
	id := must(other.SavePerception(t.Context(), &robotmem.SavePerceptionRequest{Description: "a large one", Data: payloadText(), PerceptionType: "procedural"}))(t).MemoryID
	if got := must(e.Data(t.Context(), &robotmem.MemoryRequest{MemoryID: id}))(t); string(got.DataBase64) != payloadText() {
		t.Error("its bytes are not those that were saved through the link")
	}
	if left, err := filepath.Glob(filepath.Join(elsewhere, "link.db?*")); err != nil || len(left) > 0 {
		t.Errorf("beside the link lie %v, %v", left, err)
	}
}
