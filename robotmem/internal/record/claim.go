package record

import (
	_ "embed"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/robotmem/robotmem-go/consolidate"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/text"
	"github.com/robotmem/robotmem-go/robotmem/internal/units"
)

// ClaimOf prepares a fact for consolidate.Outdates. context has its texts, numbers and lists by path.
func ClaimOf(m *robotmem.Memory, context map[string]string) *consolidate.Claim {
	r := &claimReader{c: &consolidate.Claim{
		States:  map[string]bool{},
		Context: map[string]string{},
		Params:  map[string]string{},
		Rule:    m.Pinned || m.Category == "constraint",
		Attempt: m.Outcome == robotmem.OutcomeSuccess || m.Outcome == robotmem.OutcomeFailure,
	}}

	// Parameters are values of the fact. The other texts say what the fact is about, except those that state a value.
	for path, value := range context {
		top, _, _ := strings.Cut(path, ".")
		switch {
		case top == "params":
			r.c.Params[path] = value
		case slices.Contains(valuePaths, path[strings.LastIndexByte(path, '.')+1:]), top == "task":
		default:
			r.c.Context[path] = value
		}
	}

	r.read(m.Content)

	return r.c
}

// valuePaths are keys of a context whose value is not part of what a fact is about.
var valuePaths = []string{"success", "outcome", "result", "status", "error", "firmware", "version", "fw"}

// claimReader reads the text of one fact.
type claimReader struct {
	c      *consolidate.Claim
	tokens []claimToken
	rule   bool // a word of a condition or a rule
	again  bool // a word of repetition
}

type tokenKind uint8

const (
	wordToken     tokenKind = iota
	subjectToken            // a name with digits or capitals
	quantityToken           // a number with a unit, or a count
	clockToken
	stateToken
	verbToken  // is, stands, moved to
	prepToken  // at, in, on
	colonToken // : or =
	breakToken // , or ;
)

type claimToken struct {
	kind  tokenKind
	text  string // stem, or as written in lower case
	name  bool   // written with a capital within a sentence
	value consolidate.Quantity
}

var (
	claimWords = regexp.MustCompile(`\x01|\p{Han}+|\d{1,2}:\d{2}(?:\s?[ap]\.?m\b\.?)?|\d{1,2}\s?[ap]\.?m\b\.?|#\d+|[\p{Latin}\p{Greek}\p{Cyrillic}_][\p{Latin}\p{Greek}\p{Cyrillic}\p{M}\d_'’-]*(?:[.-]\d[\p{Latin}\d.-]*)*|\d+(?:[.,]\d+)*(?:[\p{Latin}-][\p{Latin}\d-]*)?|[:=;,]|[%°µ℃]\p{L}*`)
	version    = regexp.MustCompile(`^v\d+(?:\.\d+)+$`)
	clockValue = regexp.MustCompile(`^(\d{1,2})(?::(\d{2}))?\s?(?:([ap])\.?m\b\.?)?$`)
)

// Words and characters that mark rules which the categories do not cover, and events that happened again or states
// that still hold.
var (
	conditional    = setOf(`when if unless must should always never keep exceed exceeds wenn falls immer muss darf niemals`)
	conditionalHan = []string{"必须", "不得", "禁止", "如果"}
	repeated       = setOf(`again another more erneut wieder third second still weiterhin remain remains`)
	repeatedHan    = []string{"又", "再次", "再一次", "仍"}
	past           = regexp.MustCompile(`\p{L}{2}ed\b|\b(?:lost|fell|went|hit|broke|ran|saw|came|stuck|fiel|ging)\b|了|掉`)
)

func holdsAny(s string, parts []string) bool {
	return slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(s, part) })
}

// changeWords say that something changed, but not what.
var changeWords = setOf(`now currently moved changed replaced swapped instead updated renamed relocated switched corrected new again still
	no longer anymore since after before today yesterday went got get gets set reduced increased raised lowered left remain remaining only just
	since from until once update upgrade upgraded refit swap service as with its
	der die das den dem des ein eine einen einem einer und oder mit von für jetzt nun neu wieder nur noch seit heute gestern umgestellt geändert`)

