package eval

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
)

// Options are the options of a run. The zero value works.
type Options struct {
	// Progress is called after each step with the done and all documents and queries, unless it is nil.
	Progress func(done, total int)
	// Learnt is called once the corpus is learnt, before the first query, unless it is nil.
	Learnt func(ctx context.Context) error
	// Lists also run every query, such as nodes with the same memories that rank by one list only.
	Lists []List
}

// List is another way to rank what was learnt.
type List struct {
	Name    string
	Service robotmem.Service
}

// Alone lists the weights of ranked lists with which a run with an embedder compares the
// usual ranking.
var Alone = []struct {
	Name    string
	Weights map[string]float64
}{
	{"words", map[string]float64{"vector": 0, "neighbours": 0}},
	{"vectors", map[string]float64{"bm25": 0, "neighbours": 0}},
	{"hybrid", map[string]float64{"neighbours": 0}},
}

// Figures are means over the queries.
type Figures struct {
	Hit1     float64 `json:"hit_at_1"`
	Recall10 float64 `json:"recall_at_10"`
	MRR      float64 `json:"mrr"`
	NDCG10   float64 `json:"ndcg_at_10"`
	QueryMS  float64 `json:"query_ms"` // a query
}

// Result is the result of a run.
type Result struct {
	Set      string `json:"set"`
	Docs     int    `json:"docs"`
	Cut      int    `json:"cut"`      // documents cut to the limit of one memory
	Refused  int    `json:"refused"`  // documents that could not be learnt
	Queries  int    `json:"queries"`  // asked
	Unjudged int    `json:"unjudged"` // skipped: nothing says what answers them
	Figures
	Lists  []ListFigures `json:"lists,omitempty"` // in the order of Options.Lists
	LearnS float64       `json:"learn_s"`
}

// ListFigures holds the figures of one of Options.Lists.
type ListFigures struct {
	Name string `json:"name"`
	Figures
}

const (
	batch   = 500
	maxText = 16 << 10 // bytes of one memory
)

// Run learns the documents of s and asks its queries.
func Run(ctx context.Context, m robotmem.Service, s *Set, o Options) (*Result, error) {
	r := &runner{
		m:        m,
		res:      &Result{Set: s.Name, Lists: make([]ListFigures, len(o.Lists))},
		progress: o.Progress,
		names:    map[string]string{},
		sessions: map[string]string{},
		docs:     map[int64]string{},
	}
	if r.progress == nil {
		r.progress = func(int, int) {}
	}

	// A query without a relevant document has no recall, so it would only lower the means.
	var asked []Item

	for _, q := range s.Queries {
		if s.Judged[q.ID].relevant() > 0 {
			asked = append(asked, q)
		} else {
			r.res.Unjudged++
		}
	}

	r.total = len(s.Docs) + len(asked)
	for docs := range slices.Chunk(s.Docs, batch) {
		if err := r.learn(ctx, docs); err != nil {
			return nil, err
		}
	}

	if o.Learnt != nil {
		if err := o.Learnt(ctx); err != nil {
			return nil, err
		}
	}

	for _, q := range asked {
		if err := r.ask(ctx, m, q, s.Judged[q.ID], &r.res.Figures); err != nil {
			return nil, err
		}

		// The other rankings are asked right after, so that all see the same state of the machine.
		for i, l := range o.Lists {
			r.res.Lists[i].Name = l.Name
			if err := r.ask(ctx, l.Service, q, s.Judged[q.ID], &r.res.Lists[i].Figures); err != nil {
				return nil, err
			}
		}

		r.res.Queries++
		r.done++
		r.progress(r.done, r.total)
	}

	r.res.mean(r.res.Queries)

	for i := range r.res.Lists {
		r.res.Lists[i].mean(r.res.Queries)
	}

	return r.res, nil
}

type runner struct {
	m        robotmem.Service
	res      *Result
	progress func(done, total int)
	done     int
	total    int
	names    map[string]string // collections by conv
	sessions map[string]string // by conv and session
	docs     map[int64]string  // document ids by memory
}

// collection returns the collection of a conv.
func (r *runner) collection(conv string) string {
	if r.names[conv] == "" {
		r.names[conv] = fmt.Sprintf("eval-%d", len(r.names))
	}
	return r.names[conv]
}

// session returns the episode of the key session of a document, "" without one.
func (r *runner) session(ctx context.Context, meta map[string]any) (string, error) {
	name, _ := meta["session"].(string)
	key := collectionIn(meta) + "\x00" + name
	if name == "" || r.sessions[key] != "" {
		return r.sessions[key], nil
	}
	res, err := r.m.StartSession(ctx, &robotmem.StartSessionRequest{Collection: r.collection(collectionIn(meta))})
	if err != nil {
		return "", err
	}
	r.sessions[key] = res.SessionID

	return res.SessionID, nil
}

func (r *runner) learn(ctx context.Context, docs []Item) error {
	req := &robotmem.LearnBatchRequest{KeepDuplicates: true}

	for _, d := range docs {
		text := d.Text
		if d.Title != "" {
			text = d.Title + "\n" + d.Text
		}

		// A memory has a limit. The cut documents are counted, because their end cannot be found.
		short := strings.ToValidUTF8(text[:min(len(text), maxText)], "")
		if len(short) < len(text) {
			r.res.Cut++
		}

		session, err := r.session(ctx, d.Meta)
		if err != nil {
			return err
		}

		req.Items = append(req.Items, robotmem.LearnRequest{
			Insight:    short,
			Collection: r.collection(collectionIn(d.Meta)),
			SessionID:  session,
		})
	}

	// Only the time of the batch counts, not that of starting sessions.
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

// ask adds the figures of one query to f.
func (r *runner) ask(ctx context.Context, m robotmem.Service, q Item, j Judged, f *Figures) error {
	start := time.Now()

	// A benchmark judges neither confidence nor the time words of a query, so both are switched off.
	res, err := m.Recall(ctx, &robotmem.RecallRequest{
		Query:         q.Text,
		Collection:    r.collection(collectionIn(q.Meta)),
		N:             Ten,
		MinConfidence: new(0.0),
		ParseTime:     new(false),
	})
	if err != nil {
		return fmt.Errorf("query %s: %w", q.ID, err)
	}

	f.QueryMS += float64(time.Since(start).Microseconds()) / 1000

	var ranked []string
	for _, m := range res.Memories {
		ranked = append(ranked, r.docs[m.MemoryID])
	}
	f.add(ranked, j)

	return nil
}

// add adds the figures of one query.
func (f *Figures) add(ranked []string, j Judged) {
	f.Hit1 += Hit1(ranked, j)
	f.Recall10 += Recall(ranked, j, Ten)
	f.MRR += ReciprocalRank(ranked, j)
	f.NDCG10 += NDCG(ranked, j, Ten)
}

// mean turns the sums over n queries into means.
func (f *Figures) mean(n int) {
	for _, sum := range []*float64{&f.Hit1, &f.Recall10, &f.MRR, &f.NDCG10, &f.QueryMS} {
		*sum /= float64(max(n, 1))
	}
}
