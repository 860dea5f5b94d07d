package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/robotmem/robotmem-go/robotmem"
)

// maxCell is how many characters of a text a table shows; --json and get show
// all of it.
const maxCell = 80

// print writes an answer for people: short, one line a thing.
func (a *app) print(res any) error {
	w := &lines{w: a.Stdout}
	switch r := res.(type) {
	case *robotmem.LearnResponse:
		printLearn(w, r)
	case *robotmem.RecallResponse:
		printRecall(w, r)
	case *robotmem.SavePerceptionResponse:
		w.line("saved %d (%s, %s, %s) in %s", r.MemoryID, r.PerceptionType, orDash(r.MediaType), sizeText(r.Bytes), r.Collection)
		w.detail("summary", r.Summary)
		w.detail("sha256", r.SHA256)
	case *robotmem.AuditResponse:
		printAudit(w, r)
	case *robotmem.ForgetResponse:
		if r.Purged != nil {
			printPurged(w, r)
			break
		}
		w.line("forgotten %d: %s", r.MemoryID, oneLine(r.Content))
		w.detail("undo", fmt.Sprintf("robotmem restore %d", r.MemoryID))
	case *robotmem.RestoreResponse:
		w.line("%s %d: %s", r.Status, r.MemoryID, oneLine(r.Content))
	case *robotmem.PinResponse:
		w.line("%s %d", r.Status, r.MemoryID)
	case *robotmem.UpdateResponse:
		w.line("updated %d to version %d (%s, %.2f)", r.MemoryID, r.Version, r.AutoInferred.Category, r.AutoInferred.Confidence)
		w.detail("was", oneLine(r.OldContent))
		w.detail("is", oneLine(r.NewContent))
	case *robotmem.StartSessionResponse:
		w.line("%s", r.SessionID)
		w.detail("collection", fmt.Sprintf("%s, %d active memories", r.Collection, r.ActiveMemoriesCount))
		w.block(r.Briefing.Text)
	case *robotmem.EndSessionResponse:
		printEnd(w, r)
	case *robotmem.Memory:
		printMemory(w, r)
	case *robotmem.HistoryResponse:
		printHistory(w, r)
	case *robotmem.ListResponse:
		printList(w, r)
	case *robotmem.SessionResponse:
		printSession(w, r)
	case *robotmem.SessionsResponse:
		printSessions(w, r)
	case *robotmem.CollectionsResponse:
		w.table("COLLECTION\tACTIVE\tTOTAL\tSESSIONS", len(r.Collections), func(i int) string {
			c := r.Collections[i]
			return fmt.Sprintf("%s\t%d\t%d\t%d", c.Collection, c.Active, c.Total, c.Sessions)
		})
	case *robotmem.CategoriesResponse:
		w.table("CATEGORY\tCOUNT", len(r.Categories), func(i int) string {
			return fmt.Sprintf("%s\t%d", r.Categories[i].Category, r.Categories[i].Count)
		})
	case *robotmem.ActivityResponse:
		printActivity(w, r)
	case *robotmem.PathsResponse:
		printPaths(w, r)
	case *robotmem.PlacesResponse:
		printPlaces(w, r)
	case *robotmem.StatsResponse:
		printStats(w, r)
	default: // an operation that has no form of its own yet
		return a.PrintJSON(res)
	}
	return w.err
}

func printLearn(w *lines, r *robotmem.LearnResponse) {
	if r.Status == "duplicate" {
		w.line("duplicate of %d (%s, similarity %.2f)", r.ExistingID, r.Method, r.Similarity)
		return
	}
	w.line("%s %d (%s, %.2f)%s", r.Status, r.MemoryID, r.AutoInferred.Category, r.AutoInferred.Confidence, tagText(r.AutoInferred.Tags))
	for _, c := range r.Conflicts {
		w.line("  conflict with %d: %s; settle it with update or forget", c.MemoryID, c.Reason)
	}
}

func printRecall(w *lines, r *robotmem.RecallResponse) {
	for i, m := range r.Memories {
		w.line("%2d. %s [%d] %s", i+1, scoreText(m.Score), m.MemoryID, clip(oneLine(m.Content), 300))
		var why []string
		if m.Distance != nil {
			why = append(why, fmt.Sprintf("%.3g away", *m.Distance))
		}
		if m.Relevance != nil {
			why = append(why, fmt.Sprintf("relevance %.2f", *m.Relevance))
		}
		why = append(why, m.Category, fmt.Sprintf("confidence %.2f", m.Confidence), m.ObservedAt.Local().Format(time.DateTime))
		for _, f := range m.Found {
			why = append(why, fmt.Sprintf("%s rank %d (%.3g)", f.List, f.Rank+1, f.Value))
		}
		w.line("      %s", strings.Join(why, ", "))
		if len(m.Context) > 0 {
			w.line("      %s", contextText(m.Context))
		}
	}
	if len(r.Memories) == 0 {
		w.line("nothing found")
	}
	for _, s := range r.Stages {
		w.line("stage %s kept %d in %.2f ms", s.Stage, s.Kept, s.MS)
	}
	for _, p := range r.Times {
		w.line("%q read as %s", p.Text, spanText(p.After, p.Before))
	}
	for _, d := range r.Degraded {
		w.line("degraded: %s", d)
	}
	w.line("%d found, %s, %.1f ms", r.Total, r.Mode, r.QueryMS)
}

