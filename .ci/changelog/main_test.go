package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// tree writes files into a new folder and returns it.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, content := range files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func TestChangesBecomeASection(t *testing.T) {
	root := tree(t, map[string]string{
		"CHANGELOG.md":                   "# Changelog\n\n## Unreleased\n\nSee the folder.\n\n## v1.0.0\n\n- old\n",
		"changelog/unreleased/README.md": "how to write them\n",
		"changelog/unreleased/b.md":      "fixed\n\nA link was wrong.\nIt is right now.\n",
		"changelog/unreleased/a.md":      "added\nA flag `--x`.\n",
		"changelog/unreleased/c.md":      "changed\nBreaking: `--y` takes a size.\n",
	})
	if err := release(root, "1.1.0"); err != nil {
		t.Fatal(err)
	}

	got, err := os.ReadFile(filepath.Join(root, "CHANGELOG.md"))
	if err != nil {
		t.Fatal(err)
	}
	want := "# Changelog\n\n## Unreleased\n\nSee the folder.\n\n## v1.1.0\n\n### Breaking changes\n\n- `--y` takes a size.\n\n" +
		"### Added\n\n- A flag `--x`.\n\n### Fixed\n\n- A link was wrong. It is right now.\n\n## v1.0.0\n\n- old\n"
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Error(diff)
	}
	left, err := os.ReadDir(filepath.Join(root, folder))
	if err != nil || len(left) != 1 || left[0].Name() != "README.md" {
		t.Errorf("left are %v, %v", left, err)
	}

	if err := release(root, "1.2.0"); err == nil || !strings.Contains(err.Error(), "holds no change") {
		t.Errorf("without changes: %v", err)
	}
}

func TestWhatIsRefused(t *testing.T) {
	log := "# Changelog\n\n## Unreleased\n\n## v1.0.0\n\n- old\n"
	for _, tt := range []struct{ name, log, change, version, want string }{
		{"an unknown kind", log, "improved\nx\n", "1.1.0", "first line must be one of"},
		{"no text", log, "fixed\n\n", "1.1.0", "a text must follow"},
		{"no version", log, "fixed\nx\n", "next", "version must be like"},
		{"the same version again", log, "fixed\nx\n", "1.0.0", "already"},
		{"no heading", "# Changelog\n", "fixed\nx\n", "1.1.0", "no heading"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			root := tree(t, map[string]string{"CHANGELOG.md": tt.log, "changelog/unreleased/a.md": tt.change})
			if err := release(root, tt.version); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
			if _, err := os.Stat(filepath.Join(root, "changelog/unreleased/a.md")); err != nil {
				t.Error(err)
			}
		})
	}
}

// The files of this tree can be gathered.
func TestTheChangesOfThisTree(t *testing.T) {
	if _, err := read("../.."); err != nil {
		t.Error(err)
	}
}
