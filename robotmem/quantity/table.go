package quantity

import (
	"strconv"
	"strings"
)

// row is a unit of the table.
type row struct {
	symbols string // told apart by case, split at spaces
	names   string // lower case; a plural with s is understood
	dims    dims
	// factor to the canonical unit, exact: a decimal, a fraction, or one of
	// them times π.
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
	{"N", "newton 牛 牛顿", dims{newton: 1}, "1", metric, 0},
	{"dyn", "dyne", dims{newton: 1}, "0.00001", 0, 0},
	{"kgf kp", "kilogram-force kilopond 公斤力 千克力", dims{newton: 1}, "9.80665", 0, 0},
	{"gf", "gram-force", dims{newton: 1}, "0.00980665", 0, 0},
	{"lbf", "pound-force", dims{newton: 1}, "4.4482216152605", 0, 0},
	{"ozf", "ounce-force", dims{newton: 1}, "0.27801385095378125", 0, 0},

	{"Nm", "newtonmeter newtonmetre 牛米", torque, "1", metric, 0},
	{"Ncm", "", torque, "0.01", 0, 0},
	{"Nmm", "", torque, "0.001", 0, 0},
	{"ft-lb lb-ft ft·lb lb·ft ft-lbf ft-lbs", "foot-pound", torque, "1.3558179483314004", 0, 0},
	{"in-lb lb-in in·lb lb·in in-lbf in-lbs", "inch-pound", torque, "0.1129848290276167", 0, 0},
	{"oz-in in-oz oz·in in·oz", "ounce-inch", torque, "0.00706155181422604375", 0, 0},
	{"Ns", "", dims{newton: 1, second: 1}, "1", metric, 0},
	{"Nms", "", dims{newton: 1, metre: 1, second: 1}, "1", metric, 0},

	{"m", "meter metre 米 公尺", dims{metre: 1}, "1", metric, 0},
	{"", "micron", dims{metre: 1}, "0.000001", 0, 0},
	{"Å Å", "angstrom ångström", dims{metre: 1}, "0.0000000001", 0, 0},
	{"", "公里", dims{metre: 1}, "1000", 0, 0},
	{"in", "inch inches 英寸", dims{metre: 1}, "0.0254", 0, 0},
	{"mil", "thou", dims{metre: 1}, "0.0000254", 0, 0},
	{"ft", "foot feet 英尺", dims{metre: 1}, "0.3048", 0, 0},
	{"yd", "yard", dims{metre: 1}, "0.9144", 0, 0},
	{"mi", "mile 英里", dims{metre: 1}, "1609.344", 0, 0},
	{"nmi", "nautical-mile", dims{metre: 1}, "1852", 0, 0},
	{"ha", "hectare", dims{metre: 2}, "10000", 0, 0},
	{"L l", "liter litre 升", volume, "0.001", metric, 0},
	{"cc", "", volume, "0.000001", 0, 0},
	{"gal", "gallon", volume, "0.003785411784", 0, 0},

	{"s", "sec second 秒 秒钟", dims{second: 1}, "1", metric, 0},
	{"min", "minute 分钟", dims{second: 1}, "60", 0, 0},
	{"h hr", "hour hr 小时", dims{second: 1}, "3600", 0, 0},
	{"d", "day 天", dims{second: 1}, "86400", 0, 0},
	{"wk", "week 周", dims{second: 1}, "604800", 0, 0},
	{"Hz", "hertz 赫 赫兹", dims{hertz: 1}, "1", metric, 0},
	{"Bq", "becquerel", dims{becquerel: 1}, "1", metric, 0},

	{"mph", "", speed, "0.44704", 0, 0},
	{"kmh kph", "", speed, "1/3.6", 0, 0},
	{"", "knot", speed, "1852/3600", 0, 0},
	{"g0", "", accel, "9.80665", 0, 0},

	{"rad", "radian 弧度", dims{radian: 1}, "1", metric, 0},
	{"° º", "deg degree 度 角度", dims{radian: 1}, "π/180", 0, 0},
	{"′", "arcmin arcminute", dims{radian: 1}, "π/10800", 0, 0},
	{"″", "arcsec arcsecond", dims{radian: 1}, "π/648000", 0, 0},
	{"gon", "gradian", dims{radian: 1}, "π/200", 0, 0},
	{"rev", "turn revolution 转 圈", dims{radian: 1}, "2π", 0, 0},
	{"r/min 转/分 转每分", "rpm", spin, "2π/60", 0, 0},
	{"", "rps", spin, "2π", 0, 0},
	{"sr", "steradian", dims{steradian: 1}, "1", metric, 0},

	{"g", "gram gramme 克", dims{kg: 1}, "0.001", metric, 0},
	{"", "公斤", dims{kg: 1}, "1", 0, 0},
	{"", "斤", dims{kg: 1}, "0.5", 0, 0},
	{"t", "tonne 吨", dims{kg: 1}, "1000", 0, 0},
	{"lb lbs", "pound 磅", dims{kg: 1}, "0.45359237", 0, 0},
	{"oz", "ounce 盎司", dims{kg: 1}, "0.028349523125", 0, 0},

	{"Pa", "pascal 帕 帕斯卡", pascal, "1", metric, 0},
	{"bar", "", pascal, "100000", metric, 0},
	{"atm", "atmosphere", pascal, "101325", 0, 0},
	{"", "torr", pascal, "101325/760", 0, 0},
	{"mmHg", "", pascal, "133.322387415", 0, 0},
	{"inHg", "", pascal, "3386.388640341", 0, 0},
	{"cmH2O", "", pascal, "98.0665", 0, 0},
	{"", "psi", pascal, "4.4482216152605/0.00064516", 0, 0},
	{"", "ksi", pascal, "4448.2216152605/0.00064516", 0, 0},
	{"P", "poise", dims{newton: 1, metre: -2, second: 1}, "0.1", metric, 0},

	{"J", "joule 焦 焦耳", joule, "1", metric, 0},
	{"Wh", "watt-hour 瓦时", joule, "3600", metric, 0},
	{"Ws", "", joule, "1", metric, 0},
	{"eV", "electronvolt", joule, "1.602176634e-19", metric, 0},
	{"cal", "calorie 卡", joule, "4.184", metric, 0},
	{"BTU Btu", "", joule, "1055.05585262", 0, 0},
	{"W", "watt 瓦 瓦特", dims{watt: 1}, "1", metric, 0},
	{"hp", "horsepower", dims{watt: 1}, "745.69987158227022", 0, 0},

	{"V", "volt 伏 伏特", dims{volt: 1}, "1", metric, 0},
	{"A", "amp ampere 安 安培", dims{ampere: 1}, "1", metric, 0},
	{"VA", "volt-ampere", dims{volt: 1, ampere: 1}, "1", metric, 0},
	{"Vs", "", weber, "1", metric, 0},
	{"C", "coulomb 库仑", coulomb, "1", metric, 0},
	{"Ah", "amp-hour ampere-hour 安时", coulomb, "3600", metric, 0},
	{"As", "", coulomb, "1", metric, 0},
	{"Ω Ω", "ohm 欧 欧姆", ohm, "1", metric, 0},
	{"S", "siemens", siemens, "1", metric, 0},
	{"F", "farad 法拉", farad, "1", metric, 0},
	{"H", "henry henries 亨利", henry, "1", metric, 0},
	{"Wb", "weber", weber, "1", metric, 0},
	{"T", "tesla 特斯拉", tesla, "1", metric, 0},
	{"", "gauss", tesla, "0.0001", 0, 0},

	{"K", "kelvin 开尔文", dims{kelvin: 1}, "1", metric, 0},
	{"°C ºC ℃ degC", "celsius degrees-celsius degree-celsius 摄氏度", dims{kelvin: 1}, "1", 0, 27315},
	{"°F ºF ℉ degF", "fahrenheit degrees-fahrenheit degree-fahrenheit 华氏度", dims{kelvin: 1}, "5/9", 0, 45967},
	{"°R degR", "rankine", dims{kelvin: 1}, "5/9", 0, 0},

	{"mol", "mole", dims{mole: 1}, "1", metric, 0},
	{"cd", "candela", dims{candela: 1}, "1", metric, 0},
	{"lm", "lumen", dims{lumen: 1}, "1", metric, 0},
	{"lx", "lux", lux, "1", metric, 0},
	{"Gy", "gray", dims{gray: 1}, "1", metric, 0},
	{"Sv", "sievert", dims{sievert: 1}, "1", metric, 0},

	{"%", "percent pct", dims{percent: 1}, "1", 0, 0},
	{"‰", "permille", dims{percent: 1}, "0.1", 0, 0},
	{"ppm", "", dims{percent: 1}, "0.0001", 0, 0},
	{"dB", "decibel 分贝", dims{decibel: 1}, "1", 0, 0},
	{"B", "byte 字节", dims{octet: 1}, "1", metric | binary, 0},
	{"bit", "bit 比特", dims{octet: 1}, "0.125", metric | binary, 0},
	{"bps", "", rate, "0.125", metric, 0},
	{"px", "pixel 像素", dims{pixel: 1}, "1", 0, 0},
}

