package units_test

import (
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/robotmem/robotmem-go/robotmem/internal/units"
)

func TestSymbols(t *testing.T) {
	for in, want := range map[string]string{
		"mm": "mm", "mN": "mN", "MN": "MN", "N*m": "Nm", "N*mm": "Nmm", "°": "deg", "°C": "degC", "kΩ": "kohm", "hrs": "h", "kph": "km/h",
	} {
		if got, ok := units.Symbol(in); !ok || got != want {
			t.Errorf("Symbol(%q): got %q, %v, want %q", in, got, ok, want)
		}
	}
	for in, want := range map[string]string{
		"minutes": "min", "millimetre": "mm", "newton-meters": "Nm", "inches": "in", "rev/min": "rpm", "days": "d", "frames": "frame",
		"毫米": "mm", "分鐘": "min", "牛·米": "Nm", "米/秒": "m/s", "公分": "cm", "转每分": "rpm",
	} {
		if got, ok := units.WordSymbol(in); !ok || got != want {
			t.Errorf("WordSymbol(%q): got %q, %v, want %q", in, got, ok, want)
		}
	}
	for _, in := range []string{"", "T2", "d", "turns", "blip", "nM"} {
		if got, ok := units.Symbol(in); ok {
			t.Errorf("Symbol(%q): got %q, want none", in, got)
		}
	}
}

func TestBase(t *testing.T) {
	for _, tt := range []struct{ value, symbol, want string }{
		{"1000", "mm", "1 m"},
		{"1", "m", "1 m"},
		{"-0.5", "km", "-500 m"},
		{"1001", "mm", "1.001 m"},
		{"36", "km/h", "10 m/s"},
		{"2", "h", "7200 s"},
		{"3", "d", "259200 s"},
		{"4.7", "kohm", "4700 Ω"},
		{"5", "Nm", "5 N·m"},
		{"2", "kg*m2/s2", "2 kg·m²/s²"},
		{"90", "%", "90 %"},
		{"30", "fps", "30 fps"},
		{"3", "dBm", "3 dBm"},
		{"0.12345678901234567890", "mm", "0.12345678901234567890 mm"},
		{"0.00000000001", "degC", "0.00000000001 degC"},
		{"1e400", "km", "1e400 km"},
	} {
		value, unit := units.Base(tt.value, tt.symbol)
		if got := value + " " + unit; got != tt.want {
			t.Errorf("%s %s: got %s, want %s", tt.value, tt.symbol, got, tt.want)
		}
	}
}

// Numbers that differ in their last digit differ in the canonical unit.
func TestBaseKeepsNumbersApart(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for _, symbol := range []string{"mm", "ft", "lbf", "psi", "deg", "rpm", "km/h", "degC", "degF", "kWh", "atm", "mph", "Nmm"} {
		for range 2000 {
			digits := 1 + rnd.IntN(13)
			n := rnd.Int64N(pow(digits)-1) + 1
			shift := rnd.IntN(9)
			a, _ := units.Base(decimal(n, shift), symbol)
			b, _ := units.Base(decimal(n-1, shift), symbol)
			if a == b {
				t.Errorf("%s and %s %s are both %s", decimal(n, shift), decimal(n-1, shift), symbol, a)
			}
		}
	}
}

func pow(n int) int64 {
	p := int64(1)
	for range n {
		p *= 10
	}
	return p
}

// decimal is n with so many decimals.
func decimal(n int64, decimals int) string {
	s := strconv.FormatInt(n, 10)
	if pad := decimals + 1 - len(s); pad > 0 {
		s = strings.Repeat("0", pad) + s
	}
	if decimals == 0 {
		return s
	}
	return s[:len(s)-decimals] + "." + s[len(s)-decimals:]
}

func TestOthers(t *testing.T) {
	for _, tt := range []struct{ value, symbol, want string }{
		{"1", "m", "1000mm 100cm 10dm 0.001km 1000000um"},
		{"12.5", "N", "12500mN 0.0125kN"},
		{"1", "ft", "0.3048m 304.8mm 30.48cm 3.048dm 304800um"},
		{"2", "h", "7200s 7200000ms 120min"},
		{"-3", "kg", "-3000g -3000000mg"},
		{"1", "Nm", "1000mNm 0.001kNm 1000Nmm 100Ncm"},
		{"90", "deg", ""},
		{"20", "degC", ""},
		{"18", "K", ""},
		{"30", "fps", ""},
		{"0", "m", ""},
		{"1e300", "m", ""},
	} {
		got := strings.Join(units.Others(tt.value, tt.symbol), " ")
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s %s (-want +got):\n%s", tt.value, tt.symbol, diff)
		}
	}
}

func BenchmarkOthers(b *testing.B) {
	for b.Loop() {
		units.Others("12.5", "N")
	}
}

func BenchmarkBase(b *testing.B) {
	for b.Loop() {
		units.Base("12.5", "kN")
	}
}
