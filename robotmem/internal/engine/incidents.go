package engine

import (
	"cmp"
	"context"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/robotmem/robotmem-go/consolidate"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/admin"
	"github.com/robotmem/robotmem-go/robotmem/internal/index"
	"github.com/robotmem/robotmem-go/robotmem/internal/record"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
	"github.com/robotmem/robotmem-go/robotmem/internal/text"
)

const (
	maxIncidents  = 5000 // failed memories, and failed episodes, that are read: the newest
	maxGroups     = 20
	maxLines      = 20
	maxNames      = 200
	sameIncident  = 0.5 // share of common words of texts about the same failure
	maxCandidates = 200 // groups of one task that a text is compared with, the newest
)

func (n *Engine) Incidents(ctx context.Context, req *admin.IncidentsRequest) (*admin.IncidentsResponse, error) {
	return read(ctx, n, "incidents", req, func(c *store.Conn, r *admin.IncidentsRequest, res *admin.IncidentsResponse) error {
		all, degraded, err := n.incidents(c, r.Collection)
		if err != nil {
			return err
		}

		res.Page, res.Limit, res.Degraded = r.Page, r.Limit, degraded

		// The names are collected before the selection, so that a caller can choose another robot or task.
		res.Robots = namesOf(all, func(i *admin.Incident) string { return i.Robot })
		res.Tasks = namesOf(all, func(i *admin.Incident) string { return i.Task })
		all = slices.DeleteFunc(all, func(i admin.Incident) bool { return !selects(r, &i) })
		res.Total, res.Groups, res.Lines = len(all), groupsOf(all), linesOf(all)
		slices.SortStableFunc(all, func(a, b admin.Incident) int {
			if r.Sort == "repeats" {
				return cmp.Compare(b.Repeats, a.Repeats)
			}
			return cmp.Compare(sortKey(r.Sort, &a), sortKey(r.Sort, &b))
		})
		from := min((r.Page-1)*r.Limit, len(all))

		res.Incidents = append([]admin.Incident{}, all[from:min(from+r.Limit, len(all))]...)

		// Each incident takes a query, so only those of the page are completed.
		for i := range res.Incidents {
			if err := c.ShownBy(&res.Incidents[i]); err != nil {
				return err
			}
		}

		for i := range res.Lines {
			if err := c.ShownBy(&res.Lines[i].Last); err != nil {
				return err
			}
		}

		return nil
	})
}

// sortKey returns the text that a list is sorted by. Incidents without it come last.
func sortKey(by string, i *admin.Incident) string {
	key := map[string]string{"robot": i.Robot, "task": i.Task}[by]
	if by == "episodes" && i.Kind == "session" {
		key = i.Kind
	}
	if by == "place" && i.Place != nil {
		key = fmt.Sprint(i.Place)
	}

	return cmp.Or(key, string(unicode.MaxRune))
}

// incidents returns all incidents of a collection, newest first.
func (n *Engine) incidents(c *store.Conn, collection string) ([]admin.Incident, []string, error) {
	set, err := n.matching(c, index.Selection{Scope: index.Scope{Collection: collection}},
		robotmem.Object{"outcome": robotmem.OutcomeFailure})
	if err != nil {
		return nil, nil, err
	}

	memories, degraded, err := c.Newest(n.index.Columns.ObservedTimes(set), maxIncidents, n.Now())
	if err != nil {
		return nil, nil, err
	}

	var sessions robotmem.SessionsResponse
	if err := c.Sessions(&robotmem.SessionsRequest{Collection: collection, Outcome: robotmem.OutcomeFailure, Page: 1, Limit: maxIncidents}, nil, &sessions); err != nil {
		return nil, nil, err
	}

	degraded = append(degraded, sessions.Degraded...)
	if set.Count() > maxIncidents || sessions.Total > maxIncidents {
		degraded = append(degraded,
			fmt.Sprintf("only the newest %d failed memories and episodes are listed", maxIncidents))
	}

	episodes := map[string]*robotmem.Session{}
	for i := range sessions.Sessions {
		episodes[sessions.Sessions[i].SessionID] = &sessions.Sessions[i]
	}

	out := []admin.Incident{}
	teller := map[string]*robotmem.Memory{} // by episode

	// A fact describes the failure of its episode. A failed perception of the same episode would be a second incident
	// of the same failure.
	told := map[string]bool{} // episodes with a failed fact
	for i := range memories {
		told[memories[i].SessionID] = told[memories[i].SessionID] ||
			memories[i].SessionID != "" && memories[i].Type == "fact"
	}

	for i := range memories {
		m := &memories[i]
		if _, lesson := m.Context["resolves"]; lesson {
			continue // it tells what failed
		}
		if episodes[m.SessionID] == nil {
			// A perception is skipped if a fact of its episode describes the failure.
			if m.Type == "fact" || !told[m.SessionID] {
				out = append(out, incidentOf(m, nil))
			}
		} else if best := teller[m.SessionID]; best == nil || tells(m) > tells(best) {
			teller[m.SessionID] = m
		}
	}

	for id, s := range episodes {
		out = append(out, incidentOf(teller[id], s))
	}

	slices.SortFunc(out, func(a, b admin.Incident) int {
		return cmp.Or(b.At.Compare(a.At), cmp.Compare(b.MemoryID, a.MemoryID),
			strings.Compare(a.SessionID, b.SessionID))
	})
	group(out)

	return out, degraded, n.resolve(c, collection, out)
}

