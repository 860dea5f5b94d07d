//go:build tokens

package text_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/robotmem/robotmem-go/robotmem/internal/text"
	"github.com/tiktoken-go/tokenizer/codec"
)

// The estimate is not less than what the tokenizers of common models count, and not
// twice as much.
func TestTokensAreAnUpperBound(t *testing.T) {
	samples := map[string]string{
		"facts":     "grip_force=12.5 N holds wet glass; slipped at 9.0 N, dropped 3 of 7 cups near x=1.25, y=-0.40 on 2026-11-20",
		"JSON":      `{"memory_id":1234,"score":0.93,"line":"success, grip_force=12.5 N, 2026-11-20: wet glass held, \"no slip\""},{"memory_id":7}`,
		"Chinese":   strings.Repeat("抓取湿玻璃杯时，夹爪力设为12.5牛顿成功，9牛顿时滑落；充电桩位于走廊B尽头。", 4),
		"Japanese":  strings.Repeat("濡れたガラスは12.5 Nでつかむと滑らない。", 4),
		"German":    strings.Repeat("Der Greifer rutschte bei 9,0 N ab, größere Kräfte hielten das nasse Glas zuverlässig.", 4),
		"Russian":   strings.Repeat("Захват удержал мокрый стакан при усилии 12,5 Н. ", 4),
		"Arabic":    strings.Repeat("أمسكت القبضة الكوب المبلل بقوة ١٢ نيوتن. ", 4),
		"base64":    strings.Repeat("aGVsbG8gd29ybGQhIQ7Zk4x9QpLmT0vRbYw3", 8),
		"hex":       strings.Repeat("3fa9c07be1d24480", 8),
		"UUIDs":     strings.Repeat("0199d0b4-2f3a-7c1d-9e55-6b8f0a1c2d3e ", 4),
		"emoji":     strings.Repeat("ok 👍 fail 💥 ", 8),
		"CamelCase": strings.Repeat("MoveGroupInterface.setPoseTarget(geometry_msgs::PoseStamped) ", 4),
		"paths":     strings.Repeat("/home/robot/ws/src/arm_driver/config/joint_limits.yaml:214 ", 4),
		"numbers":   strings.Repeat("0.0012 -3.14159 1e-9 100000 ", 8),
	}
	for _, file := range []string{"explanation/architecture.md", "reference/perceptions.md", "reference/security.md"} {
		data, err := os.ReadFile(filepath.Join("../../../docs", file))
		if err != nil {
			t.Fatal(err)
		}
		samples[file] = string(data)
	}
	for _, c := range []*codec.Codec{codec.NewCl100kBase(), codec.NewO200kBase()} {
		for name, s := range samples {
			want, err := c.Count(s)
			if err != nil {
				t.Fatal(err)
			}
			got := text.Tokens(s)
			t.Logf("%s %s %d %d %.2f", c.GetName(), name, got, want, float64(got)/float64(want))
			if got < want || got > 2*want+4 {
				t.Errorf("%s: %d tokens estimated, %s counts %d", name, got, c.GetName(), want)
			}
		}
	}
}
