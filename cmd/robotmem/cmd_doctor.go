package main

import (
	"context"
	"errors"
	"reflect"
	"strings"

	"github.com/robotmem/robotmem-go/cmd/robotmem/internal/printed"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/admin"
	"github.com/robotmem/robotmem-go/robotmem/local"
)

type doctorCmd struct {
	Repair bool `name:"repair" help:"Rebuild every index from the tables, then check. Of a damaged file recover what can be read into a new one, which takes its place; the damaged one is kept beside it."`
	Deep   bool `name:"deep" help:"Read every payload and compare its checksum; otherwise as many as 256 MiB hold."`
	JSON   bool `name:"json" help:"Print the answer as JSON, as REST gives it."`
}

// marks are words: a log or a screen reader shows no colour.
var marks = map[string]string{"ok": "ok  ", "warn": "WARN", "fail": "FAIL", "skipped": "SKIP"}

// Run checks the node, or repairs it.
func (c *doctorCmd) Run(ctx context.Context, a *app) error {
	if err := a.existing(); err != nil {
		return err
	}

	ctx = a.watched(ctx)
	// Recover first: Use would fail to open a damaged file. On a server PostgreSQL guards the data.
	if c.Repair && a.Config.URL == "" && !a.Config.onServer() {
		if done, err := c.recover(ctx, a); done || err != nil {
			return err
		}
	}

	return a.Use(ctx, func(m robotmem.Node) error {
		var (
			answer  any
			rebuilt []string
			checkup *admin.DoctorResponse
		)
		if c.Repair {
			r, err := m.Repair(ctx, &admin.RepairRequest{})
			if err != nil {
				return err
			}
			answer, rebuilt, checkup = r, r.Repaired, &r.Doctor
		} else {
			r, err := m.Doctor(ctx, &admin.DoctorRequest{Deep: c.Deep})
			if err != nil {
				return err
			}
			answer, checkup = r, r
		}

		err := a.show(c.JSON, answer, func(w *printed.Lines) {
			if c.Repair {
				w.Line("rebuilt: %s", strings.Join(rebuilt, ", "))
			}
			printCheckup(w, checkup)
		})
		if err == nil && !checkup.Healthy {
			err = exitUnhealthy
		}

		return err
	})
}

func printCheckup(w *printed.Lines, d *admin.DoctorResponse) {
	width := 0
	for _, check := range d.Checks {
		width = max(width, len(check.Name))
	}

	for _, check := range d.Checks {
		w.Line("%s  %-*s  %s", marks[check.Status], width, check.Name, printed.OneLine(check.Detail))
		if check.Remedy != "" {
			w.Line("      %*s  remedy: %s", width, "", printed.OneLine(check.Remedy))
		}
	}

	switch {
	case !d.Healthy:
		w.Line("NOT healthy")
	case d.Status == "warn":
		w.Line("healthy, with warnings")
	case d.Status == "skipped":
		w.Line("healthy, as far as it was checked")
	default:
		w.Line("healthy")
	}
}

// recover recovers a damaged file. done is false if the file is readable, so that at most its
// indexes need a repair.
func (c *doctorCmd) recover(ctx context.Context, a *app) (done bool, err error) {
	path, err := a.Config.dbPath()
	if err != nil {
		return false, err
	}

	damage, err := damageOf(ctx, a, path)
	// Otherwise an error is of closing the damaged file.
	if damage == "" {
		return false, err
	}

	o, err := a.options()
	if err != nil {
		return false, err
	}

	report, err := local.RecoverInPlace(ctx, path, o)
	if err != nil {
		return false, err
	}

	err = a.show(c.JSON, report, func(w *printed.Lines) { printRecovered(w, report, damage) })
	if err == nil && !report.Whole {
		err = exitUnhealthy
	}

	return true, err
}

// damageOf returns the damage of a file, "" if at most its indexes need a repair. A conflict
// may be a damaged header that looks like that of a newer version.
func damageOf(ctx context.Context, a *app, path string) (string, error) {
	m, err := a.Open(ctx, path)
	if told := (*robotmem.Error)(nil); errors.As(err, &told) && (told.Kind == robotmem.Corrupt || told.Kind == robotmem.Conflict) {
		return told.Detail(), nil
	}
	if err != nil {
		return "", err
	}
	damage, err := m.Damage(ctx)

	return damage, errors.Join(err, m.Close())
}

func printRecovered(w *printed.Lines, r *admin.RecoverReport, damage string) {
	w.Line("damaged: %s", printed.OneLine(damage))
	w.Fields(reflect.ValueOf(*r), "")
	if !r.Whole {
		w.Line("look for what is missing in a backup")
	}
}
