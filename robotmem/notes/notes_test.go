package notes

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
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

// pass runs a pass that knows nothing but the folder, and ends after so many steps as a kill would; 0 for no kill.
func pass(t *testing.T, m robotmem.Service, dir string, steps int) (out []string) {
	t.Helper()
	killed := errors.New("killed")

	s, err := Open(m, dir, Options{Settle: -1, Report: func(c Change) { out = append(out, c.What+fmt.Sprint(c.Err)) }})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()

	left := steps
	s.step = func() error {
		if left--; steps > 0 && left < 0 {
			return killed
		}
		return nil
	}
	if err := s.Once(t.Context()); err != nil && !errors.Is(err, killed) {
		t.Fatal(err)
	}

	return out
}

// files returns the notes of a folder by uid, and their paths.
func files(t *testing.T, dir string) (notes map[string]*note, paths []string) {
	t.Helper()
	notes = map[string]*note{}
	found, err := filepath.Glob(filepath.Join(dir, "*.md"))
	if err != nil {
		t.Fatal(err)
	}

	for _, path := range found {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		n, err := parse(filepath.Base(path), data)
		if err != nil {
			t.Fatal(path, err)
		}
		if notes[n.UID] != nil && n.UID != "" {
			t.Errorf("%s and %s are of one memory", path, notes[n.UID].name)
		}
		notes[n.UID] = n
	}

	return notes, found
}

func facts(t *testing.T, m robotmem.Service) map[string]robotmem.Memory {
	t.Helper()
	out := map[string]robotmem.Memory{}

	page := robotmem.ListRequest{Limit: 1000, Type: "fact"}
	for {
		res, err := m.List(t.Context(), &page)
		if err != nil {
			t.Fatal(err)
		}
		for _, one := range res.Memories {
			out[one.UID] = one
		}
		if res.Next == "" {
			break
		}
		page.Cursor = res.Next
	}

	return out
}

// equalBoth fails unless each fact has one file with its text, and each file its fact.
func equalBoth(t *testing.T, m robotmem.Service, dir string) {
	t.Helper()
	notes, paths := files(t, dir)
	all := facts(t, m)
	if len(paths) != len(all) {
		t.Errorf("%d files, %d facts", len(paths), len(all))
	}
	for uid, one := range all {
		if n := notes[uid]; n == nil || n.text != one.Content || n.edited() || n.Version != one.Version {
			t.Errorf("fact %q, file %+v", one.Content, n)
		}
	}
}

func learn(t *testing.T, m robotmem.Service, text string) *robotmem.LearnResponse {
	t.Helper()
	res, err := m.Learn(t.Context(), &robotmem.LearnRequest{Insight: text, Context: robotmem.Object{"params": map[string]any{"force": 40}}})
	if err != nil {
		t.Fatal(err)
	}

	return res
}

