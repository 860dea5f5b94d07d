package units

import (
	"math/big"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// unit is a dimension and the factor of a number in it.
type unit struct {
	canonical string // canonical unit of dims, or "" in a product that is not complete
	dims      dims
	factor    factor
	// zero is the distance of absolute zero below the zero of a temperature scale, in its degree, or
	// nil. It counts for the unit alone: in products a degree is a difference.
	zero  *big.Rat
	takes string // sets of prefixes
}

// dims are the powers of the base kinds. Kinds are finer than SI dimensions: with the newton as
// a kind, a torque (N·m) and an energy (W·s) differ though both are kg·m²/s².
type dims [21]int8

// kinds are the base kinds, in the order in which a product names them.
var kinds = strings.Fields("kg N W V A lm cd mol K Hz Bq Gy Sv B px % dB m s rad sr")

// maxPower bounds the power of a kind, to one digit.
const maxPower = 9

// derived are the products with a name, and force and pressure written with the kilogram.
var derived = map[dims]string{
	parseDims("N/m²"): "Pa", parseDims("W·s"): "J", parseDims("A·s"): "C", parseDims("V/A"): "Ω", parseDims("A/V"): "S",
	parseDims("V·s"): "Wb", parseDims("V·s/m²"): "T", parseDims("V·s/A"): "H", parseDims("A·s/V"): "F", parseDims("lm/m²"): "lx",
	parseDims("kg·m/s²"): "N", parseDims("kg/m/s²"): "Pa",
}

// parseDims reads a product of base kinds with powers up to 3: "V·s/m²".
func parseDims(s string) (d dims) {
	sign := int8(1)

	for part := range strings.SplitSeq(s, "/") {
		for word := range strings.SplitSeq(part, "·") {
			power := sign
			if kind, ok := strings.CutSuffix(word, "²"); ok {
				word, power = kind, 2*sign
			} else if kind, ok := strings.CutSuffix(word, "³"); ok {
				word, power = kind, 3*sign
			}
			d[slices.Index(kinds, word)] += power
		}
		sign = -1
	}

	return d
}

// String returns the canonical unit: "N", "N·m", "m/s²", "W/m/K", "1/s".
func (d dims) String() string {
	if name, ok := derived[d]; ok {
		return name
	}

	// The order of kinds makes the text the same for each product, whatever the order in which it was written.
	var above, below []byte

	for i, p := range d {
		switch {
		case p > 0 && len(above) > 0:
			above = appendPower(append(above, "·"...), i, p)
		case p > 0:
			above = appendPower(above, i, p)
		case p < 0:
			below = appendPower(append(below, '/'), i, -p)
		}
	}

	if len(above) == 0 {
		above = []byte{'1'}
	}

	return string(append(above, below...))
}

func appendPower(text []byte, kind int, power int8) []byte {
	text = append(text, kinds[kind]...)

	switch {
	case power == 2:
		text = append(text, "²"...)
	case power == 3:
		text = append(text, "³"...)
	case power > 3:
		text = strconv.AppendInt(append(text, '^'), int64(power), 10)
	}

	return text
}

// resolve reads a unit: one word of the table, or a product of them.
func resolve(s string) (unit, bool) {
	if wordEnd(s) == len(s) {
		return lookup(s)
	}
	if u, ok := symbols.units[s]; ok { // ft-lb, r/min
		return *u, true
	}
	if u, ok := names.units[lower(s)]; ok { // degrees Celsius
		return *u, true
	}

	return compound(s)
}

// lookup finds a word with or without a prefix. Case matters for symbols (mN, MN), not for names.
func lookup(s string) (unit, bool) {
	if u, ok := symbols.lookup(s); ok {
		return u, true
	}
	return names.lookup(lower(s))
}

// lower lowers ASCII letters only.
func lower(s string) string {
	return strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, s)
}

