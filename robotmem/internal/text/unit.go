package text

import (
	"strings"
	"unicode/utf8"
)

// unit is a unit of measure found behind a number.
type unit struct {
	name       string // canonical, "" for none
	start, end int    // where it is written
	word       bool   // written as a word: minutes, percent
	han        bool   // written in Chinese
}

// symbols are the canonical units. Case is part of them: mN is not MN.
var symbols = wordSet(`
m mm cm dm km um nm ft
N mN kN MN uN kgf lbf Nm mNm kNm Nmm Ncm
s ms us ns min h
rad mrad deg degC degF rpm rps
Hz kHz MHz GHz mHz fps mph
kg g mg ug lb oz
V mV kV A mA uA W mW kW MW Wh kWh Ah mAh ohm kohm Mohm uF nF pF mH uH
Pa kPa MPa hPa bar mbar psi atm
K J mJ kJ MJ L mL B kB KB MB GB TB KiB MiB GiB kbps Mbps Gbps
px dB dBm ppm lux lm cd mol T mT
%
`)

// spellings leads other ways to write a unit to its symbol.
var spellings = map[string]string{
	"°": "deg", "°C": "degC", "°F": "degF", "Ω": "ohm", "kΩ": "kohm", "MΩ": "Mohm",
	"N*m": "Nm", "mN*m": "mNm", "kN*m": "kNm", "N*mm": "Nmm", "N*cm": "Ncm",
	"W*h": "Wh", "A*h": "Ah", "l": "L", "ml": "mL", "hr": "h", "hrs": "h",
	"sec": "s", "secs": "s", "msec": "ms", "mins": "min", "lbs": "lb",
	"kmh": "km/h", "kph": "km/h", "km/hr": "km/h", "HZ": "Hz", "hz": "Hz", "khz": "kHz", "Khz": "kHz", "KHz": "kHz",
	"n": "N", "nm": "nm", "v": "V", "kw": "kW", "w": "W", "kn": "kN",
}

// glued are unit symbols that are English words or too short to stand alone:
// they count only right behind the digits.
var glued = wordSet(`n v w T B A K lm cd l g h`)

// unitWords are units written out.
var unitWords = func() map[string]string {
	m := map[string]string{"feet": "ft", "foot": "ft", "percent": "%", "hertz": "Hz", "celsius": "degC", "rev/min": "rpm"}
	for _, p := range strings.Fields(`newton:N newton-meter:Nm second:s millisecond:ms microsecond:us
		minute:min hour:h day:d degree:deg radian:rad meter:m metre:m millimeter:mm millimetre:mm
		centimeter:cm centimetre:cm kilometer:km kilometre:km kilogram:kg gram:g volt:V amp:A ampere:A
		watt:W joule:J pascal:Pa liter:L litre:L pixel:px frame:frame ohm:ohm pound:lb inch:in`) {
		name, symbol, _ := strings.Cut(p, ":")
		m[name], m[name+"s"] = symbol, symbol
	}
	m["inches"] = "in"
	return m
}()

// hanUnits are Chinese units, looked up longest first.
var hanUnits = map[string]string{
	"牛": "N", "牛顿": "N", "牛頓": "N", "毫牛": "mN", "千牛": "kN", "牛米": "Nm", "牛·米": "Nm",
	"米": "m", "毫米": "mm", "厘米": "cm", "公分": "cm", "公里": "km", "千米": "km", "微米": "um", "米/秒": "m/s",
	"秒": "s", "毫秒": "ms", "微秒": "us", "分钟": "min", "分鐘": "min", "小时": "h", "小時": "h", "天": "d",
	"度": "deg", "摄氏度": "degC", "攝氏度": "degC", "弧度": "rad", "度/秒": "deg/s", "弧度/秒": "rad/s",
	"公斤": "kg", "千克": "kg", "克": "g", "毫克": "mg", "伏": "V", "伏特": "V", "毫伏": "mV", "安培": "A", "毫安": "mA",
	"瓦": "W", "千瓦": "kW", "赫兹": "Hz", "赫茲": "Hz", "赫": "Hz", "欧姆": "ohm", "帕": "Pa", "千帕": "kPa", "兆帕": "MPa",
	"转/分": "rpm", "转每分": "rpm", "升": "L", "毫升": "mL", "像素": "px", "帧": "frame", "米每秒": "m/s",
}

const (
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
		if end >= len(s) {
			break
		}
		op, n := "*", 1
		switch {
		case s[end] == '/':
			op = "/"
		case s[end] == '*':
		case strings.HasPrefix(s[end:], "·"):
			n = len("·")
		default:
			n = 0
		}
		if n == 0 {
			break
		}
		next, stop := scanFactor(s, end+n)
		if next == "" {
			break
		}
		if known, ok := spellings[name+op+next]; ok {
			name = known
		} else {
			name += op + next
		}
		end = stop
	}
	return unit{name: name, start: start, end: end}
}

// scanFactor reads one symbol with its power; what follows must not go on as a
// word.
func scanFactor(s string, i int) (name string, end int) {
	end = i
	for end < len(s) && end-i < 8 {
		c, n := classAt(s, end)
		if c != letter && !strings.HasPrefix(s[end:], "°") && s[end] != '%' || s[end] == '_' {
			break
		}
		if c == other {
			n = len("°")
			if s[end] == '%' {
				n = 1
			}
		}
		end += n
	}
	name = s[i:end]
	if strings.HasPrefix(name, "μ") {
		name = "u" + name[len("μ"):]
	}
	if known, ok := spellings[name]; ok {
		name = known
	}
	if _, ok := symbols[name]; !ok {
		if name != "km/h" {
			return "", i
		}
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
	for end < len(s) && (ascii[s[end]&0x7f] == letter && s[end] != '_' || s[end] == '-' || s[end] == '/') && s[end] < utf8.RuneSelf {
		if end++; end-i > 16 {
			return unit{}
		}
	}
	if end-i < 3 {
		return unit{}
	}
	w := fold(s[i:end])
	if name, ok := unitWords[w]; ok {
		if c, _ := classAt(s, end); c == letter || c == digit {
			return unit{}
		}
		return unit{name: name, start: i, end: end, word: true}
	}
	return unit{}
}

func scanHanUnit(s string, i int) unit {
	var found unit
	end := i
	for range maxHanUnitRunes {
		if end >= len(s) {
			break
		}
		_, n := utf8.DecodeRuneInString(s[end:])
		end += n
		if name, ok := hanUnits[s[i:end]]; ok {
			found = unit{name: name, start: i, end: end, han: true}
		}
	}
	return found
}
