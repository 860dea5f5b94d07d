package local

import (
	"slices"
	"strings"
	"testing"

	"github.com/robotmem/robotmem-go/robotmem"
)

// A word of a question that nobody wrote together is found by its parts.
func TestCompoundsOfAQuestion(t *testing.T) {
	t.Parallel()
	e := openTest(t, Options{})
	learnAll(t, e, "Die Kraft am Greifer war zu groß", "Der Zustand der Batterie ist gut", "grip the beaker with a force of 9 N", "an unrelated notice")
	for query, want := range map[string]int64{"Greiferkraft": 1, "Batteriezustand": 2, "beakerforce": 3, "Batteriekraftwerk": 0, "an unrelatedness": 4} {
		res, got := recalled(t, e, &robotmem.RecallRequest{Query: query})
		if want == 0 && len(got) > 0 || want > 0 && (len(got) == 0 || got[0] != want) {
			t.Errorf("%q finds %v, want %d (%v)", query, got, want, res.Interpreted)
		}
	}
}

// Of texts longer than a statement, one more word of the question decides nothing.
func TestLongTextsStayInTheOrderOfTheirScores(t *testing.T) {
	t.Parallel()
	filler := strings.Repeat("The page lists options and what they do in general. ", 25)
	for _, text := range []string{"", filler} {
		e := openTest(t, Options{})
		learnAll(t, e, "Calibrate camera, calibrate camera, calibrate camera, calibrate camera. "+text, "Calibrate the camera after the lamp was changed. "+text+text)
		_, got := recalled(t, e, &robotmem.RecallRequest{Query: "calibrate camera lamp"})
		want := []int64{1, 2}
		if text == "" {
			want = []int64{2, 1}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%d bytes: %v, want %v", len(text), got, want)
		}
	}
}
