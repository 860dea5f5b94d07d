package ui

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The codes of checks and workers are those that the page Doctor has texts for.
func TestCodesOfTheDoctorHaveTexts(t *testing.T) {
	sources, err := filepath.Glob("../robotmem/internal/maintenance/*.go")
	if err != nil || len(sources) == 0 {
		t.Fatal(sources, err)
	}
	sources = append(sources, "../robotmem/internal/engine/stats.go")

	written := map[string]bool{}
	call := regexp.MustCompile(`(?s)\b(?:addFinding\(d, [^,]+, [^,]+, |worker\("[^"]+", \w+, |addDamage\(d, "[^"]+", "[^"]+", )"(\w+)"`)
	for _, file := range sources {
		for _, m := range call.FindAllStringSubmatch(read(t, file), -1) {
			written[m[1]] = true
		}
	}

	texts := regexp.MustCompile(`(?s)const details: .*?\n};`).FindString(read(t, "src/views/doctor_names.ts"))
	known := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^  (\w+): "`).FindAllStringSubmatch(texts, -1) {
		known[m[1]] = true
	}

	got, want := slices.Sorted(maps.Keys(known)), slices.Sorted(maps.Keys(written))
	if len(want) < 20 || !cmp.Equal(got, want) {
		t.Errorf("texts of codes, +written -known:\n%s", cmp.Diff(got, want))
	}
}

func read(t *testing.T, file string) string {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
