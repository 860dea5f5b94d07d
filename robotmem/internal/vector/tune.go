package vector

import (
	"errors"
	"fmt"
	"slices"
)

// TunedRecall is the share of the ten nearest that [Index.Tune] aims at.
const TunedRecall = 0.99

// Tuning is the result of [Index.Tune].
type Tuning struct {
	Recall  float64 // measured, 0 to 1
	Rescore int     // vectors read for each question
	Parts   int     // the nearest 1/Parts of the groups of similar vectors are searched
}

// Tune sets the cheapest search that finds the share [TunedRecall] of the ten nearest neighbours. It
// begins with the default rescore and increases it by half until the measured share reaches
// TunedRecall, or the rescore reaches [MaxRescore]; the returned recall tells which. With each
// rescore it tries a quarter of the groups that [Index.Arrange] has made, then half of them, then all.
//
// The share is measured with the given number of questions, at least 1. They are made of members that
// are spread evenly over the set: half of them are a member, and the other half lie between two members,
// as questions do that say less than their answers. Members do not count as answers to the questions
// made of them. The neighbours are those that a search with MaxRescore finds. A hit that is as near as
// the last neighbour counts as found.
//
// After an error, also one of load, the rescore is unchanged. Callers repeat Tune when the set has doubled.
func (x *Index) Tune(questions int, load Source) (Tuning, error) {
	tests, err := x.recallTests(questions, load)
	if err != nil {
		return Tuning{}, err
	}

	most := mostParts

	// Before the codes are arranged there are no groups to leave out, so only the search of all is measured.
	x.mu.RLock()
	if len(x.centres.terms) == 0 {
		most = 1
	}
	x.mu.RUnlock()

	// To search more groups is cheaper than to read more vectors, so it is tried first.
	for rescore := defaultRescore; ; rescore = min(rescore+rescore/2, MaxRescore) {
		for parts := most; parts >= 1; parts /= 2 {
			recall, err := x.measure(tests, rescore, parts, load)
			if err != nil {
				return Tuning{}, err
			}
			noneLeft := rescore >= MaxRescore && parts == 1
			if recall >= TunedRecall || noneLeft {
				x.SetRescore(rescore)
				x.parts.Store(int64(parts))
				return Tuning{Recall: recall, Rescore: rescore, Parts: parts}, nil
			}
		}
	}
}

// recallTest is a query that is made of members, with the neighbours that it should find.
type recallTest struct {
	question []float32
	members  [2]int64
	nearest  []Hit
}

// measuredHits is the number of nearest neighbours of a query that count.
const measuredHits = 10

// ask answers the query of a test, without the members of which it is made.
func (x *Index) ask(test *recallTest, rescore, parts int, load Source) ([]Hit, error) {
	hits, err := x.search(Query{Vector: test.question, N: measuredHits + len(test.members)}, rescore, parts, load)
	hits = slices.DeleteFunc(hits, func(h Hit) bool { return slices.Contains(test.members[:], h.ID) })
	return hits[:min(measuredHits, len(hits))], err
}

// recallTests makes count queries of evenly spread members and finds their neighbours.
func (x *Index) recallTests(count int, load Source) ([]recallTest, error) {
	if n := x.Len(); n < 2 {
		return nil, fmt.Errorf("vector: %d vectors are too few to measure recall", n)
	}

	sample, err := x.spread(count, load)
	if err != nil {
		return nil, err
	}

	drawn := sample.has

	tests := make([]recallTest, len(drawn))
	for i, id := range sample.ids {
		tests[i] = recallTest{question: drawn[i], members: [2]int64{id, id}}
	}

	if len(tests) == 0 {
		return nil, errors.New("vector: none of the members is stored")
	}

	// Every second question lies between two members, as questions do that say less than their answers.
	for i := 1; i < len(tests); i += 2 {
		other := (i + len(tests)/2) % len(tests)
		tests[i].members[1] = tests[other].members[0]
		tests[i].question = between(drawn[i], drawn[other])
	}

	for i := range tests {
		if tests[i].nearest, err = x.ask(&tests[i], MaxRescore, 1, load); err != nil {
			return nil, err
		}
	}

	return tests, nil
}

// between returns a query with a cosine of about 0.75 to v, on the side of w. If v and w are unrelated,
// such queries are about as hard as short texts: they predicted a recall of 0.997 where short texts
// had 0.995. Queries with a cosine of 0.8 predicted 0.983, and those with 0.6 predicted 1, because they
// are far enough from both members for neighbours to stand out.
func between(v, w []float32) []float32 {
	sum := make([]float32, len(v))
	for i, f := range v {
		// The squares of both weights add up to 1, so the sum of two unrelated vectors has about the length 1.
		sum[i] = 0.75*f + 0.66*w[i]
	}
	if unit := Unit(sum); unit != nil {
		return unit
	}

	return v
}

// measure returns the recall of searches with this rescore and these parts: the share of the neighbours of
// all tests that they find.
func (x *Index) measure(tests []recallTest, rescore, parts int, load Source) (float64, error) {
	found, wanted := 0, 0

	for i := range tests {
		hits, err := x.ask(&tests[i], rescore, parts, load)
		if err != nil {
			return 0, err
		}

		nearest := tests[i].nearest
		for _, h := range hits[:min(len(nearest), len(hits))] {
			if h.Similarity >= nearest[len(nearest)-1].Similarity {
				found++
			}
		}
		wanted += len(nearest)
	}

	if wanted == 0 {
		return 0, errors.New("vector: the questions have no stored neighbours")
	}

	return float64(found) / float64(wanted), nil
}
