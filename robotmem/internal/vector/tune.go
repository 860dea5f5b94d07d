package vector

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
)

// TunedRecall is the share of the ten nearest that [Index.Tune] aims at.
const TunedRecall = 0.99

// Tuning is the result of [Index.Tune].
type Tuning struct {
	Recall  float64 // measured, 0 to 1
	Rescore int     // vectors read for each question
}

// Tune measures the share of the true ten nearest neighbours that [Index.Search] finds for so
// many queries, at least 1, and increases the rescore from its default by half until that
// reaches [TunedRecall] or the rescore [MaxRescore]; the returned recall tells which. Every second query is a member,
// every other lies between two members, as questions do that say less than their answers. The
// members are spread evenly over the set and do not count as answers of their own queries. A
// hit that is as near as the last true neighbour counts as found. Tune reads every stored
// vector once and compares it with every query, about 10 s for 64 queries and a million
// vectors of 384 dimensions, so it should run in the background. After an error, also one of
// load, the rescore is unchanged. Callers repeat Tune when the set has doubled.
func (x *Index) Tune(questions int, load Source) (Tuning, error) {
	e, err := x.newRecallTest(questions, load)
	if err != nil {
		return Tuning{}, err
	}
	before := x.Rescore()
	for rescore := defaultRescore; ; rescore = min(rescore+rescore/2, MaxRescore) {
		x.SetRescore(rescore)
		recall, err := x.runRecallTest(e, load)
		if err != nil {
			x.SetRescore(before)
			return Tuning{}, err
		}
		if recall >= TunedRecall || rescore >= MaxRescore {
			return Tuning{Recall: recall, Rescore: rescore}, nil
		}
	}
}

// recallTest is a set of queries with the similarities of their true neighbours.
type recallTest struct {
	n         int        // neighbours that count
	excluded  [][2]int64 // the members of which a query is made
	questions [][]float64
	truth     []nearestSimilarities
}

// nearestSimilarities are the n largest similarities offered, largest first.
type nearestSimilarities []float64

func (s *nearestSimilarities) offer(similarity float64, n int) {
	if len(*s) == n && similarity <= (*s)[n-1] {
		return
	}
	at, _ := slices.BinarySearchFunc(*s, similarity, func(a, b float64) int { return cmp.Compare(b, a) })
	*s = slices.Insert(*s, at, similarity)
	*s = (*s)[:min(len(*s), n)]
}

// newRecallTest draws the queries and finds their neighbours by reading all vectors.
func (x *Index) newRecallTest(questions int, load Source) (*recallTest, error) {
	var s scratch
	x.mu.RLock()
	x.listMembers(&s, nil)
	x.mu.RUnlock()
	members := s.ids
	if len(members) < 2 {
		return nil, fmt.Errorf("vector: %d vectors are too few to measure recall", len(members))
	}
	e := &recallTest{n: min(10, len(members)-1)}
	err := x.drawQuestions(e, members, min(questions, len(members)), load)
	for ids := range slices.Chunk(members, chunkSlots) {
		if err == nil {
			err = x.compareMembers(e, ids, load)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("vector: reading stored vectors: %w", err)
	}
	return e, nil
}

// drawQuestions makes count queries of evenly spread members.
func (x *Index) drawQuestions(e *recallTest, members []int64, count int, load Source) error {
	var ids []int64
	var drawn [][]float64
	spread := make([]int64, count)
	for i := range spread {
		spread[i] = members[i*len(members)/count]
	}
	err := load(spread, func(id int64, raw []byte) error {
		if len(raw) != StoredSize(x.dims) {
			return x.wrongSize(id, raw)
		}
		v, unit := make([]float64, x.dims), make([]float32, x.dims)
		DecodeInto(unit, raw)
		widen(v, unit)
		if x.checkUnit(unit) == nil { // a stored vector may have been damaged since
			ids, drawn = append(ids, id), append(drawn, v)
		}
		return nil
	})
	if err == nil && len(ids) == 0 {
		err = errors.New("none of the members is stored")
	}
	for i, v := range drawn {
		other := i
		if i%2 == 1 {
			other = (i + len(drawn)/2) % len(drawn)
		}
		e.excluded = append(e.excluded, [2]int64{ids[i], ids[other]})
		e.questions = append(e.questions, blend(v, drawn[other]))
	}
	e.truth = make([]nearestSimilarities, len(e.questions))
	return err
}

// blendCosine is the cosine between a member and a query that is blended from it and
// another. With unrelated members, 0.75 makes queries about as hard as short texts: it
// predicted a recall of 0.997 where those had 0.995. 0.8 predicted 0.983, and 0.6
// predicted 1, because it is far enough from both members for neighbours to stand out.
const blendCosine = 0.75

// blend is the unit vector in the plane of v and w with a cosine of blendCosine to v,
// on the side of w, or v if w is parallel to it. It is rounded to float32 like a query
// vector, so that ties with the last true neighbour are counted.
func blend(v, w []float64) []float64 {
	cosine := 0.0
	for i, f := range v {
		cosine += f * w[i]
	}
	side := make([]float64, len(v))
	square := 0.0
	for i, f := range v {
		side[i] = w[i] - cosine*f
		square += side[i] * side[i]
	}
	if square < 1e-5 { // more than unitSlack makes of equal vectors
		return v
	}
	along := math.Sqrt((1 - blendCosine*blendCosine) / square)
	for i, f := range v {
		side[i] = float64(float32(blendCosine*f + along*side[i]))
	}
	return side
}

func (x *Index) compareMembers(e *recallTest, ids []int64, load Source) error {
	return load(ids, func(id int64, raw []byte) error {
		for i, question := range e.questions {
			similarity, err := x.similarity(question, id, raw)
			if err != nil {
				return err
			}
			if id != e.excluded[i][0] && id != e.excluded[i][1] {
				e.truth[i].offer(similarity, e.n)
			}
		}
		return nil
	})
}

// runRecallTest runs the queries through Search and returns the share of true
// neighbours found.
func (x *Index) runRecallTest(e *recallTest, load Source) (float64, error) {
	found, wanted := 0, 0
	vector := make([]float32, x.dims)
	for i, question := range e.questions {
		for j, f := range question {
			vector[j] = float32(f)
		}
		hits, err := x.Search(Query{Vector: vector, N: e.n + 2}, load)
		if err != nil {
			return 0, err
		}
		truth := e.truth[i]
		hits = slices.DeleteFunc(hits, func(h Hit) bool { return h.ID == e.excluded[i][0] || h.ID == e.excluded[i][1] })
		for _, h := range hits[:min(len(truth), len(hits))] {
			if h.Similarity >= truth[len(truth)-1] {
				found++
			}
		}
		wanted += len(truth)
	}
	if wanted == 0 {
		return 0, errors.New("vector: the questions have no stored neighbours")
	}
	return float64(found) / float64(wanted), nil
}
