package consolidate

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// Candidate is one memory of an episode that may be merged with others.
type Candidate struct {
	ID         int64
	Category   string
	Confidence float64
	CreatedAt  time.Time
	Pinned     bool
	Perception bool
	Context    string // equal for equal contexts
	Statement
}

// Group is a memory and those that it repeats. Keep supersedes the others.
type Group struct {
	Keep       int64
	Supersede  []int64 // ascending
	Similarity float64 // mean Jaccard of Keep and each of the others
}

const (
	// nearJaccard must be exceeded by every pair of a similar group.
	nearJaccard = 0.50
	// MinCandidates is the least number of memories to consolidate.
	MinCandidates = 3
	// Memories of SureConfidence and above are never superseded.
	SureConfidence = 0.95
	// Limits of the similar groups and of the members of each.
	maxSimilarGroups, maxSimilarMembers = 20, 20
)

// Mergeable reports whether a memory may be consolidated.
func Mergeable(c Candidate) bool {
	return !c.Perception && !c.Pinned && !Protected(c.Category) && c.Confidence < SureConfidence
}

// Plan groups the candidates of one episode and collection. It returns the groups to merge,
// the one with the smallest kept id first, the ids of memories that are similar but do not
// repeat each other, and the number of candidates that took part.
func Plan(all []Candidate) (groups []Group, similar [][]int64, considered int) {
	cs := slices.DeleteFunc(slices.Clone(all), func(c Candidate) bool { return !Mergeable(c) })
	if len(cs) < MinCandidates {
		return nil, nil, len(cs)
	}

	// The first member of a cluster is kept: the best representative.
	slices.SortFunc(cs, func(a, b Candidate) int {
		return cmp.Or(cmp.Compare(b.Confidence, a.Confidence),
			b.CreatedAt.Compare(a.CreatedAt), cmp.Compare(b.ID, a.ID))
	})
	buckets := map[string][]Candidate{}

	for _, c := range cs {
		k := bucket(c)
		buckets[k] = append(buckets[k], c)
	}

	for _, b := range buckets {
		var kept []Candidate
		for _, cluster := range repeated(b) {
			if kept = append(kept, cluster[0]); len(cluster) > 1 {
				groups = append(groups, group(cluster))
			}
		}
		// A similar memory has more than half of the terms, so it has one of the rarest half.
		for _, cluster := range clusters(kept) {
			if ids := ids(cluster); len(ids) > 1 {
				similar = append(similar, ids)
			}
		}
	}

	slices.SortFunc(groups, func(a, b Group) int { return cmp.Compare(a.Keep, b.Keep) })
	slices.SortFunc(similar, slices.Compare)

	return groups, similar[:min(len(similar), maxSimilarGroups)], len(cs)
}

// bucket is equal for memories that differ only in their words.
func bucket(c Candidate) string {
	var b strings.Builder
	b.WriteString(c.Category + "\x00" + c.Context + "\x00")
	if c.Negated {
		b.WriteByte('-')
	}

	for _, q := range ByName(c.Quantities) {
		b.WriteString(q.Name + " " + q.Value + " " + q.Unit + "\x00")
	}

	return b.String()
}

// repeated puts the memories that repeat each other together, in the order of the first of each.
func repeated(cs []Candidate) (out [][]Candidate) {
	at := map[string]int{}

	for _, c := range cs {
		core := strings.Join(c.Core, "\x00")
		i, known := at[core]
		if known && Repeats(out[i][0].Statement, c.Statement) {
			out[i] = append(out[i], c)
			continue
		}
		at[core] = len(out)
		out = append(out, []Candidate{c})
	}

	return out
}

// clusters puts each memory into the first cluster that it fits. Clusters are found by the
// rarest half of the terms of the memory, so that the cost of a long episode is not that of all pairs.
func clusters(cs []Candidate) [][]Candidate {
	var out [][]Candidate
	// Clusters whose first member holds the term.
	byTerm := map[string][]int{}

	for _, c := range cs {
		terms := slices.Clone(c.Terms)
		slices.SortStableFunc(terms, func(a, b string) int { return cmp.Compare(len(byTerm[a]), len(byTerm[b])) })

		home := len(out)
		for _, t := range terms[:(len(terms)+1)/2] {
			for _, i := range byTerm[t] {
				if i < home && nearAll(c, out[i]) {
					home = i
				}
			}
		}
		if home < len(out) {
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
	return len(cluster) < maxSimilarMembers && !slices.ContainsFunc(cluster, func(m Candidate) bool {
		return Jaccard(c.Terms, m.Terms) <= nearJaccard
	})
}

func group(cluster []Candidate) Group {
	g := Group{Keep: cluster[0].ID, Supersede: ids(cluster[1:])}
	for _, c := range cluster[1:] {
		g.Similarity += Jaccard(c.Terms, cluster[0].Terms) / float64(len(cluster)-1)
	}
	return g
}

// ids returns the ids of a cluster, ascending.
func ids(cluster []Candidate) []int64 {
	out := make([]int64, len(cluster))
	for i, c := range cluster {
		out[i] = c.ID
	}
	slices.Sort(out)
	return out
}
