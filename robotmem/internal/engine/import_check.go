package engine

import (
	"cmp"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/archive"
	"github.com/robotmem/robotmem-go/robotmem/internal/checked"
	"github.com/robotmem/robotmem-go/robotmem/internal/record"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
)

// checkRecord checks a memory and computes its index entries. It normalizes m.
func (n *Engine) checkRecord(m *archive.Memory) (*store.ImportRecord, error) {
	if err := checked.Memory(m); err != nil {
		return nil, err
	}

	context, err := checked.Object("context", &m.Context, robotmem.MaxContext)
	if err != nil {
		return nil, err
	}
	if _, err = checked.Object("metadata", &m.Metadata, record.MaxMetadata); err != nil {
		return nil, err
	}

	m.Summary = cmp.Or(m.Summary, record.Summarize(m.Content))
	rec, err := n.records.RecordOf(&robotmem.Memory{
		Type: m.Type, Content: m.Content, Summary: m.Summary, Context: context, Collection: m.Collection,
		SessionID: m.Session, Pinned: m.Pinned, UserTags: m.UserTags,
	})
	if err != nil {
		return nil, err
	}

	// The tags of the archive stay. The rules of this node might derive others.
	rec.AutoTags = m.Tags

	return &store.ImportRecord{Memory: m, Rec: rec}, nil
}