// placeVerbs state where something is, or where it was moved.
var placeVerbs = setOf(`is are was were stands stand stays sits lies lie parked kept stored located moved brought placed lives hangs belongs mounted relocated put
	wurde steht stehen liegt liegen ist sind hängt gebracht verlegt umgezogen abgestellt`)

var placePreps = setOf(`in at on under by near behind over beside inside into onto to between opposite above below next
	bei im in auf an am unter neben hinter vor zu zum zur ins beim über`)

var copulas = setOf(`is are was were = : ist sind lautet heißt beträgt has have carries hat`)

func setOf(list string) map[string]bool {
	out := map[string]bool{}
	for _, w := range strings.Fields(list) {
		out[w] = true
	}
	return out
}

//go:embed states.txt
var stateList string

// statePhrase is a phrase that states a pole of a dimension.
type statePhrase struct {
	phrase, dimension string
	pole              bool
}

// statePhrases has the longest phrases first.
var statePhrases = sync.OnceValue(func() (out []statePhrase) {
	for line := range strings.Lines(stateList) {
		fields := strings.SplitN(strings.TrimSpace(line), " ", 3)
		if len(fields) < 3 || fields[0] == "#" {
			continue
		}

		for phrase := range strings.SplitSeq(fields[2], "|") {
			out = append(out, statePhrase{phrase, fields[0], fields[1] == "+"})
		}
	}
	slices.SortStableFunc(out, func(a, b statePhrase) int { return len(b.phrase) - len(a.phrase) })

	return out
})

func (r *claimReader) read(content string) {
	// Phrases of states are removed first, so that their words do not count as subjects or values.
	lower := strings.ToLower(content)
	lower, content = r.takeStates(lower, content)
	r.tokenize(lower, content)
	r.c.Rule = r.c.Rule || r.rule || holdsAny(lower, conditionalHan)
	clocks := slices.ContainsFunc(r.tokens, func(t claimToken) bool { return t.kind == clockToken })
	r.c.Event = r.again || holdsAny(lower, repeatedHan) || clocks && past.MatchString(lower)
	r.assign()
}

// takeStates notes the states that a text names and removes their phrases. "no longer leaks" states the
// other pole.
func (r *claimReader) takeStates(lower, content string) (string, string) {
	for _, p := range statePhrases() {
		for from := 0; ; {
			at := strings.Index(lower[from:], p.phrase)
			if at < 0 {
				break
			}
			at += from
			end := at + len(p.phrase)
			if !bounded(lower, at, end) {
				from = end
				continue
			}

			// A negation before the phrase states the other pole.
			pole := p.pole

			before := strings.TrimRight(lower[:at], " ")
			for _, not := range []string{"not", "no longer", "never", "nicht", "nicht mehr", "kein", "不", "没"} {
				if strings.HasSuffix(before, not) && bounded(before, len(before)-len(not), len(before)) {
					pole = !p.pole
				}
			}
			if _, known := r.c.States[p.dimension]; !known {
				r.c.States[p.dimension] = pole
			}

			// The phrase is replaced by a mark of the same length, so that positions in both texts stay equal.
			blank := stateMark + strings.Repeat(" ", end-at-1)
			lower = lower[:at] + blank + lower[end:]
			if len(content) == len(lower) {
				content = content[:at] + blank + content[end:]
			}
			from = end
		}
	}

	// Lower case of some letters has another length. Then capitals are not used.
	if len(content) != len(lower) {
		content = lower
	}

	return lower, content
}

// stateMark replaces the phrase of a state in a text.
const stateMark = "\x01"

// bounded reports whether a phrase of Latin letters is not part of a longer word.
func bounded(s string, at, end int) bool {
	before, _ := utf8.DecodeLastRuneInString(s[:at])
	after, _ := utf8.DecodeRuneInString(s[end:])
	first, _ := utf8.DecodeRuneInString(s[at:])
	if unicode.Is(unicode.Han, first) {
		return true
	}
	letter := func(r rune) bool {
		return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r) || r == '-')
	}

	return !letter(before) && !letter(after)
}

