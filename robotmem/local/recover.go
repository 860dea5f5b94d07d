package local

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/robotmem/robotmem-go/classify"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/sqlite"
)

// RecoverReport says what was read of a damaged file, and what was not.
type RecoverReport struct {
	Whole         bool                    `json:"whole" doc:"Nothing is lost, as far as can be known."`
	File          string                  `json:"file" doc:"The new file."`
	Damaged       string                  `json:"damaged,omitempty" doc:"What the damaged file is called now; empty when it was left in its place."`
	Memories      int64                   `json:"memories" doc:"In the new file."`
	Missing       int64                   `json:"missing" doc:"Ids that were given to a memory, are not there, and were not purged."`
	MissingIDs    []int64                 `json:"missing_ids" doc:"The first 100 of them."`
	Doubtful      []int64                 `json:"doubtful" doc:"The first 100 memories whose text does not match its checksum. They are kept as invalidated; restore makes one active again."`
	DoubtfulCount int64                   `json:"doubtful_count"`
	Reactivated   int64                   `json:"reactivated" doc:"Memories that are active again, because what superseded them is lost."`
	LostPayloads  int64                   `json:"lost_payloads" doc:"Payloads whose bytes are lost; their memories stay."`
	Tables        []RecoveredTable        `json:"tables" doc:"The tables that are not indexes."`
	Notes         []string                `json:"notes" doc:"Further remarks."`
	Doctor        robotmem.DoctorResponse `json:"doctor" doc:"The deep check-up of the new file."`
}

// RecoveredTable is what was found of a table.
type RecoveredTable struct {
	Name       string `json:"name"`
	Kept       int64  `json:"kept" doc:"Rows that were read and copied."`
	Unreadable int64  `json:"unreadable" doc:"Rows whose key was read and whose contents could not be."`
	Torn       bool   `json:"torn,omitempty" doc:"A part of the table cannot be read; how many rows it held is not known."`
}

// maxNamedIDs bounds the ids that a report names; all are counted.
const maxNamedIDs = 100

// Recover reads what can be read of the damaged file `from`, with its log, and
// writes it to a new one at o.Path, which must not exist. It copies table by
// table through SQLite: a damaged page costs the rows on it. The damaged file and
// its payloads are only read: large payloads are linked to the new file's folder,
// or copied where the disk has no links. All indexes are rebuilt and the new file
// is examined. Of o the fields count that make and check a file.
//
// Ids, uids, times and versions are kept; revisions go on from the largest one.
// A memory whose text does not match its checksum is kept as invalidated, with
// the reason in its history.
//
// It fails with Corrupt if the file is another program's or SQLite cannot read
// its schema (then only a backup helps), Conflict if a newer robotmem wrote it,
// Unavailable if another process has it open or the new one cannot be written.
// Then no new file is left.
func Recover(ctx context.Context, from string, o Options) (*RecoverReport, error) {
	if err := o.complete(); err != nil {
		return nil, sqlite.Wrap("recover", err)
	}
	report, err := recoverLocked(ctx, from, o)
	return report, sqlite.Wrap("recover", err)
}

func recoverLocked(ctx context.Context, from string, o Options) (*RecoverReport, error) {
	source, err := openDamaged(ctx, from)
	if err != nil {
		return nil, err
	}
	report, err := recoverInto(ctx, source, from, o)
	return report, errors.Join(err, source.Close())
}

// openDamaged opens a file under the exclusive lock of the whole file.
func openDamaged(ctx context.Context, path string) (*sqlite.Damaged, error) {
	return sqlite.OpenDamaged(ctx, path, sqlite.ConnOptions{CacheKiB: sqlite.ReaderCacheKiB}, func(c *sqlite.Conn) error {
		_, err := refuseForeign(c)
		return err
	})
}

// recoverInto copies the damaged file to a new one.
func recoverInto(ctx context.Context, source *sqlite.Damaged, from string, o Options) (*RecoverReport, error) {
	to, err := filepath.Abs(o.Path)
	if err != nil {
		return nil, robotmem.Errorf(robotmem.Invalid, "db", "is not a path")
	}
	for _, name := range []string{to, to + "-wal", to + payloadsSuffix} {
		if _, err := os.Lstat(name); !errors.Is(err, fs.ErrNotExist) {
			return nil, robotmem.Errorf(robotmem.Conflict, "db", "there is a file under the new one's name; name one that does not exist")
		}
	}
	if version, err := refuseForeign(source.Conn); err != nil {
		return nil, err
	} else if version == 0 {
		return nil, robotmem.Errorf(robotmem.Corrupt, "db", "the file holds no memory; bring it back from a backup")
	}
	report, err := writeRecovered(ctx, source, from, to, o)
	if err != nil {
		return nil, errors.Join(err, removeRecovered(to))
	}
	return report, nil
}

