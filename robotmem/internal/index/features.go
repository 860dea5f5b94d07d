package index

import (
	"sync"

	"github.com/robotmem/robotmem-go/robotmem/internal/store"
)

// featureCache holds the feature vectors of each kind that was asked for, so that a
// question does not read them from the file. It follows the file: rows that were added at the
// end of the table are read; any other change of the table begins a new epoch, after which all
// are read again. A kind that does not fit into memory is read from the file each time.
type featureCache struct {
	mu    sync.RWMutex // guards all below
	epoch int64
	Bytes int64
	Kinds map[string]*kindVectors // nil where they do not fit
}

// kindVectors are the feature vectors of one kind and length.
type kindVectors struct {
	ids     []int64
	numbers []float32 // the vectors, one after another in the order of ids
	last    int64     // the memory up to which the table was read
}

// MaxKeptFeatures bounds the vectors in memory, in bytes.
const MaxKeptFeatures = 64 << 20

// Each visits every vector of one kind and length. It visits the state of the snapshot, or a later one if
// another caller has updated the cache since.
func (k *featureCache) Each(c *store.Conn, kind string, length int, visit func(id int64, vector []float32)) error {
	kept, err := k.Follow(c, kind, length)
	if err != nil {
		return err
	}
	if kept == nil {
		return c.EachFeatures(kind, 0, length, visit)
	}
	k.mu.RLock()
	defer k.mu.RUnlock()

	for i, id := range kept.ids {
		visit(id, kept.numbers[i*length:(i+1)*length])
	}

	return nil
}

// Follow brings the vectors of a kind up to a snapshot. It returns nil if they do not fit into memory, or
// if the snapshot is of a past epoch.
func (k *featureCache) Follow(c *store.Conn, kind string, length int) (*kindVectors, error) {
	epoch, last, err := c.FeatureEpoch()
	if err != nil {
		return nil, err
	}

	k.mu.Lock()
	defer k.mu.Unlock()
	if epoch < k.epoch {
		return nil, nil
	}
	if epoch > k.epoch || k.Kinds == nil {
		k.forget(epoch)
	}

	kept, known := k.Kinds[kind]
	switch {
	case !known:
		kept = &kindVectors{}
	case kept == nil: // it does not fit
		return nil, nil
	case kept.last >= last:
		return kept, nil
	}

	size := int64(8 + 4*length)
	room := true
	err = c.EachFeatures(kind, kept.last, length, func(id int64, vector []float32) {
		room = room && k.Bytes+size <= MaxKeptFeatures
		if room {
			kept.ids = append(kept.ids, id)
			kept.numbers = append(kept.numbers, vector...)
			k.Bytes += size
		}
	})
	if err != nil {
		// The cache may be incomplete after an error.
		k.forget(epoch)
		return nil, err
	}

	kept.last = last
	if !room {
		k.Bytes -= size * int64(len(kept.ids))
		// The slices are not cleared, because others may be reading them.
		kept = nil
	}

	k.Kinds[kind] = kept

	return kept, nil
}

func (k *featureCache) forget(epoch int64) {
	k.epoch, k.Bytes, k.Kinds = epoch, 0, map[string]*kindVectors{}
}
