package when

import (
	"strings"
	"time"
)

// chinese reads an expression that begins with a Chinese character.
func (p *parser) chinese() (anchor, bool) {
	switch {
	case p.han("大前天"):
		return p.wholeDay(-3), true
	case p.sees("前") && !p.follows("之", "以", "目", "当", "提", "眼", "此") && p.han("前天"):
		return p.wholeDay(-2), !p.sees("线") // 天线 is an antenna
	case p.han("昨天", "昨日"):
		return p.wholeDay(-1), true
	case p.han("今天", "今日"):
		return p.wholeDay(0), true
	case p.han("昨晚", "昨夜"):
		_ = p.han("上", "里")
		return p.dayPart(-1, night), true
	case p.han("前晚"):
		return p.dayPart(-2, night), true
	case p.han("今晚", "今夜"):
		_ = p.han("上", "里")
		return p.tonight(), true
	case p.han("今早", "今晨"):
		_ = p.han("上")
		return p.dayPart(0, morning), true
	case p.han("现在", "此刻", "刚才", "刚刚"):
		return p.moment(), !p.sees("好")
	}
	for _, rule := range []func() (anchor, bool){
		p.chinesePart, p.chineseShift, p.chineseWeek, p.chineseMonth, p.recent, p.chineseNumber,
	} {
		start := p.i
		if a, ok := rule(); ok {
			return a, true
		}
		p.i = start
	}
	return anchor{}, false
}

// chinesePart reads a part of the day. 晚上 lasts until six, as two o'clock of
// 昨天晚上 is that of the night.
func (p *parser) chinesePart() (a anchor, ok bool) {
	switch {
	case p.han("凌晨"):
		a.part = smallHrs
	case p.han("早上", "早晨", "上午", "清晨"):
		a.part = morning
	case p.han("中午"):
		a.part = middle
	case p.han("下午"):
		a.part = afternoon
	case p.han("傍晚"):
		a.part = evening
	case p.han("晚上", "夜里", "夜间", "半夜"):
		a.part = night
	case p.han("正午"):
		return anchor{clock: clock{of: noon, grain: hour}}, true
	case p.han("午夜"):
		return anchor{clock: clock{of: midnight, grain: hour}}, true
	}
	return a, a.part.set() && !p.sees("好") // 早上好 is a greeting
}

// chineseShift reads 本班, 上一班, 夜班.
func (p *parser) chineseShift() (a anchor, ok bool) {
	over := plain
	switch {
	case p.han("当前班次", "这个班次", "这一班", "本班次", "本班", "这班", "当班"):
		a, ok = p.shift(0)
		return a, ok && !p.sees("组级长车")
	case p.han("上一个班次", "上个班次", "上一班", "上个班", "前一班"):
		a, ok = p.shift(1)
		return a, ok && !p.sees("组级长车")
	case p.han("上一个", "上个"):
		over = before
	}
	name := p.peek(0).text
	_ = p.han("大夜")
	if p.peek(-1).text == "夜" {
		name = "夜"
		p.i--
	}
	if !p.sees("早白中晚夜") {
		return a, false
	}
	p.i++
	if !p.han("班") || p.sees("组级长车") {
		return a, false
	}
	return p.namedShift(name, over)
}

// chineseWeek reads 上周, 上周三, 周三 and 周末.
func (p *parser) chineseWeek() (anchor, bool) {
	n, told := p.relative("上上个", "上上", "上一", "上个", "上", "这个", "本", "这")
	if !p.han("周", "星期", "礼拜") {
		return anchor{}, false
	}
	if !told && p.comesAgain() {
		return anchor{}, false
	}
	if p.han("末") {
		if told {
			return anchor{date: p.thisWeekend(n), grain: week}, true
		}
		return anchor{date: p.weekend(0), grain: week}, true
	}
	t := p.peek(0)
	if at := strings.Index("日一二三四五六天", t.text); t.kind == hanToken && at >= 0 {
		p.i++
		w := time.Weekday(at / len("日") % 7)
		if told {
			return p.weekdayIn(w, n), true
		}
		return p.lastWeekday(w), true
	}
	return anchor{date: p.calendar.around(week, n), grain: week}, told && !p.sees("期围边报")
}

// comesAgain reports whether what stands before 周三 makes it a habit, a count
// or a day to come: 每周三, 一周三次, 下周三.
func (p *parser) comesAgain() bool {
	at := p.peek(-1).start
	before := p.s[:at]
	for _, lit := range []string{"每", "每个", "下", "下个", "一", "两", "二", "三", "四", "几", "半"} {
		if strings.HasSuffix(before, lit) {
			return true
		}
	}
	return before != "" && isDigit(before[len(before)-1])
}

// chineseMonth reads months, quarters and years counted from now.
func (p *parser) chineseMonth() (anchor, bool) {
	switch {
	case p.han("今年", "本年"):
		return anchor{date: p.calendar.around(year, 0), grain: year}, true
	case p.han("去年"):
		return anchor{date: p.calendar.around(year, -1), grain: year}, true
	case p.han("前年"):
		return anchor{date: p.calendar.around(year, -2), grain: year}, true
	}
	n, told := p.relative("上上个", "上上", "上一个", "上个", "上", "这个", "本", "这", "当")
	switch {
	case !told:
		return anchor{}, false
	case p.han("季度"):
		return anchor{date: p.calendar.around(quarter, n), grain: quarter}, true
	case !p.han("月"):
		return anchor{}, false
	}
	a := anchor{date: p.calendar.around(month, n), grain: month}
	start := p.i
	d, ok := p.hanCount()
	if y, m, _ := a.date.from.Date(); ok && p.han("号", "日") && 0 < d && d <= daysIn(y, int(m)) {
		return p.on(y, int(m), d), true
	}
	p.i = start
	return a, true
}

// relative reads how many weeks or months back a word points.
func (p *parser) relative(words ...string) (n int, ok bool) {
	if p.follows("以", "之") || !p.han(words...) {
		return 0, false
	}
	switch s := p.s[:p.peek(-1).end]; {
	case strings.HasSuffix(s, "上上个"), strings.HasSuffix(s, "上上"):
		return -2, true
	case strings.HasSuffix(s, "上"), strings.HasSuffix(s, "上个"), strings.HasSuffix(s, "上一"), strings.HasSuffix(s, "上一个"):
		return -1, true
	}
	return 0, true
}

// recent reads 最近3天, 过去一小时, 这两天.
func (p *parser) recent() (anchor, bool) {
	if p.saw("接附靠邻远") || !p.han("最近的", "最近", "过去的", "过去", "近", "这") {
		return anchor{}, false
	}
	a := anchor{}
	if p.han("半小时", "半个小时") {
		a = anchor{date: span{from: p.now.Add(-30 * time.Minute)}, grain: minute}
	} else {
		n, ok := p.hanCount()
		u, known := p.hanUnit()
		if !ok || !known || n == 0 {
			return a, false
		}
		a = p.rolling(u, n)
	}
	_ = p.han("以内", "之内", "以来", "内", "里", "来")
	return a, true
}

// follows reports whether one of these ends where the next token begins.
func (p *parser) follows(lits ...string) bool {
	for _, lit := range lits {
		if strings.HasSuffix(p.s[:p.peek(0).start], lit) {
			return true
		}
	}
	return false
}
