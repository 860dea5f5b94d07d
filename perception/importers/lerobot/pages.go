package lerobot

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// Limits of a parquet file. LeRobot writes Snappy pages of about one megabyte in files of
// about a hundred.
const (
	maxFooter     = 4 << 20   // bytes; the library allocates about 150 times as much
	maxPage       = 512 << 20 // bytes, uncompressed: a page can hold a thousand images
	maxPages      = 1 << 30   // bytes of the pages of all columns that are read side by side
	maxPageValues = 16 << 20
	maxPageHeader = 64 << 10 // bytes; it may hold the least and the largest value
	maxColumns    = 10_000
	maxRows       = 16 << 20 // of a file: a day at 194 Hz. Repeated values take no bytes.
	maxSchemaDeep = 16
	// maxSnappyRatio is more than Snappy reaches: a copy of 64 bytes takes three.
	maxSnappyRatio = 24
)

// readFooter reads and checks the file's metadata before the library, which trusts it.
func readFooter(r io.ReaderAt, size int64) (*format.FileMetaData, error) {
	const magic = "PAR1"

	var tail [8]byte
	if size < int64(2*len(magic)+4) {
		return nil, fmt.Errorf("a file of %d bytes is too short for parquet", size)
	}
	if _, err := r.ReadAt(tail[:], size-8); err != nil {
		return nil, err
	}
	if string(tail[4:]) != magic {
		return nil, errors.New("the file does not end as a parquet file (PAR1); it was cut short")
	}

	n := int64(binary.LittleEndian.Uint32(tail[:]))
	if n > min(maxFooter, size-12) {
		return nil, fmt.Errorf("the parquet footer claims %d bytes; the file has %d and the limit is %d", n, size-12,
			maxFooter)
	}

	footer := make([]byte, n)
	if _, err := r.ReadAt(footer, size-8-n); err != nil {
		return nil, err
	}
	// The library allocates each list at the length that it claims, so the lengths are checked before it decodes
	// them.
	if _, err := thriftSize(footer); err != nil {
		return nil, err
	}

	var meta format.FileMetaData
	if err := thrift.Unmarshal(new(thrift.CompactProtocol), footer, &meta); err != nil {
		return nil, fmt.Errorf("parquet footer: %s", err)
	}

	rows := int64(0)
	for _, g := range meta.RowGroups {
		// Run-length encoded rows take no bytes, so the file's size does not bound them. Each becomes numbers of a
		// trace.
		if rows += g.NumRows; g.NumRows < 0 || g.NumRows > maxRows || rows > maxRows {
			return nil, fmt.Errorf("the parquet file claims %d rows or more; the limit of one file is %d; write the dataset with more files", max(rows, meta.NumRows), maxRows)
		}
	}

	return &meta, checkSchema(meta.Schema)
}

// checkSchema limits the depth of the tree, which the library walks recursively.
func checkSchema(schema []format.SchemaElement) error {
	if len(schema) == 0 || len(schema) > maxColumns {
		return fmt.Errorf("the parquet schema has %d elements; 1 to %d are read", len(schema), maxColumns)
	}

	var left []int32 // children that follow, by depth
	for _, e := range schema {
		// The schema is the tree in depth-first order. A level ends when its last child was read.
		for len(left) > 0 && left[len(left)-1] == 0 {
			left = left[:len(left)-1]
		}
		if len(left) > 0 {
			left[len(left)-1]--
		}
		children := e.NumChildren.V // 0 unless it is valid
		if children < 0 || int(children) > len(schema) || len(left) > maxSchemaDeep {
			return fmt.Errorf("the parquet schema is damaged at %q", e.Name)
		}
		if children > 0 {
			left = append(left, children)
		}
	}

	return nil
}

// checkPages walks the pages of a column chunk. It refuses pages for which the library would
// allocate more than their bytes can hold. It returns what reading the column holds in memory: its
// dictionary and one other page.
func checkPages(r io.ReaderAt, size int64, c *format.ColumnMetaData) (memory int64, err error) {
	dictionary, page := int64(0), int64(0)
	err = eachPage(r, size, c, func(h *format.PageHeader) {
		if h.DictionaryPageHeader.Valid {
			dictionary = max(dictionary, int64(h.UncompressedPageSize))
		} else {
			page = max(page, int64(h.UncompressedPageSize))
		}
	})

	return dictionary + page, err
}

func eachPage(r io.ReaderAt, size int64, c *format.ColumnMetaData, visit func(*format.PageHeader)) error {
	// A column without rows has no data page, and its offset is 0.
	if c.NumValues == 0 && c.DataPageOffset == 0 {
		return nil
	}

	pos := cmp.Or(c.DictionaryPageOffset, c.DataPageOffset)
	length := c.TotalCompressedSize
	if pos < 4 || c.DataPageOffset < pos || length < 0 || pos > size || length > size-pos {
		return fmt.Errorf("a column of %d bytes at %d is outside the file of %d bytes", length, pos, size)
	}
	if c.Codec != format.Snappy && c.Codec != format.Uncompressed {
		return fmt.Errorf("compression %s is not read; write the file with snappy, as LeRobot does", c.Codec)
	}

	head := make([]byte, maxPageHeader)
	for end := pos + length; pos < end; {
		b := head[:min(maxPageHeader, end-pos)]
		if _, err := r.ReadAt(b, pos); err != nil {
			return err
		}
		n, err := thriftSize(b)
		if err != nil {
			return fmt.Errorf("page header at %d: %w", pos, err)
		}

		var h format.PageHeader
		if err := thrift.Unmarshal(new(thrift.CompactProtocol), b[:n], &h); err != nil {
			return fmt.Errorf("page header at %d: %s", pos, err)
		}
		body := pos + int64(n)
		if h.CompressedPageSize < 0 || int64(h.CompressedPageSize) > end-body {
			return fmt.Errorf("the page at %d claims %d bytes; its column has %d left", pos, h.CompressedPageSize,
				end-body)
		}
		if err = checkPage(&h, c.Codec); err == nil {
			err = checkSnappy(r, body, &h, c.Codec)
		}
		if err != nil {
			return fmt.Errorf("the page at %d %w", pos, err)
		}
		visit(&h)
		pos = body + int64(h.CompressedPageSize)
	}

	return nil
}

