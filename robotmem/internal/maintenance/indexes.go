package maintenance

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/admin"
	"github.com/robotmem/robotmem-go/robotmem/internal/record"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
	"github.com/robotmem/robotmem-go/robotmem/progress"
)

const repairRemedy = "run: robotmem doctor --repair"

// indexCheck compares one index with the tables: both queries return counts that must be zero.
type indexCheck struct {
	name           string
	missing, extra store.Query // missing is the zero Query for an index that has an entry only where it is needed
	ofFile         bool        // only a file has this index
}

// indexChecks are cheap enough to run beside a working robot: each is one walk over ids. The memories that changed
// since the revision of the full-text index are still to come.
var indexChecks = []indexCheck{
	{"full-text index", store.CountMissingFullText, store.CountExtraFullText, true},
	{"duplicate signatures", store.CountMissingSignatures, store.CountExtraSignatures, false},
	{"tags", store.Query{}, store.CountExtraTags, false},
}

func (ic indexCheck) run(c *store.Conn, d *admin.DoctorResponse) error {
	missing := int64(0)
	if ic.missing != (store.Query{}) {
		n, err := c.Number(ic.missing)
		if err != nil {
			return err
		}
		missing = n
	}

	extra, err := c.Number(ic.extra)
	if err != nil {
		return err
	}
	if missing+extra == 0 {
		addFinding(d, ic.name, CheckOK, "index_in_step", "", "in step with the tables")
		return nil
	}
	addCheck(d, ic.name, CheckFail, fmt.Sprintf("%d memories are missing from it, %d entries belong to none", missing,
		extra), repairRemedy)

	return nil
}

// rebuild builds every index from the tables and lists the indexes.
func (mt *Maintainer) rebuild(tx *store.Tx, m *progress.Meter) ([]string, error) {
	ids, err := tx.IDs(store.AllMemoryIDs)
	if err == nil {
		m.Stage("rebuilding the indexes", "memories", int64(len(ids)))
		err = emptyIndexes(tx)
	}

	if err != nil {
		return nil, err
	}

	// AsStored does not verify the checksum, so damaged memories are indexed too.
	for _, id := range ids {
		memory, err := tx.AsStored(id, tx.Now)
		if err == nil && memory != nil {
			err = mt.reindex(tx, memory)
		}
		if err != nil {
			return nil, err
		}
		m.Add(1)
	}

	for done := false; !done; {
		if done, err = tx.FillFullText(); err != nil {
			return nil, err
		}
	}

	mt.Store.Groups.Reset()
	if err := errors.Join(tx.DropDamagedVectors(), tx.DropSnapshots()); err != nil {
		return nil, err
	}

	repaired := []string{"full-text index", "duplicate signatures", "tags", "likeness", "indexes in memory"}
	removed, err := mt.sweepFolder(tx)
	if removed > 0 {
		repaired = append(repaired, fmt.Sprintf("%d files of the payload folder that belonged to no memory", removed))
	}

	// The indexes are repaired even if the folder cannot be swept. The check that follows reports what is left.
	if errors.Is(err, robotmem.Unavailable) {
		mt.Log.Warn("the folder of payloads is left as it is", "err", err)
		err = nil
	}

	return repaired, err
}

// emptyIndexes removes the entries that rebuild makes. It drops the full-text index, because a damaged
// one cannot be emptied.
func emptyIndexes(tx *store.Tx) error {
	for _, q := range []store.Query{
		store.DropFullText, store.CreateFullText, store.ResetFullText, store.DeleteAllSignatures, store.DeleteDerivedTags,
	} {
		if err := tx.Exec(q); err != nil {
			return err
		}
	}

	return tx.DropFeatures()
}

func (mt *Maintainer) reindex(tx *store.Tx, m *robotmem.Memory) error {
	rec, err := mt.Records.RecordOf(m)
	if err != nil {
		return err
	}
	revision := tx.NextRevision()
	if err := tx.Retag(m.MemoryID, rec.AutoTags, revision); err != nil {
		return err
	}

	return tx.Index(m.MemoryID, rec, revision)
}

