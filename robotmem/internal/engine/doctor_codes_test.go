package engine

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/robotmem/robotmem-go/robotmem"
)

// A client translates what a check or a worker says by its code and values.
func TestDoctorSaysCodesAndValues(t *testing.T) {
	t.Parallel()
	e := openTest(t, Options{})
	for _, insight := range []string{"the cup slipped", "the door opens to the left"} {
		if _, err := e.Learn(t.Context(), &robotmem.LearnRequest{Insight: insight}); err != nil {
			t.Fatal(err)
		}
	}
	d, err := e.Doctor(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	s, err := e.Stats(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}

	type said struct {
		Detail string
		Values []string
	}
	byCode := map[string]said{}
	for _, c := range d.Checks {
		byCode[c.Code] = said{c.Detail, c.Values}
	}
	for _, w := range s.Workers {
		byCode[w.Code] = said{w.Detail, w.Values}
	}

	want := map[string]said{
		"contents_match": {"2 memories looked at, all as they should be", []string{"2"}},
		"index_in_step":  {"in step with the tables", nil},
		"no_recall":      {"no recall yet", nil},
		"no_write":       {"no write is queued", nil},
	}
	for code, w := range want {
		if diff := cmp.Diff(w, byCode[code]); diff != "" {
			t.Errorf("%s:\n%s", code, diff)
		}
	}

	// The values stand in the detail, in their order.
	for code, got := range byCode {
		rest := got.Detail
		for _, v := range got.Values {
			_, after, found := strings.Cut(rest, v)
			if !found {
				t.Errorf("%s: %q does not have %q in its place", code, got.Detail, v)
			}
			rest = after
		}
	}
}
