package classify_test

import (
	"strings"
	"testing"
)

// The budget is 20 us for an ordinary fact and 2 ms for 16 KiB, also if the
// text was written to be slow.
func BenchmarkClassify(b *testing.B) {
	rules := builtIn(b)
	full := func(s string) string { return strings.Repeat(s, 16<<10/len(s)) }
	for _, bb := range []struct{ name, text string }{
		{"fact", "Grasping the glass cup at 12.5 N slipped twice because the left finger pad was worn; 14 N held it on 9 of 10 tries, see logs/run_0412.csv."},
		{"fact/zh", "夹爪以 12.5N 抓取玻璃杯时打滑两次，原因是左侧指垫磨损；改用 14N 后十次成功九次，参数见 config/grip.yaml"},
		{"fact/plain", "Today the weather on the terrace was pleasant and nobody came to visit us, so we sat there and read a long book about birds until the evening."},
		{"16KiB/prose", full("The robot moved the cup from the shelf to the table and waited there for the next order of the day. ")},
		{"16KiB/zh", full("机器人把杯子从架子上移到桌子上，然后在那里等待当天的下一个指令。")},
		{"16KiB/always", full("always on time. ")},
		{"16KiB/^always", full("x always-on. always_ \n-  - always. ")},
		{"16KiB/found", full("found found found it and found ")},
		{"16KiB/found...error", full("we found no error. ")},
		{"16KiB/regexp", full("port version report ")},
		{"16KiB/names", full("a_.b Ab1/c_- x.go( ab_.")},
		{"16KiB/paths", full("a/b.go/c_d ")},
		{"16KiB/backticks", full("`a`` `b c` ``")},
		{"16KiB/一个比", full("比比比比较")},
		{"16KiB/blank", full("must    \t ")},
		{"16KiB/latin-1", full("\xc3\x89\xe2\x84\xaa\xff\xc4\xb0 ")},
	} {
		b.Run(bb.name, func(b *testing.B) {
			b.SetBytes(int64(len(bb.text)))
			b.ReportAllocs()
			for b.Loop() {
				rules.Classify(bb.text, 40)
			}
		})
	}
}

func BenchmarkParse(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		builtIn(b)
	}
}
