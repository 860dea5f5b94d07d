package units_test

import (
	"bufio"
	"cmp"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/robotmem/robotmem-go/robotmem/internal/units"
)

// write is a quantity as a text, for reading it again.
func write(q units.Quantity) string {
	return strconv.FormatFloat(q.Value, 'g', -1, 64) + " " + q.Unit
}

func TestParse(t *testing.T) {
	for _, tt := range []struct {
		in   string
		want units.Quantity
	}{
		{"15 N", units.Quantity{Value: 15, Unit: "N"}},
		{"15N", units.Quantity{Value: 15, Unit: "N"}},
		{" 15 N ", units.Quantity{Value: 15, Unit: "N"}},
		{"15\u202fN", units.Quantity{Value: 15, Unit: "N"}},
		{"+.5 N", units.Quantity{Value: 0.5, Unit: "N"}},
		{"−5 N", units.Quantity{Value: -5, Unit: "N"}},
		{"-3.5e-2 kN", units.Quantity{Value: -35, Unit: "N"}},
		{"3.2 lbf", units.Quantity{Value: 14.2343091688336, Unit: "N"}},
		{"5 mN", units.Quantity{Value: 0.005, Unit: "N"}},
		{"5 MN", units.Quantity{Value: 5e6, Unit: "N"}},
		{"5 Millinewtons", units.Quantity{Value: 0.005, Unit: "N"}},
		{"90°", units.Quantity{Value: 1.5707963267949, Unit: "rad"}},
		{"60 rpm", units.Quantity{Value: 6.28318530717959, Unit: "rad/s"}},
		{"1.5 m/s^2", units.Quantity{Value: 1.5, Unit: "m/s²"}},
		{"20 %", units.Quantity{Value: 20, Unit: "%"}},
		{"20 °C", units.Quantity{Value: 293.15, Unit: "K"}},
		{"20 degrees Celsius", units.Quantity{Value: 293.15, Unit: "K"}},
		{"-459.67 °F", units.Quantity{Value: 0, Unit: "K"}},
		{"1e10 °C", units.Quantity{Value: 10000000273.15, Unit: "K"}},
		{"2 °C/min", units.Quantity{Value: 0.0333333333333333, Unit: "K/s"}},
		{"5 C", units.Quantity{Value: 5, Unit: "C"}},
		{"100 mAh", units.Quantity{Value: 360, Unit: "C"}},
		{"5 eV", units.Quantity{Value: 8.01088317e-19, Unit: "J"}},
		{"3 W/(m·K)", units.Quantity{Value: 3, Unit: "W/K/m"}},
		{"3 1/s", units.Quantity{Value: 3, Unit: "1/s"}},
		{"5 newton metres per degree", units.Quantity{Value: 286.478897565412, Unit: "N·m/rad"}},
		{"2 GiB", units.Quantity{Value: 1 << 31, Unit: "B"}},
		{"5 牛", units.Quantity{Value: 5, Unit: "N"}},
		{"12毫米", units.Quantity{Value: 0.012, Unit: "m"}},
		{"3米每秒", units.Quantity{Value: 3, Unit: "m/s"}},
		{"-0 N", units.Quantity{Value: 0, Unit: "N"}},
		{"1.000000000000005 N", units.Quantity{Value: 1.00000000000001, Unit: "N"}},
		{"0e99999 N", units.Quantity{Value: 0, Unit: "N"}},
		{"5 m/m", units.Quantity{Value: 5, Unit: "m/m"}},
		{"5 lbf·lbf", units.Quantity{Value: 98.9333776923537, Unit: "N²"}},
		{"3 blips", units.Quantity{Value: 3, Unit: "blips"}},
		{"3 Counts/rev", units.Quantity{Value: 3, Unit: "Counts/rev"}},
		{"3 个", units.Quantity{Value: 3, Unit: "个"}},
	} {
		t.Run(tt.in, func(t *testing.T) {
			if got, ok := units.Parse(tt.in); !ok || got != tt.want {
				t.Errorf("got %v, %v, want %v", got, ok, tt.want)
			}
		})
	}
}

