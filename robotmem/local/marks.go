package local

import (
	"strings"
	"unicode"

	"github.com/robotmem/robotmem-go/consolidate"
	"github.com/robotmem/robotmem-go/robotmem/internal/units"
)

// marks are what tells two texts apart beside words and numbers with names:
// bin A and bin B, version 2e and 2f, 三次 and 五次, > and <, and digits of
// other scripts. They count as quantities without a name, in text order. The 千 of
// a unit (2千克) is part of a quantity already.
func marks(s string) []consolidate.Quantity {
	var out []consolidate.Quantity
	add := func(mark string) { out = append(out, consolidate.Quantity{Value: mark}) }
	previous := ""
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

// unitLetters are those that make a number with a unit, which text.Quantities
// reads in every spelling.
const unitLetters = "NmsgVAWJKCFhHlLtT"

// mixed reports whether a word is a number with a letter that is no unit: 2e.
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

// failing are the words that turn a success into its opposite.
var failing = map[string]bool{
	"fail": true, "fails": true, "failed": true, "failing": true, "failure": true, "unsuccessful": true,
	"unsuccessfully": true, "失": true, "败": true,
}
