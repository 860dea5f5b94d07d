package vector

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/ncruces/go-sqlite3"
)

// The virtual table is read-only and stores nothing: it passes a query vector to a
// search and lists the hits, best first.

// The columns, in the order of the declaration.
const (
	columnID = iota
	columnSimilarity
	columnDistance
	columnEmbedding
	columnK
)

// The plans that BestIndex chooses from, with the arguments of Filter.
const (
	planSearch   = iota // embedding, k
	planNoK             // embedding
	planNoVector        // no usable embedding
)

const (
	searchRows   = 100 // a typical k
	searchCost   = 10_000
	hopelessCost = 1e12

	declaration = `CREATE TABLE x(memory_id INTEGER, similarity REAL, distance REAL, embedding BLOB HIDDEN, k INTEGER HIDDEN)`
)

// Register creates a virtual table on one connection that finds nearest neighbours:
//
//	SELECT memory_id, similarity FROM memories_vec WHERE embedding MATCH ? AND k = ?
//
// The table is called name and needs no CREATE. embedding is a blob of little-endian
// float32 of any length but zero; k is 1 to [MaxN]. The columns are memory_id,
// similarity (the cosine) and distance (1 - similarity), best first. Other conditions
// apply to the k rows that were found. search gets the unit vector; it may use the
// same connection but must not begin or end a transaction. Its errors become those of
// the statement. The function vector_float32 decodes a stored vector for vec1.
func Register(c *sqlite3.Conn, name string, search func(unit []float32, k int) ([]Hit, error)) error {
	err := c.CreateFunction("vector_float32", 1, sqlite3.DETERMINISTIC|sqlite3.INNOCUOUS, func(ctx sqlite3.Context, arg ...sqlite3.Value) {
		raw, _ := binary.Append(nil, binary.LittleEndian, Decode(arg[0].RawBlob()))
		ctx.ResultBlob(raw)
	})
	//lint:ignore SA1019 the method that replaces it needs Go 1.27
	return errors.Join(err, sqlite3.CreateModule(c, name, nil,
		func(c *sqlite3.Conn, _, _, _ string, _ ...string) (*table, error) {
			return &table{name, search}, c.DeclareVTab(declaration)
		}))
}

type table struct {
	name   string
	search func(unit []float32, k int) ([]Hit, error)
}

// BestIndex chooses the plan. A plan that cannot be executed has such a high cost that
// SQLite uses it only if there is no other; Filter then returns what is missing.
func (t *table) BestIndex(info *sqlite3.IndexInfo) error {
	embedding, k := -1, -1
	for i, c := range info.Constraint {
		switch {
		case !c.Usable: // the value comes from a table that this join order reads later
		case c.Column == columnEmbedding && embedding < 0 &&
			(c.Op == sqlite3.INDEX_CONSTRAINT_MATCH || c.Op == sqlite3.INDEX_CONSTRAINT_EQ):
			embedding = i
		case c.Column == columnK && k < 0 && c.Op == sqlite3.INDEX_CONSTRAINT_EQ:
			k = i
		}
	}
	info.EstimatedCost, info.EstimatedRows = hopelessCost, searchRows
	if embedding < 0 {
		info.IdxNum = planNoVector
		return nil
	}
	info.ConstraintUsage[embedding] = sqlite3.IndexConstraintUsage{ArgvIndex: 1, Omit: true}
	if k < 0 {
		info.IdxNum = planNoK
		return nil
	}
	info.ConstraintUsage[k] = sqlite3.IndexConstraintUsage{ArgvIndex: 2, Omit: true}
	info.IdxNum, info.EstimatedCost = planSearch, searchCost
	info.OrderByConsumed = inOrder(info.OrderBy)
	return nil
}

func inOrder(by []sqlite3.IndexOrderBy) bool {
	similarity := sqlite3.IndexOrderBy{Column: columnSimilarity, Desc: true}
	return slices.Equal(by, []sqlite3.IndexOrderBy{similarity}) ||
		slices.Equal(by, []sqlite3.IndexOrderBy{similarity, {Column: columnID}}) ||
		slices.Equal(by, []sqlite3.IndexOrderBy{{Column: columnDistance}})
}

// Open returns a cursor.
func (t *table) Open() (sqlite3.VTabCursor, error) { return &cursor{table: t}, nil }

type cursor struct {
	table *table
	hits  []Hit
}

// Filter runs the search.
func (c *cursor) Filter(plan int, _ string, arg ...sqlite3.Value) error {
	c.hits = nil
	switch plan {
	case planNoVector:
		return fmt.Errorf("%s: say WHERE embedding MATCH ? AND k = ?", c.table.name)
	case planNoK:
		return fmt.Errorf("%s: say how many: AND k = ?", c.table.name)
	}
	unit, err := unitOf(arg[0])
	if err != nil {
		return fmt.Errorf("%s: %w", c.table.name, err)
	}
	if arg[1].Type() != sqlite3.INTEGER || arg[1].Int64() < 1 || arg[1].Int64() > MaxN {
		return fmt.Errorf("%s: k is %s, want an integer from 1 to %d", c.table.name, arg[1].Text(), MaxN)
	}
	if c.hits, err = c.table.search(unit, arg[1].Int()); err != nil {
		return fmt.Errorf("%s: %w", c.table.name, err)
	}
	return nil
}

// unitOf reads a blob and normalises it to length 1.
func unitOf(value sqlite3.Value) ([]float32, error) {
	if value.Type() != sqlite3.BLOB {
		return nil, errors.New("embedding MATCH wants a blob of little-endian float32")
	}
	raw := value.RawBlob()
	unit := make([]float32, len(raw)/4)
	if n, _ := binary.Decode(raw, binary.LittleEndian, unit); n != len(raw) {
		return nil, fmt.Errorf("%d bytes are no vector of float32", len(raw))
	}
	if unit = Unit(unit); unit == nil {
		return nil, errors.New("embedding MATCH wants a vector of finite numbers that is not zero")
	}
	return unit, nil
}

// EOF reports whether all hits were listed.
func (c *cursor) EOF() bool { return len(c.hits) == 0 }

// Next moves to the next hit.
func (c *cursor) Next() error {
	c.hits = c.hits[1:]
	return nil
}

// RowID is the memory's id.
func (c *cursor) RowID() (int64, error) { return c.hits[0].ID, nil }

// Column returns one value of the hit; the hidden columns are NULL.
func (c *cursor) Column(ctx sqlite3.Context, n int) error {
	switch hit := c.hits[0]; n {
	case columnID:
		ctx.ResultInt64(hit.ID)
	case columnSimilarity:
		ctx.ResultFloat(hit.Similarity)
	case columnDistance:
		ctx.ResultFloat(1 - hit.Similarity)
	}
	return nil
}
