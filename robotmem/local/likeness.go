package local

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/robotmem/robotmem-go/perception"
	"github.com/robotmem/robotmem-go/robotmem"
)

// features is what a perception is compared by; only equal kinds compare. An
// empty kind compares with nothing.
type features struct {
	kind   string
	vector []float32
	self   int64 // the memory they come from, left out of the answer
}

// likenessSignal orders the admitted perceptions by how unlike they are to the
// one in question.
func (e *Engine) likenessSignal(c *conn, q *question, a *admitted) ([]ranked, error) {
	want, err := e.wantedFeatures(c, q)
	if err != nil {
		return nil, err
	}
	if err := e.noticeDropped(c); err != nil {
		return nil, err
	}
	var items []ranked
	limit := q.listDepth()
	err = e.index.features.each(c, want.kind, len(want.vector), func(id int64, vector []float32) {
		if _, past := a.past[id]; id != want.self && (past || a.set.Test(uint(id))) {
			items = keepNearest(items, ranked{id, perception.Distance(want.kind, want.vector, vector)}, limit)
		}
	})
	if err != nil {
		return nil, err
	}
	if e.behind.Load() {
		n, err := c.featureBacklog()
		if err != nil {
			return nil, err
		}
		if n > 0 {
			q.degraded = append(q.degraded, fmt.Sprintf("likeness: %d perceptions wait to be compared and are not among the answers", n))
		}
	}
	return items, nil
}

// noticeDropped looks whether another process has changed features that were
// there: a repair drops all, and may have died before it made them anew.
func (e *Engine) noticeDropped(c *conn) error {
	epoch, _, err := c.featureEpoch()
	if err == nil && e.featuresSeen.Swap(epoch) != epoch {
		e.rouseFeatures()
	}
	return err
}

// wantedFeatures are those of the memory or the data in question.
func (e *Engine) wantedFeatures(c *conn, q *question) (*features, error) {
	l := q.Like
	if l.MemoryID == 0 {
		field, data := "like.data_base64", l.DataBase64
		if l.Data != "" {
			field, data = "like.data", []byte(l.Data)
		}
		mediaType, err := perception.Sniff(data, l.MediaType)
		if err != nil {
			return nil, robotmem.Errorf(robotmem.Invalid, "like.media_type", "%v", err)
		}
		metadata, _, err := l.Metadata.Normalize("like.metadata", maxMetadata)
		if err != nil {
			return nil, err
		}
		f := featuresOf(perception.Item{Type: q.PerceptionType, MediaType: mediaType, Data: data, Metadata: metadata})
		if f.kind == "" {
			return nil, robotmem.Errorf(robotmem.Invalid, field, "is %s, which cannot be compared; give an image, a trace, a sound, a cloud or a trajectory", mediaType)
		}
		return f, nil
	}
	m, err := c.memory(l.MemoryID, q.now)
	if errors.Is(err, robotmem.NotFound) {
		return nil, robotmem.Errorf(robotmem.NotFound, "like.memory_id", "there is no memory %d", l.MemoryID)
	}
	if err != nil {
		return nil, err
	}
	f, err := c.features(l.MemoryID)
	if err != nil {
		return nil, err
	}
	if f == nil && m.SHA256 != "" { // not worked out yet
		item, err := e.item(c, m)
		if err != nil {
			return nil, err
		}
		f = featuresOf(item)
	}
	if f == nil || f.kind == "" {
		return nil, robotmem.Errorf(robotmem.Invalid, "like.memory_id", "memory %d has nothing to compare by; it must be a perception that holds an image, a trace, a sound, a cloud or a trajectory", l.MemoryID)
	}
	f.self = l.MemoryID
	return f, nil
}

// featureBatch is how many perceptions are worked out for one commit.
const featureBatch = 16

// featurePage is how many are looked up at once: that walks over all perceptions.
const featurePage = 4096

// featurePause is how long what could not be worked out waits for another try.
const featurePause = time.Minute

// runFeatures works out what perceptions are compared by, where saving them did
// not: frames of a stream, and all when the rules have changed.
func (e *Engine) runFeatures(ctx context.Context) {
	for after := int64(0); ; {
		n, err := e.fillFeatures(ctx, &after)
		again := (<-chan time.Time)(nil)
		switch {
		case err != nil && ctx.Err() == nil:
			e.log.Warn("features not stored", "err", err)
			again = time.After(featurePause)
		case err == nil && n > 0:
			continue
		case err == nil:
			e.behind.Store(false)
		}
		select {
		case <-ctx.Done():
			return
		case <-again:
		case <-e.featureless:
			after = 0 // any may have been dropped
			e.behind.Store(true)
		}
	}
}

// fillFeatures works out some perceptions above an id, which it moves on, and
// returns how many.
func (e *Engine) fillFeatures(ctx context.Context, after *int64) (int, error) {
	var ids []int64
	err := e.store.read(ctx, func(c *conn) (err error) {
		ids, err = c.withoutFeatures(*after, featurePage)
		return err
	})
	if err != nil {
		return 0, err
	}
	for batch := range slices.Chunk(ids, featureBatch) {
		if err := e.fillBatch(ctx, batch); err != nil {
			return 0, err
		}
		*after = batch[len(batch)-1]
	}
	return len(ids), nil
}

// fillBatch works out a batch and stores it in one commit.
func (e *Engine) fillBatch(ctx context.Context, ids []int64) error {
	found := make([]*features, len(ids))
	err := e.store.read(ctx, func(c *conn) error {
		for i, id := range ids {
			m, err := c.memory(id, e.now())
			if err != nil {
				return err
			}
			item, err := e.item(c, m)
			if lost := (*robotmem.Error)(nil); errors.As(err, &lost) {
				found[i] = &features{} // a lost payload has a check of its own
				continue
			}
			if err != nil {
				return err
			}
			found[i] = featuresOf(item)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return e.store.write(ctx, func(tx *writeTx) error {
		for i, id := range ids {
			if err := tx.insertFeatures(id, found[i]); err != nil {
				return err
			}
		}
		return nil
	})
}

// rouseFeatures tells the background that a perception waits for its features.
func (e *Engine) rouseFeatures() {
	e.behind.Store(true)
	select {
	case e.featureless <- struct{}{}:
	default:
	}
}
