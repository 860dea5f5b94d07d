package vector_test

import (
	"bytes"
	stdcmp "cmp"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/robotmem/robotmem-go/robotmem/internal/vector"
)

func TestNewPanics(t *testing.T) {
	for name, make := range map[string]func(){
		"no dimensions":  func() { vector.New(0, nil) },
		"too many":       func() { vector.New(vector.MaxDims+1, nil) },
		"mean too short": func() { vector.New(3, []float32{1, 2}) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			make()
		}()
	}
}

// New copies the mean.
func TestNewKeepsItsMean(t *testing.T) {
	s := makeSet(64, 3000, offCentre(64, isotropic(64)))
	mean := meanOf(t, s)
	x := vector.New(64, mean)
	must(t, x.Put(1, s.vector(1)))
	before := saved(t, x)
	clear(mean)
	must(t, x.Put(1, s.vector(1)))
	after := saved(t, x)
	if diff := cmp.Diff(before, after); diff != "" {
		t.Error("the code changed with the caller's slice")
	}
}

func TestMeanBuilder(t *testing.T) {
	var b vector.MeanBuilder
	if got := b.Mean(); got != nil {
		t.Errorf("mean of nothing is %v, want nil", got)
	}
	must(t, b.Add([]float32{1, 0, -1}))
	must(t, b.Add([]float32{0, 1, -2}))
	if diff := cmp.Diff([]float32{0.5, 0.5, -1.5}, b.Mean()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if err := b.Add([]float32{1, 2}); err == nil {
		t.Error("a vector of another length was added")
	}
	if diff := cmp.Diff([]float32{0.5, 0.5, -1.5}, b.Mean()); diff != "" {
		t.Errorf("after a refusal (-want +got):\n%s", diff)
	}
}

func TestEncodeDecode(t *testing.T) {
	for name, test := range map[string]struct {
		v, want []float32
		levels  []byte
	}{
		"exact":   {[]float32{0, 1, -0.5, 127}, []float32{0, 1, -1, 127}, []byte{0, 1, 0xff, 127}},
		"extreme": {[]float32{3e38, -3e38, 1e-40}, []float32{3e38, -3e38, 0}, []byte{127, 0x81, 0}},
		"zero":    {[]float32{0, 0}, []float32{0, 0}, []byte{0, 0}},
		"tiny":    {[]float32{1e-45, 0}, []float32{0, 0}, []byte{127, 0}},
	} {
		raw := vector.Encode(test.v)
		if len(raw) != vector.StoredSize(len(test.v)) || !bytes.Equal(raw[4:], test.levels) {
			t.Errorf("%s: stored as % x", name, raw)
		}
		got := vector.Decode(raw)
		if diff := cmp.Diff(test.want, got, cmpopts.EquateApprox(1e-4, 1e-6)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	for size := range 200 { // damaged, or of another form
		vector.Decode(make([]byte, size))
	}
	for _, v := range questions(20, skewed(384, 10, 1)) { // length 1 stays, and a second encoding changes nothing
		raw := vector.Encode(v)
		got := vector.Decode(raw)
		if diff := cmp.Diff(raw, vector.Encode(got)); diff != "" {
			t.Errorf("encoded again (-want +got):\n%s", diff)
		}
		must(t, vector.New(384, nil).Put(1, got))
	}
}

// The stored form finds 0.995 of the nearest ten that float32 finds. With VECTORS=DIR it
// measures vectors of a model instead: the files DIR/*.corpus.f32 and DIR/*.queries.f32
// hold little-endian float32 of 384 dimensions.
func TestStoredFormFindsTheNearest(t *testing.T) {
	oneGoroutine(t)
	d := clustered(384, 100, 5)
	vectors, asked := questions(2000, d), questions(2050, d)[2000:]
	if dir := os.Getenv("VECTORS"); dir != "" {
		vectors, asked = floatsOf(t, dir+"/*.corpus.f32"), floatsOf(t, dir+"/*.queries.f32")
	}
	s := &set{dims: 384}
	for _, v := range vectors {
		s.raw = append(s.raw, vector.Encode(v)...)
	}
	depths := []int{10, 50}
	found := make([]float64, len(depths))
	for _, q := range asked {
		var want, got []vector.Hit // with the true cosines, in both orders
		for i, v := range vectors {
			similarity := 0.0
			for j, f := range q {
				similarity += float64(f) * float64(v[j])
			}
			want = append(want, vector.Hit{ID: int64(i + 1), Similarity: similarity})
		}
		for _, h := range exact(s, q, depths[1], nil) {
			if got = append(got, want[h.ID-1]); math.Abs(got[len(got)-1].Similarity-h.Similarity) > 0.005 {
				t.Fatalf("a cosine of %v was stored as %v", got[len(got)-1].Similarity, h.Similarity)
			}
		}
		slices.SortFunc(want, func(a, b vector.Hit) int { return stdcmp.Compare(b.Similarity, a.Similarity) })
		for i, n := range depths {
			found[i] += recall(got[:n], want[:n]) / float64(len(asked))
		}
	}
	t.Logf("%d vectors, %d questions: %.4f of the nearest %d", len(vectors), len(asked), found, depths)
	if found[0] < 0.995 || found[1] < 0.995 {
		t.Errorf("found %.4f of the nearest %d, want 0.995", found, depths)
	}
}

func floatsOf(t *testing.T, pattern string) (all [][]float32) {
	t.Helper()
	names, err := filepath.Glob(pattern)
	must(t, err)
	for _, name := range names {
		raw, err := os.ReadFile(name)
		must(t, err)
		for row := range slices.Chunk(raw, 4*384) {
			v := make([]float32, 384)
			_, err := binary.Decode(row, binary.LittleEndian, v)
			must(t, err)
			all = append(all, v)
		}
	}
	return all
}

// 112 bytes a vector at 384 dimensions and at most a per cent more, and 2 more of a large set, for the centres.
func TestMemory(t *testing.T) {
	oneGoroutine(t)
	one := questions(1, isotropic(384))[0]
	s := makeSet(384, 4*4096-1, func(*rand.Rand) []float32 { return one })
	x := index(t, s)
	for _, want := range []float64{112, 113.6} {
		got := float64(x.Memory()) / (4 * 4096)
		if got < want || got > want+1 {
			t.Errorf("%.2f bytes a vector, want %v to %v", got, want, want+1)
		}
		x.ArrangeFrom(s.len())
		must(t, x.Arrange(t.Context()))
	}
	if got := vector.New(384, nil).Memory(); got != 0 {
		t.Errorf("an empty index has %d bytes, want 0", got)
	}
}
