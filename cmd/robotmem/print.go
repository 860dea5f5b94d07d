package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
	"unicode/utf8"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/admin"
)

// maxCell is how many characters of a text a table shows; --json and get show all of it.
const maxCell = 80

// printAnswer writes the answer of an operation as text: short, one line for each thing.
func printAnswer(w *lines, answer any) {
	switch r := answer.(type) {
	case *robotmem.LearnResponse:
		printLearn(w, r)
	case *robotmem.RecallResponse:
		printRecall(w, r)
	case *robotmem.AdviseResponse:
		printAdvice(w, r)
	case *robotmem.AggregateResponse:
		printAggregate(w, r)
	case *robotmem.SavePerceptionResponse:
		w.line("saved %d (%s, %s, %s) in %s", r.MemoryID, r.PerceptionType, orDash(r.MediaType), sizeText(r.Bytes), r.Collection)
		w.detail("summary", r.Summary)
		w.detail("sha256", r.SHA256)
	case *admin.AuditResponse:
		table(w, "AT\tACTION\tMEMORY\tWHO\tTHROUGH\tREASON", r.Entries, func(e admin.AuditEntry) []any {
			of := e.SessionID
			if e.MemoryID != 0 {
				of = fmt.Sprint(e.MemoryID)
			}
			return []any{e.At, e.Action, of, e.Who, e.Tool, e.Reason}
		})
		w.next(r.Next)
	case *robotmem.ForgetResponse:
		printForgotten(w, r)
	case *robotmem.RestoreResponse:
		w.line("%s %d: %s", r.Status, r.MemoryID, oneLine(r.Content))
	case *robotmem.PinResponse:
		w.line("%s %d", r.Status, r.MemoryID)
	case *robotmem.UpdateResponse:
		w.line("updated %d to version %d (%s, %.2f)", r.MemoryID, r.Version, r.AutoInferred.Category, r.AutoInferred.Confidence)
		w.detail("was", r.OldContent)
		w.detail("is", r.NewContent)
	case *robotmem.StartSessionResponse:
		w.line("%s", r.SessionID)
		w.detail("collection", fmt.Sprintf("%s, %d active memories", r.Collection, r.ActiveMemoriesCount))
		w.block(r.Briefing.Text)
	case *robotmem.TimelineResponse:
		w.line("%s", r.Of)
		for _, m := range r.Memories {
			w.line("%d  %s", m.MemoryID, m.Line)
		}
	case *robotmem.EndSessionResponse:
		printEnd(w, r)
	case *robotmem.Memory:
		printMemory(w, r)
	case *robotmem.HistoryResponse:
		printHistory(w, r)
	case *robotmem.ListResponse:
		table(w, "ID\tOBSERVED\tCOLLECTION\tCATEGORY\tCONF\tCONTENT", r.Memories, func(m robotmem.Memory) []any {
			return []any{m.MemoryID, m.ObservedAt, m.Collection, m.Category, fmt.Sprintf("%.2f", m.Confidence), m.Content}
		})
		w.degraded(r.Degraded)
		w.page(len(r.Memories), r.Total, r.Page, r.Next)
	case *robotmem.SessionResponse:
		printSession(w, r)
	case *robotmem.SessionsResponse:
		table(w, "SESSION\tCOLLECTION\tSTATUS\tSTARTED\tMEMORIES\tOUTCOME", r.Sessions, func(s robotmem.Session) []any {
			return []any{s.SessionID, s.Collection, s.Status, s.CreatedAt, s.MemoryCount, s.OutcomeScore}
		})
		w.degraded(r.Degraded)
		w.page(len(r.Sessions), r.Total, r.Page, r.Next)
	case *admin.CollectionsResponse:
		table(w, "COLLECTION\tACTIVE\tTOTAL\tSESSIONS", r.Collections, func(c admin.CollectionCount) []any {
			return []any{c.Collection, c.Active, c.Total, c.Sessions}
		})
	case *admin.CategoriesResponse:
		table(w, "CATEGORY\tCOUNT", r.Categories, func(c admin.CategoryCount) []any { return []any{c.Category, c.Count} })
	case *admin.ActivityResponse:
		printActivity(w, r)
	case *robotmem.PathsResponse:
		printPaths(w, r)
	case *robotmem.PlacesResponse:
		printPlaces(w, r)
	case *admin.StatsResponse:
		w.detail("active memories", fmt.Sprintf("%d in %d collections, %d sessions, %d of the last day", r.Total, r.Collections, r.Sessions, r.LastDay))
		w.detail("by status", countsText(r.ByStatus))
		w.detail("by type", countsText(r.ByType))
		w.detail("by category", countsText(r.ByCategory))
		w.detail("recalls", fmt.Sprintf("%d, %d of them found nothing", r.Recalls, r.ZeroHits))
		w.detail("size", fmt.Sprintf("%s in the file, %s of payloads", sizeText(r.DBBytes), sizeText(r.PayloadBytes)))
		if r.Commits > 0 { // of a node; a command that only reads has written nothing
			w.detail("written", fmt.Sprintf("%d commits of %s each since the start, %s in all", r.Commits, sizeText(r.LogBytes/r.Commits), sizeText(max(r.LogBytes, r.WrittenBytes))))
		}
		for _, worker := range r.Workers {
			if worker.Name == "memory" {
				w.detail(worker.Name, worker.Detail)
			}
		}
		w.detail("embedder", fmt.Sprintf("%s, %d waiting", r.Embedder, r.Backlog))
		w.detail("schema", fmt.Sprint(r.SchemaVersion))
	default: // an operation without a text form
		w.line("%s", jsonText(answer))
	}
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
	for _, s := range r.Similar {
		w.line("  similar to %d (%s %.2f)", s.MemoryID, s.Method, s.Similarity)
	}
}