// prefix multiplies a unit by 10^exp, or by 1024^kibi.
type prefix struct{ exp, kibi int }

// prefixes are the symbols. Those below femto and above peta are left out: they
// name nothing that a robot senses, and "am" and "Em" are words.
var prefixes = map[string]prefix{
	"f": {exp: -15}, "p": {exp: -12}, "n": {exp: -9}, "u": {exp: -6}, "µ": {exp: -6}, "μ": {exp: -6},
	"m": {exp: -3}, "c": {exp: -2}, "d": {exp: -1}, "da": {exp: 1}, "h": {exp: 2}, "k": {exp: 3},
	"M": {exp: 6}, "G": {exp: 9}, "T": {exp: 12}, "P": {exp: 15},
	"Ki": {kibi: 1}, "Mi": {kibi: 2}, "Gi": {kibi: 3}, "Ti": {kibi: 4},
}

var namePrefixes = []struct {
	name   string
	prefix prefix
}{
	{"femto", prefix{exp: -15}}, {"pico", prefix{exp: -12}}, {"nano", prefix{exp: -9}}, {"micro", prefix{exp: -6}},
	{"milli", prefix{exp: -3}}, {"centi", prefix{exp: -2}}, {"deci", prefix{exp: -1}}, {"deca", prefix{exp: 1}},
	{"hecto", prefix{exp: 2}}, {"kilo", prefix{exp: 3}}, {"mega", prefix{exp: 6}}, {"giga", prefix{exp: 9}},
	{"tera", prefix{exp: 12}}, {"peta", prefix{exp: 15}},
	{"kibi", prefix{kibi: 1}}, {"mebi", prefix{kibi: 2}}, {"gibi", prefix{kibi: 3}}, {"tebi", prefix{kibi: 4}},
	{"纳", prefix{exp: -9}}, {"微", prefix{exp: -6}}, {"毫", prefix{exp: -3}}, {"厘", prefix{exp: -2}},
	{"分", prefix{exp: -1}}, {"千", prefix{exp: 3}}, {"兆", prefix{exp: 6}},
}

