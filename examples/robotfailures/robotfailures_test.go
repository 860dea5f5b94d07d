package robotfailures

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func load(t *testing.T) []Failure {
	t.Helper()
	failures, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	return failures
}

func TestLoadMatchesTheDocumentation(t *testing.T) {
	// Percentages as robot.txt gives them, by label; LP5's add up to 101.
	documented := map[string]struct {
		count    int
		percents map[string]float64
	}{
		"LP1": {88, map[string]float64{"normal": 24, "collision": 19, "front collision": 18, "obstruction": 39}},
		"LP2": {47, map[string]float64{"normal": 43, "front collision": 13, "back collision": 15, "collision to the right": 11, "collision to the left": 19}},
		"LP3": {47, map[string]float64{"ok": 43, "slightly moved": 19, "moved": 32, "lost": 6}},
		"LP4": {117, map[string]float64{"normal": 21, "collision": 62, "obstruction": 18}},
		"LP5": {164, map[string]float64{"normal": 27, "bottom collision": 16, "bottom obstruction": 13, "collision in part": 29, "collision in tool": 16}},
	}
	counts, labels := map[string]int{}, map[string]map[string]float64{}
	failures := load(t)
	for _, f := range failures {
		if f.Index != counts[f.Set] || f.Task == "" {
			t.Fatalf("got index %d and task %q, want index %d of %s", f.Index, f.Task, counts[f.Set], f.Set)
		}
		counts[f.Set]++
		if labels[f.Set] == nil {
			labels[f.Set] = map[string]float64{}
		}
		labels[f.Set][f.Label()]++
	}
	if len(failures) != 463 {
		t.Errorf("got %d failures, want 463", len(failures))
	}
	for set, want := range documented {
		if counts[set] != want.count {
			t.Errorf("%s: got %d failures, want %d", set, counts[set], want.count)
		}
		got := map[string]float64{}
		for label, n := range labels[set] {
			got[label] = 100 * n / float64(counts[set])
		}
		// The documentation rounds to whole percents, not always the nearest.
		near := cmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) < 1 })
		if diff := cmp.Diff(got, want.percents, near); diff != "" {
			t.Errorf("%s: classes (-got +want):\n%s", set, diff)
		}
	}
}

func TestCSV(t *testing.T) {
	f := load(t)[0]
	want := "Fx,Fy,Fz,Tx,Ty,Tz\n-1,-1,63,-3,-1,0\n0,0,62,-3,-1,0\n"
	got := string(f.CSV())
	if !strings.HasPrefix(got, want) {
		t.Errorf("got %q, want it to begin with %q", got, want)
	}
	if n := strings.Count(got, "\n"); n != 1+SampleCount {
		t.Errorf("got %d lines, want %d", n, 1+SampleCount)
	}
}

func TestParseRefusesWhatIsNoRecording(t *testing.T) {
	sample := "\t1\t2\t3\t4\t5\t6\n"
	for name, text := range map[string]string{
		"sample before a class": sample,
		"too few samples":       "normal\n" + strings.Repeat(sample, 14),
		"class within samples":  "normal\n" + sample + "normal\n" + strings.Repeat(sample, 15),
		"too many samples":      "normal\n" + strings.Repeat(sample, 16),
		"five channels":         "normal\n\t1\t2\t3\t4\t5\n",
		"words":                 "normal\n\t1\t2\t3\t4\t5\t6x\n",
	} {
		t.Run(name, func(t *testing.T) {
			if got, err := parse(bytes.NewReader([]byte(text))); err == nil {
				t.Errorf("got %d failures, want an error", len(got))
			}
		})
	}
}
