package browsertest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/local"
)

const (
	monthEpisodes = 208
	monthDays     = 30
	lastSlips     = 3 // of last night, at slipForce
	slipForce     = 9.0
	leastHold     = 11.0 // newtons from which the wet glass stayed in the gripper
	mostHold      = 13.6

	shop       = "shop"
	gripAt     = 2.0 // seconds after a trace begins
	pickSlipAt = 2.7
)

// month is a file of 208 episodes of two arms over 30 days. Last night arm-7 let the wet glass
// slip three times at 9 N; 11 to 13.6 N held it each time. A dry mug is held by 9 N, so its
// traces are the nearest to those of the slips, but they show nothing about the glass.
type month struct {
	db    string
	slips []string // episodes of last night, the oldest first
}

func newMonth(t *testing.T) *month {
	t.Helper()
	mo := &month{db: filepath.Join(t.TempDir(), "memory.db")}
	m, err := local.Open(t.Context(), mo.db, local.Options{})
	if err != nil {
		t.Fatal(err)
	}
	p := &planter{t: t, m: m, s: &seed{}}
	random := rand.New(rand.NewPCG(7, 30))

	night := time.Now().Add(-9 * time.Hour).Truncate(time.Second).UTC()
	began := night.Add(-monthDays * 24 * time.Hour)
	earlier := monthEpisodes - lastSlips
	for i := range earlier {
		at := began.Add(time.Duration(i) * (monthDays * 24 * time.Hour) / time.Duration(earlier))
		p.pick(random, pickOf(i, random), at)
	}
	for i := range lastSlips {
		at := night.Add(time.Duration(i) * 40 * time.Minute)
		mo.slips = append(mo.slips, p.pick(random, attempt{robot: "arm-7", task: "pick", object: "wet glass", force: slipForce}, at))
	}
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	return mo
}

func (w *world) newMonthNode(t *testing.T) {
	t.Helper()
	w.month = newMonth(t)
	w.monthNode = w.serve(t, w.month.db)
}

// attempt is what one episode tried.
type attempt struct {
	robot, task, object string
	force               float64 // newtons
	held                bool
}

func (a attempt) said() string {
	switch {
	case a.held:
		return fmt.Sprintf("grip_force=%.1f N held the %s", a.force, a.object)
	case a.task == "wipe":
		return fmt.Sprintf("the sponge left a stain on the %s at %.1f N", a.object, a.force)
	default:
		return fmt.Sprintf("the %s slipped at grip_force=%.1f N", a.object, a.force)
	}
}

// pickOf is the attempt of an episode before last night.
func pickOf(i int, random *rand.Rand) attempt {
	tenths := func(from, to float64) float64 {
		return math.Round(10*(from+(to-from)*random.Float64())) / 10
	}
	switch i % 8 {
	case 0, 2, 4:
		return attempt{robot: "arm-7", task: "pick", object: "wet glass", force: tenths(leastHold, mostHold), held: true}
	case 6:
		if i%24 == 6 {
			return attempt{robot: "arm-7", task: "pick", object: "wet glass", force: tenths(9.2, 10.4)}
		}
		return attempt{robot: "arm-3", task: "pick", object: "wet glass", force: tenths(leastHold, mostHold), held: true}
	case 1, 5:
		return attempt{robot: "arm-3", task: "pick", object: "dry mug", force: tenths(8.8, 9.2), held: true}
	case 3:
		return attempt{robot: "arm-7", task: "pick", object: "steel plate", force: tenths(18, 22), held: i%16 != 3}
	default:
		return attempt{robot: "arm-3", task: "wipe", object: "table", force: tenths(4, 6), held: i%16 != 7}
	}
}

// pick is one episode as the README tells it: a trace of the wrist, and a fact with its
// parameters and its outcome. The episode itself knows only its robot.
func (p *planter) pick(random *rand.Rand, a attempt, began time.Time) string {
	session := do(p, p.m.StartSession, &robotmem.StartSessionRequest{
		Collection: shop, Context: robotmem.Object{"robot": map[string]any{"id": a.robot}}, StartedAt: &began,
	}).SessionID
	p.save(session, "tactile", "wrench of the wrist while gripping", pickCSV(random, a), "text/csv", "/wrist/ft", began,
		robotmem.Object{"kind": "wrench", "units": map[string]any{"force": "N", "torque": "Nm"}, "duration_s": 3})

	p.learnIn(session, a.said(), began.Add(2800*time.Millisecond), robotmem.Object{
		"params": map[string]any{"grip_force": fmt.Sprintf("%.1f N", a.force), "approach_speed": fmt.Sprintf("0.%d m/s", 1+random.IntN(3))},
		"task":   map[string]any{"name": a.task, "success": a.held},
		"object": a.object,
		"spatial": map[string]any{
			"position": []any{round3(0.4 + 0.05*random.NormFloat64()), round3(0.1 + 0.05*random.NormFloat64()), round3(0.8 + 0.02*random.NormFloat64())},
			"frame_id": "table",
		},
	})
	outcome := "success"
	if !a.held {
		outcome = "failure"
	}
	do(p, p.m.EndSession, &robotmem.EndSessionRequest{SessionID: session, Outcome: outcome, EndedAt: new(began.Add(3 * time.Second))})
	return session
}

func round3(x float64) float64 { return math.Round(x*1000) / 1000 }

// pickCSV is three seconds of a wrench at 100 Hz. Fz rises to the grip force at gripAt and drops to a
// third where the object slips. Tx, Ty and Tz are noise of 0.01 Nm around an offset of the mounting.
func pickCSV(random *rand.Rand, a attempt) []byte {
	var b strings.Builder
	b.WriteString("t,Fx,Fy,Fz,Tx,Ty,Tz\n")
	for i := range 300 {
		t := float64(i) / 100
		f := 0.0
		if t > gripAt {
			f = a.force * (1 - math.Exp(-20*(t-gripAt)))
		}
		if !a.held && t > pickSlipAt {
			f *= 0.3
		}
		fmt.Fprintf(&b, "%.2f,%.3f,%.3f,%.3f,%.4f,%.4f,%.4f\n", t,
			0.05*random.NormFloat64(), 0.05*random.NormFloat64(), f+0.05*random.NormFloat64(),
			0.01*random.NormFloat64(), 0.01*random.NormFloat64(), 0.01*random.NormFloat64())
	}
	return []byte(b.String())
}