func printRecall(w *lines, r *robotmem.RecallResponse) {
	for i, m := range r.Memories {
		score := "    -"
		if m.Score != nil {
			score = fmt.Sprintf("%.3f", *m.Score)
		}
		w.line("%2d. %s [%d] %s", i+1, score, m.MemoryID, clip(oneLine(cmp.Or(m.Line, m.Content)), 300))
		if m.Type == "" { // compact, or the id alone
			continue
		}
		var why []string
		if m.Distance != nil {
			why = append(why, fmt.Sprintf("%.3g away", *m.Distance))
		}
		if m.Relevance != nil {
			why = append(why, fmt.Sprintf("relevance %.2f", *m.Relevance))
		}
		why = append(why, m.Category, fmt.Sprintf("confidence %.2f", m.Confidence), timeText(m.ObservedAt))
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
	w.degraded(r.Degraded)
	if r.More > 0 {
		w.line("%d more do not fit --max-tokens", r.More)
	}
	w.line("%d found, %s, %.1f ms", r.Total, r.Mode, r.QueryMS)
}

// spanText is a time span, whose end is exclusive.
func spanText(after, before *time.Time) string {
	switch {
	case after == nil && before == nil:
		return "no bound: it contradicts the other words"
	case before == nil:
		return "from " + timeText(*after)
	case after == nil:
		return "before " + timeText(*before)
	}
	return timeText(*after) + " to " + timeText(*before)
}

func printForgotten(w *lines, r *robotmem.ForgetResponse) {
	p := r.Purged
	if p == nil {
		w.line("forgotten %d: %s", r.MemoryID, oneLine(r.Content))
		w.detail("undo", fmt.Sprintf("robotmem restore %d", r.MemoryID))
		return
	}
	w.line("purged %d", r.MemoryID)
	w.detail("past states", fmt.Sprint(p.Versions))
	w.given("payload", p.Payload)
	w.detail("old pages", p.OldPages)
	if len(p.StoodFor) > 0 {
		w.detail("superseded by it", strings.Trim(fmt.Sprint(p.StoodFor), "[]")+", which still have their own text")
	}
	w.detail("not reached", strings.Join(p.NotReached, "; "))
}

func printEnd(w *lines, r *robotmem.EndSessionResponse) {
	w.line("ended %s", r.SessionID)
	w.block(r.Summary.Text)
	c := r.Consolidated
	w.detail("consolidated", fmt.Sprintf("%d groups, %d superseded", c.MergedGroups, c.SupersededCount))
	for _, ids := range r.SimilarGroups {
		w.detail("similar", strings.Trim(fmt.Sprint(ids), "[]")+", all kept")
	}
	w.detail("faded", fmt.Sprintf("%d memories of the collection are below confidence 0.3", r.DecayedCount))
	for _, m := range r.RelatedMemories {
		w.detail("related", fmt.Sprintf("[%d] %s", m.MemoryID, m.Summary))
	}
}

func printMemory(w *lines, m *robotmem.Memory) {
	w.block(m.Content)
	w.detail("memory", fmt.Sprintf("%d (%s), %s, %s, version %d", m.MemoryID, m.UID, m.Type, orDash(m.Status), m.Version))
	w.detail("class", fmt.Sprintf("%s, confidence %.2f%s", m.Category, m.Confidence, tagText(m.Tags)))
	w.detail("collection", m.Collection)
	w.given("session", m.SessionID)
	w.detail("observed", m.ObservedAt.Format(time.RFC3339))
	if m.SupersededBy != 0 {
		w.detail("superseded by", fmt.Sprint(m.SupersededBy))
	}
	w.given("source", m.Source)
	if p := m.Provenance; p != nil {
		text := orDash(p.Who)
		if p.Tool != "" {
			text += " through " + p.Tool
		}
		if p.Robot != "" {
			text += ", robot " + p.Robot
		}
		w.detail("stored by", text)
	}
	if m.Type == "perception" {
		w.detail("payload", fmt.Sprintf("%s, %s, %s", m.PerceptionType, orDash(m.MediaType), sizeText(m.Bytes)))
		w.detail("summary", m.Summary)
	}
	if len(m.Context) > 0 {
		w.detail("context", contextText(m.Context))
	}
}

func printHistory(w *lines, r *robotmem.HistoryResponse) {
	for _, v := range r.Versions {
		ended := ""
		if v.To != nil {
			ended = fmt.Sprintf(", %s %s", v.Change, timeText(*v.To))
		}
		if v.Reason != "" {
			ended += " (" + oneLine(v.Reason) + ")"
		}
		w.line("version %d, %s, from %s%s", v.Version, v.Status, timeText(v.From), ended)
		w.line("  %s", oneLine(v.Content))
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
		w.detail("summary", s.Summary.Text)
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

// printActivity leaves out the buckets without activity.
func printActivity(w *lines, r *admin.ActivityResponse) {
	layout := time.DateOnly
	if r.Bucket == "hour" {
		layout = "2006-01-02 15:04"
	}
	busy := slices.DeleteFunc(slices.Clone(r.Buckets), func(b admin.ActivityBucket) bool { return b.Facts+b.Perceptions+b.Recalls == 0 })
	table(w, "FROM (UTC)\tFACTS\tPERCEPTIONS\tFAILURES\tRECALLS\tFOUND NOTHING", busy, func(b admin.ActivityBucket) []any {
		return []any{b.From.UTC().Format(layout), b.Facts, b.Perceptions, b.Failures, b.Recalls, b.ZeroHits}
	})
	w.line("%s with activity, of %s", count(int64(len(busy)), r.Bucket), count(int64(len(r.Buckets)), r.Bucket))
}

func printPaths(w *lines, r *robotmem.PathsResponse) {
	table(w, "PATH\tMEMORIES\tKINDS\tRANGE", r.Paths, func(p robotmem.ContextPath) []any {
		span := ""
		if p.Min != nil && p.Max != nil {
			span = strings.TrimSpace(fmt.Sprintf("%.6g to %.6g %s", *p.Min, *p.Max, p.Unit))
		}
		return []any{p.Path, p.Memories, strings.Join(p.Kinds, ", "), span}
	})
	for _, p := range r.Paths {
		for _, v := range p.Values {
			w.line("%8d  %s", v.Memories, clip(oneLine(jsonText(v.Value)), maxCell))
		}
	}
	if r.Total > len(r.Paths) {
		w.line("%d of %d paths; name a prefix to see the others", len(r.Paths), r.Total)
	}
}

func printPlaces(w *lines, r *robotmem.PlacesResponse) {
	if len(r.Points) == 0 {
		table(w, "FIELD\tFRAME\tMAP\tDIMS\tMEMORIES\tFROM\tTO", r.Fields, func(f robotmem.PlaceField) []any {
			return []any{f.Field, f.FrameID, f.MapID, f.Dims, f.Memories, fmt.Sprintf("%.6g", f.Min), fmt.Sprintf("%.6g", f.Max)}
		})
		return
	}
	table(w, "ID\tX\tY\tZ\tSUCCESS\tSUMMARY", r.Points, func(p robotmem.PlacePoint) []any {
		return []any{p.MemoryID, p.X, p.Y, p.Z, p.Success, p.Summary}
	})
	for _, c := range r.Cells {
		w.line("cell at %.6g, %.6g (%.6g wide): %d memories, %d succeeded, %d failed", c.X, c.Y, r.Cell, c.Memories, c.Successes, c.Failures)
	}
	w.line("%d of %d points", len(r.Points), r.Total)
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

func (l *lines) detail(name, text string) { l.line("  %s: %s", name, oneLine(text)) }

// given is detail for a text that is not empty.
func (l *lines) given(name, text string) {
	if text != "" {
		l.detail(name, text)
	}
}

// block writes a text of several lines.
func (l *lines) block(text string) {
	for s := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n") {
		l.line("%s", oneLine(s))
	}
}

// degraded says what could not answer, or was left out, and why.
func (l *lines) degraded(remarks []string) {
	for _, r := range remarks {
		l.line("degraded: %s", r)
	}
}

// page says which part of a list was shown, and how to continue.
func (l *lines) page(shown int, total int64, page int, next string) {
	where := ""
	if page > 0 {
		where = fmt.Sprintf(", page %d", page)
	}
	l.line("%d of %d%s", shown, total, where)
	l.next(next)
}

func (l *lines) next(cursor string) {
	if cursor != "" {
		l.line("more: --cursor %s", cursor)
	}
}

// table writes a row for each item. An empty list has no header.
func table[T any](l *lines, header string, items []T, row func(T) []any) {
	if len(items) == 0 || l.err != nil {
		return
	}
	t := tabwriter.NewWriter(l.w, 0, 0, 2, ' ', 0)
	inner := &lines{w: t}
	inner.line("%s", header)
	for _, item := range items {
		var cells []string
		for _, value := range row(item) {
			cells = append(cells, cellText(value))
		}
		inner.line("%s", strings.Join(cells, "\t"))
	}
	l.err = cmp.Or(inner.err, t.Flush())
}

// cellText is a value in a table; - is an empty text or no value.
func cellText(value any) string {
	switch v := value.(type) {
	case string:
		return orDash(clip(oneLine(v), maxCell))
	case time.Time:
		return timeText(v)
	case float64:
		return fmt.Sprintf("%.6g", v)
	case *float64:
		if v != nil {
			return fmt.Sprintf("%.6g", *v)
		}
		return "-"
	case *bool:
		if v != nil {
			return fmt.Sprint(*v)
		}
		return "-"
	}
	return fmt.Sprint(value)
}

func timeText(t time.Time) string { return t.Local().Format(time.DateTime) }

// oneLine shows a stored text on a terminal: line ends become spaces, and characters that are not
// seen or that could steer the terminal are escaped.
func oneLine(s string) string {
	return robotmem.Visible(strings.NewReplacer("\n", " ", "\r", " ", "\t", " ").Replace(strings.ToValidUTF8(s, "\uFFFD")))
}

func clip(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	return string([]rune(s)[:n-1]) + "…"
}

func contextText(o robotmem.Object) string { return clip(oneLine(jsonText(o)), 500) }

func jsonText(v any) string {
	data, err := robotmem.EncodeJSON(v)
	if err != nil {
		return err.Error()
	}
	return string(data)
}

func tagText(tags []string) string {
	if len(tags) == 0 {
		return ""
	}
	return " [" + strings.Join(tags, " ") + "]"
}

func countsText(m map[string]int64) string {
	var parts []string
	for _, k := range slices.Sorted(maps.Keys(m)) {
		parts = append(parts, fmt.Sprintf("%s %d", k, m[k]))
	}
	return orDash(strings.Join(parts, ", "))
}

// count is "1 message", "2 messages".
func count(n int64, noun string) string { return plural(n, noun, noun+"s") }

func plural(n int64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

func orDash(s string) string { return cmp.Or(s, "-") }

// sizeText is a number of bytes in binary units.
func sizeText(n int64) string {
	const unit = 1024
	f, u := float64(n), 0
	for f >= unit && u < 4 {
		f, u = f/unit, u+1
	}
	if u == 0 {
		return fmt.Sprintf("%d B", n)
	}
	return fmt.Sprintf("%.1f %ciB", f, "KMGT"[u-1])
}

// shellQuote makes s one word of a POSIX shell.
func shellQuote(s string) string {
	if strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+:@%") == "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
