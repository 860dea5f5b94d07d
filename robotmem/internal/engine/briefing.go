package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/robotmem/robotmem-go/classify"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/recall"
	"github.com/robotmem/robotmem-go/robotmem/internal/record"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
	"github.com/robotmem/robotmem-go/robotmem/internal/text"
)

const (
	briefTokens     = 380 // of the response of StartSession, as text.Tokens estimates them
	briefLine       = 60  // tokens of one memory
	briefLabels     = 12  // of its id, twice, and its title
	briefCandidates = 30  // memories per part before they are sorted by their fit
	maxRules        = 50  // rules that are compared with the session
)

// briefing collects the briefing of one session.
type briefing struct {
	*Engine
	context robotmem.Object // of the session
	query   robotmem.RecallRequest
}

// briefPart is a part of a briefing: lines, or memories, the best first.
type briefPart struct {
	title    string
	lines    []string
	memories []robotmem.Memory
	taken    []string
}

// brief writes the briefing of a session: what fits its context, within briefTokens
// with the rest of the response.
func (n *Engine) brief(ctx context.Context, res *robotmem.StartSessionResponse, object robotmem.Object) error {
	b := &briefing{Engine: n, context: object, query: robotmem.RecallRequest{
		Query: contextWords(object), Collection: res.Collection, N: briefCandidates, SpatialSort: placeOf(object), ParseTime: new(false),
	}}

	var (
		rules []robotmem.Memory
		last  robotmem.SessionSummary
		tried briefPart
	)
	err := n.Store.Read(ctx, func(c *store.Conn) (err error) {
		if err := n.index.Columns.Sync(c); err != nil {
			return err
		}
		res.ActiveMemoriesCount = n.index.Columns.Active(res.Collection)
		if rules, err = c.Rules(res.Collection, maxRules, n.Now()); err != nil {
			return err
		}
		tried.title, tried.lines, err = attemptLines(c, res.SessionID, res.Collection, record.RobotOf(object))
		if err != nil {
			return err
		}
		summary, err := c.LastSummary(res.Collection)
		if err != nil || summary == "" {
			return err
		}

		return json.Unmarshal([]byte(summary), &last)
	})
	if err != nil {
		return err
	}

	// This recall has no filter and gives the warnings only. The parts below recall with a filter each.
	all, err := b.recall(ctx, &b.query)
	if err != nil {
		return err
	}

	parts := []briefPart{
		{title: "Warning", lines: all.Warnings}, {title: "Advice", lines: b.advice(ctx)}, {title: "Worked"},
		{title: "Failed"}, {title: "Rules"}, {title: "Current values"},
		tried, {title: "Last session", lines: strings.Split(last.Text, "\n")},
	}

	const rulesAt = 4
	// A rule that shares words with the session comes before the others.
	rank := map[int64]int{}

	for at, outcomes := range map[int][]any{
		rulesAt - 2: {robotmem.OutcomeSuccess}, rulesAt - 1: {robotmem.OutcomeFailure, robotmem.OutcomePartial}, rulesAt + 1: {robotmem.OutcomeUnknown},
	} {
		p := &parts[at]

		// The tries of a continued attempt have a part of their own, and one without an outcome is no value.
		filter := robotmem.Object{"outcome": map[string]any{"$in": outcomes}, "session_id": map[string]any{"$ne": res.SessionID}}
		if at > rulesAt {
			filter["type"] = map[string]any{"$ne": robotmem.TypeDocument} // what a manual says is no current value
			filter["attempt.try"] = map[string]any{"$exists": false}
			// Nor is what a dream draws from the facts.
			filter["model.from"] = map[string]any{"$exists": false}
			filter["model.task"] = map[string]any{"$ne": "contradiction"}
		}
		if p.memories, err = b.find(ctx, filter); err != nil {
			return err
		}

		for at, m := range p.memories {
			rank[m.MemoryID] = at - briefCandidates
		}
	}

	// A rule that fits the session is one also if it is not among the newest.
	current := &parts[rulesAt+1]
	for _, m := range current.memories {
		if m.Category == "constraint" && !record.Proposed(&m) && !slices.ContainsFunc(rules, func(r robotmem.Memory) bool { return r.MemoryID == m.MemoryID }) {
			rules = append(rules, m)
		}
	}
	current.memories = slices.DeleteFunc(current.memories, func(m robotmem.Memory) bool {
		return m.Category == "constraint" && !classify.AddressesReader(m.Content)
	})

	slices.SortStableFunc(rules,
		func(x, y robotmem.Memory) int { return cmp.Compare(rank[x.MemoryID], rank[y.MemoryID]) })

	// A rule of another robot does not apply. A rule or a session without a robot excludes nothing. What speaks to the
	// model that reads the briefing is no rule.
	parts[rulesAt].memories = slices.DeleteFunc(rules, func(m robotmem.Memory) bool {
		if classify.AddressesReader(m.Content) || record.Proposed(&m) {
			return true
		}
		robot, own := record.RobotOf(m.Context), record.RobotOf(object)
		return robot != "" && own != "" && robot != own
	})
	b.write(res, parts)

	return nil
}

