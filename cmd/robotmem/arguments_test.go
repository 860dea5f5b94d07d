package main

import (
	"os"
	"strings"
	"testing"
)

// An argument that is not UTF-8 is refused, unless it names a file.
func TestArgumentsAreText(t *testing.T) {
	t.Chdir(t.TempDir())
	var out, errs strings.Builder
	if code := run([]string{"learn", "bad \xff bytes", "--db", "u.db"}, strings.NewReader(""), &out, &errs); code != 2 || !strings.Contains(errs.String(), `argument 2 is not valid UTF-8 ("bad \xff bytes")`) {
		t.Errorf("code %d: %s", code, errs.String())
	}
	if exists("u.db") {
		t.Error("a memory was made")
	}
	const name = "caf\xe9.db"
	if err := checkText([]string{"--db=" + name}); err == nil {
		t.Error("a name without a file is accepted")
	}
	if err := os.WriteFile(name, nil, 0o600); err != nil {
		t.Skip("this system has no such names:", err)
	}
	if err := checkText([]string{"--db", name, "--db=" + name}); err != nil {
		t.Error(err)
	}
}