func TestParseRefusesText(t *testing.T) {
	for _, in := range []string{
		"", " ", "N", "3", "1e5", "-", "12,5 N", "1,000 N", "1_000 N", "0x1F N", "5. N", "- 5 N", "NaN N", "Inf N",
		"12 N wet glass", "12 to 15 N", "12-15 N", "±5 N", "~5 N", "2026-11-21", "2026-11-21T10:30:00Z", "10:30", "5 pm", "11 AM",
		"v2", "1.2.3", "192.168.0.1", "5 o'clock", "3blips", "1st", "2D", "3 m2x", "5 ft 3 in", "12 V DC",
		"3e8f12ab", "3e8F", "007A", "550e8400-e29b-41d4-a716-446655440000", "550e8400e29b41d4a716446655440000",
		"1e400 N", "1e-400 N", "1e99999999999 N", "1e18446744073709551621 N", "1e308 kN", "1e25 °C", "1e10000 °C",
		"5 N/", "5 /N", "5 N//m", "5 (N", "5 W/(m", "5 W/(m·K))", "5 m^0", "5 1/", "5 m^99", "5 m^9·m",
		"5 W/(m·(K·s)", "5 ((m)", "1e40 °C", "1e300 °C", "-1e300 °F",
		"5 N" + strings.Repeat(" ", 64), strings.Repeat("9", 65), "5 \xff", "5 N\x00",
	} {
		t.Run(in, func(t *testing.T) {
			if got, ok := units.Parse(in); ok {
				t.Errorf("got %v, want no quantity", got)
			}
		})
	}
}

func TestHugeExponentIsRefused(t *testing.T) {
	for _, unit := range []string{"ft", "degC", "m", "psi"} {
		for _, exp := range []string{"-99999999999999999999", "99999999999999999999", "-9223372036854775808"} {
			if got, ok := units.Parse("5e" + exp + " " + unit); ok {
				t.Errorf("5e%s %s: got %v, want no quantity", exp, unit, got)
			}
			if value, symbol := units.Base("5e"+exp, unit); value != "5e"+exp || symbol != unit {
				t.Errorf("5e%s %s became %s %s", exp, unit, value, symbol)
			}
		}
	}
	long := "0." + strings.Repeat("0", 60_000) + "1"
	if value, _ := units.Base(long, "ft"); value != long {
		t.Error("a number of 60,000 digits was converted")
	}
}

func TestHugeTemperatureIsRefused(t *testing.T) {
	for exp := 22; exp < 330; exp++ {
		in := "-3e" + strconv.Itoa(exp) + " °C"
		if got, ok := units.Parse(in); ok {
			t.Errorf("%s: got %v, want no quantity", in, got)
		}
	}
}

// Each group is one quantity in several spellings.
func TestEqualQuantitiesAreEqual(t *testing.T) {
	for _, group := range [][]string{
		{"15 N", "0.015 kN", "15000 mN", "1.5e1 N", "15.000000000000000000000000 N", "15e6 µN", "15e6 μN", "15e6 uN", "1.5 daN", "0.000015 MN", "15 kg·m/s²", "1.5e6 dyn"},
		{"0.1 N", "0.0001 kN", "100 mN", "0.10000000000000000555 N"},
		{"1 lbf", "4.4482216152605 N", "16 ozf", "0.0044482216152605 kN", "0.45359237 kgf"},
		{"2 Nm", "2 N·m", "2 N⋅m", "2 N*m", "2 N m", "2 N.m", "2 N-m", "2 Newton-metre", "2 newton meters", "200 Ncm", "2000 mNm", "2 牛米"},
		{"1 in", "25.4 mm", "2.54 cm", "1 inch", "1 Inches", "1000 mil", "0.0254 metres", "0.0254 米"},
		{"1 psi", "1 lbf/in²", "1 PSI", "1 pound-force per square inch"},
		{"1 bar", "100 kPa", "0.1 MPa", "1000 mbar", "0.1 N/mm^2", "100000 N/m²", "100000 kg/m/s²"},
		{"1 atm", "760 torr", "101.325 kPa"},
		{"180 deg", "180°", "0.5 rev", "0.5 turns", "10800 arcmin", "200 gon", "180 度"},
		{"33.3 deg", "0.0925 rev", "1998 arcmin"},
		{"30 rpm", "0.5 rev/s", "180 deg/s", "30 r/min", "180 °/s", "180 degrees per second"},
		{"20 °C", "20 ℃", "20 degC", "20 celsius", "68 °F", "293.15 K", "293150 mK", "527.67 °R", "20 摄氏度"},
		{"36 km/h", "10 m/s", "10 m s-1", "10 m·s⁻¹", "10 metres per second", "36 kph"},
		{"1 kWh", "3.6 MJ", "3600000 W·s", "3600 kJ"},
		{"1 Ah", "3600 C", "1000 mAh", "1 A·h", "60 A min"},
		{"1 kΩ", "1000 ohms", "1 kΩ", "1000 V/A"},
		{"1 h", "60 min", "3600 s", "1 hour", "3.6e6 ms", "1 小时"},
		{"1 L", "1000 mL", "1 dm³", "1000 cm^3", "0.001 m³", "1000 cc"},
		{"1 W/m/K", "1 W/(m·K)", "1 W/(m K)"},
		{"8 Mbit/s", "1 MB/s", "8 Mbps"},
		{"1 kg", "1000 g", "1 公斤", "2 斤", "1 千克", "0.001 t"},
		{"1 GHz", "1000 MHz", "1e9 hertz"},
	} {
		want, ok := units.Parse(group[0])
		if !ok {
			t.Errorf("%s is no quantity", group[0])
		}
		for _, in := range group[1:] {
			if got, ok := units.Parse(in); !ok || got != want {
				t.Errorf("%s is %v, %v; %s is %v", in, got, ok, group[0], want)
			}
		}
	}
}

