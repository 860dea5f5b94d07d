package engine

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/robotmem/robotmem-go/robotmem"
)

func TestWhatTellsFactsApart(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("one goroutine at a time: nothing for -race")
	}
	e := openTest(t, Options{})
	for i, pair := range [][2]string{
		{"kp=10 ki=20 holds the arm steady on the bench", "kp=20 ki=10 holds the arm steady on the bench"},
		{"min_force=5 N max_force=15 N for the egg", "min_force=15 N max_force=5 N for the egg"},
		{"the setpoint went from 10 N to 20 N in the glass test", "the setpoint went from 20 N to 10 N in the glass test"},
		{"joint 1 is hot, joint 2 is cold, stop the arm", "joint 2 is hot, joint 1 is cold, stop the arm"},
		{"the cup stands at x=1.5 y=2.5 on the table", "the cup stands at x=2.5 y=1.5 on the table"},
		{"bin A7 holds the red screws of the left arm", "bin A8 holds the red screws of the left arm"},
		{"bin A holds the red screws of the left arm", "bin B holds the red screws of the left arm"},
		{"the firmware v1.2.3 drops frames of the left camera", "the firmware v1.2.4 drops frames of the left camera"},
		{"grasping took three tries with the wet glass cup today", "grasping took five tries with the wet glass cup today"},
		{"抓取湿玻璃杯用了三次尝试才成功放到桌子上", "抓取湿玻璃杯用了五次尝试才成功放到桌子上"},
		{"gain 1/2 keeps the left arm steady on the bench", "gain 1/4 keeps the left arm steady on the bench"},
		{"gain ½ keeps the left arm steady on the bench today", "gain ¼ keeps the left arm steady on the bench today"},
		{"gain 10^3 keeps the left arm steady on the bench", "gain 10^5 keeps the left arm steady on the bench"},
		{"gain 10³ keeps the left arm steady on the bench", "gain 10⁵ keeps the left arm steady on the bench"},
		{"tilt of +5 degrees keeps the left arm steady on the bench", "tilt of -5 degrees keeps the left arm steady on the bench"},
		{"tilt of 5 degrees keeps the left arm steady on the bench", "tilt of −5 degrees keeps the left arm steady on the bench"},
		{"tilt of 5 degrees keeps the left arm steady on the bench", "tilt of 5 radians keeps the left arm steady on the bench"},
		{"heat the plate to 50 °C before the glue is put on it", "heat the plate to 50 °F before the glue is put on it"},
		{"mask 0x1F keeps the left arm steady on the bench", "mask 0x2F keeps the left arm steady on the bench"},
		{"at 10:30 the left arm of the robot drifted on the bench", "at 10:45 the left arm of the robot drifted on the bench"},
		{"limit 1,000 keeps the left arm steady on the bench", "limit 1.000 keeps the left arm steady on the bench"},
		{"limit 5 % keeps the left arm steady on the bench", "limit 5 keeps the left arm steady on the bench"},
		{"speed 5 m/s keeps the left arm steady on the bench", "speed 5 m keeps the left arm steady on the bench"},
		{"speed 5 m/s keeps the left arm steady on the bench", "speed 5 km/h keeps the left arm steady on the bench"},
		{"force > 5 N keeps the left arm steady on the bench", "force < 5 N keeps the left arm steady on the bench"},
		{"the range 5..10 keeps the left arm steady on the bench", "the range 5..12 keeps the left arm steady on the bench"},
		{"the range 5-10 keeps the left arm steady on the bench", "the range 5-12 keeps the left arm steady on the bench"},
		{"ratio 3:4 keeps the left arm steady on the bench", "ratio 3:5 keeps the left arm steady on the bench"},
		{"version 2e keeps the left arm steady on the bench", "version 2f keeps the left arm steady on the bench"},
		{"payload 5 g keeps the left arm steady on the bench", "payload 5 kg keeps the left arm steady on the bench"},
		{"payload 5MHz keeps the left arm steady on the bench", "payload 5mHz keeps the left arm steady on the bench"},
		{"the left arm grasped the wet glass cup on the bench and it succeeded", "the left arm grasped the wet glass cup on the bench and it failed"},
		{"the left arm is able to hold the wet glass cup on the bench", "the left arm is unable to hold the wet glass cup on the bench"},
		{"the left arm can hold the wet glass cup on the bench", "the left arm failed to hold the wet glass cup on the bench"},
		{"the arm holds the wet glass cup with the rubber pad above the sink", "the arm holds the wet glass cup without the rubber pad above the sink"},
		{"the arm never drops the wet glass cup above the sink, not with pads", "the arm drops the wet glass cup above the sink with pads"},
		{"٣ cups stand on the table of the left arm near the door", "٥ cups stand on the table of the left arm near the door"},
		{"Ⅲ stage keeps the left arm steady on the bench", "Ⅴ stage keeps the left arm steady on the bench"},
	} {
		collection := fmt.Sprint(i)
		a, err := e.Learn(t.Context(), &robotmem.LearnRequest{Insight: pair[0], Collection: collection})
		if err != nil {
			t.Fatal(err)
		}
		b, err := e.Learn(t.Context(), &robotmem.LearnRequest{Insight: pair[1], Collection: collection})
		if err != nil {
			t.Fatal(err)
		}
		if b.Status == "duplicate" {
			t.Errorf("%d %s %.2f: %q swallowed %q", a.MemoryID, b.Method, b.Similarity, pair[0], pair[1])
		}
	}
}

