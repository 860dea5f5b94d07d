package engine

import (
	"testing"

	"github.com/robotmem/robotmem-go/robotmem"
)

// A word of a question that nobody wrote together is found by its parts.
func TestCompoundsOfAQuestion(t *testing.T) {
	t.Parallel()
	e := openTest(t, Options{})
	learnAll(t, e, "Die Kraft am Greifer war zu groß", "Der Zustand der Batterie ist gut", "grip the beaker with a force of 9 N", "an unrelated notice")
	for query, want := range map[string]int64{"Greiferkraft": 1, "Batteriezustand": 2, "beakerforce": 3, "Batteriekraftwerk": 0, "an unrelatedness": 0} {
		res, got := recalled(t, e, &robotmem.RecallRequest{Query: query})
		if want == 0 && len(got) > 0 || want > 0 && (len(got) == 0 || got[0] != want) {
			t.Errorf("%q finds %v, want %d (%v)", query, got, want, res.Interpreted)
		}
	}
}