// tells ranks the memories of a failed episode by what they say of the failure.
func tells(m *robotmem.Memory) int {
	switch {
	case m.Type != "fact":
		return 0
	}
	return 1
}

// incidentOf makes the incident of a memory, of an episode, or of both.
func incidentOf(m *robotmem.Memory, s *robotmem.Session) admin.Incident {
	i := admin.Incident{Kind: "memory"}
	if m != nil {
		i.MemoryID, i.SessionID, i.Collection, i.At, i.Said = m.MemoryID, m.SessionID, m.Collection, m.ObservedAt, m.Content
		i.Robot, i.Task, i.Place = record.RobotOf(m.Context), record.TaskOf(m.Context), m.Spatial
		i.Object = record.ObjectOf(m.Context)
		if m.Type == "perception" {
			i.PerceptionID, i.PerceptionType, i.MediaType, i.Summary = m.MemoryID, m.PerceptionType, m.MediaType, m.Summary
		}
	}

	// What was found in a recording names the episode that holds it.
	if m != nil {
		if source, ok := m.Context["source"].(map[string]any); ok && m.Type == "fact" {
			i.Evidence, _ = source["session_id"].(string)
		}
	}

	if s != nil {
		i.Kind, i.SessionID, i.Collection = "session", s.SessionID, s.Collection
		i.Robot, i.Task = cmp.Or(i.Robot, record.RobotOf(s.Context)), cmp.Or(i.Task, record.TaskOf(s.Context))
		i.Object = cmp.Or(i.Object, record.ObjectOf(s.Context))
		if i.Place == nil {
			i.Place = s.Context["spatial"]
		}
		if m == nil {
			if i.At = s.CreatedAt; s.EndedAt != nil {
				i.At = *s.EndedAt
			}
		}
	}

	return i
}

// group finds what happened repeatedly: incidents of one collection, task and object whose texts
// share half of their words, without numbers. all is newest first.
func group(all []admin.Incident) {
	type known struct {
		key, object string
		words       []string
		count       int
		first       time.Time
	}
	byTask := map[[2]string][]*known{}
	taken := map[string]bool{}

	// The oldest comes first, so that the first incident of a group gets the count 1 and later ones are repeats.
	for k := len(all) - 1; k >= 0; k-- {
		i := &all[k]
		task := [2]string{i.Collection, i.Task}
		words := slices.DeleteFunc(text.Stems(i.Said), func(w string) bool {
			return !strings.ContainsFunc(w, unicode.IsLetter) || strings.ContainsAny(w, "0123456789")
		})

		var g *known
		best := 0.0

		for _, old := range byTask[task][max(0, len(byTask[task])-maxCandidates):] {
			if old.object != "" && i.Object != "" && old.object != i.Object {
				continue // a glass that slips is no repeat of a plate that slips
			}

			// Without an object several groups may share half of the words. The one with the most is meant.
			share := consolidate.Jaccard(words, old.words)
			if len(words)+len(i.Task) > 0 && slices.Equal(words, old.words) {
				share = 1
			}
			if share >= sameIncident && share > best {
				g, best = old, share
			}
		}
		if g == nil {
			h := fnv.New64a()
			if fmt.Fprintf(h, "%q%q", task, words); len(words)+len(i.Task) == 0 {
				// Without words and a task nothing shows that two incidents are the same.
				fmt.Fprint(h, i.SessionID, i.MemoryID)
			}

			// Facts that resolve a group hold its key, so the object is part of a key only where two objects share
			// their words.
			if taken[fmt.Sprintf("%016x", h.Sum64())] {
				fmt.Fprintf(h, "%q", i.Object)
			}
			g = &known{key: fmt.Sprintf("%016x", h.Sum64()), words: words, first: i.At}
			byTask[task] = append(byTask[task], g)
			taken[g.key] = true
		}
		g.object = cmp.Or(g.object, i.Object)
		g.count++
		i.Group, i.Repeats, i.FirstAt = g.key, g.count, g.first
	}
}

