package store

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Query is the name of a query of this package. Its text is in the queries.sql of the package that runs it.
type Query struct{ name string }

// String returns the name of the query.
func (q Query) String() string { return q.name }

// Of returns the query over the vectors of a model.
func (q Query) Of(m *Model) Query { return Query{q.name + modelMark + strconv.FormatInt(m.ID, 10)} }

const (
	modelMark  = " of model "
	modelParam = "{model}"
)

// Statement is the text of a query in one dialect of SQL.
type Statement struct {
	SQL   string   // "" for a query that has nothing to do in this database
	Heads []string // further lines of its head
}

// ParseTexts reads a file of named texts. A text begins with a line "-- name: NAME" and further lines of its head,
// each a comment, and ends before the next head. The head "none" marks a query that has nothing to do in this
// database. ParseTexts fails unless every query of this package has one text, and the file has no other.
func ParseTexts(file string) (map[Query]Statement, error) {
	texts := make(map[Query]Statement, len(Queries))

	known := make(map[Query]bool, len(Queries))
	for _, q := range Queries {
		known[q] = true
	}

	_, file, _ = strings.Cut(file, nameLine)
	for part := range strings.SplitSeq(file, "\n"+nameLine) {
		name, body, _ := strings.Cut(part, "\n")
		q := Query{strings.TrimSpace(name)}

		var t Statement

		for strings.HasPrefix(body, "-- ") {
			head, rest, _ := strings.Cut(body, "\n")
			t.Heads = append(t.Heads, strings.TrimPrefix(head, "-- "))
			body = rest
		}
		t.SQL = strings.TrimSuffix(strings.TrimSpace(body), ";")

		_, twice := texts[q]
		switch none := slices.Contains(t.Heads, noText); {
		case twice:
			return nil, fmt.Errorf("the query %s has two texts", q)
		case !known[q]:
			return nil, fmt.Errorf("there is a text for %q, which is no query", q)
		case none != (t.SQL == ""):
			return nil, fmt.Errorf("the query %s needs a text, or the head %q without one", q, noText)
		}
		texts[q] = t
	}

	for _, q := range Queries {
		if _, found := texts[q]; !found {
			return nil, fmt.Errorf("the query %s has no text", q)
		}
	}

	return texts, nil
}

const (
	nameLine = "-- name: "
	noText   = "none"
)

// Find returns the text of a query, with the number of its model.
func Find(texts map[Query]Statement, q Query) (Statement, error) {
	name, model, ofModel := strings.Cut(q.name, modelMark)
	t, found := texts[Query{name}]
	if !found {
		return t, fmt.Errorf("there is no query %q", name)
	}
	if ofModel != strings.Contains(t.SQL, modelParam) && t.SQL != "" {
		return t, fmt.Errorf("the query %s needs a model, or takes none", name)
	}
	t.SQL = strings.ReplaceAll(t.SQL, modelParam, model)

	return t, nil
}

// Describer is what the connections of both databases can say of a query, for tests.
type Describer interface {
	Describe(q Query) (params, columns int, err error)
}
