package text

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/robotmem/robotmem-go/robotmem/internal/units"
)

type decimalNumber struct {
	value string // canonical decimal
	end   int    // first byte after it
}

// startsNumber reports whether a sign or a point at i starts a number. A sign after a
// word or a closing bracket is a hyphen or a minus between operands.
func startsNumber(s string, i int) bool {
	j := i
	if s[j] == '-' || s[j] == '+' {
		if i > 0 {
			if c := s[i-1]; c == ')' || c == ']' || c == '.' || c >= 0x80 || ascii[c] != other {
				return false
			}
		}
		j++
	}
	if j < len(s) && s[j] == '.' {
		if j == i && i > 0 && (s[i-1] == '.' || ascii[s[i-1]&0x7f] != other) {
			return false
		}
		j++
	}

	return j > i && j < len(s) && isDigit(s[j])
}

// scanNumber reads the number at i: sign, digits with thousands separators, fraction, exponent.
func scanNumber(s string, i int) decimalNumber {
	neg := s[i] == '-'
	if neg || s[i] == '+' {
		i++
	}

	start := i
	i = skipDigits(s, i)
	whole := s[start:i]

	// A comma separates thousands only before exactly three digits, and not after a zero: "0,123" is something else.
	if n := len(whole); n >= 1 && n <= 3 && whole[0] != '0' {
		for i+3 < len(s) && s[i] == ',' && skipDigits(s, i+1) == i+4 {
			i += 4
		}
		whole = strings.ReplaceAll(s[start:i], ",", "")
	}

	fraction := ""
	if i+1 < len(s) && s[i] == '.' && isDigit(s[i+1]) {
		end := skipDigits(s, i+1)
		fraction, i = s[i+1:end], end
	}

	exponent := 0
	if i+1 < len(s) && s[i]|0x20 == 'e' {
		j := i + 1
		if s[j] == '-' || s[j] == '+' {
			j++
		}
		// A letter after the digits means that the e belongs to a name.
		if end := skipDigits(s, j); end > j && end-j <= 4 {
			if c, _ := classAt(s, end); c != letter {
				exponent, _ = strconv.Atoi(s[i+1 : end])
				i = end
			}
		}
	}

	return decimalNumber{canonical(neg, whole, fraction, exponent), i}
}

func skipDigits(s string, i int) int {
	for i < len(s) && isDigit(s[i]) {
		i++
	}
	return i
}

// maxPlainExponent is the largest exponent that is written out as zeros.
const maxPlainExponent = 24

// canonical spells equal numbers in the same way: no plus, no needless zeros, and an exponent only
// if the number is long without one. Digits are moved and never computed, so nothing is rounded.
func canonical(neg bool, whole, fraction string, exponent int) string {
	digits := whole + fraction
	point := len(whole) + exponent // position of the point in digits
	trimmed := strings.TrimLeft(digits, "0")
	point -= len(digits) - len(trimmed)
	trimmed = strings.TrimRight(trimmed, "0")
	if trimmed == "" {
		return "0"
	}

	var out string

	switch n := len(trimmed); {
	case exponent != 0 && (point > n+maxPlainExponent || point < -maxPlainExponent):
		// Written out, a few characters would become thousands of zeros.
		out = trimmed[:1]
		if n > 1 {
			out += "." + trimmed[1:]
		}
		out += "e" + strconv.Itoa(point-1)
	case point <= 0:
		out = "0." + strings.Repeat("0", -point) + trimmed
	case point >= n:
		out = trimmed + strings.Repeat("0", point-n)
	default:
		out = trimmed[:point] + "." + trimmed[point:]
	}

	if neg {
		return "-" + out
	}

	return out
}

// continues reports whether the text after a number makes it part of something longer:
// an address, a date, a time, a range, a version, a name.
func continues(s string, end int) bool {
	c, _ := classAt(s, end)
	if c == letter || c == digit {
		return true
	}
	return c == other && end+1 < len(s) && isDigit(s[end+1]) && joins(s, end)
}

