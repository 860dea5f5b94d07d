package main

import (
	"context"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/robotmem/robotmem-go/examples/robotfailures"
	"github.com/robotmem/robotmem-go/robotmem"
)

// score counts the correct classifications of one set.
type score struct {
	set                string
	n, likeness, plain int // all recordings, and the correct ones of each method
}

// compare classifies every recording by its nearest neighbour, once with the memory
// and once with the raw readings, and prints how often each was correct. The error
// names a set in which the memory was worse.
func compare(ctx context.Context, m robotmem.Service, recordings []robotfailures.Failure) error {
	begun := time.Now()

	var scores []*score

	for i, f := range recordings {
		if i == 0 || f.Set != recordings[i-1].Set {
			scores = append(scores, &score{set: f.Set})
		}
		s := scores[len(scores)-1]
		s.n++
		class, err := nearestClass(ctx, m, f)
		if err != nil {
			return err
		}
		if class == f.Label() {
			s.likeness++
		}
		if plainNearest(f, recordings).Label() == f.Label() {
			s.plain++
		}
	}
	took := time.Since(begun)

	var worse []string
	fmt.Println("class named by the nearest other of the set, rightly:")
	fmt.Printf("%-5s %10s %10s %14s\n", "set", "recordings", "likeness", "raw readings")

	for _, s := range scores {
		likeness, plain := float64(s.likeness)/float64(s.n), float64(s.plain)/float64(s.n)
		fmt.Printf("%-5s %10d %10.3f %14.3f\n", s.set, s.n, likeness, plain)
		if s.likeness < s.plain {
			worse = append(worse, s.set)
		}
	}
	fmt.Printf("%.1f ms a recording, both ways\n\n", float64(took.Milliseconds())/float64(len(recordings)))
	if worse != nil {
		return fmt.Errorf("likeness is right less often than raw readings in %s", strings.Join(worse, ", "))
	}

	return nil
}

// nearestClass recalls the most similar recording by the data alone. An exact filter
// selects the other recordings of the same set first.
func nearestClass(ctx context.Context, m robotmem.Service, f robotfailures.Failure) (string, error) {
	found, err := m.Recall(ctx, &robotmem.RecallRequest{
		Like:          &robotmem.Like{DataBase64: f.CSV(), MediaType: "text/csv"},
		ContextFilter: robotmem.Object{"set": f.Set, "index": map[string]any{"$ne": f.Index}},
		N:             1,
	})
	if err != nil || len(found.Memories) == 0 {
		return "", err
	}

	return classOf(&found.Memories[0]), nil
}

// classOf returns failure.class of the memory's context.
func classOf(m *robotmem.Memory) string {
	failure, _ := m.Context["failure"].(map[string]any)
	class, _ := failure["class"].(string)
	return class
}

// plainNearest returns the other recording of the set with the smallest Euclidean
// distance of the 90 readings, the first one of a tie.
func plainNearest(f robotfailures.Failure, recordings []robotfailures.Failure) (nearest robotfailures.Failure) {
	best := math.Inf(1)

	for _, other := range recordings {
		if other.Set != f.Set || other.Index == f.Index {
			continue
		}
		sum := 0.0

		for i, sample := range f.Samples {
			for c, v := range sample {
				d := v - other.Samples[i][c]
				sum += d * d
			}
		}
		if sum < best {
			best, nearest = sum, other
		}
	}

	return nearest
}
