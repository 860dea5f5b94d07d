package salvage

import "math"

// Table is what is known of a table beforehand: the shape of its rows.
type Table struct {
	Name string
	// Columns in the order in which they are stored: of a table WITHOUT ROWID
	// those of its key first.
	Columns []Column
	// Least is how many columns its oldest rows have: rows do not grow when a
	// column is added to a table. All, if zero.
	Least        int
	WithoutRowid bool
	// Keep says that its rows are wanted. The others are there to be told apart.
	Keep bool
	// Fits looks at a row of a stray page, whose shape is right: whether it can
	// be one of this table. nil takes all.
	Fits func(values []any) bool
}

// Column is a column's part of the shape.
type Column struct {
	Name    string
	Type    Type
	NotNull bool
	Key     bool // the number of the row itself, which is stored as NULL
}

// Type is what a column may hold.
type Type int

// The types, by the affinity of a column. A real number that is whole is stored
// as an integer.
const (
	Any Type = iota
	Integer
	Real
	Text
	Blob
)

// fits reports whether a record of these serial types may be of the table.
func (t *Table) fits(types []uint64) bool {
	least := t.Least
	if least == 0 {
		least = len(t.Columns)
	}
	if len(types) < least || len(types) > len(t.Columns) {
		return false
	}
	for i, serial := range types {
		c := &t.Columns[i]
		switch {
		case c.Key:
			if serial != 0 {
				return false
			}
		case serial == 0:
			if c.NotNull {
				return false
			}
		case !c.Type.takes(serial):
			return false
		}
	}
	return true
}

func (t Type) takes(serial uint64) bool {
	integer := serial >= 1 && serial <= 6 || serial == 8 || serial == 9
	switch t {
	case Integer:
		return integer
	case Real:
		return integer || serial == 7
	case Text:
		return serial >= 13 && serial%2 == 1
	case Blob:
		return serial >= 12 && serial%2 == 0
	}
	return true
}

// Span is the keys above Above, up to and with UpTo.
type Span struct{ Above, UpTo int64 }

// LastKey is the largest key that there can be: a hole that goes up to it has no
// end that is known.
const LastKey = math.MaxInt64

var everything = Span{math.MinInt64, LastKey}

func (s Span) has(key int64) bool { return key > s.Above && key <= s.UpTo }

// Row is a row that was found.
type Row struct {
	Table  int   // of the tables that were given
	Key    int64 // the row's number; 0 of a table WITHOUT ROWID
	Values []any // nil, int64, float64, string or []byte; fewer than columns in an old row
	// Doubtful says that a page which it lies on does not check as a whole: the
	// row was read, and may not be what was written.
	Doubtful bool
	// Stray says that no tree leads to its page. The same row may come twice.
	Stray bool
}

// Report is what became of a file's pages.
type Report struct {
	Tables       []TableReport // as the tables were given
	DamagedPages int           // that something is wrong with
	Unclaimed    int           // stray pages of rows that are of no table
	FreeUnread   bool          // the list of free pages could not be read to its end
}

// TableReport is what was found of a table.
type TableReport struct {
	Found      int64  // rows
	Doubtful   int64  // of these
	Stray      int64  // of these
	Unreadable int64  // entries that are there and cannot be read
	Holes      []Span // what could not be followed; of a table WITHOUT ROWID the keys say nothing
}

// Entry is a row of the file's schema.
type Entry struct {
	Type, Name, Table, SQL string
	Root                   uint32
}
