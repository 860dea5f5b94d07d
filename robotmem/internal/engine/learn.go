package engine

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/record"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
	"github.com/robotmem/robotmem-go/robotmem/progress"
)

// batchChunk is the number of batch items in one transaction: large enough to spread the
// cost of a commit, small enough that other writers wait only briefly.
const batchChunk = 500

func (n *Engine) Learn(ctx context.Context, req *robotmem.LearnRequest) (*robotmem.LearnResponse, error) {
	return serve("learn", req, func(r *robotmem.LearnRequest) (*robotmem.LearnResponse, error) {
		rec, err := n.learnRecord(r)
		if err != nil {
			return nil, err
		}
		res := &robotmem.LearnResponse{}
		return res, n.Store.WriteInTime(ctx, func(tx *store.Tx) error { return n.learn(tx, rec, false, res) })
	})
}

// OutcomeOf implements robotmem.Judging with the words of the taxonomy.
func (n *Engine) OutcomeOf(text string) string { return n.records.Rules.Outcomes().Of(text) }

// learnRecord prepares the record of a valid request.
func (n *Engine) learnRecord(r *robotmem.LearnRequest) (*record.Record, error) {
	rec, err := n.records.Prepare("fact", r.Insight, r.Context)
	if err == nil {
		err = rec.State(r.Outcome)
	}
	if err != nil {
		return nil, err
	}

	rec.Collection, rec.SessionID, rec.Source = r.Collection, r.SessionID, r.Source
	rec.UserTags = record.Distinct(slices.Clone(r.Tags))
	rec.Supersedes = r.Supersedes

	// The digest of a call is compared with that of an earlier call of the same id, so the id is not part of it.
	named := *r
	named.RequestID = ""
	if rec.Call, err = record.CallOf("learn", r.RequestID, &named); err != nil {
		return nil, err
	}

	if r.ObservedAt != nil {
		rec.ObservedAt = *r.ObservedAt
	}
	if r.Pinned != nil {
		rec.Pinned, rec.PinAsked = *r.Pinned, true
	}

	return rec, nil
}

// learn stores a prepared fact, or counts a sighting of a known one. A call that was answered before is
// answered again.
func (n *Engine) learn(tx *store.Tx, r *record.Record, keepDuplicates bool, res *robotmem.LearnResponse) error {
	answered, err := tx.Answered(r.Call, res)
	if err != nil || answered {
		return err
	}
	if err := n.learnNew(tx, r, keepDuplicates, res); err != nil {
		return err
	}

	return tx.KeepAnswer(r.Call, res.MemoryID, res)
}

func (n *Engine) learnNew(
	tx *store.Tx, r *record.Record, keepDuplicates bool, res *robotmem.LearnResponse,
) (err error) {
	// JoinSession sets the collection, and duplicates are searched in that.
	if err := tx.JoinSession(r); err != nil {
		return err
	}
	if err := tx.MaySupersede(r); err != nil {
		return err
	}
	*res = robotmem.LearnResponse{Status: "created", AutoInferred: r.Inferred(), Conflicts: []robotmem.ConflictWith{}}
	res.Interpreted = slices.Concat(r.Unread, r.Remarks)
	if !keepDuplicates {
		if err := tx.FindDuplicate(r, res); err != nil {
			return err
		}
		if res.MemoryID != 0 {
			return errors.Join(tx.Sighted(res.MemoryID, r), tx.Replace(r.Supersedes, res))
		}
	}
	if res.MemoryID, res.UID, err = tx.Insert(r); err != nil {
		return err
	}

	return tx.Replace(r.Supersedes, res)
}

func (n *Engine) LearnBatch(
	ctx context.Context, req *robotmem.LearnBatchRequest,
) (*robotmem.LearnBatchResponse, error) {
	return serve("learn_batch", req, func(r *robotmem.LearnBatchRequest) (*robotmem.LearnBatchResponse, error) {
		res := &robotmem.LearnBatchResponse{Results: make([]robotmem.BatchResult, len(r.Items))}
		m := progress.Of(ctx)
		m.Stage("learning", "items", int64(len(r.Items)))
		// The next chunk is prepared while the last one is written.
		prepared := make(chan []*record.Record, 1)
		go func() {
			defer close(prepared)

			for start := 0; start < len(r.Items); start += batchChunk {
				end := min(start+batchChunk, len(r.Items))
				prepared <- n.prepareChunk(ctx, r, start, end, res.Results)
			}
		}()

		var failed error

		start := 0

		// The loop continues after an error until the channel is closed. Otherwise the goroutine would block on it
		// forever.
		for records := range prepared {
			results := res.Results[start : start+len(records)]
			// After a timeout the abandoned write may still run, so it fills a copy.
			mine := slices.Clone(results)
			if failed == nil {
				failed = n.Store.WriteInTime(ctx, func(tx *store.Tx) error {
					return n.learnChunk(tx, records, r.KeepDuplicates, mine)
				})
			}
			if failed == nil {
				copy(results, mine)
			}

			// A chunk is stored as a whole or not at all. Results of committed chunks stay, and so do the errors of
			// invalid items.
			for i := range results {
				if failed != nil && results[i].Error == nil {
					results[i] = robotmem.BatchResult{Error: batchError(failed)}
				}
			}
			start += len(records)
			m.Add(int64(len(records)))
		}

		// Without any stored item the call itself fails. Otherwise each item says whether the caller must repeat it.
		if failed != nil &&
			!slices.ContainsFunc(res.Results, func(b robotmem.BatchResult) bool { return b.Error == nil }) {
			return nil, failed
		}

		return res, nil
	})
}

// learnChunk stores the records of one transaction. A refused item has written nothing,
// so the others continue; any other error ends the chunk.
func (n *Engine) learnChunk(
	tx *store.Tx, records []*record.Record, keepDuplicates bool, results []robotmem.BatchResult,
) error {
	for i, rec := range records {
		if rec == nil {
			continue
		}
		got := &robotmem.LearnResponse{}
		err := n.learn(tx, rec, keepDuplicates, got)
		if refused := (*robotmem.Error)(nil); errors.As(err, &refused) {
			results[i] = robotmem.BatchResult{Error: batchError(err)}
			continue
		}
		if err != nil {
			return err
		}
		results[i] = robotmem.BatchResult{LearnResponse: got}
	}

	return nil
}

// prepareChunk prepares the items from start to end on all cores. An invalid item leaves
// a nil record and its error in results.
func (n *Engine) prepareChunk(
	ctx context.Context, r *robotmem.LearnBatchRequest, start, end int, results []robotmem.BatchResult,
) []*record.Record {
	records := make([]*record.Record, end-start)
	parallel(len(records), func(i int) {
		err := r.ItemError(start + i)
		if ctx.Err() != nil { // the caller has left
			err = ctx.Err()
		}
		item := r.Items[start+i]
		if err == nil {
			err = robotmem.Validate("learn_batch", &item)
		}
		if err == nil {
			records[i], err = n.learnRecord(&item)
		}
		if err != nil {
			results[start+i] = robotmem.BatchResult{Error: batchError(err)}
		}
	})

	return records
}

func batchError(err error) *robotmem.BatchError {
	e := robotmem.Explain(err)
	return &robotmem.BatchError{Kind: e.Kind, Field: e.Field, Detail: e.Detail()}
}

// parallel calls f for 0 to n-1 on all cores and returns after the last call.
func parallel(n int, f func(i int)) {
	var (
		next atomic.Int64
		wg   sync.WaitGroup
	)
	for range min(n, runtime.NumCPU()) {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				f(i)
			}
		})
	}
	wg.Wait()
}
