package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/robotmem/robotmem-go/cmd/robotmem/internal/screen"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/admin"
	"github.com/robotmem/robotmem-go/robotmem/backup"
	"github.com/robotmem/robotmem-go/robotmem/embedding"
)

// maxCell is the number of columns of a text that a table in a file or a pipe shows; on a terminal a table is as wide
// as that, and a cell has at most mostCell characters. --json, --format and get show all of it.
const (
	maxCell  = 80
	mostCell = 300
)

// columns are the fields that a table shows of a struct with many.
var columns = map[reflect.Type]string{
	reflect.TypeFor[robotmem.Memory]():          "memory_id observed_at collection category confidence content",
	reflect.TypeFor[robotmem.Session]():         "session_id collection status created_at memory_count outcome_score",
	reflect.TypeFor[robotmem.Version]():         "version status from to change reason content",
	reflect.TypeFor[robotmem.BriefMemory]():     "memory_id category summary",
	reflect.TypeFor[robotmem.RecalledMemory]():  "memory_id used status summary",
	reflect.TypeFor[admin.ContextPath]():        "path memories kinds min max unit",
	reflect.TypeFor[robotmem.ParameterAdvice](): "path unit",
	reflect.TypeFor[robotmem.ValueRecord]():     "value from to rate low high attempts last_tried memory_ids",
	reflect.TypeFor[robotmem.Difference]():      "path bits p",
	reflect.TypeFor[admin.AuditEntry]():         "at action memory_id session_id who tool reason",
	reflect.TypeFor[admin.Worker]():             "name detail",
	reflect.TypeFor[embedding.Pulled]():         "name dims bytes pulled_at",
	reflect.TypeFor[backup.Backup]():            "name created_at seconds bytes problem",
}

// printAnswer writes the answer of an operation as text.
func printAnswer(w *lines, answer any) {
	switch r := answer.(type) {
	case *robotmem.LearnResponse:
		printLearn(w, r)
		return
	case *robotmem.RecallResponse:
		printRecall(w, r)
		return
	case *robotmem.StartSessionResponse:
		// Scripts read the first line, which has the ID alone.
		w.line("%s", r.SessionID)
		w.detail("collection", fmt.Sprintf("%s, %d active memories", r.Collection, r.ActiveMemoriesCount))
		w.block(r.Briefing.Text)
		return
	case *robotmem.TimelineResponse:
		w.line("%s", r.Of)

		for _, m := range r.Memories {
			w.line("%d  %s", m.MemoryID, m.Line)
		}
		return
	case *admin.ActivityResponse:
		// Leave out the times without activity.
		r.Buckets = slices.DeleteFunc(r.Buckets, func(b admin.ActivityBucket) bool { return b.Facts+b.Perceptions+b.Recalls == 0 })
	}

	v := reflect.ValueOf(answer)
	if v.Kind() != reflect.Pointer || v.Elem().Kind() != reflect.Struct {
		w.line("%s", jsonText(answer))
		return
	}

	w.fields(v.Elem(), "")

	switch r := answer.(type) {
	case *robotmem.ForgetResponse:
		if r.Purged == nil {
			w.detail("undo", fmt.Sprintf("robotmem restore %d", r.MemoryID))
		}
	case *robotmem.AdviseResponse:
		for _, p := range r.Parameters {
			w.records(strings.TrimSpace(p.Path+" "+p.Unit), reflect.ValueOf(p.Values))
		}

		for _, d := range r.Differs {
			w.line("%s", oneLine(d.Text))
		}
	case *admin.PathsResponse:
		if len(r.Paths) == 1 && len(r.Paths[0].Values) > 0 {
			w.records("values", reflect.ValueOf(r.Paths[0].Values))
		}
	}
}

// maxRows is the most rows of a table that are printed. A recording may have 65,535 topics.
const maxRows = 1000

