// Package printed writes answers for a person at a terminal, or for a file.
package printed

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
	reflect.TypeFor[robotmem.Document]():        "name collection title pages passages updated_at",
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

// Answer writes the answer of an operation as text.
func Answer(w *Lines, answer any) {
	switch r := answer.(type) {
	case *robotmem.LearnResponse:
		printLearn(w, r)
		return
	case *robotmem.RecallResponse:
		printRecall(w, r)
		return
	case *robotmem.StartSessionResponse:
		// Scripts read the first line, which has the ID alone.
		w.Line("%s", r.SessionID)
		w.Detail("collection", fmt.Sprintf("%s, %d active memories", r.Collection, r.ActiveMemoriesCount))
		w.Block(r.Briefing.Text)
		return
	case *robotmem.TimelineResponse:
		w.Line("%s", r.Of)

		for _, m := range r.Memories {
			w.Line("%d  %s", m.MemoryID, m.Line)
		}
		return
	case *admin.ActivityResponse:
		// Leave out the times without activity.
		r.Buckets = slices.DeleteFunc(r.Buckets, func(b admin.ActivityBucket) bool { return b.Facts+b.Perceptions+b.Recalls == 0 })
	}

	v := reflect.ValueOf(answer)
	if v.Kind() != reflect.Pointer || v.Elem().Kind() != reflect.Struct {
		w.Line("%s", jsonText(answer))
		return
	}

	// A page of nothing has no number.
	if total := v.Elem().FieldByName("Total"); total.IsValid() && total.IsZero() {
		for _, name := range []string{"Page", "Limit"} {
			if f := v.Elem().FieldByName(name); f.IsValid() {
				f.SetZero()
			}
		}
	}

	w.Fields(v.Elem(), "")

	switch r := answer.(type) {
	case *robotmem.ForgetResponse:
		if r.Purged == nil {
			w.Detail("undo", fmt.Sprintf("robotmem restore %d", r.MemoryID))
		}
	case *robotmem.AdviseResponse:
		for _, p := range r.Parameters {
			w.Records(strings.TrimSpace(p.Path+" "+p.Unit), reflect.ValueOf(p.Values))
		}

		for _, d := range r.Differs {
			w.Line("%s", OneLine(d.Text))
		}
	case *admin.PathsResponse:
		if len(r.Paths) == 1 && len(r.Paths[0].Values) > 0 {
			w.Records("values", reflect.ValueOf(r.Paths[0].Values))
		}
	}
}

// maxRows is the most rows of a table that are printed. A recording may have 65,535 topics.
const maxRows = 1000

// Fields writes a line for each field that is set, and a table for a list of structs.
func (l *Lines) Fields(v reflect.Value, above string) {
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
				l.Block(name + ":\n" + one)
			} else {
				l.Detail(name, one)
			}
			continue
		case time.Time, []string, float64:
			l.Detail(name, fieldText(name, one))
			continue
		case fmt.Stringer:
			l.Detail(name, one.String())
			continue
		case map[string]int64:
			l.Detail(name, countsText(one))
			continue
		case map[string]map[string]int64:
			// The outer keys are the parts of a dataset.
			for _, part := range slices.Sorted(maps.Keys(one)) {
				l.Detail(name+" "+part, countsText(one[part]))
			}
			continue
		}

		switch {
		case strings.HasSuffix(name, "bytes"):
			l.Detail(name, Size(value.Int()))
		case value.Kind() == reflect.Slice && value.Type().Elem().Kind() == reflect.Struct:
			l.Records(name, value.Slice(0, min(value.Len(), maxRows)))
			if more := value.Len() - maxRows; more > 0 {
				l.Line("… and %d more; --json prints all", more)
			}
		case value.Kind() == reflect.Struct && value.FieldByName("Text").IsValid():
			l.Block(value.FieldByName("Text").String())
		case value.Kind() == reflect.Struct:
			l.Fields(value, name+" ")
		default:
			l.Detail(name, robotmem.Clip(jsonText(value.Interface()), 500))
		}
	}
}

