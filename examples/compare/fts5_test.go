//go:build cgo && (sqlite_fts5 || fts5)

package main

import (
	"database/sql"
	"math"
	"strings"
	"testing"

	taxonomy "github.com/robotmem/robotmem-go"
	"github.com/robotmem/robotmem-go/classify"
)

// SQLite's bm25() gives the same scores for the same terms, which confirms the correct
// results independently of the node.
func TestExhaustiveSearchEqualsBM25OfSQLite(t *testing.T) {
	c := testCorpus(t)
	truth := newTruth(c, silent)
	if err := truth.index(); err != nil {
		t.Fatal(err)
	}
	rules, err := classify.Parse(taxonomy.YAML)
	if err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite3", ":memory:")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	if _, err := db.Exec(`CREATE VIRTUAL TABLE f USING fts5(body, tokenize = "porter unicode61 remove_diacritics 2 categories 'L* N* Mn Mc' tokenchars '._/:-'")`); err != nil {
		t.Fatal(err)
	}
	for row, s := range c.texts {
		if _, err := db.Exec(`INSERT INTO f(rowid, body) VALUES(?, ?)`, row, strings.Join(terms(rules, s), " ")); err != nil {
			t.Fatal(err)
		}
	}
	for i := range c.questions {
		q := &c.questions[i]
		want := map[int]float64{}
		rows, err := db.Query(`SELECT rowid, -bm25(f) FROM f WHERE f MATCH ?`, `"`+strings.Join(strings.Fields(q.text), `" OR "`)+`"`)
		if err != nil {
			t.Fatal(err)
		}
		for rows.Next() {
			var row int
			var score float64
			if err := rows.Scan(&row, &score); err != nil {
				t.Fatal(err)
			}
			want[row] = score
		}
		if err := rows.Err(); err != nil {
			t.Fatal(err)
		}
		got := truth.words(q, false, ofFTS5)
		if len(got) != len(want) || len(got) == 0 {
			t.Errorf("%q: %d rows, want %d", q.text, len(got), len(want))
		}
		for _, s := range got {
			if math.Abs(s.score-want[s.row]) > 1e-6 {
				t.Errorf("%q: row %d scores %v, want %v", q.text, s.row, s.score, want[s.row])
			}
		}
	}
}
