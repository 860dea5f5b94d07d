package classify_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	taxonomy "github.com/robotmem/robotmem-go"
	"github.com/robotmem/robotmem-go/classify"
)

func builtIn(tb testing.TB) *classify.Rules {
	tb.Helper()
	rules, err := classify.Parse(taxonomy.YAML)
	if err != nil {
		tb.Fatal(err)
	}
	return rules
}

// categoryTexts has texts of each category, and similar texts of another category.
var categoryTexts = []struct {
	category string
	english  []string
	chinese  []string
	not      []string
}{
	{
		category: "constraint",
		english:  []string{"The arm must never leave the cell", "Always home the joints first.", "It slipped. Never squeeze harder than 20 N.", "- always open the gripper slowly", "1) Never grasp wet glass", "Safety: never exceed 30 N"},
		chinese:  []string{"抓取前必须回零", "禁止在充电时移动", "力矩绝不能超限", "一定要先标定"},
		not:      []string{"It is almost always wet here", "Always-on mode drains power", "always_on=1 drains power", "nevertheless it held", "The must alwaysness of it", "强制类型转换丢了精度"},
	},
	{
		category: "preference",
		english:  []string{"Prefer the suction cup over the gripper", "The operator prefers to use the left arm", "It is recommended to use 12 N", "We preferred slow moves rather than fast ones"},
		chinese:  []string{"优先使用左臂", "用户偏好用吸盘", "推荐使用柔顺模式", "建议使用 12N", "倾向于用慢速"},
		not:      []string{"the preferred route is long", "任务优先级使用数字表示", "偏好未知", "训练偏好"},
	},
	{
		category: "worldview",
		english:  []string{"Suction is better than pinching for boxes", "Slow approach is the right way", "I usually grasp the handle", "From now on the tray is on the left", "the best way to hold a cup"},
		chinese:  []string{"吸盘比夹爪好", "更好的做法是先推后抓", "这是最佳实践", "我习惯从上方接近"},
		not:      []string{"that is better, then", "信号比较好", "比例好", "the leftright way", "数据对比好几次"},
	},
	{
		category: "tradeoff",
		english:  []string{"Speed has a trade-off with accuracy", "Pros and cons of suction", "lidar versus camera indoors", "rubber vs silicone pads", "Trade-offs remain"},
		chinese:  []string{"速度与精度的权衡", "吸盘的优点是快", "然而夜里看不清", "两种夹爪对比"},
		not:      []string{"traded off-site", "vsync is on", "conversus"},
	},
	{
		category: "root_cause",
		english:  []string{"It slipped because the pad was worn", "The drop was caused by a wet cup", "Root cause: a loose cable", "drift due to a warm gyro"},
		chinese:  []string{"原因是线缆松动", "根因在于标定过期", "地面湿导致打滑", "由于反光没有识别", "因为电量低"},
		not:      []string{"the cause is unknown", "becauseful", "it was due Tuesday"},
	},
	{
		category: "decision",
		english:  []string{"We decided on rubber pads", "Chose the left arm", "Use suction instead of fingers", "We should slow down near people", "went with silicone"},
		chinese:  []string{"决定先抓大件", "选择了橡胶指垫", "采用柔顺控制", "改用吸盘"},
		not:      []string{"undecided so far", "the indecision cost time", "决定性的证据", "选择器没有返回结果"},
	},
	{
		category: "revert",
		english:  []string{"Reverted the gain", "A rollback fixed the planner", "undo the last motion", "rolled back to 1.2"},
		chinese:  []string{"已回滚固件", "撤销上一步动作", "还原参数"},
		not:      []string{"undoubtedly", "irreverted", "the roll and the back"},
	},
	{
		category: "pattern",
		english:  []string{"The pattern is a slip at noon", "It stops every time the door opens", "Whenever it rains the lens fogs", "a recurring stall"},
		chinese:  []string{"规律是中午打滑", "门开时总是停下", "反复出现的抖动", "每次上坡都偏左"},
		not:      []string{"patterned tiles", "glob pattern", "everytime", "总数是十"},
	},
	{
		category: "architecture",
		english:  []string{"The grasp module is new", "The perception pipeline has three stages", "The planner depends on the map", "architecture of the cell"},
		chinese:  []string{"视觉架构很简单", "抓取模块是新的", "规划器依赖地图", "软件分层清楚"},
		not:      []string{"modulefinder is slow", "it runs module_x fast", "the pipelined cpu", "see modules.d"},
	},
	{
		category: "config",
		english:  []string{"The configuration is stale", "Set the environment variable first", "gain setting of 4", "It listens on port 80", "firmware version 2 is here", "Version v2.1 ships"},
		chinese:  []string{"配置过期", "夹爪设置为慢速", "缺少环境变量", "固件版本是新的"},
		not:      []string{"the port is wet", "support 80 kg", "setting up the cell", "in config.yaml", "the version on the robot"},
	},
	{
		category: "postmortem",
		english:  []string{"Postmortem of the fall", "Lesson learned: dry the cup", "post-mortem of Tuesday", "lessons learnt at the dock"},
		chinese:  []string{"教训：先擦干杯子", "事故复盘", "这次的教训很深"},
		not:      []string{"the lesson starts at noon", "mortem"},
	},
	{
		category: "gotcha",
		english:  []string{"Gotcha: the tray tilts", "A pitfall with glass", "Watch out for the cable", "two gotchas here"},
		chinese:  []string{"踩坑：托盘会倾斜", "玻璃是陷阱", "这里有个坑"},
		not:      []string{"got charged", "the pit fell in", "坑洼路面"},
	},
	{
		category: "self_defect",
		english:  []string{"A hallucination tendency with long lists", "I tend to hallucinate part numbers", "sycophancy tendency towards operators", "The model hallucinated a shelf"},
		chinese:  []string{"AI 缺陷：记不住顺序", "训练偏好让它话多", "存在幻觉倾向", "有讨好倾向"},
		not:      []string{"hallucinogenic mushrooms were sorted", "the tendency of the cart to roll", "数据训练好了"},
	},
	{
		category: "observation_debug",
		english:  []string{"Found an error in the planner", "noticed that the driver crashed", "found a memory leak after an hour", "We found it timed out"},
		chinese:  []string{"发现相机异常", "注意到程序崩溃", "发现连接超时", "发现内存泄漏"},
		not:      []string{"Found the cup. An error followed", "found no errors today", "foundation error", "an error was there before we found it", "发现杯子。然后异常", "未发现异常"},
	},
	{
		category: "observation_code",
		english:  []string{"Found the limit in src/arm/limits.go", "Noticed that `max_force` is 30", "found the value in planner.py:42", "noticed move_to() blocks"},
		chinese:  []string{"发现函数会阻塞", "注意到 `max_force` 是 30", "发现 limits.yaml 里的值"},
		not:      []string{"`max_force` is 30, as we found", "found the cup. See limits.go", "the malfunctioning door was noticed", "函数会阻塞"},
	},
	{
		category: "observation",
		english:  []string{"Found that wet cups slip", "We observed that the tray tilts", "It turns out glass is fine", "12 N works best"},
		chinese:  []string{"发现杯子会滑", "观察到托盘倾斜", "实测 12N 足够", "数据显示左臂更准"},
		not:      []string{"the newfound that", "a lost and found box", "没有发现杯子"},
	},
}

