package robotmem

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/ncruces/go-sqlite3"
	"github.com/robotmem/robotmem-go/robotmem/internal/lexical"
	"github.com/robotmem/robotmem-go/robotmem/internal/text"
)

// BM25 as FTS5 has it: score = Σ idf · f (k1+1) / (f + k1 (1 − b + b · D/avgD)),
// idf = ln((N − df + ½) / (df + ½)), at least 1e-6 (Robertson, Zaragoza 2009).
// FTS5 scores every match of a question. A few memories are scored here
// instead, by the same formula with the index's own figures: the members of a
// small filtered set, and past states, which have left the index.
const (
	bm25K1     = 1.2
	bm25B      = 0.75
	bm25MinIDF = 1e-6

	// fewTerms is the length of all texts of a set, in terms, up to which
	// reading them is cheaper than walking every match of the question.
	fewTerms = 5000
)

const (
	searchAll    = "SELECT rowid, -bm25(memories_fts) AS score FROM memories_fts WHERE memories_fts MATCH ? ORDER BY score DESC, rowid LIMIT ?"
	searchWithin = "SELECT rowid, -bm25(memories_fts) AS score FROM memories_fts WHERE memories_fts MATCH ? AND admitted(rowid) ORDER BY score DESC, rowid LIMIT ?"
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

// search ranks the admitted memories that hold any of the terms: by the index
// in memory, or by FTS5 until that has been read. A negative limit is none.
func (e *Engine) search(c *conn, q *question, a *admitted, w wanted, limit int) ([]ranked, error) {
	index, err := e.words.at(c)
	if err != nil {
		return nil, err
	}
	if index != nil {
		return searchWords(index, q.Collection, a, w, limit), nil
	}
	e.rouseKeeper()
	if w.typing != nil && !slices.Contains(q.degraded, fewerLonger) {
		q.degraded = append(q.degraded, fewerLonger)
	}
	return e.searchFile(c, a, w, limit)
}

const fewerLonger = "bm25: the index of words is still being read; until then the last word of the query finds only words whose stem begins with its own"

// searchFile is search by FTS5, for which all words whose stem begins with that of
// an unfinished word are one more term.
func (e *Engine) searchFile(c *conn, a *admitted, w wanted, limit int) ([]ranked, error) {
	_, average, err := e.figures.weights(c, nil)
	if err != nil {
		return nil, err
	}
	var items []ranked
	if few := float64(a.set.Count())*average <= fewTerms; few || len(a.past) > 0 {
		if items, err = e.searchFew(c, a, w, few); err != nil || few {
			return items, err
		}
	}
	sql := searchWithin
	c.admit = a.set
	if a.all {
		sql, c.admit = searchAll, nil
	}
	defer func() { c.admit = nil }()
	past := len(items)
	err = c.query(sql, []any{matchExpression(w.patterns()), limit}, func(s *sqlite3.Stmt) error {
		items = append(items, ranked{s.ColumnInt64(0), s.ColumnFloat(1)})
		return nil
	})
	if past > 0 {
		slices.SortFunc(items, better)
	}
	return items, err
}

// better orders by value, the larger first, ties by id.
func better(x, y ranked) int { return cmp.Or(cmp.Compare(y.value, x.value), cmp.Compare(x.id, y.id)) }

// searchFew scores past states, and with present the whole admitted set.
func (e *Engine) searchFew(c *conn, a *admitted, w wanted, present bool) ([]ranked, error) {
	weights, average, err := e.figures.weights(c, w.patterns())
	if err != nil {
		return nil, err
	}
	var items []ranked
	score := func(id int64, words []string) {
		if s, ok := bm25(weights, words, average); ok {
			items = append(items, ranked{id, s})
		}
	}
	for id, s := range a.past {
		score(id, text.Terms(s.memory.Content))
	}
	for id, ok := a.set.NextSet(0); ok && present; id, ok = a.set.NextSet(id + 1) {
		_, err := c.one("SELECT content, human_summary, scope_files, scope_entities FROM memories_fts WHERE rowid = ?", []any{int64(id)}, func(s *sqlite3.Stmt) {
			score(int64(id), strings.Fields(s.ColumnText(0)+" "+s.ColumnText(1)+" "+s.ColumnText(2)+" "+s.ColumnText(3)))
		})
		if err != nil {
			return nil, err
		}
	}
	slices.SortFunc(items, better)
	return items, nil
}

// pattern is a term, or with longer all that begin with its stem.
type pattern struct {
	term   string
	longer bool
}

// patterns are the words as FTS5 can look for them.
func (w *wanted) patterns() (out []pattern) {
	for _, t := range w.terms {
		out = append(out, pattern{t, false})
		if w.typing != nil && !text.Stop(t) && slices.Contains(w.typing.Terms, t) {
			out = append(out, pattern{t, true})
		}
	}
	return out
}

// weighted is a pattern of the question, stemmed, with its idf.
type weighted struct {
	stem   string
	longer bool
	idf    float64
}

// in returns how often a text of these stems holds the pattern.
func (w *weighted) in(counts map[string]float64) (n float64) {
	if !w.longer {
		return counts[w.stem]
	}
	for stem, have := range counts {
		if strings.HasPrefix(stem, w.stem) {
			n += have
		}
	}
	return n
}

// bm25 scores one text; ok is false when it holds none of the terms. It adds
// up in the order of the terms, so that equal texts have equal scores.
func bm25(terms []weighted, words []string, average float64) (score float64, ok bool) {
	counts := make(map[string]float64, len(words))
	for _, w := range words {
		counts[text.Stem(w)]++
	}
	for _, t := range terms {
		if f := t.in(counts); f > 0 {
			ok = true
			score += t.idf * f * (bm25K1 + 1) / (f + bm25K1*(1-bm25B+bm25B*float64(len(words))/average))
		}
	}
	return score, ok
}

// figures are what BM25 needs to know of the whole index, kept until the next
// change of any memory.
type figures struct {
	mu       sync.Mutex // guards everything below
	revision int64
	rows     float64
	average  float64             // terms a row
	idf      map[pattern]float64 // by stem
}

// weights returns the terms with their idf, and the mean length of a row.
func (g *figures) weights(c *conn, terms []pattern) ([]weighted, float64, error) {
	revision, err := c.changes()
	if err != nil {
		return nil, 0, err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.idf == nil || g.revision != revision {
		rows, length, err := indexFigures(c)
		if err != nil {
			return nil, 0, err
		}
		// An index without a row counts as one, so that the mean is defined.
		g.revision, g.idf = revision, map[pattern]float64{}
		g.rows = max(1, float64(rows))
		g.average = max(1, float64(length)/g.rows)
	}
	out := make([]weighted, 0, len(terms))
	for _, t := range terms {
		stem := pattern{text.Stem(t.term), t.longer}
		weight, known := g.idf[stem]
		if !known {
			df, err := c.number("SELECT count(*) FROM memories_fts WHERE memories_fts MATCH ?", matchExpression([]pattern{t}))
			if err != nil {
				return nil, 0, err
			}
			weight = max(bm25MinIDF, math.Log((g.rows-float64(df)+0.5)/(float64(df)+0.5)))
			g.idf[stem] = weight
		}
		out = append(out, weighted{stem.term, stem.longer, weight})
	}
	return out, g.average, nil
}

// indexFigures returns the number of indexed rows and of their terms. FTS5
// keeps them as varints in its record of averages (id 1): rows, then the terms
// of each column.
func indexFigures(c *conn) (rows, terms uint64, err error) {
	var blob []byte
	_, err = c.one("SELECT block FROM memories_fts_data WHERE id = 1", nil, func(s *sqlite3.Stmt) { blob = s.ColumnBlob(0, nil) })
	if err != nil || len(blob) == 0 {
		return 0, 0, err
	}
	rows, size := sqliteVarint(blob)
	for blob = blob[size:]; len(blob) > 0; blob = blob[size:] {
		var n uint64
		n, size = sqliteVarint(blob)
		terms += n
	}
	return rows, terms, nil
}

// sqliteVarint reads SQLite's big-endian variable-length integer: seven bits a
// byte, the ninth byte whole.
func sqliteVarint(b []byte) (n uint64, size int) {
	for i, x := range b {
		if i == 8 {
			return n<<8 | uint64(x), 9
		}
		n = n<<7 | uint64(x&0x7f)
		if x < 0x80 {
			return n, i + 1
		}
	}
	return n, len(b)
}

// matchExpression is a full-text query for any of the terms.
func matchExpression(terms []pattern) string {
	var b strings.Builder
	for i, t := range terms {
		if i > 0 {
			b.WriteString(" OR ")
		}
		b.WriteByte('"')
		b.WriteString(strings.ReplaceAll(t.term, `"`, `""`))
		b.WriteByte('"')
		if t.longer {
			b.WriteByte('*')
		}
	}
	return b.String()
}

// documentsSince reads the next memories that changed after a revision, as the
// postings index wants them, and how far it came.
func (c *conn) documentsSince(revision, most int64) (put []lexical.Document, remove []int64, upto int64, err error) {
	upto = revision
	err = c.query(`SELECT m.id, m.collection, m.status = 'active', m.revision, f.content, f.human_summary, f.scope_files, f.scope_entities
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
