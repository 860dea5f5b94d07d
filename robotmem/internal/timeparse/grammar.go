package timeparse

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

// preposition turns an anchor into bounds.
type preposition int

const (
	plain preposition = iota // the range that the anchor covers
	from                     // the beginning of a range, or the range itself
	at
	in // has many uses that are not of time
	before
	after
	since
	until
	around
	between
)

// bounds reports whether the preposition makes bounds that are not those of its anchor.
func (p preposition) bounds() bool { return p >= before }

// The lists of prepositions are in the order of the constants above, those of weekdays, months and units in the
// order of their numbers. An empty list has no word.
var prepositions = values[preposition]("", "from|自从|从|自", "at|on|during|在", "in|over|within|for", "before|prior to|earlier than",
	"after|later than", "since", "until|till|by|up until|up to|直到|截至|截止到", "around|about", "between")

var postpositions = values[preposition]("", "", "", "", "前|之前|以前", "后|之后|以后", "以来|至今|到现在|开始|起", "为止", "左右|前后")

var (
	weekdays = values[time.Weekday]("sunday|sun|日|天", "monday|mon|一", "tuesday|tue|tues|二", "wednesday|wed|三",
		"thursday|thu|thur|thurs|四", "friday|fri|五", "saturday|sat|六")
	months = values[int]("", "january|jan", "february|feb", "march|mar", "april|apr", "may", "june|jun", "july|jul",
		"august|aug", "september|sep|sept", "october|oct", "november|nov", "december|dec")
	units = values[unit]("", "s|sec|secs|second|seconds|秒|秒钟", "min|mins|minute|minutes|分钟", "h|hr|hrs|hour|hours|小时|个小时|钟头|个钟头",
		"day|days|天|日", "week|weeks|周|星期|个星期|礼拜|个礼拜", "month|months|个月", "year|years|年")
	// A few are five: the bound should rather be wide.
	numbers = map[string]int{"a": 1, "an": 1, "one": 1, "two": 2, "couple": 2, "couple of": 2, "a couple": 2, "a couple of": 2,
		"three": 3, "four": 4, "five": 5, "few": 5, "a few": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10,
		"eleven": 11, "twelve": 12, "fifteen": 15, "twenty": 20, "thirty": 30, "forty": 40, "sixty": 60, "ninety": 90}
	// Morning begins at midnight and night lasts until six: 昨天晚上两点 is in the night.
	dayParts = map[string]anchor{
		"morning": partOf(0, 12), "afternoon": partOf(12, 18), "evening": partOf(18, 24), "night": partOf(18, 30), "凌晨": partOf(0, 6),
		"早上": partOf(0, 12), "上午": partOf(0, 12), "中午": partOf(11, 14), "下午": partOf(12, 18), "傍晚": partOf(18, 24), "晚上": partOf(18, 30),
		"早": partOf(0, 12), "晨": partOf(0, 12), "晚": partOf(18, 30), "夜": partOf(18, 30),
	}
)

func partOf(from, to time.Duration) (a anchor) {
	a.part.from, a.part.to = from*time.Hour, to*time.Hour
	return a
}

// values maps each word of a list to the place of the list, 0 for the first one.
func values[T ~int](lists ...string) map[string]T {
	m := map[string]T{}

	for i, words := range lists {
		for w := range strings.SplitSeq(words, "|") {
			m[w] = T(i)
		}
	}
	delete(m, "")

	return m
}

// anyOf returns a pattern that matches any key of m: of those in Latin letters, which end at a word border, or
// of the others. Longer words come first.
func anyOf[T any](m map[string]T, latin bool) string {
	words := slices.DeleteFunc(slices.Collect(maps.Keys(m)), func(w string) bool { return isLetter(w[0]) != latin })
	slices.SortFunc(words, func(a, b string) int { return len(b) - len(a) })
	if latin {
		return "(?:" + strings.Join(words, "|") + `)\b`
	}
	return "(?:" + strings.Join(words, "|") + ")"
}

