package encoder

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/x448/float16"
)

// eachKernels runs a test with all kernels of this processor but the plain ones, which they are compared with.
func eachKernels(t *testing.T, test func(t *testing.T, k *kernels, rng *rand.Rand)) {
	for _, k := range available() {
		if k != &plain {
			t.Run(k.name, func(t *testing.T) { test(t, k, rand.New(rand.NewPCG(1, 2))) })
		}
	}
}

func TestPlainKernelsAreAvailable(t *testing.T) {
	all := available()
	if all[0] != fastest || all[len(all)-1] != &plain {
		t.Errorf("the first of %d kernels are %s, the last %s", len(all), all[0].name, all[len(all)-1].name)
	}
	for _, k := range all {
		t.Log(k.name)
	}
}

// normal returns n random numbers of a normal distribution.
func normal(rng *rand.Rand, n int, deviation float64) []float32 {
	out := make([]float32, n)
	for i := range out {
		out[i] = float32(rng.NormFloat64() * deviation)
	}
	return out
}

// near compares numbers with what the plain kernels have made.
func near(t *testing.T, what string, got, want []float32, tolerance float64) {
	t.Helper()
	for i := range want {
		if d := math.Abs(float64(got[i]) - float64(want[i])); !(d <= tolerance) {
			t.Fatalf("%s: number %d of %d is %v, should be %v", what, i, len(want), got[i], want[i])
		}
	}
}

func largest(x []float32) float64 {
	out := 0.0
	for _, v := range x {
		out = max(out, math.Abs(float64(v)))
	}
	return out
}

// rowsOf returns rows to quantize: random ones, zeros, zeros but for one block, and those of one size.
func rowsOf(rng *rand.Rand, width int) [][]float32 {
	sparse, flat, alternating := make([]float32, width), make([]float32, width), make([]float32, width)
	copy(sparse[width-blockSize:], normal(rng, blockSize, 1))
	for i := range flat {
		flat[i], alternating[i] = -3, float32(i%2*2-1)
	}
	out := [][]float32{make([]float32, width), sparse, flat, alternating}
	for _, deviation := range []float64{1e-20, 1e-3, 1, 1, 1, 100, 1e20} {
		out = append(out, normal(rng, width, deviation))
	}
	return out
}

func TestQuantize(t *testing.T) {
	eachKernels(t, func(t *testing.T, k *kernels, rng *rand.Rand) {
		for _, blocks := range []int{1, 2, 12, 48} {
			for i, row := range rowsOf(rng, blocks*blockSize) {
				got, want := make([]byte, blocks*tileBlock), make([]byte, blocks*tileBlock)
				for j := range got {
					got[j] = byte(rng.Uint32())
				}
				copy(want, got)
				lane := i % tileTokens
				k.quantize(got, row, lane)
				plain.quantize(want, row, lane)
				for b := range blocks {
					sameBlock(t, got[b*tileBlock:][:tileBlock], want[b*tileBlock:][:tileBlock], row[b*blockSize:][:blockSize], lane)
				}
			}
		}
	})
}

// sameBlock allows a difference of 1 where a number is close to the middle between two.
func sameBlock(t *testing.T, got, want []byte, row []float32, lane int) {
	t.Helper()
	inverse, sum8 := 127/largest(row), int32(0)
	for i, v := range row {
		at := lane*blockSize + i
		g, w := int32(int8(got[at])), int32(int8(want[at]))
		sum8 += 8 * g
		_, fraction := math.Modf(math.Abs(float64(v) * inverse))
		if g != w && (math.Abs(fraction-0.5) > 1e-4 || max(g-w, w-g) > 1) {
			t.Fatalf("%v × %v becomes %d, should be %d", v, inverse, g, w)
		}
		got[at] = want[at]
	}
	if at := tileTokens*(blockSize+4) + 4*lane; int32(binary.LittleEndian.Uint32(got[at:])) != sum8 {
		t.Fatalf("eight times the sum is %d, should be %d", int32(binary.LittleEndian.Uint32(got[at:])), sum8)
	} else {
		copy(got[at:][:4], want[at:])
	}
	if string(got) != string(want) {
		t.Fatalf("a scale or another token differs:\n%v\n%v", got, want)
	}
}

// groupOf returns random blocks of weights of eight outputs, or those that are all q.
func groupOf(rng *rand.Rand, blocks, q int) []byte {
	out := make([]byte, blocks*groupBlock)
	for i := range out {
		if out[i] = byte(rng.Uint32()); q >= 0 {
			out[i] = byte(q | q<<4)
		}
	}
	for b := range blocks {
		for r := range groupSize {
			scale := float16.Fromfloat32(float32(rng.NormFloat64() * 0.02))
			binary.LittleEndian.PutUint16(out[b*groupBlock+2*r:], scale.Bits())
		}
	}
	return out
}

