package hints

import (
	"strings"
	"testing"

	"github.com/robotmem/robotmem-go/robotmem/admin"
)

func TestANewCollectionNearAnotherIsNamed(t *testing.T) {
	all := []admin.CollectionCount{
		{Collection: "kitchen", Total: 7}, {Collection: "arm-7", Total: 7, Sessions: 1}, {Collection: "garage", Total: 2},
		{Collection: "kitchn", Total: 1}, {Collection: "arm-8", Total: 1}, {Collection: "garaje", Sessions: 1},
		{Collection: "attic", Total: 1}, {Collection: "gaarge", Total: 2},
	}
	for asked, want := range map[string]string{
		"kitchn": "there is kitchen", "garaje": "there is garage", "arm-8": "", "attic": "", "kitchen": "", "default": "",
		"gaarge": "",
	} {
		got := NewCollection(asked, all)
		if !strings.Contains(got, want) || want == "" && got != "" {
			t.Errorf("%s: got %q, want %q", asked, got, want)
		}
	}
}

func TestMeant(t *testing.T) {
	for problem, want := range map[string]string{
		"doctor: unknown flag --fix":             "; it is called --repair",
		"export: unexpected argument facts.json": "; facts go to standard output",
		"doctor: unknown flag --fixed":           "",
		"web: unknown flag --fix":                "",
	} {
		command, rest, _ := strings.Cut(problem, ": ")
		if got := Meant(command, rest); want == "" && got != "" || !strings.HasPrefix(got, want) {
			t.Errorf("%s: %q, want %q", problem, got, want)
		}
	}
}
