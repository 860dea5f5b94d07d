package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
)

// fake is a memory without a file, with the operations that the tests need. All other
// operations are nil and panic.
type fake struct {
	robotmem.Service
	delay time.Duration
	mu    sync.Mutex // guards texts
	texts []string
	hits  []robotmem.Memory // what recall answers when set
}

func (f *fake) Learn(ctx context.Context, r *robotmem.LearnRequest) (*robotmem.LearnResponse, error) {
	time.Sleep(f.delay)
	if err := ctx.Err(); err != nil {
		return nil, &robotmem.Error{Op: "learn", Kind: robotmem.Unavailable, Err: err}
	}
	if r.Context["n"] == json.Number("1e999") {
		return nil, &robotmem.Error{Op: "learn", Kind: robotmem.Invalid, Field: "context.n", Err: errors.New("is out of range")}
	}
	switch r.Insight {
	case "":
		return nil, &robotmem.Error{Op: "learn", Kind: robotmem.Invalid, Field: "insight", Err: errors.New("is required")}
	case "secret":
		return nil, errors.New("SELECT * FROM secrets: no such table")
	case "panic":
		panic("out of tune")
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.texts = append(f.texts, r.Insight)
	return &robotmem.LearnResponse{
		Status: "created", MemoryID: int64(len(f.texts)), UID: "u", Conflicts: []robotmem.ConflictWith{},
		AutoInferred: robotmem.Inferred{Tags: []string{}, ScopeFiles: []string{}, ScopeEntities: []string{}},
	}, nil
}

func (f *fake) Recall(_ context.Context, r *robotmem.RecallRequest) (*robotmem.RecallResponse, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	res := &robotmem.RecallResponse{Memories: f.hits, Mode: "bm25_only", Degraded: []string{}}
	if res.Memories == nil {
		res.Memories = []robotmem.Memory{}
		for i, s := range f.texts {
			if strings.Contains(s, r.Query) {
				res.Memories = append(res.Memories, robotmem.Memory{MemoryID: int64(i + 1), Content: s, Tags: []string{}})
			}
		}
	}
	res.Total = len(res.Memories)
	return res, nil
}
