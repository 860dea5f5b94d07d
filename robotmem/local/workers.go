package local

import (
	"fmt"
	"strings"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/sqlite"
)

const (
	workerIdle    = "idle"
	workerBusy    = "working"
	workerWaiting = "waiting"
	workerOff     = "off"
)

// workers says what the node does in the background, from what Stats has
// counted.
func (e *Node) workers(s *robotmem.StatsResponse) []robotmem.Worker {
	return []robotmem.Worker{e.vectorWorker(s), e.likenessWorker(s), e.indexWorker(), e.writerWorker(), e.retentionWorker(s)}
}

func (e *Node) vectorWorker(s *robotmem.StatsResponse) robotmem.Worker {
	w := robotmem.Worker{Name: "vectors", Status: workerOff, Detail: "no embedder: recall works by words, place, time and structure"}
	if e.embeddings.embedder == nil {
		return w
	}
	state := e.embeddings.embedder.State()
	switch {
	case state.Reason != "":
		w.Status, w.Detail = workerWaiting, state.Reason
		if !state.Until.IsZero() {
			w.Detail += fmt.Sprintf("; asked again at %s", state.Until.UTC().Format("15:04:05Z"))
		}
	case state.Model == "":
	case s.Backlog > 0:
		w.Status, w.Detail = workerBusy, fmt.Sprintf("%d memories wait for a vector of %s", s.Backlog, state.Model)
	default:
		w.Status, w.Detail = workerIdle, "every memory has its vector of "+state.Model
	}
	return w
}

func (e *Node) likenessWorker(s *robotmem.StatsResponse) robotmem.Worker {
	if s.ToCompare > 0 {
		return robotmem.Worker{Name: "likeness", Status: workerBusy, Detail: fmt.Sprintf("%d perceptions are still being made comparable", s.ToCompare)}
	}
	return robotmem.Worker{Name: "likeness", Status: workerIdle, Detail: "every perception that can be compared is"}
}

func (e *Node) indexWorker() robotmem.Worker {
	e.index.Postings.Mu.RLock()
	defer e.index.Postings.Mu.RUnlock()
	if e.index.Postings.Index == nil {
		return robotmem.Worker{Name: "indexes in memory", Status: workerWaiting, Detail: "read at the first recall, which waits for them"}
	}
	return robotmem.Worker{Name: "indexes in memory", Status: workerIdle, Detail: "read, and following every change"}
}

func (e *Node) writerWorker() robotmem.Worker {
	if e.Store.ReadOnly() != "" {
		return robotmem.Worker{Name: "writer", Status: workerOff, Detail: "the memory is served read-only: " + e.Store.ReadOnly()}
	}
	if n := e.Store.Waiting(); n > 0 {
		return robotmem.Worker{Name: "writer", Status: workerBusy, Detail: fmt.Sprintf("%d writes wait for the disk", n)}
	}
	return robotmem.Worker{Name: "writer", Status: workerIdle, Detail: "no write waits"}
}

func (e *Node) retentionWorker(s *robotmem.StatsResponse) robotmem.Worker {
	limits := e.options.Retention
	if limits.None() {
		return robotmem.Worker{Name: "retention", Status: workerOff, Detail: "no budget: payloads stay until the disk is full"}
	}
	var rules []string
	for _, b := range limits.Budgets {
		rules = append(rules, budgetText(b))
	}
	if limits.MinFreeBytes > 0 {
		rules = append(rules, sqlite.BytesText(limits.MinFreeBytes)+" of the disk free")
	}
	detail := "keeps " + strings.Join(rules, "; ")
	if s.Evicted > 0 {
		detail += fmt.Sprintf("; %d payloads went, %s", s.Evicted, sqlite.BytesText(s.EvictedBytes))
	}
	return robotmem.Worker{Name: "retention", Status: workerIdle, Detail: detail}
}

// budgetText is a budget in words: visual of arm7: at most 10 GB, 30 days.
func budgetText(b robotmem.Budget) string {
	var parts []string
	if b.MaxBytes > 0 {
		parts = append(parts, "at most "+sqlite.BytesText(b.MaxBytes))
	}
	if b.MaxAgeDays > 0 {
		parts = append(parts, fmt.Sprintf("%g days", b.MaxAgeDays))
	}
	of := b.PerceptionType
	if of == "" {
		of = "all perceptions"
	}
	if b.Collection != "" {
		of += " of " + b.Collection
	}
	return of + ": " + strings.Join(parts, ", ")
}
