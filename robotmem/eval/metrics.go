package eval

import (
	"math"
	"slices"
)

// Ten is the depth of the metrics that have one.
const Ten = 10

// Judged are the grades of documents for a query. Documents that are absent or at 0 do not answer it.
type Judged map[string]int

func (j Judged) relevant() int {
	n := 0

	for _, grade := range j {
		if grade > 0 {
			n++
		}
	}

	return n
}

// Hit1 is 1 when the first document answers, else 0.
func Hit1(ranked []string, j Judged) float64 {
	if len(ranked) > 0 && j[ranked[0]] > 0 {
		return 1
	}
	return 0
}

// Recall is the share of the answering documents among the first k, 0 if none answers.
func Recall(ranked []string, j Judged, k int) float64 {
	relevant := j.relevant()
	if relevant == 0 {
		return 0
	}
	found := 0

	for _, id := range ranked[:min(k, len(ranked))] {
		if j[id] > 0 {
			found++
		}
	}

	return float64(found) / float64(relevant)
}

// ReciprocalRank is 1/rank of the first document that answers, from rank 1, or 0 without one.
func ReciprocalRank(ranked []string, j Judged) float64 {
	for i, id := range ranked {
		if j[id] > 0 {
			return 1 / float64(i+1)
		}
	}
	return 0
}

// NDCG is the normalized discounted cumulative gain of the first k, 0 to 1, with the grade as gain
// and log2 as discount (Järvelin and Kekäläinen 2002), as trec_eval computes it.
func NDCG(ranked []string, j Judged, k int) float64 {
	grades := make([]int, 0, len(j))
	for _, g := range j {
		grades = append(grades, max(g, 0))
	}
	slices.SortFunc(grades, func(a, b int) int { return b - a })
	ideal := dcg(grades, k)
	if ideal == 0 {
		return 0
	}

	got := make([]int, 0, len(ranked))
	for _, id := range ranked {
		got = append(got, max(j[id], 0))
	}

	return dcg(got, k) / ideal
}

func dcg(grades []int, k int) float64 {
	sum := 0.0
	for i, g := range grades[:min(k, len(grades))] {
		sum += float64(g) / math.Log2(float64(i+2))
	}
	return sum
}
