package text

import (
	"slices"
	"testing"
)

func TestCoreLeavesOutEachPhraseOfRepetition(t *testing.T) {
	for _, phrase := range []string{"once again", "Once More", "yet again", "AGAIN", "as expected", "as before", "as usual", "as always", "as last time",
		"like before", "like last time", "wie erwartet", "wie zuvor", "wie immer", "erneut", "nochmal", "nochmals", "wieder",
		"再次", "又一次", "再一次", "和之前一样", "和上次一样", "跟上次一样", "如预期", "一如既往"} {
		if got, want := Core("door 3 opened "+phrase), Sequence("door 3 opened"); !slices.Equal(got, want) {
			t.Errorf("with %q: %q, want %q", phrase, got, want)
		}
	}
}
