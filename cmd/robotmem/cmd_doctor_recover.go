package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/local"
)

// recover recovers a file that is damaged, or with --into any file. done is false
// when there is nothing to recover and the indexes alone may need a repair.
func (c *doctorCmd) recover(ctx context.Context, a *app, bar *progress) (done bool, err error) {
	path, err := a.Config.dbPath()
	if err != nil {
		return false, err
	}
	do, damage := local.RecoverInPlace, ""
	if c.Into != "" {
		do = func(ctx context.Context, o local.Options) (*local.RecoverReport, error) {
			return local.Recover(ctx, path, o)
		}
	} else if damage, err = damageOf(ctx, a, path); damage == "" || err != nil {
		return false, err
	}
	o, err := a.options(path, clientCLI)
	if err != nil {
		return false, err
	}
	if c.Into != "" {
		o.Path = c.Into
	}
	report, err := do(ctx, o)
	if err != nil {
		return false, err
	}
	bar.Done()
	if err := c.showRecovered(a, report, damage); err != nil {
		return true, err
	}
	if !report.Whole {
		return true, &exitError{code: exitUnhealthy}
	}
	return true, nil
}

// damageOf says what is wrong with a file, "" if only its indexes may need to be
// rebuilt. A file that looks like a newer version's may have a damaged header.
func damageOf(ctx context.Context, a *app, path string) (string, error) {
	m, err := a.open(ctx, path, clientCLI)
	if told := (*robotmem.Error)(nil); errors.As(err, &told) && (told.Kind == robotmem.Corrupt || told.Kind == robotmem.Conflict) {
		return told.Detail(), nil
	}
	if err != nil {
		return "", err
	}
	damage, err := m.Damage(ctx)
	if damage != "" {
		if cerr := m.Close(); cerr != nil {
			a.Log.Warn("closing the damaged file", "err", cerr)
		}
		return damage, nil
	}
	return "", errors.Join(err, m.Close())
}

func (c *doctorCmd) showRecovered(a *app, r *local.RecoverReport, damage string) error {
	if c.JSON {
		return a.PrintJSON(r)
	}
	w := &lines{w: a.Stdout}
	if damage != "" {
		w.line("damaged: %s", oneLine(damage))
	}
	w.line("recovered: %d memories", r.Memories)
	for _, t := range r.Tables {
		if t.Unreadable == 0 && !t.Torn {
			continue
		}
		text := fmt.Sprintf("  %s: %d rows kept", t.Name, t.Kept)
		if t.Unreadable > 0 {
			text += fmt.Sprintf(", %d could not be read", t.Unreadable)
		}
		if t.Torn {
			text += ", more may be missing"
		}
		w.line("%s", text)
	}
	if r.Missing > 0 {
		w.line("lost: %d memories: ids %s", r.Missing, idsText(r.MissingIDs, r.Missing))
	}
	if r.DoubtfulCount > 0 {
		w.line("doubtful: %d memories do not match their checksum and are kept as invalidated: ids %s", r.DoubtfulCount, idsText(r.Doubtful, r.DoubtfulCount))
	}
	if r.LostPayloads > 0 {
		w.line("lost: the bytes of %d perceptions; their descriptions are there", r.LostPayloads)
	}
	if r.Reactivated > 0 {
		w.line("active again, because what superseded them is lost: %d memories", r.Reactivated)
	}
	for _, note := range r.Notes {
		w.line("note: %s", note)
	}
	w.line("the file: %s", r.File)
	if r.Damaged != "" {
		w.line("the damaged one is kept: %s", r.Damaged)
	}
	switch {
	case r.Whole:
		w.line("nothing is lost")
	case r.Doctor.Healthy:
		w.line("healthy again; what is lost may be in a backup")
	default:
		w.line("NOT healthy: run robotmem doctor --deep")
	}
	return w.err
}

// idsText is a list of ids, with … where there are more.
func idsText(ids []int64, all int64) string {
	const most = 20
	text := ""
	for i, id := range ids[:min(len(ids), most)] {
		if i > 0 {
			text += ", "
		}
		text += fmt.Sprint(id)
	}
	if all > int64(min(len(ids), most)) {
		text += ", …"
	}
	return text
}
