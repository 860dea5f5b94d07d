package main

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/robotmem/robotmem-go/robotmem"
)

// FuzzFiles reads any bytes as the files that a user writes or brings along:
// config.yaml and memory.db.tokens. A bad one is refused with the file, and never by a
// panic.
func FuzzFiles(f *testing.F) {
	for _, seed := range []string{
		"", "db: memory.db\nembedder: none\nretention:\n  - visual=1GB\n", "weights:\n  bm25: 1\n  vector: 0.5\nlog_level: debug\n", "weights: bm25=1\n", "rate: {}", "a: &a [*a]", "? [x]\n: y", "\t", "db: [1,2]", "%YAML 9",
		"tokens:\n  - name: arm-7\n    sha256: 5e884898da28047151d0e56f8dc6292773603d0d6aabbdd62a11ef721d1542d8\n    created: 2026-03-01T14:05:00Z\n", "tokens: {}", "tokens:\n  - sha256: zz\n", "tokens: [null, 3]",
		"\xff\n", "{}{}",
	} {
		f.Add([]byte(seed))
	}
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, data []byte) {
		path := filepath.Join(dir, "file")
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		none := func(string) (string, bool) { return "", false }
		_, err := loadConfig(&globals{Config: &path}, none)
		checkFileError(t, "config", err)
		c := config{Home: dir}
		if err := os.WriteFile(filepath.Join(dir, "memory.db.tokens"), data, 0o600); err != nil {
			t.Fatal(err)
		}
		tokens, err := openTokens(&c, func(error) {})
		checkFileError(t, "tokens", err)
		if err == nil {
			for _, token := range tokens.Tokens() {
				if token.SHA256 == [32]byte{} {
					t.Errorf("token %q has no hash", token.Name)
				}
			}
		}
	})
}

func checkFileError(t *testing.T, field string, err error) {
	t.Helper()
	if err == nil {
		return
	}
	e, ok := errors.AsType[*robotmem.Error](err)
	if !ok || e.Kind != robotmem.Invalid || e.Detail() == "" {
		t.Errorf("%s: %T %v", field, err, err)
	}
}
