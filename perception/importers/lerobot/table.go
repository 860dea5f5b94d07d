package lerobot

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/parquet-go/parquet-go"

	"github.com/robotmem/robotmem-go/perception/importers"
)

// table is a parquet file that is read column by column, row group by row group.
type table struct{ *parquet.File }

// guard turns a panic of the parquet library about damaged bytes into an error. readFooter and
// checkPages refuse files that would exhaust memory or the stack before.
func guard(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("the parquet data is damaged: %v", p)
	}
}

func openTable(r io.ReaderAt, size int64) (t table, err error) {
	defer guard(&err)
	if _, err := readFooter(r, size); err != nil {
		return t, err
	}
	// The indexes and filters are not used, and reading them would only add another part that may be damaged.
	t.File, err = parquet.OpenFile(r, size, parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true))

	return t, err
}

// openFile opens a parquet file. The caller closes the file.
func openFile(root *os.Root, name string) (t table, f *os.File, err error) {
	f, info, err := importers.OpenFile(root, name)
	if err != nil {
		return t, nil, err
	}
	if t, err = openTable(f, info.Size()); err != nil {
		return t, nil, errors.Join(err, f.Close())
	}

	return t, f, nil
}

// leaf returns the column of a name, nil if there is none. It descends into lists, whose
// inner names depend on the writer: a column observation.state of lists of floats is found
// as observation.state.
func (t table) leaf(name string) *parquet.Column {
	c := t.Root().Column(name)
	for c != nil && !c.Leaf() {
		if len(c.Columns()) != 1 {
			return nil
		}
		c = c.Columns()[0]
	}

	return c
}

// field is a column that is read, and what takes its values.
type field struct {
	column *parquet.Column
	set    func(parquet.Value) error
}

// cursor reads one column of one row group.
type cursor struct {
	field
	values parquet.ColumnChunkValueReader
	buf    [256]parquet.Value
	ready  []parquet.Value // the part of buf that was not returned yet
}

// open checks the pages of a column in a row group and returns a cursor before the first row. It takes
// their memory from what is left.
func (t table) open(group int, f field, left *int64) (_ *cursor, err error) {
	defer guard(&err)
	at := f.column.Index()
	columns := t.Metadata().RowGroups[group].Columns
	if at >= len(columns) {
		return nil, fmt.Errorf("row group %d has %d columns; the schema has more", group, len(columns))
	}
	memory, err := checkPages(t, t.Size(), &columns[at].MetaData)
	if err != nil {
		return nil, err
	}
	if *left -= memory; *left < 0 {
		return nil, fmt.Errorf("the pages of the columns up to this one take more than %d bytes; write smaller pages",
			int64(maxPages))
	}

	return &cursor{field: f, values: parquet.NewColumnChunkValueReader(t.RowGroups()[group].ColumnChunks()[at])}, nil
}

// fill reads values until at least one is ready. Values point into their page, which is valid
// until the next page is read; therefore rows are read one at a time.
func (c *cursor) fill() error {
	if len(c.ready) > 0 {
		return nil
	}
	n, err := c.values.ReadValues(c.buf[:])
	c.ready = c.buf[:n]
	return err
}

// row sets the values of the next row: those of the list, or one null for an empty
// list. The bytes of a value that is not in a list are valid until the next row.
func (c *cursor) row() (err error) {
	defer guard(&err)

	for first := true; first || c.column.MaxRepetitionLevel() > 0; first = false {
		err := c.fill()
		switch {
		case err == io.EOF && first:
			return errors.New("the column has fewer rows than its row group")
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		}
		v := c.ready[0]
		// Level 0 begins the next row. The value stays for the next call.
		if !first && v.RepetitionLevel() == 0 {
			return nil
		}
		c.ready = c.ready[1:]
		if err := c.set(v); err != nil {
			return err
		}
	}

	return nil
}

// rows reads columns in parallel through a row group. It sets every value, and calls next
// after every row. A panic of set becomes an error, one of next does not.
func (t table) rows(group int, fields []field, next func() error) error {
	cursors := make([]*cursor, 0, len(fields))
	defer func() {
		for _, c := range cursors {
			c.values.Close()
		}
	}()

	left := int64(maxPages)
	for _, f := range fields {
		c, err := t.open(group, f, &left)
		if err != nil {
			return fmt.Errorf("column %s: %w", f.column.Path()[0], err)
		}
		cursors = append(cursors, c)
	}

	// Row by row rather than column by column: a row group may hold many episodes, and only one is kept in memory.
	for range t.Metadata().RowGroups[group].NumRows {
		for _, c := range cursors {
			if err := c.row(); err != nil {
				return fmt.Errorf("column %s: %w", c.column.Path()[0], err)
			}
		}
		if err := next(); err != nil {
			return err
		}
	}

	return nil
}

func number(v parquet.Value) (float64, bool) {
	// Null has a kind of its own.
	switch v.Kind() {
	case parquet.Boolean:
		if v.Boolean() {
			return 1, true
		}
		return 0, true
	case parquet.Int32:
		return float64(v.Int32()), true
	case parquet.Int64:
		return float64(v.Int64()), true
	case parquet.Float:
		return float64(v.Float()), true
	case parquet.Double:
		return v.Double(), true
	}

	return 0, false
}
