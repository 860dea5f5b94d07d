package agent

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/robotmem/robotmem-go/robotmem"
)

// What a turn teaches, without a model: what the agent says in the lines that it was asked for, what the user
// orders for good, and a command that failed until another was used.

// report is what the agent has said of its turn.
type report struct {
	lessons []string
	outcome string // of robotmem, empty if none was given
	named   bool   // the memories that helped were named
	helped  []int64
	misled  []int64
}

// reportLine matches a line such as "**Lesson:** use -p 2 on the robot".
var reportLine = regexp.MustCompile(`(?im)^[\s>*_#\x60-]*(lessons?|outcome|used|misled|教训|经验|结果)[*_\x60]*\s*[:：][*_\x60]*[ \t]*(.*)$`)

// memoryID matches the id of a memory as it is shown.
var memoryID = regexp.MustCompile(`#(\d{1,15})\b`)

// nothing are words for no lesson and no memory.
var nothing = words1("none nothing no n/a na - nil 无 没有 unknown")

// readReport reads the lines of the agent's last words that it was asked for.
func readReport(message string) (r report) {
	for _, m := range reportLine.FindAllStringSubmatch(message, -1) {
		text := strings.TrimSpace(strings.Trim(strings.TrimSpace(m[2]), "*_`"))
		empty := text == "" || nothing[strings.ToLower(strings.Trim(text, "."))]

		switch strings.ToLower(m[1]) {
		case "lesson", "lessons", "教训", "经验":
			if !empty && utf8.RuneCountInString(text) >= leastLesson {
				r.lessons = append(r.lessons, text)
			}
		case "outcome", "结果":
			r.outcome = outcomeOf(text)
		case "used":
			r.named = true
			r.helped = append(r.helped, idsIn(text)...)
		case "misled":
			r.misled = append(r.misled, idsIn(text)...)
		}
	}

	return r
}

// leastLesson is the number of characters of the shortest lesson.
const leastLesson = 8

func idsIn(text string) (ids []int64) {
	for _, m := range memoryID.FindAllStringSubmatch(text, -1) {
		if id, err := strconv.ParseInt(m[1], 10, 64); err == nil && id > 0 && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids
}

// outcomeOf reads the first word of an outcome.
func outcomeOf(text string) string {
	words := strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) })
	if len(words) == 0 {
		return ""
	}

	switch strings.ToLower(words[0]) {
	case "worked", "works", "success", "succeeded", "successful", "done", "passed", "成功":
		return robotmem.OutcomeSuccess
	case "failed", "fails", "failure", "fail", "broken", "失败":
		return robotmem.OutcomeFailure
	case "partial", "partially", "partly", "mixed", "部分":
		return robotmem.OutcomePartial
	}

	return ""
}

// order matches a sentence with which a user says how things are to be done for good. "Use 40 poses instead of 20" may
// be about the task alone.
var order = regexp.MustCompile(`(?i)^(?:please |and |also |ok(?:ay)?,? |no[,.!]? |then |but )*` +
	`(?:always\b|never\b|from now on\b|in (?:the )?future\b|remember(?: that|:)?\s|note that\b|we (?:always|never|use|prefer)\b|` +
	`(?:do not|don['’]t) ever\b|prefer \S|以后|记住|不要再|总是|永远不要)`)

// question matches what is asked, which orders nothing.
var question = regexp.MustCompile(`[?？]\s*$`)

// ordersIn returns the sentences of a prompt that order something for good.
func ordersIn(prompt string) (orders []string) {
	const most, longest = 5, 400

	for _, sentence := range sentences(prompt) {
		n := utf8.RuneCountInString(sentence)
		if len(orders) < most && n >= leastLesson && n <= longest && order.MatchString(sentence) && !question.MatchString(sentence) {
			orders = append(orders, sentence)
		}
	}

	return orders
}

// sentenceEnd matches the space behind the end of a sentence. "v1.2 is", "e.g. this" and paths have none.
var sentenceEnd = regexp.MustCompile(`([.!?][)"']?\s+[A-Z]|[。！？]|\n)`)

// sentences returns the sentences of a text, outside of blocks of code.
func sentences(text string) (all []string) {
	for i, part := range strings.Split(text, "```") {
		if i%2 == 1 {
			continue
		}

		for start := 0; start < len(part); {
			at := sentenceEnd.FindStringIndex(part[start:])
			end := len(part)
			next := end
			if at != nil {
				// The capital letter begins the next sentence.
				next = start + at[1]
				end = next
				if part[next-1] >= 'A' && part[next-1] <= 'Z' {
					next--
					end = next
				}
			}
			if s := strings.TrimSpace(strings.TrimLeft(strings.TrimSpace(part[start:end]), "-*•> ")); s != "" {
				all = append(all, s)
			}
			start = next
		}
	}

	return all
}

// fix is a command that failed, and another that did the same and worked.
type fix struct {
	failed, worked string
	reason         string
}

// text is the fix as a fact.
func (f *fix) text() string {
	text := "`" + f.failed + "` fails"
	if f.reason != "" {
		text += " (" + f.reason + ")"
	}
	return text + "; `" + f.worked + "` works instead"
}

// fixesIn finds commands that failed and were replaced: the next command that is another with the same purpose, at most
// a few later and without a change of a file between, succeeded. A command that works after a file was changed teaches
// nothing about the command.
func fixesIn(uses []*ToolUse) (fixes []fix) {
	const window = 3

	for i, u := range uses {
		if u.Command == "" || !u.Failed || u.Stopped {
			continue
		}

		tried := 0
		for _, next := range uses[i+1:] {
			if len(next.Files) > 0 || tried == window {
				break
			}
			if next.Command == "" || next.ReadOnly {
				continue
			}
			tried++
			if next.Command == u.Command {
				break // the same command: something else has changed
			}
			if !next.Failed && !next.Stopped && sameTask(u.Command, next.Command) {
				fixes = append(fixes, fix{shown(u.Command), shown(next.Command), errorLine(u.Output)})
				break
			}
		}
	}

	return fixes
}

// sameTask reports whether two commands differ in a part only: at least half of the words of the shorter are in the
// longer, two of them or all.
func sameTask(a, b string) bool {
	one, other := strings.Fields(a), strings.Fields(b)
	if len(one) > len(other) {
		one, other = other, one
	}

	equal := 0

	for _, word := range one {
		if slices.Contains(other, word) {
			equal++
		}
	}
	if len(one) == 1 {
		// A program under another name: "python" and "python3".
		return equal == 1 || strings.HasPrefix(other[0], one[0]) && len(other) == 1
	}

	return 2*equal >= len(one) && (equal >= 2 || len(one) == 2)
}

// shown is a command as a fact shows it.
func shown(command string) string {
	const longest = 160
	return robotmem.Clip(strings.Join(strings.Fields(command), " "), longest)
}

// telling matches a line of output that says what went wrong.
var telling = regexp.MustCompile(`(?i)\b(error|failed|failure|fatal|cannot|can't|not found|no such|denied|refused|undefined|invalid|unknown|unrecognized|timed out|traceback|panic)\b`)

// errorLine is the last line of an output that says what went wrong, or else its last line.
func errorLine(output string) string {
	const longest = 200

	last := ""

	lines := strings.Split(output, "\n")
	for i := len(lines) - 1; i >= 0; i-- {
		line := strings.TrimSpace(lines[i])
		if line == "" || strings.HasPrefix(line, "…") || exitStatus.MatchString(line) {
			continue
		}
		if last == "" {
			last = line
		}
		if telling.MatchString(line) {
			last = line
			break
		}
	}

	return robotmem.Clip(last, longest)
}
