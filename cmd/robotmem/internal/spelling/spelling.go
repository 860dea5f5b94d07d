// Package spelling finds the names that a misspelt one may mean.
package spelling

import (
	"slices"
	"strings"
)

// Nearest are the names that differ from one in a third of its letters at most, the nearest first.
func Nearest(from string, names []string) []string {
	type named struct {
		name string
		far  int
	}

	var near []named

	for _, name := range names {
		if far := edits(strings.ToLower(from), strings.ToLower(name)); far <= max(1, len([]rune(from))/3) {
			near = append(near, named{name, far})
		}
	}

	slices.SortStableFunc(near, func(a, b named) int { return a.far - b.far })

	var out []string
	for _, n := range near[:min(len(near), 3)] {
		out = append(out, n.name)
	}

	return out
}

// edits is the number of letters that differ between two words: the distance of Levenshtein, in which two letters that
// have changed places count once.
func edits(a, b string) int {
	from, to := []rune(a), []rune(b)

	rows := make([][]int, len(from)+1)
	for i := range rows {
		rows[i] = make([]int, len(to)+1)
		rows[i][0] = i
	}

	for k := range to {
		rows[0][k+1] = k + 1
	}

	for i := range from {
		for k := range to {
			change := 1
			if from[i] == to[k] {
				change = 0
			}
			best := min(rows[i][k+1]+1, rows[i+1][k]+1, rows[i][k]+change)
			if i > 0 && k > 0 && from[i] == to[k-1] && from[i-1] == to[k] {
				best = min(best, rows[i-1][k-1]+1)
			}
			rows[i+1][k+1] = best
		}
	}

	return rows[len(from)][len(to)]
}
