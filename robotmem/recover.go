package robotmem

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/robotmem/robotmem-go/classify"
	"github.com/robotmem/robotmem-go/robotmem/salvage"
)

// Recover reads what can be read of the damaged file `from`, with its log, and
// writes it to a new one at o.Path, which must not exist. The damaged file and
// its payloads are only read: large payloads are linked to the new file's folder,
// or copied where the disk has no links. All indexes are made anew and the new
// file is examined. Of o the fields count that make and check a file.
//
// Ids, uids, times and versions are kept; revisions go on from the largest one.
// A memory whose text does not match its checksum is kept as invalidated, with
// the reason in its history. What was deleted is not brought back.
//
// It fails with Corrupt if the file is another program's or nothing of it can be
// known as ours, Conflict if a newer robotmem wrote it, Unavailable if another
// process has it open or the new one cannot be written. Then nothing is left.
func Recover(ctx context.Context, from string, o Options) (*RecoverReport, error) {
	if err := o.complete(); err != nil {
		return nil, wrap("recover", err)
	}
	report, err := recoverLocked(ctx, from, o)
	return report, wrap("recover", err)
}

func recoverLocked(ctx context.Context, from string, o Options) (*RecoverReport, error) {
	release, err := lockAlone(from)
	if err != nil {
		return nil, err
	}
	report, err := recoverInto(ctx, from, o)
	return report, errors.Join(err, release())
}

// recoverInto does the work; nobody else has the damaged file open.
func recoverInto(ctx context.Context, from string, o Options) (*RecoverReport, error) {
	to, err := filepath.Abs(o.Path)
	if err != nil {
		return nil, fail(Invalid, "db", "is not a path")
	}
	for _, name := range []string{to, to + "-wal", to + payloadsSuffix} {
		if _, err := os.Lstat(name); !errors.Is(err, fs.ErrNotExist) {
			return nil, fail(Conflict, "db", "there is a file under the new one's name; name one that does not exist")
		}
	}
	f, err := salvage.Open(from)
	if err != nil {
		return nil, fail(Unavailable, "db", "the damaged file cannot be read (%s)", reason(err))
	}
	defer func() { _ = f.Close() }() // only read
	id, err := identify(ctx, f)
	if err != nil {
		return nil, err
	}
	report, err := writeRecovered(ctx, f, id, from, to, o)
	if err != nil {
		return nil, errors.Join(err, removeRecovered(to))
	}
	return report, nil
}

// removeRecovered takes a new file away again that was not finished.
func removeRecovered(to string) error {
	errs := []error{os.RemoveAll(to + payloadsSuffix)}
	for _, suffix := range []string{"", "-wal", "-shm"} {
		if err := os.Remove(to + suffix); !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

func writeRecovered(ctx context.Context, f *salvage.File, id *identity, from, to string, o Options) (*RecoverReport, error) {
	rules, err := classify.Parse(o.Taxonomy)
	if err != nil {
		return nil, fail(Invalid, "taxonomy", "%v", err)
	}
	// Only to prepare records and to read payloads; it has no connection.
	e := &Engine{path: to, options: o, rules: rules, log: o.Logger}
	if err := createFile(ctx, o.Disk, to, e.connOptions(writerCacheKiB)); err != nil {
		return nil, err
	}
	r, err := newRecovery(ctx, e, f, id)
	if err != nil {
		return nil, err
	}
	err = r.run(ctx, from)
	if err = errors.Join(err, r.close()); err != nil {
		return nil, err
	}
	if !id.certain && r.verified == 0 {
		return nil, fail(Corrupt, "db", "nothing in the file can be known as written by robotmem; it was left as it is; pass another --db, or bring a backup back")
	}
	if err := r.reindex(ctx, from, to, o); err != nil {
		return nil, err
	}
	r.report.conclude()
	if err := e.payloads().Settle(); err != nil {
		return nil, fail(Unavailable, "db", "the new payloads could not be synced (%s)", rootReason(err))
	}
	return r.report, syncNew(to)
}

// reindex opens the new file as its user would, makes all indexes, says so in its
// audit log and examines it.
func (r *recovery) reindex(ctx context.Context, from, to string, o Options) error {
	o.Path, o.Embedder, o.Retention = to, nil, Retention{}
	e, err := open(ctx, o)
	if err != nil {
		return err
	}
	m := meterOf(ctx)
	err = e.write(ctx, func(tx *writeTx) error {
		_, err := e.rebuild(tx, m)
		return errors.Join(err, tx.audit(change{action: actionRepaired, reason: "recovered from " + filepath.Base(from)}))
	})
	if err == nil {
		e.dropIndexesInMemory()
		err = e.refillFeatures(ctx, m)
	}
	if err == nil {
		var d *DoctorResponse
		if d, err = e.Doctor(ctx, &DoctorRequest{Deep: true}); err == nil {
			r.report.Doctor = *d
		}
	}
	return errors.Join(err, e.Close())
}

// syncNew puts a closed file on the disk, with its name.
func syncNew(name string) error {
	if err := errors.Join(syncPath(name), syncPath(filepath.Dir(name))); err != nil {
		return fail(Unavailable, "db", "the new file could not be synced (%s)", reason(err))
	}
	return nil
}

// newer is the refusal of a file that a later program wrote.
func newer(version, known int) error {
	return fail(Conflict, "db", "the file has schema version %d, this program knows up to %d; it was left as it is; install a newer robotmem", version, known)
}

func pagesText(n int64) string {
	if n == 1 {
		return "1 page"
	}
	return fmt.Sprintf("%d pages", n)
}
