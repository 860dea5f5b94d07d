package classify_test

import (
	"slices"
	"testing"

	"github.com/robotmem/robotmem-go/classify"
)

// The names that the design lists; a file of ours must hold all of them.
var (
	roots = []string{"metacognition", "capability", "domain", "technique", "timing", "boundary", "experience", "self_defect", "reflection"}
	known = []string{
		"reasoning", "cognitive_bias", "decision_framework", "build", "debug", "design", "review", "architecture",
		"cs_fundamentals", "ai_ml", "finance", "patterns", "anti_patterns", "recipes", "when_to_start", "when_to_stop",
		"when_to_switch", "tradeoff", "constraint", "not_applicable", "war_story", "postmortem", "gotcha", "root_cause",
		"hallucination", "sycophancy", "overengineering", "accuracy_calibration", "behavior_rule", "preference",
		"force", "torque", "slip", "collision", "calibration", "pose", "gripper", "joint", "battery", "trajectory",
		"obstacle", "localization", "camera", "lidar", "contact", "grasp", "release",
	}
)

func TestTagTree(t *testing.T) {
	tags := builtIn(t).Tags()
	if len(tags) < 50 {
		t.Errorf("%d tags, want at least 50", len(tags))
	}
	seen := map[string]bool{"": true}
	var gotRoots []string
	for i, tag := range tags {
		if !seen[tag.Parent] {
			t.Errorf("%s comes before its parent %s", tag.Name, tag.Parent)
		}
		if tag.Parent == "" {
			gotRoots = append(gotRoots, tag.Name)
			if i != len(gotRoots)-1 {
				t.Errorf("root %s comes after a child", tag.Name)
			}
		}
		if tag.DisplayName == "" || seen[tag.Name] {
			t.Errorf("%+v: no name for people, or twice", tag)
		}
		seen[tag.Name] = true
	}
	if !slices.Equal(gotRoots, roots) {
		t.Errorf("roots are %v, want %v", gotRoots, roots)
	}
	for _, name := range known {
		if !seen[name] {
			t.Errorf("no tag %s", name)
		}
	}
	tags[0].Name = "changed"
	if builtIn(t).Tags()[0].Name == "changed" {
		t.Error("a caller can change the rules")
	}
}

func TestEveryCategoryIsATag(t *testing.T) {
	rules := builtIn(t)
	for _, c := range rules.Categories() {
		if !slices.ContainsFunc(rules.Tags(), func(tag classify.Tag) bool { return tag.Name == c }) {
			t.Errorf("category %s is no tag", c)
		}
	}
}

func TestRobotTags(t *testing.T) {
	rules := builtIn(t)
	for _, tt := range []struct {
		tag, english, chinese, not string
	}{
		{"force", "a force of 12 N", "夹持力为 12N", "enforced, workforce"},
		{"torque", "MAX_TORQUE is 3", "扭矩过大", "torquemada"},
		{"slip", "it slipped twice", "杯子打滑", "the slipper"},
		{"collision", "it collided with a box", "发生碰撞", "collide0scope"},
		{"calibration", "hand-eye calibration", "手眼标定", "calibre"},
		{"pose", "the target pose", "目标位姿", "purpose, posed a question"},
		{"gripper", "left_gripper opens", "夹爪张开", "grippers2"},
		{"joint", "joint 3 is hot", "三号关节", "jointly"},
		{"battery", "batteries run low", "电池不足", "batterys"},
		{"trajectory", "a smooth trajectory", "轨迹平滑", "trajectorial"},
		{"obstacle", "an obstacle ahead", "前方障碍", "obstacles2"},
		{"localization", "AMCL lost it", "定位丢失", "定位问题"},
		{"camera", "the wrist camera", "腕部相机", "cameraman"},
		{"lidar", "LIDAR is blind", "激光雷达失效", "solidarity"},
		{"contact", "in contact with the lid", "接触检测", "please contact the vendor"},
		{"grasp", "a top grasp", "抓取杯子", "grasper"},
		{"release", "release the cup", "松开物体", "the release of version two"},
		{"success", "it succeeded", "成功抓取", "没有成功"},
		{"failure", "it failed", "抓取失败", "failsafe"},
	} {
		t.Run(tt.tag, func(t *testing.T) {
			for _, text := range []string{tt.english, tt.chinese} {
				if got := rules.Classify(text, 0).Tags; !slices.Contains(got, tt.tag) {
					t.Errorf("%q has tags %v", text, got)
				}
			}
			if got := rules.Classify(tt.not, 0).Tags; slices.Contains(got, tt.tag) {
				t.Errorf("%q has tags %v", tt.not, got)
			}
		})
	}
}