func TestSwappedNumbersDoNotMerge(t *testing.T) {
	t.Parallel()
	e := openTest(t, Options{})
	s, _ := e.StartSession(t.Context(), &robotmem.StartSessionRequest{})
	for i, f := range []string{"kp=10 ki=20 holds arm steady", "kp=20 ki=10 holds arm steady", "kp=10 ki=20 holds arm steady quite well here"} {
		l, err := e.Learn(t.Context(), &robotmem.LearnRequest{Insight: f, SessionID: s.SessionID, Context: robotmem.Object{"try": fmt.Sprint("t", i)}})
		t.Log(l.Status, err)
	}
	r, err := e.EndSession(t.Context(), &robotmem.EndSessionRequest{SessionID: s.SessionID})
	if err != nil || r.Consolidated.SupersededCount > 1 {
		t.Errorf("superseded %d, %v", r.Consolidated.SupersededCount, err)
	}
}

func TestSignaturesFollowOtherProcesses(t *testing.T) {
	t.Parallel()
	a := openTest(t, Options{})
	b, err := openFile(t.Context(), a.Store.Path(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	words := []string{"alpha", "bravo", "charlie", "delta", "echo", "foxtrot", "golf", "hotel", "india", "juliet"}
	var first int64
	for i := range 100 {
		res, err := a.Learn(t.Context(), &robotmem.LearnRequest{Insight: fmt.Sprintf("%s meets %s near dock %d", words[i%10], words[i/10], i)})
		if err != nil || res.Status != "created" {
			t.Fatal(res, err)
		}
		if i == 0 {
			first = res.MemoryID
		}
	}
	m, _ := a.Get(t.Context(), &robotmem.MemoryRequest{MemoryID: first})
	if _, err := b.Update(t.Context(), &robotmem.UpdateRequest{MemoryID: first, NewContent: m.Content, Context: robotmem.Object{"robot": "arm-2", "task": map[string]any{"success": false}}}); err != nil {
		t.Fatal(err)
	}
	res, err := a.Learn(t.Context(), &robotmem.LearnRequest{Insight: m.Content})
	if err != nil {
		t.Fatal(err)
	}
	if res.Status != "created" {
		t.Errorf("a fact without context became a %s duplicate of %d, which is about arm-2 and a failure", res.Method, res.ExistingID)
	}
}

func TestDuplicateAmongLookAlikes(t *testing.T) {
	t.Parallel()
	e := openTest(t, Options{})
	rng := rand.New(rand.NewPCG(1, 1))
	word := func() string {
		b := make([]byte, 7)
		for i := range b {
			b[i] = "bcdfghklmnprtvz"[rng.IntN(15)]
		}
		return string(b)
	}
	first := ""
	for i := range 80 {
		s := fmt.Sprintf("robot arm placed object beside upper shelf near hall door %s %s %s", word(), word(), word())
		if i == 0 {
			first = s
		}
		res, err := e.Learn(t.Context(), &robotmem.LearnRequest{Insight: s})
		if err != nil || res.Status != "created" {
			t.Fatal(i, res, err)
		}
	}
	res, err := e.Learn(t.Context(), &robotmem.LearnRequest{Insight: "The " + first + "!"})
	if err != nil || res.Status != "duplicate" {
		t.Errorf("%s %v: the duplicate of the first of 80 was not found", res.Status, err)
	}
}