// tokenize divides the text into tokens.
func (r *claimReader) tokenize(lower, content string) {
	spans := claimWords.FindAllStringIndex(lower, -1)
	for i := 0; i < len(spans); i++ {
		word := lower[spans[i][0]:spans[i][1]]
		written := word
		if len(content) == len(lower) {
			written = content[spans[i][0]:spans[i][1]]
		}

		switch {
		case word == stateMark:
			r.add(claimToken{kind: stateToken})
		case word == ":" || word == "=":
			r.add(claimToken{kind: colonToken, text: ":"})
		case word == "," || word == ";":
			r.add(claimToken{kind: breakToken})
		case isDigit(word[0]) && clockValue.MatchString(word) &&
			(strings.Contains(word, ":") || strings.HasSuffix(strings.ReplaceAll(word, ".", ""), "m")):
			r.add(claimToken{kind: clockToken, text: word, value: consolidate.Quantity{Value: clockOf(word),
				Unit: "clock"}})
		case isDigit(word[0]):
			next := ""
			if i+1 < len(spans) && spans[i+1][0]-spans[i][1] <= 1 {
				next = lower[spans[i+1][0]:spans[i+1][1]]
				if len(content) == len(lower) {
					next = content[spans[i+1][0]:spans[i+1][1]]
				}
			}
			if hasHan(next) {
				// hanNumber reads the first n bytes of the run. The rest is read as the next word.
				if n := r.hanNumber(word, next); n > 0 {
					spans[i+1][0] += n
					if spans[i+1][0] == spans[i+1][1] {
						i++
					}
				}
				continue
			}
			if r.number(written, next) {
				i++
			}
		case word[0] == '#':
			r.label(word)
		case version.MatchString(word):
			r.count(word[1:])
		case strings.ContainsFunc(word, unicode.IsDigit):
			r.add(claimToken{kind: subjectToken, text: strings.NewReplacer("-", "", "_", "").Replace(word)})
		case hasHan(word):
			r.han(word)
		default:
			r.word(word, written)
		}
	}
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func hasHan(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return unicode.Is(unicode.Han, r) })
}

func (r *claimReader) add(t claimToken) { r.tokens = append(r.tokens, t) }

// number reads a number with the word after it. It reports whether that word is its unit.
func (r *claimReader) number(word, next string) (unit bool) {
	// The unit may follow without a space, as in 5mm.
	digits := strings.TrimRightFunc(word, func(c rune) bool { return !unicode.IsDigit(c) })
	if symbol := word[len(digits):]; symbol != "" {
		r.quantity(digits, symbol)
		return false
	}
	if r.quantity(word, next) {
		return true
	}

	// A whole number directly after a word names one of several things, as in dock 3. Any other number is a count or
	// a version.
	n := len(r.tokens)
	afterWord := n > 0 && (r.tokens[n-1].kind == wordToken || r.tokens[n-1].kind == subjectToken)
	if afterWord && strings.Trim(word, "0123456789") == "" {
		r.label(word)
		return false
	}
	r.count(word)

	return false
}

// count adds a number without a unit: how many, or which version.
func (r *claimReader) count(number string) {
	r.add(claimToken{kind: quantityToken, value: consolidate.Quantity{Value: number}})
}

// quantity adds a number with a unit of the table. It reports whether there is one.
func (r *claimReader) quantity(number, unit string) bool {
	_, symbol := units.Symbol(unit)
	_, word := units.WordSymbol(strings.ToLower(unit))
	q, ok := units.Parse(number + " " + unit)
	if !ok || !symbol && !word && unit != "%" {
		return false
	}
	value := strconv.FormatFloat(q.Value, 'g', 12, 64)
	r.add(claimToken{kind: quantityToken, value: consolidate.Quantity{Value: value, Unit: q.Unit}})

	return true
}

// label joins a number or a letter with the word before it: dock 3, pack #4, lift C.
func (r *claimReader) label(word string) {
	word = strings.ToLower(strings.TrimPrefix(word, "#"))
	if n := len(r.tokens); n > 0 && r.tokens[n-1].kind == wordToken {
		word = r.tokens[n-1].text + " " + word
		r.tokens = r.tokens[:n-1]
	}
	r.add(claimToken{kind: subjectToken, text: word})
}

