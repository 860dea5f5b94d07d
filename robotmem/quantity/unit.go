package quantity

import (
	"math/bits"
	"strings"
	"unicode"
	"unicode/utf8"
)

// unit is a dimension and what a number in it is multiplied with.
type unit struct {
	canonical string // that of dims, or "" in a product that is not complete
	dims      dims
	factor    factor
	// zero is how far a temperature scale begins above absolute zero, in
	// hundredths of its degree. It counts only for the unit alone: in °C/s and
	// in the product with another unit a degree is a difference.
	zero uint64
}

// resolve reads a unit: one word of the table, or a product of them.
func resolve(s string) (unit, bool) {
	if wordEnd(s) == len(s) {
		return lookup(s)
	}
	if e, ok := symbols[s]; ok { // ft-lb, r/min
		return e.unit, true
	}
	if len(s) <= maxName {
		if u, ok := named(s, false); ok { // degrees Celsius
			return u, true
		}
	}
	return compound(s)
}

// lookup finds one word of the table, with a prefix or without. Symbols are
// told apart by case (mN, MN); names are not.
func lookup(s string) (unit, bool) {
	if e, ok := symbols[s]; ok {
		return e.unit, true
	}
	for n := 1; n <= 2 && n < len(s); n++ {
		if p, ok := prefixes[s[:n]]; ok {
			if e, ok := symbols[s[n:]]; ok && e.takes(p) {
				return p.of(e.unit)
			}
		}
	}
	return named(s, true)
}

// maxName is the length of the longest name, in bytes.
const maxName = 32

// named finds a name, with a prefix if prefixed.
func named(s string, prefixed bool) (unit, bool) {
	if len(s) > maxName || len(s) < 2 {
		return unit{}, false
	}
	var room [maxName]byte
	lower := room[:copy(room[:], s)]
	for i, c := range lower {
		if 'A' <= c && c <= 'Z' {
			lower[i] = c + 'a' - 'A'
		}
	}
	if e, ok := name(lower); ok {
		return e.unit, true
	}
	if !prefixed {
		return unit{}, false
	}
	for i := range namePrefixes {
		p := &namePrefixes[i]
		if lower[0] == p.name[0] && len(lower) > len(p.name) && string(lower[:len(p.name)]) == p.name {
			if e, ok := name(lower[len(p.name):]); ok && e.takes(p.prefix) {
				return p.prefix.of(e.unit)
			}
		}
	}
	return unit{}, false
}

// name finds the singular, or the plural with s.
func name(lower []byte) (*entry, bool) {
	if e, ok := names[string(lower)]; ok {
		return e, true
	}
	if n := len(lower) - 1; n > 2 && lower[n] == 's' {
		e, ok := names[string(lower[:n])]
		return e, ok
	}
	return nil, false
}

// compound reads a product of units:
//
//	product = ["1/"] factor { ("·" | "*" | "." | "-" | " " | "/" | " per " | "每") factor }
//	factor  = "(" product ")" | ["square" | "cubic"] word [power]
//	power   = ["^" | "**"] ["-"] digit | "²" | "³" | "⁻¹" | "⁻²" | " squared" | " cubed"
//
// A division takes the one factor behind it: J/kg/K is J/(kg·K).
func compound(s string) (unit, bool) {
	product := unit{factor: one}
	sign, outer := 1, 0 // outer is the sign before the open bracket, 0 without one
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
	if strings.HasPrefix(s[end:], "-") { // pound-force
		longer := end + 1 + wordEnd(s[end+1:])
		if u, ok = named(s[:longer], false); ok {
			end = longer
		}
	}
	if !ok {
		if u, ok = lookup(s[:end]); !ok {
			return unit{}, 0, "", false
		}
	}
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
	if s == "" || s[0] == '/' {
		return 1, s
	}
	for _, p := range powers {
		if s[0] != p.text[0] {
			continue
		}
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

// operator reads what stands between two factors: the sign of the second one's
// power, and the text from there on.
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

// wordEnd is the length of the word that s begins with.
func wordEnd(s string) int {
	for i, r := range s {
		if !unitRune(r) {
			return i
		}
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

// times is u·v^power, where u is a product; not ok where a factor or a power is out of range.
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
		f = factor{num: f.den, den: f.num, exp: -f.exp, pi: -f.pi}
	}
	for range max(power, -power) {
		var ok bool
		if u.factor, ok = u.factor.times(f); !ok {
			return unit{}, false
		}
	}
	return u, true
}

func (f factor) times(g factor) (factor, bool) {
	if f == one {
		return g, true
	}
	if g == one {
		return f, true
	}
	f.num, g.den = reduce(f.num, g.den)
	g.num, f.den = reduce(g.num, f.den)
	overNum, num := bits.Mul64(f.num, g.num)
	overDen, den := bits.Mul64(f.den, g.den)
	if overNum != 0 || overDen != 0 {
		return factor{}, false
	}
	exp := f.exp + g.exp
	for num%10 == 0 {
		num, exp = num/10, exp+1
	}
	for den%10 == 0 {
		den, exp = den/10, exp-1
	}
	return factor{num, den, exp, f.pi + g.pi}, true
}

// reduce divides both by their greatest common divisor.
func reduce(a, b uint64) (uint64, uint64) {
	if a == 1 || b == 1 {
		return a, b
	}
	x, y := a, b
	for y != 0 {
		x, y = y, x%y
	}
	return a / x, b / x
}
