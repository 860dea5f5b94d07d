package text

import (
	_ "embed"
	"strings"
)

// Stop reports whether a term is a stop word: too common to distinguish memories. Negations are
// never stop words, because "do not grip" and "do grip" must stay different, nor are words of
// place, time and degree: up, off, under, before, only, more.
func Stop(term string) bool { return stopWords[term] }

//go:embed stopwords.txt
var stopList string

var stopWords = wordSet(stopList)

func wordSet(list string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(list) {
		set[w] = true
	}
	return set
}

var negating = wordSet(`not no never none nothing nobody nowhere neither nor cannot without
	dont doesnt didnt isnt arent wasnt werent wont cant couldnt shouldnt wouldnt mustnt hasnt havent hadnt
	nicht nichts kein keine keinen keinem keiner keines nie niemals niemand ohne`)

// failing are words that negate a following "to".
var failing = wordSet(`fail fails failed failing refuse refuses refused unable`)

// hanNegations are looked for at each character, the longest first.
var hanNegations = strings.Fields("绝不 決不 绝对不 不要 不能 不可 不准 不会 不會 不得 从不 從不 没有 沒有 无法 無法 禁止 严禁 嚴禁 切勿 不 没 沒 未 无 無 勿 别 別 莫")

// hanHarmless are words with such a character that negate nothing.
var hanHarmless = strings.Fields("不锈 不鏽 不仅 不僅 不但 不过 不過 不断 不斷 不同 不管 不论 不久 无线 無線 无人 無人 无论 無論 无刷 無刷 无穷 未来 未來 未知 特别 特別 分别 分別 级别 級別 类别 類別 识别 識別 区别 區別 个别 差别 辨别 鉴别 性别 别的 别人 别名 莫名")

// hanFirst are the first characters of both.
const hanFirst = "不绝決从從没沒无無禁严嚴切未勿别別莫特分级級类類识識区區个個差辨鉴性"

// Negations counts the words of s that negate: not, no, never, without, -n't, "fails
// to", 不, 没, 禁止 and others. Texts that differ by one negation are opposite.
func Negations(s string) int {
	s = normalize(s)
	count := 0
	// The word before is in failing.
	failed := false

	for i := 0; i < len(s); {
		c, n := classAt(s, i)
		switch {
		case c == letter:
			start := i
			for i < len(s) && (c == letter || c == digit || s[i] == '\'') {
				i += n
				c, n = classAt(s, i)
			}
			w := fold(s[start:i])
			if negates(w, s[i:]) || failed && w == "to" {
				count++
			}
			failed = failing[w]
		case c == han && strings.Contains(hanFirst, s[i:i+n]):
			size := prefix(s[i:], hanHarmless)
			if size == 0 {
				if size = prefix(s[i:], hanNegations); size > 0 {
					count++
				}
			}
			i += max(n, size)
			failed = false
		default:
			i += n
			failed = failed && s[i-n] == ' '
		}
	}

	return count
}

// negates reports whether a lower-case word negates. "No. 3" is a number.
func negates(w, rest string) bool {
	w = strings.TrimRight(w, "'")
	if strings.HasSuffix(w, "n't") {
		return true
	}
	if w == "no" && strings.HasPrefix(rest, ".") {
		next := strings.TrimLeft(rest[1:min(len(rest), 4)], " ")
		return next == "" || !isDigit(next[0])
	}

	return negating[w]
}

// prefix returns the length of the first of the words with which s begins, or 0.
func prefix(s string, words []string) int {
	for _, w := range words {
		if strings.HasPrefix(s, w) {
			return len(w)
		}
	}
	return 0
}
