package eval

import (
	"context"
	"fmt"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/robotmem/robotmem-go/robotmem"
)

// Options narrow a run. The zero value asks every query that is judged.
type Options struct {
	Where []Condition
	// Progress is called after each step with how many documents and queries
	// are done of all; nil is not called.
	Progress func(done, total int)
}

// Result is what a run found. The metrics are means over Queries.
type Result struct {
	Set      string  `json:"set"`
	Docs     int     `json:"docs"`
	Cut      int     `json:"cut"`      // documents cut to the limit of one memory
	Refused  int     `json:"refused"`  // documents that could not be learnt
	Queries  int     `json:"queries"`  // asked
	Unjudged int     `json:"unjudged"` // skipped: nothing says what answers them
	Hit1     float64 `json:"hit_at_1"`
	Recall10 float64 `json:"recall_at_10"`
	MRR      float64 `json:"mrr"`
	NDCG10   float64 `json:"ndcg_at_10"`

	LearnS  float64 `json:"learn_s"`
	QueryMS float64 `json:"query_ms"` // a query, mean
}

const (
	batch   = 500
	depth   = 100        // how many are recalled
	maxText = 16 << 10   // bytes of one memory
	anyConf = float64(0) // a benchmark says nothing of confidence
)

// Run learns the documents of s and asks its queries.
func Run(ctx context.Context, m robotmem.Service, s *Set, o Options) (*Result, error) {
	r := &runner{m: m, res: &Result{Set: s.Name}, progress: o.Progress, names: map[string]string{}, docs: map[int64]string{}}
	if r.progress == nil {
		r.progress = func(int, int) {}
	}
	var asked []Query
	for _, q := range s.Queries {
		admitted := !slices.ContainsFunc(o.Where, func(c Condition) bool { return !c.admits(q.Meta) })
		switch {
		case admitted && s.Judged[q.ID].relevant() > 0:
			asked = append(asked, q)
		case admitted:
			r.res.Unjudged++
		}
	}
	r.total = len(s.Docs) + len(asked)
	for docs := range slices.Chunk(s.Docs, batch) {
		if err := r.learn(ctx, docs); err != nil {
			return nil, err
		}
	}
	for _, q := range asked {
		if err := r.ask(ctx, q, s.Judged[q.ID]); err != nil {
			return nil, err
		}
	}
	r.mean()
	return r.res, nil
}

type runner struct {
	m        robotmem.Service
	res      *Result
	progress func(done, total int)
	done     int
	total    int
	names    map[string]string // collections by conv
	docs     map[int64]string  // document ids by memory
	spent    time.Duration
}

// collection gives every conv a name that a collection may have.
func (r *runner) collection(conv string) string {
	if r.names[conv] == "" {
		r.names[conv] = fmt.Sprintf("eval-%d", len(r.names))
	}
	return r.names[conv]
}

func (r *runner) learn(ctx context.Context, docs []Doc) error {
	req := &robotmem.LearnBatchRequest{KeepDuplicates: true}
	for _, d := range docs {
		text := d.Text
		if d.Title != "" {
			text = d.Title + "\n" + d.Text
		}
		short := cut(text, maxText)
		if len(short) < len(text) {
			r.res.Cut++
		}
		req.Items = append(req.Items, robotmem.LearnRequest{Insight: short, Collection: r.collection(conv(d.Meta))})
	}
	start := time.Now()
	res, err := r.m.LearnBatch(ctx, req)
	if err != nil {
		return err
	}
	r.res.LearnS += time.Since(start).Seconds()
	for i, item := range res.Results {
		if item.Error != nil {
			r.res.Refused++
			continue
		}
		r.docs[item.MemoryID] = docs[i].ID
		r.res.Docs++
	}
	r.done += len(docs)
	r.progress(r.done, r.total)
	return nil
}

func (r *runner) ask(ctx context.Context, q Query, j Judged) error {
	conf := anyConf
	start := time.Now()
	res, err := r.m.Recall(ctx, &robotmem.RecallRequest{Query: q.Text, Collection: r.collection(conv(q.Meta)), N: depth, MinConfidence: &conf})
	if err != nil {
		return fmt.Errorf("query %s: %w", q.ID, err)
	}
	r.spent += time.Since(start)
	var ranked []string
	for _, m := range res.Memories {
		ranked = append(ranked, r.docs[m.MemoryID])
	}
	r.res.Queries++
	r.res.Hit1 += Hit1(ranked, j)
	r.res.Recall10 += Recall(ranked, j, Ten)
	r.res.MRR += ReciprocalRank(ranked, j)
	r.res.NDCG10 += NDCG(ranked, j, Ten)
	r.done++
	r.progress(r.done, r.total)
	return nil
}

// mean turns the sums into means.
func (r *runner) mean() {
	if r.res.Queries == 0 {
		return
	}
	n := float64(r.res.Queries)
	for _, sum := range []*float64{&r.res.Hit1, &r.res.Recall10, &r.res.MRR, &r.res.NDCG10} {
		*sum /= n
	}
	r.res.QueryMS = float64(r.spent.Microseconds()) / 1000 / n
}

// cut shortens s to n bytes at the end of a character.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
