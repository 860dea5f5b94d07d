package units

import (
	_ "embed"
	"math"
	"strconv"
	"strings"
)

// textLists are the units of running text: symbols, other spellings of them, and words. The file says
// what stands in each list.
//
//go:embed text.txt
var textLists string

// textUnit is a unit of the table with its symbol, and 1 of it in the canonical unit.
type textUnit struct {
	symbol string
	unit   unit
	one    float64
}

var textUnits, bySymbol, byWord = textIndex()

func textIndex() (known []textUnit, bySymbol, byWord map[string]string) {
	lists := map[string][]string{}

	for line := range strings.Lines(textLists) {
		name, list, _ := strings.Cut(line, ":")
		lists[name] = append(lists[name], strings.Fields(list)...)
	}

	bySymbol, byWord = map[string]string{}, map[string]string{}

	// same maps 1 of a unit to its first symbol. Spellings are equal to a symbol if 1 of both is the same quantity.
	same := map[Quantity]string{}

	for _, s := range lists["symbols"] {
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
	add(bySymbol, lists["spellings"])
	add(byWord, lists["words"])

	return known, bySymbol, byWord
}

// ofSymbol returns the unit of a symbol of a text, which may spell kΩ as kohm.
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
	if !ok || n != len(value) || n > maxText || len(strings.TrimLeft(whole+decimals, "0")) > maxBaseDigits {
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

		// The division rounds, so only a number that converts back is the same quantity.
		back, unit := Base(other, v.symbol)
		if back == base && unit == canonical && math.Abs(number/v.one) < maxOther {
			others = append(others, other+v.symbol)
		}
	}

	return others
}