// Records writes a list of structs as a table, under the names of their fields.
func (l *Lines) Records(name string, list reflect.Value) {
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

	l.Line("%s:", name)
	Table(l, strings.Join(names, "\t"), rows, func(row reflect.Value) (cells []any) {
		for i, index := range shown {
			cell := row.FieldByIndex(index)
			if strings.HasSuffix(names[i], "BYTES") && reflect.Indirect(cell).IsValid() {
				cells = append(cells, Size(reflect.Indirect(cell).Int()))
				continue
			}
			cells = append(cells, cell.Interface())
		}

		return cells
	})
}

func printLearn(w *Lines, r *robotmem.LearnResponse) {
	if r.Status == "duplicate" {
		w.Line("duplicate of %d (%s, similarity %.2f)", r.ExistingID, r.Method, r.Similarity)
		return
	}
	w.Line("%s %d (%s, %.2f)%s", w.screen.Paint(r.Status), r.MemoryID, w.screen.Paint(r.AutoInferred.Category), r.AutoInferred.Confidence, tagText(r.AutoInferred.Tags))

	if r.Superseded != 0 {
		w.Line("  replaces %d; restore %d brings it back", r.Superseded, r.Superseded)
	}

	for _, c := range r.Conflicts {
		w.Line("  conflict with %d: %s; settle it with update or forget", c.MemoryID, c.Reason)
	}

	for _, s := range r.Similar {
		w.Line("  similar to %d (%s %.2f)", s.MemoryID, s.Method, s.Similarity)
	}
}

func printRecall(w *Lines, r *robotmem.RecallResponse) {
	for i, m := range r.Memories {
		score := ""
		if m.Score != nil {
			score = fmt.Sprintf("%.3f ", *m.Score)
		}
		said := m.Line // which is short, and ends with how it ended
		if said == "" {
			said = robotmem.Clip(OneLine(m.Content), 300)
		}
		w.Line("%2d. %s[%d] %s", i+1, score, m.MemoryID, said)
		// A compact answer, or one of IDs alone, has no type and no details.
		if m.Type == "" {
			continue
		}

		var why []string
		if label := robotmem.DocumentLabel(&m); label != "" {
			why = append(why, label)
		}
		if m.Distance != nil {
			why = append(why, fmt.Sprintf("%.3g away", *m.Distance))
		}
		if m.Relevance != nil {
			why = append(why, fmt.Sprintf("relevance %.2f", *m.Relevance))
		}

		if m.Outcome != "" && m.Outcome != "unknown" {
			why = append(why, w.screen.Paint(m.Outcome))
		}

		why = append(why, w.screen.Paint(m.Category), fmt.Sprintf("confidence %.2f", m.Confidence), Time(m.ObservedAt))
		for _, f := range m.Found {
			why = append(why, fmt.Sprintf("%s rank %d (%.3g)", f.List, f.Rank+1, f.Value))
		}
		w.Line("      %s", strings.Join(why, ", "))
		if len(m.Context) > 0 {
			w.Line("      %s", robotmem.Clip(OneLine(jsonText(m.Context)), 500))
		}
	}

	for _, s := range r.Surprising {
		w.Line(" + [%d] %s", s.MemoryID, OneLine(s.Line))
		w.Line("      %s", OneLine(s.Because))
	}
	if len(r.Memories) == 0 {
		w.Line("nothing found")
	}

	if r.Matching > 0 {
		var counts []string
		for _, outcome := range slices.Sorted(maps.Keys(r.Counts)) {
			counts = append(counts, fmt.Sprintf("%s %d", w.screen.Paint(outcome), r.Counts[outcome]))
		}
		w.Line("%d match in all: %s", r.Matching, strings.Join(counts, ", "))
	}

	for _, s := range r.Stages {
		w.Line("stage %s kept %d in %.2f ms", s.Stage, s.Kept, s.MS)
	}

	for _, p := range r.Times {
		w.Line("%q read as %s", p.Text, spanText(p.After, p.Before))
	}

	for _, note := range r.Notes {
		w.Line("note: %s", note)
	}

	for _, why := range r.Degraded {
		w.Line("degraded: %s", why)
	}

	if r.More > 0 {
		w.Line("%d more do not fit --max-tokens", r.More)
	}

	w.Line("%d found, %s, %.1f ms", r.Total, r.Mode, r.QueryMS)
}

