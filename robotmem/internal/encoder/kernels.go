package encoder

import (
	"encoding/binary"
	"math"
)

// kernels are the inner loops in one implementation. All have the same results up to rounding.
type kernels struct {
	name string
	// quantize rounds a row to 8 bits, block by block, into one lane of a tile.
	quantize func(tile []byte, row []float32, lane int)
	// multiply writes eight outputs of four tokens: out[t*stride+r] = bias[r] + Σ weight × activation.
	multiply func(out []float32, stride int, weights, tile []byte, bias []float32)
	// addNorm sets x to the normalized sum of x and y (Ba, Kiros, Hinton 2016); y may be nil.
	addNorm func(x, y, weight, bias []float32, epsilon float32)
	// gelu sets each x to x Φ(x) (Hendrycks, Gimpel 2016), Φ the normal distribution.
	gelu func(x []float32)
	// scores sets out[s] to the product of query with column s of keys, whose rows are as long as out.
	scores func(out, query, keys []float32)
	// softmax sets the first n of x to exp(scale x) divided by their sum. x is longer, up to a multiple of 8.
	softmax func(x []float32, n int, scale float32)
	// mix sets out to the sum of rows of values, stride apart, by weights.
	mix func(out, weights, values []float32, stride int)
}

// plain are the kernels in Go.
var plain = kernels{"go", quantizeGo, multiplyGo, addNormGo, geluGo, scoresGo, softmaxGo, mixGo}

// fastest are the kernels of this processor.
var fastest = available()[0]

func quantizeGo(tile []byte, row []float32, lane int) {
	for b := range len(row) / blockSize {
		values, block := row[b*blockSize:][:blockSize], tile[b*tileBlock:][:tileBlock]

		largest := float32(0)
		for _, v := range values {
			largest = max(largest, float32(math.Abs(float64(v))))
		}
		inverse := float32(0)
		// A block of zeros has the scale 0, and multiply skips it.
		if largest > 0 {
			inverse = 127 / largest
		}

		sum := int32(0)

		for i, v := range values {
			q := int32(math.RoundToEven(float64(v * inverse)))
			block[lane*blockSize+i] = byte(q)
			sum += q
		}
		binary.LittleEndian.PutUint32(block[tileTokens*blockSize+4*lane:], math.Float32bits(largest/127))
		binary.LittleEndian.PutUint32(block[tileTokens*(blockSize+4)+4*lane:], uint32(8*sum))
	}
}

func multiplyGo(out []float32, stride int, weights, tile []byte, bias []float32) {
	for t := range tileTokens {
		copy(out[t*stride:][:groupSize], bias)
	}

	for ; len(weights) > 0; weights, tile = weights[groupBlock:], tile[tileBlock:] {
		var unpacked [groupSize][blockSize]int32
		// The weights lie as the assembly loads them: four inputs of each output at a time, of which the upper four
		// bits of a byte are 16 inputs further.
		for m := range 4 {
			for j, q := range weights[2*groupSize+32*m:][:32] {
				unpacked[j/4][4*m+j%4] = int32(q & 15)
				unpacked[j/4][blockSize/2+4*m+j%4] = int32(q >> 4)
			}
		}

		for t := range tileTokens {
			scale := math.Float32frombits(binary.LittleEndian.Uint32(tile[tileTokens*blockSize+4*t:]))
			if scale == 0 {
				continue
			}
			sum8 := int32(binary.LittleEndian.Uint32(tile[tileTokens*(blockSize+4)+4*t:]))
			activations := tile[t*blockSize:][:blockSize]

			for r := range groupSize {
				product := -sum8 // weights are 8 too large
				for i, w := range &unpacked[r] {
					product += w * int32(int8(activations[i]))
				}
				out[t*stride+r] += float32(product) * scale * half(weights[2*r:])
			}
		}
	}
}

func addNormGo(x, y, weight, bias []float32, epsilon float32) {
	mean := float32(0)

	for i := range x {
		if y != nil {
			x[i] += y[i]
		}
		mean += x[i]
	}

	mean /= float32(len(x))

	variance := float32(0)
	for _, v := range x {
		variance += (v - mean) * (v - mean)
	}

	inverse := 1 / float32(math.Sqrt(float64(variance/float32(len(x))+epsilon)))
	for i, v := range x {
		x[i] = (v-mean)*inverse*weight[i] + bias[i]
	}
}

func geluGo(x []float32) {
	for i, v := range x {
		x[i] = v * float32(0.5*(1+math.Erf(float64(v)/math.Sqrt2)))
	}
}

func scoresGo(out, query, keys []float32) {
	clear(out)

	for j, q := range query {
		for s, k := range keys[j*len(out):][:len(out)] {
			out[s] += q * k
		}
	}
}

func softmaxGo(x []float32, n int, scale float32) {
	// Exponents relative to the largest are at most 0, so that exp does not overflow.
	largest := float32(math.Inf(-1))
	for _, v := range x[:n] {
		largest = max(largest, v)
	}
	sum := float32(0)

	for i, v := range x[:n] {
		x[i] = float32(math.Exp(float64(scale * (v - largest))))
		sum += x[i]
	}

	for i := range x[:n] {
		x[i] /= sum
	}
}

func mixGo(out, weights, values []float32, stride int) {
	clear(out)

	for s, w := range weights {
		for j, v := range values[s*stride:][:len(out)] {
			out[j] += w * v
		}
	}
}
