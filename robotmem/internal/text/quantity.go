package text

import (
	"slices"
	"strconv"
	"strings"

	"github.com/robotmem/robotmem-go/robotmem/internal/units"
)

// Quantity is a number as a text states it.
type Quantity struct {
	// Value is the canonical decimal: "12.5" for 12.50, +12.5 and 1.25e1. It is
	// never rounded, so equal strings are equal numbers and no others are.
	Value string
	// Unit is the symbol that is indexed ("N", "m/s", "deg", "%"), case kept, "" for
	// none. Nothing is converted: see Base.
	Unit string
	// Name is the parameter that the number is bound to, in lower snake case
	// ("grip_force" of "grip force: 12.5", of "GripForce=12.5" and of "the grip
	// force is 12.5"), or "".
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

// Equivalent is a term that says in another unit what a number and its unit in a
// question say: 1000mm of "1 m".
type Equivalent struct {
	Term string
	Of   []string // terms of the question that it stands for
}

// Equivalents returns further terms to search a question by. A text with one of
// them holds the number and the unit that the question has.
func Equivalents(s string) []Equivalent {
	p := scanner{s: prepare(s), others: true}
	p.scan()
	return p.equivalents
}

// maxEquivalents bounds the terms that a question gets in addition.
const maxEquivalents = 64

// addOthers notes the other spellings of a number with a unit, whose terms are of.
func (p *scanner) addOthers(value, symbol string, of []string) {
	of = slices.Clone(of)
	for _, other := range units.Others(value, symbol) {
		if len(p.equivalents) < maxEquivalents {
			p.equivalents = append(p.equivalents, Equivalent{fold(other), of})
		}
	}
}

// Quantities returns the numbers of s in text order: plain ones with unit and
// name, the digit groups of dates, times, addresses and versions, and digits
// inside names (joint3), as each of them tells two texts apart. English number
// words count too.
func Quantities(s string) []Quantity {
	s = prepare(s)
	var out []Quantity
	for i := 0; i < len(s); {
		c, n := classAt(s, i)
		switch {
		case c == digit || c == other && startsNumber(s, i):
			out, i = quantity(out, s, i)
		case c == letter:
			out, i = named(out, s, i)
		default:
			i += n
		}
	}
	return out
}

// quantity appends the number at i, which stands free of letters before it.
func quantity(out []Quantity, s string, i int) ([]Quantity, int) {
	if end := hexEnd(s, i); end > i {
		if n, err := strconv.ParseUint(s[i+2:end], 16, 64); err == nil {
			return append(out, Quantity{Value: strconv.FormatUint(n, 10), Name: nameBefore(s, i)}), end
		}
		return append(out, Quantity{Value: fold(s[i:end]), Name: nameBefore(s, i)}), end
	}
	if end := dottedEnd(s, i); end > i {
		for group := range strings.SplitSeq(s[i:end], ".") {
			out = append(out, Quantity{Value: canonical(false, group, "", 0)})
		}
		return out, end
	}
	num := scanNumber(s, i)
	q := Quantity{Value: num.value, Name: nameBefore(s, i)}
	if u := scanUnit(s, num.end); u.name != "" {
		q.Unit = u.name
		return append(out, q), u.end
	}
	return append(out, q), num.end
}

// named reads over the word at i and appends the digits inside, or the number
// that the word spells.
func named(out []Quantity, s string, i int) ([]Quantity, int) {
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
	if digits || i-start > len("seventeen") {
		return out, i
	}
	value, ok := numberWords[fold(s[start:i])]
	if !ok {
		return out, i
	}
	q := Quantity{Value: value, Name: nameBefore(s, start)}
	if u := scanUnit(s, i); u.name != "" {
		q.Unit, i = u.name, u.end
	}
	return append(out, q), i
}

var numberWords = func() map[string]string {
	m := map[string]string{"twice": "2"}
	for i, w := range strings.Fields(`zero one two three four five six seven eight nine ten eleven twelve
		thirteen fourteen fifteen sixteen seventeen eighteen nineteen`) {
		m[w] = strconv.Itoa(i)
	}
	for i, w := range strings.Fields("twenty thirty forty fifty sixty seventy eighty ninety hundred") { // hundred is next after ninety
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
