package browsertest

import (
	"fmt"
	"path/filepath"
	"testing"
)

// view is a page and how to tell that its content has come.
type view struct {
	name, path string
	ready      [][2]string // a selector and a text of it
}

// words are texts of the dashboard in the language of a pass.
type words map[string]string

var (
	english = words{
		"home": "What this node remembers", "failures": "What went wrong", "incidents": "Incidents", "newest": "Newest memories",
		"found": "found in", "history": "Versions", "forgotten": "This memory is forgotten", "merged": "This memory was merged into another",
		"conflict": "Says otherwise", "sessions": "Episodes", "timeline": "Timeline", "compare": "Two episodes side by side",
		"differs": "What differs", "doctor": "Check-up", "recorders": "Recorders", "nowhere": "There is no such page", "empty": "This memory is empty",
		"missing": "Not found", "perceptions": "Perceptions", "map": "Map", "subjects": "Subjects",
	}
	chinese = words{
		"home": "该节点的记忆", "failures": "出了什么问题", "incidents": "故障", "newest": "最新记忆",
		"found": "找到", "history": "版本", "forgotten": "该记忆已被遗忘", "merged": "该记忆已并入另一条",
		"conflict": "矛盾", "sessions": "回合", "timeline": "时间线", "compare": "两个回合对照",
		"differs": "差异", "doctor": "体检", "recorders": "记录器", "nowhere": "没有这个页面", "empty": "记忆为空",
		"missing": "未找到", "perceptions": "感知", "map": "地图", "subjects": "对象",
	}
)

// all are the views of the seeded node.
func (s *seed) all(say words) []view {
	memory := func(id int64) string { return fmt.Sprintf("/memory/%d", id) }
	list := []view{
		{"home", "/", [][2]string{{"h1", say["home"]}, {"h2", say["failures"]}, {"[data-incident] .row-title", ""}, {".activity svg", ""}, {".shares a", kitchen}}},
		{"incidents", "/incidents", [][2]string{{"h1", say["incidents"]}, {"[data-incident] .row-title", ""}, {".pager a", ""}}},
		{"search", "/search", [][2]string{{"h2", say["newest"]}, {".row-title", ""}}},
		{"search-query", "/search?q=wet+glass&collection=kitchen&type=fact", [][2]string{{".search-head", say["found"]}, {".row-title mark", "wet"}, {".why-list", ""}, {".given-chip", kitchen}}},
		{"search-filters", `/search?outcome=failed&where=[{"path":"task.name","op":"$eq","value":"reach"}]`, [][2]string{{".given-chip", "reach"}, {".row-title", "shelf"}}},
		{"search-nothing", "/search?q=zeppelin", [][2]string{{".empty", ""}}},
		{"memory-failure", memory(s.failure), [][2]string{{"h2", say["history"]}, {".tree", "params"}, {".row-title", ""}}},
		{"memory-edited", memory(s.edited), [][2]string{{".diff ins", ""}, {".facts", ""}}},
		{"memory-conflict", memory(s.conflict[0]), [][2]string{{".notice", say["conflict"]}, {".versions", ""}}},
		{"memory-forgotten", memory(s.forgotten), [][2]string{{".notice", say["forgotten"]}, {".versions", ""}}},
		{"memory-merged", memory(s.merged), [][2]string{{".notice", say["merged"]}, {".versions", ""}}},
		{"memory-missing", "/memory/999999", [][2]string{{".error-title", say["missing"]}}},
		{"sessions", "/sessions", [][2]string{{"h1", say["sessions"]}, {".sessions .row-title", "fill the dishwasher"}}},
		{"session", "/sessions/" + s.sessions[0], [][2]string{{"h2", say["timeline"]}, {".timeline svg .item", ""}, {".recalled", ""}, {".facts", "/wrist/ft"}, {".stream figcaption", "/odom"}}},
		{"compare", "/sessions/compare?a=" + s.sessions[0] + "&b=" + s.sessions[1], [][2]string{{"h1", say["compare"]}, {"h2", say["differs"]}, {".compare-two > :nth-child(2) svg .item", ""}}},
		{"attempt", "/sessions/" + s.attempt, [][2]string{{"h2", "the mug stands upright"}, {".tries td", "grip_force 11 N"}, {".tries meter", ""}}},
		{"subjects", "/subjects", [][2]string{{"h1", say["subjects"]}, {".subject-list a", "arm7"}, {".subject-list a", "blue mug"}}},
		{"subject", "/subjects/arm%207", [][2]string{{".row-facts", "Bertha"}, {".subject-lines a", "approach angle 30 degrees"}, {".subject-list a", "blue mug"}}},
		{"subject-unknown", "/subjects/arm%2007", [][2]string{{".empty", "did you mean arm7"}}},
		{"doctor", "/doctor", [][2]string{{"h1", say["doctor"]}, {".checks", ""}, {"h2", say["recorders"]}, {"tbody tr", "/wrist/ft"}}},
		{"nowhere", "/nowhere", [][2]string{{".empty", say["nowhere"]}}},
	}
	shown := map[string]string{
		"image": ".picture img", "depth": ".picture img", "wrench": ".trace-panel canvas", "sound": ".sound audio",
		"pcd": ".space-scale", "mug": ".space-scale", "trajectory": ".space-scale", "scan": ".space-scale", "blob": ".hex-page", "text": ".text-page",
	}
	for _, kind := range kinds {
		list = append(list, view{"perception-" + kind, memory(s.perceptions[kind]), [][2]string{{shown[kind], ""}, {"h2", say["history"]}}})
	}
	return append(list,
		view{"perceptions", "/perceptions", [][2]string{{"h1", say["perceptions"]}, {".gallery-title", "log of the gripper"}}},
		view{"map", "/map", [][2]string{{"h1", say["map"]}, {".map-figure canvas", ""}, {".map-caption", "60"}}},
		view{"map-picked", `/map?at=1,1,0.8&radius=0.8&heat=failures`, [][2]string{{".map-figure canvas", ""}, {".near .row-title", "reached shelf"}}},
	)
}

