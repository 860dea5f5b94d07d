package text_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/robotmem/robotmem-go/robotmem/internal/text"
	"github.com/robotmem/robotmem-go/robotmem/robotmemtest/rounds"
)

// samples are difficult texts for a tokenizer, and some that robots write.
var samples = []string{
	"", " ", "\x00", "a\x00b", "\xff\xfe\xc3\x28", "\"quoted\" AND (x OR y) NEAR(z, 3) *^-:+ col:term",
	"grip_force=12.5N slipped; grip_force=14 N held (retry 2/3)",
	"JointState from /joint_states and sensor_msgs/JointState at 14:05:30 on 2026-11-21T14:05:30.250Z",
	"src/grasp/plan.py:42 HTTPServer v1.2.3 192.168.1.10 ur5e joint3 __init__.py 0x1F",
	"I'm sure the robot's arm can't, won't, doesn't reach; rock'n'roll d'Artagnan O'Neill's ''' 'a' x'",
	"-0.5 +12.5 1,000 1e-3 1.5E+6 .5 -.5 5. 1..2 1.2.3.4.5 10-20 3--4 1e999 1e99999 00012.500",
	"45° 20 ℃ 5㎜ 3 µm 4.7 kΩ 1.2 N·m 0.5 m/s² 90% 100 km/h 2 kg*m^2/s 5 m/m/m/m/m/m",
	"机器人以 12.5N 的夹持力抓取红色方块，第３次成功。機器手臂無法到達目標位置",
	"把手", "力", "々〇", "ロボットアームが掴んだ コーヒー ｺｰﾋｰ", "로봇 팔이 컵을 잡았다", "หุ่นยนต์จับถ้วย", "रोबोट ने कप पकड़ा", "שָׁלוֹם مَرْحَبًا",
	"Café naïve Ångström İstanbul ΣΊΣΥΦΟΣ Straße ЁЖ й ﬁne ½ 6½ 10² ①② Ǡ ẞ",
	"e\u0301\u0301\u0301 \u0301x a\u200db so\u00adft 👩‍🔧🤖 \u2028 \ufffd",
	"___ _a_ a_ _ .. ./x/ ../y //z// a:b:c 1:2:3 a.b.c- -a- a--b https://example.org/x?y=1&z=2#f C++ C# node.js",
	strings.Repeat("a", 200), strings.Repeat("é", 100), strings.Repeat("aB", 100), strings.Repeat("x_", 80), strings.Repeat("抓", 1100),
}

func TestTerms(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"words", "The gripper slipped!", "the gripper slipped"},
		{"full width", "Ｇｒｉｐ １２", "grip 12"},
		{"diacritics", "Café ΣΊΣΥΦΟΣ", "cafe σισυφοσ"},
		{"snake case", "grip_force", "grip_force grip force"},
		{"camel case", "JointState", "jointstate joint state"},
		{"acronym", "HTTPServer IDs", "httpserver http server ids"},
		{"topic", "/cmd_vel", "cmd_vel cmd vel"},
		{"path", "src/grasp/plan.py", "src/grasp/plan.py src grasp plan.py plan py"},
		{"ros type", "sensor_msgs/JointState", "sensor_msgs/jointstate sensor_msgs sensor msgs jointstate joint state"},
		{"numbered name", "joint3 ur5e v1", "joint3 joint 3 ur5e ur 5e v1"},
		{"hyphens", "pick-and-place", "pick and place"},
		{"part number", "UR-5", "ur-5 ur5 ur 5"},
		{"contractions", "can't won’t doesn't robot's we're", "can not will not does not robot we"},
		{"end of sentence", "It fell. Then: stop/", "it fell then stop"},
		{"unit glued", "12.5N", "12.5 n 12.5n"},
		{"unit apart", "12.5 N", "12.5 n 12.5n"},
		{"unit in lower case", "12.5n", "12.5 n 12.5n"},
		{"unit as word", "5 minutes", "5 minutes 5min"},
		{"unit as symbol", "5 min", "5 min 5min"},
		{"speed", "0.5 m/s", "0.5 m/s 0.5m/s"},
		{"torque", "1.2 N·m", "1.2 nm 1.2nm"},
		{"percent", "90%", "90 pct 90pct"},
		{"degrees", "45° 20℃", "45 deg 45deg 20 degc 20degc"},
		{"not a unit", "2 in a row, 3 lines", "2 in a row 3 lines"},
		{"Chinese unit", "12.5牛", "12.5 12.5n 牛"},
		{"sign", "-0.5 +12.5 a-5", "-0.5 12.5 a-5 a5 a 5"},
		{"exponent", "1e-3", "1e-3 0.001"},
		{"thousands", "1,000", "1000"},
		{"address", "192.168.1.10", "192.168.1.10 192 168 1 10"},
		{"version", "v1.2.3", "v1.2.3 v1 2 3"},
		{"date", "2026-11-21", "2026-11-21 2026 11 21"},
		{"time", "14:05", "14:05 14 05"},
		{"timestamp", "2026-11-21T14:05:30Z", "2026-11-21 2026 11 21 14:05:30 14:05 14 05 30"},
		{"one character", "力", "力"},
		{"Chinese", "抓取红", "抓 抓取 取 取红 红"},
		{"Hangul", "로봇", "로 로봇 봇"},
		{"kana", "ロボ", "ロ ロボ ボ"},
		{"operators", `"a" AND b* NEAR(c) ^d`, "a and b bstar near c d"},
		{"nothing", "?! \x00 \xff 🤖", "🤖"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, strings.Join(text.Terms(tt.in), " ")); diff != "" {
				t.Errorf("Index(%q) (-want +got):\n%s", tt.in, diff)
			}
		})
	}
}

