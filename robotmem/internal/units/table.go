package units

import (
	_ "embed"
	"maps"
	"math/big"
	"strings"
)

// Sets of prefixes that a unit may take.
const metric, binary = "metric", "binary"

// rows are the units, a line each; the file says what stands in it.
//
//go:embed units.txt
var rows string

// prefix multiplies a unit.
type prefix struct {
	symbols, names string
	set            string
	factor         factor
}

// prefixes from femto to peta: robots measure nothing beyond, and "am" and "Em" are words.
var prefixes = []prefix{
	{"f", "femto", metric, ten(-15)}, {"p", "pico", metric, ten(-12)}, {"n", "nano 纳", metric, ten(-9)}, {
		"u µ μ", "micro 微", metric, ten(-6),
	},
	{"m", "milli 毫", metric, ten(-3)}, {"c", "centi 厘", metric, ten(-2)}, {"d", "deci 分", metric, ten(-1)}, {
		"da", "deca", metric, ten(1),
	},
	{"h", "hecto", metric, ten(2)}, {"k", "kilo 千", metric, ten(3)}, {"M", "mega 兆", metric, ten(6)}, {
		"G", "giga", metric, ten(9),
	},
	{"T", "tera", metric, ten(12)}, {"P", "peta", metric, ten(15)},
	{"Ki", "kibi", binary, two(10)}, {"Mi", "mebi", binary, two(20)}, {"Gi", "gibi", binary, two(30)}, {
		"Ti", "tebi", binary, two(40),
	},
}

func ten(power int) factor { return factor{exp: power} }
func two(power int) factor { return factor{ratio: new(big.Rat).SetInt64(1 << power)} }

// vocabulary finds units and prefixes by their spelling.
type vocabulary struct {
	units    map[string]*unit
	prefixes map[string]*prefix
	longest  int // prefix, in bytes
}

var symbols, names = index()

func index() (symbols, names vocabulary) {
	empty := func() vocabulary {
		return vocabulary{units: map[string]*unit{}, prefixes: map[string]*prefix{}}
	}
	symbols, names = empty(), empty()

	for row := range strings.Lines(rows) {
		if row == "\n" || row[0] == '#' {
			continue
		}

		// The last cells of a row may be left out.
		cells := strings.Split(row+"||", "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		d := parseDims(cells[2])
		u := &unit{canonical: d.String(), dims: d, factor: parseFactor(cells[3]), takes: cells[4]}
		if cells[5] != "" {
			u.zero = parseRatio(cells[5])
		}

		for s := range strings.FieldsSeq(cells[0]) {
			symbols.units[s] = u
		}

		for s := range strings.FieldsSeq(cells[1]) {
			names.units[s] = u
			names.units[strings.ReplaceAll(s, "-", " ")] = u
		}
	}

	// Plurals come after all rows, so that a name with an s of its own keeps its unit. A clone, because the loop adds
	// names.
	for s, u := range maps.Clone(names.units) {
		if _, own := names.units[s+"s"]; !own && len(s) > 2 {
			names.units[s+"s"] = u // the plural
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
	if u, ok := v.units[s]; ok {
		return *u, true
	}

	for n := 1; n <= v.longest && n < len(s); n++ {
		p, ok := v.prefixes[s[:n]]
		if !ok {
			continue
		}
		if known, ok := v.units[s[n:]]; ok && strings.Contains(known.takes, p.set) {
			u := *known
			u.factor = u.factor.times(p.factor)
			return u, true
		}
	}

	return unit{}, false
}