// resolve notes the facts that resolve incidents, the newest of each. all is newest first.
func (n *Engine) resolve(c *store.Conn, collection string, all []admin.Incident) error {
	exists := map[string]any{"$exists": true}
	set, err := n.matching(c, index.Selection{Scope: index.Scope{Collection: collection}}, robotmem.Object{"$or": []any{
		map[string]any{"resolves.session_id": exists}, map[string]any{"resolves.memory_id": exists}, map[string]any{"resolves.group": exists},
	}})
	if err != nil {
		return err
	}

	lessons, _, err := c.Newest(n.index.Columns.ObservedTimes(set), maxIncidents, n.Now())
	if err != nil {
		return err
	}

	by := map[string]*robotmem.Memory{}

	for i := range lessons {
		what, _ := lessons[i].Context["resolves"].(map[string]any)
		for key, value := range what {
			// The newest lessons come first, and an older one does not replace them.
			if name := fmt.Sprint(key, " ", value); by[name] == nil {
				by[name] = &lessons[i]
			}
		}
	}

	for i := range all {
		in := &all[i]
		m := by[fmt.Sprint("memory_id ", in.MemoryID)]
		if own := by["session_id "+in.SessionID]; own != nil && in.Kind == "session" {
			m = own
		}

		// A lesson about a group resolves the incidents before it only: a later one happened in spite of the lesson.
		if whole := by["group "+in.Group]; m == nil && whole != nil && !whole.ObservedAt.Before(in.At) {
			m = whole
		}
		if m != nil {
			in.Resolved = &admin.Resolved{MemoryID: m.MemoryID, At: m.ObservedAt, Lesson: m.Content}
		}
	}

	return nil
}

func selects(r *admin.IncidentsRequest, i *admin.Incident) bool {
	words := strings.ToLower(strings.Join([]string{i.Said, i.Robot, i.Task, fmt.Sprint(i.Place)}, "\n"))

	return (r.Robot == "" || i.Robot == r.Robot) && (r.Task == "" || i.Task == r.Task) && (r.Group == "" ||
		i.Group == r.Group) &&
		(r.SessionID == "" || i.Kind == "session" && i.SessionID == r.SessionID) && (r.MemoryID == 0 ||
		i.MemoryID == r.MemoryID) &&
		(r.Resolved == nil || *r.Resolved == (i.Resolved != nil)) && (r.After == nil || !i.At.Before(*r.After)) && (r.Before == nil ||
		i.At.Before(*r.Before)) &&
		strings.Contains(words, strings.ToLower(r.Words))
}

// groupsOf returns what happened at least twice. all is newest first.
func groupsOf(all []admin.Incident) []admin.IncidentGroup {
	by := map[string]*admin.IncidentGroup{}

	for k := range all {
		i := &all[k]
		g := by[i.Group]
		if g == nil {
			g = &admin.IncidentGroup{Group: i.Group, Collection: i.Collection, Task: i.Task, Said: i.Said, LastAt: i.At}
			by[i.Group] = g
		}

		// The newest come first, so the last one seen is the first that happened.
		g.Count, g.FirstAt = g.Count+1, i.At
		if i.Resolved == nil {
			g.Open++
		}
		if len(i.Said) < len(g.Said) {
			g.Said = i.Said
		}
	}

	out := []admin.IncidentGroup{}

	for g := range maps.Values(by) {
		if g.Count > 1 {
			out = append(out, *g)
		}
	}

	slices.SortFunc(out, func(a, b admin.IncidentGroup) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), b.LastAt.Compare(a.LastAt), strings.Compare(a.Group, b.Group))
	})

	return out[:min(len(out), maxGroups)]
}

// linesOf counts the incidents of each robot and task. all is newest first.
func linesOf(all []admin.Incident) []admin.IncidentLine {
	by := map[[3]string]*admin.IncidentLine{}

	for k := range all {
		i := &all[k]
		key := [3]string{i.Collection, i.Robot, i.Task}
		l := by[key]
		if l == nil {
			l = &admin.IncidentLine{Collection: i.Collection, Robot: i.Robot, Task: i.Task, Last: *i}
			by[key] = l
		}

		if i.Kind == "session" {
			// The newest failed episode represents the line, even if a single fact is newer.
			if l.Episodes == 0 {
				l.Last = *i
			}
			l.Episodes++
		} else {
			l.Facts++
		}
		if i.Resolved == nil {
			l.Open++
		}
	}

	out := []admin.IncidentLine{}
	for _, l := range by {
		out = append(out, *l)
	}

	slices.SortFunc(out, func(a, b admin.IncidentLine) int {
		return cmp.Or(cmp.Compare(min(b.Episodes, 1), min(a.Episodes, 1)), b.Last.At.Compare(a.Last.At),
			strings.Compare(a.Collection+"\n"+a.Robot+"\n"+a.Task, b.Collection+"\n"+b.Robot+"\n"+b.Task))
	})

	return out[:min(len(out), maxLines)]
}

func namesOf(all []admin.Incident, name func(*admin.Incident) string) []string {
	set := map[string]bool{}

	for i := range all {
		if n := name(&all[i]); n != "" {
			set[n] = true
		}
	}
	out := append([]string{}, slices.Sorted(maps.Keys(set))...)

	return out[:min(len(out), maxNames)]
}
