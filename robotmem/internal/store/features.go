package store

import (
	"encoding/binary"
	"errors"

	"github.com/robotmem/robotmem-go/perception"
	"github.com/robotmem/robotmem-go/robotmem/internal/record"
)

// Every perception with a payload has a row of features, an empty one if it cannot be
// compared. Missing rows are computed in the background.

func (tx *Tx) InsertFeatures(id int64, f *record.Features) error {
	if f == nil {
		return nil
	}
	blob, _ := binary.Append([]byte{}, binary.LittleEndian, f.Vector) // never fails for numbers of a fixed size

	// A row that is not the last one changes what other processes have already read.
	_, last, err := tx.FeatureEpoch()
	if err == nil && id <= last {
		err = tx.BeginFeatureEpoch()
	}
	if err != nil {
		return err
	}

	return tx.Exec(PutFeatures, id, f.Kind, blob)
}

// FeatureEpoch returns a number that grows with every change of the table except an
// appended row, and the largest memory id in the table.
func (c *Conn) FeatureEpoch() (epoch, last int64, err error) {
	_, err = c.One(FeatureState, nil, func(s Row) {
		epoch, last = s.ColumnInt64(0), s.ColumnInt64(1)
	})
	return epoch, last, err
}

func (tx *Tx) BeginFeatureEpoch() error {
	return tx.Exec(NextFeatureEpoch)
}

// DropFeatures deletes all features, to be computed again.
func (tx *Tx) DropFeatures() error {
	return errors.Join(tx.BeginFeatureEpoch(), tx.Exec(DeleteAllFeatures))
}

func DecodeVector(blob []byte) []float32 {
	out := make([]float32, len(blob)/4)
	// Decode never fails here, because the blob is at least as long as out.
	_, _ = binary.Decode(blob, binary.LittleEndian, out)
	return out
}

// Features returns the features of a memory, nil if they are not computed yet.
func (c *Conn) Features(id int64) (*record.Features, error) {
	var f *record.Features
	_, err := c.One(FeaturesOf, []any{id}, func(s Row) {
		f = &record.Features{Kind: s.ColumnText(0), Vector: DecodeVector(s.ColumnRawBlob(1))}
	})
	return f, err
}

// EachFeatures visits the vectors of one kind, of memories above an id. It skips vectors
// of another length, which older rules made.
func (c *Conn) EachFeatures(kind string, after int64, length int, visit func(id int64, vector []float32)) error {
	return c.Query(FeaturesAfter, []any{after, kind}, func(s Row) error {
		if blob := s.ColumnRawBlob(1); len(blob) == 4*length {
			visit(s.ColumnInt64(0), DecodeVector(blob))
		}
		return nil
	})
}

// FeaturesAreCurrent reports whether the current rules made the features.
func (c *Conn) FeaturesAreCurrent() (bool, error) {
	rules, err := c.Number(FeatureRules)
	return rules == perception.FeatureRules, err
}

// DropOldFeatures deletes the features that older rules made.
func (tx *Tx) DropOldFeatures() error {
	return errors.Join(tx.DropFeatures(), tx.Exec(SetFeatureRules,
		perception.FeatureRules))
}

// WithoutFeatures returns up to n perceptions above an id without features, in the order
// of their ids.
func (c *Conn) WithoutFeatures(after int64, n int) ([]int64, error) {
	return c.IDs(WithoutFeatures, after, n)
}

// FeatureBacklog counts the perceptions without features.
func (c *Conn) FeatureBacklog() (int64, error) {
	return c.Number(CountWithoutFeatures)
}
