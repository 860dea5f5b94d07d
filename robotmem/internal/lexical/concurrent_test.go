package lexical_test

import (
	"bytes"
	"slices"
	"sync"
	"testing"

	"github.com/robotmem/robotmem-go/robotmem/internal/lexical"
)

// With concurrent searches, snapshots and changes every answer is of one moment.
func TestConcurrentUse(t *testing.T) {
	s := newSpeech(6)
	x := lexical.New(fts5)
	x.SetLimit(50)
	x.Apply(s.texts(1, 500), nil)
	questions := make([][]string, 20)
	for i := range questions {
		questions[i] = s.question()
	}
	changes := make([][]lexical.Document, 100)
	for i := range changes {
		changes[i] = s.texts(1+i*3, 20)
	}
	var readers sync.WaitGroup
	stop := make(chan struct{})
	for g := range 3 {
		readers.Go(func() {
			for i := g; ; i++ {
				select {
				case <-stop:
					return
				default:
				}
				q := lexical.Query{Collection: lexical.All, Terms: questions[i%len(questions)], N: 5}
				hits := x.Search(q)
				if !slices.IsSortedFunc(hits, func(a, b lexical.Hit) int {
					if a.Score > b.Score || a.Score == b.Score && a.ID < b.ID {
						return -1
					}
					return 1
				}) {
					t.Errorf("out of order: %v", hits)
				}
				x.DocumentFrequency("default", q.Terms[0])
				if i%10 == 0 {
					var b bytes.Buffer
					if err := x.Freeze().Write(&b); err != nil {
						t.Error(err)
					}
					if _, err := lexical.Read(&b, fts5); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	for i, docs := range changes {
		x.Apply(docs, []int64{int64(i), int64(i + 200)})
	}
	close(stop)
	readers.Wait()
}
