package documents_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	manuals "github.com/robotmem/robotmem-go/perception/documents"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/documents"
	"github.com/robotmem/robotmem-go/robotmem/local"
)

func openMemory(t *testing.T) *local.Node {
	t.Helper()
	m, err := local.Open(t.Context(), filepath.Join(t.TempDir(), "memory.db"), local.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = m.Close() })

	return m
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
		t.Fatal(err)
	}
}

// pass runs a watcher that knows nothing of earlier ones, as after a kill, and returns what it reports.
func pass(t *testing.T, m robotmem.Service, dir string) (out []string) {
	t.Helper()
	w, err := documents.Watch(m, dir, documents.WatchOptions{Settle: -1, Report: func(c documents.Change) { out = append(out, said(c)) }})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if err := w.Once(t.Context()); err != nil {
		t.Fatal(err)
	}

	return out
}

func said(c documents.Change) string {
	switch {
	case c.Err != nil:
		return c.Name + ": " + c.Err.Error()
	case c.Stored == nil:
		return c.Name + " removed"
	}
	return fmt.Sprintf("%s %s %d", c.Name, c.Stored.Status, c.Stored.Passages)
}

func want(t *testing.T, what string, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: got %q, want %q", what, got, want)
	}
}

func TestAFolderIsFollowed(t *testing.T) {
	m, dir := openMemory(t), filepath.Join(t.TempDir(), "manuals")
	write(t, filepath.Join(dir, "arm.md"), "# Arm\n\nThe arm lifts 5 kg.")
	write(t, filepath.Join(dir, "sub", "gripper.txt"), "The gripper closes with 40 N.")
	write(t, filepath.Join(dir, "picture.png"), "no document")
	write(t, filepath.Join(dir, ".hidden.md"), "hidden")

	want(t, "first", pass(t, m, dir), []string{"manuals/arm.md created 1", "manuals/sub/gripper.txt created 1"})
	want(t, "again", pass(t, m, dir), nil)

	write(t, filepath.Join(dir, "arm.md"), "# Arm\n\nThe arm lifts 6 kg.")
	want(t, "changed", pass(t, m, dir), []string{"manuals/arm.md updated 1"})

	if err := os.Remove(filepath.Join(dir, "sub", "gripper.txt")); err != nil {
		t.Fatal(err)
	}
	want(t, "removed", pass(t, m, dir), []string{"manuals/sub/gripper.txt removed"})
}

func TestABadFileLeavesWhatWasStoredOfIt(t *testing.T) {
	m, dir := openMemory(t), filepath.Join(t.TempDir(), "manuals")
	write(t, filepath.Join(dir, "arm.txt"), "The arm lifts 5 kg.")
	pass(t, m, dir)

	write(t, filepath.Join(dir, "arm.txt"), "The arm lifts \xff kg.")
	if got := pass(t, m, dir); len(got) != 1 || !strings.Contains(got[0], "UTF-8") {
		t.Errorf("got %q", got)
	}
	listed, err := m.Documents(t.Context(), &robotmem.DocumentsRequest{})
	if err != nil || len(listed.Documents) != 1 || listed.Documents[0].Passages != 1 {
		t.Errorf("got %+v, %v", listed, err)
	}
}

func TestAFileThatIsGoneIsNotFound(t *testing.T) {
	m := openMemory(t)
	r := manuals.NewReader(manuals.Limits{Bytes: 100})
	_, err := documents.SaveFile(t.Context(), m, r, filepath.Join(t.TempDir(), "gone.txt"), robotmem.SaveDocumentRequest{Name: "gone.txt"})
	if robotmem.KindOf(err) != robotmem.NotFound {
		t.Errorf("got %v", err)
	}

	large := filepath.Join(t.TempDir(), "large.txt")
	write(t, large, strings.Repeat("A sentence. ", 20))
	if _, err := documents.SaveFile(t.Context(), m, r, large, robotmem.SaveDocumentRequest{Name: "large.txt"}); robotmem.KindOf(err) != robotmem.TooLarge {
		t.Errorf("got %v", err)
	}
}

