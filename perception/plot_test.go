package perception_test

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/robotmem/robotmem-go/perception"
)

// maxPlot is the most that a plot may take, in bytes.
const maxPlot = 200 << 10

// drawing is what a plot shows.
type drawing struct {
	words []string
	lines []string // paths of readings, without those of the legend
}

// plotOf draws the item and checks what holds for every plot.
func plotOf(t testing.TB, item perception.Item, o perception.PreviewOptions) drawing {
	t.Helper()
	p, err := perception.MakePreview(item, o)
	if err != nil {
		t.Fatal(err)
	}
	if p.MediaType != "image/svg+xml" || len(p.Data) > maxPlot {
		t.Fatalf("got %d bytes of %s", len(p.Data), p.MediaType)
	}
	if strings.Contains(string(p.Data), "NaN") && !strings.Contains(string(item.Data), "NaN") || strings.Contains(string(p.Data), "Inf ") {
		t.Fatalf("a coordinate is no number: %s", p.Data)
	}
	var out drawing
	dec := xml.NewDecoder(strings.NewReader(string(p.Data)))
	inText := false
	for {
		token, err := dec.Token()
		if err == io.EOF {
			return out
		}
		if err != nil {
			t.Fatalf("no valid XML: %v\n%s", err, p.Data)
		}
		switch token := token.(type) {
		case xml.StartElement:
			if !slices.Contains([]string{"svg", "style", "rect", "path", "text"}, token.Name.Local) {
				t.Fatalf("got an element %q", token.Name.Local)
			}
			inText = token.Name.Local == "text"
			if d := attribute(token, "d"); attribute(token, "class") == "line" && !strings.HasSuffix(d, "h10") {
				out.lines = append(out.lines, d)
			}
		case xml.CharData:
			if inText {
				out.words = append(out.words, string(token))
			}
		case xml.EndElement:
			inText = false
		}
	}
}

func attribute(e xml.StartElement, name string) string {
	for _, a := range e.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

func TestPlotOfAWrench(t *testing.T) {
	t.Parallel()
	item := with(csvItem(wrenchCSV("Fx,Fy,Fz,Tx,Ty,Tz\n")), map[string]any{"duration_s": 0.315, "units": map[string]any{"force": "N", "torque": "Nm"}})
	got := plotOf(t, item, perception.PreviewOptions{})
	want := []string{"-50", "0", "50", "N", "Fx", "Fy", "Fz", "0", "0.05", "0.1", "0.15", "0.2", "0.25", "-500", "0", "500", "time in s", "Nm", "Tx", "Ty", "Tz"}
	if diff := cmp.Diff(got.words, want); diff != "" {
		t.Errorf("-got +want:\n%s", diff)
	}
	if len(got.lines) != 6 || strings.Count(got.lines[0], " ") != 15 {
		t.Errorf("got %d lines, the first %q", len(got.lines), got.lines[0])
	}
	first, _ := perception.MakePreview(item, perception.PreviewOptions{})
	again, _ := perception.MakePreview(item, perception.PreviewOptions{})
	if first.Width != 640 || first.Height != 360 || string(first.Data) != string(again.Data) {
		t.Error("the same item gives another picture")
	}
}

// A single sample among 60,000 reaches as high in the plot as it does in a plot
// of its own.
func TestPlotKeepsPeaks(t *testing.T) {
	t.Parallel()
	for _, samples := range []int{5000, 60_000} {
		text := strings.Repeat("0\n", samples/3) + "90\n" + strings.Repeat("0\n", samples/3) + "-90\n" + strings.Repeat("0\n", samples/3)
		got := plotOf(t, csvItem(text), perception.PreviewOptions{})
		top, bottom := math.Inf(1), math.Inf(-1)
		// Each point is x, y, and where it is a range of readings the other end.
		points := strings.FieldsFunc(strings.ReplaceAll(got.lines[0], "h0", ""), func(r rune) bool { return r == 'M' || r == 'L' })
		for _, point := range points {
			_, place, _ := strings.Cut(point, " ")
			for _, v := range strings.Split(place, "V") {
				y, err := strconv.ParseFloat(v, 64)
				if err != nil {
					t.Fatal(err)
				}
				top, bottom = min(top, y), max(bottom, y)
			}
		}
		if bottom-top < 280 {
			t.Errorf("%d samples: the peaks span %.0f of 360 pixels", samples, bottom-top)
		}
		if len(points) > 8000 {
			t.Errorf("%d samples: got %d points", samples, len(points))
		}
	}
}

func TestPlotBreaksLines(t *testing.T) {
	missing := strings.Repeat("1,1\n", 900) + strings.Repeat(",1\n", 900) + strings.Repeat("1,1\n", 900)
	tests := []struct {
		name, text string
		want       []int // runs of each line
	}{
		{"whole", "1\n2\n3\n", []int{1}},
		{"missing reading", "1,1\n,2\n3,3\n4,4\n", []int{2, 1}},
		{"infinite reading", "1\n2\ninf\n3\n4\n", []int{2}},
		{"missing from many", missing, []int{2, 1}},
		{"nothing but missing", "a,b\n,1\n,2\n", []int{0, 1}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var got []int
			for _, line := range plotOf(t, csvItem(test.text), perception.PreviewOptions{}).lines {
				got = append(got, strings.Count(line, "M"))
			}
			if diff := cmp.Diff(got, test.want); diff != "" {
				t.Errorf("-got +want:\n%s", diff)
			}
		})
	}
}

