package agent

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/robotmem/robotmem-go/classify"
	"github.com/robotmem/robotmem-go/consolidate"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/agent/block"
)

// What is injected is data. It stands in a block that says so, in which no text can end the block.

const (
	// injectedTokens is the size of what is injected with a prompt, as tokens estimates it.
	injectedTokens = 400
	askedFor       = 12  // memories
	mostInjected   = 6   // memories
	deadline       = 150 // ms
)

const reportNote = "When the task is done, end your last message with these lines: " +
	"`Outcome: worked`, `failed`, `partial` or `unknown`; `Used: #12 #15`, the memories that helped, or `none`; " +
	"`Lesson: ` and one sentence with its numbers, if something was learnt that the next one should know."

// briefing is what is injected at the beginning, and the memories in it: what the last conversation in the project has
// taught, the user's orders, earlier lessons, and then what the briefing of the episode has of no project, such as facts
// of a robot. What does not fit is left out from the end.
func (h *Hooks) briefing(ctx context.Context, ids []int64, project string) (string, []int64) {
	lines := []string{block.Open, block.Note}

	var kept []int64
	left := injectedTokens - block.Tokens(block.Open+block.Note+reportNote+block.Close)
	add := func(m *robotmem.Memory) {
		line := lessonLine(m)
		n := block.Tokens(line) + 1
		if n > left || slices.Contains(kept, m.MemoryID) || m.Type != "fact" || classify.Instructs(m.Content) || m.Tier == consolidate.TierSuspect {
			return
		}
		left -= n
		lines, kept = append(lines, line), append(kept, m.MemoryID)
	}

	lessons, err := h.lessons(ctx, project)
	if err != nil {
		h.log().Warn("the lessons of the project cannot be read", "error", err)
	}

	for i := range lessons {
		add(&lessons[i])
	}

	for _, id := range ids {
		m, err := h.Node.Get(ctx, &robotmem.MemoryRequest{MemoryID: id})
		if err != nil {
			continue
		}
		if _, ofAgent := m.Context.At("agent.project"); !ofAgent {
			add(m)
		}
	}

	return strings.Join(append(lines, reportNote, block.Close), "\n"), kept
}

// lessonLine is a memory as the beginning shows it, in as few tokens as it takes.
func lessonLine(m *robotmem.Memory) string {
	const longest = 240
	return fmt.Sprintf("- #%d %s", m.MemoryID, block.Fenced(block.OneLine(m.Content, longest)))
}

// lessons are those of a project, the ones to be told first in front: what the last conversation has taught, orders of the
// user, commands of the last conversation, and the rest; each the newest first.
func (h *Hooks) lessons(ctx context.Context, project string) ([]robotmem.Memory, error) {
	const most = 60

	res, err := h.Node.List(ctx, &robotmem.ListRequest{
		Collection: cmp.Or(h.Collection, robotmem.DefaultCollection), Type: "fact", Tags: []string{"lesson"}, Limit: most,
		ContextFilter: robotmem.Object{"agent.project": project},
	})
	if err != nil || len(res.Memories) == 0 {
		return nil, err
	}

	last := res.Memories[0].SessionID
	rank := func(m *robotmem.Memory) int {
		command, order := slices.Contains(m.UserTags, "command"), slices.Contains(m.UserTags, "user")
		switch {
		case m.SessionID == last && !command && !order:
			return 0
		case order:
			return 1
		case m.SessionID == last:
			return 2
		case command:
			return 4
		}

		return 3
	}
	slices.SortStableFunc(res.Memories, func(a, b robotmem.Memory) int { return rank(&a) - rank(&b) })

	return res.Memories, nil
}

// askText asks the agent for the outcome of its turn.
func askText(t *turn) string {
	text := "For the memory of this machine, before you stop: answer with these lines alone, and use no tool. " +
		"`Outcome: worked`, `failed`, `partial` or `unknown`."
	if len(t.shown) > 0 {
		var ids []string
		for _, id := range t.shown {
			ids = append(ids, fmt.Sprint("#", id))
		}
		text += " `Used: ` those of the memories " + strings.Join(ids, " ") + " that helped, or `none`; `Misled: ` those that were wrong."
	}

	return text + " `Lesson: ` one sentence with its numbers that the next one should know, or `none`."
}

// relevant recalls for a prompt, and returns what is to be injected and the ids of its memories. Those that the agent has
// been shown are not shown again.
func (h *Hooks) relevant(ctx context.Context, c *conversation, prompt string, seen []int64) (string, []int64, error) {
	if !block.AsksSomething(prompt) {
		return "", nil, nil
	}

	const longest = 2000
	res, err := h.Node.Recall(ctx, &robotmem.RecallRequest{
		Query: robotmem.Clip(prompt, longest), Collection: h.Collection, N: askedFor, Type: "fact",
		ForSession: c.Episode, DeadlineMS: deadline, ContextFilter: ofProject(projectOf(c.Folder)), ParseTime: new(false),
	})
	if err != nil {
		return "", nil, err
	}

	var (
		lines []string
		ids   []int64
	)
	left := injectedTokens - block.Tokens(block.Open+block.Note+block.Close)

	least := block.LeastRelevance(res)
	for i := range res.Memories {
		m := &res.Memories[i]
		if len(lines) == mostInjected || m.Relevance == nil || *m.Relevance < least || slices.Contains(seen, m.MemoryID) ||
			classify.Instructs(m.Content) {
			continue
		}
		line := block.Line(m)
		if n := block.Tokens(line) + 1; n <= left {
			left -= n
			lines, ids = append(lines, line), append(ids, m.MemoryID)
		}
	}
	if lines == nil {
		return "", nil, nil
	}

	return block.Open + "\n" + block.Note + "\n" + strings.Join(lines, "\n") + "\n" + block.Close, ids, nil
}

// ofProject is a filter for the memories of a project, and those of no agent's project, such as a robot's.
func ofProject(project string) robotmem.Object {
	return robotmem.Object{"$or": []any{
		map[string]any{"agent.project": project},
		map[string]any{"agent.project": map[string]any{"$exists": false}},
	}}
}
