package units

import (
	"cmp"
	"math"
	"math/big"
	"strconv"
	"strings"
	"unicode/utf8"
)

// maxText bounds a text in bytes: a number of full precision and the longest unit need half of it.
const maxText = 64

// Quantity is a number with a unit in canonical form: equal quantities are equal with ==.
type Quantity struct {
	// Value is finite and has at most 15 significant digits.
	Value float64
	// Unit is the canonical unit of the dimension ("N", "N·m", "rad/s"), or an unknown unit as written.
	Unit string
}

// Parse reads a text that is one number and one unit and nothing else: "15 N", "15N", "-3.5e-2
// kN", "90°", "1.5 m/s^2", "20 %". A unit that is not known is one word without digits, apart
// from its number: "3 blips". All else is not ok: a number alone, a range, a date, a clock time,
// an identifier, prose, more than 64 bytes, and what a float64 cannot hold in the canonical unit.
func Parse(s string) (q Quantity, ok bool) {
	q, _, ok = ParseWritten(s)
	return q, ok
}

// ParseWritten is Parse that also returns the unit as written.
func ParseWritten(s string) (q Quantity, unit string, ok bool) {
	if len(s) > maxText {
		return Quantity{}, "", false
	}

	s = strings.TrimSpace(s)
	d, n, ok := scan(s)
	if !ok {
		return Quantity{}, "", false
	}

	// Printers put a no-break, thin or narrow space between number and unit.
	unit = strings.TrimLeft(s[n:], " \t\u00a0\u2009\u202f")

	// "3 pm" is a time, although pm is also the picometre.
	clock := strings.EqualFold(unit, "pm") || strings.EqualFold(unit, "am")
	if !startsUnit(unit) || clock {
		return Quantity{}, "", false
	}

	apart := len(unit) < len(s)-n
	if !apart && identifier(s, n) {
		return Quantity{}, "", false
	}

	q, ok = quantity(d, unit, apart)

	return q, unit, ok
}

// Of makes a quantity of a number and a unit, as in {"value": 12.5, "unit": "N"}. It accepts what
// [Parse] accepts, and "pm" as the picometre.
func Of(value float64, unit string) (Quantity, bool) {
	if len(unit) > maxText {
		return Quantity{}, false
	}
	unit = strings.TrimSpace(unit)
	if !startsUnit(unit) {
		return Quantity{}, false
	}

	// scan refuses the texts of NaN and Inf.
	d, _, ok := scan(strconv.FormatFloat(value, 'e', -1, 64))
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
		u = unit{canonical: name}
	}
	value, ok := d.in(u)
	if !ok {
		return Quantity{}, false
	}

	return Quantity{Value: value, Unit: u.canonical}, true
}

// startsUnit excludes most texts that begin with a number: dates, clock times, versions, lists.
func startsUnit(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return unitRune(r) || strings.HasPrefix(s, "1/")
}

// identifier reports whether a number of n bytes with letters behind it is a name (007A, 3e8F).
func identifier(s string, n int) bool {
	if s[0] == '0' && n > 1 && isDigit(s[1]) {
		return true
	}
	return strings.ContainsAny(s[:n], "eE") && strings.Trim(s, "0123456789abcdefABCDEF") == ""
}

