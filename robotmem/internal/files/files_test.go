package files

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
)

func write(t *testing.T, path string) {
	t.Helper()
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestResolve(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	real, name := filepath.Join(dir, "m.db"), filepath.Join(dir, "link.db")
	write(t, real)
	if err := os.Symlink(real, name); err != nil {
		t.Fatal(err)
	}
	resolve := func(path string) Memory {
		t.Helper()
		m, err := Resolve(path)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	if m := resolve(name); m != At(real) {
		t.Errorf("a link: %+v", m)
	}
	if m := resolve(filepath.Join(dir, "new.db")); m != At(filepath.Join(dir, "new.db")) {
		t.Errorf("no file yet: %+v", m)
	}
	if m, err := Resolve(""); !errors.Is(err, robotmem.Invalid) || m != (Memory{}) {
		t.Errorf("no path: %+v %v", m, err)
	}

	// Earlier versions kept the payloads beside the link.
	if err := os.Mkdir(name+".payloads", 0o700); err != nil {
		t.Fatal(err)
	}
	m := resolve(name)
	for what, got := range map[string][2]string{
		"database": {m.DB(), real}, "log": {m.Log(), real + "-wal"}, "tokens": {m.Tokens(), real + ".tokens"}, "grants": {m.Grants(), real + ".grants"}, "secret": {m.Secret(), real + ".secret"},
		"payloads": {m.Payloads(), name + ".payloads"}, "site": {m.Site(), name + ".fleet"}, "backups": {m.BackupState(), name + ".backups.json"},
		"what a restore replaces": {m.BeforeRestore(time.Unix(0, 0)).DB(), name + ".before-restore-19700101T000000.000Z"},
		"its name":                {m.Name(), name},
	} {
		if got[0] != got[1] {
			t.Errorf("%s: got %s, want %s", what, got[0], got[1])
		}
	}
	if again := resolve(m.Name()); again != m {
		t.Errorf("the name %s leads to %+v, not to %+v", m.Name(), again, m)
	}
	if err := os.Mkdir(real+".payloads", 0o700); err != nil {
		t.Fatal(err)
	}
	if m := resolve(name); m != At(real) {
		t.Errorf("payloads beside both: %+v", m)
	}
}

// Nothing has the name of something else.
func TestNamesDiffer(t *testing.T) {
	m, now := At("m.db"), time.Now()
	names := append(m.All(), m.TokensLock(), m.GrantsLock(), m.SiteLock(), Part(m.Site()), Part(m.BackupState()), Aside(m.Secret()), m.Backups(),
		m.Imports(), ImportsLock(m.Imports()), m.ImportState("k"), m.BeforeRestore(now).DB(), m.Damaged(now).DB(), m.Recovering(now).DB(), m.Recovered(now).DB(), m.Staged().DB())
	slices.Sort(names)
	if all := len(names); len(slices.Compact(names)) != all {
		t.Errorf("a name twice: %q", names)
	}
}

func TestInterrupted(t *testing.T) {
	m := At(filepath.Join(t.TempDir(), "m.db"))
	if left, ok := m.Interrupted(); ok {
		t.Errorf("found %s", left.DB())
	}
	at := m.Recovered(time.Now())
	write(t, m.Recovering(time.Now()).DB())
	write(t, at.DB())
	if left, ok := m.Interrupted(); !ok || left != at || !strings.HasPrefix(left.Base(), "m.db") {
		t.Errorf("got %s, want %s", left.DB(), at.DB())
	}
}
