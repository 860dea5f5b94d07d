// Package tries reads and writes the attempts at a goal: which facts its tries are stored as, whether one was tried
// before, and how many were without progress.
//
// An attempt is an episode whose context has a section "attempt" with the goal and its criteria. A try is a fact of
// that episode, whose context has a section "attempt" with the goal, its number and what it changed.
package tries

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/record"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
	"github.com/robotmem/robotmem-go/robotmem/internal/text"
)

// Section is the section of a context that an attempt and its tries have.
const Section = "attempt"

const (
	shownTries = 10 // of the tries that an answer has
	// resultShown is the number of characters of a result that an answer has; get returns the whole text.
	resultShown = 300
	// stuckAfter is the number of tries without progress from which on the answer says what was tried.
	stuckAfter  = 3
	adviceLine  = 160 // characters of a try in a line
	resultLabel = "\nResult: "
)

// ContextOf returns the context of the episode of a new attempt. The caller's own task stays.
func ContextOf(r *robotmem.AttemptRequest) robotmem.Object {
	section := map[string]any{"goal": r.Goal}
	if len(r.Criteria) > 0 {
		criteria := make([]any, len(r.Criteria))
		for i, c := range r.Criteria {
			criteria[i] = c
		}
		section["criteria"] = criteria
	}

	return withSection(r.Context, r.Goal, section)
}

// withSection returns a copy of a context with the section of an attempt, and with the goal as its task unless it
// names one.
func withSection(context robotmem.Object, goal string, section map[string]any) robotmem.Object {
	out := robotmem.Object{}
	for key, v := range context {
		out[key] = v
	}

	out[Section] = section

	switch task := out["task"].(type) {
	case nil:
		out["task"] = map[string]any{"name": goal}
	case map[string]any:
		if record.TaskOf(out) == "" {
			named := map[string]any{"name": goal}
			for key, v := range task {
				named[key] = v
			}
			out["task"] = named
		}
	}

	return out
}

// GoalOf returns the goal and the criteria of an episode's context; the goal is "" if it is no attempt.
func GoalOf(context robotmem.Object) (goal string, criteria []string) {
	section, _ := context[Section].(map[string]any)
	goal, _ = section["goal"].(string)
	list, _ := section["criteria"].([]any)

	for _, c := range list {
		if text, ok := c.(string); ok {
			criteria = append(criteria, text)
		}
	}

	return goal, criteria
}

// SameGoal reports whether two goals are one: their letters and digits are the same, in any case, and so are the signs
// between them that are no punctuation ("x > 5", "C++").
func SameGoal(a, b string) bool { return goalKey(a) == goalKey(b) }

func goalKey(goal string) string {
	folded := cases.Fold().String(norm.NFKC.String(goal))
	words := strings.FieldsFunc(folded, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsPunct(r) })

	return strings.Join(words, " ")
}

// FactOf returns the fact that a try is stored as. It fails with Invalid if checks name a criterion that the attempt
// does not have.
func FactOf(r *robotmem.AttemptRequest, goal string, criteria []string, number int) (*robotmem.LearnRequest, error) {
	section := map[string]any{"goal": goal, "try": number, "changed": r.Changed}
	fact := &robotmem.LearnRequest{Outcome: r.Outcome}

	met, checked, err := countChecks(r.Checks, criteria)
	if err != nil {
		return nil, err
	}

	progress := r.Progress
	switch {
	case r.ExitStatus != nil:
		section["exit_status"] = *r.ExitStatus
		met, checked = 0, 1
		if *r.ExitStatus == 0 {
			met = 1
		}
	case r.Checks != nil:
		section["checks"] = map[string]any(r.Checks)
		if progress == nil {
			share := float64(met) / float64(max(checked, len(criteria)))
			progress = &share
		}
	}

	if progress != nil {
		section["progress"] = *progress
	}

	switch {
	case fact.Outcome == "" && checked > 0:
		fact.Outcome = outcomeOf(met, checked, len(criteria), r.Checks != nil)
	case fact.Outcome == robotmem.OutcomeSuccess && met < checked:
		return nil, robotmem.Errorf(robotmem.Invalid, "outcome",
			"is success, but %d of %d checks are met; leave one out", met, checked)
	case fact.Outcome == "" && r.Verdict != "":
		fact.Outcome = r.Verdict
	case fact.Outcome == "" && !r.StatedInContext():
		// A guess from the words of a result must not end an attempt: "almost a success" is none.
		fact.Outcome = robotmem.OutcomeUnknown
	}

	fact.Insight = textOf(goal, number, r.Changed)
	if result := strings.TrimSpace(r.Result); result != "" {
		fact.Insight += resultLabel + result
	}

	fact.Context = withSection(r.Context, goal, section)

	return fact, nil
}

