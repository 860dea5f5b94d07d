package fleet

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/engine"
	"github.com/robotmem/robotmem-go/robotmem/local"
)

// Two robots that were set up from one image are not one replica of the site.
func TestASiteIsOfTheFileThatJoined(t *testing.T) {
	t.Parallel()
	open := func(path string) *local.Node {
		n, err := local.Open(t.Context(), path, local.Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = n.Close() })
		return n
	}
	n := open(filepath.Join(t.TempDir(), "arm.db"))
	if p, err := PeerOf(n); err != nil || p != nil {
		t.Errorf("before: %+v %v", p, err)
	}
	if err := (&Peer{URL: "https://site", Robot: "arm", Replica: "r"}).Save(n); err != nil {
		t.Fatal(err)
	}
	if err := n.Close(); err != nil {
		t.Fatal(err)
	}

	other := filepath.Join(t.TempDir(), "other.db")
	copyTo := func(to string, edit func(string) string) {
		for _, f := range [][2]string{{engine.Of(n).Store.Files().DB(), to}, {engine.Of(n).Store.Files().Site(), to + ".fleet"}} {
			data, err := os.ReadFile(f[0])
			if err == nil {
				err = os.WriteFile(f[1], []byte(edit(string(data))), 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	same := func(s string) string { return s }
	copyTo(other, same)
	copied := open(other)
	if p, err := PeerOf(copied); !errors.Is(err, robotmem.Conflict) || p != nil || !strings.Contains(err.Error(), "fleet join https://site") {
		t.Errorf("of a copy: %+v %v", p, err)
	}
	if err := (&Peer{URL: "https://site", Robot: "arm-2", Replica: "r2"}).Save(copied); err != nil {
		t.Fatal(err)
	}
	if p, err := PeerOf(copied); err != nil || p.Replica != "r2" {
		t.Errorf("of a copy that joined itself: %+v %v", p, err)
	}
	if p, err := PeerOf(open(engine.Of(n).Store.Path())); err != nil || p.Replica != "r" {
		t.Errorf("of the file that joined: %+v %v", p, err)
	}

	// An earlier version noted no id.
	old := filepath.Join(t.TempDir(), "old.db")
	copyTo(old, func(s string) string { return strings.Replace(s, `"file_id"`, `"since"`, 1) })
	if p, err := PeerOf(open(old)); err != nil || p == nil {
		t.Errorf("of an earlier version: %+v %v", p, err)
	}
}
