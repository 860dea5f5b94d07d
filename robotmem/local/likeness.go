package local

import (
	"errors"
	"fmt"

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
	if err := e.maintenance.noticeDropped(c); err != nil {
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
	if e.maintenance.behind.Load() {
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
		item, err := e.store.item(c, m)
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
