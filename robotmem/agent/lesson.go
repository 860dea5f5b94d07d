package agent

import (
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/robotmem/robotmem-go/classify"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/agent/block"
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
var reportLine = regexp.MustCompile(`(?im)^[\s>*_#\x60-]*(?:\d{1,2}[.)]\s*)?[*_\x60]*(lessons?|outcome|used|misled|教训|经验|结果)[*_\x60]*\s*[:：][*_\x60]*[ \t]*(.*)$`)

// memoryID matches the id of a memory as it is shown.
var memoryID = regexp.MustCompile(`#(\d{1,15})\b`)

// bareIDs matches a list of ids without their marks. Other numbers in a sentence are no ids.
var bareIDs = regexp.MustCompile(`^[\d\s,;#&]+$`)

// nothing are words for no lesson and no memory.
var nothing = words1("none nothing no n/a na - nil 无 没有 unknown nothing-new see-above same-as-above as-above not-applicable")

// readReport reads the lines of the agent's last words that it was asked for.
func readReport(message string) (r report) {
	for _, m := range reportLine.FindAllStringSubmatch(outsideCode(message), -1) {
		text := strings.TrimSpace(strings.Trim(strings.TrimSpace(m[2]), "*_`"))
		empty := text == "" || nothing[strings.ToLower(strings.Join(strings.Fields(strings.Trim(text, ".")), "-"))]

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
	if bareIDs.MatchString(text) {
		text = "#" + strings.Join(strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsDigit(r) }), " #")
	}

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

// order matches a sentence with which a user says how things are to be done for good, and its first word after that.
// "Use 40 poses instead of 20" may be about the task alone.
var order = regexp.MustCompile(`(?i)^(?:(?:please|pls|plz|and|also|but|then|so|ok(?:ay)?|no|yes|btw|you should|you must)\b[,.!]? +)*` +
	`(?:(?:always|never|from now on,?|in (?:the )?future,?|(?:do not|don['’]t) ever|we (?:always|never|use|prefer)|(?:i )?prefer)\s+(\S+)|` +
	`(remember)(?: that|:)?\s|(note) that\b|(以后|记住|不要再|总是|永远不要))`)

// noOrder are words behind "always" and the like with which a sentence reports or comments and orders nothing.
var noOrder = words1(`not mind again ever worked works fails failed crashes crashed happens happened seen saw had has have been was were is are did does
	got gets green red the a an my it its it's this that there on in at up not gonna knew know thought said true false ok fine good bad`)

// aboutThings matches orders that name a thing and no doing.
var aboutThings = regexp.MustCompile(`(?i)\b(?:we (?:use|prefer)|prefer)\s`)

// must matches a duty, which makes an order of a sentence that begins like a report: "from now on the tests must …".
var must = regexp.MustCompile(`(?i)\b(?:must|should|shall|has to|have to|needs? to|only)\b`)

// orders reports whether a sentence orders something for good.
func orders(sentence string) bool {
	m := order.FindStringSubmatch(sentence)
	if m == nil || question.MatchString(sentence) {
		return false
	}
	word := strings.ToLower(strings.Trim(m[1], ",.!:;"))
	if word == "" {
		return true
	}
	// "always fails" reports; "always pass -p 2" and "always focus" order.
	third := strings.HasSuffix(word, "s") && !strings.HasSuffix(word, "ss") && !strings.HasSuffix(word, "us")
	past := strings.HasSuffix(word, "ed") && !strings.HasSuffix(word, "eed")
	// "we use pandas" and "prefer named exports" are about things.
	things := aboutThings.MatchString(m[0])
	if noOrder[word] || !things && (third || past) {
		return must.MatchString(sentence)
	}

	return true
}

// question matches what is asked, which orders nothing.
var question = regexp.MustCompile(`[?？]\s*$`)

// ordersIn returns the sentences of a prompt that order something for good.
func ordersIn(prompt string) (all []string) {
	const most, longest = 5, 400

	// Who speaks to take over a model is not the user, whatever was pasted.
	if classify.Instructs(prompt) {
		return nil
	}

	for _, sentence := range sentences(prompt) {
		n := utf8.RuneCountInString(sentence)
		if len(all) < most && n >= leastLesson && n <= longest && orders(sentence) {
			all = append(all, sentence)
		}
	}

	return all
}

// sentenceEnd matches the end of a sentence and the space behind it. Versions, files and paths have none.
var sentenceEnd = regexp.MustCompile(`[.!?][)"']?\s+|[。！？]|\n|;\s+`)

// outsideCode is a text without its blocks of code. A block that nobody closes is none, and neither is one in which the
// agent reports.
func outsideCode(text string) string {
	var b strings.Builder

	parts := strings.Split(text, "```")
	for i, part := range parts {
		if i%2 == 0 || i == len(parts)-1 || reports.MatchString(part) {
			b.WriteString(part)
		}
	}

	return b.String()
}

// reports matches a line with the outcome of a turn.
var reports = regexp.MustCompile(`(?im)^\s*(?:outcome|结果)\s*[:：]`)

// sentences returns the sentences of a text, outside of blocks of code and of lines that are quoted.
func sentences(text string) (all []string) {
	var b strings.Builder

	for line := range strings.Lines(outsideCode(text)) {
		if !strings.HasPrefix(strings.TrimSpace(line), ">") {
			b.WriteString(line)
		}
	}
	text = b.String()

	for start := 0; start < len(text); {
		end := len(text)
		if at := sentenceEnd.FindStringIndex(text[start:]); at != nil {
			end = start + at[1]
		}
		if s := strings.TrimSpace(strings.TrimLeft(strings.TrimSpace(text[start:end]), "-*• ")); s != "" {
			all = append(all, strings.TrimRight(s, ";"))
		}
		start = end
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

// fixesIn finds commands that were given wrongly: one failed with an error that speaks of the command or of the machine
// and not of the work, and the next command that changed something is a variant of it, which succeeded. A command that
// works after a file was changed, or after another command, teaches nothing about the command.
func fixesIn(uses []*ToolUse) (fixes []fix) {
	for i, u := range uses {
		if u.Command == "" || !u.Failed || u.Stopped || !misused.MatchString(u.Output) {
			continue
		}

		for _, next := range uses[i+1:] {
			if next.ReadOnly {
				continue
			}
			if next.Command != "" && !next.Failed && !next.Stopped && variant(u.Command, next.Command) {
				fixes = append(fixes, fix{shown(u.Command), shown(next.Command), errorLine(u.Output)})
			}
			break
		}
	}

	return fixes
}

// misused matches errors about how a command was given, or what the machine lacks for it.
var misused = regexp.MustCompile(`(?i)\bcommand not found\b|\bnot recognized\b|\b(?:unknown|unrecognized|invalid|illegal|unexpected) (?:\w+ )?(?:options?|flags?|arguments?|commands?|subcommands?)\b` +
	`|^usage:|\bno module named\b|\bpermission denied\b|\balready in use\b|\bnot found\b|\bcould not find\b|\bcannot find\b|\bno such file\b|\bmissing script\b|\bunable to\b|\b(?:not|un)[ -]?supported\b|\bexternally-managed\b|\b(?:is|are) required\b|\brequires?\b`)

// variant reports whether two commands do the same in another way: under another name of the program with the same
// words behind it, or with the same words and other flags.
func variant(a, b string) bool {
	one, other := strings.Fields(a), strings.Fields(b)
	if len(one) == 0 || len(other) == 0 || a == b {
		return false
	}
	if renamed(one[0], other[0]) && slices.Equal(one[1:], other[1:]) {
		return true
	}

	if before, ok := strings.CutSuffix(b, a); ok && prepared.MatchString(before) {
		return true
	}

	return slices.Equal(operands(one, other), operands(other, one))
}

// prepared matches what is put before a command so that it works: another folder, an environment, more rights.
var prepared = regexp.MustCompile(`^(?:(?:source|\.|cd|export)\s[^&;|]+(?:&&|;)\s*|[A-Za-z_]\w*=\S*\s+|sudo\s+|env\s+|uv run\s+|poetry run\s+|npx\s+|pnpm exec\s+)+$`)

// renamed reports whether two programs are forms of one, such as python and python3, npm and pnpm, or pip and ./venv/bin/pip.
func renamed(a, b string) bool {
	a, b = path.Base(a), path.Base(b)
	return strings.HasPrefix(b, a) || strings.HasPrefix(a, b) || strings.HasSuffix(b, a) || strings.HasSuffix(a, b)
}

// operands are the words of a command that are no flags and no values of flags that the other command lacks.
func operands(words, other []string) (kept []string) {
	for i, word := range words {
		isFlag := strings.HasPrefix(word, "-")
		ofFlag := i > 0 && strings.HasPrefix(words[i-1], "-") && !slices.Contains(other, words[i-1]) && !slices.Contains(other, word)
		if !isFlag && !ofFlag {
			kept = append(kept, word)
		}
	}

	return kept
}

// shown is a command as a fact shows it.
func shown(command string) string {
	const longest = 160
	return block.OneLine(command, longest)
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
