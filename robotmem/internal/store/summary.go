package store

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/dustin/go-humanize/english"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/record"
)

// SummarizeSession summarizes a session up to a time.
func (c *Conn) SummarizeSession(s *robotmem.Session, until time.Time, score *float64,
	superseded int) (robotmem.SessionSummary, error) {
	out := robotmem.SessionSummary{SessionID: s.SessionID, Categories: map[string]int{}, OutcomeScore: score}
	out.DurationS = until.Sub(s.CreatedAt).Seconds()
	// A session that was imported from a recording has the length of the recording.
	source, _ := s.Context["source"].(map[string]any)
	if n, ok := source["seconds"].(json.Number); ok {
		out.DurationS, _ = n.Float64()
	}

	err := c.Query(GroupsOfSession, []any{s.SessionID}, func(st Row) error {
		n := st.ColumnInt(3)
		if st.ColumnText(0) == "fact" {
			out.Facts += n
		} else {
			out.Perceptions += n
		}

		out.Categories[st.ColumnText(1)] += n
		switch st.ColumnText(2) {
		case robotmem.OutcomeSuccess:
			out.Successes += n
		case robotmem.OutcomeFailure:
			out.Failures += n
		}

		return nil
	})
	if err != nil {
		return out, err
	}

	_, err = c.One(CountRecalled, []any{s.SessionID}, func(st Row) {
		out.Recalled, out.Used = st.ColumnInt(0), st.ColumnInt(1)
	})
	if err == nil {
		out.Streams, err = c.Streams(s.SessionID)
	}

	out.Text = summaryText(&out, superseded)

	return out, err
}

func summaryText(s *robotmem.SessionSummary, superseded int) string {
	took, unit := time.Duration(s.DurationS*float64(time.Second)), time.Millisecond
	if took >= time.Second {
		unit = time.Second
	}

	parts := []string{fmt.Sprintf("%d %s and %d %s in %s", s.Facts, english.PluralWord(s.Facts, "fact", ""),
		s.Perceptions, english.PluralWord(s.Perceptions, "perception", ""), took.Round(unit))}
	if s.Successes+s.Failures > 0 {
		parts = append(parts, fmt.Sprintf("%d succeeded and %d failed", s.Successes, s.Failures))
	}
	if superseded > 0 {
		parts = append(parts, fmt.Sprintf("%d merged", superseded))
	}
	if s.OutcomeScore != nil {
		parts = append(parts, fmt.Sprintf("outcome %.2f", *s.OutcomeScore))
	}

	var dropped, missed int64
	for _, n := range s.Streams {
		dropped, missed = dropped+n.Dropped, missed+n.Missed
	}

	if dropped+missed > 0 {
		parts = append(parts, fmt.Sprintf("streams dropped %d and missed %d samples", dropped, missed))
	}

	return strings.Join(parts, ", ") + "."
}

// SessionWords returns the summaries of a session's first memories, as a query.
func (c *Conn) SessionWords(id string) (string, error) {
	words, err := c.Texts(SummariesOfSession, id)
	return strings.Join(words, " "), err
}

// Rules returns the constraints and pinned memories of a collection, newest first.
func (c *Conn) Rules(collection string, n int, now time.Time) ([]robotmem.Memory, error) {
	ids, err := c.IDs(NewestRules, collection, n)
	if err != nil {
		return nil, err
	}
	found, _, err := c.FindAll(ids, now)

	return found, err
}

// Briefs returns memories with their summaries.
func Briefs(ms []robotmem.Memory) []robotmem.BriefMemory {
	out := []robotmem.BriefMemory{}
	for _, m := range ms {
		out = append(out, robotmem.BriefMemory{
			MemoryID: m.MemoryID, Summary: record.Summarize(m.Content), Category: m.Category, Confidence: m.Confidence,
		})
	}

	return out
}
