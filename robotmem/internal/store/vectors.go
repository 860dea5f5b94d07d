package store

import (
	"context"
	"encoding/json"
	"errors"
	"hash/crc32"
	"math"
	"sync"

	"github.com/robotmem/robotmem-go/robotmem/internal/vector"
)

// Model is a row of models.
type Model struct {
	ID    int64
	Name  string
	Dims  int
	Upto  int64 // memories changed up to this revision have been embedded
	Seq   int64 // sequence number of the last vector written
	State string
}

const (
	ModelPresent = "present"
	ModelFilling = "filling"
)

func scanModel(s Row) Model {
	return Model{s.ColumnInt64(0), s.ColumnText(1), s.ColumnInt(2), s.ColumnInt64(3), s.ColumnInt64(4), s.ColumnText(5)}
}

// PresentModel returns the model that recall uses; its id is 0 if there is none.
func (c *Conn) PresentModel() (m Model, err error) {
	_, err = c.One(PresentModel, nil, func(s Row) { m = scanModel(s) })
	return m, err
}

// Model reads the row of a model; its id is 0 if it is gone.
func (c *Conn) Model(id int64) (m Model, err error) {
	_, err = c.One(ModelByID, []any{id},
		func(s Row) { m = scanModel(s) })
	return m, err
}

func (c *Conn) Models() (all []Model, err error) {
	err = c.Query(AllModels, nil, func(s Row) error {
		all = append(all, scanModel(s))
		return nil
	})
	return all, err
}

// CreateModel creates a model with its table, or returns the existing one of that name. The model
// of an interrupted reembed becomes the present one if state says so. If the dimension has
// changed, the model is created again, and keeps its state if it was present.
func (tx *Tx) CreateModel(name string, dims int, state string) (Model, error) {
	var m Model
	found, err := tx.One(ModelByName, []any{name},
		func(s Row) { m = scanModel(s) })
	if err != nil {
		return m, err
	}
	// The present model must not lose its state, because recall would then have no vectors.
	if found && m.State == ModelPresent {
		state = ModelPresent
	}

	switch {
	case found && m.Dims != dims:
		if err := tx.dropModel(&m); err != nil {
			return m, err
		}
	case found && m.State != state:
		m.State = state
		return m, tx.Exec(SetModelState, state, m.ID)
	case found:
		return m, nil
	}

	id, err := tx.SQL.Insert(InsertModel, name, dims, state)
	if err != nil {
		return m, err
	}

	m = Model{ID: id, Name: name, Dims: dims, State: state}

	return m, tx.Exec(CreateVectors.Of(&m))
}

// dropModel deletes a model with its vectors.
func (tx *Tx) dropModel(m *Model) error {
	err := tx.Exec(DeleteModel, m.ID)
	if m.State == ModelPresent {
		err = errors.Join(err, tx.DropSnapshot(VectorsSnapshot))
	}
	return errors.Join(err, tx.Exec(DropVectors.Of(m)))
}

// eachModel calls f for every model until it fails.
func (c *Conn) eachModel(f func(m *Model) error) error {
	all, err := c.Models()
	for i := 0; i < len(all) && err == nil; i++ {
		err = f(&all[i])
	}
	return err
}

// unindexVectors deletes the vectors of a changed text.
func (tx *Tx) unindexVectors(id int64) error {
	return tx.eachModel(func(m *Model) error { return tx.Exec(DeleteVector.Of(m), id) })
}

// Empty reports whether the file holds no memory.
func (c *Conn) Empty() (bool, error) {
	n, err := c.Number(HasMemories)
	return n == 0, err
}

// DamagedVectors lists the memories whose vector of a model does not match its checksum.
// It reads all vectors.
func (c *Conn) DamagedVectors(m *Model) (ids []int64, err error) {
	err = c.Query(AllVectors.Of(m), nil, func(s Row) error {
		if id := s.ColumnInt64(0); m.verified(s, id, 1) == nil {
			ids = append(ids, id)
		}
		return nil
	})

	return ids, err
}

// verified returns the vector of a memory in column at of a row whose next column is the
// checksum. It returns nil if the vector is damaged or NULL.
func (m *Model) verified(s Row, id int64, at int) []byte {
	raw := s.ColumnRawBlob(at)
	if len(raw) != vector.StoredSize(m.Dims) || s.ColumnInt64(at+1) != vectorChecksum(id, raw) {
		return nil
	}
	return raw
}

// vectorChecksum returns the CRC-32C of a stored vector, with the memory's id as the initial value, so that a vector
// in the row of another memory does not match.
func vectorChecksum(id int64, raw []byte) int64 {
	return int64(crc32.Update(uint32(id), castagnoli, raw)) //nolint:gosec // the low bits of an id
}

// renewVectors empties the tables of vectors after their format has changed. The models compute the vectors again.
func (c *Conn) renewVectors() error {
	return c.eachModel(func(m *Model) error {
		err := errors.Join(c.Exec(DropVectors.Of(m)), c.Exec(CreateVectors.Of(m)))
		return errors.Join(err, c.Exec(ResetModel, m.ID))
	})
}

// DropDamagedVectors deletes damaged vectors, to be computed again.
func (tx *Tx) DropDamagedVectors() error {
	return tx.eachModel(func(m *Model) error {
		damaged, err := tx.DamagedVectors(m)
		for _, id := range damaged {
			err = errors.Join(err, tx.Exec(DeleteVector.Of(m), id))
		}
		return errors.Join(err, tx.Exec(ResetModel, m.ID))
	})
}

// Waiting is a memory without a vector.
type Waiting struct {
	ID, version int64
	Text        string
}