var macros = strings.NewReplacer(
	"{the}", "(?:the )?", "{day}", "(?:"+anyOf(weekdays, true)+",? )?", "{this}", "(this|current|last|past|previous)", "{unit}", "("+anyOf(units, true)+")",
	"{weekday}", "("+anyOf(weekdays, true)+")", "{w}", "("+anyOf(weekdays, false)+")", "{month}", "("+
		anyOf(months, true)+")",
	"{part}", "("+anyOf(dayParts, true)+"|凌晨|早上|上午|中午|下午|傍晚|晚上)", "{clock}", `\d{1,2}[:：]\d\d(?:[:：]\d\d)?`, "{n}", `(\d{1,4}|[零〇一二两三四五六七八九十]{1,4}|几)`,
	"{count}", `(?:(\d{1,4}\s*|`+anyOf(numbers, true)+` )(`+anyOf(units, true)+`)|half (?:an )?hour\b)`,
	"{hancount}", `(?:(\d{1,4}|[零〇一二两三四五六七八九十]{1,4}|几)\s*(`+anyOf(units, false)+`)|半个?小时)`,
)

func expression(pattern string) *regexp.Regexp {
	return regexp.MustCompile(`^\s*(?:` + strings.ReplaceAll(macros.Replace(pattern), " ", `\s+`) + `)`)
}

// patterns holds the named patterns of the parser. The rules have their own.
var patterns = map[string]string{
	"word":         `[a-z]+(?:\.[a-z]+)*|[a-z0-9.:：\-/'’]+|` + masked + `+|(?s:.)`,
	"space":        ``,
	"preposition":  anyOf(prepositions, true) + "|" + anyOf(prepositions, false),
	"link":         `(?:['’]s\b)?\s*(?:[,，]|(?:at|on|of|in)\b|的|在)?`,
	"possessive":   `['’]s\b`,
	"onward":       `(?:onwards?|on)\b`,
	"join":         `(?:to|until|till|through)\b|到|至|(and\b|&)|([-~–—～])|(和|与)`,
	"end of range": `之间|期间|之前|以前|间|为止`,
	"postposition": `(\p{Han}{0,8}?)(` + anyOf(postpositions, false) + `)`,
	"within":       `(?:期间|以内|之内|内|里)的?|的`,
	// mask masks every chunk that does not match this.
	"timed": `(?:[a-z]+(?:\.[a-z]+)*(?:['’]s)?|\d{1,4}(?:[a-z]+(?:\.[a-z]+)*)?|-|{clock}(?:[-~]{clock})?(?:[ap]\.?m)?` +
		`|\d{4}-\d\d-\d\d|\d{4}/\d\d/\d\d|\d{4}-\d\d-\d\dt[0-9:]+(?:\.\d+)?(?:z|[+-]\d\d:\d\d)?)$`,
	"named shift": `[a-z]+ shift\b|大?[早白中晚夜]班`,
}

// grammar is compiled by the first question.
var grammar = sync.OnceValues(func() (named map[string]*regexp.Regexp, ofRules []*regexp.Regexp) {
	named = map[string]*regexp.Regexp{
		// A chunk is a run of letters, digits and the signs between them.
		"chunk": regexp.MustCompile(`(?:[0-9],[0-9]|[a-z]['’][a-z]|[^\s\p{Han}\pP\pS]|[.:：\-/+_#@%=&*$^\\°])+`),
	}
	for name, pattern := range patterns {
		named[name] = expression(pattern)
	}

	for _, r := range rules {
		ofRules = append(ofRules, expression(r.pattern))
	}

	return named, ofRules
})

const (
	// masked stands for a byte of what can be no part of a time.
	masked      = "\x01"
	traditional = "週點後間這個過禮時鐘從內開現剛兩幾為來號當"
	simplified  = "周点后间这个过礼时钟从内开现刚两几为来号当"
)

// mask lowers ASCII letters, simplifies traditional characters, and masks chunks that are not a time
// (12.5, v2, run_2026-11-03.mcap, 10.0.0.7). It keeps the position of every byte.
func mask(s string, named map[string]*regexp.Regexp) string {
	b := []byte(s)
	for i, r := range s {
		if at := strings.IndexRune(traditional, r); 'A' <= r && r <= 'Z' {
			b[i] += 'a' - 'A'
		} else if at >= 0 && r != utf8.RuneError {
			copy(b[i:], simplified[at:at+utf8.RuneLen(r)])
		}
	}

	// A number in a version, a path or an address must not be read as a time.
	for _, loc := range named["chunk"].FindAllIndex(b, -1) {
		text := strings.TrimRight(string(b[loc[0]:loc[1]]), ".:-/")
		if text != "" && !named["timed"].MatchString(text) {
			copy(b[loc[0]:], strings.Repeat(masked, len(text)))
		}
	}

	return string(b)
}

