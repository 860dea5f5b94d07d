package mcp

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/robotmem/robotmem-go/robotmem"
)

const (
	briefRules = 20 // rules of a briefing
	briefEach  = 8  // memories of each other sort
	// A line of a prompt shows so many characters of a text, and of the
	// parameters beside it.
	lineText   = 400
	lineParams = 200
	// defaultField holds the coordinates of a place that names none.
	defaultField = "spatial.position"
)

// asked is one question of a briefing, and the section that its answer fills.
type asked struct {
	title, none string
	request     robotmem.RecallRequest
}

// briefMe recalls for a task what holds always, what worked and what failed. A
// memory is told in the first section that finds it.
func (s *Server) briefMe(ctx context.Context, args map[string]string) (string, error) {
	task, collection := args["task"], args["collection"]
	place, words := placeOf(args["place"])
	if words != "" {
		task += ", " + words
	}
	ask := func(query string, n int, filter robotmem.Object) robotmem.RecallRequest {
		r := robotmem.RecallRequest{Query: query, Collection: collection, N: n, ContextFilter: filter}
		if args["tag"] != "" {
			r.Tags = []string{args["tag"]}
		}
		return r
	}
	questions := []asked{
		{"Rules", "None is known.", ask("", briefRules, robotmem.Object{"category": robotmem.Object{"$in": []any{"constraint", "preference"}}})},
		{"What worked", "Nothing like it is known to have worked here.", ask(task, briefEach, robotmem.Object{"task.success": true})},
		{"What failed", "Nothing like it is known to have failed here.", ask(task, briefEach, robotmem.Object{"task.success": false})},
		{"What else is known", "Nothing else.", ask(task, briefEach, nil)},
	}
	if place != nil {
		near := ask("", briefEach, nil)
		near.SpatialSort = place
		questions = append(questions, asked{"Near the place, nearest first", "Nothing is known of it.", near})
	}

	var p page
	p.line("I am about to do this: %s", clip(task, lineText))
	p.line("\nThis is what the memory of this robot holds on it. Read it before you act, and say in a few lines what you take from it: which values to use, what to avoid, what is not known yet.")
	seen := map[int64]bool{}
	for _, q := range questions {
		res, err := s.svc.Recall(ctx, &q.request)
		if err != nil {
			return "", err
		}
		var lines []string
		for _, m := range res.Memories {
			switch {
			case !seen[m.MemoryID]:
				lines = append(lines, briefLine(&m))
			case m.Distance != nil:
				lines = append(lines, fmt.Sprintf("[%d] as above, %.3g away", m.MemoryID, *m.Distance))
			}
			seen[m.MemoryID] = true
		}
		p.section(q.title, q.none, lines)
	}
	p.section("How to go on", "", []string{
		"For a task of several steps call start_session" + inCollection(collection) + ", and pass its session_id along with learn, save_perception and, as for_session, with recall.",
		"A memory is read whole with get, by the number in brackets; recall finds more.",
		"After each attempt call learn with its numbers and task.success, also when it failed.",
	})
	return p.String(), nil
}

func inCollection(name string) string {
	if name == "" || name == "*" {
		return ""
	}
	return fmt.Sprintf(" with collection %s", name)
}

// briefLine is a memory in one line, with the parameters that a task needs.
func briefLine(m *robotmem.Memory) string {
	text := fmt.Sprintf("[%d] %s (%s, confidence %.2f", m.MemoryID, clip(oneLine(m.Content), lineText), m.ObservedAt.UTC().Format("2006-01-02"), m.Confidence)
	if m.Distance != nil {
		text += fmt.Sprintf(", %.3g away", *m.Distance)
	}
	if m.MediaType != "" {
		text += ", a perception that preview shows"
	}
	text += ")"
	if m.Params != nil {
		if data, err := robotmem.EncodeJSON(m.Params); err == nil {
			text += " params " + clip(string(data), lineParams)
		}
	}
	return text
}

// placeOf reads coordinates out of a place, "1.2, 0.5" or
// "spatial.object_position: 1.2, 0.5, 0.8"; anything else is words.
func placeOf(place string) (at *robotmem.SpatialSort, words string) {
	field, numbers, named := strings.Cut(place, ":")
	if !named {
		field, numbers = defaultField, place
	}
	at = &robotmem.SpatialSort{Field: strings.TrimSpace(field)}
	for text := range strings.FieldsFuncSeq(numbers, func(r rune) bool { return strings.ContainsRune(" ,;[]()", r) }) {
		v, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return nil, place
		}
		at.Target = append(at.Target, v)
	}
	if len(at.Target) == 0 {
		return nil, place
	}
	return at, ""
}