// removeRecovered removes a new file that was not finished.
func removeRecovered(to string) error {
	errs := []error{os.RemoveAll(to + payloadsSuffix)}
	for _, suffix := range []string{"", "-wal", "-shm"} {
		if err := os.Remove(to + suffix); !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

func writeRecovered(ctx context.Context, source *sqlite.Damaged, from, to string, o Options) (*RecoverReport, error) {
	if _, err := classify.Parse(o.Taxonomy); err != nil {
		return nil, robotmem.Errorf(robotmem.Invalid, "taxonomy", "%v", err)
	}
	co := sqlite.ConnOptions{Normal: o.Durability == DurabilityNormal, BusyTimeout: o.BusyTimeout, VFS: o.Disk.VFS(), CacheKiB: sqlite.ReaderCacheKiB}
	if err := sqlite.Create(ctx, o.Disk, to, co); err != nil {
		return nil, err
	}
	c, err := sqlite.OpenWriter(ctx, to, co, &sqlite.Options{Disk: o.Disk, Check: refuseForeign, Migrate: migrate})
	if err != nil {
		return nil, err
	}
	fresh := &conn{c}
	r := &recovery{
		source: &conn{source.Conn}, now: o.Clock().UTC(), report: &RecoverReport{File: to, MissingIDs: []int64{}, Doubtful: []int64{}, Tables: []RecoveredTable{}, Notes: []string{}},
		from: payloadFolder(from, o.Disk), to: payloadFolder(to, o.Disk),
	}
	r.writeTx = &writeTx{conn: fresh, now: r.now}
	if err := errors.Join(r.run(ctx), fresh.Close()); err != nil {
		return nil, err
	}
	if err := reindexRecovered(ctx, from, to, o, r.report); err != nil {
		return nil, err
	}
	r.report.conclude()
	if err := r.to.Settle(); err != nil {
		return nil, robotmem.Errorf(robotmem.Unavailable, "db", "the new payloads could not be synced (%s)", rootReason(err))
	}
	return r.report, syncNew(to)
}

// reindexRecovered opens the new file as its user would, rebuilds all indexes,
// says so in its audit log and examines it.
func reindexRecovered(ctx context.Context, from, to string, o Options, report *RecoverReport) error {
	o.Path, o.Embedder, o.Retention = to, nil, Retention{}
	e, err := open(ctx, o)
	if err != nil {
		return err
	}
	m := robotmem.MeterOf(ctx)
	err = e.store.write(ctx, func(tx *writeTx) error {
		_, err := e.maintenance.rebuild(tx, m)
		return errors.Join(err, tx.audit(change{action: actionRepaired, reason: "recovered from " + filepath.Base(from)}))
	})
	if err == nil {
		e.index.drop()
		err = e.maintenance.refillFeatures(ctx, m)
	}
	if err == nil {
		var d *robotmem.DoctorResponse
		if d, err = e.Doctor(ctx, &robotmem.DoctorRequest{Deep: true}); err == nil {
			report.Doctor = *d
		}
	}
	return errors.Join(err, e.Close())
}

// conclude works out whether anything is lost. Of memories the ids tell: they
// are given one after the other.
func (r *RecoverReport) conclude() {
	r.Whole = r.Doctor.Healthy && r.Missing == 0 && r.DoubtfulCount == 0 && r.LostPayloads == 0
	for _, t := range r.Tables {
		r.Whole = r.Whole && t.Unreadable == 0 && !t.Torn
	}
	if r.DoubtfulCount > 0 {
		r.Notes = append(r.Notes, "memories whose text does not match its checksum are kept as invalidated; see them with history, and bring one back with restore")
	}
}

// syncNew puts a closed file on the disk, with its name.
func syncNew(name string) error {
	if err := errors.Join(sqlite.SyncPath(name), sqlite.SyncPath(filepath.Dir(name))); err != nil {
		return robotmem.Errorf(robotmem.Unavailable, "db", "the new file could not be synced (%s)", sqlite.Reason(err))
	}
	return nil
}
