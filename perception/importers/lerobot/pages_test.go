package lerobot

import (
	"bytes"
	"encoding/binary"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

func readSeed(t *testing.T) []byte {
	t.Helper()
	data, err := os.ReadFile("testdata/episode.parquet")
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestPagesThatClaimTooMuch(t *testing.T) {
	data := readSeed(t)
	meta, err := readFooter(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	column := meta.RowGroups[0].Columns[0].MetaData // a dictionary page, then data
	at := column.DictionaryPageOffset
	tests := []struct {
		name   string
		column func(*format.ColumnMetaData)
		page   func(*format.PageHeader)
		body   func([]byte)
		want   string
	}{
		{"nothing", nil, nil, nil, ""},
		{"column beyond the file", func(c *format.ColumnMetaData) { c.TotalCompressedSize = 1 << 40 }, nil, nil, "is outside the file"},
		{"column before the file", func(c *format.ColumnMetaData) { c.DataPageOffset, c.DictionaryPageOffset = -1, -1 }, nil, nil, "is outside the file"},
		{"other compression", func(c *format.ColumnMetaData) { c.Codec = format.Gzip }, nil, nil, "compression GZIP is not read"},
		{"page longer than its column", nil, func(h *format.PageHeader) { h.CompressedPageSize = 1 << 30 }, nil, "its column has"},
		{"page that unpacks to 2 GiB", nil, func(h *format.PageHeader) { h.UncompressedPageSize = 1<<31 - 1 }, nil, "claims to unpack to 2147483647 bytes"},
		{"page that unpacks to more than Snappy can", nil, func(h *format.PageHeader) { h.UncompressedPageSize = 1 << 20 }, nil, "24-fold"},
		{"page that unpacks to less than nothing", nil, func(h *format.PageHeader) { h.UncompressedPageSize = -1 }, nil, "claims to unpack to -1 bytes"},
		{"dictionary of more values than bytes", nil, func(h *format.PageHeader) { h.DictionaryPageHeader.V.NumValues = 100_000 }, nil, "claims a dictionary of 100000 values"},
		{"Snappy block longer than its page", nil, nil, func(b []byte) { copy(b, "\xff\xff\xff\xff\x07") }, "holds a Snappy block of 2147483647 bytes"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			size, err := thriftSize(data[at:])
			if err != nil {
				t.Fatal(err)
			}
			var h format.PageHeader
			if err := thrift.Unmarshal(new(thrift.CompactProtocol), data[at:at+int64(size)], &h); err != nil {
				t.Fatal(err)
			}
			body := bytes.Clone(data[at+int64(size) : at+int64(size)+int64(h.CompressedPageSize)])
			c := column
			if tt.page != nil {
				tt.page(&h)
			}
			if tt.body != nil {
				tt.body(body)
			}
			head, err := thrift.Marshal(new(thrift.CompactProtocol), &h)
			if err != nil {
				t.Fatal(err)
			}
			// The first page alone, at the place where it was.
			file := append(append(make([]byte, at), head...), body...)
			c.TotalCompressedSize = int64(len(file)) - at
			if tt.column != nil {
				tt.column(&c)
			}
			memory, err := checkPages(bytes.NewReader(file), int64(len(file)), &c)
			if err == nil && memory != int64(h.UncompressedPageSize) {
				t.Errorf("the pages take %d bytes, want %d", memory, h.UncompressedPageSize)
			}
			if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("error %v, want %q", err, tt.want)
			}
		})
	}
}

func TestDataPagesThatAreRefused(t *testing.T) {
	tests := []struct {
		name string
		page format.DataPageHeader
		want string
	}{
		{"as pyarrow writes it", format.DataPageHeader{NumValues: 12, Encoding: format.RLEDictionary}, ""},
		{"a run of 2^31 values", format.DataPageHeader{NumValues: 1<<31 - 1, Encoding: format.RLEDictionary}, "claims 2147483647 values; the limit is 16777216"},
		{"an encoding with counts of its own", format.DataPageHeader{NumValues: 12, Encoding: format.DeltaByteArray}, "which is not read"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h := &format.PageHeader{CompressedPageSize: 10, UncompressedPageSize: 10}
			h.DataPageHeader.Valid, h.DataPageHeader.V = true, tt.page
			err := checkPage(h, format.Uncompressed)
			if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("error %v, want %q", err, tt.want)
			}
		})
	}
}

