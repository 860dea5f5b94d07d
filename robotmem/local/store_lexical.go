package local

import (
	"cmp"
	"strings"

	"github.com/ncruces/go-sqlite3"
	"github.com/robotmem/robotmem-go/robotmem/internal/lexical"
	"github.com/robotmem/robotmem-go/robotmem/internal/text"
)

// lexicalSignal ranks by the words of the question, within the admitted set.
// Memories that share only stop words with it come after all others, and only
// where no other list finds more. When relevance has a floor and no other list
// is merged, the list goes on to the last match.
func (e *Engine) lexicalSignal(c *conn, q *question, a *admitted) ([]ranked, error) {
	limit := q.depth()
	switch {
	case q.fused():
		limit = q.listDepth()
	case q.MinRelevance > 0:
		limit = -1
	}
	items, err := e.search(c, q, a, q.words(), limit)
	if err != nil || len(items) >= q.N || len(q.stop) == 0 || q.lookout != nil {
		return items, err
	}
	more, err := e.search(c, q, a, wanted{terms: q.stop}, limit)
	if err != nil {
		return nil, err
	}
	have := map[int64]bool{}
	for _, r := range items {
		have[r.id] = true
	}
	q.stopOnly = map[int64]bool{}
	for _, r := range more {
		if !have[r.id] {
			items = append(items, ranked{r.id, 0})
			q.stopOnly[r.id] = true
		}
	}
	return items, nil
}

// search ranks the admitted memories that hold any of the terms. A negative limit
// is none.
func (e *Engine) search(c *conn, q *question, a *admitted, w wanted, limit int) ([]ranked, error) {
	index, err := e.index.words.at(c)
	if err != nil {
		return nil, err
	}
	switch {
	case index != nil:
		return searchWords(index, q.Collection, a, w, limit), nil
	case q.wordsErr != nil:
		return nil, q.wordsErr
	}
	return nil, silent(wordsNotRead) // a repair has dropped it
}

// better orders by value, the larger first, ties by id.
func better(x, y ranked) int { return cmp.Or(cmp.Compare(y.value, x.value), cmp.Compare(x.id, y.id)) }

// documentsSince reads the next memories that changed after a revision, as the
// postings index wants them, and how far it came.
func (c *conn) documentsSince(revision, most int64) (put []lexical.Document, remove []int64, upto int64, err error) {
	upto = revision
	err = c.Query(`SELECT m.id, m.collection, m.status = 'active', m.revision, f.content, f.human_summary, f.scope_files, f.scope_entities
		FROM memories m LEFT JOIN memories_fts f ON f.rowid = m.id
		WHERE m.revision > ? ORDER BY m.revision LIMIT ?`, []any{revision, most}, func(s *sqlite3.Stmt) error {
		upto = s.ColumnInt64(3)
		if !s.ColumnBool(2) {
			remove = append(remove, s.ColumnInt64(0))
			return nil
		}
		var terms []string
		for column := 4; column < 8; column++ {
			for _, t := range strings.Fields(s.ColumnText(column)) {
				terms = append(terms, text.Stem(t))
			}
		}
		put = append(put, lexical.Document{ID: s.ColumnInt64(0), Collection: s.ColumnText(1), Terms: terms})
		return nil
	})
	return put, remove, upto, err
}