func (r *claimReader) word(word, written string) {
	word = strings.TrimSuffix(strings.TrimSuffix(word, "'s"), "’s")
	r.rule = r.rule || conditional[word]

	r.again = r.again || repeated[word]
	switch {
	case placeVerbs[word] || copulas[word]:
		r.add(claimToken{kind: verbToken, text: word})
	case placePreps[word]:
		r.add(claimToken{kind: prepToken, text: word})
	case utf8.RuneCountInString(written) == 1 && unicode.IsUpper([]rune(written)[0]):
		r.label(word)
	case changeWords[word] || text.Stop(word):
		r.add(claimToken{kind: verbToken, text: ""})
	case sides[word]:
		r.add(claimToken{kind: subjectToken, text: word})
	default:
		capital, _ := utf8.DecodeRuneInString(written)
		r.add(claimToken{kind: wordToken, text: text.Stem(word), name: unicode.IsUpper(capital)})
	}
}

// sides are words that distinguish one of several similar things.
var sides = setOf(`left right upper lower front rear port starboard inner outer top bottom north south east west first second third
	links rechts linke rechte linker rechter linkes rechtes oben unten vorne hinten vordere hintere`)

// hanPlaces state in Chinese where something is or was moved to, the longest first.
var hanPlaces = []string{"停放在", "存放在", "停到", "停在", "放在", "放到", "移到", "搬到", "挪到", "位于", "在"}

// han adds the pairs of characters of a Chinese run, and the verbs of places and values in it.
func (r *claimReader) han(run string) {
	for _, verb := range hanPlaces {
		if head, rest, found := strings.Cut(run, verb); found {
			r.pairs(head)
			r.add(claimToken{kind: verbToken, text: "is"})
			r.add(claimToken{kind: prepToken, text: verb})
			r.pairs(strings.TrimRight(rest, "了去"))
			return
		}
	}

	for _, verb := range []string{"改为", "改成", "换成", "是", "为"} {
		if head, rest, found := strings.Cut(run, verb); found {
			r.pairs(head)
			r.add(claimToken{kind: verbToken, text: "is"})
			r.pairs(strings.TrimRight(rest, "了"))
			return
		}
	}

	r.pairs(run)
}

func (r *claimReader) pairs(run string) {
	for _, filler := range []string{"现在", "已经", "以后", "之后", "目前", "的", "了", "又", "再", "只剩", "还有", "有"} {
		run = strings.ReplaceAll(run, filler, "")
	}

	runes := []rune(run)
	for i := 0; i+1 < len(runes); i++ {
		r.add(claimToken{kind: wordToken, text: string(runes[i : i+2])})
	}
	if len(runes) == 1 {
		r.add(claimToken{kind: wordToken, text: run})
	}
}

const maxHanUnit = 5 // characters

// hanNumber reads a number before a Chinese run: with a unit (40毫米), a label (2号), or a count (6包). It
// returns how many bytes of the run belong to it.
func (r *claimReader) hanNumber(number, run string) int {
	runes := []rune(run)
	for n := min(maxHanUnit, len(runes)); n > 0; n-- {
		unit := string(runes[:n])
		if symbol, ok := units.WordSymbol(unit); ok && r.quantity(number, symbol) {
			return len(unit)
		}
	}
	if runes[0] == '号' {
		r.add(claimToken{kind: subjectToken, text: number + "号"})
		return len("号")
	}
	r.count(number)

	return 0
}

// clockOf returns a time of day as HH:MM in 24 hours.
func clockOf(word string) string {
	m := clockValue.FindStringSubmatch(word)
	if m == nil {
		return word
	}

	hour, minute := m[1], m[2]
	if len(hour) == 1 {
		hour = "0" + hour
	}

	// Add twelve hours to the two digits, with a carry.
	if m[3] == "p" && hour < "12" {
		hour = string([]byte{hour[0] + 1, hour[1] + 2})
		if hour[1] > '9' {
			hour = string([]byte{hour[0] + 1, hour[1] - 10})
		}
	}

	if minute == "" {
		minute = "00"
	}

	return hour + ":" + minute
}

