package recall

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/robotmem/robotmem-go/consolidate"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/record"
)

// noteConflicts adds to each of the first answers the answers that it replaces or that replace it.
func noteConflicts(answers []robotmem.Memory, hits []hit) {
	for i := range hits[:min(len(hits), evidenceMost)] {
		for j := range i {
			newer := replaces(&hits[i], &hits[j])
			if newer == 0 {
				continue
			}
			late, early := &answers[i], &answers[j]
			if newer < 0 {
				late, early = early, late
			}

			early.Conflicts = append(early.Conflicts, robotmem.ConflictWith{
				MemoryID: late.MemoryID,
				Reason:   "a later value of the same",
				Newer:    true,
			})
			late.Conflicts = append(late.Conflicts, robotmem.ConflictWith{
				MemoryID: early.MemoryID,
				Reason:   "an earlier value of the same",
			})
		}
	}
}

// Outdated returns which of the facts a later one of them has replaced, by the memory_id of both.
func Outdated(memories []robotmem.Memory) map[int64]int64 {
	subjects := make([]*subject, len(memories))
	for i := range memories {
		subjects[i] = newSubject(&memories[i])
	}

	out := map[int64]int64{}

	for i, early := range subjects {
		for _, late := range subjects {
			if late.ObservedAt.After(early.ObservedAt) && consolidate.Outdates(early.claim(), late.claim()) {
				out[memories[i].MemoryID] = late.MemoryID
				break
			}
		}
	}

	return out
}

const (
	warnFirst = 5  // best hits; unless two of them are the same failed attempt, no others are read
	warnPool  = 20 // best hits among which attempts are counted
	warnLeast = 3  // least number of failed attempts for a warning
)

// warnings names attempts of the same task and parameters that all failed.
func (r *run) warnings(ctx context.Context, hits []hit) (out []string, err error) {
	if len(r.Content) == 0 {
		return nil, nil
	}

	// By attempt, as attemptOf describes it.
	failed := map[string][]int64{}
	succeeded := map[string]bool{}
	repeated := false

	hits = hits[:min(warnPool, len(hits))]
	for i := range hits {
		h := &hits[i]
		// Most recalls have nothing to warn of, so the other memories are not loaded for them.
		if i == warnFirst && !repeated {
			return nil, nil
		}
		if h.Outcome == robotmem.OutcomeUnknown {
			continue
		}
		if ok, err := r.loadAhead(ctx, hits, i, warnFirst); err != nil {
			return nil, err
		} else if !ok {
			continue
		}
		if what := attemptOf(h.memory); what == "" {
			continue
		} else if h.Outcome == robotmem.OutcomeFailure {
			failed[what] = append(failed[what], h.id)
			repeated = repeated || len(failed[what]) > 1
		} else {
			succeeded[what] = true
		}
	}

	for _, what := range slices.Sorted(maps.Keys(failed)) {
		if ids := failed[what]; len(ids) >= warnLeast && !succeeded[what] {
			out = append(out, fmt.Sprintf("%s failed %d times and never succeeded: memories %s",
				what, len(ids), strings.Trim(fmt.Sprint(ids), "[]")))
		}
	}

	return out, nil
}

// attemptOf returns the task and the parameters of an attempt, "" without parameters.
func attemptOf(m *robotmem.Memory) string {
	params, _ := m.Context["params"].(map[string]any)
	data, err := robotmem.CanonicalJSON(params)
	if err != nil || len(params) == 0 {
		return ""
	}
	return fmt.Sprintf("%s with %s", cmp.Or(record.TaskOf(m.Context), "an attempt"), data)
}
