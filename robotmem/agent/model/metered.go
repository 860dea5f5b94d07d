package model

import (
	"context"
	"fmt"
	"time"
)

// Metered is a model whose calls are counted in a ledger and bounded by its caps.
type Metered struct {
	Model
	Ledger *Ledger
	// Timeout is the longest wait for an answer; 0 is DefaultTimeout.
	Timeout time.Duration
}

const (
	// DefaultTimeout is long enough for a small model on a small machine.
	DefaultTimeout = 2 * time.Minute

	// perMessage bounds the tokens that servers add to a message: its role and marks, and a system prompt of their own.
	perMessage = 64
	// perImage bounds the tokens of an image. Models scale images down to what they read.
	perImage = 4096

	leastSeconds = 1
)

// mostTokens is an upper bound of the tokens of a question and its answer. A token has at least one byte.
func mostTokens(q *Question) int64 { return promptBound(q) + int64(q.MaxTokens) }

func promptBound(q *Question) int64 {
	const messages = 2
	return int64(len(q.System)+len(q.Text)+messages*perMessage) + perImage*int64(len(q.Images))
}

// Ask implements Model. It fails with ErrPaused or ErrSpent before anything is sent. A call that fails counts with what the
// server says it took, or else with the most that it could.
func (m *Metered) Ask(ctx context.Context, q *Question) (*Answer, error) {
	limit := m.Timeout
	if limit <= 0 {
		limit = DefaultTimeout
	}

	o, err := m.Ledger.reserve(open{
		Model: m.Name(), Task: q.Task, Prompt: promptBound(q), Answer: int64(q.MaxTokens), Seconds: limit.Seconds(),
	}, leastSeconds)
	if err != nil {
		return nil, err
	}

	bound := time.Duration(o.Seconds * float64(time.Second))
	late := fmt.Errorf("after %.3g s", o.Seconds)
	limited, cancel := context.WithTimeoutCause(ctx, bound, late)
	defer cancel()

	begun := time.Now()
	answer, err := m.Model.Ask(limited, q)
	took := amount{Calls: 1, Prompt: o.Prompt, Completion: o.Answer, Seconds: time.Since(begun).Seconds()}

	switch {
	case err != nil:
		took.Failed = 1
	default:
		if answer.Prompt >= 0 {
			took.Prompt = answer.Prompt
		}
		if answer.Completion >= 0 {
			took.Completion = answer.Completion
		}
	}
	if settleErr := m.Ledger.settle(o, took); err == nil && settleErr != nil {
		// What is not settled counts in full, so the caps hold.
		return answer, nil
	}

	return answer, err
}
