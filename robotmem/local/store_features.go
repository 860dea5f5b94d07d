package local

import (
	"encoding/binary"
	"math"

	"github.com/ncruces/go-sqlite3"
	"github.com/robotmem/robotmem-go/perception"
)

// Every perception with a payload has a row of features, an empty one when
// nothing can be compared. What has none yet is worked out in the background.

func (tx *writeTx) insertFeatures(id int64, f *features) error {
	if f == nil {
		return nil
	}
	blob := make([]byte, 0, 4*len(f.vector))
	for _, v := range f.vector {
		blob = binary.LittleEndian.AppendUint32(blob, math.Float32bits(v))
	}
	_, last, err := tx.featureEpoch()
	if err == nil && id <= last {
		err = tx.beginFeatureEpoch()
	}
	if err != nil {
		return err
	}
	return tx.Exec("INSERT OR REPLACE INTO features(memory_id, kind, vector) VALUES (?,?,?)", id, f.kind, blob)
}

// featureEpoch is a number that grows with every change of the table other than a
// row at its end, and the last memory in it.
func (c *conn) featureEpoch() (epoch, last int64, err error) {
	_, err = c.One("SELECT coalesce((SELECT value FROM counters WHERE name = 'feature_epoch'), 0), coalesce((SELECT max(memory_id) FROM features), 0)", nil, func(s *sqlite3.Stmt) {
		epoch, last = s.ColumnInt64(0), s.ColumnInt64(1)
	})
	return epoch, last, err
}

func (tx *writeTx) beginFeatureEpoch() error {
	return tx.Exec("INSERT INTO counters(name, value) VALUES ('feature_epoch', 1) ON CONFLICT(name) DO UPDATE SET value = value + 1")
}

// dropFeatures clears all, to be made anew.
func (tx *writeTx) dropFeatures() error {
	if err := tx.beginFeatureEpoch(); err != nil {
		return err
	}
	return tx.Exec("DELETE FROM features")
}

func decodeVector(blob []byte) []float32 {
	out := make([]float32, len(blob)/4)
	for i := range out {
		out[i] = math.Float32frombits(binary.LittleEndian.Uint32(blob[4*i:]))
	}
	return out
}

// features returns those of a memory, nil if they have not been worked out.
func (c *conn) features(id int64) (*features, error) {
	var f *features
	_, err := c.One("SELECT kind, vector FROM features WHERE memory_id = ?", []any{id}, func(s *sqlite3.Stmt) {
		f = &features{kind: s.ColumnText(0), vector: decodeVector(s.ColumnRawBlob(1))}
	})
	return f, err
}

// eachFeatures visits the vectors of one kind of memories above an id. Those of
// another length are of older rules, about to be dropped.
func (c *conn) eachFeatures(kind string, after int64, length int, visit func(id int64, vector []float32)) error {
	return c.Query("SELECT memory_id, vector FROM features WHERE memory_id > ? AND kind = ? ORDER BY memory_id", []any{after, kind}, func(s *sqlite3.Stmt) error {
		if blob := s.ColumnRawBlob(1); len(blob) == 4*length {
			visit(s.ColumnInt64(0), decodeVector(blob))
		}
		return nil
	})
}

// featuresAreCurrent is false until what older rules have made is dropped.
func (c *conn) featuresAreCurrent() (bool, error) {
	rules, err := c.Number("SELECT value FROM counters WHERE name = 'feature_rules'")
	return rules == perception.FeatureRules, err
}

// dropOldFeatures clears what older rules have made.
func (tx *writeTx) dropOldFeatures() error {
	current, err := tx.featuresAreCurrent()
	if err != nil || current {
		return err
	}
	if err := tx.dropFeatures(); err != nil {
		return err
	}
	return tx.Exec("UPDATE counters SET value = ? WHERE name = 'feature_rules'", perception.FeatureRules)
}

// withoutFeatures returns some perceptions above an id that wait for theirs, in
// the order of their ids.
func (c *conn) withoutFeatures(after int64, n int) (ids []int64, err error) {
	err = c.Query(`SELECT id FROM memories WHERE id > ? AND id IN (
			SELECT id FROM memories INDEXED BY idx_mem_payload WHERE perception_data IS NOT NULL
			EXCEPT SELECT memory_id FROM features)
		ORDER BY id LIMIT ?`, []any{after, n}, func(s *sqlite3.Stmt) error {
		ids = append(ids, s.ColumnInt64(0))
		return nil
	})
	return ids, err
}

// featureBacklog counts the perceptions that wait for their features.
func (c *conn) featureBacklog() (int64, error) {
	return c.Number(`SELECT count(*) FROM (SELECT id FROM memories INDEXED BY idx_mem_payload
		WHERE perception_data IS NOT NULL EXCEPT SELECT memory_id FROM features)`)
}