// spanText is a time span, whose end is exclusive.
func spanText(after, before *time.Time) string {
	switch {
	case after == nil && before == nil:
		return "no bound: it contradicts the other words"
	case before == nil:
		return "from " + Time(*after)
	case after == nil:
		return "before " + Time(*before)
	}

	return Time(*after) + " to " + Time(*before)
}

// Lines writes lines and keeps the first error.
type Lines struct {
	w      io.Writer
	screen screen.Screen
	err    error
}

// To writes to a terminal, a pipe or a file.
func To(w io.Writer, s screen.Screen) *Lines { return &Lines{w: w, screen: s} }

// Err is the first error of writing.
func (l *Lines) Err() error { return l.err }

// Line writes a line, as Printf does.
func (l *Lines) Line(format string, args ...any) {
	if l.err == nil {
		_, l.err = fmt.Fprintf(l.w, strings.TrimRight(format, " ")+"\n", args...)
	}
}

// Detail writes a named text of what the line before is about.
func (l *Lines) Detail(name, text string) {
	text = OneLine(text)
	if painted(name) {
		text = l.screen.Paint(text)
	}
	l.Line("  %s: %s", name, text)
}

// Block writes a text of several lines.
func (l *Lines) Block(text string) {
	for s := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n") {
		l.Line("%s", OneLine(s))
	}
}

// Table writes a row for each item. An empty list has no header.
func Table[T any](l *Lines, header string, items []T, row func(T) []any) {
	if len(items) == 0 || l.err != nil {
		return
	}

	names := strings.Split(header, "\t")

	rows := make([][]string, len(items))
	for i, item := range items {
		for _, value := range row(item) {
			text := fieldText(names[min(len(rows[i]), len(names)-1)], value)
			if l.screen.Width == 0 {
				text = screen.Cut(text, maxCell)
			}
			rows[i] = append(rows[i], text)
		}
	}

	laid, left := l.screen.Table(names, rows, painted)
	for _, line := range laid {
		l.Line("%s", line)
	}
	if len(left) > 0 {
		l.Line("(%s: in a wider terminal, and with --json)", strings.Join(left, ", "))
	}
}

// painted are the columns and fields whose words get a colour.
func painted(name string) bool {
	name = strings.ToLower(name)
	return slices.Contains([]string{"status", "category", "type", "kind", "tier", "verdict"}, name) || strings.HasSuffix(name, "outcome")
}

// shares are fields from 0 to 1, whose further digits say nothing to a person.
var shares = []string{"confidence", "similarity", "relevance", "score"}

// fieldText is cellText for a field. A share has three digits; --json has them all.
func fieldText(name string, value any) string {
	words := strings.Fields(strings.ToLower(name))
	share, isNumber := value.(float64)
	if p, isPointer := value.(*float64); isPointer && p != nil {
		share, isNumber = *p, true
	}
	if isNumber && len(words) > 0 && slices.Contains(shares, words[len(words)-1]) {
		return fmt.Sprintf("%.3g", share)
	}

	return cellText(value)
}

// cellText is a value in a table; - is an empty text or no value.
func cellText(value any) string {
	switch v := value.(type) {
	case string:
		return cmp.Or(robotmem.Clip(OneLine(v), mostCell), "-")
	case time.Time:
		if v.IsZero() {
			return "-"
		}
		return Time(v)
	case float64:
		return fmt.Sprintf("%.6g", v)
	case []string:
		return cmp.Or(strings.Join(v, ", "), "-")
	case map[string]int64:
		return robotmem.Clip(OneLine(countsText(v)), mostCell)
	case map[string]uint64:
		return robotmem.Clip(OneLine(countsText(v)), mostCell)
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

	return robotmem.Clip(OneLine(jsonText(value)), mostCell)
}

// Time is a time of this machine's zone, with the zone as an offset: the names of zones are ambiguous.
func Time(t time.Time) string {
	t = t.Local()
	if _, offset := t.Zone(); offset == 0 {
		return t.Format(time.DateTime + " UTC")
	}
	return t.Format(time.DateTime + " -07:00")
}

// OneLine shows a stored text on a terminal: line ends become spaces, and characters that are not
// seen or that could steer the terminal are escaped.
func OneLine(s string) string {
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

// Size is a number of bytes in binary units.
func Size(n int64) string { return humanize.IBytes(uint64(max(n, 0))) }