// plainWord reports whether s can be an unknown unit: "blips", "counts/rev", "个". A text with
// digits may state more than one quantity.
func plainWord(s string) bool {
	joined := false // the last rune was an operator, which a letter must follow

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

// Values are computed exactly and rounded once, so that 0.015 kN, 15 N and 15000 mN are
// the same float64: to 15 digits, which is what every float64 can tell apart.

// decimal is mantissa × 10^exp.
type decimal struct {
	mantissa string // digits, with "-" and a point or without
	exp      int
}

// factor is ratio × 10^exp × π^pi.
type factor struct {
	ratio   *big.Rat // nil is 1
	exp, pi int
}

const (
	// exactDigits are those that a mantissa may have to be rounded by strconv alone.
	exactDigits = 15
	// maxPlaces bounds the exponent: far beyond any float64.
	maxPlaces = 999
	// maxExponent replaces larger ones, far from the largest int.
	maxExponent = 9999
	// maxTemp is above any temperature, in K.
	maxTemp = 1e22
	// exactBits leaves 15 decimal digits right after all products with π.
	exactBits = 160
)

// pi has 60 digits.
var pi, _ = new(big.Float).SetPrec(200).SetString("3.14159265358979323846264338327950288419716939937510582097494")

// scan reads the number that s begins with and its length: a sign, digits with a point, an
// exponent. An e without digits starts a unit: 5 eV.
func scan(s string) (d decimal, n int, ok bool) {
	negative := false
	if sign, size := utf8.DecodeRuneInString(s); sign == '-' || sign == '−' || sign == '+' {
		negative, n = sign != '+', size
	}

	start := n
	n = skipDigits(s, n)
	if n+1 < len(s) && s[n] == '.' && isDigit(s[n+1]) {
		n = skipDigits(s, n+1)
	}
	if n == start {
		return decimal{}, 0, false
	}

	d.mantissa = s[start:n]
	if negative {
		d.mantissa = "-" + d.mantissa
	}

	if n < len(s) && (s[n] == 'e' || s[n] == 'E') {
		digits := n + 1
		if digits < len(s) && (s[digits] == '-' || s[digits] == '+') {
			digits++
		}
		if end := skipDigits(s, digits); end > digits {
			// Atoi returns the largest int for a number beyond it, which the limit then cuts.
			exp, _ := strconv.Atoi(s[n+1 : end])
			d.exp = min(max(exp, -maxExponent), maxExponent)
			n = end
		}
	}

	return d, n, true
}

func skipDigits(s string, i int) int {
	for i < len(s) && isDigit(s[i]) {
		i++
	}
	return i
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// in returns the number in the canonical unit of u. It fails if a float64 overflows or underflows to 0.
func (d decimal) in(u unit) (float64, bool) {
	nothing := strings.Trim(d.mantissa, "-0.") == ""
	switch {
	case nothing && u.zero == nil:
		return 0, true
	case nothing:
		// 0 °C is not 0 K, so the offset is still added. The exponent of zero means nothing.
		d.exp = 0
	case max(d.exp, -d.exp) > maxPlaces:
		// Exact arithmetic would need as many digits as the exponent says.
		return 0, false
	}

	// A factor of a power of ten only moves the exponent, and strconv rounds correctly up to 15 digits.
	number := d.mantissa + "e" + strconv.Itoa(d.exp+u.factor.exp)
	if u.zero == nil && u.factor.ratio == nil && u.factor.pi == 0 && len(d.mantissa) <= exactDigits {
		v, err := strconv.ParseFloat(number, 64)
		return v, err == nil && v != 0
	}

	n, _ := new(big.Rat).SetString(number)
	if u.zero != nil {
		n.Add(n, u.zero)
	}
	if u.factor.ratio != nil {
		n.Mul(n, u.factor.ratio)
	}

	f := new(big.Float).SetPrec(exactBits).SetRat(n)

	for range max(u.factor.pi, -u.factor.pi) {
		if u.factor.pi < 0 {
			f.Quo(f, pi)
		} else {
			f.Mul(f, pi)
		}
	}

	// 15 significant digits, so that equal quantities in different units are the same float64.
	v, err := strconv.ParseFloat(f.Text('e', 14), 64)

	return v, err == nil && (v != 0 || n.Sign() == 0) && (u.zero == nil || math.Abs(v) < maxTemp)
}

// parseFactor reads the factor of a row: "1e-3", "0.0254", "101325/760", "2π/60".
func parseFactor(s string) (f factor) {
	if exp, ok := strings.CutPrefix(s, "1e"); ok {
		f.exp, _ = strconv.Atoi(exp)
		return f
	}
	above, below, _ := strings.Cut(s, "/")
	above, angle := strings.CutSuffix(above, "π")
	if angle {
		f.pi = 1
	}
	if above+below == "1" || above+below == "" {
		return f
	}
	f.ratio = parseRatio(above)
	f.ratio.Quo(f.ratio, parseRatio(below))

	return f
}

// parseRatio reads a decimal, or 1 where there is none.
func parseRatio(s string) *big.Rat {
	n, ok := new(big.Rat).SetString(cmp.Or(s, "1"))
	if !ok {
		panic("units: no factor: " + strconv.Quote(s))
	}
	return n
}

func (f factor) inverse() factor {
	if f.ratio != nil {
		f.ratio = new(big.Rat).Inv(f.ratio)
	}
	return factor{f.ratio, -f.exp, -f.pi}
}

func (f factor) times(g factor) factor {
	switch {
	case f.ratio == nil:
		f.ratio = g.ratio
	case g.ratio != nil:
		f.ratio = new(big.Rat).Mul(f.ratio, g.ratio)
	}

	return factor{f.ratio, f.exp + g.exp, f.pi + g.pi}
}
