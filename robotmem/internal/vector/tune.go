package vector

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
)

// Measurement says how recall is measured. The zero value works.
type Measurement struct {
	Questions int     // members that ask for their like, 64 when zero
	N         int     // hits that count, 10 when zero
	Recall    float64 // what Tune is content with, 0.99 when zero
}

// Tuning is what [Index.Tune] arrived at.
type Tuning struct {
	Recall  float64 // measured, 0 to 1
	Rescore int     // vectors read for each question
}

// Measure returns recall at m.N: the share of the truly nearest that
// [Index.Search] finds. Every other question is a member, every other leans from
// one member towards another, as questions do that say less than what answers
// them; the members are spread evenly over the set and do not count as answers
// of their own questions. What is as near as the last true neighbour counts as
// found. Every stored vector is read once and compared with every question,
// about 10 s for 64 questions and a million vectors of 384 dimensions, so it is
// work for the background; an error of load ends it. An index of fewer than two
// vectors is an error.
func (x *Index) Measure(m Measurement, load Source) (float64, error) {
	e, err := x.exam(m, load)
	if err != nil {
		return 0, err
	}
	return x.sit(e, load)
}

// Tune measures, as [Index.Measure] does, and widens the rescore from its
// default by half until recall reaches m.Recall. When it does not reach it at
// [MaxRescore] that stays, and the recall that is returned tells so. After an
// error the rescore is what it was. Callers repeat it when the set has doubled.
func (x *Index) Tune(m Measurement, load Source) (Tuning, error) {
	e, err := x.exam(m, load)
	if err != nil {
		return Tuning{}, err
	}
	before := x.Rescore()
	for rescore := defaultRescore; ; rescore = min(rescore+rescore/2, MaxRescore) {
		x.SetRescore(rescore)
		recall, err := x.sit(e, load)
		if err != nil {
			x.SetRescore(before)
			return Tuning{}, err
		}
		if recall >= cmp.Or(m.Recall, 0.99) || rescore >= MaxRescore {
			return Tuning{Recall: recall, Rescore: rescore}, nil
		}
	}
}

// exam is questions with the similarities of their true neighbours.
type exam struct {
	n         int        // neighbours that count
	without   [][2]int64 // the members that a question is made of
	questions [][]float64
	truth     []nearest
}

// nearest are the n largest similarities that were offered, largest first.
type nearest []float64

func (s *nearest) offer(similarity float64, n int) {
	if len(*s) == n {
		if similarity <= (*s)[n-1] {
			return
		}
		*s = (*s)[:n-1]
	}
	at, _ := slices.BinarySearchFunc(*s, similarity, func(a, b float64) int { return cmp.Compare(b, a) })
	*s = slices.Insert(*s, at, similarity)
}

// exam draws the questions and finds their neighbours by reading everything.
func (x *Index) exam(m Measurement, load Source) (*exam, error) {
	members := x.all()
	if len(members) < 2 {
		return nil, fmt.Errorf("vector: %d vectors are too few to measure recall", len(members))
	}
	if m.N < 0 || m.Questions < 0 {
		return nil, fmt.Errorf("vector: a measurement of %d questions and %d hits", m.Questions, m.N)
	}
	e := &exam{n: min(cmp.Or(m.N, 10), MaxN-2, len(members)-1)}
	err := x.draw(e, members, min(cmp.Or(m.Questions, 64), len(members)), load)
	for ids := range slices.Chunk(members, chunkSlots) {
		if err == nil {
			err = x.grade(e, ids, load)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("vector: reading stored vectors: %w", err)
	}
	return e, nil
}

// draw makes count questions of members, evenly spread.
func (x *Index) draw(e *exam, members []int64, count int, load Source) error {
	var ids []int64
	var drawn [][]float64
	spread := make([]int64, count)
	for i := range spread {
		spread[i] = members[i*len(members)/count]
	}
	err := load(spread, func(id int64, raw []byte) error {
		if len(raw) != 4*x.dims {
			return x.wrongSize(id, raw)
		}
		v := make([]float64, x.dims)
		for i := range v {
			v[i] = float64(component(raw[4*i:]))
		}
		ids, drawn = append(ids, id), append(drawn, v)
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
		e.without = append(e.without, [2]int64{ids[i], ids[other]})
		e.questions = append(e.questions, lean(v, drawn[other]))
	}
	e.truth = make([]nearest, len(e.questions))
	return err
}

// likeness is the cosine between a member and a question that leans away from
// it. With unrelated members, 0.75 makes questions about as hard as short texts
// are: it foretold 0.997 where those found 0.995, 0.8 foretold 0.983 and 0.6, far
// enough from both members for what is nearest to stand out, 1.
const likeness = 0.75

// lean is the unit vector that lies from v towards w and has a cosine of likeness
// with v; v when w does not tell where. It is rounded to float32, as questions
// are, or what ties with the last true neighbour would not be counted.
func lean(v, w []float64) []float64 {
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
	if square < 1e-6 {
		return v
	}
	along := math.Sqrt((1 - likeness*likeness) / square)
	for i, f := range v {
		side[i] = float64(float32(likeness*f + along*side[i]))
	}
	return side
}

// grade compares some members with every question.
func (x *Index) grade(e *exam, ids []int64, load Source) error {
	return load(ids, func(id int64, raw []byte) error {
		for i, question := range e.questions {
			similarity, err := x.similarity(question, id, raw)
			if err != nil {
				return err
			}
			if id != e.without[i][0] && id != e.without[i][1] {
				e.truth[i].offer(similarity, e.n)
			}
		}
		return nil
	})
}

// all returns the ids of all members, ascending.
func (x *Index) all() []int64 {
	x.mu.RLock()
	defer x.mu.RUnlock()
	ids := make([]int64, 0, x.count)
	for i, c := range x.chunks {
		if c != nil {
			c.each(func(slot int) { ids = append(ids, int64(i*chunkSlots+slot)) })
		}
	}
	return ids
}

// sit answers the questions by Search and returns the share of true neighbours.
func (x *Index) sit(e *exam, load Source) (float64, error) {
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
		hits = slices.DeleteFunc(hits, func(h Hit) bool { return h.ID == e.without[i][0] || h.ID == e.without[i][1] })
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
