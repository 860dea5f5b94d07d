package maintenance

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/admin"
	"github.com/robotmem/robotmem-go/robotmem/internal/files"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
	"github.com/robotmem/robotmem-go/robotmem/internal/store/sqlite"
	"github.com/robotmem/robotmem-go/robotmem/internal/units"
	"github.com/robotmem/robotmem-go/robotmem/progress"
)

// The status of a check.
const (
	CheckOK   = "ok"
	CheckWarn = "warn"
	CheckFail = "fail"
	// CheckSkipped is the status of a check that could not be made. The remedy says how to make it.
	CheckSkipped = "skipped"
)

// If most questions to a node find nothing, they use other words than the stored texts, or
// ask in the wrong collection.
const (
	zeroHitWarn  = 0.5
	zeroHitLeast = 20
)

// fillTime limits how long a check waits until the full-text index is up to date.
const fillTime = 500 * time.Millisecond

// Doctor checks the file, the indexes and the payloads. stats are the node's.
func (mt *Maintainer) Doctor(ctx context.Context, stats *admin.StatsResponse,
	deep bool) (*admin.DoctorResponse, error) {
	res := &admin.DoctorResponse{}
	progress.Of(ctx).Stage("reading the indexes", "", 0)
	// The indexes in memory are examined too, so they are loaded first.
	mt.addFault(res, "indexes in memory", "they cannot be read", repairRemedy, mt.Index.Warm(ctx))

	// If another process holds the lock for longer than fillTime, the full-text index is compared as it is.
	fill, cancel := context.WithTimeout(ctx, fillTime)
	if err := mt.Store.FillFullText(fill); err != nil && fill.Err() == nil {
		mt.Log.Warn("doctor: the full-text index is not brought up to date", "err", err)
	}

	cancel()
	// The log is examined before the snapshot below, which would be one more reader of it.
	mt.examineLog(ctx, res)

	err := mt.Store.Read(ctx, func(c *store.Conn) error {
		return errors.Join(mt.examine(ctx, c, stats, res, deep), mt.examineCodes(c, res))
	})
	// Damage ends the examination of what it is in, and not the report about it.
	if errors.Is(err, robotmem.Corrupt) {
		mt.addFault(res, "file", "its tables cannot be read whole", mt.recoverRemedy(), err)
		err = nil
	}
	if err != nil {
		return nil, err
	}

	mt.addFault(res, postingsCheck, "it cannot be compared", repairRemedy, mt.examinePostings(ctx, res))
	mt.examineReranker(ctx, res)
	concludeChecks(res)

	return res, nil
}

func addCheck(d *admin.DoctorResponse, name, status, detail, remedy string) {
	if status == CheckOK {
		remedy = ""
	}
	d.Checks = append(d.Checks, admin.Check{Name: name, Status: status, Detail: detail, Remedy: remedy})
}

// addFinding adds a check whose detail has a code. The values are those of the format, of which detail is made.
func addFinding(d *admin.DoctorResponse, name, status, code, remedy, format string, values ...any) {
	addCheck(d, name, status, fmt.Sprintf(format, values...), remedy)
	check := &d.Checks[len(d.Checks)-1]
	check.Code = code

	for _, v := range values {
		check.Values = append(check.Values, fmt.Sprint(v))
	}
}

// addFault adds a check that could not be made, unless err is nil.
func (mt *Maintainer) addFault(d *admin.DoctorResponse, name, what, remedy string, err error) {
	if err != nil {
		mt.Log.Error("doctor", "check", name, "err", err)
		addCheck(d, name, CheckFail, what+": "+robotmem.Explain(err).Detail(), remedy)
	}
}

// addDamage adds a check whose faults only a recovery can repair. The code is that of the detail whole.
func (mt *Maintainer) addDamage(d *admin.DoctorResponse, name, unreadable, code, whole, damage string, err error) {
	switch {
	case err != nil:
		mt.addFault(d, name, unreadable, mt.recoverRemedy(), err)
	case damage != "":
		addCheck(d, name, CheckFail, damage, mt.recoverRemedy())
	default:
		addCheck(d, name, CheckOK, whole, "")
		d.Checks[len(d.Checks)-1].Code = code
	}
}