// tileOf returns a tile of as many random tokens, or of those whose activations are all q; the others are 0.
func tileOf(rng *rand.Rand, blocks, count, q int) []byte {
	out := make([]byte, blocks*tileBlock)
	for lane := range count {
		for b := range blocks {
			block, sum := out[b*tileBlock:][:tileBlock], 0
			for i := range blockSize {
				v := q
				if v == 0 {
					v = rng.IntN(255) - 127
				}
				block[lane*blockSize+i] = byte(v)
				sum += v
			}
			scale := math.Float32bits(rng.Float32() / 127)
			binary.LittleEndian.PutUint32(block[tileTokens*blockSize+4*lane:], scale)
			binary.LittleEndian.PutUint32(block[tileTokens*(blockSize+4)+4*lane:], uint32(8*sum))
		}
	}
	return out
}

func TestMultiply(t *testing.T) {
	eachKernels(t, func(t *testing.T, k *kernels, rng *rand.Rand) {
		for _, blocks := range []int{1, 2, 12, 48} {
			for _, weight := range []int{-1, 0, 8, 15} {
				for _, activation := range []int{0, 127, -127} {
					for count := range tileTokens + 1 {
						const stride = 3 * groupSize
						weights, bias := groupOf(rng, blocks, weight), normal(rng, groupSize, 0.1)
						tile := tileOf(rng, blocks, count, activation)
						got, want := normal(rng, tileTokens*stride, 1), make([]float32, tileTokens*stride)
						copy(want, got)
						k.multiply(got, stride, weights, tile, bias)
						plain.multiply(want, stride, weights, tile, bias)
						what := fmt.Sprintf("%d blocks, weights %d, activations %d", blocks, weight, activation)
						near(t, what, got, want, 1e-5*largest(want))
					}
				}
			}
		}
	})
}

// Each weight meets its own activation: products of two that are 1 show the order.
func TestOrderOfWeights(t *testing.T) {
	eachKernels(t, func(t *testing.T, k *kernels, rng *rand.Rand) {
		weights, bias := groupOf(rng, 1, -1), make([]float32, groupSize)
		for r := range groupSize {
			binary.LittleEndian.PutUint16(weights[2*r:], float16.Fromfloat32(1).Bits())
		}
		for lane := range tileTokens {
			for i := range blockSize {
				row := make([]float32, blockSize)
				row[i] = 127
				tile := make([]byte, tileBlock)
				k.quantize(tile, row, lane)
				got := make([]float32, tileTokens*groupSize)
				k.multiply(got, groupSize, weights, tile, bias)
				for r := range groupSize {
					q := weights[2*groupSize+32*(i%16/4)+4*r+i%4] >> (i / 16 * 4) & 15
					if want := float32(127 * (int(q) - 8)); got[lane*groupSize+r] != want {
						t.Fatalf("output %d of token %d for input %d is %v, should be %v", r, lane, i, got[lane*groupSize+r], want)
					}
				}
			}
		}
	})
}

func TestMultiplyTiles(t *testing.T) {
	eachKernels(t, func(t *testing.T, k *kernels, rng *rand.Rand) {
		m := &Model{hidden: 2 * blockSize, heads: 2, inner: 4 * blockSize}
		a := matrix{bias: normal(rng, 3*groupSize, 1), outputs: 3 * groupSize, blocks: m.inner / blockSize}
		for range a.outputs / groupSize {
			a.weights = append(a.weights, groupOf(rng, a.blocks, -1)...)
		}
		for count := 1; count <= 9; count++ {
			rows := normal(rng, count*m.inner, 1)
			clear(rows[:m.inner])
			var out [2][]float32
			for i, k := range []*kernels{k, &plain} {
				w := m.workspace(count)
				for j := range w.quantized {
					w.quantized[j] = 0x55 // as of a larger pass before
				}
				out[i] = make([]float32, tiled(count)*a.outputs)
				m.quantize(k, w, rows, m.inner, count)
				multiply(k, a, w, out[i], count)
			}
			near(t, fmt.Sprintf("%d tokens", count), out[0], out[1], 1e-5*largest(out[1]))
		}
	})
}