// sampleSize is the number of memories whose index entries an ordinary check compares.
const sampleSize = 500

// examineContents compares the index entries of some memories, spread over the file,
// or of all, with what they should be.
func (mt *Maintainer) examineContents(ctx context.Context, c *store.Conn, d *admin.DoctorResponse, deep bool) error {
	ids, err := c.IDs(store.ActiveMemoryIDs)
	if err != nil {
		return err
	}

	step := max(1, len(ids)/sampleSize)
	if deep {
		step = 1
	}

	wrong := int64(0)
	compared := 0

	var damaged []int64
	m := progress.Of(ctx)
	m.Stage("comparing the contents of the indexes", "memories", int64(len(ids)/step))

	for i := 0; i < len(ids); i += step {
		memory, err := c.Find(ids[i], mt.Store.Now())
		if errors.Is(err, robotmem.Corrupt) {
			damaged = append(damaged, ids[i])
			continue
		}
		// Another process may have purged the memory.
		if err == nil && memory == nil {
			continue
		}
		if err != nil {
			return err
		}
		same, err := mt.sameIndexes(c, memory)
		if err != nil {
			return err
		}
		compared++
		if !same {
			wrong++
		}
		m.Add(1)
	}

	// A deep check has already named all damaged memories.
	if n := len(damaged); n > 0 && !deep {
		addCheck(d, "texts", CheckFail, fmt.Sprintf("%d of the memories looked at do not match their checksum, "+
			"memory %d the first; doctor --deep names all", n, damaged[0]), mt.recoverRemedy())
	}

	if wrong > 0 {
		addCheck(d, "index contents", CheckFail, fmt.Sprintf("of %d memories looked at, %d are indexed wrongly",
			compared, wrong), repairRemedy)
		return nil
	}

	addFinding(d, "index contents", CheckOK, "contents_match", "", "%d memories looked at, all as they should be",
		compared)

	return nil
}

// sameIndexes compares one memory with its words, signature and features. Its tags may be
// those of other rules than the present ones.
func (mt *Maintainer) sameIndexes(c *store.Conn, m *robotmem.Memory) (bool, error) {
	rec, err := mt.Records.RecordOf(m)
	if err != nil {
		return false, err
	}

	if mt.Store.InFile() {
		words := record.Words(m.Type, m.Content, m.Summary, nil, nil)
		found, err := c.Number(store.SameFullText,
			m.MemoryID, strings.Join(words[0], " "), strings.Join(words[1], " "))
		if err != nil || found != 1 {
			return false, err
		}
	}

	if m.Type == "fact" {
		sig := rec.Signature
		n, err := c.Number(store.CountEqualSignatures,
			rec.GroupKey(), m.MemoryID, sig.Sequence, sig.Numbers, sig.Skeleton, int64(sig.Sketch[0]), int64(sig.Sketch[1]))
		if err != nil || n != 1 {
			return false, err
		}
	}

	if m.SHA256 == "" {
		return true, nil
	}

	current, err1 := c.FeaturesAreCurrent()
	f, err2 := c.Features(m.MemoryID)
	gone, err3 := c.Evicted(m.MemoryID)
	if err := errors.Join(err1, err2, err3); err != nil {
		return false, err
	}

	// Features may still be computed in the background. An evicted perception has none, even if another one has
	// brought its bytes again.
	if !current || f == nil || gone && f.Kind == "" {
		return true, nil
	}

	item, err := mt.Store.Item(c, m)
	if lost := (*robotmem.Error)(nil); errors.As(err, &lost) {
		// The check of payloads reports a lost one.
		return true, nil
	}

	should := record.FeaturesOf(item)

	return f.Kind == should.Kind && slices.Equal(f.Vector, should.Vector), err
}
