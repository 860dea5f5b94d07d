package local

import (
	"context"
	"errors"
	"fmt"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/sqlite"
)

const (
	checkOK   = "ok"
	checkWarn = "warn"
	checkFail = "fail"

	// A node whose questions mostly find nothing is asked in other words than
	// it was taught in, or in the wrong collection.
	zeroHitWarn  = 0.5
	zeroHitLeast = 20
)

// doctor checks the file, the indexes and the payloads. stats are the node's.
func (mt *maintainer) doctor(ctx context.Context, stats *robotmem.StatsResponse, deep bool) (*robotmem.DoctorResponse, error) {
	res := &robotmem.DoctorResponse{}
	robotmem.MeterOf(ctx).Stage("reading the indexes", "", 0)
	// The indexes in memory are examined too, so they are read now.
	if err := mt.index.warm(ctx); err != nil {
		mt.log.Error("reading the indexes", "err", err)
		addCheck(res, "indexes in memory", checkFail, "they cannot be read: "+sqlite.Explain(err).Detail(), repairRemedy)
	}
	err := mt.store.read(ctx, func(c *conn) error { return mt.examine(ctx, c, stats, res, deep) })
	if err == nil {
		err = mt.examineCodes(ctx, res)
	}
	if err != nil {
		return nil, err
	}
	concludeChecks(res)
	return res, nil
}

func addCheck(d *robotmem.DoctorResponse, name, status, detail, remedy string) {
	if status == checkOK {
		remedy = ""
	}
	d.Checks = append(d.Checks, robotmem.Check{Name: name, Status: status, Detail: detail, Remedy: remedy})
}

func concludeChecks(d *robotmem.DoctorResponse) {
	d.Status, d.Healthy = checkOK, true
	for _, c := range d.Checks {
		switch {
		case c.Status == checkFail:
			d.Status, d.Healthy = checkFail, false
		case c.Status == checkWarn && d.Status == checkOK:
			d.Status = checkWarn
		}
	}
}

func (mt *maintainer) examine(ctx context.Context, c *conn, stats *robotmem.StatsResponse, d *robotmem.DoctorResponse, deep bool) error {
	m := robotmem.MeterOf(ctx)
	m.Stage("checking the file", "", 0)
	damage, err := c.integrity(deep)
	if err != nil {
		damage = "it cannot be checked: " + sqlite.Explain(err).Detail()
		mt.log.Error("integrity check", "err", err)
	}
	if damage == "" {
		addCheck(d, "file", checkOK, "every page reads as it should", "")
	} else {
		addCheck(d, "file", checkFail, damage, recoverRemedy)
	}
	if deep {
		if err := mt.examineTexts(c, d); err != nil {
			return err
		}
	}
	examineModes(mt.store.Path(), mt.store.payloads().Dir, d)
	mt.examineWriting(d)
	m.Stage("comparing the indexes", "", 0)
	for _, sync := range indexChecks {
		if err := sync.run(c, d); err != nil {
			mt.log.Error("index check", "index", sync.name, "err", err)
			addCheck(d, sync.name, checkFail, "it cannot be read: "+sqlite.Explain(err).Detail(), repairRemedy)
		}
	}
	if err := mt.examineSample(c, d); err != nil {
		mt.log.Error("sample check", "err", err)
		addCheck(d, "index contents", checkFail, "they cannot be read: "+sqlite.Explain(err).Detail(), repairRemedy)
	}
	if err := mt.examineWords(c, d); err != nil {
		mt.log.Error("check of the words", "err", err)
		addCheck(d, "index of words in memory", checkFail, "it cannot be compared: "+sqlite.Explain(err).Detail(), repairRemedy)
	}
	if err := mt.examinePayloads(ctx, c, d, deep); err != nil {
		return err
	}
	backlog, err := c.featureBacklog()
	if err != nil {
		return err
	}
	if backlog > 0 {
		addCheck(d, "likeness", checkWarn, fmt.Sprintf("%d perceptions wait to be comparable", backlog), "they are worked out in the background while a node runs")
	} else {
		addCheck(d, "likeness", checkOK, "every perception with a payload was looked at", "")
	}
	zeroHits(stats, d)
	addCheck(d, "size", checkOK, fmt.Sprintf("%d active memories, %s in the file, %s of payloads", stats.Total, sqlite.BytesText(stats.DBBytes), sqlite.BytesText(stats.PayloadBytes)), "")
	return mt.examineEmbedder(c, d)
}

