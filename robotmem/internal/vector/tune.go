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

// Tune measures the share of the ten nearest neighbours that [Index.Search] finds for so
// many queries, at least 1, and increases the rescore from its default by half until that
// reaches [TunedRecall] or the rescore [MaxRescore]; the returned recall tells which. Of each
// rescore, a quarter of the groups that [Index.Arrange] has made is tried first, then a half and all. The
// neighbours are those that a search with MaxRescore finds. Every second query is a member,
// every other lies between two members, as questions do that say less than their answers. The
// members are spread evenly over the set and do not count as answers of their own queries. A
// hit that is as near as the last neighbour counts as found. After an error, also one of
// load, the rescore is unchanged. Callers repeat Tune when the set has doubled.
func (x *Index) Tune(questions int, load Source) (Tuning, error) {
	tests, err := x.recallTests(questions, load)
	if err != nil {
		return Tuning{}, err
	}

	most := mostParts

	// Until codes are arranged, more parts change nothing, so they are not measured.
	x.mu.RLock()
	if len(x.centres.terms) == 0 {
		most = 1
	}
	x.mu.RUnlock()

	// The cheapest setting that reaches the recall is taken: fewer groups are tried before more reads.
	for rescore := defaultRescore; ; rescore = min(rescore+rescore/2, MaxRescore) {
		for parts := most; parts >= 1; parts /= 2 {
			recall, err := x.measure(tests, rescore, parts, load)
			if err != nil {
				return Tuning{}, err
			}
			if recall >= TunedRecall || rescore >= MaxRescore && parts == 1 {
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
func (x *Index) ask(e *recallTest, rescore, parts int, load Source) ([]Hit, error) {
	hits, err := x.search(Query{Vector: e.question, N: measuredHits + len(e.members)}, rescore, parts, load)
	hits = slices.DeleteFunc(hits, func(h Hit) bool { return slices.Contains(e.members[:], h.ID) })
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

// between returns a query with a cosine of about 0.75 to v, on the side of w. With unrelated
// members, 0.75 makes queries about as hard as short texts: it predicted a recall of 0.997
// where those had 0.995. 0.8 predicted 0.983, and 0.6 predicted 1, because it is far enough
// from both members for neighbours to stand out.
func between(v, w []float32) []float32 {
	sum := make([]float32, len(v))
	for i, f := range v {
		sum[i] = 0.75*f + 0.66*w[i]
	}
	if unit := Unit(sum); unit != nil {
		return unit
	}

	return v
}

// measure returns the share of the neighbours that searches with a rescore and parts find.
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
