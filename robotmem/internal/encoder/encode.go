package encoder

import "math"

// Embed returns the vector of a text, of length 1. The text is encoded in windows of so many tokens as the
// model has positions; the vector of a long one is the mean of those of its windows, weighted by their
// tokens. The model expects "query: " before a question and "passage: " before what answers it.
func (m *Model) Embed(text string) []float32 { return m.embedWith(fastest, text) }

func (m *Model) embedWith(k *kernels, text string) []float32 {
	content := m.tokens.split(text)

	sum, window := make([]float32, m.hidden), make([]int32, 0, min(len(content)+2, m.positions))
	for len(content) > 0 {
		// Two positions are for the start and the end token.
		part := content[:min(len(content), m.positions-2)]
		content = content[len(part):]
		window = append(append(append(window[:0], tokenStart), part...), tokenEnd)
		m.encode(k, window, float32(len(part)), sum)
	}

	square := 0.0
	for _, v := range sum {
		square += float64(v) * float64(v)
	}

	// An empty text has the vector 0, which stays 0 instead of becoming NaN.
	scale := float32(1 / math.Sqrt(max(square, 1e-24)))
	for i := range sum {
		sum[i] *= scale
	}

	return sum
}
