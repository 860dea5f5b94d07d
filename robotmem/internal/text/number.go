package text

import (
	"strconv"
	"strings"

	"github.com/robotmem/robotmem-go/robotmem/internal/units"
)

// literal is a number as it stands in a prepared text.
type literal struct {
	value string // canonical decimal
	end   int    // first byte behind it
}

// startsNumber reports whether a sign or a point at i begins a number. A sign
// behind a word or a closing bracket is a hyphen or a minus between operands.
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

// scanNumber reads the number at i: sign, digits with thousands separators,
// fraction, exponent.
func scanNumber(s string, i int) literal {
	neg := s[i] == '-'
	if neg || s[i] == '+' {
		i++
	}
	start := i
	i = skipDigits(s, i)
	whole := s[start:i]
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
		if end := skipDigits(s, j); end > j && end-j <= 4 {
			if c, _ := classAt(s, end); c != letter {
				exponent, _ = strconv.Atoi(s[i+1 : end])
				i = end
			}
		}
	}
	return literal{canonical(neg, whole, fraction, exponent), i}
}

func skipDigits(s string, i int) int {
	for i < len(s) && isDigit(s[i]) {
		i++
	}
	return i
}

// maxPlainExponent is up to where an exponent is written out as zeros.
const maxPlainExponent = 24

// canonical spells a decimal in the one way that makes equal numbers equal
// strings: no plus, no needless zeros, no exponent while it is short. The digits
// are moved, never computed, so nothing is rounded.
func canonical(neg bool, whole, fraction string, exponent int) string {
	digits := whole + fraction
	point := len(whole) + exponent // where the point stands in digits
	trimmed := strings.TrimLeft(digits, "0")
	point -= len(digits) - len(trimmed)
	trimmed = strings.TrimRight(trimmed, "0")
	if trimmed == "" {
		return "0"
	}
	var out string
	switch n := len(trimmed); {
	case point > n+maxPlainExponent && exponent != 0, point < -maxPlainExponent && exponent != 0:
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

// bound reports whether what follows a number makes it part of something
// longer: an address, a date, a time, a range, a version, a name.
func bound(s string, end int) bool {
	c, _ := classAt(s, end)
	if c == letter || c == digit {
		return true
	}
	return c == other && end+1 < len(s) && isDigit(s[end+1]) && joins(s, end)
}

// number emits the number at i with its unit and returns where both end. What
// only begins like a number (2nd, 192.168.1.10) is read as a word.
func (p *scanner) number(i int) int {
	s := p.s
	num := scanNumber(s, i)
	u := scanUnit(s, num.end)
	if u.name == "" && bound(s, num.end) {
		if !isDigit(s[i]) {
			i = strings.IndexAny(s[i:], "0123456789") + i
		}
		return p.word(i)
	}
	if u.name == "" {
		p.numeral(s[i:num.end], num.value)
		return num.end
	}
	if p.base {
		value, unit := units.Base(num.value, u.name)
		for _, term := range []string{value, unit, value + unit} {
			p.emit(term)
		}
		return u.end
	}
	from := len(p.out)
	p.numeral(s[i:num.end], num.value)
	name := u.term()
	switch {
	case u.han: // its characters are indexed with their neighbours
		u.end = num.end
	case u.word:
		p.emit(s[u.start:u.end])
	default:
		p.emit(name)
	}
	p.emit(num.value + name)
	if p.others {
		p.addOthers(num.value, u.name, p.out[from:])
	}
	return u.end
}

// numeral emits a number as it is written, if that is not the canonical decimal,
// and as that.
func (p *scanner) numeral(written, value string) {
	if written = plain(written); written != value {
		p.emit(written) // 1e-3 beside 0.001
	}
	p.emit(value)
}

// plain is a number as written, less its plus signs and thousands separators.
func plain(w string) string {
	if strings.IndexByte(w, ',') >= 0 || strings.IndexByte(w, '+') >= 0 {
		w = strings.ReplaceAll(strings.ReplaceAll(w, ",", ""), "+", "")
	}
	if w[0] == '.' {
		return "0" + w
	}
	return w
}