// examineTexts compares every memory with the checksum it was stored with.
func (mt *maintainer) examineTexts(c *conn, d *robotmem.DoctorResponse) error {
	n, some, err := c.changedTexts()
	switch {
	case err != nil:
		mt.log.Error("check of the texts", "err", err)
		addCheck(d, "texts", checkFail, "they cannot be read: "+sqlite.Explain(err).Detail(), recoverRemedy)
	case n > 0:
		addCheck(d, "texts", checkFail, changedText(n, some), recoverRemedy)
	default:
		addCheck(d, "texts", checkOK, "every memory matches its checksum", "")
	}
	return nil
}

func zeroHits(s *robotmem.StatsResponse, d *robotmem.DoctorResponse) {
	if s.Recalls == 0 {
		addCheck(d, "zero-hit rate", checkOK, "no recall yet", "")
		return
	}
	rate, status := float64(s.ZeroHits)/float64(s.Recalls), checkOK
	if rate > zeroHitWarn && s.Recalls >= zeroHitLeast {
		status = checkWarn
	}
	addCheck(d, "zero-hit rate", status, fmt.Sprintf("%.0f %% of %d recalls found nothing", 100*rate, s.Recalls),
		"ask with fewer filters or in the words that were learnt, or in all collections with collection *")
}

// recoverRemedy is for a file that Repair should not write to any more.
const recoverRemedy = "stop every robotmem that uses the file, then run: robotmem doctor --repair, which recovers what can be read into a new file and keeps the damaged one"

// damage returns what is wrong with the pages of the file, "" if nothing. A file
// with damage is for RecoverInPlace; indexes that differ from the tables are for
// Repair.
func (mt *maintainer) damage(ctx context.Context) (found string, err error) {
	err = mt.store.read(ctx, func(c *conn) (err error) {
		if found, err = c.pageDamage(); found != "" || err != nil {
			return err
		}
		n, some, err := c.changedTexts()
		if n > 0 {
			found = changedText(n, some)
		}
		return err
	})
	if errors.Is(sqlite.Wrap("doctor", err), robotmem.Corrupt) {
		return sqlite.Explain(err).Detail(), nil
	}
	return found, sqlite.Wrap("doctor", err)
}

func changedText(n int64, some []int64) string {
	return fmt.Sprintf("%d memories do not match the checksum of their text, memory %d the first", n, some[0])
}

// repair rebuilds every index from the tables and lists them.
func (mt *maintainer) repair(ctx context.Context) (repaired []string, err error) {
	m := robotmem.MeterOf(ctx)
	err = mt.store.write(ctx, func(tx *writeTx) (err error) {
		repaired, err = mt.rebuild(tx, m)
		return errors.Join(err, tx.audit(change{action: actionRepaired}))
	})
	if err != nil {
		return nil, err
	}
	mt.index.drop()
	return repaired, mt.refillFeatures(ctx, m)
}

// refillFeatures works out what perceptions are compared by, of all that wait.
func (mt *maintainer) refillFeatures(ctx context.Context, m *robotmem.Meter) error {
	if m != nil {
		var waiting int64
		if err := mt.store.read(ctx, func(c *conn) (err error) { waiting, err = c.featureBacklog(); return err }); err != nil {
			return err
		}
		m.Stage("making perceptions comparable", "memories", waiting)
	}
	for after, n := int64(0), 1; n > 0; {
		var err error
		if n, err = mt.fillFeatures(ctx, &after); err != nil {
			return err
		}
		m.Add(int64(n))
	}
	return nil
}
