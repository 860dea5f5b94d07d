package local

import (
	"context"
	"errors"
	"fmt"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/sqlite"
)

// Stats implements Service.
func (e *Engine) Stats(ctx context.Context, _ *robotmem.StatsRequest) (*robotmem.StatsResponse, error) {
	res := &robotmem.StatsResponse{ByStatus: map[string]int64{}, ByType: map[string]int64{}, ByCategory: map[string]int64{}, Embedder: "none"}
	e.tallies.mu.Lock()
	res.Recalls, res.ZeroHits = e.tallies.recalls, e.tallies.zeroHits
	e.tallies.mu.Unlock()
	err := e.store.read(ctx, func(c *conn) error {
		if err := e.index.roster.sync(c); err != nil {
			return err
		}
		e.index.roster.tally(res, e.now())
		if err := e.embeddings.stats(c, res); err != nil {
			return err
		}
		if e.behind.Load() { // counting walks over all perceptions
			n, err := c.featureBacklog()
			if err != nil {
				return err
			}
			res.ToCompare = n
		}
		return c.stats(res)
	})
	if err != nil {
		return nil, sqlite.Wrap("stats", err)
	}
	if res.DiskFreeBytes, err = e.options.Disk.FreeBytes(e.store.Path()); err != nil {
		e.log.Warn("free space of the disk not read", "err", err)
	}
	res.Workers = e.workers(res)
	return res, nil
}

const (
	checkOK   = "ok"
	checkWarn = "warn"
	checkFail = "fail"

	// A node whose questions mostly find nothing is asked in other words than
	// it was taught in, or in the wrong collection.
	zeroHitWarn  = 0.5
	zeroHitLeast = 20
)

// Doctor implements Service.
func (e *Engine) Doctor(ctx context.Context, req *robotmem.DoctorRequest) (*robotmem.DoctorResponse, error) {
	deep := req != nil && req.Deep
	res := &robotmem.DoctorResponse{}
	stats, err := e.Stats(ctx, &robotmem.StatsRequest{})
	if err != nil {
		return nil, sqlite.Wrap("doctor", err)
	}
	robotmem.MeterOf(ctx).Stage("reading the indexes", "", 0)
	// The indexes in memory are examined too, so they are read now.
	if err := e.Warm(ctx); err != nil {
		e.log.Error("reading the indexes", "err", err)
		addCheck(res, "indexes in memory", checkFail, "they cannot be read: "+sqlite.Explain(err).Detail(), repairRemedy)
	}
	err = e.store.read(ctx, func(c *conn) error { return e.examine(ctx, c, stats, res, deep) })
	if err == nil {
		err = e.examineCodes(ctx, res)
	}
	if err != nil {
		return nil, sqlite.Wrap("doctor", err)
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

func (e *Engine) examine(ctx context.Context, c *conn, stats *robotmem.StatsResponse, d *robotmem.DoctorResponse, deep bool) error {
	m := robotmem.MeterOf(ctx)
	m.Stage("checking the file", "", 0)
	damage, err := c.integrity(deep)
	if err != nil {
		damage = "it cannot be checked: " + sqlite.Explain(err).Detail()
		e.log.Error("integrity check", "err", err)
	}
	if damage == "" {
		addCheck(d, "file", checkOK, "every page reads as it should", "")
	} else {
		addCheck(d, "file", checkFail, damage, recoverRemedy)
	}
	if deep {
		if err := e.examineTexts(c, d); err != nil {
			return err
		}
	}
	examineModes(e.store.Path(), e.store.payloads().Dir, d)
	e.examineWriting(d)
	m.Stage("comparing the indexes", "", 0)
	for _, sync := range indexChecks {
		if err := sync.run(c, d); err != nil {
			e.log.Error("index check", "index", sync.name, "err", err)
			addCheck(d, sync.name, checkFail, "it cannot be read: "+sqlite.Explain(err).Detail(), repairRemedy)
		}
	}
	if err := e.examineSample(c, d); err != nil {
		e.log.Error("sample check", "err", err)
		addCheck(d, "index contents", checkFail, "they cannot be read: "+sqlite.Explain(err).Detail(), repairRemedy)
	}
	if err := e.examineWords(c, d); err != nil {
		e.log.Error("check of the words", "err", err)
		addCheck(d, "index of words in memory", checkFail, "it cannot be compared: "+sqlite.Explain(err).Detail(), repairRemedy)
	}
	if err := e.examinePayloads(ctx, c, d, deep); err != nil {
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
	return e.examineEmbedder(c, d)
}

// examineTexts compares every memory with the checksum it was stored with.
func (e *Engine) examineTexts(c *conn, d *robotmem.DoctorResponse) error {
	n, some, err := c.changedTexts()
	switch {
	case err != nil:
		e.log.Error("check of the texts", "err", err)
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

// Damage returns what is wrong with the pages of the file, "" if nothing. A file
// with damage is for RecoverInPlace; indexes that differ from the tables are for
// Repair.
func (e *Engine) Damage(ctx context.Context) (found string, err error) {
	err = e.store.read(ctx, func(c *conn) (err error) {
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

// Repair implements Service.
func (e *Engine) Repair(ctx context.Context, _ *robotmem.RepairRequest) (*robotmem.RepairResponse, error) {
	res := &robotmem.RepairResponse{Repaired: []string{}}
	m := robotmem.MeterOf(ctx)
	err := e.store.write(ctx, func(tx *writeTx) (err error) {
		res.Repaired, err = e.rebuild(tx, m)
		return errors.Join(err, tx.audit(change{action: actionRepaired}))
	})
	if err != nil {
		return nil, sqlite.Wrap("repair", err)
	}
	e.index.drop()
	if err := e.refillFeatures(ctx, m); err != nil {
		return nil, sqlite.Wrap("repair", err)
	}
	d, err := e.Doctor(ctx, &robotmem.DoctorRequest{})
	if err != nil {
		return nil, sqlite.Wrap("repair", err)
	}
	res.Doctor = *d
	return res, nil
}

// refillFeatures works out what perceptions are compared by, of all that wait.
func (e *Engine) refillFeatures(ctx context.Context, m *robotmem.Meter) error {
	if m != nil {
		var waiting int64
		if err := e.store.read(ctx, func(c *conn) (err error) { waiting, err = c.featureBacklog(); return err }); err != nil {
			return err
		}
		m.Stage("making perceptions comparable", "memories", waiting)
	}
	for after, n := int64(0), 1; n > 0; {
		var err error
		if n, err = e.fillFeatures(ctx, &after); err != nil {
			return err
		}
		m.Add(int64(n))
	}
	return nil
}