// NextWaiting returns the next memories without a vector of a model, in order of their
// last change, and the revision up to which it looked. It reads at most rows rows; done
// is true when there are no more.
func (c *Conn) NextWaiting(m *Model, rows int) (found []Waiting, upto int64, done bool, err error) {
	texts := Changes{Page: ChangedWithVectors.Of(m), One: WithVectorOf.Of(m)}
	f, err := c.EachChanged(texts, m.Upto, int64(rows), func(s Row) error {
		if s.ColumnBool(6) {
			text := s.ColumnText(4)
			if s.ColumnText(3) != "fact" {
				text += "\n" + s.ColumnText(5)
			}
			found = append(found, Waiting{s.ColumnInt64(0), s.ColumnInt64(2), text})
		}

		return nil
	})

	return found, f.Upto, f.Rows < rows, err
}

// Backlog counts the active memories without a vector of a model.
func (c *Conn) Backlog(m *Model) (int64, error) {
	return c.Number(CountWaiting.Of(m), m.Upto)
}

// StoreVectors stores the vectors of memories. A nil vector means that the model refused
// the text. A text that changed meanwhile is skipped.
func (tx *Tx) StoreVectors(id int64, items []Waiting, vectors [][]float32, upto int64) error {
	// A reembed of another process may have dropped the model.
	m, err := tx.Model(id)
	if err != nil || m.ID == 0 {
		return err
	}

	// The texts were read before they were embedded, so their versions may have changed since.
	ids := make([]int64, len(items))
	versions := make(map[int64]int64, len(items))

	for i, item := range items {
		ids[i] = item.ID
	}

	list, _ := json.Marshal(ids) // numbers
	err = tx.Query(VersionsOfMemories, []any{string(list)}, func(s Row) error {
		versions[s.ColumnInt64(0)] = s.ColumnInt64(1)
		return nil
	})
	if err != nil {
		return err
	}

	for i, item := range items {
		if versions[item.ID] != item.version {
			continue
		}
		m.Seq++

		var blob []byte
		if vectors[i] != nil {
			blob = vector.Encode(vectors[i])
		}

		err := tx.Exec(PutVector.Of(&m),
			item.ID, m.Seq, blob, vectorChecksum(item.ID, blob))
		if err != nil {
			return err
		}
	}

	return tx.Exec(AdvanceModel, m.Seq, upto, m.ID)
}

// VectorsSince visits the next vectors written after seq, in that order. raw is nil if the
// model refused the text or the vector is damaged.
func (c *Conn) VectorsSince(m *Model, seq, most int64, each func(id, seq int64, raw []byte) error) error {
	return c.Query(VectorsAfter.Of(m), []any{seq, most}, func(s Row) error {
		id := s.ColumnInt64(0)
		return each(id, s.ColumnInt64(1), m.verified(s, id, 2))
	})
}

// parallelMin is the number of vectors from which two connections read them. Reading fewer takes no longer than
// starting the second one.
const parallelMin = 64

// Vectors visits the stored vectors of memories as c reads them, one at a time and in any order; it
// skips those without one or with a damaged one. raw is valid until each returns. m is as of the
// snapshot of c, or earlier. If the tables are in a file, an idle connection reads one half at the same time.
func (s *Store) Vectors(c *Conn, m *Model, ids []int64, each func(id int64, raw []byte) error) error {
	// On a server, a statement for each vector would be a round trip for each. Package fleet translates this form.
	if !s.InFile() {
		list, _ := json.Marshal(ids) // never fails for numbers

		return c.Query(VectorsOf.Of(m), []any{string(list)}, func(s Row) error {
			id := s.ColumnInt64(0)
			if raw := m.verified(s, id, 1); raw != nil {
				return each(id, raw)
			}
			return nil
		})
	}

	if len(ids) < parallelMin {
		_, err := c.vectors(m, ids, math.MaxInt64, each)
		return err
	}

	var one sync.Mutex
	inTurn := func(id int64, raw []byte) error {
		one.Lock()
		defer one.Unlock()
		return each(id, raw)
	}
	half := len(ids) / 2
	left := ids[half:]

	var second sync.WaitGroup
	second.Go(func() {
		// The second connection has another snapshot. Vectors that it cannot read, or that are newer than the snapshot
		// of c, stay in left and are read by c. So an error of it can be ignored.
		_ = s.Database.(InFile).TryRead(context.Background(), func(other SQL) (err error) {
			left, err = (&Conn{other}).vectors(m, ids[half:], m.Seq, inTurn)
			return err
		})
	})
	_, err := c.vectors(m, ids[:half], math.MaxInt64, inTurn)
	second.Wait()
	if err == nil {
		_, err = c.vectors(m, left, math.MaxInt64, each)
	}

	return err
}

// vectors visits the vectors of memories that were written up to a counter and returns the ids of
// the rest, after an error all that were not visited.
func (c *Conn) vectors(m *Model, ids []int64, upto int64, each func(id int64, raw []byte) error) (left []int64,
	err error) {
	one := VectorOf.Of(m)

	for i, id := range ids {
		found := false
		err := c.Query(one, []any{id}, func(s Row) error {
			if found = s.ColumnInt64(2) <= upto; !found {
				return nil
			}
			if raw := m.verified(s, id, 0); raw != nil {
				return each(id, raw)
			}

			return nil
		})
		if err != nil {
			return append(left, ids[i:]...), err
		}
		if !found {
			left = append(left, id)
		}
	}

	return left, nil
}

// Promote makes a model the present one and drops the others.
func (tx *Tx) Promote(id int64) error {
	err := tx.eachModel(func(m *Model) error {
		if m.ID == id {
			return nil
		}
		return tx.dropModel(m)
	})
	if err != nil {
		return err
	}

	return errors.Join(
		tx.DropSnapshot(VectorsSnapshot),
		tx.Exec(MakePresent, id))
}
