package vector_test

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/bits-and-blooms/bitset"

	"github.com/robotmem/robotmem-go/robotmem/internal/vector"
)

const benchDims = 384

// BenchmarkSearch runs one query at a time and also reports the distribution of the
// times and the recall at 10 and at 100.
func BenchmarkSearch(b *testing.B) {
	for _, data := range []struct {
		name string
		of   draw
	}{
		{"clustered", clustered(benchDims, 1000, 3)},
		{"offCentre", offCentre(benchDims, clustered(benchDims, 1000, 3))},
		{"skewed", skewed(benchDims, 1000, 3)},
		{"isotropic", isotropic(benchDims)},
	} {
		b.Run(data.name, func(b *testing.B) { benchmarkSet(b, 100_000, data.of, []int{256, vector.MaxRescore}) })
	}
}

// BenchmarkSearchMillion needs 5 GB of memory and 2 GB of disk.
func BenchmarkSearchMillion(b *testing.B) {
	if testing.Short() {
		b.Skip("a million vectors")
	}
	benchmarkSet(b, 1_000_000, clustered(benchDims, 1000, 3), []int{256, 576, 864})
}

func benchmarkSet(b *testing.B, members int, of draw, rescores []int) {
	s := makeSet(benchDims, members, of)
	x := index(b, s)
	_, load := stored(b, s)
	asked := questions(40, of)
	truth := make([][]vector.Hit, len(asked))
	for i, q := range asked {
		truth[i] = exact(s, q, 100, nil)
	}
	for _, source := range []struct {
		name string
		load vector.Source
	}{{"memory", s.load}, {"sqlite", load}} {
		for _, rescore := range rescores {
			b.Run(source.name+"/rescore="+strconv.Itoa(rescore), func(b *testing.B) {
				x.SetRescore(rescore)
				ask(b, x, asked, vector.Query{N: 200}, source.load, truth)
			})
		}
	}
	x.SetRescore(256)
	r := rand.New(rand.NewPCG(9, 9))
	for _, share := range []struct {
		name string
		of   float64
	}{{"thousandth", 0.001}, {"hundredth", 0.01}, {"half", 0.5}} {
		within := bitset.New(uint(members + 1))
		for id := 1; id <= members; id++ {
			if r.Float64() < share.of {
				within.Set(uint(id))
			}
		}
		b.Run("sqlite/within="+share.name, func(b *testing.B) {
			ask(b, x, asked, vector.Query{N: 200, Within: within}, load, nil)
		})
	}
}

// ask measures single queries.
func ask(b *testing.B, x *vector.Index, asked [][]float32, q vector.Query, load vector.Source, truth [][]vector.Hit) {
	var took []time.Duration
	var at10, at100 float64
	for i := 0; b.Loop(); i++ {
		q.Vector = asked[i%len(asked)]
		start := time.Now()
		hits, err := x.Search(q, load)
		took = append(took, time.Since(start))
		must(b, err)
		if truth != nil && i < len(asked) {
			at10 += recall(hits, truth[i][:10])
			at100 += recall(hits, truth[i])
		}
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds()), "p50-us")
	b.ReportMetric(float64(took[len(took)*95/100].Microseconds()), "p95-us")
	if truth != nil {
		counted := float64(min(len(took), len(asked)))
		b.ReportMetric(at10/counted, "recall@10")
		b.ReportMetric(at100/counted, "recall@100")
	}
}

func BenchmarkPut(b *testing.B) {
	s := makeSet(benchDims, 1000, isotropic(benchDims))
	x := vector.New(benchDims, nil)
	v := s.vector(1)
	for i := int64(0); b.Loop(); i++ {
		must(b, x.Put(1+i%100_000, v))
	}
}

func BenchmarkSnapshot(b *testing.B) {
	x := index(b, makeSet(benchDims, 4095, isotropic(benchDims)))
	data := saved(b, x)
	b.SetBytes(int64(len(data)))
	b.Run("write", func(b *testing.B) {
		for b.Loop() {
			saved(b, x)
		}
	})
	b.Run("read", func(b *testing.B) {
		for b.Loop() {
			_, err := read(data)
			must(b, err)
		}
	})
}
