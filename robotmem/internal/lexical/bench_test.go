package lexical_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/bits-and-blooms/bitset"
	"github.com/robotmem/robotmem-go/robotmem/internal/lexical"
)

// speech draws texts of 20 to 40 words by Zipf's law over 30,000 words, and
// queries of 3 to 6 words, the median of which matches a fifth of the texts.
type speech struct {
	r     *rand.Rand
	zipf  *rand.Zipf
	words []string
}

func newSpeech(seed uint64) *speech {
	r := rand.New(rand.NewPCG(seed, 7))
	s := &speech{r: r, zipf: rand.NewZipf(r, 1.07, 5, 29999)}
	for i := range 30000 {
		s.words = append(s.words, fmt.Sprintf("stem%d", i))
	}
	return s
}

func (s *speech) texts(first, n int) []lexical.Document {
	docs := make([]lexical.Document, n)
	for i := range docs {
		terms := make([]string, 20+s.r.IntN(21))
		for j := range terms {
			terms[j] = s.words[s.zipf.Uint64()]
		}
		docs[i] = lexical.Document{ID: int64(first + i), Collection: "default", Terms: terms}
	}
	return docs
}

// question draws its words as the texts do, but few of the most frequent ones, which
// are stop words.
func (s *speech) question() []string {
	var terms []string
	for n := 3 + s.r.IntN(4); len(terms) < n; {
		w := s.zipf.Uint64()
		if w >= 8 && !slices.Contains(terms, s.words[w]) {
			terms = append(terms, s.words[w])
		}
	}
	return terms
}

// grow builds an index of n texts.
func grow(b *testing.B, s *speech, n int) *lexical.Index {
	b.Helper()
	before := heap()
	x := lexical.New(fts5)
	var spent time.Duration
	postings := 0
	for first := 1; first <= n; first += 10000 {
		docs := s.texts(first, min(10000, n-first+1))
		for _, d := range docs {
			distinct := slices.Clone(d.Terms)
			slices.Sort(distinct)
			postings += len(slices.Compact(distinct))
		}
		start := time.Now()
		x.Apply(docs, nil)
		spent += time.Since(start)
	}
	used := heap() - before
	b.Logf("%d texts: %.0f a second, %d postings, %.1f MB, %.2f bytes a posting", n, float64(n)/spent.Seconds(), postings, float64(used)/1e6, float64(used)/float64(postings))
	return x
}

func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// measure reports the quantiles of the time of a call.
func measure(b *testing.B, call func(i int)) {
	b.Helper()
	times := make([]time.Duration, 0, b.N)
	for i := 0; b.Loop(); i++ {
		start := time.Now()
		call(i)
		times = append(times, time.Since(start))
	}
	slices.Sort(times)
	b.ReportMetric(float64(times[len(times)/2].Nanoseconds())/1e3, "p50-us")
	b.ReportMetric(float64(times[len(times)*95/100].Nanoseconds())/1e3, "p95-us")
}

func BenchmarkSearch100k(b *testing.B) { benchmarkSearch(b, 100_000) }

// BenchmarkSearch1M takes about a gigabyte of memory. Run it by its name.
func BenchmarkSearch1M(b *testing.B) {
	if testing.Short() {
		b.Skip("short")
	}
	benchmarkSearch(b, 1_000_000)
}

func benchmarkSearch(b *testing.B, n int) {
	s := newSpeech(1)
	x := grow(b, s, n)
	var questions [][]string
	var shares []int
	for range 500 {
		questions = append(questions, s.question())
	}
	for _, q := range questions[:100] {
		shares = append(shares, len(x.Search(lexical.Query{Collection: "default", Terms: q})))
	}
	slices.Sort(shares)
	b.Logf("questions match %.1f %% of the texts at the median, %.1f %% at p95", 100*float64(shares[50])/float64(n), 100*float64(shares[95])/float64(n))
	for _, best := range []int{10, 200, 0} {
		b.Run(fmt.Sprintf("best=%d", best), func(b *testing.B) {
			measure(b, func(i int) {
				x.Search(lexical.Query{Collection: "default", Terms: questions[i%len(questions)], N: best})
			})
		})
	}
	for _, share := range []float64{0.0001, 0.001, 0.01, 0.1, 0.5} {
		within := bitset.New(uint(n + 1))
		for id := range n {
			if s.r.Float64() < share {
				within.Set(uint(id))
			}
		}
		b.Run(fmt.Sprintf("best=10,within=%g", share), func(b *testing.B) {
			measure(b, func(i int) {
				x.Search(lexical.Query{Collection: "default", Terms: questions[i%len(questions)], N: 10, Within: within})
			})
		})
	}
	b.Run("freeze", func(b *testing.B) { measure(b, func(int) { x.Freeze() }) })
	var stored bytes.Buffer
	b.Run("freeze+write", func(b *testing.B) {
		measure(b, func(int) {
			stored.Reset()
			if err := x.Freeze().Write(&stored); err != nil {
				b.Fatal(err)
			}
		})
		b.ReportMetric(float64(stored.Len())/1e6, "MB")
	})
	b.Run("read", func(b *testing.B) {
		measure(b, func(int) {
			if _, err := lexical.Read(bytes.NewReader(stored.Bytes()), fts5); err != nil {
				b.Fatal(err)
			}
		})
	})
	b.Run("apply", func(b *testing.B) {
		docs := s.texts(1, 1000)
		measure(b, func(i int) { x.Apply(docs[i%1000:i%1000+1], nil) })
	})
	b.Run("delete+search", func(b *testing.B) {
		measure(b, func(i int) {
			x.Apply(nil, []int64{int64(2000 + i)})
			x.Search(lexical.Query{Collection: "default", Terms: questions[i%len(questions)], N: 10})
		})
	})
}