func TestAddNorm(t *testing.T) {
	eachKernels(t, func(t *testing.T, k *kernels, rng *rand.Rand) {
		for _, n := range []int{8, 32, 40, 384} {
			for _, deviation := range []float64{0, 0.1, 1, 10} {
				x, weight, bias := normal(rng, n, deviation), normal(rng, n, 1), normal(rng, n, 1)
				for _, y := range [][]float32{nil, make([]float32, n), normal(rng, n+8, deviation)} {
					got, want := slices.Clone(x), slices.Clone(x)
					k.addNorm(got, y, weight, bias, 1e-12)
					plain.addNorm(want, y, weight, bias, 1e-12)
					near(t, fmt.Sprintf("%d numbers of %v", n, deviation), got, want, 1e-5)
				}
			}
		}
	})
}

func TestGelu(t *testing.T) {
	eachKernels(t, func(t *testing.T, k *kernels, rng *rand.Rand) {
		x := []float32{0, float32(math.Copysign(0, -1)), 20, -20, 1e-30, -1e-30, 1, -1}
		for i := -20000; i < 20000; i++ {
			x = append(x, float32(i)/1000)
		}
		x = append(x, normal(rng, 4000, 2)...)
		got, want := slices.Clone(x), slices.Clone(x)
		k.gelu(got)
		plain.gelu(want)
		near(t, "gelu", got, want, 1e-6)
		for n := groupSize; n <= 4*groupSize; n += groupSize {
			got := slices.Clone(x)
			k.gelu(got[:n])
			near(t, "the numbers behind", got[n:], x[n:], 0)
		}
	})
}

func TestScores(t *testing.T) {
	eachKernels(t, func(t *testing.T, k *kernels, rng *rand.Rand) {
		for _, n := range []int{8, 16, 24, 120, 512} {
			query, keys := normal(rng, headWidth, 1), normal(rng, headWidth*n, 1)
			got, want := normal(rng, n, 1), make([]float32, n)
			k.scores(got, query, keys)
			plain.scores(want, query, keys)
			near(t, fmt.Sprintf("%d keys", n), got, want, 1e-5*largest(want))
		}
	})
}

func TestSoftmax(t *testing.T) {
	never := float32(math.Inf(-1))
	eachKernels(t, func(t *testing.T, k *kernels, rng *rand.Rand) {
		for n := 1; n <= 70; n++ {
			for _, deviation := range []float64{0, 1, 30, 1000} {
				for _, low := range []float32{1, -500, -1e30, never} {
					x := make([]float32, padded(n))
					copy(x, normal(rng, n, deviation))
					if x[rng.IntN(n)] = low; n == 1 {
						x[0] = 1
					}
					got, want := slices.Clone(x), slices.Clone(x)
					k.softmax(got, n, 0.2)
					plain.softmax(want, n, 0.2)
					near(t, fmt.Sprintf("%d numbers of %v", n, deviation), got[:n], want[:n], 1e-6)
				}
			}
		}
	})
}

func TestMix(t *testing.T) {
	eachKernels(t, func(t *testing.T, k *kernels, rng *rand.Rand) {
		for _, n := range []int{1, 2, 7, 8, 9, 100} {
			for _, stride := range []int{headWidth, headWidth + 8, 3 * 384} {
				weights, values := normal(rng, n, 1), normal(rng, (n-1)*stride+headWidth, 1)
				got, want := normal(rng, headWidth, 1), make([]float32, headWidth)
				k.mix(got, weights, values, stride)
				plain.mix(want, weights, values, stride)
				near(t, fmt.Sprintf("%d rows", n), got, want, 1e-5*largest(want))
			}
		}
	})
}

// Texts have nearly the same vectors with all kernels: a difference of a last bit can change how activations are
// rounded.
func TestEmbedWithAllKernels(t *testing.T) {
	if testing.Short() {
		t.Skip("the plain kernels are slow")
	}
	if BuiltinName() == "" {
		t.Skip("no model in the program")
	}
	m, err := Builtin()
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{
		"query: dock",
		"query: why did the gripper drop the cup?",
		"passage: Der Greifer hat die Tasse fallen lassen, weil sie nass war.",
		"passage: 夹爪因为杯子湿了而滑落。",
		"query: где стоит зарядная станция?",
		"query: ドアが開かないときはどうしますか",
		"passage: La porte de l'entrepôt reste fermée après 18 h 30 ; il faut un badge pour l'ouvrir.",
	} {
		want := m.embedWith(&plain, text)
		for _, k := range available() {
			cosine := 0.0
			for i, v := range m.embedWith(k, text) {
				cosine += float64(v) * float64(want[i])
			}
			if !(cosine >= 0.9999) {
				t.Errorf("%s: the cosine of %q is %v", k.name, text, cosine)
			}
		}
	}
}