// openers lists the words and characters that a rule can begin with. A digit can begin one too.
var openers = slices.Concat(strings.Fields("the day yesterday today this current last past previous half noon midday midnight"),
	slices.Collect(maps.Keys(weekdays)), slices.Collect(maps.Keys(months)), slices.Collect(maps.Keys(numbers)), slices.Collect(maps.Keys(dayParts)),
	strings.Split("前昨今大凌早上中下傍晚夜最过近这半本当周星礼去零〇一二两三四五六七八九十几", ""))

// A rule is a regular expression with a function of its groups. A space is any white space; names in
// braces are macros. A rule does not match if a word of the list after precedes the text, or if a word of the list
// before follows it.
type rule struct {
	pattern, after, before string
	read                   func(p *parser, m []string) (a anchor, ok bool)
}

const (
	// Words that follow a unit where it tells no time, as in "the last 3 seconds of the grasp".
	counted  = "of turn turns step steps window timeout mark hand"
	measured = "n nm mm cm m kg g v a w hz deg degrees percent times steps attempts cycles newton newtons volts"
	shifted  = "in of register registers left right by key value vector error amount lever matrix"
	placing  = "in on since before after until till by from between during and to of"
)

// rules are tried in order. Ambiguous text is not read: a bound that is too wide costs a rank, one
// that is too narrow hides a memory.
var rules = []rule{
	// Days and their parts. 前天线 has an antenna, 早上好 is a greeting.
	{
		`{the}day before yesterday\b|前天`, "之 以 目 当 提 眼 此", "线",
		func(p *parser, m []string) (anchor, bool) { return p.ago(day, 2), true },
	},
	{`yesterday\b|昨天|昨日`, "", "", func(p *parser, m []string) (anchor, bool) { return p.ago(day, 1), true }},
	{`today\b|今天|今日`, "", "", func(p *parser, m []string) (anchor, bool) { return p.ago(day, 0), true }},
	{`大前天`, "", "", func(p *parser, m []string) (anchor, bool) { return p.ago(day, 3), true }},
	{`([前昨今])(晚上?|夜里?|早上?|晨)`, "", "", func(p *parser, m []string) (anchor, bool) {
		a, _ := p.ago(day, map[string]int{"前": 2, "昨": 1}[m[1]]).merge(dayParts[strings.TrimRight(m[2], "上里")])
		return a, m[1] != "今" || p.now.Hour() >= 6 // the night that goes on has begun yesterday
	}},
	{
		`{the}{this} {part}`, "", "shift",
		func(p *parser, m []string) (anchor, bool) { return p.ago(day, last[m[1]]).merge(dayParts[m[2]]) },
	},
	{`{the}{part}`, "", "shift 好", func(p *parser, m []string) (anchor, bool) {
		a := dayParts[m[1]]
		a.bare = isLetter(m[1][0])
		return a, true
	}},
	{
		`{the}{this} shift\b`, "", shifted,
		func(p *parser, m []string) (anchor, bool) { return p.rolling(hour, 8*(1+last[m[1]])), true },
	},

	// Counts of units.
	{`{the}(?:last|past|previous) {count}`, "", counted + " before after", rolled},
	{`(?:最近的?|过去的?|近|这){hancount}(?:以内|之内|以来|内|里|来)?`, "接 附 靠 邻 远", "", rolled},
	{`{count} ago\b`, "and a minute minutes hour hours h min day days", "", gone},
	{`{hancount}(?:之前|以前|前)`, "", "", gone},
	{`{the}{this} {unit}`, "", counted, func(p *parser, m []string) (anchor, bool) {
		u, n := units[m[2]], last[m[1]]
		past := m[1] == "past"
		if n > 0 && (u <= day || past) {
			// "The last h" and "the last second" are not read as times.
			abbreviated := len(m[2]) == 1 || m[2] == "min"
			return p.rolling(u, 1), !abbreviated && (u >= hour || past)
		}

		return p.period(u, -n), u > day
	}},
	{`(上上|上|这|本)一?个?(?:周|星期|礼拜)`, "以 之", "末 期 围 边 报 日 一 二 三 四 五 六 天", func(p *parser, m []string) (anchor, bool) {
		return p.period(week, -last[m[1]]), true
	}},

	// Dates.
	{
		`(\d{4})[-/](\d\d)[-/](\d\d)\b`, "", "",
		func(p *parser, m []string) (anchor, bool) { return p.dated(m[1], m[2], m[3]) },
	},
	{
		`\d{4}-\d\d-\d\dt\S+`, "", "",
		func(p *parser, m []string) (anchor, bool) { return p.stamp(strings.TrimSpace(m[0])) },
	},
	{`{month} (\d{4})\b`, "", "", func(p *parser, m []string) (anchor, bool) { return p.dated(m[2], m[1], "") }},
	{`{day}{month} (\d{1,2})(st|nd|rd|th)?\b(?:,? (\d{4})\b)?`, "", measured, func(p *parser, m []string) (anchor, bool) {
		// "March 3 steps forward" may begin a sentence.
		inSentence := strings.LastIndex(p.s[:p.i], m[1]) > 0 && !p.follows(". ; : ? ! 。")
		named := inSentence && !p.isCommonWord(m[0], m[1])
		a, ok := p.dated(m[4], m[1], m[2])
		return a, ok && (!slices.Contains(commonWords, m[1]) || named || m[3] != "" || p.follows(placing))
	}},
	{`{day}{the}(\d{1,2})(?:(st|nd|rd|th)(?: of)?)? {month}(?:,? (\d{4})\b)?`, "", "", func(p *parser, m []string) (anchor, bool) {
		a, ok := p.dated(m[4], m[3], m[1])
		return a, ok && (!p.isCommonWord(m[0], m[3]) || m[2] != "" || m[4] != "")
	}},
	{`{month}`, "", "", func(p *parser, m []string) (anchor, bool) {
		a, ok := p.dated("", m[1], "")
		a.bare = true
		return a, ok && p.follows(placing) && !p.isCommonWord(m[0], m[1]) && !isDigit(p.next())
	}},
	{`(\d{4}|[今本去前])\s*年(?:\s*{n}\s*月(?:\s*{n}\s*[日号]|份)?)?`, "", "", func(p *parser, m []string) (anchor, bool) {
		if !isDigit(m[1]) {
			m[1] = p.now.AddDate(-map[string]int{"去": 1, "前": 2}[m[1]], 0, 0).Format("2006")
		}
		return p.dated(m[1], m[2], m[3])
	}},
	{
		`{n}\s*月(?:\s*{n}\s*[日号]|份)?`, "", "",
		func(p *parser, m []string) (anchor, bool) { return p.dated("", m[1], m[2]) },
	},
	{`(上上|上|这|本|当)一?个?月(?:{n}[号日])?`, "以 之", "", func(p *parser, m []string) (anchor, bool) {
		in := p.period(month, -last[m[1]]).date.from
		return p.dated(in.Format("2006"), in.Format("1"), m[2])
	}},

	// Weekdays. "every Monday" and 一周三次 come again, "next Monday" is to come.
	{`{the}(?:{this} )?{weekday}`, "every each next", "", func(p *parser, m []string) (anchor, bool) {
		w := weekdays[m[2]]
		a := p.lastWeekday(w)

		switch {
		case m[1] == "":
		case last[m[1]] == 0:
			a = p.weekdayIn(w, 0)
		case w == p.now.Weekday():
			// "Last Monday" on a Monday is not today.
			a = p.period(day, -7)
		}

		isWeekday := m[1] != "" || strings.HasSuffix(m[2], "day") || p.follows(placing)

		return a, isWeekday && !p.isCommonWord(m[0], m[2])
	}},
	{`(?:(上上|上|这|本)一?个?)?(?:周|星期|礼拜){w}`, "以 之 每 每个 下 下个 一 两 二 三 四 几 半 0 1 2 3 4 5 6 7 8 9", "", func(p *parser, m []string) (anchor, bool) {
		if m[1] == "" {
			return p.lastWeekday(weekdays[m[2]]), true
		}
		return p.weekdayIn(weekdays[m[2]], -last[m[1]]), true
	}},

	// Times of day. 3点 are also three points.
	{`(\d{1,2})[:：](\d\d)(?:[:：](\d\d))?(?:\s*([ap])\.?m)?\b`, "", "scale ratio mix aspect odds", func(p *parser, m []string) (anchor, bool) {
		return clockOf(m[1], m[2], m[3], m[4])
	}},
	{
		`([1-9]|1[0-2])\s*([ap])\.?m\b`, "", "",
		func(p *parser, m []string) (anchor, bool) { return clockOf(m[1], "", "", m[2]) },
	},
	{`{n}\s*(?:[点时]\s*{n}\s*分|点(?:(半)|钟|整)?)`, "", "", func(p *parser, m []string) (anchor, bool) {
		minutes := m[2] + strings.ReplaceAll(m[3], "半", "30")
		a, ok := clockOf(m[1], minutes, "", "")
		a.bare = minutes == ""
		return a, ok
	}},
	{`(?:noon|midday)\b`, "", "", func(p *parser, m []string) (anchor, bool) { return clockOf("12", "", "", "p") }},
	{`midnight\b`, "", "", func(p *parser, m []string) (anchor, bool) { return clockOf("0", "", "", "") }},
}