// mainPages opens one view of each kind in one window and checks that its content
// comes and that the browser complains about nothing.
func (w *world) mainPages(t *testing.T) {
	p := w.open(t, w.node, wide)
	for _, v := range w.seed.all(english) {
		switch v.name {
		case "home", "incidents", "search-query", "memory-edited", "sessions", "session", "compare", "attempt", "subjects", "subject", "doctor", "perceptions", "perception-wrench", "perception-trajectory", "map":
			p.in(t, v.name, func() { p.show(v) })
		}
	}
}

// show opens a view and waits for its content.
func (p *tab) show(v view) {
	p.t.Helper()
	p.goTo(v.path)
	for _, r := range v.ready {
		p.see(r[0], r[1])
	}
}

// views opens every view, wide and light, narrow and dark, and in Chinese.
func (w *world) views(t *testing.T) {
	passes := []struct {
		look look
		say  words
	}{
		{wide, english},
		{narrow, english},
		{look{name: "wide-zh", width: 1440, height: 900, lang: "zh"}, chinese},
	}
	for _, pass := range passes {
		t.Run(pass.look.name, func(t *testing.T) {
			t.Parallel()
			p := w.open(t, w.node, pass.look)
			p.expect("404 (Not Found)") // the memory that is not there
			for _, v := range w.seed.all(pass.say) {
				p.in(t, v.name, func() {
					p.show(v)
					w.audit(p, pass.look.name+"-"+v.name)
				})
			}
		})
	}
	t.Run("empty memory", func(t *testing.T) {
		t.Parallel()
		empty := w.serve(t, filepath.Join(t.TempDir(), "memory.db"))
		for _, l := range []look{wide, narrow} {
			p := w.open(t, empty, l)
			for _, v := range []view{
				{"home", "/", [][2]string{{".empty", english["empty"]}, {".snippet", "robotmem learn"}}},
				{"search", "/search", [][2]string{{".empty", ""}}},
				{"sessions", "/sessions", [][2]string{{".empty", ""}}},
				{"doctor", "/doctor", [][2]string{{".checks", ""}}},
			} {
				p.show(v)
				w.audit(p, l.name+"-empty-"+v.name)
			}
		}
	})
}