// spanText spells the bounds of a time, the later one left out of it.
func spanText(after, before *time.Time) string {
	switch {
	case after == nil && before == nil:
		return "no bound: it contradicts the other words"
	case before == nil:
		return "from " + after.Local().Format(time.DateTime)
	case after == nil:
		return "before " + before.Local().Format(time.DateTime)
	}
	return after.Local().Format(time.DateTime) + " to " + before.Local().Format(time.DateTime)
}

func printEnd(w *lines, r *robotmem.EndSessionResponse) {
	w.line("ended %s", r.SessionID)
	w.block(r.Summary.Text)
	c := r.Consolidated
	w.detail("consolidated", fmt.Sprintf("%d groups, %d superseded", c.MergedGroups, c.SupersededCount))
	w.detail("faded", fmt.Sprintf("%d memories of the collection are below confidence 0.3", r.DecayedCount))
	for _, m := range r.RelatedMemories {
		w.detail("related", fmt.Sprintf("[%d] %s", m.MemoryID, oneLine(m.Summary)))
	}
}

func printMemory(w *lines, m *robotmem.Memory) {
	w.block(m.Content)
	w.detail("memory", fmt.Sprintf("%d (%s), %s, %s, version %d", m.MemoryID, m.UID, m.Type, orDash(m.Status), m.Version))
	w.detail("class", fmt.Sprintf("%s, confidence %.2f%s", m.Category, m.Confidence, tagText(m.Tags)))
	w.detail("collection", m.Collection)
	if m.SessionID != "" {
		w.detail("session", m.SessionID)
	}
	w.detail("observed", m.ObservedAt.Format(time.RFC3339))
	if m.SupersededBy != 0 {
		w.detail("superseded by", fmt.Sprint(m.SupersededBy))
	}
	if m.Source != "" {
		w.detail("source", oneLine(m.Source))
	}
	if p := m.Provenance; p != nil {
		w.detail("stored by", provenanceText(p))
	}
	if m.Type == "perception" {
		w.detail("payload", fmt.Sprintf("%s, %s, %s", m.PerceptionType, orDash(m.MediaType), sizeText(m.Bytes)))
		w.detail("summary", oneLine(m.Summary))
	}
	if len(m.Context) > 0 {
		w.detail("context", contextText(m.Context))
	}
}

func printHistory(w *lines, r *robotmem.HistoryResponse) {
	for _, v := range r.Versions {
		ended := ""
		if v.To != nil {
			ended = fmt.Sprintf(", %s %s", v.Change, v.To.Local().Format(time.DateTime))
		}
		if v.Reason != "" {
			ended += " (" + oneLine(v.Reason) + ")"
		}
		w.line("version %d, %s, from %s%s", v.Version, v.Status, v.From.Local().Format(time.DateTime), ended)
		w.line("  %s", oneLine(v.Content))
	}
}

func printList(w *lines, r *robotmem.ListResponse) {
	w.table("ID\tOBSERVED\tCOLLECTION\tCATEGORY\tCONF\tCONTENT", len(r.Memories), func(i int) string {
		m := r.Memories[i]
		return fmt.Sprintf("%d\t%s\t%s\t%s\t%.2f\t%s", m.MemoryID, m.ObservedAt.Local().Format(time.DateTime),
			m.Collection, m.Category, m.Confidence, clip(oneLine(m.Content), maxCell))
	})
	printPage(w, len(r.Memories), r.Total, r.Page, r.Next)
}

// printPage says which part of a list was shown, and how to go on.
func printPage(w *lines, shown int, total int64, page int, next string) {
	where := ""
	if page > 0 {
		where = fmt.Sprintf(", page %d", page)
	}
	w.line("%d of %d%s", shown, total, where)
	if next != "" {
		w.line("more: --cursor %s", next)
	}
}

func printSession(w *lines, s *robotmem.SessionResponse) {
	w.line("%s %s", s.SessionID, s.Status)
	w.detail("collection", s.Collection)
	w.detail("started", s.CreatedAt.Format(time.RFC3339))
	if s.EndedAt != nil {
		w.detail("ended", s.EndedAt.Format(time.RFC3339))
	}
	if s.OutcomeScore != nil {
		w.detail("outcome", fmt.Sprintf("%.2f", *s.OutcomeScore))
	}
	if s.Summary != nil {
		w.detail("summary", oneLine(s.Summary.Text))
	}
	if len(s.Context) > 0 {
		w.detail("context", contextText(s.Context))
	}
	for _, m := range s.Recalled {
		verb := "recalled"
		if m.Used {
			verb = "used"
		}
		w.detail(verb, fmt.Sprintf("[%d] %s", m.MemoryID, clip(oneLine(m.Summary), maxCell)))
	}
}

