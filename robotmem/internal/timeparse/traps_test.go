package timeparse_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/robotmem/robotmem-go/robotmem/internal/timeparse"
)

var traps = []string{
	// Numbers that are parameters.
	"slip at 14 N", "ratio 14:05", "mix 14:05 of resin", "gear at 1:50 scale", "at a ratio of 14:05",
	"grip force 12.5 N", "in 5 N", "in 5 N steps", "in 5 minutes", "within 2 seconds of contact", "between 14 and 15 N",
	"between 2000 and 2020 N", "after 2000 cycles", "a mean of 1,3 days ago", "at 2025 rpm", "joint 3 at 45 deg", "from 3 to 5 N", "speed 2 m/s",
	"PID 1.2.3", "firmware v2026-03-03", "version 1.2.3", "10.0.0.12 timed out", "mac 10:14:05:33:aa:bb",
	"file run_2026-11-03_a.mcap", "/data/today/x.log", "t=14:05", "shift=3", "port 14:05:99", "on 11/03", "2026-13-40",
	"at 25:10", "step 2 am 7", "#3 pm", "pose 0.1 0.2 0.3",
	// Words that count something else.
	"last 3 attempts", "last attempt", "the last grasp", "previous 5 trials", "the second gripper", "the last 3 seconds of the grasp",
	"the last hour of training", "last time it slipped", "last", "the last 10 minutes before the crash", "first shift register",
	"phase shift", "this shift register", "the frame shift", "this shift of 3 mm", "gear shift left", "last 3d map",
	"last 3 m of the path", "last quarter of the path", "this quarter turn", "last min value", "last step", "past the edge",
	"week 3 of training", "day 2", "hour hand", "one second timeout", "a minute detail", "every Monday", "next week", "next Tuesday",
	"tomorrow", "on Mondays", "in the morning", "by night",
	// Words that are also names of times.
	"gripper may slip at 14 N", "it may have dropped", "it may 5 times retry", "may 14 N be too much", "march in place", "march 3 steps",
	"March 3 steps forward", "the robot sat on the table", "last sat on the shelf", "on sun exposure", "sun glare blinds it",
	"wed the two parts", "what now slows the arm", "know how", "nowhere", "snow", "now-failed grasp", "a three-day-old map",
	"yesterdays", "monday_run", "todays.log", "decimal 3", "an august robot", "noon", "midnight blue", "morning routine", "night vision",
	"since the last calibration", "before the crash", "after lunch", "around the corner", "between the fingers", "from A to B", "by hand",
	"until it stops", "about 5 N",
	"the second attempt slipped", "may the arm slip", "slip at 10 N", "the cup is 3 m away", "move in 2 steps", "the robot worked all day",
	"one day it works", "run 12 of 30", "joint 3 at 45 deg", "set the hour counter", "a sun lamp", "the night light", "within the first minute of contact",
	"half an hour of battery", "2 hours and 30 minutes ago", "between 2 and 3 pm", "the weekend", "last quarter", "now", "tonight",
	// Chinese.
	"最后一次抓取", "最近的障碍物", "最近3次抓取", "接近3天线", "前天线坏了", "目前天线", "以前天气", "慢一点", "慢一点后再抓", "偏差3点",
	"三点接触", "两点之间的距离", "3号夹爪", "3分", "前3次", "下周三", "每周三", "一周三次", "上周期", "本周期的力", "周围有人", "四周", "上班",
	"本班组", "上面", "下午好", "早上好", "刚刚好", "2小时内完成", "14牛", "比例14:05", "3个前夹爪", "以上周边", "第3天", "25年", "晚点",
	"抓取力12.5牛", "前夹爪", "之前失败", "以后再说", "从左到右", "到3", "机器人一天到晚",
	"", " ", "?", "\xff\xfe", "、。",
}

func TestParseReadsNothing(t *testing.T) {
	now := wednesday(t)
	if len(traps) < 60 {
		t.Fatalf("only %d sentences", len(traps))
	}
	for _, ask := range traps {
		t.Run(ask, func(t *testing.T) {
			r := timeparse.Parse(ask, now)
			for _, ph := range r.Phrases {
				t.Errorf("got %q read as %s, want nothing read", ph.Text, show(ph.After, ph.Before, now))
			}
			if ask != "\xff\xfe" && r.Rest != ask {
				t.Errorf("got rest %q, want the question", r.Rest)
			}
		})
	}
}

func TestParseNotes(t *testing.T) {
	now := wednesday(t)
	for _, tc := range []struct{ ask, bounds, rest, note string }{
		{"slips yesterday and last Monday", "- / -", "slips yesterday and last Monday",
			`No moment is at once "yesterday" and "last Monday": none of them was used.`},
		{"slips last week at 14:05", "- / -", "slips last week at 14:05",
			`No moment is at once "last week" and "at 14:05": none of them was used.`},
		{"slips before yesterday's crash at 14:05", "- / -", "slips before yesterday's crash at 14:05",
			`"before yesterday's" was not read, so no time words were used.`},
		{"slips of the Monday night shift today", "- / -", "slips of the Monday night shift today",
			`"the Monday night shift" was not read, so no time words were used.`},
		{"昨天夜班的滑落", "- / -", "昨天夜班的滑落", `"昨天夜班" was not read, so no time words were used.`},
		{"slips after 15:00 today, though before 14:00", "- / -", "slips after 15:00 today, though before 14:00",
			`No moment is at once "after 15:00 today" and "before 14:00": none of them was used.`},
	} {
		t.Run(tc.ask, func(t *testing.T) {
			r := timeparse.Parse(tc.ask, now)
			got := []string{show(r.After, r.Before, now), r.Rest, r.Note}
			if diff := cmp.Diff(got, []string{tc.bounds, tc.rest, tc.note}); diff != "" {
				t.Errorf("-got +want\n%s", diff)
			}
		})
	}
}
