package perception_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/robotmem/robotmem-go/perception"
)

// noise is what a robot might hear within two seconds: a motor with harmonics
// that runs up or down, knocks that ring, and a hiss, each of its own pitch and
// time.
func noise(seed uint64) []float64 {
	const rate, seconds = 16000, 2
	r := rand.New(rand.NewPCG(seed, 3))
	out := make([]float64, rate*seconds)
	base, glide := 80*math.Pow(2, 4*r.Float64()), 0.5+1.5*r.Float64()
	harmonics := make([]float64, 8)
	for i := range harmonics {
		harmonics[i] = r.Float64() / float64(i+1)
	}
	phase := 0.0
	for i := range out {
		t := float64(i) / rate / seconds
		phase += 2 * math.Pi * base * math.Pow(glide, t) / rate
		for k, h := range harmonics {
			out[i] += 0.2 * h * math.Sin(phase*float64(k+1))
		}
	}
	for range 1 + r.IntN(4) {
		start, hz, decay := r.Float64()*seconds, 200*math.Pow(2, 5*r.Float64()), 5+40*r.Float64()
		for i := int(start * rate); i < len(out); i++ {
			t := float64(i)/rate - start
			out[i] += 0.6 * math.Exp(-decay*t) * math.Sin(2*math.Pi*hz*t)
		}
	}
	last, tone, from := 0.0, 0.1+0.8*r.Float64(), r.IntN(len(out))
	for i := from; i < len(out); i++ {
		last = tone*last + (1-tone)*r.NormFloat64()
		out[i] += 0.1 * last
	}
	return out
}

var soundDistortions = map[string]func(seed uint64, in []float64) []float64{
	"at a fifth of the gain": func(_ uint64, in []float64) []float64 {
		out := make([]float64, len(in))
		for i, v := range in {
			out[i] = v / 5
		}
		return out
	},
	"white noise 20 dB below": func(seed uint64, in []float64) []float64 {
		r := rand.New(rand.NewPCG(seed, 9))
		power := 0.0
		for _, v := range in {
			power += v * v
		}
		level := math.Sqrt(power/float64(len(in))) / 10
		out := make([]float64, len(in))
		for i, v := range in {
			out[i] = v + level*r.NormFloat64()
		}
		return out
	},
	"50 ms late": func(_ uint64, in []float64) []float64 {
		return append(make([]float64, 800), in[:len(in)-800]...)
	},
	"50 ms early": func(_ uint64, in []float64) []float64 {
		return append(append([]float64{}, in[800:]...), make([]float64, 800)...)
	},
	"at 8 bits": func(_ uint64, in []float64) []float64 {
		out := make([]float64, len(in))
		for i, v := range in {
			out[i] = math.Round(v*127) / 127
		}
		return out
	},
}

func TestADistortedSoundIsNearestToItself(t *testing.T) {
	t.Parallel()
	const sounds = 30
	var made [][]float64
	var stored [][]float32
	for i := range uint64(sounds) {
		made = append(made, noise(i))
		kind, vector, ok := perception.Features(perception.Item{Data: recording(16000, made[i])})
		if kind != "sound/v1" || !ok || len(vector) >= 256 {
			t.Fatalf("got %q of %d, %v", kind, len(vector), ok)
		}
		stored = append(stored, vector)
	}
	right, all := 0, 0
	for name, distort := range soundDistortions {
		here := 0
		for i := range sounds {
			data := recording(16000, distort(uint64(i), made[i]))
			_, vector, _ := perception.Features(perception.Item{Data: data})
			if nearest("sound/v1", vector, stored) == i {
				here++
			}
		}
		t.Logf("%-24s %d of %d", name, here, sounds)
		right, all = right+here, all+sounds
	}
	if got := float64(right) / float64(all); got < 0.97 {
		t.Errorf("found %.3f, want at least 0.97", got)
	}
}
