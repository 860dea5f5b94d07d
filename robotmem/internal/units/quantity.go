package units

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// maxText bounds what is read, in bytes: a number of full precision and the
// longest unit take less than half of it.
const maxText = 64

// Quantity is a number with a unit, in canonical form: equal quantities are
// equal with ==, however they were written.
type Quantity struct {
	// Value is finite and has at most 15 significant digits.
	Value float64
	// Unit is the canonical unit of the dimension ("N", "N·m", "rad/s"), or a
	// unit that is not known, as it was written.
	Unit string
}

// Parse reads a text that is one number and one unit and nothing else: "15 N",
// "15N", "-3.5e-2 kN", "90°", "1.5 m/s^2", "20 %". A unit that is not known is
// one word without digits, apart from its number: "3 blips". All else is not
// ok: a number alone, a range, a date, a clock time, an identifier, prose, more
// than 64 bytes, and what a float64 cannot hold in the canonical unit.
func Parse(s string) (q Quantity, ok bool) {
	if len(s) > maxText {
		return Quantity{}, false
	}
	s = strings.TrimSpace(s)
	d, n, ok := scan(s)
	if !ok {
		return Quantity{}, false
	}
	// Printers put a no-break, thin or narrow space between number and unit.
	unit := strings.TrimLeft(s[n:], " \t\u00a0\u2009\u202f")
	clock := strings.EqualFold(unit, "pm") || strings.EqualFold(unit, "am")
	if !startsUnit(unit) || clock {
		return Quantity{}, false
	}
	apart := len(unit) < len(s)-n
	if !apart && identifier(s, n) {
		return Quantity{}, false
	}
	return quantity(d, unit, apart)
}

// Of makes a quantity of a number and a unit that are given apart, as in
// {"value": 12.5, "unit": "N"}. It is not ok where [Parse] of the two would not
// be, save that a lone "pm" is the picometre here and the afternoon there.
func Of(value float64, unit string) (Quantity, bool) {
	if len(unit) > maxText {
		return Quantity{}, false
	}
	unit = strings.TrimSpace(unit)
	if !startsUnit(unit) {
		return Quantity{}, false
	}
	d, _, ok := scan(strconv.FormatFloat(value, 'e', -1, 64)) // NaN and Inf are no number there
	if !ok {
		return Quantity{}, false
	}
	return quantity(d, unit, true)
}

func quantity(d decimal, name string, unknownToo bool) (Quantity, bool) {
	u, ok := resolve(name)
	if !ok {
		if !unknownToo || !plainWord(name) {
			return Quantity{}, false
		}
		u = unit{canonical: name, factor: one}
	}
	value, ok := d.in(u)
	if !ok {
		return Quantity{}, false
	}
	return Quantity{Value: value, Unit: u.canonical}, true
}

// startsUnit refuses the rest of most texts that begin with a number: dates,
// clock times, versions, lists.
func startsUnit(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return unitRune(r) || strings.HasPrefix(s, "1/")
}

// identifier reports whether a number of n bytes with letters right behind it
// is more likely a name: 007A, or the hexadecimal 3e8F.
func identifier(s string, n int) bool {
	if s[0] == '0' && n > 1 && isDigit(s[1]) {
		return true
	}
	return strings.ContainsAny(s[:n], "eE") && strings.Trim(s, "0123456789abcdefABCDEF") == ""
}

// plainWord reports whether s can be a unit that nobody knows: "blips",
// "counts/rev", "个". Digits are refused, as they are part of a text that says
// more than one quantity.
func plainWord(s string) bool {
	joined := false // by an operator, behind which a letter must come
	for _, r := range s {
		switch {
		case unitRune(r):
			joined = false
		case joined || !strings.ContainsRune("/_·*-²³", r):
			return false
		default:
			joined = r != '²' && r != '³'
		}
	}
	return !joined && s != ""
}
