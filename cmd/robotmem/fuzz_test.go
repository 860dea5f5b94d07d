package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/robotmem/robotmem-go/robotmem"
)

// FuzzFiles reads any bytes as the files that a user writes or brings along:
// config.yaml, tokens.yaml, and lines to import. A bad one is refused with the
// file or the line, and never by a panic.
func FuzzFiles(f *testing.F) {
	for _, seed := range []string{
		"", "db: memory.db\nembedder: none\nretention:\n  - visual=1GB\n", "weights:\n  bm25: 1\n  vector: 0.5\nlog_level: debug\n", "weights: bm25=1\n", "rate: {}", "a: &a [*a]", "? [x]\n: y", "\t", "db: [1,2]", "%YAML 9",
		"tokens:\n  - name: arm-7\n    sha256: 5e884898da28047151d0e56f8dc6292773603d0d6aabbdd62a11ef721d1542d8\n    created: 2026-03-01T14:05:00Z\n", "tokens: {}", "tokens:\n  - sha256: zz\n", "tokens: [null, 3]",
		"{\"insight\":\"a\"}\n\n\xef\xbb\xbf{\"insight\":\"b\"}\r\nnot json\n[1]\n{\"insight\":", "\xff\n", "{}{}",
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
		if err := os.WriteFile(filepath.Join(dir, "tokens.yaml"), data, 0o600); err != nil {
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
		checkLines(t, data)
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

// checkLines reads the lines of an import: each that is not blank is either an
// item with its own bytes, or bad with a reason.
func checkLines(t *testing.T, data []byte) {
	t.Helper()
	r := &importer{lines: &lineReader{in: bufio.NewReader(bytes.NewReader(data))}}
	items, bad := 0, 0
	for {
		b, err := r.read()
		if err != nil {
			t.Fatal(err)
		}
		if b.count == 0 {
			break
		}
		for i, item := range b.items {
			if !json.Valid(item) || i > 0 && b.numbers[i] <= b.numbers[i-1] {
				t.Errorf("line %d: %q", b.numbers[i], item)
			}
		}
		for _, line := range b.bad {
			if line.reason == "" {
				t.Errorf("line %d is bad without a reason", line.line)
			}
		}
		if _, err := b.request(false); err != nil {
			t.Error(err)
		}
		items, bad = items+len(b.items), bad+len(b.bad)
	}
	if r.lines.offset != int64(len(data)) {
		t.Errorf("%d of %d bytes were read", r.lines.offset, len(data))
	}
	written := 0
	for line := range strings.SplitSeq(strings.TrimPrefix(string(data), "\xef\xbb\xbf"), "\n") {
		if strings.TrimSpace(line) != "" {
			written++
		}
	}
	if items+bad != written {
		t.Errorf("%d lines are written, %d are items and %d bad", written, items, bad)
	}
	if _, err := r.read(); err != nil && !errors.Is(err, io.EOF) {
		t.Error(err)
	}
}