func printSessions(w *lines, r *robotmem.SessionsResponse) {
	w.table("SESSION\tCOLLECTION\tSTATUS\tSTARTED\tMEMORIES\tOUTCOME", len(r.Sessions), func(i int) string {
		s := r.Sessions[i]
		outcome := "-"
		if s.OutcomeScore != nil {
			outcome = fmt.Sprintf("%.2f", *s.OutcomeScore)
		}
		return fmt.Sprintf("%s\t%s\t%s\t%s\t%d\t%s", s.SessionID, s.Collection, s.Status, s.CreatedAt.Local().Format(time.DateTime), s.MemoryCount, outcome)
	})
	printPage(w, len(r.Sessions), r.Total, r.Page, r.Next)
}

// printActivity leaves out the buckets in which nothing happened.
func printActivity(w *lines, r *robotmem.ActivityResponse) {
	layout := time.DateOnly
	if r.Bucket == "hour" {
		layout = "2006-01-02 15:04"
	}
	var busy []robotmem.ActivityBucket
	for _, b := range r.Buckets {
		if b.Facts+b.Perceptions+b.Recalls > 0 {
			busy = append(busy, b)
		}
	}
	w.table("FROM (UTC)\tFACTS\tPERCEPTIONS\tFAILURES\tRECALLS\tFOUND NOTHING", len(busy), func(i int) string {
		b := busy[i]
		return fmt.Sprintf("%s\t%d\t%d\t%d\t%d\t%d", b.From.UTC().Format(layout), b.Facts, b.Perceptions, b.Failures, b.Recalls, b.ZeroHits)
	})
	w.line("%s with activity, of %s", count(int64(len(busy)), r.Bucket), count(int64(len(r.Buckets)), r.Bucket))
}

func printStats(w *lines, r *robotmem.StatsResponse) {
	w.detail("active memories", fmt.Sprintf("%d in %d collections, %d sessions, %d of the last day", r.Total, r.Collections, r.Sessions, r.LastDay))
	w.detail("by status", countsText(r.ByStatus))
	w.detail("by type", countsText(r.ByType))
	w.detail("by category", countsText(r.ByCategory))
	w.detail("recalls", fmt.Sprintf("%d, %d of them found nothing", r.Recalls, r.ZeroHits))
	w.detail("size", fmt.Sprintf("%s in the file, %s of payloads", sizeText(r.DBBytes), sizeText(r.PayloadBytes)))
	w.detail("embedder", fmt.Sprintf("%s, %d waiting", r.Embedder, r.Backlog))
	w.detail("schema", fmt.Sprint(r.SchemaVersion))
}

// lines writes lines and keeps the first error.
type lines struct {
	w   io.Writer
	err error
}

func (l *lines) line(format string, args ...any) {
	if l.err == nil {
		_, l.err = fmt.Fprintf(l.w, strings.TrimRight(format, " ")+"\n", args...)
	}
}

func (l *lines) detail(name, text string) { l.line("  %s: %s", name, text) }

// block writes a text of several lines as it is, without what would steer the
// terminal.
func (l *lines) block(text string) {
	for s := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n") {
		l.line("%s", oneLine(s))
	}
}

func (l *lines) table(header string, n int, row func(int) string) {
	if n == 0 || l.err != nil {
		return
	}
	t := tabwriter.NewWriter(l.w, 0, 0, 2, ' ', 0)
	_, l.err = fmt.Fprintln(t, header)
	for i := range n {
		if l.err == nil {
			_, l.err = fmt.Fprintln(t, row(i))
		}
	}
	if err := t.Flush(); l.err == nil {
		l.err = err
	}
}

// oneLine shows a stored text on a terminal: line ends become spaces and
// control characters, which could steer the terminal, are replaced.
func oneLine(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n', r == '\r', r == '\t':
			return ' '
		case unicode.IsControl(r), unicode.Is(unicode.Bidi_Control, r), r == utf8.RuneError:
			return '\uFFFD'
		}
		return r
	}, s)
}

func clip(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	return string([]rune(s)[:n-1]) + "…"
}

func contextText(o robotmem.Object) string {
	data, err := encode(o)
	if err != nil {
		return err.Error()
	}
	return clip(oneLine(strings.TrimSpace(string(data))), 500)
}

func scoreText(score *float64) string {
	if score == nil {
		return "    -"
	}
	return fmt.Sprintf("%.3f", *score)
}

func tagText(tags []string) string {
	if len(tags) == 0 {
		return ""
	}
	return " [" + strings.Join(tags, " ") + "]"
}

func countsText(m map[string]int64) string {
	if len(m) == 0 {
		return "-"
	}
	var parts []string
	for _, k := range slices.Sorted(maps.Keys(m)) {
		parts = append(parts, fmt.Sprintf("%s %d", k, m[k]))
	}
	return strings.Join(parts, ", ")
}

// count is "1 message", "2 messages".
func count(n int64, noun string) string { return plural(n, noun, noun+"s") }

func plural(n int64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

// shellQuote makes s one word of a POSIX shell.
func shellQuote(s string) string {
	if strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+:@%") == "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