// find recalls the memories that pass a filter. Those that agree most with the context of the session come first. Those
// that differ from it more than they agree are left out.
func (b *briefing) find(ctx context.Context, filter robotmem.Object) ([]robotmem.Memory, error) {
	r := b.query
	r.ContextFilter = filter
	res, err := b.recall(ctx, &r)
	if err != nil || recall.SharesNoWord(res) {
		return nil, err
	}

	fit := map[int64]int{}
	for i := range res.Memories {
		fit[res.Memories[i].MemoryID] = b.fit(&res.Memories[i])
	}

	res.Memories = slices.DeleteFunc(res.Memories, func(m robotmem.Memory) bool { return fit[m.MemoryID] < 0 })

	// A conflict never hides a memory: outdated memories come last.
	outdated := func(m *robotmem.Memory) bool {
		return slices.ContainsFunc(m.Conflicts, func(c robotmem.ConflictWith) bool { return c.Newer })
	}
	slices.SortStableFunc(res.Memories, func(x, y robotmem.Memory) int {
		if old := outdated(&x); old != outdated(&y) {
			if old {
				return 1
			}
			return -1
		}

		return cmp.Compare(fit[y.MemoryID], fit[x.MemoryID])
	})

	return res.Memories, nil
}

// What a memory has in common with the session counts in this order: the task, the place, the robot.
const (
	taskFit  = 100
	placeFit = 50
	robotFit = 25
)

// fit returns how well a memory fits the session, below 0 if it is about another situation.
func (b *briefing) fit(m *robotmem.Memory) int {
	same, differ, _ := recall.CompareContexts(b.context, m.Context)
	fit := same - differ
	if task := record.TaskOf(m.Context); task != "" && task == record.TaskOf(b.context) {
		fit += taskFit
	}
	if place := record.MapOf(m.Context); place != "" && place == record.MapOf(b.context) {
		fit += placeFit
	}
	if robot := record.RobotOf(m.Context); robot != "" && robot == record.RobotOf(b.context) {
		fit += robotFit
	}

	return fit
}

// advice returns what the attempts at the task suggest and what made the difference.
func (b *briefing) advice(ctx context.Context) (lines []string) {
	if b.query.Query == "" {
		return nil
	}
	res, err := b.Advise(ctx,
		&robotmem.AdviseRequest{Query: b.query.Query, Task: record.TaskOf(b.context), Collection: b.query.Collection})
	if err != nil {
		b.Log.Warn("no advice in a briefing", "err", err)
		return nil
	}
	if res.Suggestion != nil {
		lines = append(lines, res.Suggestion.Text)
	}

	for _, d := range res.Differs {
		lines = append(lines, d.Text)
	}

	return lines
}

// placeOf returns the place of a context as one ranked list, nil without coordinates.
func placeOf(context robotmem.Object) *robotmem.SpatialSort {
	for _, field := range []string{"spatial.position", "spatial.object_position", "spatial.pose.position"} {
		v, _ := context.At(field)
		if at, _ := robotmem.Coordinates(v); at != nil {
			return &robotmem.SpatialSort{Field: field, Target: at, Mode: "fused"}
		}
	}

	return nil
}

// write takes the first line of each part, then the second of each, and so on, while they fit.
func (b *briefing) write(res *robotmem.StartSessionResponse, parts []briefPart) {
	var all []robotmem.Memory
	for _, p := range parts {
		all = append(all, p.memories...)
	}

	// The lines show dates without the time of day.
	w := recall.NewWriter(all, time.Time{})
	groups := map[int64]recall.Group{}

	for i := range parts {
		var of map[int64]recall.Group
		parts[i].memories, of = recall.Gather(parts[i].memories)
		maps.Copy(groups, of)
	}

	res.Briefing.Text = "Nothing that fits is known yet. Learn what you find."

	for round := range max(briefCandidates, maxRules) {
		// A part with many memories must not fill the budget before the others have written a line.
		for i := range parts {
			p, line, before := &parts[i], "", res.Briefing
			switch {
			case round < len(p.lines):
				line = text.ClipTokens(recall.OneLine(p.lines[round]), briefLine)
			case round < len(p.memories) && !slices.Contains(before.MemoryIDs, p.memories[round].MemoryID):
				// A line of less than half the usual length would say too little.
				m, left := &p.memories[round], briefTokens-recall.TokensOf(res)
				if left <= briefLine/2 {
					continue
				}
				head := fmt.Sprintf("[%d] ", m.MemoryID)
				if g, several := groups[m.MemoryID]; several {
					head += g.Text + ", the newest: "
				}
				line = head + w.Line(m, min(briefLine, left-briefLabels)-text.Tokens(head)/2)
				res.Briefing.MemoryIDs = append(before.MemoryIDs, m.MemoryID)
			}
			if line == "" {
				continue
			}
			p.taken = append(p.taken, line)

			// Only the whole response shows what a line costs with its title and its id. A line that is too long is
			// taken back; a shorter one of another part may still fit.
			if res.Briefing.Text = briefText(parts); recall.TokensOf(res) > briefTokens {
				res.Briefing, p.taken = before, p.taken[:len(p.taken)-1]
			}
		}
	}
}

func briefText(parts []briefPart) string {
	var s strings.Builder

	for _, p := range parts {
		if len(p.taken) > 0 {
			fmt.Fprintf(&s, "%s:\n- %s\n", p.title, strings.Join(p.taken, "\n- "))
		}
	}

	return strings.TrimRight(s.String(), "\n")
}
