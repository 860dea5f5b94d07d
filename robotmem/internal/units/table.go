package units

import (
	"strings"
)

type row struct {
	symbols   string // told apart by case, split at spaces
	names     string // lower case; a plural with s is understood
	dimension string // see parseDims
	// factor to the canonical unit, exact: a decimal or a fraction, with π or without.
	factor string
	takes  prefixSet
	zero   uint64 // see unit
}

type prefixSet uint8

const (
	metric prefixSet = 1 << iota
	binary
)

// rows are the units. The factors are definitions, not measurements: the pound
// is 0.45359237 kg and the inch 0.0254 m (international yard and pound, 1959),
// standard gravity 9.80665 m/s², the calorie thermochemical, the horsepower
// 550 ft·lbf/s, the millimetre of mercury 13595.1 kg/m³ under standard gravity.
var rows = []row{
	{"N", "newton 牛 牛顿", "N", "1", metric, 0},
	{"dyn", "dyne", "N", "0.00001", 0, 0},
	{"kgf kp", "kilogram-force kilopond 公斤力 千克力", "N", "9.80665", 0, 0},
	{"gf", "gram-force", "N", "0.00980665", 0, 0},
	{"lbf", "pound-force", "N", "4.4482216152605", 0, 0},
	{"ozf", "ounce-force", "N", "0.27801385095378125", 0, 0},

	{"Nm", "newtonmeter newtonmetre 牛米", "N·m", "1", metric, 0},
	{"Ncm", "", "N·m", "0.01", 0, 0},
	{"Nmm", "", "N·m", "0.001", 0, 0},
	{"ft-lb lb-ft ft·lb lb·ft ft-lbf ft-lbs", "foot-pound", "N·m", "1.3558179483314004", 0, 0},
	{"in-lb lb-in in·lb lb·in in-lbf in-lbs", "inch-pound", "N·m", "0.1129848290276167", 0, 0},
	{"oz-in in-oz oz·in in·oz", "ounce-inch", "N·m", "0.00706155181422604375", 0, 0},
	{"Ns", "", "N·s", "1", metric, 0},
	{"Nms", "", "N·m·s", "1", metric, 0},

	{"m", "meter metre 米 公尺", "m", "1", metric, 0},
	{"", "micron", "m", "0.000001", 0, 0},
	{"Å Å", "angstrom ångström", "m", "0.0000000001", 0, 0},
	{"", "公里", "m", "1000", 0, 0},
	{"in", "inch inches 英寸", "m", "0.0254", 0, 0},
	{"mil", "thou", "m", "0.0000254", 0, 0},
	{"ft", "foot feet 英尺", "m", "0.3048", 0, 0},
	{"yd", "yard", "m", "0.9144", 0, 0},
	{"mi", "mile 英里", "m", "1609.344", 0, 0},
	{"nmi", "nautical-mile", "m", "1852", 0, 0},
	{"ha", "hectare", "m²", "10000", 0, 0},
	{"L l", "liter litre 升", "m³", "0.001", metric, 0},
	{"cc", "", "m³", "0.000001", 0, 0},
	{"gal", "gallon", "m³", "0.003785411784", 0, 0},

	{"s", "sec second 秒 秒钟", "s", "1", metric, 0},
	{"min", "minute 分钟", "s", "60", 0, 0},
	{"h hr", "hour hr 小时", "s", "3600", 0, 0},
	{"d", "day 天", "s", "86400", 0, 0},
	{"wk", "week 周", "s", "604800", 0, 0},
	{"Hz", "hertz 赫 赫兹", "Hz", "1", metric, 0},
	{"Bq", "becquerel", "Bq", "1", metric, 0},

	{"mph", "", "m/s", "0.44704", 0, 0},
	{"kmh kph", "", "m/s", "1/3.6", 0, 0},
	{"", "knot", "m/s", "1852/3600", 0, 0},
	{"g0", "", "m/s²", "9.80665", 0, 0},

	{"rad", "radian 弧度", "rad", "1", metric, 0},
	{"° º", "deg degree 度 角度", "rad", "π/180", 0, 0},
	{"′", "arcmin arcminute", "rad", "π/10800", 0, 0},
	{"″", "arcsec arcsecond", "rad", "π/648000", 0, 0},
	{"gon", "gradian", "rad", "π/200", 0, 0},
	{"rev", "turn revolution 转 圈", "rad", "2π", 0, 0},
	{"r/min 转/分 转每分", "rpm", "rad/s", "2π/60", 0, 0},
	{"", "rps", "rad/s", "2π", 0, 0},
	{"sr", "steradian", "sr", "1", metric, 0},

	{"g", "gram gramme 克", "kg", "0.001", metric, 0},
	{"", "公斤", "kg", "1", 0, 0},
	{"", "斤", "kg", "0.5", 0, 0},
	{"t", "tonne 吨", "kg", "1000", 0, 0},
	{"lb lbs", "pound 磅", "kg", "0.45359237", 0, 0},
	{"oz", "ounce 盎司", "kg", "0.028349523125", 0, 0},

	{"Pa", "pascal 帕 帕斯卡", "N/m²", "1", metric, 0},
	{"bar", "", "N/m²", "100000", metric, 0},
	{"atm", "atmosphere", "N/m²", "101325", 0, 0},
	{"", "torr", "N/m²", "101325/760", 0, 0},
	{"mmHg", "", "N/m²", "133.322387415", 0, 0},
	{"inHg", "", "N/m²", "3386.388640341", 0, 0},
	{"cmH2O", "", "N/m²", "98.0665", 0, 0},
	{"", "psi", "N/m²", "4.4482216152605/0.00064516", 0, 0},
	{"", "ksi", "N/m²", "4448.2216152605/0.00064516", 0, 0},
	{"P", "poise", "N·s/m²", "0.1", metric, 0},

	{"J", "joule 焦 焦耳", "W·s", "1", metric, 0},
	{"Wh", "watt-hour 瓦时", "W·s", "3600", metric, 0},
	{"Ws", "", "W·s", "1", metric, 0},
	{"eV", "electronvolt", "W·s", "1.602176634e-19", metric, 0},
	{"cal", "calorie 卡", "W·s", "4.184", metric, 0},
	{"BTU Btu", "", "W·s", "1055.05585262", 0, 0},
	{"W", "watt 瓦 瓦特", "W", "1", metric, 0},
	{"hp", "horsepower", "W", "745.69987158227022", 0, 0},

	{"V", "volt 伏 伏特", "V", "1", metric, 0},
	{"A", "amp ampere 安 安培", "A", "1", metric, 0},
	{"VA", "volt-ampere", "V·A", "1", metric, 0},
	{"Vs", "", "V·s", "1", metric, 0},
	{"C", "coulomb 库仑", "A·s", "1", metric, 0},
	{"Ah", "amp-hour ampere-hour 安时", "A·s", "3600", metric, 0},
	{"As", "", "A·s", "1", metric, 0},
	{"Ω Ω", "ohm 欧 欧姆", "V/A", "1", metric, 0},
	{"S", "siemens", "A/V", "1", metric, 0},
	{"F", "farad 法拉", "A·s/V", "1", metric, 0},
	{"H", "henry henries 亨利", "V·s/A", "1", metric, 0},
	{"Wb", "weber", "V·s", "1", metric, 0},
	{"T", "tesla 特斯拉", "V·s/m²", "1", metric, 0},
	{"", "gauss", "V·s/m²", "0.0001", 0, 0},

	{"K", "kelvin 开尔文", "K", "1", metric, 0},
	{"°C ºC ℃ degC", "celsius degrees-celsius degree-celsius 摄氏度", "K", "1", 0, 27315},
	{"°F ºF ℉ degF", "fahrenheit degrees-fahrenheit degree-fahrenheit 华氏度", "K", "5/9", 0, 45967},
	{"°R degR", "rankine", "K", "5/9", 0, 0},

	{"mol", "mole", "mol", "1", metric, 0},
	{"cd", "candela", "cd", "1", metric, 0},
	{"lm", "lumen", "lm", "1", metric, 0},
	{"lx", "lux", "lm/m²", "1", metric, 0},
	{"Gy", "gray", "Gy", "1", metric, 0},
	{"Sv", "sievert", "Sv", "1", metric, 0},

	{"%", "percent pct", "%", "1", 0, 0},
	{"‰", "permille", "%", "0.1", 0, 0},
	{"ppm", "", "%", "0.0001", 0, 0},
	{"dB", "decibel 分贝", "dB", "1", 0, 0},
	{"B", "byte 字节", "B", "1", metric | binary, 0},
	{"bit", "bit 比特", "B", "0.125", metric | binary, 0},
	{"bps", "", "B/s", "0.125", metric, 0},
	{"px", "pixel 像素", "px", "1", 0, 0},
}

