package vector_test

import (
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

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
	before := x.MarshalChunk(0)
	clear(mean)
	must(t, x.Put(1, s.vector(1)))
	after := x.MarshalChunk(0)
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
	v := []float32{0, 1, -2.5, 1e-40, 3e38}
	raw := vector.Encode(v)
	if diff := cmp.Diff([]byte{0, 0, 0, 0, 0, 0, 0x80, 0x3f, 0, 0, 0x20, 0xc0}, raw[:12]); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	got, err := vector.Decode(raw)
	must(t, err)
	if diff := cmp.Diff(v, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if _, err := vector.Decode(raw[:7]); err == nil {
		t.Error("7 bytes were decoded")
	}
}

// 104 bytes an id at 384 dimensions and at most a few per cent more.
func TestMemory(t *testing.T) {
	oneGoroutine(t)
	one := questions(1, isotropic(384))[0]
	s := makeSet(384, 4*4096-1, func(*rand.Rand) []float32 { return one })
	got := float64(index(t, s).Memory()) / float64(4*4096)
	if got < 104 || got > 105 {
		t.Errorf("%.2f bytes an id, want 104 to 105", got)
	}
	if got := vector.New(384, nil).Memory(); got != 0 {
		t.Errorf("an empty index has %d bytes, want 0", got)
	}
}
