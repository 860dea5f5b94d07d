package fleet_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The script starts a whole site, and the robots do what README.md says.
func TestTheCartTakesTheDetour(t *testing.T) {
	if found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb"); len(found) == 0 {
		if _, err := exec.LookPath("initdb"); err != nil {
			const text = "no PostgreSQL on this machine; on Debian: apt-get install postgresql"
			if os.Getenv("CI") != "" {
				t.Fatal(text)
			}
			t.Skip(text)
		}
	}
	cmd := exec.Command("./run.sh")
	cmd.Env = append(os.Environ(), fmt.Sprint("PORT=", 20_000+rand.IntN(12_000)))
	out, err := cmd.CombinedOutput()
	t.Logf("%s", out)
	if err != nil {
		t.Fatal(err)
	}
	online, offline, off := strings.Cut(string(out), "the site is switched off")
	for _, want := range []string{"lift: learnt that corridor B is blocked", "cart: asked its copy and the site: corridor B is blocked by a pallet at the fire door (learnt by lift)", "cart: takes the detour through corridor C"} {
		if !strings.Contains(online, want) {
			t.Errorf("with the site it does not say %q", want)
		}
	}
	if !off || !strings.Contains(offline, "cart: asked its copy alone, the site is away: corridor B is blocked") || !strings.Contains(offline, "cart: takes the detour") {
		t.Error("without the site it does not take the detour")
	}
}
