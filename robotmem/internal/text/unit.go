package text

import (
	"strings"
	"unicode/utf8"

	"github.com/robotmem/robotmem-go/robotmem/internal/units"
)

// unit is a unit of measure found behind a number.
type unit struct {
	name       string // the symbol that is indexed, "" for none
	start, end int    // where it is written
	word       bool   // written as a word: minutes, percent
	han        bool   // written in Chinese
}

// glued are unit symbols that are English words or too short to stand alone:
// they count only right behind the digits.
var glued = wordSet(`n v w T B A K lm cd l g h`)

const (
	maxUnitBytes    = 8  // of a symbol without its power
	maxWordBytes    = 16 // of a unit that is written out
	maxHanUnitRunes = 5
	maxFactors      = 4 // kg*m2/s2
)

// term is the unit as a search term: "%" and "*" are no characters of a token.
func (u unit) term() string {
	if strings.ContainsAny(u.name, "*%") {
		return strings.ReplaceAll(strings.ReplaceAll(u.name, "*", "."), "%", "pct")
	}
	return u.name
}

// scanUnit reads the unit behind the number that ends at i, with at most one
// space between them.
func scanUnit(s string, i int) unit {
	start := i
	if start < len(s) && s[start] == ' ' {
		start++
	}
	if start >= len(s) {
		return unit{}
	}
	if c, _ := classAt(s, start); c == han {
		return scanHanUnit(s, start)
	}
	if u := scanWordUnit(s, start); u.name != "" {
		return u
	}
	name, end := scanFactor(s, start)
	if name == "" {
		return unit{}
	}
	if start > i {
		if _, no := glued[s[start:end]]; no && !(end < len(s) && (s[end] == '/' || s[end] == '*')) && s[start] >= 'a' {
			return unit{}
		}
	}
	for range maxFactors - 1 { // N·m, m/s^2, kg*m2/s
		op, n := operatorAt(s, end)
		if n == 0 {
			break
		}
		next, stop := scanFactor(s, end+n)
		if next == "" {
			break
		}
		name += op + next
		if known, ok := units.Symbol(name); ok {
			name = known
		}
		end = stop
	}
	return unit{name: name, start: start, end: end}
}

// operatorAt reads the sign between two factors of a unit and its length.
func operatorAt(s string, i int) (op string, n int) {
	switch rest := s[i:]; {
	case strings.HasPrefix(rest, "/"):
		return "/", 1
	case strings.HasPrefix(rest, "*"):
		return "*", 1
	case strings.HasPrefix(rest, "·"):
		return "*", len("·")
	}
	return "", 0
}

// scanFactor reads one symbol with its power; what follows must not go on as a
// word.
func scanFactor(s string, i int) (name string, end int) {
	end = i
	for end < len(s) && end-i < maxUnitBytes {
		c, n := classAt(s, end)
		switch {
		case c == letter && s[end] != '_':
		case s[end] == '%':
			n = 1
		case strings.HasPrefix(s[end:], "°"):
			n = len("°")
		default:
			n = 0
		}
		if n == 0 {
			break
		}
		end += n
	}
	name = s[i:end]
	if strings.HasPrefix(name, "μ") {
		name = "u" + name[len("μ"):]
	}
	name, ok := units.Symbol(name)
	if !ok {
		return "", i
	}
	power := end
	if power < len(s) && s[power] == '^' {
		power++
	}
	if power < len(s) && name != "%" && (s[power] == '2' || s[power] == '3') {
		name += s[power : power+1]
		end = power + 1
	}
	if c, _ := classAt(s, end); c == letter || c == digit {
		return "", i
	}
	return name, end
}

// scanWordUnit reads a unit that is written out. Case does not matter.
func scanWordUnit(s string, i int) unit {
	end := i
	for end < len(s) && s[end] < utf8.RuneSelf && (ascii[s[end]] == letter && s[end] != '_' || s[end] == '-' || s[end] == '/') {
		if end++; end-i > maxWordBytes {
			return unit{}
		}
	}
	name, ok := units.WordSymbol(fold(s[i:end]))
	if c, _ := classAt(s, end); !ok || c == letter || c == digit {
		return unit{}
	}
	return unit{name: name, start: i, end: end, word: true}
}

// scanHanUnit reads the longest Chinese unit at i.
func scanHanUnit(s string, i int) unit {
	var found unit
	end := i
	for range maxHanUnitRunes {
		if end >= len(s) {
			break
		}
		_, n := utf8.DecodeRuneInString(s[end:])
		end += n
		if name, ok := units.WordSymbol(s[i:end]); ok {
			found = unit{name: name, start: i, end: end, han: true}
		}
	}
	return found
}