// fields writes a line for each field that is set, and a table for a list of structs.
func (l *lines) fields(v reflect.Value, above string) {
	for _, f := range reflect.VisibleFields(v.Type()) {
		value := v.FieldByIndex(f.Index)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		// The context has the sections.
		if f.Anonymous || name == "" || name == "-" || value.IsZero() || value.Kind() == reflect.Interface || value.Kind() == reflect.Slice && value.Len() == 0 {
			continue
		}
		name = above + strings.ReplaceAll(name, "_", " ")
		if value.Kind() == reflect.Pointer {
			value = value.Elem()
		}

		switch one := value.Interface().(type) {
		case string:
			if strings.Contains(one, "\n") {
				l.block(name + ":\n" + one)
			} else {
				l.detail(name, one)
			}
			continue
		case time.Time, []string, float64:
			l.detail(name, cellText(one))
			continue
		case fmt.Stringer:
			l.detail(name, one.String())
			continue
		case map[string]int64:
			l.detail(name, countsText(one))
			continue
		case map[string]map[string]int64:
			// The outer keys are the parts of a dataset.
			for _, part := range slices.Sorted(maps.Keys(one)) {
				l.detail(name+" "+part, countsText(one[part]))
			}
			continue
		}

		switch {
		case strings.HasSuffix(name, "bytes"):
			l.detail(name, sizeText(value.Int()))
		case value.Kind() == reflect.Slice && value.Type().Elem().Kind() == reflect.Struct:
			l.records(name, value.Slice(0, min(value.Len(), maxRows)))
			if more := value.Len() - maxRows; more > 0 {
				l.line("… and %d more; --json prints all", more)
			}
		case value.Kind() == reflect.Struct && value.FieldByName("Text").IsValid():
			l.block(value.FieldByName("Text").String())
		case value.Kind() == reflect.Struct:
			l.fields(value, name+" ")
		default:
			l.detail(name, robotmem.Clip(jsonText(value.Interface()), 500))
		}
	}
}

// records writes a list of structs as a table, under the names of their fields.
func (l *lines) records(name string, list reflect.Value) {
	t := list.Type().Elem()

	var (
		names []string
		shown [][]int
	)

	for _, f := range reflect.VisibleFields(t) {
		tag, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if wanted := columns[t]; !f.Anonymous && tag != "" && tag != "-" && (wanted == "" || slices.Contains(strings.Fields(wanted), tag)) {
			names, shown = append(names, strings.ToUpper(strings.ReplaceAll(tag, "_", " "))), append(shown, f.Index)
		}
	}

	rows := make([]reflect.Value, list.Len())
	for i := range rows {
		rows[i] = list.Index(i)
	}

	l.line("%s:", name)
	table(l, strings.Join(names, "\t"), rows, func(row reflect.Value) (cells []any) {
		for i, index := range shown {
			cell := row.FieldByIndex(index)
			if strings.HasSuffix(names[i], "BYTES") && reflect.Indirect(cell).IsValid() {
				cells = append(cells, sizeText(reflect.Indirect(cell).Int()))
				continue
			}
			cells = append(cells, cell.Interface())
		}

		return cells
	})
}

func printLearn(w *lines, r *robotmem.LearnResponse) {
	if r.Status == "duplicate" {
		w.line("duplicate of %d (%s, similarity %.2f)", r.ExistingID, r.Method, r.Similarity)
		return
	}
	w.line("%s %d (%s, %.2f)%s", w.screen.Paint(r.Status), r.MemoryID, w.screen.Paint(r.AutoInferred.Category), r.AutoInferred.Confidence, tagText(r.AutoInferred.Tags))

	for _, c := range r.Conflicts {
		w.line("  conflict with %d: %s; settle it with update or forget", c.MemoryID, c.Reason)
	}

	for _, s := range r.Similar {
		w.line("  similar to %d (%s %.2f)", s.MemoryID, s.Method, s.Similarity)
	}
}

