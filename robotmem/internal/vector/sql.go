package vector

import (
	"encoding/binary"

	"github.com/ncruces/go-sqlite3"
	"github.com/ncruces/go-sqlite3/ext/vec1"
)

// Register adds SQLite's vec1 extension to a connection, and the function vector_float32, which decodes a
// stored vector into the form that vec1 reads. Together they give exact distances in SQL:
//
//	SELECT memory_id FROM vectors_1 ORDER BY vec1_cos_distance(vector_float32(vector), ?) LIMIT 10
func Register(c *sqlite3.Conn) error {
	if err := vec1.Register(c); err != nil {
		return err
	}

	return c.CreateFunction("vector_float32", 1, sqlite3.DETERMINISTIC|sqlite3.INNOCUOUS, func(ctx sqlite3.Context, arg ...sqlite3.Value) {
		// It cannot fail: a slice of float32 has a fixed size.
		raw, _ := binary.Append(nil, binary.LittleEndian, Decode(arg[0].RawBlob()))
		ctx.ResultBlob(raw)
	})
}
