package tokens

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/local"
	"github.com/robotmem/robotmem-go/web"
	"github.com/robotmem/robotmem-go/web/oauth"
)

func grantsIn(t *testing.T, folder, id string) (*Grants, *[]error) {
	t.Helper()
	place, err := local.FilesOf(filepath.Join(folder, "memory.db"))
	if err != nil {
		t.Fatal(err)
	}
	told := &[]error{}
	g, err := GrantsOf(place, id, func(err error) { *told = append(*told, err) })
	if err != nil {
		t.Fatal(err)
	}
	return g, told
}

func addGrant(t *testing.T, g *Grants, id string) {
	t.Helper()
	err := g.Change(func(s *oauth.State) error {
		s.Clients = append(s.Clients, oauth.Client{ID: "rmcl_" + id, Name: "A program", RedirectURIs: []string{"https://app.example/cb"}, Created: time.Unix(1_700_000_000, 0).UTC()})
		s.Grants = append(s.Grants, oauth.Grant{ID: id, ClientID: "rmcl_" + id, Login: oauth.HashOf("login"), Refresh: oauth.HashOf("secret of " + id), Until: time.Unix(1_800_000_000, 0).UTC()})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func idsOf(s *oauth.State) (ids []string) {
	for _, g := range s.Grants {
		ids = append(ids, g.ID)
	}
	return ids
}

// A second process sees each change at once, and the next one reads all that was stored. The file has no secret and
// is for its user alone.
func TestGrantsAreStored(t *testing.T) {
	folder := t.TempDir()
	one, _ := grantsIn(t, folder, "file-1")
	other, _ := grantsIn(t, folder, "file-1")
	addGrant(t, one, "A")
	if diff := cmp.Diff(one.State(), other.State()); diff != "" {
		t.Errorf("another process sees (-want +got):\n%s", diff)
	}
	addGrant(t, other, "B")
	next, _ := grantsIn(t, folder, "file-1")
	for _, g := range []*Grants{one, next} {
		if got := idsOf(g.State()); len(got) != 2 || got[0] != "A" || got[1] != "B" {
			t.Errorf("got %q", got)
		}
	}

	path := filepath.Join(folder, "memory.db.grants")
	info, err := os.Stat(path)
	if err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	data, err := os.ReadFile(path)
	if err != nil || strings.Contains(string(data), "secret of") {
		t.Errorf("the file holds a secret (%v): %s", err, data)
	}

	// A change that fails stores nothing.
	failed := errors.New("no")
	err = one.Change(func(s *oauth.State) error { s.End("A"); return failed })
	if !errors.Is(err, failed) || len(idsOf(other.State())) != 2 || len(idsOf(one.State())) != 2 {
		t.Errorf("a failed change: %v, %q", err, idsOf(one.State()))
	}
}

func TestGrantsOfAnotherFileAreRefused(t *testing.T) {
	folder := t.TempDir()
	one, _ := grantsIn(t, folder, "file-1")
	addGrant(t, one, "A")
	place, err := local.FilesOf(filepath.Join(folder, "memory.db"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := GrantsOf(place, "file-2", nil); !errors.Is(err, robotmem.Invalid) || !strings.Contains(err.Error(), "grants of another file") {
		t.Errorf("another file: %v", err)
	}
	if got := idsOf(one.State()); len(got) != 1 {
		t.Errorf("its own file has %q", got)
	}
}

// While the file cannot be read, nobody is logged in, and nothing is written over it.
func TestABrokenListOfGrants(t *testing.T) {
	folder := t.TempDir()
	one, told := grantsIn(t, folder, "file-1")
	addGrant(t, one, "A")
	path := filepath.Join(folder, "memory.db.grants")
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	broken := append([]byte("{"), whole...)
	if err := os.WriteFile(path, broken, 0o600); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if got := idsOf(one.State()); len(got) != 0 {
			t.Errorf("while it is broken: %q", got)
		}
	}
	if err := one.Change(func(*oauth.State) error { return nil }); !errors.Is(err, robotmem.Invalid) {
		t.Errorf("a change while it is broken: %v", err)
	}
	if now, err := os.ReadFile(path); err != nil || string(now) != string(broken) {
		t.Errorf("it was written over: %v", err)
	}
	if len(*told) != 1 {
		t.Errorf("told %v", *told)
	}
	if err := os.WriteFile(path, whole, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := idsOf(one.State()); len(got) != 1 {
		t.Errorf("after it was mended: %q", got)
	}

	// Without the file all have to log in again.
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if got := idsOf(one.State()); len(got) != 0 {
		t.Errorf("without the file: %q", got)
	}
}

func TestChangesOfGrantsAreOrdered(t *testing.T) {
	folder := t.TempDir()
	var all sync.WaitGroup
	for i := range 8 {
		g, _ := grantsIn(t, folder, "file-1")
		all.Go(func() {
			for j := range 5 {
				addGrant(t, g, fmt.Sprintf("%d-%d", i, j))
			}
		})
	}
	all.Wait()
	g, _ := grantsIn(t, folder, "file-1")
	if got := len(idsOf(g.State())); got != 40 {
		t.Errorf("%d grants of 40 are left", got)
	}
}

// A process that is killed while it writes leaves all that it said it had stored.
func TestGrantsSurviveAKill(t *testing.T) {
	if folder := os.Getenv("ROBOTMEM_TEST_GRANTS"); folder != "" {
		g, _ := grantsIn(t, folder, "file-1")
		for i := 0; ; i++ {
			addGrant(t, g, fmt.Sprint(i))
			fmt.Println("stored", i)
		}
	}

	folder := t.TempDir()
	child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestGrantsSurviveAKill$")
	child.Env = append(os.Environ(), "ROBOTMEM_TEST_GRANTS="+folder)
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	stored := 0
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if strings.HasPrefix(lines.Text(), "stored ") {
			stored++
		}
		if stored == 20 {
			_ = child.Process.Kill()
		}
	}
	_ = child.Wait() // killed

	g, _ := grantsIn(t, folder, "file-1")
	if got := len(idsOf(g.State())); stored < 20 || got < stored || got > stored+1 {
		t.Errorf("%d grants after %d were stored", got, stored)
	}
	addGrant(t, g, "after")
}

// Only tokens of the file allow a program something: a hash of the setting must not be stored.
func TestLoginsAreTheTokensOfTheFile(t *testing.T) {
	f, err := Of(filepath.Join(t.TempDir(), "memory.db"), "")
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Serve("a-secret-of-this-test", nil); err != nil {
		t.Fatal(err)
	}
	if got := f.Logins(); len(got) != 0 {
		t.Errorf("with the setting alone: %v", got)
	}
	if _, err := f.Create(t.Context(), web.Token{Name: "ada", ReadOnly: true}); err != nil {
		t.Fatal(err)
	}
	if got := f.Logins(); len(got) != 1 || got[0].Name != "ada" || !got[0].ReadOnly {
		t.Errorf("got %v", got)
	}
}
