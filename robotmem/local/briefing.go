package local

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/recall"
	"github.com/robotmem/robotmem-go/robotmem/internal/record"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
	"github.com/robotmem/robotmem-go/robotmem/internal/text"
)

const (
	briefTokens     = 380 // of the response of StartSession, as text.Tokens estimates them
	briefLine       = 60  // tokens of one memory
	briefIDTokens   = 3   // of an id in a list
	briefCandidates = 30  // memories per part before they are sorted by their fit
	maxRules        = 50  // rules that are compared with the session
)

// briefing collects the briefing of one session.
type briefing struct {
	*Node
	context robotmem.Object // of the session
	query   robotmem.RecallRequest
	shown   []int64
}

// briefPart is a part of a briefing, the best memories first.
type briefPart struct {
	title    string
	memories []robotmem.Memory
	lines    []string
}

// brief writes the briefing of a session: what fits its context, within briefTokens
// with the rest of the response.
func (n *Node) brief(ctx context.Context, res *robotmem.StartSessionResponse, object robotmem.Object) error {
	b := &briefing{Node: n, context: object, query: robotmem.RecallRequest{
		Query: contextWords(object), Collection: res.Collection, N: briefCandidates, SpatialSort: placeOf(object), ParseTime: new(false),
	}}
	var rules []robotmem.Memory
	var last robotmem.SessionSummary
	err := n.Store.Read(ctx, func(c *store.Conn) (err error) {
		if err := n.index.Columns.Sync(c); err != nil {
			return err
		}
		res.ActiveMemoriesCount = n.index.Columns.Active(res.Collection)
		if rules, err = c.Rules(res.Collection, maxRules, n.Now()); err != nil {
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
	worked, err := b.find(ctx, robotmem.Object{"outcome": robotmem.OutcomeSuccess})
	if err != nil {
		return err
	}
	failed, err := b.find(ctx, robotmem.Object{"outcome": map[string]any{"$in": []any{robotmem.OutcomeFailure, robotmem.OutcomePartial}}})
	if err != nil {
		return err
	}
	known, err := b.find(ctx, robotmem.Object{"outcome": robotmem.OutcomeUnknown})
	if err != nil {
		return err
	}
	// A rule that shares words with the session comes before the others.
	rank := func(m robotmem.Memory) int {
		return slices.IndexFunc(slices.Concat(known, failed, worked), func(k robotmem.Memory) bool { return k.MemoryID == m.MemoryID })
	}
	slices.SortStableFunc(rules, func(x, y robotmem.Memory) int { return cmp.Compare(uint(rank(x)), uint(rank(y))) })
	rules = slices.DeleteFunc(rules, func(m robotmem.Memory) bool {
		robot := record.RobotOf(m.Context)
		return robot != "" && record.RobotOf(object) != "" && robot != record.RobotOf(object)
	})
	all, err := b.recall(ctx, &b.query)
	if err != nil {
		return err
	}
	b.write(res, []briefPart{
		{title: "Warning", lines: all.Warnings}, {title: "Advice", lines: b.advice(ctx)},
		{title: "Rules", memories: rules}, {title: "Worked", memories: worked}, {title: "Failed", memories: failed}, {title: "Current values", memories: known},
		{title: "Last session", lines: strings.FieldsFunc(last.Text, func(r rune) bool { return r == '\n' })},
	})
	return nil
}

// find recalls the memories that pass a filter, those that agree most with the context
// of the session first, without those that rather differ from it.
func (b *briefing) find(ctx context.Context, filter robotmem.Object) ([]robotmem.Memory, error) {
	r := b.query
	r.ContextFilter = filter
	res, err := b.recall(ctx, &r)
	if err != nil {
		return nil, err
	}
	fit := map[int64]int{}
	for _, m := range res.Memories {
		fit[m.MemoryID] = agreement(b.context, m.Context)
	}
	res.Memories = slices.DeleteFunc(res.Memories, func(m robotmem.Memory) bool {
		outdated := slices.ContainsFunc(m.Conflicts, func(c robotmem.ConflictWith) bool { return c.Newer })
		return outdated || fit[m.MemoryID] < 0
	})
	slices.SortStableFunc(res.Memories, func(x, y robotmem.Memory) int { return cmp.Compare(fit[y.MemoryID], fit[x.MemoryID]) })
	return res.Memories, nil
}

// advice returns what the attempts at the task suggest and what made the difference.
func (b *briefing) advice(ctx context.Context) (lines []string) {
	if b.query.Query == "" {
		return nil
	}
	res, err := b.Advise(ctx, &robotmem.AdviseRequest{Query: b.query.Query, Task: taskOf(b.context), Collection: b.query.Collection})
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

// taskOf returns the name of the task in a context, "" without one.
func taskOf(context robotmem.Object) string {
	for _, path := range taskPaths {
		v, _ := context.At(path)
		if name, ok := v.(string); ok {
			return name
		}
	}
	return ""
}

// agreement counts the values of a context that another one has at the same path, minus
// those that differ there. Coordinates do not count: the place is a ranked list.
func agreement(a, b map[string]any) (n int) {
	for key, v := range a {
		other, ok := b[key]
		if !ok {
			continue
		}
		x, xIs := v.(map[string]any)
		y, yIs := other.(map[string]any)
		switch _, isList := v.([]any); {
		case xIs && yIs:
			n += agreement(x, y)
		case isList, xIs != yIs:
		case fmt.Sprint(v) == fmt.Sprint(other):
			n++
		default:
			n--
		}
	}
	return n
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
	left := briefTokens - recall.TokensOf(res)
	taken := make([][]string, len(parts))
	var all []robotmem.Memory
	for _, p := range parts {
		all = append(all, p.memories...)
	}
	w := recall.NewWriter(all, time.Time{}) // dates without the time of day
	for round, more := 0, true; more; round++ {
		more = false
		for i, p := range parts {
			line, id := "", int64(0)
			switch {
			case round < len(p.lines):
				line = text.ClipTokens(recall.OneLine(p.lines[round]), briefLine)
			case round < len(p.memories):
				if m := &p.memories[round]; !slices.Contains(b.shown, m.MemoryID) && left > briefLine/2 {
					line, id = fmt.Sprintf("[%d] %s", m.MemoryID, w.Line(m, min(briefLine, left-6))), m.MemoryID
				}
			default:
				continue
			}
			more = true
			cost := text.Tokens(line) + 3 // the line break, the dash, escapes
			if id != 0 {
				cost += briefIDTokens
			}
			if round == 0 {
				cost += text.Tokens(p.title) + 2
			}
			if line == "" || cost > left {
				continue
			}
			left -= cost
			taken[i] = append(taken[i], line)
			if id != 0 {
				b.shown = append(b.shown, id)
			}
		}
	}
	var s strings.Builder
	for i, p := range parts {
		if len(taken[i]) > 0 {
			fmt.Fprintf(&s, "%s:\n- %s\n", p.title, strings.Join(taken[i], "\n- "))
		}
	}
	res.Briefing.MemoryIDs = b.shown
	res.Briefing.Text = strings.TrimRight(cmp.Or(s.String(), "Nothing that fits is known yet. Learn what you find."), "\n")
}
