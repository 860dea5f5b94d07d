package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
)

func printPurged(w *lines, r *robotmem.ForgetResponse) {
	p := r.Purged
	w.line("purged %d", r.MemoryID)
	w.detail("past states", fmt.Sprint(p.Versions))
	if p.Payload != "" {
		w.detail("payload", p.Payload)
	}
	w.detail("old pages", p.OldPages)
	if len(p.StoodFor) > 0 {
		w.detail("it stood for", strings.Trim(fmt.Sprint(p.StoodFor), "[]")+", which hold their own text still")
	}
	w.detail("not reached", strings.Join(p.NotReached, "; "))
}

func printAudit(w *lines, r *robotmem.AuditResponse) {
	w.table("AT\tACTION\tMEMORY\tWHO\tTHROUGH\tREASON", len(r.Entries), func(i int) string {
		e := r.Entries[i]
		of := e.SessionID
		if e.MemoryID != 0 {
			of = fmt.Sprint(e.MemoryID)
		}
		return fmt.Sprintf("%s\t%s\t%s\t%s\t%s\t%s", e.At.Format(time.RFC3339), e.Action, orDash(of), orDash(e.Who), orDash(e.Tool), orDash(oneLine(e.Reason)))
	})
	if r.Next != "" {
		w.line("more: --cursor %s", r.Next)
	}
}

// provenanceText is who stored a memory, through what, for which robot.
func provenanceText(p *robotmem.Provenance) string {
	text := orDash(p.Who)
	if p.Tool != "" {
		text += " through " + p.Tool
	}
	if p.Robot != "" {
		text += ", robot " + p.Robot
	}
	return text
}
