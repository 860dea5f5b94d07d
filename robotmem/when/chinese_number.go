package when

import (
	"strings"
	"time"
)

// chineseNumber reads what begins with a number: 3天前, 11月3日, 14点05分.
func (p *parser) chineseNumber() (anchor, bool) {
	start := p.i
	if p.han("半小时", "半个小时") {
		return p.distance(30*time.Minute, minute), p.han("之前", "以前", "前")
	}
	n, ok := p.hanCount()
	if !ok || p.peek(0).kind != hanToken {
		p.i = start
		return anchor{}, false
	}
	number := p.i
	if u, ok := p.hanUnit(); ok && u > second && p.han("之前", "以前", "前") {
		return p.ago(u, n), true
	}
	p.i = number
	switch {
	case p.han("年"):
		if t := p.toks[start]; t.kind != numberToken || len(t.text) != 4 || !isYear(n) {
			return anchor{}, false
		}
		return p.yearMonth(n), true
	case p.han("月"):
		return p.monthOn(n)
	case p.han("点"):
		return p.hourOf(n)
	case p.han("时"):
		a, ok := p.hourOf(n)
		return a, ok && a.clock.grain != hour
	}
	return anchor{}, false
}

// yearMonth reads on after 2026年.
func (p *parser) yearMonth(y int) anchor {
	start := p.i
	m, ok := p.hanCount()
	if !ok || !p.han("月") || m < 1 || m > 12 {
		p.i = start
		return anchor{date: p.yearOf(y), grain: year}
	}
	start = p.i
	if d, ok := p.hanCount(); ok && p.han("日", "号") && 0 < d && d <= daysIn(y, m) {
		return p.on(y, m, d)
	}
	p.i = start
	_ = p.han("份")
	return anchor{date: p.monthOf(y, time.Month(m)), grain: month}
}

// monthOn reads on after 11月.
func (p *parser) monthOn(m int) (anchor, bool) {
	if m < 1 || m > 12 {
		return anchor{}, false
	}
	start := p.i
	if d, ok := p.hanCount(); ok && p.han("日", "号") {
		if d < 1 || d > daysIn(2024, m) {
			return anchor{}, false
		}
		return p.onLast(m, d)
	}
	p.i = start
	_ = p.han("份")
	return p.onLast(m, 0)
}

// hourOf reads on after 14点. An hour alone is bare: 3点 are also three points.
func (p *parser) hourOf(h int) (anchor, bool) {
	k := clock{of: clockOf(h, 0, 0), grain: hour, half: 0 < h && h <= 12}
	if h > 24 {
		return anchor{}, false
	}
	start := p.i
	switch {
	case p.han("半"):
		k.of, k.grain = k.of+30*time.Minute, minute
	case p.han("一刻"):
		k.of, k.grain = k.of+15*time.Minute, minute
	case p.han("整", "钟"):
	default:
		m, ok := p.hanCount()
		if ok = ok && m < 60 && p.han("分"); ok {
			k.of, k.grain = k.of+clockOf(0, m, 0), minute
			start = p.i
			s, ok := p.hanCount()
			if ok && s < 60 && p.han("秒") {
				k.of, k.grain = k.of+clockOf(0, 0, s), second
				return anchor{clock: k}, true
			}
		}
		p.i = start
	}
	return anchor{clock: k, bare: k.grain == hour}, true
}

func (p *parser) hanUnit() (unit, bool) {
	switch {
	case p.han("秒钟", "秒"):
		return second, true
	case p.han("分钟"):
		return minute, true
	case p.han("个小时", "小时", "个钟头", "钟头"):
		return hour, true
	case p.han("天", "日"):
		return day, true
	case p.han("个星期", "星期", "个礼拜", "礼拜", "周"):
		return week, true
	case p.han("个月"):
		return month, true
	case p.han("个季度"):
		return quarter, true
	case p.han("年"):
		return year, true
	}
	return noUnit, false
}

// hanCount reads a number below a hundred in characters, or any in digits. 几, a
// few, is five.
func (p *parser) hanCount() (n int, ok bool) {
	if t := p.peek(0); t.kind == numberToken {
		p.i++
		return t.n, true
	}
	if p.han("几") {
		return 5, true
	}
	for end := p.i + maxCount; p.i < end && p.sees("零〇一二两三四五六七八九十"); p.i++ {
		switch d := p.peek(0).text; {
		case d == "十" && n == 0:
			n = 10
		case d == "十":
			n *= 10
		case d == "两":
			n += 2
		case d != "零" && d != "〇":
			n += 1 + strings.Index("一二三四五六七八九", d)/len("一")
		}
		ok = true
	}
	return n, ok && n < 100
}