func TestPlotGroupsChannels(t *testing.T) {
	t.Parallel()
	row := func(n int) string { return strings.Repeat(",1", n)[1:] + "\n" }
	tests := []struct {
		name  string
		item  perception.Item
		lines int
		note  string
	}{
		{"by unit", with(csvItem("1,2,3\n2,3,4\n"), map[string]any{"units": []any{"N", "m", "N"}}), 3, ""},
		{"by quantity", csvItem("acc_x,acc_y,gyro_x,gyro_y\n1,2,3,4\n"), 4, ""},
		{"thirty", csvItem(row(30) + row(30)), 30, ""},
		{"too many", csvItem(row(48) + row(48)), 30, "and 18 more channels"},
		{"one too many", csvItem(row(31) + row(31)), 30, "and 1 more channel"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := plotOf(t, test.item, perception.PreviewOptions{})
			if len(got.lines) != test.lines {
				t.Errorf("got %d lines, want %d", len(got.lines), test.lines)
			}
			note := ""
			for _, word := range got.words {
				if strings.HasPrefix(word, "and ") {
					note = word
				}
			}
			if note != test.note {
				t.Errorf("got note %q, want %q", note, test.note)
			}
		})
	}
}

func TestPlotOfHostileTraces(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("力<&\">'\x00\x1b\u202e", 5000)
	wide := strings.Repeat(",1", 1024)[1:] + "\n"
	var noise strings.Builder
	for i := range 3000 {
		for c := range 36 {
			fmt.Fprintf(&noise, "%d,", (i*7919+c*104729)%1000)
		}
		noise.WriteString("0\n")
	}
	tests := []struct {
		name string
		item perception.Item
	}{
		{"names", with(csvItem("1,2\n2,3\n"), map[string]any{"channels": []any{"<script>alert(1)</script>", long}, "units": []any{long, "]]>"}})},
		{"many channels", csvItem(wide + wide)},
		{"much noise", csvItem(noise.String())},
		{"largest readings", csvItem("-1.7e308,1e308\n1.7e308,5e-324\n")},
		{"smallest readings", csvItem("5e-324\n0\n-5e-324\n")},
		{"large and near", csvItem("1e15\n1000000000000001\n")},
		{"one reading", csvItem("5,inf\n")},
		{"nothing finite", csvItem("inf,nan\n-inf,\n")},
		{"the longest times", csvItem("t_s,a\n-1.7e308,1\n0,2\n1.7e308,2\n")},
		{"the shortest times", csvItem("t_ns,a\n0,1\n5e-324,2\n6e-323,2\n")},
		{"all at one time", csvItem("t,a\n1,1\n1,2\n1,3\n9,4\n")},
	}
	for _, test := range tests {
		for _, size := range []int{1, 90, 0, 4096} {
			t.Run(fmt.Sprintf("%s/%d", test.name, size), func(t *testing.T) {
				plotOf(t, test.item, perception.PreviewOptions{Width: size, Height: size})
			})
		}
	}
}

func TestPlotRefuses(t *testing.T) {
	if _, err := perception.MakePreview(csvItem("1,2\n3\n"), perception.PreviewOptions{}); err == nil || !strings.Contains(err.Error(), "line 2") {
		t.Errorf("got %v, want an error that says where", err)
	}
	if _, err := perception.MakePreview(perception.Item{MediaType: "application/octet-stream", Data: []byte{0}}, perception.PreviewOptions{}); !errors.Is(err, perception.ErrNoPreview) {
		t.Errorf("got %v, want %v", err, perception.ErrNoPreview)
	}
}
