package filter

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/robotmem/robotmem-go/robotmem"
)

// The page of filters has an example of every operator that is read, and the limits.
func TestTheOperatorsAreAsDocumented(t *testing.T) {
	page, err := os.ReadFile("../../../docs/reference/filters.md")
	if err != nil {
		t.Fatal(err)
	}

	_, refused := Parse(robotmem.Object{"a": map[string]any{"$none": 1}})
	_, list, found := strings.Cut(fmt.Sprint(refused), "there are ")
	if !found {
		t.Fatalf("an unknown operator: %v", refused)
	}
	for op := range strings.FieldsSeq(list) {
		row := regexp.MustCompile(`(?m)^\|[^|]*` + regexp.QuoteMeta("`"+op+"`") + "[^|]*\\| `([^`]*)`").FindSubmatch(page)
		if row == nil {
			t.Errorf("no row of %s", op)
			continue
		}
		var example robotmem.Object
		if err := json.Unmarshal(row[1], &example); err != nil {
			t.Errorf("%s: %v", row[1], err)
		}
		if _, err := Parse(example); err != nil {
			t.Errorf("%s: %v", row[1], err)
		}
	}

	for field := range ownFields {
		if !strings.Contains(string(page), "`"+field+"`") {
			t.Errorf("the page does not name the field %s", field)
		}
	}
	if limits := fmt.Sprintf("at most %d conditions and %d levels", maxConditions, maxFilterDepth); !strings.Contains(string(page), limits) {
		t.Errorf("the page does not say %q", limits)
	}
}
