package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/robotmem/robotmem-go/robotmem"
)

type doctorCmd struct {
	Repair bool   `name:"repair" help:"Rebuild every index from the tables, then check. Of a damaged file recover what can be read into a new one, which takes its place; the damaged one is kept beside it."`
	Into   string `name:"into" placeholder:"FILE" help:"With --repair: write what can be read of the file to this new one, and leave the file as it is."`
	Deep   bool   `name:"deep" help:"Read every payload and compare its checksum; otherwise as many as 256 MiB hold."`
	JSON   bool   `name:"json" help:"Print the answer as JSON, as REST gives it."`
}

// marks are words, since a log or a screen reader shows no colour.
var marks = map[string]string{"ok": "ok  ", "warn": "WARN", "fail": "FAIL"}

func (c *doctorCmd) Run(ctx context.Context, a *app) error {
	if c.Into != "" && !c.Repair {
		return invalid("into", "is for --repair: the new file that is written")
	}
	if err := a.existing(); err != nil {
		return err
	}
	ctx, bar := a.watched(ctx)
	defer bar.Done()
	if c.Repair && a.Config.URL == "" {
		if done, err := c.recover(ctx, a, bar); done || err != nil {
			return err
		}
	} else if c.Into != "" {
		return invalid("into", "needs the file itself: run it where the node runs, without --url")
	}
	return a.Use(ctx, func(m node) error {
		var answer any
		var checkup *robotmem.DoctorResponse
		if c.Repair {
			r, err := m.Repair(ctx, &robotmem.RepairRequest{})
			if err != nil {
				return err
			}
			answer, checkup = r, &r.Doctor
		} else {
			r, err := m.Doctor(ctx, &robotmem.DoctorRequest{Deep: c.Deep})
			if err != nil {
				return err
			}
			answer, checkup = r, r
		}
		bar.Done()
		if err := c.show(a, answer, checkup); err != nil {
			return err
		}
		if !checkup.Healthy {
			return &exitError{code: exitUnhealthy}
		}
		return nil
	})
}

func (c *doctorCmd) show(a *app, answer any, d *robotmem.DoctorResponse) error {
	if c.JSON {
		return a.PrintJSON(answer)
	}
	w := &lines{w: a.Stdout}
	if r, ok := answer.(*robotmem.RepairResponse); ok {
		w.line("rebuilt: %s", strings.Join(r.Repaired, ", "))
	}
	width := 0
	for _, check := range d.Checks {
		width = max(width, len(check.Name))
	}
	for _, check := range d.Checks {
		w.line("%s  %-*s  %s", marks[check.Status], width, check.Name, oneLine(check.Detail))
		if check.Remedy != "" {
			w.line("      %*s  %s", width, "", fmt.Sprintf("remedy: %s", oneLine(check.Remedy)))
		}
	}
	verdict := "healthy"
	switch {
	case !d.Healthy:
		verdict = "NOT healthy"
	case d.Status == "warn":
		verdict = "healthy, with warnings"
	}
	w.line("%s", verdict)
	return w.err
}