// assign divides the tokens into the subject of the fact and its statement.
func (r *claimReader) assign() {
	c := r.c

	// The first verb that states something, and the first preposition. A copula at the beginning is a question or a
	// fragment, but a verb of place may be there: "moved pallet B7 to aisle 4".
	verb, prep0 := -1, -1

	for i, t := range r.tokens {
		switch {
		case (t.kind == verbToken && t.text != "" || t.kind == colonToken) && verb < 0 && (i > 0 || placeVerbs[t.text]):
			verb = i
		case t.kind == prepToken && prep0 < 0:
			prep0 = i
		}

		switch t.kind {
		case subjectToken:
			c.Subjects = append(c.Subjects, t.text)
		case wordToken:
			c.Words = append(c.Words, t.text)
		case quantityToken, clockToken:
			c.Quantities = append(c.Quantities, t.value)
		}
	}

	switch {
	case verb >= 0:
		r.assignAround(verb)
	case prep0 > 0 && prep0 <= maxEllipsis:
		// Without a verb, "litter box in the bathroom" may state a place or an event at that place, so the claim is
		// marked as elliptic.
		c.Head = stemsOf(r.tokens[:prep0])
		c.Place = stemsOf(r.clause(prep0 + 1))
		c.Elliptic = true
	}

	// A capital at the beginning of a sentence is no name, unless the next word has one too.
	for i, t := range r.tokens {
		if t.name && i > 0 {
			c.Names = append(c.Names, t.text)
		}
	}

	if len(r.tokens) > 1 && r.tokens[0].name && r.tokens[1].name {
		c.Names = append(c.Names, r.tokens[0].text)
	}

	c.StateWords = stemsOf(r.clauseOfState())
	for _, list := range []*[]string{&c.Names, &c.StateWords, &c.Subjects, &c.Words, &c.Head, &c.Place, &c.Value} {
		*list = Distinct(*list)
	}
}

const maxEllipsis = 4 // tokens before the preposition of a place without a verb

// clause returns the tokens from i to the end of the clause.
func (r *claimReader) clause(i int) []claimToken {
	end := i
	for end < len(r.tokens) && r.tokens[end].kind != breakToken {
		end++
	}
	return r.tokens[min(i, end):end]
}

// assignAround divides a fact at the verb that states a place or a value.
func (r *claimReader) assignAround(verb int) {
	c := r.c
	c.Head = stemsOf(r.tokens[:verb])
	rest := r.clause(verb + 1)
	prep := slices.IndexFunc(rest, func(t claimToken) bool { return t.kind == prepToken })
	copula := copulas[r.tokens[verb].text]

	switch {
	case prep >= 0 && verb == 0:
		// "Moved pallet B7 to aisle 4" has its subject between the verb and the preposition.
		c.Head = stemsOf(rest[:prep])
		c.Place = stemsOf(rest[prep+1:])
	case prep >= 0 && placeVerbs[r.tokens[verb].text] && len(stemsOf(rest[:prep])) == 0:
		c.Place = stemsOf(rest[prep+1:])
	case prep >= 0 && copula:
		// In "car key: blue bowl in the kitchen" the place begins before the preposition.
		c.Place = stemsOf(rest)
	}

	if copula {
		c.Value = stemsOf(rest)
	}
}

// clauseOfState returns the tokens of the clause that states the first state.
func (r *claimReader) clauseOfState() []claimToken {
	start := 0

	for i, t := range r.tokens {
		switch t.kind {
		case breakToken:
			start = i + 1
		case stateToken:
			clause := r.clause(start)
			// The words after "by" say who did it.
			by := slices.IndexFunc(clause, func(t claimToken) bool { return t.kind == prepToken && t.text == "by" })
			if by > 0 {
				clause = clause[:by]
			}
			// A clause such as "it's available" names no subject, so the whole text is used.
			if len(stemsOf(clause)) == 0 {
				clause = r.tokens
			}

			return clause
		}
	}

	return nil
}

func stemsOf(tokens []claimToken) (out []string) {
	for _, t := range tokens {
		if t.kind == wordToken || t.kind == subjectToken {
			out = append(out, t.text)
		}
	}
	return out
}
