package units

import (
	"math"
	"math/big"
	"math/bits"
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

// Parse reads a text that is one number and one unit and nothing else: "15 N",
// "15N", "-3.5e-2 kN", "90°", "1.5 m/s^2", "20 %". A unit that is not known is
// one word without digits, apart from its number: "3 blips". All else is not
// ok: a number alone, a range, a date, a clock time, an identifier, prose, more
// than 64 bytes, and what a float64 cannot hold in the canonical unit.
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

// Values are computed exactly and rounded once, so that 0.015 kN, 15 N and 15000 mN are
// the same float64: to 15 digits, which is what every float64 can tell apart.

// decimal is mant × 10^exp, with the digits after the nineteenth cut off.
type decimal struct {
	neg  bool
	mant uint64 // below 10^19
	exp  int
}

// factor is num / den × 10^exp × π^pi.
type factor struct {
	num, den uint64
	exp, pi  int
}

var one = factor{num: 1, den: 1}

const (
	fullDigits = 19
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
	if sign, size := utf8.DecodeRuneInString(s); sign == '-' || sign == '−' || sign == '+' {
		d.neg, n = sign != '+', size
	}
	point, kept := false, 0
	for ; n < len(s) && (isDigit(s[n]) || s[n] == '.' && !point && n+1 < len(s) && isDigit(s[n+1])); n++ {
		switch {
		case s[n] == '.':
			point = true
			continue
		case kept < fullDigits:
			d.mant = 10*d.mant + uint64(s[n]-'0')
			if d.mant > 0 {
				kept++
			}
			if point {
				d.exp--
			}
		case !point:
			d.exp++
		}
		ok = true
	}
	if !ok {
		return decimal{}, 0, false
	}
	end := n
	if end < len(s) && (s[n] == 'e' || s[n] == 'E') {
		for end++; end < len(s) && (isDigit(s[end]) || end == n+1 && (s[end] == '-' || s[end] == '+')); {
			end++
		}
	}
	if end > n && isDigit(s[end-1]) {
		e, _ := strconv.Atoi(s[n+1 : end]) // the largest int if it is beyond
		d.exp += min(max(e, -maxExponent), maxExponent)
		n = end
	}
	return d, n, true
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// in is the number in the canonical unit of u. It fails if a float64 overflows or underflows to 0.
func (d decimal) in(u unit) (float64, bool) {
	if u.zero == 0 && u.factor == (factor{num: 1, den: 1, exp: u.factor.exp}) && 0 < d.mant && d.mant < maxDigits {
		return rounded(d.mant, d.exp+u.factor.exp, d.neg) // a power of ten: the exact number, rounded once
	}
	if d.mant != 0 && max(d.exp, -d.exp) > maxPlaces {
		return 0, false
	}
	n := rational(d.mant, 1, d.exp)
	if d.neg {
		n.Neg(n)
	}
	n.Add(n, new(big.Rat).SetFrac64(int64(u.zero), 100))
	n.Mul(n, rational(u.factor.num, u.factor.den, u.factor.exp))
	f := new(big.Float).SetPrec(exactBits).SetRat(n)
	for range max(u.factor.pi, -u.factor.pi) {
		if u.factor.pi < 0 {
			f.Quo(f, pi)
		} else {
			f.Mul(f, pi)
		}
	}
	v, err := strconv.ParseFloat(f.Text('e', 14), 64)
	return v, err == nil && (v != 0 || n.Sign() == 0) && (u.zero == 0 || math.Abs(v) < maxTemp)
}

// rational is num / den × 10^exp.
func rational(num, den uint64, exp int) *big.Rat {
	ten := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(max(exp, -exp))), nil)
	above, below := new(big.Int).SetUint64(num), new(big.Int).SetUint64(den)
	if exp < 0 {
		below.Mul(below, ten)
	} else {
		above.Mul(above, ten)
	}
	return new(big.Rat).SetFrac(above, below)
}

// maxDigits limits what rounded rounds: in keeps 15 to 16 digits of a longer number.
const maxDigits = 1e15

// rounded is the nearest float64 of m times 10^exp.
func rounded(m uint64, exp int, neg bool) (float64, bool) {
	var text [32]byte
	digits := append(strconv.AppendUint(text[:0], m, 10), 'e')
	f, err := strconv.ParseFloat(string(strconv.AppendInt(digits, int64(exp), 10)), 64)
	if neg {
		f = -f
	}
	return f, err == nil && f != 0
}

// parseFactor reads the factor of a row: "0.0254", "101325/760", "2π/60".
func parseFactor(s string) factor {
	above, below, _ := strings.Cut(s, "/")
	above, angle := strings.CutSuffix(above, "π")
	f, ok := parseWhole(above).times(parseWhole(below).inverse())
	if !ok {
		panic("units: factor out of range: " + s)
	}
	if angle {
		f.pi = 1
	}
	return f
}

// parseWhole reads a decimal, or 1 where there is none.
func parseWhole(s string) factor {
	if s == "" {
		return one
	}
	d, n, ok := scan(s)
	if !ok || n != len(s) {
		panic("units: no factor: " + strconv.Quote(s))
	}
	for ; d.mant%10 == 0; d.exp++ { // room for products
		d.mant /= 10
	}
	return factor{d.mant, 1, d.exp, 0}
}

func (f factor) inverse() factor { return factor{f.den, f.num, -f.exp, -f.pi} }

// times is not ok where the product needs more than 64 bits.
func (f factor) times(g factor) (factor, bool) {
	f.num, g.den = reduce(f.num, g.den)
	g.num, f.den = reduce(g.num, f.den)
	overNum, num := bits.Mul64(f.num, g.num)
	overDen, den := bits.Mul64(f.den, g.den)
	if overNum != 0 || overDen != 0 {
		return factor{}, false
	}
	exp := f.exp + g.exp
	for ; num%10 == 0; exp++ {
		num /= 10
	}
	for ; den%10 == 0; exp-- {
		den /= 10
	}
	return factor{num, den, exp, f.pi + g.pi}, true
}

// reduce divides both by their greatest common divisor.
func reduce(a, b uint64) (uint64, uint64) {
	x, y := a, b
	for y != 0 {
		x, y = y, x%y
	}
	return a / x, b / x
}