func checkPage(h *format.PageHeader, codec format.CompressionCodec) error {
	packed, plain := int64(h.CompressedPageSize), int64(h.UncompressedPageSize)
	ratio := int64(1)
	if codec == format.Snappy {
		ratio = maxSnappyRatio
	}
	// The library allocates the claimed size before it unpacks the page.
	if plain < 0 || plain > maxPage || plain > packed*ratio {
		return fmt.Errorf("claims to unpack to %d bytes from %d; the limit is %d and %d-fold", plain, packed,
			int64(maxPage), ratio)
	}

	values, encoding := int32(0), format.Plain

	switch {
	case h.DataPageHeaderV2.Valid:
		return errors.New("is of version 2, which is not read; write the file with pyarrow's defaults")
	case h.DataPageHeader.Valid:
		values, encoding = h.DataPageHeader.V.NumValues, h.DataPageHeader.V.Encoding
	case h.DictionaryPageHeader.Valid:
		values, encoding = h.DictionaryPageHeader.V.NumValues, h.DictionaryPageHeader.V.Encoding
		// A value of a dictionary takes at least one byte.
		if int64(values) > plain {
			return fmt.Errorf("claims a dictionary of %d values in %d bytes", values, plain)
		}
	}

	if values < 0 || values > maxPageValues {
		return fmt.Errorf("claims %d values; the limit is %d", values, maxPageValues)
	}

	switch encoding {
	case format.Plain, plainDictionary, format.RLEDictionary, format.RLE:
		return nil
	}

	return fmt.Errorf("has the encoding %s, which is not read; write the file with pyarrow's defaults", encoding)
}

// plainDictionary is the encoding of pyarrow's dictionary pages of version 1.
const plainDictionary format.Encoding = 2

// checkSnappy compares the length that a Snappy block claims, which the decoder allocates,
// with that of the page.
func checkSnappy(r io.ReaderAt, body int64, h *format.PageHeader, codec format.CompressionCodec) error {
	if codec != format.Snappy || h.CompressedPageSize == 0 {
		return nil
	}
	b := make([]byte, min(binary.MaxVarintLen32, h.CompressedPageSize))
	if _, err := r.ReadAt(b, body); err != nil {
		return err
	}
	if n, size := binary.Uvarint(b); size <= 0 || n > uint64(h.UncompressedPageSize) {
		return fmt.Errorf("holds a Snappy block of %d bytes; its header says %d", n, h.UncompressedPageSize)
	}

	return nil
}

// thriftWalker skips the values of Thrift's compact protocol. The parquet library allocates
// what a list or a string claims to hold before it reads it, so the footer and each page header
// are walked first, and each claimed length is compared with the bytes that are left.
type thriftWalker struct {
	thrift.Reader
	left *bytes.Reader
}

const (
	// maxThriftDepth is twice the nesting of parquet.thrift.
	maxThriftDepth = 16
	// minThriftStruct is the least bytes of a struct in a list of parquet.thrift: a column
	// order, whose only field is an empty struct.
	minThriftStruct = 3
)

var errThrift = errors.New("the parquet metadata is damaged: a length in it is more than the bytes that are there")

// thriftSize returns the bytes of the struct at the start of b.
func thriftSize(b []byte) (int, error) {
	left := bytes.NewReader(b)
	w := thriftWalker{new(thrift.CompactProtocol).NewReader(left), left}
	if w.skip(thrift.STRUCT, 0) != nil {
		return 0, errThrift
	}
	return len(b) - left.Len(), nil
}

func (w thriftWalker) skip(kind thrift.Type, depth int) (err error) {
	if depth > maxThriftDepth {
		return errThrift
	}

	switch kind {
	case thrift.TRUE, thrift.FALSE, thrift.I8:
		_, err = w.ReadInt8()
	case thrift.I16, thrift.I32, thrift.I64:
		_, err = w.ReadInt64()
	case thrift.DOUBLE:
		_, err = w.ReadFloat64()
	case thrift.BINARY:
		n, err := w.ReadLength()
		if err != nil || n > w.left.Len() {
			return errThrift
		}
		_, err = w.left.Seek(int64(n), io.SeekCurrent)
		return err
	case thrift.LIST, thrift.SET:
		list, err := w.ReadList()
		least := 1
		if list.Type == thrift.STRUCT {
			least = minThriftStruct
		}
		if err != nil || int(list.Size) > w.left.Len()/least {
			return errThrift
		}

		for range list.Size {
			if err := w.skip(list.Type, depth+1); err != nil {
				return err
			}
		}
	case thrift.STRUCT:
		for {
			field, err := w.ReadField()
			if err != nil || field.Type == thrift.STOP {
				return err
			}
			// The type of a boolean field is its value.
			if field.Type == thrift.TRUE || field.Type == thrift.FALSE {
				continue
			}
			if err := w.skip(field.Type, depth+1); err != nil {
				return err
			}
		}
	default: // parquet.thrift has no maps
		return errThrift
	}

	return err
}