// rolled returns the range that a count of units covers up to now.
func rolled(p *parser, m []string) (anchor, bool) {
	n, u := count(m)
	return p.rolling(u, n), n > 0
}

// gone returns the time that a count of units lies back.
func gone(p *parser, m []string) (anchor, bool) {
	n, u := count(m)
	return p.ago(u, n), true
}

// last maps a word to the number of units that it points back. A word that is missing here points to the present one.
var last = map[string]int{"last": 1, "past": 1, "previous": 1, "上": 1, "上上": 2}

// commonWords are names of months and weekdays that are other words too.
var commonWords = strings.Fields("sat sun wed mon march mar may")

// isCommonWord reports whether the name within the matched text is meant as a common word, because it has no
// capital.
func (p *parser) isCommonWord(matched, name string) bool {
	at := p.i - len(matched) + strings.LastIndex(matched, name)
	hasCapital := 'A' <= p.question[at] && p.question[at] <= 'Z'

	return slices.Contains(commonWords, name) && !hasCapital
}

// count reads the groups of {count} or {hancount}; half an hour is 30 minutes.
func count(m []string) (n int, u unit) {
	if m[2] == "" {
		return 30, minute
	}
	number := strings.Join(strings.Fields(m[1]), " ")
	return max(numbers[number], hanCount(number)), units[m[2]]
}

