package maintenance

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/record"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
)

const (
	// FeatureBatch is how many perceptions are stored in one commit.
	FeatureBatch = 16
	// featurePage is how many are looked up at once: each time visits all perceptions.
	featurePage = 4096
	// featurePause is how long RunFeatures waits after an error.
	featurePause = time.Minute
)

// RunFeatures extracts the features of perceptions that saving them did not: frames of
// a stream, and all when the extraction has changed.
func (mt *Maintainer) RunFeatures(ctx context.Context) {
	for after := int64(0); ; {
		mt.Paused.Wait(ctx)
		n, err := mt.FillFeatures(ctx, &after, &mt.Paused)
		again := (<-chan time.Time)(nil)
		switch {
		case err != nil && ctx.Err() == nil:
			mt.Log.Warn("features not stored", "err", err)
			again = time.After(featurePause)
		case err == nil && n > 0:
			continue
		case err == nil:
			mt.Behind.Store(false)
		}
		select {
		case <-ctx.Done():
			return
		case <-again:
		case <-mt.WakeFeatures:
			after = 0 // those of any perception may have been dropped
			mt.Behind.Store(true)
		}
	}
}

// FillFeatures extracts the features of a page of perceptions above an id, which it
// sets to the last, and returns how many. Once p is on it leaves the rest
// of the page for the next call.
func (mt *Maintainer) FillFeatures(ctx context.Context, after *int64, p *Pause) (int, error) {
	var ids []int64
	err := mt.Store.Read(ctx, func(c *store.Conn) (err error) {
		ids, err = c.WithoutFeatures(*after, featurePage)
		return err
	})
	if err != nil {
		return 0, err
	}
	for batch := range slices.Chunk(ids, FeatureBatch) {
		if p.On() {
			break
		}
		if err := mt.fillBatch(ctx, batch); err != nil {
			return 0, err
		}
		*after = batch[len(batch)-1]
	}
	return len(ids), nil
}

// fillBatch extracts a batch and stores it in one commit.
func (mt *Maintainer) fillBatch(ctx context.Context, ids []int64) error {
	found := make([]*record.Features, len(ids))
	err := mt.Store.Read(ctx, func(c *store.Conn) error {
		for i, id := range ids {
			m, err := c.Memory(id, mt.Store.Now())
			if err != nil {
				return err
			}
			item, err := mt.Store.Item(c, m)
			if lost := (*robotmem.Error)(nil); errors.As(err, &lost) {
				found[i] = &record.Features{} // a lost payload has its own check
				continue
			}
			if err != nil {
				return err
			}
			found[i] = record.FeaturesOf(item)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return mt.Store.Write(ctx, func(tx *store.Tx) error {
		for i, id := range ids {
			if err := tx.InsertFeatures(id, found[i]); err != nil {
				return err
			}
		}
		return nil
	})
}

// NotifyFeatures tells RunFeatures that a perception waits for its features.
func (mt *Maintainer) NotifyFeatures() {
	mt.Behind.Store(true)
	wake(mt.WakeFeatures)
}

// NoticeDropped notifies RunFeatures if another process has changed existing features:
// a repair drops all, and may have ended before it extracted them again.
func (mt *Maintainer) NoticeDropped(c *store.Conn) error {
	epoch, _, err := c.FeatureEpoch()
	if err == nil && mt.featuresSeen.Swap(epoch) != epoch {
		mt.NotifyFeatures()
	}
	return err
}