// number emits the number at i with its unit and returns the end of both. Text that only
// starts like a number (2nd, 192.168.1.10) is read as a word.
func (p *scanner) number(i int) int {
	s := p.s
	num := scanNumber(s, i)
	u := scanUnit(s, num.end)

	// The number is only the beginning of a word such as 2nd. A sign before it is no part of that word.
	if u.name == "" && continues(s, num.end) {
		if !isDigit(s[i]) {
			i = strings.IndexAny(s[i:], "0123456789") + i
		}
		return p.word(i)
	}

	if p.sequence && (u.name == "" || isName(s[i:num.end])) {
		// A number without a unit may be a name, such as a version or a part number: it is compared as
		// it is written. A word of a few letters after it may be a unit that the table does not know,
		// whose prefix depends on the case: mSv, MSv. p.exact keeps the case of
		// that word.
		p.emit(strings.ReplaceAll(s[i:num.end], ",", ""))

		next := num.end
		if next < len(s) && s[next] == ' ' {
			next++
		}
		end := wordEnd(s, next)
		p.exact = end > next && end-next <= maxPrefixedUnit

		return num.end
	}

	if u.name == "" {
		p.numeral(s[i:num.end], num.value)
		return num.end
	}

	if p.base {
		value, unit := units.Base(num.value, u.name)
		if p.sequence {
			p.out = append(p.out, value+unit) // 5MHz is not 5mHz
			return u.end
		}

		for _, term := range []string{value, unit, value + unit} {
			p.emit(term)
		}

		return u.end
	}

	// The number is found alone, with its unit, and by the unit alone.
	from := len(p.out)
	p.numeral(s[i:num.end], num.value)

	name := u.term()
	switch {
	case u.han:
		// Its characters are indexed as pairs.
		u.end = num.end
	case u.word:
		p.emit(s[u.start:u.end])
	default:
		p.emit(name)
	}

	p.emit(num.value + name)
	if p.others {
		p.addOthers(num.value, u.name, slices.Clone(p.out[from:]))
	}

	return u.end
}

// maxPrefixedUnit is the most letters of a unit with a prefix, as in mmolal.
const maxPrefixedUnit = 6

// wordEnd returns the end of the Latin letters at i.
func wordEnd(s string, i int) int {
	for i < len(s) && (s[i]|0x20 >= 'a' && s[i]|0x20 <= 'z') {
		i++
	}
	return i
}

// isName reports whether a number has leading zeros, as in rack 00A. A quantity has none.
func isName(number string) bool {
	digits := strings.TrimLeft(number, "+-")
	return len(digits) > 1 && digits[0] == '0' && isDigit(digits[1])
}

// numeral emits the canonical decimal of a number. If the number is written in another way,
// that spelling is emitted first, except in a sequence.
func (p *scanner) numeral(written, value string) {
	if written = unsigned(written); written != value && !p.sequence {
		p.emit(written) // 1e-3 beside 0.001
	}
	p.emit(value)
}

// unsigned returns a number as written, without plus signs and thousands separators.
func unsigned(w string) string {
	w = strings.ReplaceAll(strings.ReplaceAll(w, ",", ""), "+", "")
	if w[0] == '.' {
		return "0" + w
	}
	return w
}

// unit is a unit of measure after a number.
type unit struct {
	name       string // the symbol that is indexed, "" for none
	start, end int    // position in the text
	word       bool   // written as a word: minutes, percent
	han        bool   // written in Chinese
}

// glued are unit symbols that are English words or single letters. In lower case and after a
// space they are units only in a product.
var glued = wordSet(`n v w T B A K lm cd l g h`)

const (
	maxUnitBytes    = 8 // of a symbol without its power
	minWordBytes    = 3 // of a unit that is written out
	maxWordBytes    = 16
	maxHanUnitRunes = 5
	maxFactors      = 4 // kg*m2/s2
)

// term returns the unit as a search term: "%" and "*" are no token characters.
func (u unit) term() string {
	return strings.ReplaceAll(strings.ReplaceAll(u.name, "*", "."), "%", "pct")
}

// scanUnit reads the unit after the number that ends at i, with at most one space between them.
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

	// After a space, "5 v" or "3 a" may be words. A capital or a product, as in "5 V" and "3 g/l", is a unit.
	if start > i {
		isProduct := end < len(s) && (s[end] == '/' || s[end] == '*')
		if glued[s[start:end]] && !isProduct && s[start] >= 'a' {
			return unit{}
		}
	}

	// Products such as N·m, m/s^2 and kg*m2/s. A sign without a unit after it does not belong to the unit.
	for range maxFactors - 1 {
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
	switch {
	case i >= len(s):
		return "", 0
	case s[i] == '/':
		return "/", 1
	case s[i] == '*':
		return "*", 1
	case strings.HasPrefix(s[i:], "·"):
		return "*", len("·")
	}

	return "", 0
}

// scanFactor reads one symbol with its power, which must not be followed by a letter or a digit.
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

	// The table spells micro as u. Normalization has made the micro sign a Greek mu.
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

	// With more letters it is a word that only begins like a symbol.
	if c, _ := classAt(s, end); c == letter || c == digit {
		return "", i
	}

	return name, end
}

// scanWordUnit reads a unit that is written out. Case does not matter.
func scanWordUnit(s string, i int) unit {
	end := i
	for end < len(s) && s[end] < utf8.RuneSelf &&
		(ascii[s[end]] == letter && s[end] != '_' || s[end] == '-' || s[end] == '/') {
		if end++; end-i > maxWordBytes {
			return unit{}
		}
	}
	if end-i < minWordBytes {
		return unit{}
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
