package robotmem

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestVisible(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"plain", "grip 12.5 N\n\tat 30 °C\r\n", "grip 12.5 N\n\tat 30 °C\r\n"},
		{"an escape of a terminal", "a\x1b[2Jb\x7f\u0085", `a\u{1b}[2Jb\u{7f}\u{85}`},
		{"right to left override", "safe \u202etxet\u202c", `safe \u{202e}txet\u{202c}`},
		{"isolates and marks", "\u2066a\u2069\u200e\u200f\u061c", `\u{2066}a\u{2069}\u{200e}\u{200f}\u{61c}`},
		{"tags", "hi\U000E0001\U000E0069\U000E007F", `hi\u{e0001}\u{e0069}\u{e007f}`},
		{"zero width", "a\u200bb\u2060c\ufeffd\u00ade\u034ff\u3164g", `a\u{200b}b\u{2060}c\u{feff}d\u{ad}e\u{34f}f\u{3164}g`},
		{"selectors that carry bytes", "😀\U000E0121\U000E0122", `😀\u{e0121}\u{e0122}`},
		{"more than one selector", "葛\U000E0100\U000E0101", "葛\U000E0100" + `\u{e0101}`},
		{"selectors after letters", "i\ufe00g\ufe01n", `i\u{fe00}g\u{fe01}n`},
		{"joiners without letters", "a \u200d b\u200c", `a \u{200d} b\u{200c}`},
		{"a row of joiners", "a\u200d\u200db", `a\u{200d}\u{200d}b`},
		{"a selector of a joiner", "a\u200d\ufe0fb", `a\u{200d}\u{fe0f}b`},
		{"invisible operators, deprecated", "\u2063\u206a\ufff9", `\u{2063}\u{206a}\u{fff9}`},
		{"an emoji family", "👨‍👩‍👧 ❤️‍🔥 👍🏽 1️⃣ 🏳️‍🌈", "👨‍👩‍👧 ❤️‍🔥 👍🏽 1️⃣ 🏳️‍🌈"},
		{"Persian", "می\u200cخواهم", "می\u200cخواهم"},
		{"Hindi", "क्\u200dष क्\u200cष", "क्\u200dष क्\u200cष"},
		{"Japanese with a variant", "葛\U000E0100飾区", "葛\U000E0100飾区"},
		{"Chinese, Korean, German, Arabic", "从左侧 抓取 한국어 größer العربية ٣", "从左侧 抓取 한국어 größer العربية ٣"},
		{"Mongolian", "ᠮᠣᠩᠭᠣᠯ᠋", "ᠮᠣᠩᠭᠣᠯ᠋"},
		{"Arabic signs with a glyph", "\u0600١ \u06dd", "\u0600١ \u06dd"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := Visible(tt.text); got != tt.want {
				t.Errorf("got %+q\nwant %+q", got, tt.want)
			}
			data, err := EncodeJSON(map[string]string{"text": tt.text})
			if err != nil {
				t.Fatal(err)
			}
			shown := VisibleJSON(data)
			var back map[string]string
			if err := json.Unmarshal(shown, &back); err != nil || back["text"] != tt.text {
				t.Errorf("%s decodes to %+q (%v)", shown, back["text"], err)
			}
			if got := Visible(string(shown)); got != string(shown) {
				t.Errorf("%s still hides something: %s", shown, got)
			}
			if tt.want == tt.text && strings.Contains(strings.NewReplacer(`\t`, "", `\r`, "", `\n`, "").Replace(string(shown)), `\`) {
				t.Errorf("ordinary text is escaped: %s", shown)
			}
		})
	}
}

func FuzzVisible(f *testing.F) {
	f.Add("a\u202e\U000E0101")
	f.Fuzz(func(t *testing.T, s string) {
		data, err := EncodeJSON(s)
		if err != nil {
			t.Fatal(err)
		}
		var want, got string
		if err := json.Unmarshal(data, &want); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(VisibleJSON(data), &got); err != nil || got != want {
			t.Errorf("%+q became %+q (%v)", want, got, err)
		}
		if strings.ContainsAny(Visible(s), "\u202e\u2066\U000E0041\u200b\x1b") {
			t.Errorf("%+q hides something", Visible(s))
		}
	})
}