func editFile(t *testing.T, path, old, text string) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	changed := strings.Replace(string(data), old, text, 1)
	if changed == string(data) {
		t.Fatalf("%s does not have %q", path, old)
	}
	if err := os.WriteFile(path, []byte(changed), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestBothWays(t *testing.T) {
	m, dir := openMemory(t), t.TempDir()
	first := learn(t, m, "the gripper holds 40 N")
	pass(t, m, dir, 0)
	equalBoth(t, m, dir)
	_, paths := files(t, dir)

	// A person edits, the memory follows, and its history has the old text.
	editFile(t, paths[0], "holds 40 N", "holds 42 N")
	pass(t, m, dir, 0)
	equalBoth(t, m, dir)
	if got := facts(t, m)[first.UID]; got.Content != "the gripper holds 42 N" || got.Version != 2 {
		t.Errorf("got %+v", got)
	}

	// The memory is updated, the file follows.
	if _, err := m.Update(t.Context(), &robotmem.UpdateRequest{MemoryID: first.MemoryID, NewContent: "the gripper holds 45 N"}); err != nil {
		t.Fatal(err)
	}
	pass(t, m, dir, 0)
	equalBoth(t, m, dir)

	// Both: the file wins.
	editFile(t, paths[0], "45 N", "50 N")
	if _, err := m.Update(t.Context(), &robotmem.UpdateRequest{MemoryID: first.MemoryID, NewContent: "the gripper holds 60 N"}); err != nil {
		t.Fatal(err)
	}
	pass(t, m, dir, 0)
	equalBoth(t, m, dir)
	if got := facts(t, m)[first.UID].Content; got != "the gripper holds 50 N" {
		t.Errorf("got %q", got)
	}
	if !known(t, m, "the gripper holds 60 N") {
		t.Error("the text of the memory is lost")
	}

	// The context is edited in the front matter.
	editFile(t, paths[0], `"force":40`, `"force":41`)
	pass(t, m, dir, 0)
	equalBoth(t, m, dir)
	if v, _ := facts(t, m)[first.UID].Context.At("params.force"); fmt.Sprint(v) != "41" {
		t.Errorf("got %v", v)
	}

	// A forgotten memory takes its file with it, but not one that a person has changed.
	second := learn(t, m, "the table is 75 cm high")
	pass(t, m, dir, 0)
	_, paths = files(t, dir)
	for _, id := range []int64{first.MemoryID, second.MemoryID} {
		if _, err := m.Forget(t.Context(), &robotmem.ForgetRequest{MemoryID: id, Reason: "wrong"}); err != nil {
			t.Fatal(err)
		}
	}
	for _, path := range paths {
		if strings.Contains(path, "table") {
			editFile(t, path, "75 cm", "76 cm")
		}
	}
	pass(t, m, dir, 0)
	equalBoth(t, m, dir)
	if all := facts(t, m); len(all) != 1 || all[second.UID].Content != "the table is 76 cm high" {
		t.Errorf("got %+v", all)
	}

	// A new file is learnt once, a deleted one is forgotten.
	if err := os.WriteFile(filepath.Join(dir, "mine.md"), []byte("---\ntags: [\"arm\"]\n---\nThe arm is slow in the cold.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	pass(t, m, dir, 0)
	pass(t, m, dir, 0)
	equalBoth(t, m, dir)
	if all := facts(t, m); len(all) != 2 {
		t.Errorf("got %+v", all)
	}
	if err := os.Remove(filepath.Join(dir, "mine.md")); err != nil {
		t.Fatal(err)
	}
	pass(t, m, dir, 0)
	equalBoth(t, m, dir)
	if all := facts(t, m); len(all) != 1 {
		t.Errorf("got %+v", all)
	}
}

func TestBadNotesForgetNothing(t *testing.T) {
	m, dir := openMemory(t), t.TempDir()
	one := learn(t, m, "the gripper holds 40 N")
	pass(t, m, dir, 0)
	_, paths := files(t, dir)
	good, err := os.ReadFile(paths[0])
	if err != nil {
		t.Fatal(err)
	}

	for name, data := range map[string]string{
		"front matter without end": "---\nuid: x\n", "no UTF-8": "\xff\xfe\xfd", "empty": "", "only front matter": string(good[:strings.LastIndex(string(good), "---")+4]),
		"too long": string(good) + strings.Repeat("x", 20_000), "broken context": strings.Replace(string(good), "context: {", "context: {{", 1),
	} {
		if err := os.WriteFile(paths[0], []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := pass(t, m, dir, 0); len(got) != 1 || strings.HasSuffix(got[0], "<nil>") {
			t.Errorf("%s: got %q", name, got)
		}
		now, err := os.ReadFile(paths[0])
		if err != nil || string(now) != data || facts(t, m)[one.UID].Content != "the gripper holds 40 N" {
			t.Errorf("%s: the file or the memory was changed (%v)", name, err)
		}
	}

	// A folder of another memory is left alone.
	other := openMemory(t)
	if err := os.WriteFile(paths[0], good, 0o600); err != nil {
		t.Fatal(err)
	}
	pass(t, other, dir, 0)
	if now, err := os.ReadFile(paths[0]); err != nil || string(now) != string(good) {
		t.Errorf("the note was changed: %v", err)
	}
}

func TestACopyIsANoteOfItsOwn(t *testing.T) {
	m, dir := openMemory(t), t.TempDir()
	learn(t, m, "the gripper holds 40 N")
	pass(t, m, dir, 0)
	_, paths := files(t, dir)
	data, err := os.ReadFile(paths[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "a copy.md"), data, 0o600); err != nil {
		t.Fatal(err)
	}
	pass(t, m, dir, 0)
	equalBoth(t, m, dir)
	if n := len(facts(t, m)); n != 2 {
		t.Errorf("%d facts", n)
	}
}

// known reports whether a text is in the memory, now or in a history.
func known(t *testing.T, m robotmem.Service, text string) bool {
	t.Helper()

	for id := int64(1); ; id++ {
		past, err := m.History(t.Context(), &robotmem.MemoryRequest{MemoryID: id})
		if err != nil {
			return false
		}
		for _, v := range past.Versions {
			if v.Content == text {
				return true
			}
		}
	}
}

// Random edits of both sides, with kills between any two steps. At the end both are equal, and no text is lost.
func TestRandomEditsAndKills(t *testing.T) {
	notes, edits := 60, 120
	if os.Getenv("CI") == "true" {
		notes, edits = 1000, 200
	}

	m, dir := openMemory(t), t.TempDir()
	r := rand.New(rand.NewPCG(1, 2))

	var written []string
	text := func(what string) string {
		written = append(written, fmt.Sprintf("%s number %d of the arm %d", what, len(written), r.IntN(1000)))
		return written[len(written)-1]
	}

	for range notes {
		learn(t, m, text("fact"))
	}
	pass(t, m, dir, 0)
	equalBoth(t, m, dir)

	for i := range edits {
		before, paths := files(t, dir)
		all := facts(t, m)

		pick := func() *robotmem.Memory {
			at := r.IntN(max(1, len(all)))
			for _, one := range all {
				if at--; at < 0 {
					return &one
				}
			}
			return nil
		}
		path := paths[r.IntN(len(paths))]

		switch r.IntN(7) {
		case 0, 1, 2: // a person edits
			for _, n := range before {
				if n.name == filepath.Base(path) {
					editFile(t, path, n.text, text("edit"))
				}
			}
		case 3:
			if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("new %d.md", i)), []byte(text("note")+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
		case 4:
			if one := pick(); one != nil {
				if _, err := m.Update(t.Context(), &robotmem.UpdateRequest{MemoryID: one.MemoryID, NewContent: text("update")}); err != nil {
					t.Fatal(err)
				}
			}
		case 5:
			if one := pick(); one != nil {
				if _, err := m.Forget(t.Context(), &robotmem.ForgetRequest{MemoryID: one.MemoryID, Reason: "a test"}); err != nil {
					t.Fatal(err)
				}
			}
		case 6:
			if err := os.Rename(path, filepath.Join(dir, fmt.Sprintf("renamed %d.md", i))); err != nil {
				t.Fatal(err)
			}
		}

		// A file is edited again only after a pass has seen it, else the person has overwritten the text.
		pass(t, m, dir, 1+r.IntN(6))
		if r.IntN(3) == 0 {
			pass(t, m, dir, 0)
			equalBoth(t, m, dir)
		}
		if t.Failed() {
			t.Fatalf("after edit %d", i)
		}
	}

	pass(t, m, dir, 0)
	equalBoth(t, m, dir)

	lost := 0
	have := map[string]bool{}
	for id := int64(1); ; id++ {
		past, err := m.History(t.Context(), &robotmem.MemoryRequest{MemoryID: id})
		if err != nil {
			break
		}
		for _, v := range past.Versions {
			have[v.Content] = true
		}
	}
	for _, one := range written {
		if !have[one] {
			lost++
			t.Logf("lost: %s", one)
		}
	}
	if lost > 0 {
		t.Errorf("%d texts are lost", lost)
	}
}

// With the real clock and events: a change of either side arrives without being asked for.
func TestRunFollowsBothSides(t *testing.T) {
	m, dir := openMemory(t), t.TempDir()
	changes := make(chan Change, 100)
	s, err := Open(m, dir, Options{Settle: 100 * time.Millisecond, Report: func(c Change) { changes <- c }})
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	ctx, cancel := contextOf(t)
	go func() { done <- s.Run(ctx) }()

	until := func(what string) string {
		for {
			select {
			case c := <-changes:
				if c.What == what {
					return c.Name
				}
			case <-time.After(30 * time.Second):
				t.Fatalf("nothing was %s", what)
			}
		}
	}

	one := learn(t, m, "the gripper holds 40 N")
	name := until("written")
	editFile(t, filepath.Join(dir, name), "40 N", "41 N")
	until("updated")
	if _, err := m.Forget(t.Context(), &robotmem.ForgetRequest{MemoryID: one.MemoryID, Reason: "wrong"}); err != nil {
		t.Fatal(err)
	}
	until("removed")

	cancel()
	if err := errors.Join(<-done, s.Close()); err != nil {
		t.Error(err)
	}
}