func concludeChecks(d *admin.DoctorResponse) {
	// The status is that of the worst check.
	for _, d.Status = range []string{CheckFail, CheckWarn, CheckSkipped, CheckOK} {
		if slices.ContainsFunc(d.Checks, func(c admin.Check) bool { return c.Status == d.Status }) {
			break
		}
	}
	d.Healthy = d.Status != CheckFail
}

func (mt *Maintainer) examine(ctx context.Context, c *store.Conn, stats *admin.StatsResponse, d *admin.DoctorResponse,
	deep bool) error {
	m := progress.Of(ctx)
	if mt.Store.InFile() {
		m.Stage("checking the file", "", 0)
		damage, err := c.Integrity(deep)
		mt.addDamage(d, "file", "it cannot be checked", "pages_readable", "every page reads as it should", damage, err)
		examineModes(mt.Store.Files(), d)
		mt.addFault(d, "encryption", "it cannot be checked", "", mt.examineEncryption(d))
		mt.examineWriting(d)
	}

	checks, err := mt.Store.Examine(c)
	if err != nil {
		return err
	}

	d.Checks = append(d.Checks, checks...)
	// A deep check compares every memory, past state and episode with its checksum.
	if deep {
		damage, err := c.Damaged()
		mt.addDamage(d, "texts", "they cannot be read", "texts_match", "every memory matches its checksum",
			damage.Text(), err)
	}

	m.Stage("comparing the indexes", "", 0)

	for _, check := range indexChecks {
		if check.ofFile && !mt.Store.InFile() {
			continue
		}
		mt.addFault(d, check.name, "it cannot be read", repairRemedy, check.run(c, d))
	}

	mt.addFault(d, "index contents", "they cannot be read", repairRemedy, mt.examineContents(ctx, c, d, deep))
	err = mt.examinePayloads(ctx, c, d, deep)
	backlog, berr := c.FeatureBacklog()
	if err := errors.Join(err, berr); err != nil {
		return err
	}

	if backlog > 0 {
		addFinding(d, "likeness", CheckWarn, "features_waiting",
			"they are worked out in the background while a node runs", "%d perceptions wait to be comparable", backlog)
	} else {
		addFinding(d, "likeness", CheckOK, "features_complete", "", "every perception with a payload was looked at")
	}

	mt.examineClock(d)
	examineBackups(stats.Backup, mt.Store.Files(), mt.Store.Now(), d)
	zeroHits(stats, d)
	examineSize(stats, d)

	return mt.examineEmbedder(c, d)
}

// examineEncryption says who can open an encrypted memory, and whether all of it is encrypted.
func (mt *Maintainer) examineEncryption(d *admin.DoctorResponse) error {
	k := mt.Store.Keys
	if k == nil {
		return nil
	}

	plain, err := mt.Store.Payloads().InClear()
	if err != nil {
		return err
	}
	if plain > 0 {
		addFinding(d, "encryption", CheckWarn, "payloads_in_clear",
			"stop every robotmem that uses the file and run robotmem encrypt again, which continues",
			"%d payloads are not encrypted", plain)
		return nil
	}

	addFinding(d, "encryption", CheckOK, "encrypted", "", "the file and its payloads are encrypted; keys that open them: %d", len(k.Recipients))

	return nil
}

// examineModes warns of files that other users of this machine can read. They are created for their
// owner alone, but a copy or a restored backup may be readable for others, on purpose or not.
func examineModes(place files.Memory, d *admin.DoctorResponse) {
	// Windows has access control lists instead of modes.
	if runtime.GOOS == "windows" {
		return
	}

	var reached, remedy []string

	for _, name := range place.All() {
		info, err := os.Stat(name)
		if err != nil || info.Mode().Perm()&0o077 == 0 {
			continue
		}
		mode := "600"
		if info.IsDir() {
			mode = "700"
		}
		reached = append(reached, filepath.Base(name))
		remedy = append(remedy, "chmod "+mode+" "+filepath.Base(name))
	}

	if len(reached) == 0 {
		addFinding(d, "permissions", CheckOK, "owner_only", "", "only their owner can read the file and its payloads")
		return
	}

	addCheck(d, "permissions", CheckWarn, "other users of this machine can reach "+strings.Join(reached, ", "),
		"in the folder of the file run: "+strings.Join(remedy, " && "))
}

