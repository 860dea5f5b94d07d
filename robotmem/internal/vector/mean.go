package vector

import "fmt"

// MeanBuilder adds up vectors for the mean around which [New] takes codes. The
// zero value is ready. A few thousand vectors of a set are enough.
type MeanBuilder struct {
	sum   []float64
	count int
}

// Add takes one vector. All have the length of the first.
func (b *MeanBuilder) Add(vector []float32) error {
	if b.count == 0 {
		b.sum = make([]float64, len(vector))
	}
	if len(vector) != len(b.sum) {
		return fmt.Errorf("vector: a vector of %d dimensions in a mean of %d", len(vector), len(b.sum))
	}
	for i, f := range vector {
		b.sum[i] += float64(f)
	}
	b.count++
	return nil
}

// Mean returns the mean of what was added so far, nil when that is nothing.
func (b *MeanBuilder) Mean() []float32 {
	if b.count == 0 {
		return nil
	}
	mean := make([]float32, len(b.sum))
	for i, f := range b.sum {
		mean[i] = float32(f / float64(b.count))
	}
	return mean
}
