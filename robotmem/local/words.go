package local

import (
	"context"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/robotmem/robotmem-go/robotmem/internal/lexical"
	"github.com/robotmem/robotmem-go/robotmem/internal/sqlite"
	"github.com/robotmem/robotmem-go/robotmem/internal/text"
)

// words is the postings index in memory. It is read from the segmented texts of
// memories_fts, or from a snapshot, at the first recall by words, and follows the
// change counter from then on. It is the only scorer: a recall waits until it is
// loaded, or until its deadline.
type words struct {
	mu       sync.RWMutex // guards the fields below
	index    *lexical.Index
	revision int64
	purges   int64 // that were done when it was begun
	loading  *wordsLoad
}

// wordsLoad is one attempt to load the index, shared by all recalls that wait.
type wordsLoad struct {
	done chan struct{}
	err  error // valid once done is closed
}

const wordsNotRead = "the index of words is still being read into memory; allow more time with deadline_ms"

// awaitWords returns once the index is loaded. It fails when it cannot be loaded,
// or not within three quarters of the time until the deadline: the rest is for
// what can be answered without it.
func (x *indexes) awaitWords(ctx context.Context) error {
	w := &x.words
	w.mu.Lock()
	if w.index != nil {
		w.mu.Unlock()
		return nil
	}
	if w.loading == nil {
		w.loading = &wordsLoad{done: make(chan struct{})}
	}
	l := w.loading
	w.mu.Unlock()
	x.rouseKeeper()
	patience := (<-chan time.Time)(nil)
	if deadline, ok := ctx.Deadline(); ok {
		timer := time.NewTimer(time.Until(deadline) * 3 / 4)
		defer timer.Stop()
		patience = timer.C
	}
	select {
	case <-l.done:
		return l.err
	case <-patience:
		return silent(wordsNotRead)
	case <-ctx.Done():
		return silent(wordsNotRead)
	case <-x.quitting:
		return sqlite.ErrClosed
	}
}

// settle tells the recalls that wait how loading the index ended.
func (w *words) settle(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if l := w.loading; l != nil && (w.index != nil || err != nil) {
		w.loading, l.err = nil, err
		close(l.done)
	}
}

// bm25Params are BM25's parameters by the mean length of a collection's texts.
// In short facts a word says as much once as three times, and a long fact is no
// worse than a short one; long texts want FTS5's own values. Both ends are
// measured, see docs/recall.md; between them the parameters change with the
// logarithm of the length.
func bm25Params(average float64) lexical.Params {
	const shortTerms, longTerms = 32, 256
	long := math.Log(average/shortTerms) / math.Log(longTerms/shortTerms)
	long = min(1, max(0, long))
	return lexical.Params{K1: 0.9 + 0.3*long, B: 0.4 + 0.35*long}
}

// at returns the index in step with the snapshot that c reads, nil if it is not
// loaded.
func (w *words) at(c *conn) (*lexical.Index, error) {
	revision, err := c.changes()
	if err != nil {
		return nil, err
	}
	w.mu.RLock()
	index, held := w.index, w.revision
	w.mu.RUnlock()
	if index == nil || held >= revision {
		return index, nil
	}
	for done := false; !done; {
		if done, err = w.follow(c, revision); err != nil {
			return nil, err
		}
	}
	w.mu.RLock()
	defer w.mu.RUnlock()
	return w.index, nil // a repair may have dropped the other
}

// movedOn reports whether the index follows a later commit than c reads.
func (w *words) movedOn(c *conn) (bool, error) {
	revision, err := c.changes()
	w.mu.RLock()
	defer w.mu.RUnlock()
	return w.index == nil || w.revision > revision, err
}

// follow reads changed memories into the index: a page of them, or all where no
// more changed. done is true when the index is in step with a revision, and when
// there is none: a repair drops it while others are about to follow.
func (w *words) follow(c *conn, revision int64) (done bool, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.index == nil || w.revision >= revision {
		return true, nil
	}
	hurry := c.SetInterrupt(context.Background())
	defer c.SetInterrupt(hurry)
	purges, err := c.purges()
	if err != nil {
		return false, err
	}
	if purges > w.purges { // the words of a memory that went are in the index: it is begun anew
		w.index, w.revision, w.purges = lexical.New(bm25Params), 0, purges
	}
	put, remove, upto, err := c.documentsSince(w.revision, fewBehind)
	if err != nil {
		return false, err
	}
	w.index.Apply(put, remove)
	w.revision = upto
	if len(put)+len(remove) < fewBehind {
		w.revision = max(upto, revision)
	}
	return w.revision >= revision, nil
}

// searchWords ranks the admitted memories by the index in memory. Past states
// are not in it: they are scored one by one with its figures.
func searchWords(index *lexical.Index, collection string, a *admitted, w wanted, limit int) []ranked {
	stems := make([]string, 0, len(w.terms))
	for _, t := range w.terms {
		if stem := text.Stem(t); !slices.Contains(stems, stem) {
			stems = append(stems, stem)
		}
	}
	q := lexical.Query{Collection: collection, Terms: stems, Unfinished: w.unfinished(index, collection, stems), Within: a.set, N: max(limit, 0)}
	hits := index.Search(q)
	items := make([]ranked, len(hits), len(hits)+len(a.past))
	for i, h := range hits {
		items[i] = ranked{h.ID, h.Score}
	}
	if len(a.past) == 0 {
		return items
	}
	scorer := index.Scorer(q)
	for id, s := range a.past {
		words := text.Terms(s.memory.Content)
		if score, ok := scorer.Score(w.counts(words, &q), len(words)); ok {
			items = append(items, ranked{id, score})
		}
	}
	slices.SortFunc(items, better)
	if limit >= 0 {
		items = items[:min(limit, len(items))]
	}
	return items
}

// wanted are the words of a search.
type wanted struct {
	terms []string
	// typing is the last word while it is being typed; nil when it is finished.
	typing *text.Unfinished
}

// maxLonger is how many words an unfinished one may become.
const maxLonger = 64

// unfinished looks the longer words up in the index, most frequent first, those
// aside that are asked for anyway.
func (w *wanted) unfinished(index *lexical.Index, collection string, asked []string) *lexical.Unfinished {
	if w.typing == nil {
		return nil
	}
	u := &lexical.Unfinished{}
	u.Longer = index.Frequent(collection, maxLonger, func(stem string) bool {
		return w.typing.Begins(stem) && !slices.Contains(asked, stem)
	})
	for _, t := range w.typing.Terms {
		if stem := text.Stem(t); !text.Stop(t) && slices.Contains(asked, stem) {
			u.Whole = append(u.Whole, stem)
		}
	}
	return u
}

// counts are how often a past state holds each term of a question. The words that
// the index has may not be those that it had then, so any longer one counts.
func (w *wanted) counts(words []string, q *lexical.Query) []int {
	counts := make([]int, len(q.Terms)+1)
	longer, whole := 0, false
	for _, word := range words {
		stem := text.Stem(word)
		if i := slices.Index(q.Terms, stem); i >= 0 {
			counts[i]++
			whole = whole || q.Unfinished != nil && slices.Contains(q.Unfinished.Whole, stem)
		} else if w.typing != nil && w.typing.Begins(stem) {
			longer++
		}
	}
	if !whole {
		counts[len(q.Terms)] = longer
	}
	return counts
}