func printRecall(w *lines, r *robotmem.RecallResponse) {
	for i, m := range r.Memories {
		score := ""
		if m.Score != nil {
			score = fmt.Sprintf("%.3f ", *m.Score)
		}
		said := m.Line // which is short, and ends with how it ended
		if said == "" {
			said = robotmem.Clip(oneLine(m.Content), 300)
		}
		w.line("%2d. %s[%d] %s", i+1, score, m.MemoryID, said)
		// A compact answer, or one of IDs alone, has no type and no details.
		if m.Type == "" {
			continue
		}

		var why []string
		if m.Distance != nil {
			why = append(why, fmt.Sprintf("%.3g away", *m.Distance))
		}
		if m.Relevance != nil {
			why = append(why, fmt.Sprintf("relevance %.2f", *m.Relevance))
		}

		if m.Outcome != "" && m.Outcome != "unknown" {
			why = append(why, w.screen.Paint(m.Outcome))
		}

		why = append(why, w.screen.Paint(m.Category), fmt.Sprintf("confidence %.2f", m.Confidence), timeText(m.ObservedAt))
		for _, f := range m.Found {
			why = append(why, fmt.Sprintf("%s rank %d (%.3g)", f.List, f.Rank+1, f.Value))
		}
		w.line("      %s", strings.Join(why, ", "))
		if len(m.Context) > 0 {
			w.line("      %s", robotmem.Clip(oneLine(jsonText(m.Context)), 500))
		}
	}

	if len(r.Memories) == 0 {
		w.line("nothing found")
	}

	if r.Matching > 0 {
		var counts []string
		for _, outcome := range slices.Sorted(maps.Keys(r.Counts)) {
			counts = append(counts, fmt.Sprintf("%s %d", w.screen.Paint(outcome), r.Counts[outcome]))
		}
		w.line("%d match in all: %s", r.Matching, strings.Join(counts, ", "))
	}

	for _, s := range r.Stages {
		w.line("stage %s kept %d in %.2f ms", s.Stage, s.Kept, s.MS)
	}

	for _, p := range r.Times {
		w.line("%q read as %s", p.Text, spanText(p.After, p.Before))
	}

	for _, note := range r.Notes {
		w.line("note: %s", note)
	}

	for _, why := range r.Degraded {
		w.line("degraded: %s", why)
	}

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

// lines writes lines and keeps the first error.
type lines struct {
	w      io.Writer
	screen screen.Screen
	err    error
}

func (l *lines) line(format string, args ...any) {
	if l.err == nil {
		_, l.err = fmt.Fprintf(l.w, strings.TrimRight(format, " ")+"\n", args...)
	}
}

func (l *lines) detail(name, text string) {
	text = oneLine(text)
	if painted(name) {
		text = l.screen.Paint(text)
	}
	l.line("  %s: %s", name, text)
}

// block writes a text of several lines.
func (l *lines) block(text string) {
	for s := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n") {
		l.line("%s", oneLine(s))
	}
}

// table writes a row for each item. An empty list has no header.
func table[T any](l *lines, header string, items []T, row func(T) []any) {
	if len(items) == 0 || l.err != nil {
		return
	}

	names := strings.Split(header, "\t")

	rows := make([][]string, len(items))
	for i, item := range items {
		for _, value := range row(item) {
			text := cellText(value)
			if l.screen.Width == 0 {
				text = screen.Cut(text, maxCell)
			}
			rows[i] = append(rows[i], text)
		}
	}

	laid, left := l.screen.Table(names, rows, painted)
	for _, line := range laid {
		l.line("%s", line)
	}
	if len(left) > 0 {
		l.line("(%s: in a wider terminal, and with --json)", strings.Join(left, ", "))
	}
}

// painted are the columns and fields whose words get a colour.
func painted(name string) bool {
	name = strings.ToLower(name)
	return slices.Contains([]string{"status", "category", "type", "kind", "tier", "verdict"}, name) || strings.HasSuffix(name, "outcome")
}

// cellText is a value in a table; - is an empty text or no value.
func cellText(value any) string {
	switch v := value.(type) {
	case string:
		return cmp.Or(robotmem.Clip(oneLine(v), mostCell), "-")
	case time.Time:
		if v.IsZero() {
			return "-"
		}
		return timeText(v)
	case float64:
		return fmt.Sprintf("%.6g", v)
	case []string:
		return cmp.Or(strings.Join(v, ", "), "-")
	case map[string]int64:
		return robotmem.Clip(oneLine(countsText(v)), mostCell)
	case map[string]uint64:
		return robotmem.Clip(oneLine(countsText(v)), mostCell)
	case int, int64, bool:
		return fmt.Sprint(v)
	}

	v := reflect.ValueOf(value)
	switch {
	case !v.IsValid() || v.IsZero():
		return "-"
	case v.Kind() == reflect.Pointer:
		return cellText(v.Elem().Interface())
	}

	return robotmem.Clip(oneLine(jsonText(value)), mostCell)
}

// timeText is a time of this machine's zone, with the zone as an offset: the names of zones are ambiguous.
func timeText(t time.Time) string {
	t = t.Local()
	if _, offset := t.Zone(); offset == 0 {
		return t.Format(time.DateTime + " UTC")
	}
	return t.Format(time.DateTime + " -07:00")
}

// oneLine shows a stored text on a terminal: line ends become spaces, and characters that are not
// seen or that could steer the terminal are escaped.
func oneLine(s string) string {
	return robotmem.Visible(strings.NewReplacer("\n", " ", "\r", " ", "\t", " ").Replace(strings.ToValidUTF8(s, "\uFFFD")))
}

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

func countsText[N int64 | uint64](m map[string]N) string {
	var parts []string
	for _, k := range slices.Sorted(maps.Keys(m)) {
		parts = append(parts, fmt.Sprintf("%s %d", k, m[k]))
	}
	return cmp.Or(strings.Join(parts, ", "), "-")
}

// sizeText is a number of bytes in binary units.
func sizeText(n int64) string { return humanize.IBytes(uint64(max(n, 0))) }
