package record

import (
	"strings"
	"unicode"

	"github.com/robotmem/robotmem-go/consolidate"
	"github.com/robotmem/robotmem-go/robotmem/internal/text"
	"github.com/robotmem/robotmem-go/robotmem/internal/units"
	"golang.org/x/text/width"
)

// marks returns short signs that distinguish two texts but are neither words nor
// quantities: bin A and bin B, version 2e and 2f, 三次 and 五次, > and <, and digits
// of other scripts. They count as quantities without a name, in text order. The 千
// of a unit (2千克) is omitted, because it is part of a quantity.
func marks(s string) []consolidate.Quantity {
	var out []consolidate.Quantity
	add := func(mark string) { out = append(out, consolidate.Quantity{Value: mark}) }
	previous := ""
	s = width.Fold.String(s) // ５ is the digit 5
	for word := range strings.FieldsFuncSeq(s, func(r rune) bool { return unicode.IsSpace(r) }) {
		bare := strings.Trim(word, ".,;:!?()[]\"'")
		switch {
		case previous != "" && !endsInDigit(previous) && len(bare) == 1 && bare[0] >= 'A' && bare[0] <= 'Z' && bare != "I":
			add(bare)
		case mixed(bare):
			add(strings.ToLower(bare))
		}
		before := previous != "" && endsInDigit(previous)
		previous = bare
		for i, r := range word {
			thousand := before && r == '千' && isUnit(word[i:])
			before = r >= '0' && r <= '9'
			if thousand {
				continue
			}
			if strings.ContainsRune("<>≤≥", r) || strings.ContainsRune("一二两三四五六七八九十百千", r) || r > unicode.MaxASCII && unicode.IsNumber(r) {
				add(string(r))
			}
		}
	}
	return out
}

// unitLetters are units of one letter. text.Quantities reads a number with such a
// unit, in every spelling.
const unitLetters = "NmsgVAWJKCFhHlLtT"

// mixed reports whether a word is a number with a letter that is not a unit, such as 2e.
func mixed(word string) bool {
	rest := strings.TrimLeft(word, "0123456789")
	return len(rest) == 1 && len(rest) < len(word) && unicode.IsLetter(rune(rest[0])) && !strings.Contains(unitLetters, rest)
}

// isUnit reports whether a word begins with a Chinese unit of two characters.
func isUnit(word string) bool {
	const twoCharacters = 2 * len("千")
	_, ok := units.WordSymbol(word[:min(len(word), twoCharacters)])
	return ok
}

func endsInDigit(word string) bool {
	last := word[len(word)-1]
	return last >= '0' && last <= '9'
}

// failing are words that state a failure. They negate a statement.
var failing = map[string]bool{
	"fail": true, "fails": true, "failed": true, "failing": true, "failure": true, "unsuccessful": true,
	"unsuccessfully": true, "失": true, "败": true,
}

// StatementOf prepares a text for comparison. Numbers with units are compared in
// the canonical unit.
func StatementOf(s string) consolidate.Statement {
	st := consolidate.Statement{Negated: text.Negations(s) > 0, Quantities: marks(s)}
	st.Sequence, st.Relating = text.Sequence(s)
	units := map[string]bool{}
	for _, q := range text.Quantities(s) {
		q = q.Base()
		st.Quantities = append(st.Quantities, consolidate.Quantity{Name: q.Name, Value: q.Value, Unit: q.Unit})
		if q.Unit != "" {
			units[strings.ToLower(q.Unit)] = true
		}
	}
	for _, t := range text.BaseTerms(s) {
		if text.Stop(t) {
			continue
		}
		st.Negated = st.Negated || failing[t]
		stem := text.Stem(t)
		st.Terms = append(st.Terms, stem)
		if !units[t] && !strings.ContainsAny(t, "0123456789") && text.Negations(t) == 0 {
			st.Words = append(st.Words, stem)
		}
	}
	st.Terms, st.Words = Distinct(st.Terms), Distinct(st.Words)
	return st
}

// Duplicates and contradictions are looked up by signature and not in the text
// index. Facts of one collection and context form a group. Within a group, a sketch
// of 128 bits excludes nearly all facts that are not similar.

// Signature is the key of a fact for the search of duplicates and contradictions.
type Signature struct {
	Seq, MemoryID int64
	Sequence      int64 // hash of the content sequence
	Terms         int64 // how many
	Numbers       int64 // hash of all quantities and of the negation
	Skeleton      int64 // hash of the parameter names, or of the words if there are none
	Sketch        consolidate.Sketch
}

// SignatureOf returns the signature of a statement, without Seq and MemoryID.
func SignatureOf(st consolidate.Statement) Signature {
	var numbers, names []string
	for _, q := range consolidate.ByName(st.Quantities) {
		numbers = append(numbers, q.Name+" "+q.Value+" "+q.Unit)
		if q.Name != "" {
			names = append(names, q.Name+" "+q.Unit)
		}
	}
	if st.Negated {
		numbers = append(numbers, "-")
	}
	skeleton := Distinct(names)
	if len(skeleton) == 0 {
		skeleton = st.Words
	}
	return Signature{
		Sequence: Hash64(st.Sequence...), Terms: int64(len(st.Terms)), Numbers: Hash64(numbers...), Skeleton: Hash64(skeleton...),
		Sketch: consolidate.NewSketch(st.Terms),
	}
}
