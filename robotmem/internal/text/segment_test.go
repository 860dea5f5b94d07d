package text

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestSegment(t *testing.T) {
	for text, want := range map[string]string{
		"":            "",
		"夹爪的力是多少":     "夹 爪 的 力 是 多少",
		"机器人抓取玻璃杯时滑落": "机器人 抓取 玻璃杯 时 滑落",
		"研究生命的起源":     "研究 生命 的 起源",
		"北京大学生前来应聘":   "北京 大学生 前来 应聘",
		"㐀㐁":          "㐀 㐁", // not in the dictionary
		"中华人民共和国中央人民政府": "中华人民共和国中央人民政府",
	} {
		if got := strings.Join(segment(text), " "); got != want {
			t.Errorf("%s: got %q, want %q", text, got, want)
		}
	}
}

// The dictionary is whole.
func TestDictionary(t *testing.T) {
	loadSegmenter.Do(loadDictionary)
	if words := segmenter.Dict.NumTokens(); words != 140151 {
		t.Errorf("got %d words", words)
	}
}

func TestHanFirstHasTheFirstCharacters(t *testing.T) {
	for _, word := range append(hanNegations, hanHarmless...) {
		if r, _ := utf8.DecodeRuneInString(word); !strings.ContainsRune(hanFirst, r) {
			t.Errorf("hanFirst lacks %q of %s", r, word)
		}
	}
}
