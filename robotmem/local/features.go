package local

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
)

// featureBatch is how many perceptions are worked out for one commit.
const featureBatch = 16

// featurePage is how many are looked up at once: that walks over all perceptions.
const featurePage = 4096

// featurePause is how long what could not be worked out waits for another try.
const featurePause = time.Minute

// runFeatures works out what perceptions are compared by, where saving them did
// not: frames of a stream, and all when the rules have changed.
func (mt *maintainer) runFeatures(ctx context.Context) {
	for after := int64(0); ; {
		n, err := mt.fillFeatures(ctx, &after)
		again := (<-chan time.Time)(nil)
		switch {
		case err != nil && ctx.Err() == nil:
			mt.log.Warn("features not stored", "err", err)
			again = time.After(featurePause)
		case err == nil && n > 0:
			continue
		case err == nil:
			mt.behind.Store(false)
		}
		select {
		case <-ctx.Done():
			return
		case <-again:
		case <-mt.featureless:
			after = 0 // any may have been dropped
			mt.behind.Store(true)
		}
	}
}

// fillFeatures works out some perceptions above an id, which it moves on, and
// returns how many.
func (mt *maintainer) fillFeatures(ctx context.Context, after *int64) (int, error) {
	var ids []int64
	err := mt.store.read(ctx, func(c *conn) (err error) {
		ids, err = c.withoutFeatures(*after, featurePage)
		return err
	})
	if err != nil {
		return 0, err
	}
	for batch := range slices.Chunk(ids, featureBatch) {
		if err := mt.fillBatch(ctx, batch); err != nil {
			return 0, err
		}
		*after = batch[len(batch)-1]
	}
	return len(ids), nil
}

// fillBatch works out a batch and stores it in one commit.
func (mt *maintainer) fillBatch(ctx context.Context, ids []int64) error {
	found := make([]*features, len(ids))
	err := mt.store.read(ctx, func(c *conn) error {
		for i, id := range ids {
			m, err := c.memory(id, mt.store.now())
			if err != nil {
				return err
			}
			item, err := mt.store.item(c, m)
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
	return mt.store.write(ctx, func(tx *writeTx) error {
		for i, id := range ids {
			if err := tx.insertFeatures(id, found[i]); err != nil {
				return err
			}
		}
		return nil
	})
}

// rouseFeatures tells the background that a perception waits for its features.
func (mt *maintainer) rouseFeatures() {
	mt.behind.Store(true)
	select {
	case mt.featureless <- struct{}{}:
	default:
	}
}

// noticeDropped looks whether another process has changed features that were
// there: a repair drops all, and may have died before it made them anew.
func (mt *maintainer) noticeDropped(c *conn) error {
	epoch, _, err := c.featureEpoch()
	if err == nil && mt.featuresSeen.Swap(epoch) != epoch {
		mt.rouseFeatures()
	}
	return err
}