func TestCompareOnlyWithinAKind(t *testing.T) {
	for _, tt := range []struct{ a, b string }{
		{"5 Nm", "5 J"}, {"5 Hz", "5 rad/s"}, {"5 Hz", "5 Bq"}, {"5 Hz", "5 1/s"}, {"5 W", "5 VA"}, {"5 Gy", "5 Sv"},
		{"5 %", "5 dB"}, {"5 °C", "5 C"}, {"5 m", "5 M"}, {"5 blips", "5 N"}, {"5 blips", "5 Blips"}, {"5 rad", "5 sr"}, {"5 kg·cm", "5 kgf·cm"},
	} {
		a, okA := units.Parse(tt.a)
		b, okB := units.Parse(tt.b)
		if !okA || !okB {
			t.Errorf("%s, %s: got %v, %v, want two quantities", tt.a, tt.b, okA, okB)
		}
		if a.Unit == b.Unit {
			t.Errorf("%s compares with %s: both are in %s", tt.a, tt.b, a.Unit)
		}
	}
}

func TestCompare(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want int
	}{
		{"12.5 N", "15 N", -1}, {"0.0125 kN", "15 N", -1}, {"3.2 lbf", "15 N", -1}, {"16 kN", "15 N", 1}, {"0.015 kN", "15 N", 0},
		{"3 blips", "5 blips", -1}, {"1 mm", "1 in", -1}, {"0 °C", "0 °F", 1}, {"-40 °C", "-40 °F", 0}, {"0 K", "-273.15 °C", 0},
	} {
		a, _ := units.Parse(tt.a)
		b, _ := units.Parse(tt.b)
		if got := cmp.Compare(a.Value, b.Value); a.Unit != b.Unit || got != tt.want {
			t.Errorf("%s and %s: got %d in %s and %s, want %d", tt.a, tt.b, got, a.Unit, b.Unit, tt.want)
		}
	}
}

func TestOf(t *testing.T) {
	for _, tt := range []struct {
		value float64
		unit  string
		want  units.Quantity
		ok    bool
	}{
		{12.5, "N", units.Quantity{Value: 12.5, Unit: "N"}, true},
		{0.1 + 0.2, " N ", units.Quantity{Value: 0.3, Unit: "N"}, true},
		{0.0125, "kN", units.Quantity{Value: 12.5, Unit: "N"}, true},
		{5, "pm", units.Quantity{Value: 5e-12, Unit: "m"}, true},
		{5, "blips", units.Quantity{Value: 5, Unit: "blips"}, true},
		{math.MaxFloat64, "N", units.Quantity{}, false}, // rounds up beyond the largest
		{1e308, "N", units.Quantity{Value: 1e308, Unit: "N"}, true},
		{5, "", units.Quantity{}, false},
		{5, "wet glass", units.Quantity{}, false},
		{5, "3 N", units.Quantity{}, false},
		{5, strings.Repeat("b", 65), units.Quantity{}, false},
		{math.NaN(), "N", units.Quantity{}, false},
		{math.Inf(-1), "N", units.Quantity{}, false},
		{math.MaxFloat64, "kN", units.Quantity{}, false},
	} {
		if got, ok := units.Of(tt.value, tt.unit); ok != tt.ok || got != tt.want {
			t.Errorf("%v %q: got %v, %v, want %v, %v", tt.value, tt.unit, got, ok, tt.want, tt.ok)
		}
	}
}

