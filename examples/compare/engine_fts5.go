//go:build cgo && (sqlite_fts5 || fts5)

package main

import (
	"context"
	"database/sql"
	"errors"
	"strings"

	_ "github.com/mattn/go-sqlite3" // the driver "sqlite3": SQLite in C
)

// fts5Missing is empty, because this program contains SQLite with FTS5.
const fts5Missing = ""

// fts5 is SQLite in C with its full-text index, in memory, with one connection.
// ORDER BY rank and a file with a WAL are slower.
type fts5 struct {
	db                        *sql.DB
	all, post, joined, subset *sql.Stmt
}

func newFTS5() engine { return &fts5{} }

const (
	// Only the rowid is selected, so that no text is read.
	fts5All = `SELECT rowid FROM facts_fts WHERE facts_fts MATCH ? ORDER BY bm25(facts_fts) LIMIT 50`
	// The filter applies to the first 50 results of the search without a filter, as
	// in programs that filter after the search.
	fts5Post = `SELECT f.id FROM (SELECT rowid AS id, bm25(facts_fts) AS score FROM facts_fts
		WHERE facts_fts MATCH ? ORDER BY score LIMIT 50) t JOIN facts f ON f.id = t.id WHERE f.trial = 'rare' ORDER BY t.score`
	fts5Joined = `SELECT f.id FROM facts_fts JOIN facts f ON f.id = facts_fts.rowid
		WHERE facts_fts MATCH ? AND f.trial = 'rare' ORDER BY bm25(facts_fts) LIMIT 10`
	// The plus prevents a plan that looks up each row of the subset in the full-text
	// index, which takes ten times as long.
	fts5Subset = `SELECT rowid FROM facts_fts WHERE facts_fts MATCH ?
		AND +rowid IN (SELECT id FROM facts WHERE trial = 'rare') ORDER BY bm25(facts_fts) LIMIT 10`
)

func (f *fts5) load(ctx context.Context, c *corpus, clock *clock) (err error) {
	if f.db, err = sql.Open("sqlite3", ":memory:"); err != nil {
		return err
	}
	f.db.SetMaxOpenConns(1) // each connection has its own database in memory
	for _, s := range []string{
		`CREATE TABLE facts(id INTEGER PRIMARY KEY, trial TEXT NOT NULL)`,
		`CREATE INDEX facts_trial ON facts(trial)`,
		`CREATE VIRTUAL TABLE facts_fts USING fts5(insight, tokenize = 'porter unicode61')`,
	} {
		if _, err := f.db.ExecContext(ctx, s); err != nil {
			return err
		}
	}
	if err := f.insert(ctx, c, clock); err != nil {
		return err
	}
	for _, s := range []string{`INSERT INTO facts_fts(facts_fts) VALUES('optimize')`, `ANALYZE`} {
		if _, err := f.db.ExecContext(ctx, s); err != nil {
			return err
		}
	}
	for _, p := range []struct {
		stmt **sql.Stmt
		sql  string
	}{{&f.all, fts5All}, {&f.post, fts5Post}, {&f.joined, fts5Joined}, {&f.subset, fts5Subset}} {
		if *p.stmt, err = f.db.PrepareContext(ctx, p.sql); err != nil {
			return err
		}
	}
	return nil
}

func (f *fts5) insert(ctx context.Context, c *corpus, clock *clock) (err error) {
	tx, err := f.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, tx.Rollback())
		}
	}()
	fact, err := tx.PrepareContext(ctx, `INSERT INTO facts(id, trial) VALUES(?, ?)`)
	if err != nil {
		return err
	}
	words, err := tx.PrepareContext(ctx, `INSERT INTO facts_fts(rowid, insight) VALUES(?, ?)`)
	if err != nil {
		return err
	}
	for row, s := range c.texts {
		if _, err := fact.ExecContext(ctx, row, trial(c, row)); err != nil {
			return err
		}
		if _, err := words.ExecContext(ctx, row, s); err != nil {
			return err
		}
		if (row+1)%batchRows == 0 {
			clock.progress("inserted", row+1, c.len())
		}
	}
	return tx.Commit()
}

func (f *fts5) ways() []way {
	return []way{
		{"words", byFTS5, false, asker(f.all)},
		{"words, filter on the top 50", byFTS5, true, asker(f.post)},
		{"words, filter joined", byFTS5, true, asker(f.joined)},
		{"words, filter as a subset", byFTS5, true, asker(f.subset)},
	}
}

func asker(stmt *sql.Stmt) func(context.Context, *question) ([]int, error) {
	return func(ctx context.Context, q *question) (found []int, err error) {
		// The words of a query contain only a to z, so no escaping is needed.
		match := `"` + strings.Join(strings.Fields(q.text), `" OR "`) + `"`
		rows, err := stmt.QueryContext(ctx, match)
		if err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, rows.Close()) }()
		for rows.Next() {
			var id int
			if err := rows.Scan(&id); err != nil {
				return nil, err
			}
			found = append(found, id)
		}
		return found, rows.Err()
	}
}

func (f *fts5) close() error {
	if f.db == nil {
		return nil
	}
	return f.db.Close()
}