// outcomeOf is a success only if every criterion was checked and met.
func outcomeOf(met, checked, criteria int, each bool) string {
	switch {
	case met == checked && (!each || checked >= criteria):
		return robotmem.OutcomeSuccess
	case met > 0:
		return robotmem.OutcomePartial
	}

	return robotmem.OutcomeFailure
}

// textOf is the beginning of the text of a try.
func textOf(goal string, number int, changed string) string {
	return fmt.Sprintf("%s, try %d: %s", goal, number, changed)
}

// countChecks returns how many checks are met, and how many there are.
func countChecks(checks robotmem.Object, criteria []string) (met, checked int, err error) {
	for key, value := range checks {
		number, notANumber := strconv.Atoi(key)
		known := slices.Contains(criteria, key) || notANumber == nil && number >= 1 && number <= len(criteria)
		if !known {
			return 0, 0, robotmem.Errorf(robotmem.Invalid, "checks",
				"%.100q is no criterion of this attempt, which has %d; name one by its text or its number from 1",
				key, len(criteria))
		}

		checked++

		switch v := value.(type) {
		case bool:
			if v {
				met++
			}
		default:
			if text := fmt.Sprint(v); text == "0" || text == "true" {
				met++
			}
		}
	}

	return met, checked, nil
}

// Of returns an attempt as its episode and its stored tries make it. planned is what a next try would change, "" for
// none; earlier are tries of attempts at the goal that have ended.
func Of(
	goal string, criteria []string, verdict string, stored []store.StoredTry, planned string, earlier []robotmem.Try,
) robotmem.Attempt {
	a := robotmem.Attempt{Goal: goal, Criteria: criteria, Verdict: verdict, Tries: []robotmem.Try{}}
	for i := range stored {
		if t, ok := tryOf(goal, &stored[i]); ok {
			a.Tries = append(a.Tries, t)
		}
	}

	a.WithoutProgress = withoutProgress(a.Tries)
	a.Advice = advice(&a, planned, earlier)
	a.More = max(0, len(a.Tries)-shownTries)
	a.Tries = a.Tries[a.More:]

	return a
}

func tryOf(goal string, stored *store.StoredTry) (robotmem.Try, bool) {
	section, _ := stored.Context[Section].(map[string]any)
	number, isTry := numberAt(section, "try")
	if !isTry {
		return robotmem.Try{}, false
	}

	t := robotmem.Try{
		Number: int(number), MemoryID: stored.ID, Outcome: stored.Outcome, At: store.ParseTime(stored.At),
	}
	if t.Outcome == "" {
		t.Outcome = robotmem.OutcomeUnknown
	}

	t.Changed, _ = section["changed"].(string)
	if progress, ok := numberAt(section, "progress"); ok {
		t.Progress = &progress
	}

	// A text that somebody has corrected since is shown whole.
	t.Result = stored.Content
	if rest, ok := strings.CutPrefix(stored.Content, textOf(goal, t.Number, t.Changed)); ok {
		t.Result = strings.TrimPrefix(rest, resultLabel)
	}
	t.Result = robotmem.Clip(t.Result, resultShown)

	return t, true
}

func numberAt(section map[string]any, key string) (float64, bool) {
	switch v := section[key].(type) {
	case json.Number:
		f, err := v.Float64()
		return f, err == nil
	case float64:
		return v, true
	case int:
		return float64(v), true
	}

	return 0, false
}

// reached is how much of the goal a try has reached, as far as it is known.
func reached(t *robotmem.Try) float64 {
	switch {
	case t.Progress != nil:
		return *t.Progress
	case t.Outcome == robotmem.OutcomeSuccess:
		return 1
	case t.Outcome == robotmem.OutcomePartial:
		return 0.5
	}

	return 0
}

// withoutProgress counts the last tries that reached no more than one before them.
func withoutProgress(tries []robotmem.Try) int {
	best, since := 0.0, 0

	for i := range tries {
		if r := reached(&tries[i]); r > best {
			best, since = r, 0
			continue
		}
		since++
	}

	return since
}

// Find returns the last try that changed the same, nil if there is none: the words are the same in the same order, and
// numbers and units as quantities. Words without content, and words alone, are compared as they are written.
func Find(tries []robotmem.Try, changed string) *robotmem.Try {
	planned := record.StatementOf(changed).Sequence

	return find(tries, func(t *robotmem.Try) bool {
		if strings.EqualFold(strings.TrimSpace(t.Changed), changed) {
			return true
		}
		return len(planned) > 0 && signs(t.Changed) == signs(changed) &&
			slices.Equal(record.StatementOf(t.Changed).Sequence, planned)
	})
}

// findAlike returns the last try whose change has the same words in the same order, in another form and with other words
// without content between them, and the same quantities.
func findAlike(tries []robotmem.Try, changed string) *robotmem.Try {
	planned := stems(changed)

	return find(tries, func(t *robotmem.Try) bool {
		return len(planned) > 0 && signs(t.Changed) == signs(changed) && slices.Equal(stems(t.Changed), planned)
	})
}