func TestPagesOfVersion2AreRefused(t *testing.T) {
	h := &format.PageHeader{CompressedPageSize: 10, UncompressedPageSize: 10}
	h.DataPageHeader.Valid, h.DataPageHeaderV2.Valid = true, true
	if err := checkPage(h, format.Uncompressed); err == nil || !strings.Contains(err.Error(), "version 2") {
		t.Errorf("got %v", err)
	}
}

func TestSchemaThatNestsTooDeep(t *testing.T) {
	group := format.SchemaElement{Name: "g"}
	group.NumChildren.Valid, group.NumChildren.V = true, 1
	leaf := format.SchemaElement{Name: "leaf"}
	deep := append(nested(group, 100), leaf)
	if err := checkSchema(deep); err == nil {
		t.Error("100 groups in each other: no error")
	}
	if err := checkSchema(append(nested(group, 5), leaf)); err != nil {
		t.Errorf("5 groups in each other: %v", err)
	}
}

func nested(e format.SchemaElement, n int) []format.SchemaElement {
	out := make([]format.SchemaElement, n)
	for i := range out {
		out[i] = e
	}
	return out
}

// Rows that repeat a value take no bytes, so the footer is asked before the pages are.
func TestMoreRowsThanAreRead(t *testing.T) {
	data := readSeed(t)
	for name, rows := range map[string][]int64{
		"one row group": {120_000_000}, "two row groups": {10 << 20, 10 << 20}, "less than none": {-1},
		"a sum that overflows": {math.MaxInt64, math.MaxInt64},
	} {
		t.Run(name, func(t *testing.T) {
			meta, err := readFooter(bytes.NewReader(data), int64(len(data)))
			if err != nil {
				t.Fatal(err)
			}
			group := meta.RowGroups[0]
			meta.RowGroups = nil
			for _, n := range rows {
				group.NumRows = n
				meta.RowGroups = append(meta.RowGroups, group)
			}
			footer, err := thrift.Marshal(new(thrift.CompactProtocol), *meta)
			if err != nil {
				t.Fatal(err)
			}
			end := len(data) - 8 - int(binary.LittleEndian.Uint32(data[len(data)-8:]))
			file := append(bytes.Clone(data[:end]), footer...)
			file = append(binary.LittleEndian.AppendUint32(file, uint32(len(footer))), "PAR1"...)
			_, err = openTable(bytes.NewReader(file), int64(len(file)))
			if err == nil || !strings.Contains(err.Error(), "the limit of one file is 16777216") {
				t.Errorf("got %v", err)
			}
		})
	}
}

// The columns of a row group are read side by side, so their pages count together.
func TestPagesOfColumnsHaveOneBudget(t *testing.T) {
	data := readSeed(t)
	table, err := openTable(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	f := field{column: table.leaf("action")}
	if f.column == nil {
		t.Fatal("the file has no such column")
	}
	left := int64(maxPages)
	c, err := table.open(0, f, &left)
	if err != nil {
		t.Fatal(err)
	}
	c.values.Close()
	taken := maxPages - left
	if taken <= 0 {
		t.Fatalf("the pages take %d bytes", taken)
	}
	left = taken - 1
	if _, err := table.open(0, f, &left); err == nil || !strings.Contains(err.Error(), "write smaller pages") {
		t.Errorf("got %v", err)
	}
}

// pyarrow writes a dictionary for a column without rows, and no data page.
func TestAColumnWithoutRowsIsEmpty(t *testing.T) {
	memory, err := checkPages(bytes.NewReader(nil), 1720, &format.ColumnMetaData{DictionaryPageOffset: 4, TotalCompressedSize: 15})
	if err != nil || memory != 0 {
		t.Errorf("%d bytes, %v", memory, err)
	}
}
