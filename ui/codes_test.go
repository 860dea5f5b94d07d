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

// The page Doctor has a Chinese name for each check. A check that is not listed fails
// TestEveryCheckHasATestThatItFails of the engine.
func TestNamesOfTheDoctorHaveTexts(t *testing.T) {
	listed := regexp.MustCompile(`(?s)\nvar ailments = .*?\n}\n`).FindString(read(t, "../robotmem/internal/engine/doctor_checks_test.go"))
	checks := regexp.MustCompile(`(?m)^\t"([^"]+)": +{`).FindAllStringSubmatch(listed, -1)
	if len(checks) < 20 {
		t.Fatalf("%d checks are listed", len(checks))
	}
	texts := regexp.MustCompile(`(?s)const names: .*?\n};`).FindString(read(t, "src/views/doctor_names.ts"))
	for _, c := range checks {
		if !regexp.MustCompile(`(?m)^  "?` + regexp.QuoteMeta(c[1]) + `"?: "`).MatchString(texts) {
			t.Errorf("the check %q has no name in Chinese", c[1])
		}
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
