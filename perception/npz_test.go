package perception_test

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"math"
	"strings"
	"testing"

	"github.com/robotmem/robotmem-go/perception"
)

// npyOf is an array of float64 as NumPy saves it.
func npyOf(shape string, values ...float64) []byte {
	header := "{'descr': '<f8', 'fortran_order': False, 'shape': " + shape + ", }"
	header += strings.Repeat(" ", 118-len(header)-1) + "\n"
	b := append([]byte("\x93NUMPY\x01\x00"), byte(len(header)), 0)
	b = append(b, header...)
	for _, v := range values {
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(v))
	}
	return b
}

func npzOf(t testing.TB, names []string, arrays ...[]byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for i, name := range names {
		f, err := w.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Write(arrays[i]); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// The arrays of one length are channels under their names; a time among them is the clock.
func TestNPZ(t *testing.T) {
	data := npzOf(t, []string{"t.npy", "force.npy", "gain.npy", "label.npy", "notes.txt"},
		npyOf("(4,)", 0, 0.5, 1, 1.5), npyOf("(4, 2)", 1, 2, 3, 4, 5, 6, 7, 80), npyOf("()", 3), npyOf("(2,)", 1, 2), []byte("x"))
	item := perception.Item{Data: data}
	s, err := perception.MakeSamples(item, perception.SamplesOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if s.Total != 4 || s.RateHz != 2 || len(s.Channels) != 2 || s.Channels[1].Name != "force.1" || s.Channels[1].Values[3] != 80 {
		t.Errorf("got %d samples at %g Hz of %v", s.Total, s.RateHz, s.Channels)
	}
	mediaType, err := perception.Sniff(data, "")
	if summary := perception.Summarize(item); err != nil || mediaType != "application/x-npz" || perception.SenseOf(mediaType, summary) != "proprioceptive" || !strings.Contains(summary, "force.1 peak 80") {
		t.Errorf("got %s, %q, %v", mediaType, summary, err)
	}

	one := npzOf(t, []string{"arr_0.npy"}, npyOf("(3, 2)", 1, 2, 3, 4, 5, 6))
	if s, err := perception.MakeSamples(perception.Item{Data: one}, perception.SamplesOptions{}); err != nil || s.Total != 3 || len(s.Channels) != 2 {
		t.Errorf("one array: got %v, %v", s, err)
	}
	for name, bad := range map[string][]byte{
		"cut":     data[:len(data)-30],
		"a cube":  npzOf(t, []string{"a.npy"}, npyOf("(1, 1, 1)", 1)),
		"a text":  npzOf(t, []string{"a.npy"}, []byte("hello")),
		"nothing": npzOf(t, []string{"a.npy"}, npyOf("(0,)")),
	} {
		if _, err := perception.MakeSamples(perception.Item{Data: bad}, perception.SamplesOptions{}); err == nil {
			t.Errorf("%s is read", name)
		}
	}
	// An archive of other files is none.
	if got, _ := perception.Sniff(npzOf(t, []string{"a.txt"}, []byte("x")), ""); got != "application/zip" {
		t.Errorf("got %s", got)
	}
}
