package perception_test

import (
	"encoding/binary"
	"fmt"
	"math"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/robotmem/robotmem-go/perception"
)

// tableOf writes n rows of a clock and two readings; the clock steps 10 ms.
func tableOf(head string, n int, row func(i int) string) string {
	var b strings.Builder
	b.WriteString(head)
	for i := range n {
		b.WriteString(row(i) + "\n")
	}
	return b.String()
}

// Tables as loggers, spreadsheets and datasets write them are traces of 100 Hz.
func TestTablesOfOtherPrograms(t *testing.T) {
	clock := func(unit int64) func(i int) string {
		return func(i int) string {
			return fmt.Sprintf("%d,%d,%.2f", 1_700_000_000*unit+int64(i)*unit/100, i, math.Sin(float64(i)))
		}
	}
	iso := func(layout string) func(i int) string {
		return func(i int) string { return fmt.Sprintf(layout+",%d,0.25", i/100, 10*(i%100), i) }
	}
	plain := tableOf("t,a,b\n", 500, func(i int) string { return fmt.Sprintf("%.2f,%d,0.25", float64(i)/100, i) })
	var wide []byte
	for _, u := range utf16.Encode([]rune("\ufeff" + plain)) {
		wide = binary.LittleEndian.AppendUint16(wide, u)
	}
	for name, text := range map[string]string{
		"milliseconds":         tableOf("timestamp,a,b\n", 500, clock(1e3)),
		"microseconds":         tableOf("timestamp,a,b\n", 500, clock(1e6)),
		"nanoseconds":          tableOf("timestamp,a,b\n", 500, clock(1e9)),
		"ISO 8601":             tableOf("time,a,b\n", 500, iso("2024-03-31T01:59:%02d.%03d+01:00")),
		"ISO 8601, blank":      tableOf("when,a,b\n", 500, iso("2024-03-31 01:59:%02d.%03dZ")),
		"ISO 8601, no header":  tableOf("", 500, iso("2024-03-31T01:59:%02d.%03d")),
		"decimal comma":        tableOf("t;a;b\n", 500, func(i int) string { return fmt.Sprintf("%d,%02d;%d;0,2499", i/100, i%100, i) }),
		"carriage returns":     strings.ReplaceAll(plain, "\n", "\r"),
		"UTF-16":               string(wide),
		"EuRoC":                tableOf("#timestamp [ns],a [rad s^-1],b [m s^-2]\n", 500, clock(1e9)),
		"a short row":          strings.Replace(plain, "2.50,250,0.25\n", "2.50,25\n2.50,250,0.25\n", 1),
		"the header again":     strings.Replace(plain, "2.50,250,0.25\n", "t,a,b\n2.50,250,0.25\n", 1),
		"a row that was cut":   plain + "5.0",
		"a word among numbers": strings.Replace(plain, "2.50,250,0.25\n", "2.50,error,0.25\n2.50,250,0.25\n", 1),
	} {
		t.Run(name, func(t *testing.T) {
			samples, err := perception.MakeSamples(perception.Item{MediaType: "text/csv", Data: []byte(text)}, perception.SamplesOptions{Points: 1000})
			if err != nil {
				t.Fatal(err)
			}
			if math.Abs(samples.RateHz-100) > 0.1 || samples.Total != 500 || len(samples.Channels) != 2 {
				t.Fatalf("got %g Hz, %d samples of %d channels; want 100 Hz, 500 of 2", samples.RateHz, samples.Total, len(samples.Channels))
			}
			if got := samples.Channels[0].Values[499]; got != 499 {
				t.Errorf("the last reading is %g", got)
			}
			summary := perception.Summarize(perception.Item{MediaType: "text/csv", Data: []byte(text)})
			if left := strings.Contains(summary, "1 line left out"); left != (strings.Contains(name, "row") || strings.Contains(name, "again") || strings.Contains(name, "word")) {
				t.Errorf("got summary %q", summary)
			}
			if got := perception.SenseOf("text/csv", summary); got != "proprioceptive" {
				t.Errorf("got sense %s of %q", got, summary)
			}
		})
	}
}

// A header in a comment names channels and units.
func TestHeaderInAComment(t *testing.T) {
	text := tableOf("#timestamp [ns],w_x [rad s^-1],a_x [m s^-2]\n", 20, func(i int) string {
		return fmt.Sprintf("%d,%d,9.81", 1403636579758555392+int64(i)*5_000_000, i)
	})
	samples, err := perception.MakeSamples(perception.Item{MediaType: "text/csv", Data: []byte(text)}, perception.SamplesOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if c := samples.Channels[0]; c.Name != "w_x" || c.Unit != "rad s^-1" || math.Abs(samples.RateHz-200) > 0.01 {
		t.Errorf("got %q in %q at %g Hz", c.Name, c.Unit, samples.RateHz)
	}
}

// Many rows that do not fit are no table.
func TestTextIsNoTable(t *testing.T) {
	prose := strings.Repeat("10 of 12 runs failed\n3 4\n", 50)
	if got := perception.Summarize(perception.Item{MediaType: "text/plain", Data: []byte(prose)}); !strings.HasPrefix(got, "text, ") {
		t.Errorf("got %q", got)
	}
}

// Poses as KITTI writes them, a matrix of three rows a line, are a trajectory.
func TestKITTIPoses(t *testing.T) {
	text := tableOf("", 60, func(i int) string {
		a := float64(i) / 30
		c, s := math.Cos(a), math.Sin(a)
		return fmt.Sprintf("%e 0 %e %e 0 1 0 0.5 %e 0 %e %e", c, s, float64(i), -s, c, 2*float64(i))
	})
	item := perception.Item{MediaType: "text/plain", Data: []byte(text)}
	samples, err := perception.MakeSamples(item, perception.SamplesOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if samples.Kind != "trajectory" || samples.Total != 60 || samples.X[59] != 59 || samples.Y[59] != 0.5 || samples.Z[59] != 118 {
		t.Errorf("got %s of %d, last at %g %g %g", samples.Kind, samples.Total, samples.X[59], samples.Y[59], samples.Z[59])
	}
	// The last turns by 59/30 about y.
	if got, want := math.Abs(samples.QY[59]), math.Sin(59.0/60); math.Abs(got-want) > 1e-6 {
		t.Errorf("got qy %g, want %g", got, want)
	}
	if got := perception.Summarize(item); !strings.HasPrefix(got, "trajectory, 60 poses") {
		t.Errorf("got %q", got)
	}
	// Twelve readings that are no rotations are a trace.
	noise := tableOf("", 60, func(i int) string { return strings.Repeat(fmt.Sprint(i, " "), 12) })
	if got := perception.Summarize(perception.Item{MediaType: "text/plain", Data: []byte(noise)}); strings.HasPrefix(got, "trajectory") {
		t.Errorf("got %q", got)
	}
}
