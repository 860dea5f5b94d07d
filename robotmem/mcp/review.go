package mcp

import (
	"context"
	"fmt"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
)

const (
	// maxTimeline memories of an episode are shown: its beginning and its end.
	maxTimeline = 100
	// maxRecalled of the memories recalled for it.
	maxRecalled = 30
	reviewText  = 140 // characters of a line
)

// reviewEpisode tells an episode in the order it was lived.
func (s *Server) reviewEpisode(ctx context.Context, args map[string]string) (string, error) {
	e, err := s.svc.Session(ctx, &robotmem.SessionRequest{SessionID: args["session_id"]})
	if err != nil {
		return "", err
	}
	lived, more, err := s.timeline(ctx, e.SessionID)
	if err != nil {
		return "", err
	}
	var p page
	p.line("Review this episode with me: what was meant to happen, what happened, why, and what is worth keeping.")
	p.line("\nEpisode %s (%s) of %s.", e.SessionID, describeSession(&e.Session), e.CreatedAt.UTC().Format(timeToMinute))
	if e.Summary != nil {
		p.line("%s", clip(oneLine(e.Summary.Text), 4*reviewText))
	}
	if len(e.Context) > 0 {
		if data, err := robotmem.EncodeJSON(e.Context); err == nil {
			p.line("Context: %s", clip(string(data), 4*reviewText))
		}
	}
	var lines []string
	for i, m := range lived {
		if more > 0 && i == len(lived)/2 {
			lines = append(lines, fmt.Sprintf("(%d more in between; recall with session_id %s replays them)", more, e.SessionID))
		}
		lines = append(lines, timelineLine(&m, e.CreatedAt))
	}
	p.section("Timeline", "Nothing was learnt or sensed in it.", lines)
	p.section("What was recalled for it", "Nothing was recalled with its id as for_session.", recalledLines(e.Recalled))
	p.section("What to learn", "", reviewSteps(e))
	return p.String(), nil
}

// timeline is an episode as it was lived, and how many memories are left out of
// its middle.
func (s *Server) timeline(ctx context.Context, id string) (lived []robotmem.Memory, more int64, err error) {
	const half = maxTimeline / 2
	res, err := s.svc.SessionMemories(ctx, &robotmem.SessionMemoriesRequest{SessionID: id, Limit: maxTimeline})
	if err != nil || res.Total <= maxTimeline {
		if err != nil {
			return nil, 0, err
		}
		return res.Memories, 0, nil
	}
	lived = res.Memories[:half]
	// The last half may lie across two pages.
	last := (res.Total-1)/half + 1
	var end []robotmem.Memory
	for page := last - 1; page <= last; page++ {
		res, err := s.svc.SessionMemories(ctx, &robotmem.SessionMemoriesRequest{SessionID: id, Limit: half, Page: int(page)})
		if err != nil {
			return nil, 0, err
		}
		end = append(end, res.Memories...)
	}
	end = end[max(0, len(end)-half):]
	return append(lived, end...), res.Total - int64(half+len(end)), nil
}

// timelineLine is a moment of an episode, by its distance from the start.
func timelineLine(m *robotmem.Memory, start time.Time) string {
	text := fmt.Sprintf("%+.1f s [%d] %s: %s", m.ObservedAt.Sub(start).Seconds(), m.MemoryID, m.Category, clip(oneLine(m.Content), reviewText))
	if m.Type == "perception" {
		text = fmt.Sprintf("%+.1f s [%d] %s perception: %s", m.ObservedAt.Sub(start).Seconds(), m.MemoryID, m.PerceptionType, clip(oneLine(m.Content), reviewText))
	}
	if task, ok := m.Task.(map[string]any); ok {
		switch task["success"] {
		case true:
			text += " (worked)"
		case false:
			text += " (failed)"
		}
	}
	return text
}

func recalledLines(recalled []robotmem.RecalledMemory) []string {
	var lines []string
	for i, m := range recalled {
		if i == maxRecalled {
			return append(lines, fmt.Sprintf("(%d more)", len(recalled)-maxRecalled))
		}
		used := "not said to have helped"
		if m.Used {
			used = "helped"
		}
		lines = append(lines, fmt.Sprintf("[%d] %s: %s (%s)", m.MemoryID, m.Category, clip(oneLine(m.Summary), reviewText), used))
	}
	return lines
}

// reviewSteps say how the lessons are kept; an episode that has ended takes no
// more memories.
func reviewSteps(e *robotmem.SessionResponse) []string {
	keep := fmt.Sprintf("Keep each lesson with learn, collection %s: one sentence with its numbers, and task.success in its context.", e.Collection)
	if e.Status == "active" {
		keep = fmt.Sprintf("Keep each lesson with learn, session_id %s, then close the episode with end_session: its outcome from 0 to 1, and as used_memory_ids what helped.", e.SessionID)
	}
	return []string{
		"Name the moment at which the episode was decided, and what shows it; preview shows a perception.",
		"Compare what was recalled with what happened: a memory that misled is corrected with update, or taken out with forget and the reason.",
		keep,
	}
}