func stems(s string) (out []string) {
	for _, word := range record.StatementOf(s).Sequence {
		if !text.Stop(word) {
			out = append(out, text.Stem(word))
		}
	}

	return out
}

// signs are the signs of comparison in a text: "x > 5" and "x < 5" are no spellings of one.
func signs(s string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune("<>=!≤≥≠+*/", r) {
			return r
		}
		return -1
	}, s)
}

func find(tries []robotmem.Try, same func(*robotmem.Try) bool) *robotmem.Try {
	for i := len(tries) - 1; i >= 0; i-- {
		if same(&tries[i]) {
			return &tries[i]
		}
	}

	return nil
}

// advice is what a model should know before its next try.
func advice(a *robotmem.Attempt, planned string, earlier []robotmem.Try) string {
	var lines []string

	switch same := Find(a.Tries, planned); {
	case planned == "" || len(a.Tries) == 0 && len(earlier) == 0:
	case same != nil:
		lines = append(lines, fmt.Sprintf("This was try %d already: %s.", same.Number, outcomeAndResult(same)))
	default:
		if alike := findAlike(a.Tries, planned); alike != nil {
			lines = append(lines, fmt.Sprintf("Much like try %d (%s): %s.", alike.Number, alike.Changed, outcomeAndResult(alike)))
		} else if known := Find(earlier, planned); known != nil {
			lines = append(lines, fmt.Sprintf("An earlier attempt at this goal has tried this on %s: %s.",
				known.At.Format(time.DateOnly), outcomeAndResult(known)))
		} else {
			lines = append(lines, "Not among the tries so far.")
		}
	}

	if a.WithoutProgress < stuckAfter || a.Verdict != "" {
		return strings.Join(lines, "\n")
	}

	var tried []string

	for i := max(0, len(a.Tries)-shownTries); i < len(a.Tries); i++ {
		t := &a.Tries[i]
		line := robotmem.Clip(strings.Join(strings.Fields(t.Changed), " "), adviceLine) + " (" + t.Outcome + ")"
		if !slices.Contains(tried, line) {
			tried = append(tried, line)
		}
	}

	lines = append(lines, fmt.Sprintf(
		"%d tries without progress. Change something else than the last ones, or end the attempt with a verdict: %s.",
		a.WithoutProgress, strings.Join(tried, "; ")))

	return strings.Join(lines, "\n")
}

func outcomeAndResult(t *robotmem.Try) string {
	said := t.Outcome
	if said == robotmem.OutcomeUnknown {
		said = "outcome unknown"
	}
	if t.Progress != nil {
		said += fmt.Sprintf(" (%.0f %%)", 100**t.Progress)
	}
	if t.Result != "" {
		said += ", " + strings.Join(strings.Fields(t.Result), " ")
	}

	return strings.TrimRight(robotmem.Clip(said, adviceLine), ".")
}

// Repeated is a remark on a try that changes what another one has changed.
func Repeated(same *robotmem.Try) string {
	return fmt.Sprintf("changed: the same as try %d, whose outcome was %s", same.Number, same.Outcome)
}

// Last returns the highest number of the stored tries, 0 without any.
func Last(stored []store.StoredTry) (last int) {
	for _, t := range stored {
		section, _ := t.Context[Section].(map[string]any)
		if number, ok := numberAt(section, "try"); ok {
			last = max(last, int(number))
		}
	}

	return last
}

// Line describes an open attempt in one line.
func Line(a *robotmem.Attempt) string {
	tries := len(a.Tries) + a.More
	if tries == 0 {
		return a.Goal + ": not tried yet"
	}

	last := &a.Tries[len(a.Tries)-1]
	line := fmt.Sprintf("%s: %d tries, the last one (%s) %s", a.Goal, tries, last.Changed, last.Outcome)
	if tries == 1 {
		line = fmt.Sprintf("%s: 1 try (%s) %s", a.Goal, last.Changed, last.Outcome)
	}

	return line
}

// TryLines describes the last tries of an attempt, the last one first, in a line each.
func TryLines(a *robotmem.Attempt) (lines []string) {
	if a.WithoutProgress >= stuckAfter {
		lines = append(lines, fmt.Sprintf("%d tries without progress", a.WithoutProgress))
	}

	for i := len(a.Tries) - 1; i >= 0; i-- {
		t := &a.Tries[i]
		lines = append(lines, fmt.Sprintf("%d. %s: %s", t.Number, t.Changed, outcomeAndResult(t)))
	}

	return lines
}

// Earlier returns all tries at a goal among facts.
func Earlier(goal string, facts []store.StoredTry) (out []robotmem.Try) {
	for i := range facts {
		its, _ := facts[i].Context[Section].(map[string]any)
		of, _ := its["goal"].(string)
		if t, ok := tryOf(of, &facts[i]); ok && SameGoal(of, goal) {
			out = append(out, t)
		}
	}

	return out
}
