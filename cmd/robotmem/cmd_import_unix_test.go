//go:build unix

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A pipe among the files of a recording is named; nothing waits for its writer.
func TestImportRefusesAPipe(t *testing.T) {
	for name, metadata := range map[string]string{"listed": "rosbag2_bagfile_information:\n  relative_file_paths: [a_0.mcap]\n", "found": ""} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			must(t, syscall.Mkfifo(filepath.Join(dir, "a_0.mcap"), 0o600))
			if metadata != "" {
				must(t, os.WriteFile(filepath.Join(dir, "metadata.yaml"), []byte(metadata), 0o600))
			}
			for _, path := range []string{dir, filepath.Join(dir, "a_0.mcap")} {
				ended := make(chan string, 1)
				go func() {
					var stdout, stderr bytes.Buffer
					run([]string{"--db", filepath.Join(t.TempDir(), "m.db"), "--embedder", "none", "import", path}, strings.NewReader(""), &stdout, &stderr)
					ended <- stderr.String()
				}()
				select {
				case said := <-ended:
					if !strings.Contains(said, "not a regular file") {
						t.Errorf("got %q", said)
					}
				case <-time.After(20 * time.Second):
					t.Fatal("the import waits for the writer of a pipe")
				}
			}
		})
	}
}

// A pipe in the place of a file of settings is refused; it would keep the program waiting.
func TestSettingsAreNoPipes(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Skip("no pipes here:", err)
	}
	for _, setting := range []string{"config", "taxonomy"} {
		var out, errs strings.Builder
		code := run([]string{"learn", "a fact", "--" + setting, pipe, "--db", filepath.Join(t.TempDir(), "m.db")}, strings.NewReader(""), &out, &errs)
		if code != 2 || !strings.Contains(errs.String(), setting+": "+pipe+" cannot be read: is not a regular file") {
			t.Errorf("--%s: code %d: %s", setting, code, errs.String())
		}
	}
}