func (p prefix) of(u unit) (unit, bool) {
	u.factor.exp += p.exp
	ok := true
	for range p.kibi {
		u.factor, ok = u.factor.times(factor{num: 1024, den: 1})
	}
	return u, ok
}

// entry is a unit of the table with the prefixes it takes.
type entry struct {
	unit
	prefixes prefixSet
}

func (e *entry) takes(p prefix) bool {
	if p.kibi > 0 {
		return e.prefixes&binary != 0
	}
	return e.prefixes&metric != 0
}

var symbols, names = index(rows)

func index(rows []row) (symbols, names map[string]*entry) {
	symbols, names = make(map[string]*entry, 2*len(rows)), make(map[string]*entry, 2*len(rows))
	for _, r := range rows {
		e := &entry{unit{r.dims.String(), r.dims, mustFactor(r.factor), r.zero}, r.takes}
		for s := range strings.FieldsSeq(r.symbols) {
			symbols[s] = e
		}
		for s := range strings.FieldsSeq(r.names) {
			names[s] = e
			names[strings.ReplaceAll(s, "-", " ")] = e
		}
	}
	return symbols, names
}

// mustFactor reads the factor of a row: "0.0254", "101325/760", "2π/60".
func mustFactor(s string) factor {
	above, below, _ := strings.Cut(s, "/")
	above, angle := strings.CutSuffix(above, "π")
	f, g := one, one
	if above != "" {
		f = mustDecimal(above)
	}
	if below != "" {
		g = mustDecimal(below)
	}
	f, ok := f.times(factor{g.den, g.num, -g.exp, 0})
	if !ok {
		panic("quantity: factor out of range: " + s)
	}
	if angle {
		f.pi = 1
	}
	return f
}

func mustDecimal(s string) factor {
	d, n, ok := scan(s)
	if !ok || n != len(s) {
		panic("quantity: no factor: " + strconv.Quote(s))
	}
	for ; d.mant%10 == 0; d.exp++ { // room for products
		d.mant /= 10
	}
	return factor{d.mant, 1, d.exp, 0}
}