// compound reads a product of units:
//
//	product = ["1/"] factor { ("·" | "*" | "." | "-" | " " | "/" | " per " | "每") factor }
//	factor  = "(" product ")" | ["square" | "cubic"] word [power]
//	power   = ["^" | "**"] ["-"] digit | "²" | "³" | "⁻¹" | "⁻²" | " squared" | " cubed"
//
// A division takes the one factor behind it: J/kg/K is J/(kg·K).
func compound(s string) (unit, bool) {
	product := unit{}
	// outer is the sign before the open bracket, 0 without one.
	sign, outer := 1, 0
	if rest, ok := strings.CutPrefix(s, "1/"); ok {
		s, sign = rest, -1
	}

	for {
		if rest, ok := strings.CutPrefix(s, "("); ok && outer == 0 {
			s, outer, sign = rest, sign, 1
		}
		u, power, rest, ok := oneFactor(s)
		if !ok {
			return unit{}, false
		}
		if outer != 0 {
			sign *= outer
		}
		if product, ok = product.times(u, sign*power); !ok {
			return unit{}, false
		}
		if after, ok := strings.CutPrefix(rest, ")"); ok && outer != 0 {
			rest, outer = after, 0
		}
		if rest == "" {
			product.canonical = product.dims.String()
			return product, outer == 0 && product.dims != dims{}
		}
		if sign, s, ok = operator(rest); !ok {
			return unit{}, false
		}
	}
}

// oneFactor reads a word and its power.
func oneFactor(s string) (u unit, power int, rest string, ok bool) {
	power = 1
	if after, ok := strings.CutPrefix(s, "square "); ok {
		s, power = after, 2
	} else if after, ok := strings.CutPrefix(s, "cubic "); ok {
		s, power = after, 3
	}

	end := wordEnd(s)
	if end == 0 {
		return unit{}, 0, "", false
	}

	// A hyphen usually multiplies. In a few names, such as pound-force, it is a part of the name.
	if strings.HasPrefix(s[end:], "-") {
		longer := end + 1 + wordEnd(s[end+1:])
		if named, found := names.units[lower(s[:longer])]; found {
			u, ok, end = *named, true, longer
		}
	}

	if !ok {
		if u, ok = lookup(s[:end]); !ok {
			return unit{}, 0, "", false
		}
	}

	// "square metre squared" is no unit.
	raised, rest := readPower(s[end:])
	if raised != 1 && power != 1 {
		return unit{}, 0, "", false
	}

	return u, power * raised, rest, true
}

// powers are the words and signs of an exponent; digits are read apart.
var powers = []struct {
	text  string
	power int
}{{"²", 2}, {"³", 3}, {"⁻¹", -1}, {"⁻²", -2}, {"⁻³", -3}, {" squared", 2}, {" cubed", 3}}

func readPower(s string) (power int, rest string) {
	for _, p := range powers {
		if after, ok := strings.CutPrefix(s, p.text); ok {
			return p.power, after
		}
	}
	rest, marked := strings.CutPrefix(s, "^")
	if !marked {
		rest = strings.TrimPrefix(s, "**")
	}
	power = 1
	if after, ok := strings.CutPrefix(rest, "-"); ok {
		rest, power = after, -1
	}
	if rest == "" || !isDigit(rest[0]) || rest[0] == '0' {
		return 1, s
	}

	return power * int(rest[0]-'0'), rest[1:]
}

// operator reads the sign between two factors and returns the sign of the second power.
func operator(s string) (sign int, rest string, ok bool) {
	rest = strings.TrimLeft(s, " ")
	spaced := len(rest) < len(s)
	sign = 1

	switch r, n := utf8.DecodeRuneInString(rest); r {
	case '/', '每':
		sign, rest = -1, rest[n:]
	case '·', '⋅', '*', '.', '-', '×':
		rest = rest[n:]
	default:
		after, per := strings.CutPrefix(rest, "per ")
		if per {
			sign, rest = -1, after
		}
		return sign, rest, spaced
	}

	return sign, strings.TrimLeft(rest, " "), true
}

// wordEnd returns the length of the word that s begins with.
func wordEnd(s string) int {
	if end := strings.IndexFunc(s, func(r rune) bool { return !unitRune(r) }); end >= 0 {
		return end
	}
	return len(s)
}

// unitRune reports whether a unit word may hold r. 每 stands for "per".
func unitRune(r rune) bool {
	if r < utf8.RuneSelf {
		return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || r == '%'
	}
	return r != '每' && r != utf8.RuneError && (unicode.IsLetter(r) || strings.ContainsRune("°‰℃℉′″", r))
}

// times returns u·v^power, where u is a product. It reports false if a power is out of range.
func (u unit) times(v unit, power int) (unit, bool) {
	for i, p := range v.dims {
		sum := int(u.dims[i]) + int(p)*power
		if sum < -maxPower || sum > maxPower {
			return unit{}, false
		}
		u.dims[i] = int8(sum)
	}
	f := v.factor
	if power < 0 {
		f = f.inverse()
	}

	for range max(power, -power) {
		u.factor = u.factor.times(f)
	}

	return u, true
}