// testdata/pint.tsv is what the Python library pint says of the same units.
func TestAgreesWithPint(t *testing.T) {
	file, err := os.Open("testdata/pint.tsv")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	lines := 0
	for sc := bufio.NewScanner(file); sc.Scan(); lines++ {
		f := strings.Split(sc.Text(), "\t")
		want, err := strconv.ParseFloat(f[3], 64)
		if err != nil {
			t.Fatal(err)
		}
		value, err := strconv.ParseFloat(f[1], 64)
		if err != nil {
			t.Fatal(err)
		}
		// Both are within half of the fifteenth digit.
		got, ok := units.Of(value, f[0])
		if !ok || got.Unit != f[2] || math.Abs(got.Value-want) > 5.5e-15*math.Abs(want) {
			t.Errorf("%s %s: got %v, %v, want %v %s", f[1], f[0], got, ok, want, f[2])
		}
	}
	if lines < 1000 {
		t.Errorf("got %d lines, want more than 1000", lines)
	}
}

func TestOrderIsKept(t *testing.T) {
	for _, unit := range []string{"N", "lbf", "psi", "deg", "rpm", "°F", "°C", "N·m/deg", "km/h", "torr"} {
		last := math.Inf(-1)
		for i := -5000; i < 5000; i++ {
			text := strconv.FormatFloat(float64(i)/7, 'f', 7, 64) + " " + unit
			q, ok := units.Parse(text)
			if !ok || q.Value <= last {
				t.Fatalf("%s: got %v, %v after %v", text, q, ok, last)
			}
			last = q.Value
			if again, ok := units.Parse(write(q)); !ok || again != q {
				t.Fatalf("%s: %v is read again as %v, %v", text, q, again, ok)
			}
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"15 N", "-3.5e-2 kN", "90°", "1.5 m/s^2", "98.6 °F", "3 W/(m·K)", "3 blips", "9e307 mi", "5e-324 fN", "3 1/s", "7米每秒", "1e21 °C", "99999999999999999999 psi", "2 TiB", "1 m^9·s^-9", "1 lbf·ft^4", "2026-11-21"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		q, ok := units.Parse(s)
		if !ok {
			if q != (units.Quantity{}) {
				t.Errorf("%q: got %v and not ok", s, q)
			}
			return
		}
		if math.IsNaN(q.Value) || math.IsInf(q.Value, 0) || q.Unit == "" {
			t.Errorf("%q: got %v", s, q)
		}
		if again, ok := units.Parse(write(q)); !ok || again != q {
			t.Errorf("%q: %v is read again as %v, %v", s, q, again, ok)
		}
		if again, ok := units.Of(q.Value, q.Unit); !ok || again != q {
			t.Errorf("%q: %v is made again as %v, %v", s, q, again, ok)
		}
		if more, ok := units.Parse(strings.Repeat(" ", 65) + s); ok {
			t.Errorf("%q behind 65 spaces: got %v", s, more)
		}
	})
}

func BenchmarkParse(b *testing.B) {
	for _, s := range []string{
		"red cup on the table", "2026-11-21T10:00:00Z", "550e8400-e29b-41d4-a716-446655440000", "12 pick up the red cup now", "12 N wet glass",
		"15 N", "12.5 kN", "12.345 psi", "98.6 °F", "90 deg", "1.5 m/s^2", "5 milliwatts", "12.5 newton metres", "3 blips",
	} {
		b.Run(s, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				units.Parse(s)
			}
		})
	}
}