// prefix multiplies a unit by 10^exp, or by 1024^kibi.
type prefix struct {
	symbols, names string
	exp, kibi      int
}

// prefixes from femto to peta: robots measure nothing beyond, and "am" and "Em" are words.
var prefixes = []prefix{
	{"f", "femto", -15, 0}, {"p", "pico", -12, 0}, {"n", "nano 纳", -9, 0}, {"u µ μ", "micro 微", -6, 0},
	{"m", "milli 毫", -3, 0}, {"c", "centi 厘", -2, 0}, {"d", "deci 分", -1, 0}, {"da", "deca", 1, 0},
	{"h", "hecto", 2, 0}, {"k", "kilo 千", 3, 0}, {"M", "mega 兆", 6, 0}, {"G", "giga", 9, 0},
	{"T", "tera", 12, 0}, {"P", "peta", 15, 0},
	{"Ki", "kibi", 0, 1}, {"Mi", "mebi", 0, 2}, {"Gi", "gibi", 0, 3}, {"Ti", "tebi", 0, 4},
}

// vocabulary finds units and prefixes by their spelling.
type vocabulary struct {
	units    map[string]*unit
	prefixes map[string]*prefix
	longest  int  // prefix, in bytes
	plural   bool // words may be plural
}

var symbols, names = index()