// examineWriting adds a check with the reason if nothing can be written: the files are not in
// place, or the memory is served read-only.
func (mt *Maintainer) examineWriting(d *admin.DoctorResponse) {
	if err := mt.Store.InPlace(); err != nil {
		addCheck(d, "writing", CheckFail, robotmem.Explain(err).Detail()+": "+robotmem.Cause(err),
			"put the named files back, or copy the open ones from /proc while this process runs; "+
				"then run robotmem doctor again")
	}

	switch why := mt.Store.ReadOnly(); why {
	case "":
	case sqlite.AskedReadOnly:
		addFinding(d, "writing", CheckOK, "read_only_asked", "", "served read-only, as was asked")
	default:
		addCheck(d, "writing", CheckWarn, "served read-only: "+why,
			"make the file and its folder writable for this user (a disk that was remounted read-only has failed: "+
				"copy it first), then start the node again")
	}
}

// examineBackups judges the schedule of backups, if there is one.
func examineBackups(b *admin.BackupState, place files.Memory, now time.Time, d *admin.DoctorResponse) {
	if b == nil {
		return
	}

	every := time.Duration(b.EverySeconds) * time.Second
	last := "there is none yet"
	if !b.LastSuccess.IsZero() {
		last = "the last one is of " + b.LastSuccess.Format(time.RFC3339)
	}

	switch {
	case b.Failure != "":
		addCheck(d, "backup", CheckWarn, fmt.Sprintf("the backup of %s failed: %s; %s",
			b.LastFailure.Format(time.RFC3339), b.Failure, last),
			fmt.Sprintf("remove the cause; robotmem backup %q tries it at once, "+
				"and a running node within an hour", b.To))
	case now.Sub(b.LastSuccess) > 2*every:
		addCheck(d, "backup", CheckWarn, fmt.Sprintf("%s, and one is due every %s", last, every),
			"start robotmem web or robotmem mcp with the setting backup: backups are made while one runs; "+
				"if none are wanted, delete "+filepath.Base(place.BackupState())+" beside the memory")
	case b.OwnDisk:
		addCheck(d, "backup", CheckWarn, fmt.Sprintf("%s, and the folder %s is on the disk of the memory", last, b.To),
			"mount the disk for the backups, or name a folder on another disk as backup.to")
	default:
		addCheck(d, "backup", CheckOK, last+", in "+b.To, "")
	}
}

// leastFree is the free space below which a disk is nearly full, whatever the size of the file.
const leastFree = 64 << 20

// examineSize warns while there is still space to do something about it: a purge, a repair and a migration
// write the file once more beside itself.
func examineSize(s *admin.StatsResponse, d *admin.DoctorResponse) {
	const sizes = "%d active memories, %s in the file, %s of payloads"
	inFile, ofPayloads := units.BytesText(s.DBBytes), units.BytesText(s.PayloadBytes)
	if s.DiskFreeBytes > 0 && s.DiskFreeBytes < max(leastFree, s.DBBytes) {
		detail := fmt.Sprintf(sizes, s.Total, inFile, ofPayloads)
		addCheck(d, "size", CheckWarn, detail+"; the disk has "+units.BytesText(s.DiskFreeBytes)+" left",
			"free some space, or bound what is kept: robotmem retain, or the setting retention; "+
				"a purge and a repair need as much free space as the file has")
		return
	}
	addFinding(d, "size", CheckOK, "sizes", "", sizes, s.Total, inFile, ofPayloads)
}

