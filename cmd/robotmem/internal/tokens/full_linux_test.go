package tokens

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/robotmem/robotmem-go/cmd/robotmem/internal/whole"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/local"
	"github.com/robotmem/robotmem-go/web"
	"github.com/robotmem/robotmem-go/web/oauth"
)

// A token can be revoked on a full disk, and what cannot be written says that the disk is full.
func TestTokensOnAFullDisk(t *testing.T) {
	dir := t.TempDir()
	if exec.CommandContext(t.Context(), "mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", dir).Run() != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("a small disk needs the right to mount")
		}
		t.Skip("a small disk needs the right to mount: run as root")
	}
	t.Cleanup(func() { _ = exec.Command("umount", "-l", dir).Run() })
	place, err := local.FilesOf(filepath.Join(dir, "memory.db"))
	if err != nil {
		t.Fatal(err)
	}
	f := &File{Memory: place, Path: place.Tokens()}
	for _, name := range []string{"arm", "dock"} {
		if _, err := f.Create(t.Context(), web.Token{Name: name}); err != nil {
			t.Fatal(err)
		}
	}
	grants, err := GrantsOf(place, "", func(err error) { t.Error(err) })
	if err != nil {
		t.Fatal(err)
	}
	addGrant(t, grants, "A")
	addGrant(t, grants, "B")
	fill, err := os.Create(filepath.Join(dir, "fill"))
	if err != nil {
		t.Fatal(err)
	}
	for err == nil {
		_, err = fill.Write(make([]byte, 4096))
	}
	if err := fill.Close(); err != nil {
		t.Fatal(err)
	}

	if _, err := f.Create(context.Background(), web.Token{Name: "third"}); !errors.Is(err, robotmem.Unavailable) {
		t.Errorf("create: %v", err)
	}
	if err := f.Revoke(context.Background(), "arm"); err != nil {
		t.Errorf("revoke: %v", err)
	}
	list, err := f.List(context.Background())
	if err != nil || len(list) != 1 || list[0].Name != "dock" {
		t.Errorf("%v, %v", list, err)
	}
	if err := grants.Change(func(s *oauth.State) error { s.End("A"); return nil }); err != nil {
		t.Errorf("a grant: %v", err)
	}
	if got := idsOf(grants.State()); len(got) != 1 || got[0] != "B" {
		t.Errorf("the grants %q", got)
	}
	if left, err := filepath.Glob(filepath.Join(dir, "*.part")); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
	err = whole.Write(filepath.Join(dir, "archive.tar"), "out", func(w *os.File) error {
		_, err := w.Write(make([]byte, 8192))
		return err
	})
	if !errors.Is(err, robotmem.Unavailable) {
		t.Errorf("an export: %v", err)
	}
}
