package consolidate

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// Candidate is one memory of an episode that may be merged with others.
type Candidate struct {
	ID          int64
	Category    string
	Confidence  float64
	AccessCount int
	CreatedAt   time.Time
	Pinned      bool
	Perception  bool
	Statement
	// Outcome, Place and Numbers come from the context: task.success, the spatial section, all numbers.
	Outcome string
	Place   string
	Numbers string
}

// Group is a set of memories that say the same. Keep supersedes the others.
type Group struct {
	Keep       int64
	Supersede  []int64 // ascending
	Similarity float64 // mean Jaccard of all pairs
}

const (
	// MergeJaccard must be exceeded by every pair of a group.
	MergeJaccard = 0.50
	// MinCandidates is the least number of memories to consolidate.
	MinCandidates = 3
	// Memories of SureConfidence and above are never superseded.
	SureConfidence = 0.95
)

// Mergeable reports whether a memory may be consolidated.
func Mergeable(c Candidate) bool {
	return !c.Perception && !c.Pinned && !Protected(c.Category) && c.Confidence < SureConfidence
}

// Plan groups the candidates of one episode and collection. It returns the groups, the one with
// the smallest kept id first, and the number of candidates that took part.
func Plan(all []Candidate) (groups []Group, considered int) {
	var cs []Candidate
	for _, c := range all {
		if Mergeable(c) {
			cs = append(cs, c)
		}
	}
	if len(cs) < MinCandidates {
		return nil, len(cs)
	}
	// The first member of a cluster is kept: the best representative.
	slices.SortFunc(cs, func(a, b Candidate) int {
		return cmp.Or(cmp.Compare(b.Confidence, a.Confidence), cmp.Compare(b.AccessCount, a.AccessCount),
			b.CreatedAt.Compare(a.CreatedAt), cmp.Compare(a.ID, b.ID))
	})
	buckets := map[string][]Candidate{}
	for _, c := range cs {
		k := bucket(c)
		buckets[k] = append(buckets[k], c)
	}
	for _, b := range buckets {
		for _, cluster := range clusters(b) {
			if len(cluster) > 1 {
				groups = append(groups, group(cluster))
			}
		}
	}
	slices.SortFunc(groups, func(a, b Group) int { return cmp.Compare(a.Keep, b.Keep) })
	return groups, len(cs)
}

// bucket is equal for memories that differ only in their words.
func bucket(c Candidate) string {
	var b strings.Builder
	for _, s := range []string{c.Category, c.Outcome, c.Place, c.Numbers} {
		b.WriteString(s)
		b.WriteByte(0)
	}
	if c.Negated {
		b.WriteByte('-')
	}
	for _, q := range ByName(c.Quantities) {
		b.WriteString(q.Name + " " + q.Value + " " + q.Unit + "\x00")
	}
	return b.String()
}

// clusters puts each memory into the first cluster of which all members are similar. Clusters
// are found by shared terms, so that the cost of a long episode is not that of all pairs.
func clusters(cs []Candidate) [][]Candidate {
	var out [][]Candidate
	byTerm := map[string][]int{} // clusters whose first member holds the term
	for _, c := range cs {
		near := map[int]bool{}
		for _, t := range c.Terms {
			for _, i := range byTerm[t] {
				near[i] = true
			}
		}
		home := -1
		for i := range near {
			if (home < 0 || i < home) && nearAll(c, out[i]) {
				home = i
			}
		}
		if home >= 0 {
			out[home] = append(out[home], c)
			continue
		}
		for _, t := range c.Terms {
			byTerm[t] = append(byTerm[t], len(out))
		}
		out = append(out, []Candidate{c})
	}
	return out
}

func nearAll(c Candidate, cluster []Candidate) bool {
	for _, m := range cluster {
		if Jaccard(c.Terms, m.Terms) <= MergeJaccard {
			return false
		}
	}
	return true
}

func group(cluster []Candidate) Group {
	g := Group{Keep: cluster[0].ID}
	pairs := 0
	for i, a := range cluster {
		if i > 0 {
			g.Supersede = append(g.Supersede, a.ID)
		}
		for _, b := range cluster[:i] {
			g.Similarity += Jaccard(a.Terms, b.Terms)
			pairs++
		}
	}
	g.Similarity /= float64(pairs)
	slices.Sort(g.Supersede)
	return g
}
