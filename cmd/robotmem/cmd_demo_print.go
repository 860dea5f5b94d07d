package main

import (
	"fmt"
	"strings"

	"github.com/robotmem/robotmem-go/robotmem"
)

// demoWidth is what fits a usual terminal.
const demoWidth = 100

// print tells the run as a story.
func (r *demoReport) print(a *app) error {
	w := &demoText{lines{w: a.Stdout}}
	r.printLived(w, a)
	r.printWords(w)
	r.printFilter(w)
	r.printLikeness(w)
	r.printBriefing(w)
	r.printState(w)
	r.printNext(w)
	return w.err
}

// demoText is lines no longer than demoWidth.
type demoText struct{ lines }

func (w *demoText) say(format string, args ...any) {
	w.line("%s", clip(oneLine(fmt.Sprintf(format, args...)), demoWidth))
}

// title begins a part, with the time that its question took at the right.
func (w *demoText) title(text string, ms float64) {
	w.line("")
	w.say("%-*s %6.1f ms", demoWidth-10, clip(text, demoWidth-11), ms)
}

// answers shows memories whole, over as many lines as they need.
func (w *demoText) answers(list []demoAnswer) {
	for _, a := range list {
		line := fmt.Sprintf("   [%d]", a.MemoryID)
		for word := range strings.FieldsSeq(oneLine(a.Content)) {
			if len(line)+1+len(word) > demoWidth {
				w.say("%s", line)
				line = "        "
			}
			line += " " + word
		}
		w.say("%s", line)
	}
}

func percent(share float64) string { return fmt.Sprintf("%.0f %%", 100*share) }

func (r *demoReport) printLived(w *demoText, a *app) {
	l := &r.Lived
	w.say("A robot arm's %d recordings, lived as %d sessions in %.1f s", l.Recordings, l.Sessions, l.Seconds)
	w.say("   Robot Execution Failures (L. Seabra Lopes, L. Camarinha-Matos, 1999), UCI, CC BY 4.0")
	w.say("   force and torque at the wrist, 15 samples in 315 ms; the source names no units")
	w.line("")
	w.say("   %-42s %10s %10s %10s", "task", "recordings", "succeeded", "sessions")
	for _, t := range l.Tasks {
		w.say("   %-42s %10d %10d %10d", t.Name, t.Recordings, t.Successes, t.Sessions)
	}
	w.line("")
	w.say("   %d traces sensed, %d facts learnt, %d facts said what was known, %d merged",
		l.Perceptions, l.Facts, l.Duplicates, l.Merged)
	w.say("   a write, durability %s: p50 %.1f ms, p99 %.1f ms", a.Config.Durability, l.Writes.P50MS, l.Writes.P99MS)
	w.say("   Before a trace was stored, the robot asked for the most similar one that it knew.")
	w.say("   It had the same class %d times of %d (%s; by chance %s). p50 %.1f ms, p99 %.1f ms.",
		l.Foreseen.Right, l.Foreseen.Of, percent(l.Foreseen.share()), percent(l.Chance), l.Asks.P50MS, l.Asks.P99MS)
}

func (r *demoReport) printWords(w *demoText) {
	q := &r.Words
	w.title(fmt.Sprintf("1. In words: %q, in all tasks", q.Query), q.QueryMS)
	w.answers(q.Answers)
	w.say("   In %d of %d the torque rises, %d of %d are of that task.", q.Rising, len(q.Answers), q.RightJob, len(q.Answers))
}

func (r *demoReport) printFilter(w *demoText) {
	f := &r.Filter
	w.title(`2. By structure: task.class is one of the `+fmt.Sprint(len(f.Classes))+` kinds of collision`, f.QueryMS)
	w.say("   %d of %d collisions found with %d questions, %d of anything else.", f.Found, f.Known, f.Questions, f.Others)
	w.say("   With params.peak_force above %.0f as well:", f.Above)
	w.answers(f.Hardest)
	w.say("   The rarest class, %s: %d of %d found among %d.", f.Rarest, f.RareFound, f.RareKnown, r.Lived.Perceptions)
}

func (r *demoReport) printLikeness(w *demoText) {
	l := &r.Likeness
	w.title(fmt.Sprintf("3. By trace: most like [%d], %s in %s", l.Probe.MemoryID, l.Probe.Class, l.Probe.Task), l.QueryMS)
	for _, a := range l.Nearest {
		w.say("   %-6s %5.2f away  %-16s peak force %v, peak torque %v, torque %s", fmt.Sprintf("[%d]", a.MemoryID),
			a.Away, a.Class, a.Params["peak_force"], a.Params["peak_torque"], a.Trend)
	}
	w.say("   %d of the %d nearest share its class. With each of the %d traces as the question: %s",
		l.Same, len(l.Nearest), l.Asks.N, percent(l.All.share()))
	w.say("   (by chance %s), p50 %.1f ms, p99 %.1f ms.", percent(l.Chance), l.Asks.P50MS, l.Asks.P99MS)
}

func (r *demoReport) printBriefing(w *demoText) {
	w.title("4. A new session begins: its briefing", r.BriefMS)
	for s := range strings.Lines(r.Briefing.Text) {
		w.say("   %s", strings.TrimSpace(s))
	}
}

func (r *demoReport) printState(w *demoText) {
	s := r.Stats
	w.line("")
	w.say("5. The node: %d memories in %d collections, %d sessions, %d questions answered, %d without a hit",
		s.Total, s.Collections, s.Sessions, s.Recalls, s.ZeroHits)
	w.say("   by type: %s; by category: %s", countsText(s.ByType), countsText(s.ByCategory))
	w.say("   doctor: %s (%s)", r.Doctor.Status, checksText(r.Doctor))
	w.say("   one file, %s, embedder %s", sizeText(s.DBBytes), s.Embedder)
	if r.Kept {
		// Not clipped: it is there to be copied.
		w.line("   %s", r.DB)
	}
	w.say("   the whole demo took %.1f s", r.Seconds)
}

func checksText(d *robotmem.DoctorResponse) string {
	ok := 0
	for _, c := range d.Checks {
		if c.Status == "ok" {
			ok++
		}
	}
	return fmt.Sprintf("%d of %d checks ok", ok, len(d.Checks))
}

// printNext names commands that work on the demo's file as they stand.
func (r *demoReport) printNext(w *demoText) {
	if !r.Kept {
		return
	}
	task := r.Lived.Tasks[0].Collection
	w.line("")
	w.say("Next, on the same file:")
	w.line("   go install ./cmd/robotmem    # once, if the shell knows no robotmem")
	w.line("   export ROBOTMEM_DB=%s", shellQuote(r.DB))
	w.line(`   robotmem recall "torque rising" --collection '*' --explain`)
	w.line(`   robotmem recall --collection '*' --context-filter '{"task.class":%q}' --type fact`, r.Filter.Rarest)
	w.line(`   robotmem recall --collection %s --like '{"memory_id":%d}'`, task, r.Likeness.Probe.MemoryID)
	w.line("   robotmem data %d", r.Likeness.Probe.MemoryID)
	w.line("   robotmem session end %s --outcome-score 1", r.SessionID)
	w.line("   robotmem web")
}

// shellQuote makes s one word of a POSIX shell.
func shellQuote(s string) string {
	if strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+:@%") == "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