func index() (symbols, names vocabulary) {
	empty := func() vocabulary {
		return vocabulary{units: make(map[string]*unit, 2*len(rows)), prefixes: make(map[string]*prefix, 2*len(prefixes))}
	}
	symbols, names = empty(), empty()
	names.plural = true
	for _, r := range rows {
		d := parseDims(r.dimension)
		u := &unit{d.String(), d, parseFactor(r.factor), r.zero, r.takes}
		for s := range strings.FieldsSeq(r.symbols) {
			symbols.units[s] = u
		}
		for s := range strings.FieldsSeq(r.names) {
			names.units[s] = u
			names.units[strings.ReplaceAll(s, "-", " ")] = u
		}
	}
	for i := range prefixes {
		p := &prefixes[i]
		symbols.addPrefix(p, p.symbols)
		names.addPrefix(p, p.names)
	}
	return symbols, names
}

func (v *vocabulary) addPrefix(p *prefix, spellings string) {
	for s := range strings.FieldsSeq(spellings) {
		v.prefixes[s] = p
		v.longest = max(v.longest, len(s))
	}
}

// lookup finds a word, with a prefix that its unit takes or without.
func (v *vocabulary) lookup(s string) (unit, bool) {
	if u, ok := v.find(s); ok {
		return *u, true
	}
	for n := 1; n <= v.longest && n < len(s); n++ {
		p, ok := v.prefixes[s[:n]]
		if !ok {
			continue
		}
		if u, ok := v.find(s[n:]); ok && u.takes&p.set() != 0 {
			return p.of(*u)
		}
	}
	return unit{}, false
}

// find finds a word without a prefix, also in the plural with s.
func (v *vocabulary) find(s string) (*unit, bool) {
	u, ok := v.units[s]
	if n := len(s) - 1; !ok && v.plural && n > 2 && s[n] == 's' {
		u, ok = v.units[s[:n]]
	}
	return u, ok
}

func (p *prefix) set() prefixSet {
	if p.kibi > 0 {
		return binary
	}
	return metric
}

func (p *prefix) of(u unit) (unit, bool) {
	u.factor.exp += p.exp
	ok := true
	for range p.kibi {
		u.factor, ok = u.factor.times(factor{num: 1024, den: 1})
	}
	return u, ok
}
