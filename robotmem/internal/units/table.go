package units

import (
	_ "embed"
	"strconv"
	"strings"
)

type prefixSet uint8

const (
	metric prefixSet = 1 << iota
	binary
)

// rows are the units, a line each; the file says what stands in it.
//
//go:embed units.txt
var rows string

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
		return vocabulary{units: map[string]*unit{}, prefixes: map[string]*prefix{}}
	}
	symbols, names = empty(), empty()
	names.plural = true
	for row := range strings.Lines(rows) {
		if row == "\n" || row[0] == '#' {
			continue
		}
		cells := strings.Split(row+"||", "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		d := parseDims(cells[2])
		u := &unit{canonical: d.String(), dims: d, factor: parseFactor(cells[3])}
		u.zero, _ = strconv.ParseUint(cells[5], 10, 64) // 0 if there is none
		for name := range strings.FieldsSeq(cells[4]) {
			u.takes |= map[string]prefixSet{"metric": metric, "binary": binary}[name]
		}
		for s := range strings.FieldsSeq(cells[0]) {
			symbols.units[s] = u
		}
		for s := range strings.FieldsSeq(cells[1]) {
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
