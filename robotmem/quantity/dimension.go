package quantity

import (
	"slices"
	"strconv"
)

// dims are the powers of the base kinds. A kind is finer than a dimension of
// the SI: the newton is one of its own, so that a torque (N·m) and an energy
// (W·s) are different though both are kg·m²/s². What is the same by its nature
// has one form: Pa is N/m², C is A·s, Ω is V/A.
type dims [kinds]int8

// The base kinds, in the order in which a product names them.
const (
	kg = iota
	newton
	watt
	volt
	ampere
	lumen
	candela
	mole
	kelvin
	hertz
	becquerel
	gray
	sievert
	octet
	pixel
	percent
	decibel
	metre
	second
	radian
	steradian
	kinds
)

var kindNames = [kinds]string{
	"kg", "N", "W", "V", "A", "lm", "cd", "mol", "K", "Hz", "Bq", "Gy", "Sv",
	"B", "px", "%", "dB", "m", "s", "rad", "sr",
}

// maxPower bounds the power of a kind, to one digit.
const maxPower = 9

// derived are the products with a name.
var derived = map[dims]string{
	pascal:  "Pa",
	joule:   "J",
	coulomb: "C",
	ohm:     "Ω",
	siemens: "S",
	weber:   "Wb",
	tesla:   "T",
	henry:   "H",
	farad:   "F",
	lux:     "lx",
}

var (
	pascal  = dims{newton: 1, metre: -2}
	joule   = dims{watt: 1, second: 1}
	coulomb = dims{ampere: 1, second: 1}
	ohm     = dims{volt: 1, ampere: -1}
	siemens = dims{ampere: 1, volt: -1}
	weber   = dims{volt: 1, second: 1}
	tesla   = dims{volt: 1, second: 1, metre: -2}
	henry   = dims{volt: 1, second: 1, ampere: -1}
	farad   = dims{ampere: 1, second: 1, volt: -1}
	lux     = dims{lumen: 1, metre: -2}

	torque = dims{newton: 1, metre: 1}
	volume = dims{metre: 3}
	speed  = dims{metre: 1, second: -1}
	accel  = dims{metre: 1, second: -2}
	spin   = dims{radian: 1, second: -1}
	rate   = dims{octet: 1, second: -1}
)

// mechanical are forces and pressures written with the kilogram.
var mechanical = map[dims]dims{
	{kg: 1, metre: 1, second: -2}:  {newton: 1},
	{kg: 1, metre: -1, second: -2}: pascal,
}

// String is the canonical unit: "N", "N·m", "m/s²", "W/m/K", "1/s".
func (d dims) String() string {
	if same, ok := mechanical[d]; ok {
		d = same
	}
	if name, ok := derived[d]; ok {
		return name
	}
	if i := slices.Index(d[:], 1); i >= 0 && d == single(i) {
		return kindNames[i]
	}
	var room [64]byte
	text := room[:0]
	for i, p := range d {
		if p > 0 {
			if len(text) > 0 {
				text = append(text, "·"...)
			}
			text = appendPower(text, i, p)
		}
	}
	if len(text) == 0 {
		text = append(text, '1')
	}
	for i, p := range d {
		if p < 0 {
			text = append(text, '/')
			text = appendPower(text, i, -p)
		}
	}
	return string(text)
}

func single(kind int) (d dims) {
	d[kind] = 1
	return d
}

// appendPower writes a kind with its positive power.
func appendPower(text []byte, kind int, power int8) []byte {
	text = append(text, kindNames[kind]...)
	switch {
	case power == 2:
		text = append(text, "²"...)
	case power == 3:
		text = append(text, "³"...)
	case power > 3:
		text = append(text, '^')
		text = strconv.AppendInt(text, int64(power), 10)
	}
	return text
}