// hanCount reads a number in digits, or one below a hundred in characters.
func hanCount(s string) (n int) {
	for _, r := range strings.ReplaceAll(s, "两", "二") {
		// Each of these characters has the same number of bytes, so the quotient is its digit. It is 0 for other
		// characters.
		digit := strings.IndexRune("零一二三四五六七八九", r) / len("零")

		switch {
		case isDigit(string(r)):
			n = 10*n + int(r-'0')
		case r == '几': // a few
			n = 5
		case r == '十':
			n = 10 * max(n, 1)
		default:
			n += digit
		}
	}

	return n
}

// dated returns the date of a year, month and day. The day may be empty, or the month and the day. Without a
// year it is the latest such date that has begun.
func (p *parser) dated(year, name, date string) (a anchor, ok bool) {
	y, m, d := hanCount(year), months[name], hanCount(date)
	if m == 0 {
		m = hanCount(name)
	}

	// A part that is given and cannot be read is 0.
	badMonth := m > 12 || (m == 0) != (name == "")
	badDay := (d == 0) != (date == "")
	badYear := year != "" && (y < 1970 || y >= 2100)

	switch {
	case badMonth || badDay || badYear:
		return anchor{}, false
	case year != "":
		return p.on(y, m, d), d <= daysIn(y, m)
	}

	// 2024 is a leap year, so that February 29 is a date.
	return p.onLast(m, d), d <= daysIn(2024, m)
}

// stamp reads an RFC 3339 time, whose seconds and zone may be missing.
func (p *parser) stamp(text string) (anchor, bool) {
	for _, format := range []struct {
		layout string
		grain  unit
	}{
		{"2006-01-02T15:04Z07:00", minute},
		{"2006-01-02T15:04", minute},
		{"2006-01-02T15:04:05Z07:00", second},
		{"2006-01-02T15:04:05", second},
	} {
		t, err := time.ParseInLocation(format.layout, strings.ToUpper(text), p.now.Location())
		if err == nil {
			return anchor{date: span{t, t.Add(lengths[format.grain])}, grain: format.grain, point: t}, true
		}
	}

	return anchor{}, false
}

// clockOf reads hours, minutes and seconds, which may be empty, and "a" or "p".
func clockOf(h, m, s, half string) (a anchor, ok bool) {
	hours, minutes, seconds := hanCount(h), hanCount(m), hanCount(s)
	a = anchor{clock: time.Duration(hours*3600+minutes*60+seconds) * time.Second, clockGrain: hour, bare: true}
	if s != "" {
		a.clockGrain = second
	} else if m != "" {
		a.clockGrain = minute
	}

	// Without am or pm an hour from 1 to 12 may be of either half of the day.
	either := 0 < hours && hours <= 12
	a.half = either && half == ""
	// 12 am is 0 o'clock and 12 pm is noon.
	if either && half != "" {
		a.clock %= noon
		if half == "p" {
			a.clock += noon
		}
	}

	return a, hours <= 24 && minutes < 60 && seconds < 60
}
