package units

import (
	"math"
	"strconv"
	"strings"
)

// In running text fewer spellings are units than in a value: "5 T", "3 d" and
// "2 turns" are too often something else. A search index stores the symbol of a
// unit, so a change of these lists makes stored indexes stale.

// textSymbols are the symbols that are units after a number in a text. Case matters: mN, MN.
var textSymbols = strings.Fields(`
m mm cm dm km um nm ft N mN kN MN uN kgf lbf Nm mNm kNm Nmm Ncm
s ms us ns min h rad mrad deg degC degF rpm rps
Hz kHz MHz GHz mHz fps mph kg g mg ug lb oz
V mV kV A mA uA W mW kW MW Wh kWh Ah mAh ohm kohm Mohm uF nF pF mH uH
Pa kPa MPa hPa bar mbar psi atm K J mJ kJ MJ L mL
B kB KB MB GB TB KiB MiB GiB kbps Mbps Gbps
px dB dBm ppm lux lm cd mol T mT %`)

// textSpellings are other spellings of symbols. One without a symbol has that of the same unit.
var textSpellings = strings.Fields(`
° °C °F Ω kΩ MΩ N*m mN*m kN*m N*mm=Nmm N*cm W*h A*h l ml hr hrs=h sec secs=s msec=ms mins=min lbs
kmh=km/h kph=km/h HZ=Hz hz=Hz khz=kHz Khz=kHz KHz=kHz n=N v=V kw=kW w=W kn=kN`)

// textWords are names of units, in lower case or in Chinese.
var textWords = strings.Fields(`
feet foot percent hertz celsius rev/min inches=in frame=frame frames=frame day=d days=d
newton newtons newton-meter newton-meters=Nm second seconds millisecond milliseconds microsecond microseconds
minute minutes hour hours degree degrees radian radians meter meters metre metres
millimeter millimeters millimetre millimetres centimeter centimeters centimetre centimetres
kilometer kilometers kilometre kilometres kilogram kilograms gram grams volt volts amp amps ampere amperes
watt watts joule joules pascal pascals liter liters litre litres pixel pixels ohm ohms pound pounds inch=in inchs=in
牛 牛顿 牛頓=N 毫牛 千牛 牛米 牛·米 米 毫米 厘米 公分=cm 公里 千米 微米 米/秒=m/s 米每秒=m/s
秒 毫秒 微秒 分钟 分鐘=min 小时 小時=h 天=d 度 摄氏度 攝氏度=degC 弧度 度/秒=deg/s 弧度/秒=rad/s
公斤 千克 克 毫克 伏 伏特 毫伏 安培 毫安 瓦 千瓦 赫兹 赫茲=Hz 赫 欧姆 帕 千帕 兆帕
转/分 转每分 升 毫升 像素 帧=frame`)

// textUnit is a unit of the table with its symbol, and 1 of it in the canonical unit.
type textUnit struct {
	symbol string
	unit   unit
	one    float64
}

var textUnits, bySymbol, byWord = textIndex()

func textIndex() (known []textUnit, bySymbol, byWord map[string]string) {
	bySymbol, byWord = map[string]string{}, map[string]string{}
	same := map[Quantity]string{} // the first symbol of a unit, by 1 of it
	for _, s := range textSymbols {
		bySymbol[s] = s
		if u, ok := ofSymbol(s); ok {
			one, _ := decimal{mantissa: "1"}.in(u)
			known = append(known, textUnit{s, u, one})
			if same[Quantity{one, u.canonical}] == "" {
				same[Quantity{one, u.canonical}] = s
			}
		}
	}
	add := func(to map[string]string, spellings []string) {
		for _, s := range spellings {
			s, symbol, _ := strings.Cut(s, "=")
			if symbol == "" {
				one, _ := Of(1, s)
				symbol = same[one]
			}
			to[s] = symbol
		}
	}
	add(bySymbol, textSpellings)
	add(byWord, textWords)
	return known, bySymbol, byWord
}

// ofSymbol is the unit of a symbol of a text, which may spell kΩ as kohm.
func ofSymbol(s string) (unit, bool) { return resolve(strings.ReplaceAll(s, "ohm", "Ω")) }

// Symbol returns the symbol of a unit in a text: "mN", "°C", or a product with one sign, "N*m".
// Case matters.
func Symbol(s string) (symbol string, ok bool) {
	symbol, ok = bySymbol[s]
	return symbol, ok
}

// WordSymbol returns the symbol of a name of a unit, in lower case or in Chinese: "minutes", "毫米".
func WordSymbol(s string) (symbol string, ok bool) {
	symbol, ok = byWord[s]
	return symbol, ok
}

// Numbers with more digits than these are not converted by [Base]: the precision
// of a Quantity could make two different ones equal.
const (
	maxBaseDigits       = 13
	maxBaseTempDecimals = 9
)

// Base converts a decimal number with a unit symbol to the canonical unit of its dimension, so
// that 1000 mm and 1 m are equal. Unknown units and numbers of over 13 digits are unchanged.
func Base(value, symbol string) (string, string) {
	d, n, ok := scan(value)
	whole, decimals, _ := strings.Cut(strings.TrimPrefix(d.mantissa, "-"), ".")
	if !ok || n != len(value) || len(strings.TrimLeft(whole+decimals, "0")) > maxBaseDigits {
		return value, symbol
	}
	u, ok := ofSymbol(symbol)
	if !ok || u.zero != nil && len(decimals)-d.exp > maxBaseTempDecimals {
		return value, symbol
	}
	f, ok := d.in(u)
	if !ok {
		return value, symbol
	}
	return strconv.FormatFloat(f, 'g', -1, 64), u.canonical
}

const (
	maxOtherDecimals = 6
	maxOther         = 1e7
)

// Others lists the quantity in the other units of texts, number and symbol without a space: for
// 1 m 100cm and 1000mm. Units without a short decimal form, and temperatures, are left out.
func Others(value, symbol string) (others []string) {
	base, canonical := Base(value, symbol)
	u, known := ofSymbol(symbol)
	number, err := strconv.ParseFloat(base, 64)
	if !known || err != nil || number == 0 || u.zero != nil {
		return nil
	}
	one, _ := decimal{mantissa: "1"}.in(u)
	for i := range textUnits {
		v := &textUnits[i]
		if v.unit.dims != u.dims || v.unit.zero != nil || v.one == one {
			continue
		}
		other := strconv.FormatFloat(number/v.one, 'f', maxOtherDecimals, 64)
		other = strings.TrimRight(strings.TrimRight(other, "0"), ".")
		// The division rounds: only what converts back is the same quantity.
		back, unit := Base(other, v.symbol)
		if back == base && unit == canonical && math.Abs(number/v.one) < maxOther {
			others = append(others, other+v.symbol)
		}
	}
	return others
}