// examineLog reports whether another program prevents the log from being brought into the file.
func (mt *Maintainer) examineLog(ctx context.Context, d *admin.DoctorResponse) {
	const name = "log"
	file, ok := mt.Store.Database.(interface {
		Pinned(context.Context) (*sqlite.PinnedLog, error)
	})
	if !ok || mt.Store.ReadOnly() != "" {
		return
	}

	pinned, err := file.Pinned(ctx)
	switch {
	case err != nil:
		mt.addFault(d, name, "it cannot be brought into the file", "look at the other checks", err)
	case pinned == nil:
		addFinding(d, name, CheckOK, "log_free", "", "all of it can be brought into the file")
	case pinned.NoSpace:
		// Nothing is damaged: the pages are safe in the log, and every read finds them there.
		addCheck(d, name, CheckWarn, fmt.Sprintf("the disk is full: %s wait in the log, where they are safe, "+
			"until there is space for them in the file", units.BytesText(pinned.Bytes)),
			"free some space; the next commits bring the log into the file")
	default:
		holders := "this system does not show which"
		if len(pinned.Holders) > 0 {
			holders = "it is open in " + strings.Join(pinned.Holders, ", ")
		}
		addCheck(d, name, CheckWarn, fmt.Sprintf("another program has been reading an old state of the file and "+
			"keeps %s in the log, which grows with every write; %s", units.BytesText(pinned.Bytes), holders),
			"end its transaction (a sqlite3 shell after BEGIN, a query that was not read to its end, "+
				"a backup or an export that hangs), or end that program; the next commits bring the log into the file")
	}
}

func zeroHits(s *admin.StatsResponse, d *admin.DoctorResponse) {
	if s.Recalls == 0 {
		addFinding(d, "zero-hit rate", CheckOK, "no_recall", "", "no recall yet")
		return
	}
	rate, status := float64(s.ZeroHits)/float64(s.Recalls), CheckOK
	if rate > zeroHitWarn && s.Recalls >= zeroHitLeast {
		status = CheckWarn
	}
	addFinding(d, "zero-hit rate", status, "zero_hits",
		"ask with fewer filters or in the words that were learnt, or in all collections with collection *",
		"%v %% of %d recalls found nothing", math.Round(100*rate), s.Recalls)
}

// recoverRemedy returns what to do about damaged rows, which Repair should not write.
func (mt *Maintainer) recoverRemedy() string {
	if !mt.Store.InFile() {
		return "examine the disk and the memory of the PostgreSQL server, then bring the database back from its backup; " +
			"what is not named here is whole"
	}
	return "stop every robotmem that uses the file, then run: robotmem doctor --repair, " +
		"which recovers what can be read into a new file and keeps the damaged one"
}

// Damage describes the damage of the pages and rows of the file, "" if there is none. A
// file with damage needs a recovery; indexes that differ from the tables need Repair.
func (mt *Maintainer) Damage(ctx context.Context) (found string, err error) {
	err = mt.Store.Read(ctx, func(c *store.Conn) (err error) {
		if found, err = c.PageDamage(); found != "" || err != nil {
			return err
		}
		damage, err := c.Damaged()
		found = damage.Text()
		return err
	})
	if errors.Is(robotmem.Wrap("doctor", err), robotmem.Corrupt) {
		return robotmem.Explain(err).Detail(), nil
	}

	return found, robotmem.Wrap("doctor", err)
}

// Repair rebuilds every index from the tables and lists the indexes. The reason is for the log.
func (mt *Maintainer) Repair(ctx context.Context, reason string) (repaired []string, err error) {
	m := progress.Of(ctx)
	err = mt.Store.Write(ctx, func(tx *store.Tx) (err error) {
		repaired, err = mt.rebuild(tx, m)
		return errors.Join(err, tx.Audit(admin.AuditEntry{Action: store.ActionRepaired, Reason: reason}))
	})
	if err != nil {
		return nil, err
	}
	// The indexes in memory are loaded again from the tables, at the next recall.
	mt.Index.Drop()

	return repaired, mt.refillFeatures(ctx, m)
}

// refillFeatures extracts the features of all perceptions that wait for them.
func (mt *Maintainer) refillFeatures(ctx context.Context, m *progress.Meter) error {
	var waiting int64
	if err := mt.Store.Read(ctx,
		func(c *store.Conn) (err error) { waiting, err = c.FeatureBacklog(); return err }); err != nil {
		return err
	}
	m.Stage("making perceptions comparable", "memories", waiting)

	for after, n := int64(0), 1; n > 0; {
		var err error
		if n, err = mt.FillFeatures(ctx, &after, nil); err != nil {
			return err
		}
		m.Add(int64(n))
	}

	return nil
}
