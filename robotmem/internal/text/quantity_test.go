package text_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/robotmem/robotmem-go/robotmem/internal/text"
)

func TestQuantities(t *testing.T) {
	type q = text.Quantity
	tests := []struct {
		name, in string
		want     []q
	}{
		{"none", "the gripper slipped", nil},
		{"equals", "grip_force=12.5 N", []q{{"12.5", "N", "grip_force"}}},
		{"colon without unit", "grip_force: 12.50", []q{{"12.5", "", "grip_force"}}},
		{"JSON", `{"grip_force": 12.5, "speed": -1}`, []q{{"12.5", "", "grip_force"}, {"-1", "", "speed"}}},
		{"two words", "the max speed is 0.5 m/s", []q{{"0.5", "m/s", "max_speed"}}},
		{"camel case", "GripForce=12.5", []q{{"12.5", "", "grip_force"}}},
		{"set to", "set the grip force to 12 N", []q{{"12", "N", "grip_force"}}},
		{"was set to", "speed was limited to about 0.5", []q{{"0.5", "", "speed"}}},
		{"many verbs", "the grip force must not be set to 12 N", []q{{"12", "N", "grip_force"}}},
		{"only verbs", "must not be set to 12 N", []q{{"12", "N", ""}}},
		{"of", "a force of 12N", []q{{"12", "N", "force"}}},
		{"comparison", "force < 12 N and speed > 3", []q{{"12", "N", "force"}, {"3", "", "speed"}}},
		{"Chinese", "把夹持力设为12.5牛，速度是 0.5 m/s", []q{{"12.5", "N", "夹持力"}, {"0.5", "m/s", "速度"}}},
		{"unbound", "slipped at-once with 12.5 N", []q{{"12.5", "N", ""}}},
		{"equal spellings", "+12.50 1.25e1 12.5 012.5", []q{{Value: "12.5"}, {Value: "12.5"}, {Value: "12.5"}, {Value: "12.5"}}},
		{"small", "1e-3 -.5 -0.0", []q{{Value: "0.001"}, {Value: "-0.5"}, {Value: "0"}}},
		{"never rounded", "0.1234567890123456789012345 1e400", []q{{Value: "0.1234567890123456789012345"}, {Value: "1e400"}}},
		{"thousands", "1,234,567.5", []q{{Value: "1234567.5"}}},
		{"units keep case", "5 mN 5 MN 5 Nm 5 N·m 5 N*m", []q{{"5", "mN", ""}, {"5", "MN", ""}, {"5", "Nm", ""}, {"5", "Nm", ""}, {"5", "Nm", ""}}},
		{"unicode units", "45° 3 µm 3 μm 20 °C 2 m/s² 90%", []q{{"45", "deg", ""}, {"3", "um", ""}, {"3", "um", ""}, {"20", "degC", ""}, {"2", "m/s2", ""}, {"90", "%", ""}}},
		{"unit words", "5 minutes 2 newtons", []q{{"5", "min", ""}, {"2", "N", ""}}},
		{"range", "10-20 N", []q{{"10", "", ""}, {"20", "N", ""}}},
		{"date and time", "2026-11-21 14:05", []q{{Value: "2026"}, {Value: "11"}, {Value: "21"}, {Value: "14"}, {Value: "5"}}},
		{"address", "192.168.1.10", []q{{Value: "192"}, {Value: "168"}, {Value: "1"}, {Value: "10"}}},
		{"in names", "joint3 640x480", []q{{Value: "3"}, {Value: "640"}, {Value: "480"}}},
		{"hex", "addr=0x1F", []q{{"31", "", "addr"}}},
		{"number words", "pick two boxes", []q{{Value: "2"}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, text.Quantities(tt.in)); diff != "" {
				t.Errorf("Quantities(%q) (-want +got):\n%s", tt.in, diff)
			}
		})
	}
}

func TestBaseTerms(t *testing.T) {
	for in, want := range map[string]string{
		"the shelf is 1000 mm wide": "the shelf is 1 m 1m wide",
		"货架宽1000毫米":                 "货 货架 架 架宽 宽 1 m 1m",
		"3 cups in 5 minutes":       "3 cups in 300 s 300s",
		"30 frames, joint3":         "30 frame 30frame joint3 joint 3",
	} {
		if got := strings.Join(text.BaseTerms(in), " "); got != want {
			t.Errorf("BaseTerms(%q): got %q, want %q", in, got, want)
		}
	}
}

func TestEquivalents(t *testing.T) {
	want := []text.Equivalent{
		{Term: "120s", Of: []string{"2", "minutes", "2min"}}, {Term: "120000ms", Of: []string{"2", "minutes", "2min"}},
		{Term: "0.5m", Of: []string{"50", "50cm"}}, {Term: "500mm", Of: []string{"50", "50cm"}}, {Term: "5dm", Of: []string{"50", "50cm"}}, {Term: "0.0005km", Of: []string{"50", "50cm"}},
	}
	if diff := cmp.Diff(want[:2], text.Equivalents("what took 2 minutes at joint3, 2 times?")[:2]); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if diff := cmp.Diff(want[2:6], text.Equivalents("50厘米的货架")[:4]); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	codes := []text.Equivalent{
		{Term: "0xc0380019", Of: []string{"c0380019"}}, {Term: "0x80070005", Of: []string{"80070005"}}, {Term: "80070057", Of: []string{"0x80070057"}}, {Term: "1f4a", Of: []string{"0x1f4a"}},
	}
	if diff := cmp.Diff(codes, text.Equivalents("error C0380019, 80070005, 0x80070057 or 0x1F4A at 0x12 of cafe")); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if got := text.Equivalents("grip 3 cups at 20 °C"); got != nil {
		t.Errorf("got %v, want none", got)
	}
	if got := text.Equivalents(strings.Repeat("5 m ", 1000)); len(got) > 64 {
		t.Errorf("got %d, want at most 64", len(got))
	}
}

func TestNegations(t *testing.T) {
	tests := []struct {
		in   string
		want int
	}{
		{"", 0},
		{"the gripper holds", 0},
		{"the gripper does not hold", 1},
		{"it doesn't, can’t and won't", 3},
		{"never grip without suction, no exceptions", 3},
		{"failed to reach; fails to hold; a failed grasp", 2},
		{"unable to move, cannot see", 2},
		{"see No. 3, no. 4", 0},
		{"knot note nothingness", 0},
		{"不要抓取玻璃", 1},
		{"绝不允许，无法到达，没有成功，禁止", 4},
		{"不锈钢无人机不仅识别特别快", 0},
		{"機器手臂無法到達", 1},
	}
	for _, tt := range tests {
		if got := text.Negations(tt.in); got != tt.want {
			t.Errorf("Negations(%q) = %d, want %d", tt.in, got, tt.want)
		}
	}
}

// Texts of the words that the rules know, in any order.
func TestQuantitiesOfAnyWords(t *testing.T) {
	words := strings.Fields("set to is was be must not never about only = : < - ( \" of force grip_force 力 设为 约 不 12 12.5 0x1F 10-20 1,000 N mm % two joint3 。 , ;")
	rng := rand.New(rand.NewPCG(1, 2))
	for range 200_000 {
		var b strings.Builder
		for range 1 + rng.IntN(9) {
			b.WriteString(words[rng.IntN(len(words))])
			if rng.IntN(5) > 0 {
				b.WriteByte(' ')
			}
		}
		in := b.String()
		for _, q := range text.Quantities(in) {
			if q.Value == "" {
				t.Fatalf("Quantities(%q) holds %+v", in, q)
			}
		}
	}
}
