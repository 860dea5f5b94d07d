package salvage

import (
	"context"
	"slices"
	"strings"
)

// Plan says what to look for.
type Plan struct {
	Tables []Table
	// Progress, unless nil, is told how many of the pages were looked at.
	Progress func(done, total int64)
}

// schemaTable is the shape of sqlite_schema.
var schemaTable = Table{
	Name: "sqlite_schema", Keep: true,
	Columns: []Column{{Name: "type", Type: Text, NotNull: true}, {Name: "name", Type: Text, NotNull: true}, {Name: "tbl_name", Type: Text, NotNull: true}, {Name: "rootpage", Type: Integer}, {Name: "sql", Type: Text}},
	Fits: func(v []any) bool {
		kind, _ := v[0].(string)
		return slices.Contains([]string{"table", "index", "view", "trigger"}, kind)
	},
}

// Schema returns what can be read of the file's schema. The root of a table may
// be wrong where the schema itself is damaged.
func (f *File) Schema(ctx context.Context) ([]Entry, error) {
	entries, _, err := f.schema(ctx)
	return entries, err
}

func (f *File) schema(ctx context.Context) (entries []Entry, t *tree, err error) {
	known := map[string]bool{}
	s := f.newScan(ctx, func(r Row) error {
		e := Entry{Type: r.Values[0].(string), Name: r.Values[1].(string), Table: r.Values[2].(string)}
		root, _ := r.Values[3].(int64)
		if root > 0 && root <= int64(f.info.Pages) {
			e.Root = uint32(root)
		}
		e.SQL, _ = r.Values[4].(string)
		if !known[e.Name] {
			known[e.Name] = true
			entries = append(entries, e)
		}
		return nil
	}, func(uint32) {})
	t = &tree{shape: &schemaTable, root: 1}
	s.walk(t, 1, everything, 0)
	s.findTorn([]*tree{t})
	s.strays()
	return entries, t, s.err
}

// Rows finds the rows of the tables that are to be kept, and calls take for each:
// first for those that their trees lead to, in the order of the tables, then for
// those of stray pages. It ends with take's error or ctx's. What cannot be read
// is no error; the report counts it.
func (f *File) Rows(ctx context.Context, plan Plan, take func(Row) error) (*Report, error) {
	entries, _, err := f.schema(ctx)
	if err != nil {
		return nil, err
	}
	seen := func(uint32) {}
	if plan.Progress != nil {
		done, total := int64(0), int64(f.info.Pages)
		seen = func(uint32) {
			if done++; done%512 == 0 {
				plan.Progress(min(done, total), total)
			}
		}
	}
	s := f.newScan(ctx, take, seen)
	own := &tree{shape: &Table{Name: schemaTable.Name, Columns: schemaTable.Columns}, root: 1}
	s.walk(own, 1, everything, 0)

	tables := make([]*tree, len(plan.Tables))
	rest := slices.Clone(entries)
	for i := range plan.Tables {
		shape := &plan.Tables[i]
		tables[i] = &tree{shape: shape, index: i}
		at := slices.IndexFunc(rest, func(e Entry) bool { return e.Type == "table" && strings.EqualFold(e.Name, shape.Name) })
		if at >= 0 {
			tables[i].root = rest[at].Root
			rest = slices.Delete(rest, at, at+1)
		}
	}
	// What is wanted claims its pages before a damaged pointer of another can.
	for _, keep := range []bool{true, false} {
		for _, t := range tables {
			if t.shape.Keep == keep {
				s.walk(t, t.root, everything, 0)
			}
		}
	}
	s.findTorn(tables)
	for _, e := range rest {
		if e.Root > 1 {
			s.walk(&tree{root: e.Root}, e.Root, everything, 0)
		}
	}
	s.strays()
	s.lateRows(tables)
	for _, t := range tables {
		s.report.Tables = append(s.report.Tables, t.TableReport)
	}
	return &s.report, s.err
}
