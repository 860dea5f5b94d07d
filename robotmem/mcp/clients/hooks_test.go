package clients

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const hookCommandForTests = "/opt/robotmem hook --client x --db '/m.db'"

// What setup adds to the hooks of a client goes again without a trace, or without the other hooks being touched if the
// user has changed the file meanwhile.
func TestHooksComeAndGo(t *testing.T) {
	for _, before := range []string{
		"", "{}", "{}\n", "{\n\t// mine\n\t\"model\": \"opus\",\n}\n",
		`{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"say done"}]}],"stop":[{"command":"say done"}]},"z":1}`,
		"{\"hooks\": {\"PostToolUse\": [ /* none yet */ ]}}\n", "{\"version\": 1, \"hooks\": {}}\n",
	} {
		for name, f := range hookFormats {
			client, err := ByName(name)
			if err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(t.TempDir(), f.file)
			if before != "" {
				write(t, path, before)
			}
			set := func(command, action string) {
				t.Helper()
				change, err := client.SetHooks(path, command)
				if err != nil {
					t.Fatalf("%s: %q: %v", name, before, err)
				}
				if change.Action != action {
					t.Errorf("%s: %s, want %s", name, change.Action, action)
				}
				if err := change.Apply(); err != nil {
					t.Fatal(err)
				}
			}

			set("", "unchanged")
			first := "changed"
			if before == "" {
				first = "created"
			}
			set(hookCommandForTests, first)
			set(hookCommandForTests, "unchanged")
			all, err := decodeJSON([]byte(read(t, path)))
			if err != nil {
				t.Fatal(err)
			}
			events, _ := all["hooks"].(map[string]any)
			for _, event := range f.events {
				own := 0
				list, _ := events[event].([]any)
				for _, entry := range list {
					if f.own(entry) == hookCommandForTests {
						own++
					}
				}
				if own != 1 {
					t.Errorf("%s: %d entries of %s in\n%s", name, own, event, read(t, path))
				}
			}
			set("", "removed")
			if diff := cmp.Diff(before, read(t, path)); diff != "" {
				t.Errorf("%s: after setup and undo: %s", name, diff)
			}

			// Another command replaces the old one; then the user adds a setting.
			set(hookCommandForTests, first)
			set(strings.Replace(hookCommandForTests, "/m.db", "/n.db", 1), "changed")
			write(t, path, strings.Replace(read(t, path), "{", "{\"added\": true,", 1))
			set("", "removed")
			_, want, err := f.parts([]byte(before))
			if err != nil {
				t.Fatal(err)
			}
			want["added"] = true
			own, rest, err := f.parts([]byte(read(t, path)))
			if diff := cmp.Diff(want, rest); err != nil || own != "" || diff != "" {
				t.Errorf("%s: after the user's change: %q, %v %s", name, own, err, diff)
			}
		}
	}
}

func TestHooksThatCannotBeEdited(t *testing.T) {
	client, err := ByName("claude-code")
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"[]", "{", `{"hooks":[]}`, `{"hooks":{"Stop":{}}}`} {
		path := filepath.Join(t.TempDir(), "settings.json")
		write(t, path, text)
		if _, err := client.SetHooks(path, hookCommandForTests); err == nil || !strings.Contains(err.Error(), "left as it is") {
			t.Errorf("%s: %v", text, err)
		}
		if got := read(t, path); got != text {
			t.Errorf("%s became %s", text, got)
		}
	}
	if _, err := (&Client{Name: "claude-desktop"}).HookFile(os.LookupEnv); err == nil {
		t.Error("Claude Desktop has hooks")
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// read returns a file, empty if there is none.
func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return string(data)
}
