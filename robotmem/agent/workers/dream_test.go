package workers_test

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/admin"
	"github.com/robotmem/robotmem-go/robotmem/agent/model"
	"github.com/robotmem/robotmem-go/robotmem/agent/workers"
	"github.com/robotmem/robotmem-go/robotmem/local"
)

// episodes stores so many episodes, each with the facts that tell makes.
func episodes(t *testing.T, node robotmem.Service, n int, tell func(i int) []robotmem.LearnRequest) {
	t.Helper()
	for i := range n {
		s, err := node.StartSession(t.Context(), &robotmem.StartSessionRequest{Context: robotmem.Object{"task": map[string]any{"name": "pour"}}})
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range tell(i) {
			r.SessionID = s.SessionID
			if _, err := node.Learn(t.Context(), &r); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := node.EndSession(t.Context(), &robotmem.EndSessionRequest{SessionID: s.SessionID, Outcome: "success"}); err != nil {
			t.Fatal(err)
		}
	}
}

func pouring(i int) []robotmem.LearnRequest {
	outcome := []string{"success", "success", "failure"}[i%3]
	return []robotmem.LearnRequest{
		{Insight: fmt.Sprintf("The wet glass was held with a grip of %d.5 N while the arm poured", 11+i), Outcome: outcome},
		{Insight: fmt.Sprintf("Water temperature in the kitchen tank read %d degrees", 20+3*i)},
		{Insight: fmt.Sprintf("Tray %c was empty when the arm arrived", 'A'+i)},
	}
}

func dream(t *testing.T, node robotmem.Service, m model.Model, edit func(*workers.Dream)) *workers.Report {
	t.Helper()
	done, err := workers.OpenDone("", false)
	if err != nil {
		t.Fatal(err)
	}
	d := &workers.Dream{Workers: &workers.Workers{Node: node, Model: m}, Collection: "default", Done: done}
	if edit != nil {
		edit(d)
	}
	r := &workers.Report{}
	if err := d.Run(t.Context(), r); err != nil {
		t.Fatal(err)
	}

	return r
}

func made(t *testing.T, node robotmem.Service, task string) []robotmem.Memory {
	t.Helper()
	res, err := node.List(t.Context(), &robotmem.ListRequest{Limit: 1000, ContextFilter: robotmem.Object{"model.task": task}})
	if err != nil {
		t.Fatal(err)
	}
	return res.Memories
}

// Without a model a pattern is its medoid, with the ids of the facts that show it. A second dream adds nothing.
func TestPatternsWithoutAModel(t *testing.T) {
	node := memory(t)
	episodes(t, node, 3, pouring)
	if r := dream(t, node, nil, nil); len(r.Linked) != 3 || r.Asked != 0 {
		t.Fatalf("%+v", r)
	}
	patterns := made(t, node, workers.TaskPattern)
	for _, p := range patterns {
		from, _ := p.Context.At("model.from")
		if list, _ := from.([]any); len(list) != 3 || !strings.HasPrefix(p.Content, "Seen in 3 facts") || p.Outcome != robotmem.OutcomeUnknown {
			t.Errorf("%q %v %s", p.Content, from, p.Outcome)
		}
	}
	if !slices.ContainsFunc(patterns, func(m robotmem.Memory) bool {
		return strings.HasPrefix(m.Content, "Seen in 3 facts (2 succeeded, 1 failed), such as: The wet glass")
	}) {
		t.Errorf("%+v", patterns)
	}
	if r := dream(t, node, nil, nil); len(r.Linked)+len(r.Added)+len(r.Replaced) != 0 {
		t.Errorf("a second dream: %+v", r)
	}
	// Half as many facts again replace the pattern.
	episodes(t, node, 2, func(i int) []robotmem.LearnRequest { return pouring(i + 3)[:1] })
	if r := dream(t, node, nil, nil); len(r.Replaced) != 1 {
		t.Errorf("after two more episodes: %+v", r)
	}
	if n := len(made(t, node, workers.TaskPattern)); n != 3 {
		t.Errorf("%d patterns", n)
	}
}

func TestTwoEpisodesAreNoPattern(t *testing.T) {
	node := memory(t)
	episodes(t, node, 2, func(i int) []robotmem.LearnRequest { return append(pouring(i), pouring(i+5)...) })
	if r := dream(t, node, nil, nil); len(r.Linked) != 0 {
		t.Errorf("%+v", r)
	}
}

const ruleText = "The wet glass must never be held with a grip of less than 12.5 N while the arm poured."

func dreamer() *scripted {
	m := &scripted{}
	m.add(workers.TaskPattern, "wet glass", `{"summary":"The wet glass was held while the arm poured in several episodes."}`)
	m.add(workers.TaskPattern, "temperature", `{"summary":"The kitchen tank read 999 degrees."}`)
	m.add(workers.TaskEpisode, "", `{"summary":"The arm poured while it held the wet glass."}`)
	m.add(workers.TaskRule, "wet glass", `{"rule":"`+ruleText+`","support":[1,2,3]}`)

	return m
}

// A rule is a proposal until a person confirms it: nothing shows it as a rule before.
func TestRulesAreProposed(t *testing.T) {
	node := memory(t)
	episodes(t, node, 3, pouring)
	r := dream(t, node, dreamer(), nil)
	rules := made(t, node, workers.TaskRule)
	if len(rules) != 1 || rules[0].Content != ruleText || rules[0].Category != "constraint" || rules[0].Pinned {
		t.Fatalf("%+v\n%+v", r, rules)
	}
	// The pattern with a number that no fact has is refused, and the third has no answer in JSON.
	if n := len(made(t, node, workers.TaskPattern)); n != 1 || r.Refused != 1 || r.Failed != 1 {
		t.Errorf("%d patterns, %+v", n, r)
	}
	if n := len(made(t, node, workers.TaskEpisode)); n != 3 {
		t.Errorf("%d summaries", n)
	}

	briefed := func() bool {
		s, err := node.StartSession(t.Context(), &robotmem.StartSessionRequest{Context: robotmem.Object{"task": map[string]any{"name": "pour the wet glass"}}})
		if err != nil {
			t.Fatal(err)
		}
		_, rules, _ := strings.Cut(s.Briefing.Text, "Rules")
		return strings.Contains(rules, "less than 12.5 N")
	}
	id := rules[0].MemoryID
	if briefed() {
		t.Error("the briefing has the proposal as a rule")
	}
	res, err := node.Recall(t.Context(), &robotmem.RecallRequest{Query: "grip of the wet glass while the arm pours", Detail: robotmem.DetailCompact, N: 20})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(res.Memories, func(m robotmem.Memory) bool {
		return m.MemoryID == id && strings.Contains(m.Line, "proposed by a model and not confirmed")
	}) {
		t.Errorf("%+v", res.Memories)
	}
	if list, err := workers.Proposals(t.Context(), node, "*"); err != nil || len(list.Memories) != 1 {
		t.Errorf("%+v %v", list, err)
	}
	if _, err := workers.Confirm(t.Context(), node, id); err != nil {
		t.Fatal(err)
	}
	m, err := node.Get(t.Context(), &robotmem.MemoryRequest{MemoryID: id})
	if err != nil || m.Content != ruleText {
		t.Fatal(m, err)
	}
	if state, _ := m.Context.At("model.state"); state != "confirmed" {
		t.Error(m.Context)
	}
	if !briefed() {
		t.Error("the briefing lacks the confirmed rule")
	}
	if _, err := workers.Reject(t.Context(), node, id, "wrong"); robotmem.KindOf(err) != robotmem.Conflict {
		t.Error(err)
	}
}

func TestProposalsNeedThreeFacts(t *testing.T) {
	for _, say := range []string{`{"rule":"` + ruleText + `","support":[1,1,1,2]}`, `{"rule":"` + ruleText + `","support":[1,2,7]}`, `{"rule":"Hold the wet glass with a grip of 44 N while the arm pours.","support":[1,2,3]}`} {
		node := memory(t)
		episodes(t, node, 3, pouring)
		m := &scripted{}
		m.add(workers.TaskRule, "wet glass", say)
		r := dream(t, node, m, nil)
		if len(made(t, node, workers.TaskRule)) != 0 || r.Refused != 1 {
			t.Errorf("%s: %+v", say, r)
		}
	}
}

// pairs are facts of different situations, and whether they contradict each other.
var pairs = []struct {
	a, b string
	yes  bool
}{
	{"The door of the lab opens to the left side", "The door of the lab opens to the right side", true},
	{"Tray seven of the kitchen is made of steel", "Tray seven of the kitchen is made of wood", true},
	{"The lift of hall B accepts loads of 120 kg", "The lift of hall B accepts loads of 90 kg", true},
	{"Charging of the rover takes 2 hours at the dock", "Charging of the rover takes 5 hours at the dock", true},
	{"The light of the corridor stays on at night", "The light of the corridor stays off at night", true},
	{"Silicone pads of the gripper stick to wet glass", "Silicone pads of the gripper slip on wet glass", true},
	{"The scanner of aisle 3 reads labels upside down", "The scanner of aisle 3 cannot read labels upside down", true},
	{"The ramp of the truck carries the heavy rover", "The ramp of the truck never carries the heavy rover", true},
	{"Crate 12 of the store holds broken cups", "Crate 12 of the store holds clean cups", true},
	{"The valve of the tank closes within 3 s", "The valve of the tank closes within 30 s", true},
	{"The elevator of building A needs a badge", "The elevator of building C needs a badge", false},
	{"Arm 7 in the kitchen lifted the red crate", "Arm 9 in the kitchen lifted the red crate", false},
	{"Battery of rover 1 was full on monday morning", "Battery of rover 1 was full on friday morning", false},
	{"The camera of the gate saw two visitors", "The camera of the gate saw five visitors", false},
	{"Route north of the campus took 40 minutes", "Route north of the campus took 41 minutes", false},
	{"The wheel of the cart squeaked near shelf 4", "The wheel of the cart squeaked near shelf 8", false},
	{"The sensor of the wrist drifted by 1 percent", "The sensor of the wrist drifted by 2 percent", false},
	{"The floor of the garage was wet in april", "The floor of the garage was wet in march", false},
	{"Speaker of the lobby plays music at noon", "Speaker of the lobby plays speech at noon", false},
	{"Filter of the pump was changed by Otto", "Filter of the pump was changed by Lena", false},
}

func TestContradictionsAcrossContexts(t *testing.T) {
	node, m := memory(t), &scripted{}
	ids := map[string]string{}
	for i, p := range pairs {
		for j, text := range []string{p.a, p.b} {
			res, err := node.Learn(t.Context(), &robotmem.LearnRequest{Insight: text, Context: robotmem.Object{"robot": map[string]any{"id": fmt.Sprint("robot-", j)}}, Outcome: "unknown"})
			if err != nil {
				t.Fatal(err)
			}
			ids[text] = res.UID
		}
		m.add(workers.TaskContradiction, pairs[i].b, fmt.Sprintf(`{"contradicts":%t,"reason":"because"}`, p.yes))
	}
	r := dream(t, node, m, nil)
	asked := 0
	for _, task := range m.asked {
		if task == workers.TaskContradiction {
			asked++
		}
	}

	right := 0
	found := made(t, node, workers.TaskContradiction)
	for _, p := range pairs {
		linked := slices.ContainsFunc(found, func(m robotmem.Memory) bool {
			of, _ := m.Context.At("model.contradicts")
			return fmt.Sprint(of) == fmt.Sprint([]any{ids[p.a], ids[p.b]})
		})
		if linked == p.yes {
			right++
		} else {
			t.Errorf("%q and %q: linked %t", p.a, p.b, linked)
		}
	}
	if right != len(pairs) || asked > len(pairs) {
		t.Errorf("%d of %d pairs, %d questions, %+v", right, len(pairs), asked, r)
	}
	// Both stay as they are.
	if list, err := node.List(t.Context(), &robotmem.ListRequest{Status: "superseded"}); err != nil || list.Total != 0 {
		t.Error(list.Total, err)
	}
}

func TestLongTextsAndImages(t *testing.T) {
	node, m := memory(t), &scripted{}
	log := strings.Repeat("waypoint reached\n", 400) + "error E42: the motor of joint 3 stalled\n"
	if _, err := node.SavePerception(t.Context(), &robotmem.SavePerceptionRequest{Description: "log of the night run", PerceptionType: "procedural", Data: log, MediaType: "text/plain"}); err != nil {
		t.Fatal(err)
	}
	picture, err := node.SavePerception(t.Context(), &robotmem.SavePerceptionRequest{Description: "keyframe of the tray", PerceptionType: "visual", DataBase64: pngImage(t)})
	if err != nil {
		t.Fatal(err)
	}
	m.add(workers.TaskCompress, "E42", `{"summary":"The run reached its waypoints and ended with error E42: the motor of joint 3 stalled."}`)
	m.add(workers.TaskCaption, "keyframe", `{"summary":"A red cup stands on the left of a tray."}`)
	r := dream(t, node, m, func(d *workers.Dream) { d.Captions = true })
	if len(r.Linked) != 2 {
		t.Fatalf("%+v", r)
	}
	caption := made(t, node, workers.TaskCaption)[0]
	if from, _ := caption.Context.At("model.from"); fmt.Sprint(from) != "["+picture.UID+"]" {
		t.Error(caption.Context)
	}
	if r := dream(t, node, m, func(d *workers.Dream) { d.Captions = true }); len(r.Linked) != 0 {
		t.Errorf("%+v", r)
	}
}

// pngImage is an image of 64 by 48 pixels.
func pngImage(t *testing.T) []byte {
	t.Helper()
	picture := image.NewRGBA(image.Rect(0, 0, 64, 48))
	for i := range picture.Pix {
		picture.Pix[i] = uint8(i)
	}
	var out bytes.Buffer
	if err := png.Encode(&out, picture); err != nil {
		t.Fatal(err)
	}

	return out.Bytes()
}

// A turn that the proxy has stored and no model has read is read by the next dream, once.
func TestDreamsReadWhatIsLeft(t *testing.T) {
	node, m := memory(t), &scripted{}
	s := said[0]
	for i, role := range []string{"user", "assistant"} {
		if _, err := node.Learn(t.Context(), &robotmem.LearnRequest{
			Insight: s.turn, Collection: "chat", Tags: []string{"turn"},
			Context: robotmem.Object{"chat": map[string]any{"conversation": "marta", "role": role, "turn": i}},
		}); err != nil {
			t.Fatal(err)
		}
	}
	m.add(workers.TaskExtract, s.turn, factsJSON(s.fact, s.quote))
	done, err := workers.OpenDone(filepath.Join(t.TempDir(), "done"), false)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 2 {
		r := dream(t, node, m, func(d *workers.Dream) { d.Collection, d.Done = "chat", done })
		if len(r.Added) != 1-i || r.Asked != 1-i {
			t.Errorf("dream %d: %+v", i, r)
		}
	}
	if facts := made(t, node, workers.TaskExtract); len(facts) != 1 || facts[0].Collection != "chat" {
		t.Errorf("%+v", facts)
	}
}

func TestDreamsHaveABound(t *testing.T) {
	node := memory(t)
	episodes(t, node, 3, pouring)
	r := dream(t, node, dreamer(), func(d *workers.Dream) { d.Most = 2 })
	if r.Asked != 2 || !r.Spent || r.Remaining == 0 {
		t.Errorf("%+v", r)
	}
	// A cap of the ledger ends it without an error, too.
	spent := &model.Metered{Model: dreamer(), Ledger: &model.Ledger{Path: filepath.Join(t.TempDir(), "l.json"), Caps: model.Caps{Calls: 1}}}
	if r := dream(t, node, spent, nil); r.Asked != 1 || !r.Spent || r.Failed != 0 && r.Refused != 0 && len(r.Linked) != 1 {
		t.Errorf("%+v", r)
	}
}

// The summary of a conversation is rewritten in place, and its history keeps the earlier ones.
func TestRunningSummary(t *testing.T) {
	node, m := memory(t), &scripted{}
	w := &workers.Workers{Node: node, Model: m}
	say := func(from, to int) {
		for i := from; i < to; i++ {
			for _, role := range []string{"user", "assistant"} {
				if _, err := node.Learn(t.Context(), &robotmem.LearnRequest{
					Insight: fmt.Sprintf("%s speaks of crate %d and the heavy lift", role, i), Collection: "chat",
					Context: robotmem.Object{"chat": map[string]any{"conversation": "marta", "role": role, "turn": i}},
				}); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	summarise := func() *workers.Report {
		r := &workers.Report{}
		if err := w.Summarise(t.Context(), "chat", "marta", r); err != nil {
			t.Fatal(err)
		}
		return r
	}
	say(0, 3)
	if r := summarise(); r.Asked != 0 {
		t.Errorf("after three turns: %+v", r)
	}
	m.add(workers.TaskSummary, "Old summary: \n", `{"summary":"They speak of crate 0 to crate 3 and the heavy lift."}`)
	m.add(workers.TaskSummary, "Old summary: They", `{"summary":"They speak of crate 0 to crate 7 and the heavy lift."}`)
	say(3, 4)
	if r := summarise(); len(r.Added) != 1 {
		t.Fatalf("%+v", r)
	}
	if r := summarise(); r.Asked != 0 {
		t.Errorf("again: %+v", r)
	}
	say(4, 8)
	if r := summarise(); len(r.Replaced) != 1 {
		t.Fatalf("%+v", r)
	}
	summaries := made(t, node, workers.TaskSummary)
	if len(summaries) != 1 || !strings.Contains(summaries[0].Content, "crate 7") {
		t.Fatalf("%+v", summaries)
	}
	if h, err := node.History(t.Context(), &robotmem.MemoryRequest{MemoryID: summaries[0].MemoryID}); err != nil || len(h.Versions) != 2 {
		t.Errorf("%+v %v", h, err)
	}
}

// A dream that is killed at any moment leaves nothing half done: the next one completes it, and what is stored is what
// one dream that nobody disturbs stores.
func TestKilledDreams(t *testing.T) {
	if dir := os.Getenv("ROBOTMEM_TEST_DREAM"); dir != "" {
		dreamAsChild(t, dir)
		return
	}

	kills := 50
	if testing.Short() {
		kills = 5
	}
	dir := t.TempDir()
	prepare := func(name string) string {
		node := openAt(t, filepath.Join(dir, name))
		episodes(t, node, 4, pouring)
		if err := node.Close(); err != nil {
			t.Fatal(err)
		}
		return filepath.Join(dir, name)
	}

	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	run := func(db string, limit time.Duration) {
		ctx, cancel := context.WithTimeout(t.Context(), limit)
		defer cancel()
		child := exec.CommandContext(ctx, self, "-test.run=^TestKilledDreams$")
		child.Env = append(os.Environ(), "ROBOTMEM_TEST_DREAM="+db)
		if out, err := child.CombinedOutput(); err != nil && ctx.Err() == nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}

	whole := prepare("whole.db")
	begun := time.Now()
	run(whole, time.Minute)
	took := time.Since(begun)

	killed := prepare("killed.db")
	for i := range kills {
		run(killed, took*time.Duration(i+1)/time.Duration(kills))
	}
	run(killed, time.Minute)

	want, got := products(t, whole), products(t, killed)
	if len(want) < 6 || !slices.Equal(want, got) {
		t.Errorf("undisturbed:\n%s\nkilled %d times:\n%s", strings.Join(want, "\n"), kills, strings.Join(got, "\n"))
	}
}

func dreamAsChild(t *testing.T, db string) {
	node, err := local.Open(t.Context(), db, local.Options{Durability: local.DurabilityNormal})
	if err != nil {
		t.Fatal(err)
	}
	done, err := workers.OpenDone(db+".test-done", false)
	if err != nil {
		t.Fatal(err)
	}
	m := &model.Metered{Model: dreamer(), Ledger: &model.Ledger{Path: db + ".test-ledger"}}
	d := &workers.Dream{Workers: &workers.Workers{Node: node, Model: m}, Collection: "default", Done: done}
	if err := d.Run(t.Context(), &workers.Report{}); err != nil {
		t.Fatal(err)
	}
	if err := node.Close(); err != nil {
		t.Fatal(err)
	}
}

// products are what dreams have stored, in an order that does not depend on ids, and what a check-up finds.
func products(t *testing.T, db string) []string {
	t.Helper()
	node := openAt(t, db)
	defer node.Close()
	var out []string
	res, err := node.List(t.Context(), &robotmem.ListRequest{Limit: 1000, Status: "all", ContextFilter: robotmem.Object{"model.name": map[string]any{"$exists": true}}})
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range res.Memories {
		task, _ := m.Context.At("model.task")
		from, _ := m.Context.At("model.from")
		out = append(out, fmt.Sprintf("%v %s of %d, %s, seen %s", task, m.Content, len(from.([]any)), m.Status, strconv.FormatInt(int64(m.Sightings), 10)))
	}
	slices.Sort(out)
	d, err := node.Doctor(t.Context(), &admin.DoctorRequest{Deep: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range d.Checks {
		if c.Status == "fail" {
			out = append(out, c.Name+": "+c.Detail)
		}
	}

	return out
}
