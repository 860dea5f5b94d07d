package text

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/robotmem/robotmem-go/robotmem/internal/units"
)

// Quantity is a number in a text with its unit and name.
type Quantity struct {
	// Value is the canonical decimal: "12.5" for 12.50, +12.5 and 1.25e1. It is never
	// rounded, so equal strings are equal numbers and no others are.
	Value string
	// Unit is the symbol that is indexed ("N", "m/s", "deg", "%"), case kept, or "".
	// It is not converted; see Base.
	Unit string
	// Name is the parameter to which the text assigns the number, in lower snake case ("grip_force"
	// of "grip force: 12.5", of "GripForce=12.5" and of "the grip force is 12.5"), or "".
	Name string
}

// Base returns the quantity in the canonical unit of its dimension, in which 1 m,
// 100 cm and 1000 mm are equal.
func (q Quantity) Base() Quantity {
	if q.Unit != "" {
		q.Value, q.Unit = units.Base(q.Value, q.Unit)
	}
	return q
}

// Equivalent is another spelling of a term of a question: 1000mm for "1 m", 0xc0000005 for
// the code "C0000005".
type Equivalent struct {
	Term string
	Of   []string // terms of the question that it replaces
}

// Equivalents returns further search terms for a question. A text with one of them has
// the same quantity or code as the question.
func Equivalents(s string) []Equivalent {
	p := scanner{s: normalize(s), others: true}
	p.scan()

	for _, t := range p.out {
		if other := otherCode(t); other != "" && len(p.equivalents) < maxEquivalents {
			p.equivalents = append(p.equivalents, Equivalent{other, []string{t}})
		}
	}

	return p.equivalents
}

// codeDigits is how many hexadecimal digits a code without 0x has at least.
const codeDigits = 8

// otherCode returns a hexadecimal code without its 0x, or with it, else "".
func otherCode(t string) string {
	digits, prefixed := strings.CutPrefix(t, "0x")

	// Without 0x a short code would be an ordinary number or word, such as face.
	isShort := len(digits) < codeDigits && !(prefixed && len(digits) > 3)
	if isShort || len(digits) > 2*codeDigits || strings.Trim(digits, "0123456789abcdef") != "" {
		return ""
	}

	if prefixed {
		return digits
	}

	return "0x" + digits
}

// maxEquivalents bounds the additional terms of a question.
const maxEquivalents = 64

// addOthers adds the other spellings of a number with a unit, whose terms are of.
func (p *scanner) addOthers(value, symbol string, of []string) {
	for _, other := range units.Others(value, symbol) {
		if len(p.equivalents) < maxEquivalents {
			p.equivalents = append(p.equivalents, Equivalent{fold(other), of})
		}
	}
}

// Quantities returns the numbers of s in text order: plain ones with unit and name, the digit
// groups of dates, times, addresses and versions, and digits inside names (joint3), because each
// of them makes two texts different. English number words count too.
func Quantities(s string) []Quantity {
	s = normalize(s)

	var out []Quantity

	for i := 0; i < len(s); {
		c, n := classAt(s, i)
		switch {
		case c == digit || c == other && startsNumber(s, i):
			out, i = appendQuantity(out, s, i)
		case c == letter:
			out, i = numbersInWord(out, s, i)
		default:
			i += n
		}
	}

	return out
}

// appendQuantity appends the number at i, which does not follow a letter.
func appendQuantity(out []Quantity, s string, i int) ([]Quantity, int) {
	// Codes and addresses come before numbers, because both begin like one.
	if end := hexEnd(s, i); end > i {
		value := fold(s[i:end])
		if n, err := strconv.ParseUint(s[i+2:end], 16, 64); err == nil {
			value = strconv.FormatUint(n, 10)
		}

		return append(out, Quantity{Value: value, Name: nameBefore(s, i)}), end
	}

	if end := dottedEnd(s, i); end > i {
		for group := range strings.SplitSeq(s[i:end], ".") {
			out = append(out, Quantity{Value: canonical(false, group, "", 0)})
		}

		return out, end
	}

	num := scanNumber(s, i)
	u := scanUnit(s, num.end)

	return append(out, Quantity{Value: num.value, Unit: u.name, Name: nameBefore(s, i)}), max(num.end, u.end)
}

// numbersInWord reads the word at i and appends the numbers inside, or the number that
// the word spells.
func numbersInWord(out []Quantity, s string, i int) ([]Quantity, int) {
	start, digits := i, false
	for i < len(s) {
		c, n := classAt(s, i)
		if c == digit {
			end := skipDigits(s, i)
			out = append(out, Quantity{Value: canonical(false, s[i:end], "", 0)})
			i, digits = end, true
			continue
		}
		if c != letter {
			break
		}
		i += n
	}

	// No number word is longer than seventeen.
	if digits || i-start > len("seventeen") {
		return out, i
	}

	value, ok := numberWords[fold(s[start:i])]
	if !ok {
		return out, i
	}

	u := scanUnit(s, i)

	return append(out, Quantity{Value: value, Unit: u.name, Name: nameBefore(s, start)}), max(i, u.end)
}

var numberWords = func() map[string]string {
	m := map[string]string{"twice": "2"}
	for i, w := range strings.Fields(`zero one two three four five six seven eight nine ten eleven twelve
		thirteen fourteen fifteen sixteen seventeen eighteen nineteen`) {
		m[w] = strconv.Itoa(i)
	}

	for i, w := range strings.Fields("twenty thirty forty fifty sixty seventy eighty ninety hundred") { // hundred follows ninety
		m[w] = strconv.Itoa(20 + 10*i)
	}
	m["thousand"] = "1000"

	return m
}()

