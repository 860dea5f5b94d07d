package text

import (
	"slices"
	"strings"
)

// changes are words of a text that replaces what was known: the charger was moved.
var changes = phrases(`now|no longer|from now on|as of today|since today|moved|changed|replaced|swapped|instead of|updated|renamed|relocated|new value|switched to|switched from|corrected
现在|不再|改成|改为|改到|改放|换成|换到|换了|换新|移到|搬到|搬走|调到|调成|更新为|更新了|从今|以后|取消了
現在|改為|換成|移到|搬到|調到`)

// asksSuccess and asksFailure are words of a question about what worked, or what did not.
var (
	asksSuccess = phrases(`worked|works|work|succeeded|success|successful|successfully|good way|best|well|hold|holds|held|safe|safely|reliable|reliably|recommended|right way
成功|有效|顺利|好用|可行|合适|最好|怎样才|怎么才|不会|安全`)
	asksFailure = phrases(`fail|fails|failed|failure|failures|wrong|avoid|problem|problems|slip|slipped|slips|crash|crashed|broke|break|stuck|lost|destroy|destroys|dropped|drop|trouble|bad|mistake|not work|not open|not hold|jammed|spilled|collided|collision|blocked
失败|避免|不行|问题|打滑|滑落|掉了|摔|撞|卡住|卡在|打不开|不能|出错|故障|别`)
)

// phrases splits lists of phrases, Latin ones with a space around each word.
func phrases(list string) (out []string) {
	for phrase := range strings.FieldsFuncSeq(list, func(r rune) bool { return r == '|' || r == '\n' }) {
		if phrase[0] < 0x80 {
			phrase = " " + phrase + " "
		}
		out = append(out, phrase)
	}
	return out
}

// StatesChange reports whether a text replaces what was known before: moved, now, 改成.
func StatesChange(s string) bool { return holdsAny(spaced(s), changes) }

// Asks returns whether a question is about what worked, or about what failed. A question with words
// of both asks for neither.
func Asks(s string) (success, failure bool) {
	s = spaced(s)
	success, failure = holdsAny(s, asksSuccess), holdsAny(s, asksFailure)
	return success && !failure, failure && !success
}

// spaced returns a text in lower case with a space for each mark and at both ends.
func spaced(s string) string {
	var b strings.Builder
	b.WriteByte(' ')
	for _, r := range strings.ToLower(s) {
		if r < 0x80 && !('a' <= r && r <= 'z') && !('0' <= r && r <= '9') && r != '\'' {
			r = ' '
		}
		b.WriteRune(r)
	}
	b.WriteByte(' ')
	return b.String()
}

func holdsAny(s string, phrases []string) bool {
	return slices.ContainsFunc(phrases, func(p string) bool { return strings.Contains(s, p) })
}