func TestTermsOfBothSpellingsMeet(t *testing.T) {
	tests := []struct{ name, query, doc string }{
		{"one Chinese character", "力", "夹持力不足"},
		{"two Chinese characters across words", "持力", "夹持力不足"},
		{"traditional", "機器", "機器手臂"},
		{"Korean stem", "로봇", "로봇이 잡았다"},
		{"part of an identifier", "force", "grip_force=3"},
		{"identifier by its words", "joint state", "JointState"},
		{"last path element", "plan.py", "see src/grasp/plan.py"},
		{"date of a timestamp", "2026-11-21", "at 2026-11-21T14:05:30Z"},
		{"minute of a time", "14:05", "at 14:05:30"},
		{"exponent", "0.001", "tolerance 1e-3"},
		{"negation", "not", "it doesn't reach"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			content, _ := text.Query(tt.query)
			terms := text.Terms(tt.doc)
			if len(content) == 0 {
				t.Fatalf("Query(%q) has no content", tt.query)
			}
			for _, c := range content {
				if !slices.Contains(terms, c) && !strings.Contains(c, " ") && !slices.ContainsFunc(terms, func(s string) bool { return text.Stem(s) == text.Stem(c) }) {
					t.Errorf("%q of Query(%q) is not in Terms(%q) = %q", c, tt.query, tt.doc, terms)
				}
			}
		})
	}
}

func TestQuery(t *testing.T) {
	tests := []struct{ name, in, content, stop string }{
		{"question", "What is the grip force?", "grip force", "what is the"},
		{"same stem once", "running runs run", "running", ""},
		{"stop words only", "what is it", "", "what is it"},
		{"negation is content", "do not grip", "not grip", "do"},
		{"Chinese", "夹爪的力是多少？", "夹 夹爪 爪 力", "的 是 多 多少 少"},
		{"Japanese", "一個の部品", "一 一個 の 部 部品 品", "個"},
		{"kana in pairs", "スイッチを切る", "スイ イッ ッチ チを 切 る", ""},
		{"Hangul in pairs, short words also by character", "힘이 그리퍼를", "힘 힘이 이 그리 리퍼 퍼를", ""},
		{"Chinese stop words only", "为什么", "", "为 为什 什 什么 么"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			content, stop := text.Query(tt.in)
			if got := strings.Join(content, " "); got != tt.content {
				t.Errorf("content of %q: got %q, want %q", tt.in, got, tt.content)
			}
			if got := strings.Join(stop, " "); got != tt.stop {
				t.Errorf("stop of %q: got %q, want %q", tt.in, got, tt.stop)
			}
		})
	}
}

func TestStopSparesNegations(t *testing.T) {
	for _, w := range strings.Fields("not no never nor none nothing cannot without 不 没 未 无 别 勿 不要 没有 无法") {
		if text.Stop(w) {
			t.Errorf("Stop(%q) = true: a negation tells two memories apart", w)
		}
	}
	for _, w := range strings.Fields("the is what 的 了 什么") {
		if !text.Stop(w) {
			t.Errorf("Stop(%q) = false", w)
		}
	}
}

// The time is linear in the length for hostile texts too.
func TestTermsIsLinear(t *testing.T) {
	if testing.Short() {
		t.Skip("a measure of time, which -race would falsify")
	}
	size := rounds.Of(1<<16, 1<<20)
	for _, unit := range []string{
		"a", "aB", "a.", "a_", "a'", "a-", "1", "1,000", "1.", "1e", "1:", "5 m/", "-", ".", "'", "/", "=1", "is 1 ", "n't", "é", "e\u0301",
		"抓", "不", "的", "ロ", "☃", "\xff", "\u0301", "²", "1²",
	} {
		s := strings.Repeat(unit, size/len(unit))
		start := time.Now()
		text.Terms(s)
		terms := time.Since(start)
		text.Quantities(s)
		text.Negations(s)
		all := time.Since(start)
		t.Logf("%-8q Terms %v, with Quantities and Negations %v", unit, terms, all)
		if all > 10*time.Second { // a hundred times what it takes: only a square is caught
			t.Errorf("%d bytes of %q took %v", size, unit, all)
		}
	}
}

const fact = "grip_force=12.5 N held the 0.4 kg mug without slipping, but above 0.5 m/s the wrist joint overshoots; approach from the left at 30 degrees."

func BenchmarkTerms(b *testing.B) {
	chinese := "机器人以 12.5N 的夹持力抓取红色方块时没有打滑，但速度超过 0.5 m/s 后手腕关节会过冲，应当从左侧以三十度角接近目标。"
	text.Terms(chinese) // the dictionary is loaded once, not timed
	for _, bench := range []struct{ name, s string }{
		{"fact", fact},
		{"16KiB", strings.Repeat(fact+" ", 16<<10/len(fact))},
		{"Chinese", chinese},
		{"1MiB", strings.Repeat(fact+" ", 1<<20/len(fact))},
	} {
		b.Run(bench.name, func(b *testing.B) {
			b.SetBytes(int64(len(bench.s)))
			b.ReportAllocs()
			for b.Loop() {
				text.Terms(bench.s)
			}
		})
	}
}

func BenchmarkQuantities(b *testing.B) {
	b.SetBytes(int64(len(fact)))
	for b.Loop() {
		text.Quantities(fact)
	}
}
