// Package spelling finds the names and paths that a misspelt one may mean.
package spelling

import (
	"cmp"
	"math"
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

// Loose makes grip_force, gripForce and "grip force" equal.
func Loose(name string) string {
	return strings.ToLower(strings.NewReplacer("_", "", "-", "", " ", "").Replace(name))
}

// NearestPath is the path of keys joined by dots that a misspelt one most likely means, "" if none is near: one that
// differs in case, underscores, hyphens and spaces alone, else one that ends with it, else the one with the fewest other
// letters in keys that are all near.
func NearestPath(from string, paths []string) (nearest string) {
	loose, keys := Loose(from), strings.Split(from, ".")
	within, least := "", len(from)

	for _, path := range paths {
		switch other := Loose(path); {
		case other == loose:
			return path
		case within == "" && (strings.HasSuffix(other, "."+loose) || strings.HasSuffix(loose, "."+other)):
			within = path
		}
		if far := pathEdits(keys, strings.Split(path, ".")); far < least {
			nearest, least = path, far
		}
	}

	return cmp.Or(within, nearest)
}

// pathEdits is the number of other letters in the keys of two paths, or the greatest int if a key is not near.
func pathEdits(from, to []string) (far int) {
	if len(from) != len(to) {
		return math.MaxInt
	}

	for i := range from {
		n := edits(strings.ToLower(from[i]), strings.ToLower(to[i]))
		if n > len([]rune(from[i]))/3 {
			return math.MaxInt
		}
		far += n
	}

	return far
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
