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
	// FeatureBatch is the number of perceptions whose features are stored in one commit.
	FeatureBatch = 16
	// featurePage is the number of perceptions without features that one look-up returns. It is large, because each
	// look-up visits all perceptions.
	featurePage = 4096
	// featurePause is how long RunFeatures waits after an error.
	featurePause = time.Minute
)

// RunFeatures extracts the features of perceptions that were saved without them: frames of
// a stream, and all perceptions after the extraction has changed.
func (mt *Maintainer) RunFeatures(ctx context.Context) {
	after := int64(0)
	Repeat(ctx, mt.WakeFeatures, 0, func() time.Duration {
		mt.Behind.Store(true)
		mt.Paused.Wait(ctx)
		n, err := mt.FillFeatures(ctx, &after, &mt.Paused)
		if err == nil && n > 0 {
			return 0
		}
		// The next step may be much later. By then the features of any perception may have been dropped, so it searches
		// from the beginning.
		after = 0
		if err == nil {
			mt.Behind.Store(false)
			return Forever
		}
		if ctx.Err() == nil {
			mt.Log.Warn("features not stored", "err", err)
		}

		return featurePause
	})
}

// FillFeatures extracts the features of a page of perceptions whose ids are above *after, and returns the size of
// the page. It sets *after to the last perception that it has done. When p is on, it leaves the rest of the page
// for the next call.
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

// fillBatch extracts the features of these perceptions and stores them in one commit.
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
				// A lost payload gets empty features, so that it does not wait forever. Doctor reports it.
				found[i] = &record.Features{}
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
	Wake(mt.WakeFeatures)
}

// NoticeDropped notifies RunFeatures if another process has changed existing features. A repair drops
// all of them, and its process may have ended before it extracted them again.
func (mt *Maintainer) NoticeDropped(c *store.Conn) error {
	epoch, _, err := c.FeatureEpoch()
	if err == nil && mt.featuresSeen.Swap(epoch) != epoch {
		mt.NotifyFeatures()
	}
	return err
}