func TestCategoryOfPlainTexts(t *testing.T) {
	rules := builtIn(t)
	var order []string
	for _, tt := range categoryTexts {
		order = append(order, tt.category)
		if len(tt.english) < 3 || len(tt.chinese) < 3 {
			t.Errorf("%s: fewer than three texts in a language", tt.category)
		}
		for _, text := range slices.Concat(tt.english, tt.chinese) {
			got := rules.Classify(text, 0)
			if got.Category != tt.category {
				t.Errorf("%s: %q is %s", tt.category, text, got.Category)
			}
			if !slices.Contains(got.Tags, tt.category) {
				t.Errorf("%s: %q has tags %v", tt.category, text, got.Tags)
			}
		}
		for _, text := range tt.not {
			if got := rules.Classify(text, 0); got.Category == tt.category && tt.category != rules.Fallback() || slices.Contains(got.Tags, tt.category) {
				t.Errorf("%s: %q matches, tags %v", tt.category, text, got.Tags)
			}
		}
	}
	if diff := cmp.Diff(order, rules.Categories()); diff != "" {
		t.Errorf("order of precedence (-contract +file):\n%s", diff)
	}
}

func TestFirstCategoryWinsAndAllBecomeTags(t *testing.T) {
	for _, tt := range []struct {
		name, text, category string
		tags                 []string
	}{
		{"constraint before root_cause", "The pad must never get wet because it slips", "constraint", []string{"constraint", "root_cause", "slip"}},
		{"preference before decision", "We decided to prefer suction over pinching", "preference", []string{"decision", "preference"}},
		{"worldview before tradeoff", "Slow is better than fast, despite the trade-off", "worldview", []string{"tradeoff", "worldview"}},
		{"tradeoff before root_cause", "A trade-off due to mass", "tradeoff", []string{"root_cause", "tradeoff"}},
		{"root_cause before decision", "We chose rubber because glass is smooth", "root_cause", []string{"decision", "root_cause"}},
		{"decision before revert", "We decided to undo it", "decision", []string{"decision", "revert"}},
		{"revert before pattern", "We revert every time", "revert", []string{"pattern", "revert"}},
		{"pattern before architecture", "Whenever the module starts", "pattern", []string{"architecture", "pattern"}},
		{"architecture before config", "The module has a setting", "architecture", []string{"architecture", "config"}},
		{"config before postmortem", "A lesson learned about version 2", "config", []string{"config", "postmortem"}},
		{"postmortem before gotcha", "The pitfall of the lesson learned", "postmortem", []string{"gotcha", "postmortem"}},
		{"gotcha before self_defect", "A gotcha: the model hallucinates", "gotcha", []string{"gotcha", "hallucination", "self_defect"}},
		{"self_defect before observation_debug", "Found an error: the model hallucinates", "self_defect", []string{"hallucination", "observation", "observation_debug", "self_defect"}},
		{"observation_debug before observation_code", "in a.go they found a bug in b.go", "observation_debug", []string{"observation_code", "observation_debug"}},
		{"observation_code before observation", "found that `x` is 3", "observation_code", []string{"observation", "observation_code"}},
		{"nothing", "the cup is red", "observation", []string{}},
		{"empty", "", "observation", []string{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := builtIn(t).Classify(tt.text, 0)
			if got.Category != tt.category {
				t.Errorf("got %s, want %s", got.Category, tt.category)
			}
			if diff := cmp.Diff(tt.tags, got.Tags); diff != "" {
				t.Errorf("tags (-want +got):\n%s", diff)
			}
		})
	}
}
