package quantity

import (
	"math/bits"
	"strconv"
	"strings"
)

// Values are computed in decimal and rounded once, so that 0.015 kN, 15 N and
// 15000 mN are the same float64. The number as written and the factor of its
// unit are whole numbers with a power of ten; their product is truncated to 19
// digits, multiplied by π where the unit is an angle, and rounded to 15, which
// is what every float64 can tell apart. Each step keeps the order.

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
	e18 = 1_000_000_000_000_000_000
	e19 = 10 * e18

	pi19      = 3_141_592_653_589_793_238 // π × 10^18
	inversePi = 3_183_098_861_837_906_715 // 1/π × 10^19

	// maxExponent stands for all above it: far beyond any float64, far from the
	// largest int.
	maxExponent = 9999
)

// scan reads the number that s begins with and its length: a sign, digits, a
// point between digits or before them, an exponent. An e without digits is the
// beginning of a unit, as in 5 eV.
func scan(s string) (d decimal, n int, ok bool) {
	if strings.HasPrefix(s, "-") || strings.HasPrefix(s, "+") {
		d.neg, n = s[0] == '-', 1
	} else if strings.HasPrefix(s, "−") {
		d.neg, n = true, len("−")
	}
	start := n
	for ; n < len(s) && isDigit(s[n]); n++ {
		d.push(s[n])
	}
	if n+1 < len(s) && s[n] == '.' && isDigit(s[n+1]) {
		for n++; n < len(s) && isDigit(s[n]); n++ {
			d.push(s[n])
			d.exp--
		}
	}
	if n == start {
		return decimal{}, 0, false
	}
	e, length := scanExponent(s[n:])
	d.exp += e
	return d, n + length, true
}

// push appends a digit of the whole part; a caller behind the point takes one
// off the exponent.
func (d *decimal) push(digit byte) {
	if d.mant < e18 {
		d.mant = d.mant*10 + uint64(digit-'0')
	} else {
		d.exp++
	}
}

func scanExponent(s string) (e, n int) {
	if len(s) < 2 || s[0] != 'e' && s[0] != 'E' {
		return 0, 0
	}
	n = 1
	if s[1] == '-' || s[1] == '+' {
		n = 2
	}
	if n == len(s) || !isDigit(s[n]) {
		return 0, 0
	}
	for ; n < len(s) && isDigit(s[n]); n++ {
		e = min(e*10+int(s[n]-'0'), maxExponent)
	}
	if s[1] == '-' {
		e = -e
	}
	return e, n
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// in is the number in the canonical unit of u, or not ok where a float64
// overflows or a number that is not zero would become zero.
func (d decimal) in(u unit) (float64, bool) {
	hi, lo := bits.Mul64(d.mant, u.factor.num)
	exp := d.exp
	if u.zero != 0 {
		var ok bool
		if d.neg, hi, lo, ok = d.above(u.zero); !ok {
			return 0, false
		}
		exp = -tempDigits
		carry, low := bits.Mul64(lo, u.factor.num)
		hi, lo = hi*u.factor.num+carry, low
	}
	if hi == 0 && lo == 0 {
		return 0, true
	}
	m, shift := quotient(hi, lo, u.factor.den)
	exp += shift + u.factor.exp
	for range max(u.factor.pi, -u.factor.pi) {
		m, shift = timesPi(m, u.factor.pi < 0)
		exp += shift
	}
	return float(d.neg, (m+5000)/10000, exp+4)
}

// tempDigits is how many decimals of a degree are kept when a zero is moved.
const tempDigits = 16

// above is the distance of a temperature from absolute zero, which is zero
// hundredths of a degree below the zero of its scale, in units of 10^-16
// degrees. It is not ok beyond 10^20 degrees.
func (d decimal) above(zero uint64) (neg bool, hi, lo uint64, ok bool) {
	shift := d.exp + tempDigits
	for ; shift > 0 && d.mant != 0; shift-- {
		var over uint64
		if hi > e18 {
			return false, 0, 0, false
		}
		over, d.mant = bits.Mul64(d.mant, 10)
		hi = hi*10 + over
	}
	for ; shift < 0 && d.mant != 0; shift++ {
		d.mant /= 10
	}
	lo = d.mant
	zero *= 1e14 // hundredths to 10^-16
	switch {
	case !d.neg:
		sum, carry := bits.Add64(lo, zero, 0)
		return false, hi + carry, sum, hi <= e18
	case hi == 0 && lo <= zero:
		return false, 0, zero - lo, true
	default:
		difference, borrow := bits.Sub64(lo, zero, 0)
		return true, hi - borrow, difference, hi <= e18
	}
}

// quotient is the first 19 digits of a positive hi·2^64+lo divided by den, and
// the power of ten to multiply them with.
func quotient(hi, lo, den uint64) (m uint64, exp int) {
	hi, rem := hi/den, hi%den
	m, rem = bits.Div64(rem, lo, den)
	for hi > 0 || m >= e19 {
		var carry uint64
		hi, carry = hi/10, hi%10
		m, _ = bits.Div64(carry, m, 10)
		exp++
		rem = 0 // only read below, where no digit has been dropped
	}
	for ; m < e18; exp-- {
		var next uint64
		if rem != 0 {
			over, low := bits.Mul64(rem, 10)
			next, rem = bits.Div64(over, low, den)
		}
		m = m*10 + next
	}
	return m, exp
}

// timesPi multiplies 19 digits with π, or with 1/π.
func timesPi(m uint64, inverse bool) (uint64, int) {
	by, exp := uint64(pi19), -18+19
	if inverse {
		by, exp = inversePi, 0
	}
	hi, lo := bits.Mul64(m, by)
	m, _ = bits.Div64(hi, lo, e19)
	if m < e18 {
		return m * 10, exp - 1
	}
	return m, exp
}

// float is the float64 nearest to mant × 10^exp.
func float(neg bool, mant uint64, exp int) (float64, bool) {
	var room [32]byte
	text := room[:0]
	if neg {
		text = append(text, '-')
	}
	text = strconv.AppendUint(text, mant, 10)
	text = append(text, 'e')
	text = strconv.AppendInt(text, int64(exp), 10)
	f, err := strconv.ParseFloat(string(text), 64)
	return f, err == nil && f != 0
}
