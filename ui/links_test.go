package ui

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// address is a value within a path or a query of a template literal: /sessions/${s.session_id}.
var address = regexp.MustCompile("[`/=]" + `\$\{([^}]*)\}`)

// An episode's id may hold any character, so it is encoded wherever a link has it.
func TestIdsOfEpisodesAreEncodedInLinks(t *testing.T) {
	files, err := filepath.Glob("src/views/*.tsx")
	if err != nil || len(files) < 10 {
		t.Fatal(files, err)
	}
	found := 0
	for _, file := range files {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for i, line := range strings.Split(string(source), "\n") {
			if !strings.Contains(line, "/sessions/") && !strings.Contains(line, "/incident/s/") && !strings.Contains(line, "session_id=") {
				continue
			}
			for _, m := range address.FindAllStringSubmatch(line, -1) {
				if strings.HasPrefix(m[1], "encodeURIComponent(") {
					found++
				} else if !strings.Contains(m[1], "memory_id") {
					t.Errorf("%s:%d: %s is not encoded", file, i+1, m[0])
				}
			}
		}
	}
	if found < 10 {
		t.Errorf("%d links of episodes: the form of links has changed", found)
	}
}
