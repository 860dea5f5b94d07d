package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/robotmem/robotmem-go/robotmem/archive"
)

// What an archive says of itself hides no payload that it names and does not have.
func TestImportNamesPayloadsWhateverTheManifestSays(t *testing.T) {
	t.Setenv("ROBOTMEM_HOME", t.TempDir())
	t.Setenv("ROBOTMEM_EMBEDDER", "none")
	const at, uid = "2026-03-01T14:05:00.000000000Z", "01a1feaa-a80c-7a1b-9c31-251ec8f2a842"
	sum := strings.Repeat("ab", 32)
	written := func(claimed int64, lost bool) string {
		t.Helper()
		path := filepath.Join(t.TempDir(), "m.tar")
		f, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		w := archive.NewWriter(f, false)
		m := &archive.Memory{
			UID: uid, Type: "perception", PerceptionType: "tactile", Collection: "lab", Content: "force at the wrist", Status: "active", Version: 1,
			ValidFrom: at, CreatedAt: at, UpdatedAt: at, ObservedAt: at, Payload: &archive.Payload{SHA256: sum, Bytes: 9, Lost: lost},
		}
		for _, err := range []error{
			w.Begin(&archive.Manifest{CreatedAt: at, Counts: archive.Counts{Memories: 1, Payloads: claimed, PayloadBytes: 9 * claimed}}),
			w.Memory(m, nil), w.Close(), f.Close(),
		} {
			if err != nil {
				t.Fatal(err)
			}
		}
		return path
	}

	for _, tt := range []struct {
		name    string
		claimed int64
		lost    bool // as the node knew that wrote the archive
		flags   []string
	}{
		{"a manifest that names it", 1, false, nil},
		{"a manifest that names none", 0, false, nil},
		{"a manifest that names none, and a dry run", 0, false, []string{"--dry-run"}},
		{"a payload that the node had lost, and did not evict", 0, true, nil},
		{"a payload that the node had lost, beside others", 1, true, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			args := append([]string{"import", written(tt.claimed, tt.lost), "--db", filepath.Join(t.TempDir(), "m.db")}, tt.flags...)
			code, out, errs := runArgs(t, args...)
			named := strings.Contains(errs, sum) && strings.Contains(errs, uid)
			if !named || code == 0 {
				t.Errorf("exit code %d\n%s%s", code, out, errs)
			}
		})
	}
}
