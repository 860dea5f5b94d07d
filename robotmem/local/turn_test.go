package local

import (
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
)

// The turn is one process's at a time, comes free with it, and holds up nobody
// for ever.
func TestTurn(t *testing.T) {
	if !lineHere {
		t.Skip("this system has no lock for it")
	}
	path := filepath.Join(t.TempDir(), "memory.db")
	e := openAt(t, Options{Path: path})
	if _, err := e.Learn(t.Context(), &robotmem.LearnRequest{Insight: "whoever has written gives the turn back"}); err != nil {
		t.Fatal(err)
	}
	a, b := openTurn(path), openTurn(path)
	defer b.close()
	now := time.Now()
	for _, step := range []struct {
		name      string
		got, want bool
	}{
		{"a takes it", a.take(now), true},
		{"a has it", a.take(now), true},
		{"b waits", b.take(now), false},
		{"b has waited long enough", b.take(now.Add(-2 * turnLimit)), true},
		{"b does not wait for it again", b.take(now), true},
	} {
		if step.got != step.want {
			t.Errorf("%s: %t, want %t", step.name, step.got, step.want)
		}
	}
	if b.mine {
		t.Error("b has the turn that a has")
	}
	b.pass()
	a.pass()
	b.take(now)
	if !b.mine || b.ignored {
		t.Error("b does not take the turn that is free again")
	}
	if a.take(now) {
		t.Error("a takes the turn that b has")
	}
	b.close() // as its process's end does
	if a.close(); !openTurnIsFree(path) {
		t.Error("the turn did not come free with its holder")
	}
	if _, err := e.Learn(t.Context(), &robotmem.LearnRequest{Insight: "SQLite's locks are as they were"}); err != nil {
		t.Error(err)
	}
}

// lineHere says where turn_other.go does not stand in.
var lineHere = slices.Contains([]string{"linux", "darwin", "windows"}, runtime.GOOS)

func openTurnIsFree(path string) bool {
	c := openTurn(path)
	defer c.close()
	return c.take(time.Now()) && c.mine
}