func TestALinkOutOfTheFolderIsNotFollowed(t *testing.T) {
	m, dir := openMemory(t), filepath.Join(t.TempDir(), "manuals")
	secret := filepath.Join(t.TempDir(), "secret.txt")
	write(t, secret, "a secret")
	write(t, filepath.Join(dir, "arm.txt"), "The arm lifts 5 kg.")
	if err := os.Symlink(secret, filepath.Join(dir, "link.txt")); err != nil {
		t.Skip("the system makes no links")
	}
	if err := os.Symlink(filepath.Dir(secret), filepath.Join(dir, "folder.txt")); err != nil {
		t.Fatal(err)
	}

	got := pass(t, m, dir)
	if len(got) != 3 || !strings.Contains(got[0], "link") || got[2] != "manuals/arm.txt created 1" {
		t.Errorf("got %q", got)
	}
}

func TestDocumentsOfOtherFoldersStay(t *testing.T) {
	m, one, two := openMemory(t), filepath.Join(t.TempDir(), "manuals"), filepath.Join(t.TempDir(), "manuals")
	write(t, filepath.Join(one, "arm.txt"), "The arm lifts 5 kg.")
	write(t, filepath.Join(two, "hand.txt"), "The hand has 5 fingers.")
	pass(t, m, one)
	want(t, "the other folder", pass(t, m, two), []string{"manuals/hand.txt created 1"})

	write(t, filepath.Join(two, "arm.txt"), "Another arm.")
	if got := pass(t, m, two); len(got) != 1 || !strings.Contains(got[0], "from elsewhere") {
		t.Errorf("got %q", got)
	}
}

func TestAnEmptyFolderRemovesNothingAtTheStart(t *testing.T) {
	m, dir := openMemory(t), filepath.Join(t.TempDir(), "manuals")
	write(t, filepath.Join(dir, "arm.txt"), "The arm lifts 5 kg.")
	pass(t, m, dir)
	if err := os.Remove(filepath.Join(dir, "arm.txt")); err != nil {
		t.Fatal(err)
	}

	w, err := documents.Watch(m, dir, documents.WatchOptions{Settle: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if err := w.Once(t.Context()); robotmem.KindOf(err) != robotmem.Conflict {
		t.Errorf("got %v", err)
	}
}

// Events and unfinished files, with the real clock.
func TestAFileIsReadWhenItIsWhole(t *testing.T) {
	m, dir := openMemory(t), filepath.Join(t.TempDir(), "manuals")
	write(t, filepath.Join(dir, "first.txt"), "The first one.")

	changes := make(chan string, 100)
	w, err := documents.Watch(m, dir, documents.WatchOptions{Settle: 300 * time.Millisecond, Report: func(c documents.Change) { changes <- said(c) }})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- w.Run(ctx) }()

	next := func() string {
		select {
		case c := <-changes:
			return c
		case <-time.After(30 * time.Second):
			t.Fatal("nothing was reported")
			return ""
		}
	}
	if got := next(); got != "manuals/first.txt created 1" {
		t.Errorf("got %q", got)
	}

	// A slow writer: its half is never stored.
	f, err := os.Create(filepath.Join(dir, "second.txt"))
	if err != nil {
		t.Fatal(err)
	}
	for range 12 {
		if _, err := f.WriteString(strings.Repeat("A sentence of the manual. ", 10)); err != nil {
			t.Fatal(err)
		}
		time.Sleep(50 * time.Millisecond)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if got := next(); got != "manuals/second.txt created 4" {
		t.Errorf("got %q", got)
	}

	// A folder that is made later is watched, too.
	write(t, filepath.Join(dir, "new", "third.txt"), "The third one.")
	if got := next(); got != "manuals/new/third.txt created 1" {
		t.Errorf("got %q", got)
	}

	cancel()
	if err := errors.Join(<-done, w.Close()); err != nil {
		t.Error(err)
	}
}
