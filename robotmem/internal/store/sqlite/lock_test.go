package sqlite

import (
	"errors"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/ncruces/go-sqlite3"

	"github.com/robotmem/robotmem-go/robotmem"
)

// rangesCanBeLocked says where lock_other.go is not used.
var rangesCanBeLocked = slices.Contains([]string{"linux", "darwin", "windows"}, runtime.GOOS)

func newFile(t *testing.T) string {
	t.Helper()
	if !rangesCanBeLocked {
		t.Skip("ranges of files cannot be locked here")
	}
	path := filepath.Join(t.TempDir(), "memory.db")
	c, err := OpenPlain(path, nil)
	if err == nil {
		err = errors.Join(c.Exec("PRAGMA journal_mode=WAL; CREATE TABLE memories(id)"), c.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// One process is at the front of the queue at a time, leaves it when it ends, and
// holds up nobody for ever.
func TestWriteQueue(t *testing.T) {
	path := newFile(t)
	a, b := openWriteQueue(path), openWriteQueue(path)
	defer b.close()
	now := time.Now()
	for _, step := range []struct {
		name      string
		got, want bool
	}{
		{"a takes the front", a.take(now), true},
		{"a is there", a.take(now), true},
		{"b waits", b.take(now), false},
		{"b has waited long enough", b.take(now.Add(-2 * queueLimit)), true},
		{"b does not wait again", b.take(now), true},
	} {
		if step.got != step.want {
			t.Errorf("%s: %t, want %t", step.name, step.got, step.want)
		}
	}
	if b.front {
		t.Error("b is at the front, where a is")
	}
	b.leave()
	a.leave()
	b.take(now)
	if !b.front || b.ignored {
		t.Error("b does not take the front that is free again")
	}
	if a.take(now) {
		t.Error("a takes the front where b is")
	}
	b.close() // as its process's end does
	a.close()
	c := openWriteQueue(path)
	defer c.close()
	if !c.take(time.Now()) || !c.front {
		t.Error("the front did not come free with its holder")
	}
	if _, err := Open(t.Context(), path, ConnOptions{BusyTimeout: time.Second}); err != nil {
		t.Error("SQLite's locks are not as they were:", err)
	}
}

// A recovery and a program that is about to open the file keep each other out, as
// a restore does: SQLite opens a file before it locks it.
func TestRecoveryKeepsOpenersOut(t *testing.T) {
	path := newFile(t)
	read := func(c *Conn) error { _, err := c.Number("SELECT count(*) FROM memories"); return err }
	leave, err := enter(t.Context(), path, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := OpenDamaged(t.Context(), path, ConnOptions{}, read); !errors.Is(err, robotmem.Unavailable) {
		t.Errorf("while another opens the file: %v, want unavailable", err)
	}
	leave()
	damaged, err := OpenDamaged(t.Context(), path, ConnOptions{}, read)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := enter(t.Context(), path, 20*time.Millisecond); !errors.Is(err, robotmem.Unavailable) {
		t.Errorf("entering during a recovery: %v, want unavailable", err)
	}
	other, err := sqlite3.Open(path) // another program knows SQLite's lock alone
	if err != nil {
		t.Fatal(err)
	}
	if err := other.Exec("SELECT count(*) FROM memories"); !errors.Is(err, sqlite3.BUSY) {
		t.Errorf("another program reads: %v, want busy", err)
	}
	if err := errors.Join(other.Close(), damaged.Close()); err != nil {
		t.Fatal(err)
	}
	if leave, err = enter(t.Context(), path, 0); err != nil {
		t.Fatal(err)
	}
	leave()
}