// hexEnd returns the end of a 0x literal at i, or i.
func hexEnd(s string, i int) int {
	if i+2 >= len(s) || s[i] != '0' || s[i+1]|0x20 != 'x' {
		return i
	}

	j := i + 2
	for j < len(s) && (isDigit(s[j]) || s[j]|0x20 >= 'a' && s[j]|0x20 <= 'f') {
		j++
	}
	if c, _ := classAt(s, j); j == i+2 || c == letter {
		return i
	}

	return j
}

// dottedEnd returns the end of three or more groups joined by points at i (an
// address, a version), or i.
func dottedEnd(s string, i int) int {
	groups, j := 0, i
	for j < len(s) && isDigit(s[j]) {
		groups++
		j = skipDigits(s, j)
		if j+1 >= len(s) || s[j] != '.' || !isDigit(s[j+1]) {
			break
		}
		j++
	}
	if groups < 3 {
		return i
	}

	return j
}

// A sign (= : < >) or a verb (is, was, of, at, to, 设为, 是) assigns a number to the name
// before it: one identifier, or two plain words.

var binders = wordSet(`is was are were be of at to equals`)

// skippedVerbs may be between the name and "to" or "is", or before the name: "speed was
// limited to 0.5", "set speed to 0.5".
var skippedVerbs = wordSet(`set sets reset limited limit changed change increased increase reduced reduce
	raised raise lowered lower decreased decrease adjusted adjust capped moved kept keep use using was is be been
	now still never always not should must can`)

var hedges = wordSet(`about around approximately roughly exactly nearly almost only just`)

var hanHedges = []string{"大约", "约", "大概"}

var hanBinders = []string{
	"设置为", "设定为", "调整为", "调整到", "限制为", "设为", "调到", "降到", "升到", "等于", "為", "为", "是", "至", "到",
}

const (
	maxNameBytes    = 48
	maxHanNameRunes = 8
)

// nameBefore returns the name to which the text assigns the number at i, or "".
func nameBefore(s string, i int) string {
	i = skipBack(s, i, " \t[({\"'~")

	// "force is about 12 N": hedges stand between the binder and the number.
	for {
		start := wordStart(s, i)
		if !hedges[fold(s[start:i])] {
			break
		}
		i = skipBack(s, start, " \t")
	}

	i = trimHan(s, i, hanHedges)
	if i == 0 {
		return ""
	}

	// A sign such as = or : binds more surely than a word, so it comes first.
	if at := skipSigns(s, i); at < i {
		return nameWords(s, skipBack(s, at, " \t\"'"))
	}
	if at := trimHan(s, i, hanBinders); at < i {
		return nameWords(s, skipBack(s, at, " \t"))
	}

	start := wordStart(s, i)
	if !binders[fold(s[start:i])] {
		return ""
	}

	return nameWords(s, skipBack(s, start, " \t"))
}

// nameWords reads the name that ends at i.
func nameWords(s string, i int) string {
	start := wordStart(s, i)

	// "speed was limited to 0.5": verbs stand between the name and the binder. The limit bounds the work.
	for range 5 {
		if !skippedVerbs[fold(s[start:i])] {
			break
		}
		i = skipBack(s, start, " \t")
		start = wordStart(s, i)
	}

	if start == i {
		return hanName(s, i)
	}

	last := strings.TrimRight(s[start:i], "_")
	if c, _ := classAt(last, 0); c != letter || Stop(fold(last)) {
		return ""
	}

	name := snake(last)
	if strings.Contains(name, "_") || start == 0 || s[start-1] != ' ' {
		return name
	}

	before := wordStart(s, start-1)
	first := fold(s[before : start-1])
	if c, _ := classAt(first, 0); c != letter || Stop(first) || skippedVerbs[first] {
		return name
	}

	return first + "_" + name
}

// hanName reads the Chinese words that end at i, without the particles before them.
func hanName(s string, i int) string {
	start := i
	for range maxHanNameRunes {
		r, n := utf8.DecodeLastRuneInString(s[:start])
		if n == 0 || classOf(r) != han {
			break
		}
		start -= n
	}

	name := s[start:i]
	for _, lead := range []string{"把", "将", "將", "的"} {
		if at := strings.LastIndex(name, lead); at >= 0 && at+len(lead) < len(name) {
			name = name[at+len(lead):]
		}
	}

	return name
}

// wordStart returns the start of the word that ends at i. The scan is bounded, so that
// many numbers in a long text stay cheap.
func wordStart(s string, i int) int {
	low := max(0, i-maxNameBytes)
	for i > low {
		r, n := utf8.DecodeLastRuneInString(s[:i])
		if c := classOf(r); c != letter && c != digit {
			break
		}
		i -= n
	}

	return i
}

func skipBack(s string, i int, set string) int {
	low := max(0, i-maxNameBytes)
	return low + len(strings.TrimRight(s[low:i], set))
}

// skipSigns steps back over =, :=, <= and similar signs.
func skipSigns(s string, i int) int {
	for range 3 {
		r, n := utf8.DecodeLastRuneInString(s[:i])
		if !strings.ContainsRune("=:<>≤≥≈", r) || n == 0 {
			break
		}
		i -= n
	}

	return i
}

// trimHan steps back over the first of the endings that matches.
func trimHan(s string, i int, endings []string) int {
	for _, e := range endings {
		if strings.HasSuffix(s[:i], e) {
			return i - len(e)
		}
	}
	return i
}

// snake spells an identifier in lower snake case.
func snake(w string) string {
	var b strings.Builder

	prev := rune('_')
	for _, r := range w {
		if unicode.IsUpper(r) && unicode.IsLower(prev) {
			b.WriteByte('_')
		}
		b.WriteRune(foldRune(r))
		prev = r
	}

	return b.String()
}
