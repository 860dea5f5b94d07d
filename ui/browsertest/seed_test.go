package browsertest

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/robotmem/robotmem-go/perception/recorder"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/admin"
	"github.com/robotmem/robotmem-go/robotmem/local"
)

// seed is a file with the demo's 463 failures and, in the collection of a
// kitchen robot, one of everything a view can show.
type seed struct {
	db          string
	failure     int64            // a fact of the demo that failed
	perceptions map[string]int64 // by kind
	conflict    [2]int64         // facts that contradict each other
	merged      int64            // superseded by another
	forgotten   int64
	edited      int64 // of two versions
	sessions    [2]string
	attempt     string // an episode with tries
}

// kinds are the perceptions of the seed, and what the viewer shows of each.
var kinds = []string{"image", "depth", "wrench", "sound", "pcd", "mug", "trajectory", "scan", "blob", "text"}

const kitchen = "kitchen"

func (w *world) newSeed(t *testing.T) *seed {
	t.Helper()
	var demo struct {
		DB string `json:"db"`
	}
	if err := json.Unmarshal([]byte(w.run(t, "demo", "--json", "--dir", t.TempDir())), &demo); err != nil {
		t.Fatal(err)
	}
	s := &seed{db: demo.DB, perceptions: map[string]int64{}}
	m, err := local.Open(t.Context(), s.db, local.Options{})
	if err != nil {
		t.Fatal(err)
	}
	p := &planter{t: t, m: m, s: s}
	p.failures()
	p.places()
	p.facts()
	for i := range s.sessions {
		s.sessions[i] = p.episode(i)
	}
	p.attempt()
	p.senses()
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	return s
}

// attempt is a goal that three tries have not reached yet.
func (p *planter) attempt() {
	for i, changed := range []string{"grip_force 9 N", "grip_force 11 N", "approach angle 30 degrees"} {
		res := do(p, p.m.Attempt, &robotmem.AttemptRequest{
			Goal: "the mug stands upright", Collection: kitchen, Changed: changed, Result: "it tilts at 5 cm", Progress: new(0.4 - 0.1*float64(i)),
			Outcome: "failure", Criteria: []string{"ten mugs in a row stand"}, Context: robotmem.Object{"robot": map[string]any{"id": "arm7", "name": "Bertha"}, "object": "blue mug"},
		})
		p.s.attempt = res.SessionID
	}
}

// planter writes the seed.
type planter struct {
	t *testing.T
	m *local.Node
	s *seed
}

func do[Q, R any](p *planter, f func(context.Context, *Q) (*R, error), q *Q) *R {
	p.t.Helper()
	res, err := f(p.t.Context(), q)
	if err != nil {
		p.t.Fatal(err)
	}
	return res
}

func (p *planter) learn(insight string, about robotmem.Object, observed *time.Time) int64 {
	p.t.Helper()
	return do(p, p.m.Learn, &robotmem.LearnRequest{Insight: insight, Collection: kitchen, Context: about, ObservedAt: observed}).MemoryID
}

func (p *planter) failures() {
	res := do(p, p.m.RecentFailures, &admin.RecentFailuresRequest{Limit: 1})
	p.s.failure = res.Memories[0].MemoryID
}

// places lie in two frames: a ring of outcomes around a table, and a corridor.
func (p *planter) places() {
	for i := range 60 {
		x, y := float64(i%10)*0.4, float64(i/10)*0.5
		p.learn(fmt.Sprintf("reached shelf position %d on the table, slip=%.1f mm", i, float64(i%7)), robotmem.Object{
			"spatial": map[string]any{"position": []any{x, y, 0.8}, "frame_id": "map", "map_id": "kitchen-1"},
			"params":  map[string]any{"slip": fmt.Sprintf("%d mm", i%7)},
			"task":    map[string]any{"name": "reach", "success": i%4 != 0},
		}, nil)
	}
	for i := range 20 {
		p.learn(fmt.Sprintf("wheel odometry off by %d cm in the corridor at metre %d", i%5, i), robotmem.Object{
			"spatial": map[string]any{"position": []any{float64(i), 0.2 * float64(i%3)}, "frame_id": "odom"},
			"task":    map[string]any{"name": "drive", "success": i%5 != 4},
		}, nil)
	}
}

func (p *planter) facts() {
	for i, insight := range []string{"the suction gripper is safe for thin glass plates", "the suction gripper is not safe for thin glass plates"} {
		p.s.conflict[i] = p.learn(insight, nil, nil)
	}
	if m := do(p, p.m.Get, &robotmem.MemoryRequest{MemoryID: p.s.conflict[0]}); len(m.Conflicts) != 1 {
		p.t.Fatalf("conflicts %+v, want one", m.Conflicts)
	}

	p.s.forgotten = p.learn("the dishwasher door opens to the left", nil, nil)
	do(p, p.m.Forget, &robotmem.ForgetRequest{MemoryID: p.s.forgotten, Reason: "the camera was mirrored"})

	p.s.edited = p.learn("grip_force=12.5 N holds wet glass", robotmem.Object{"params": map[string]any{"grip_force": "12.5 N"}}, nil)
	do(p, p.m.Update, &robotmem.UpdateRequest{MemoryID: p.s.edited, NewContent: "grip_force=13 N holds wet glass", Context: robotmem.Object{"params": map[string]any{"grip_force": "13 N"}}})

	session := do(p, p.m.StartSession, &robotmem.StartSessionRequest{Collection: kitchen, Context: robotmem.Object{"task": map[string]any{"name": "carry a wet cup"}}}).SessionID
	var ids []int64
	for _, cup := range []string{"cup", "glass cup", "glass cup again"} {
		ids = append(ids, do(p, p.m.Learn, &robotmem.LearnRequest{Insight: "the rubber gripper slips from the " + cup, SessionID: session}).MemoryID)
	}
	do(p, p.m.EndSession, &robotmem.EndSessionRequest{SessionID: session, OutcomeScore: new(0.2)})
	for _, id := range ids {
		if m := do(p, p.m.Get, &robotmem.MemoryRequest{MemoryID: id}); m.Status == "superseded" {
			p.s.merged = id
		}
	}
	if p.s.merged == 0 {
		p.t.Fatal("nothing was merged")
	}
}

// episode is three minutes of a robot that fills a dishwasher: a wrench and a
// picture every ten seconds, facts, and recorded streams of which some was lost.
func (p *planter) episode(nth int) string {
	began := time.Now().Add(-time.Duration(2-nth) * time.Hour).Truncate(time.Second).UTC()
	about := robotmem.Object{
		"task":  map[string]any{"name": "fill the dishwasher"},
		"robot": map[string]any{"id": "arm7"},
		"env":   map[string]any{"sim_or_real": []string{"real", "sim"}[nth], "light": []string{"day", "night"}[nth]},
	}
	session := do(p, p.m.StartSession, &robotmem.StartSessionRequest{Collection: kitchen, Context: about}).SessionID
	do(p, p.m.Recall, &robotmem.RecallRequest{Query: "wet glass", Collection: kitchen, ForSession: session})
	for i := range 18 {
		at := began.Add(time.Duration(i) * 10 * time.Second)
		p.save(session, "tactile", "wrist wrench while placing a plate", wrenchCSV(nth*100+i), "text/csv", "/wrist/ft", at,
			robotmem.Object{"kind": "wrench", "units": map[string]any{"force": "N", "torque": "Nm"}})
		if i%3 == 0 {
			p.save(session, "visual", fmt.Sprintf("rack seen from above, step %d", i), picturePNG(nth*100+i), "image/png", "/camera/rack", at.Add(2*time.Second), nil)
		}
		if i%4 == 1 {
			when := at.Add(5 * time.Second)
			do(p, p.m.Learn, &robotmem.LearnRequest{
				Insight:   fmt.Sprintf("plate %d of run %d went in at an angle of %d degrees", i, nth+1, 10+i),
				SessionID: session, ObservedAt: &when,
				Context: robotmem.Object{"params": map[string]any{"angle": fmt.Sprintf("%d deg", 10+i)}, "task": map[string]any{"success": i != 9}},
			})
		}
	}
	p.save(session, "proprioceptive", "base pose during the run", trajectoryTUM(float64(began.Unix()), 180), "text/x-tum", "/odom", began, robotmem.Object{"kind": "trajectory"})
	err := p.m.Keep(p.t.Context(), recorder.Batch{SessionID: session, Collection: kitchen, Counts: []recorder.SourceCount{
		{Source: "/wrist/ft", Received: 180_000, Stored: 179_988, Dropped: 12, Missed: 3, Bytes: 8_639_424},
		{Source: "/camera/rack", Received: 5400, Stored: 5400, Bytes: 91_000_000},
	}})
	if err != nil {
		p.t.Fatal(err)
	}
	score := []float64{0.9, 0.4}[nth]
	do(p, p.m.EndSession, &robotmem.EndSessionRequest{SessionID: session, OutcomeScore: &score, UsedMemoryIDs: []int64{p.s.edited}})
	return session
}

func (p *planter) save(session, sense, words string, data []byte, mediaType, source string, at time.Time, metadata robotmem.Object) int64 {
	p.t.Helper()
	q := &robotmem.SavePerceptionRequest{
		Description: words, PerceptionType: sense, DataBase64: data, MediaType: mediaType, Metadata: metadata,
		SessionID: session, Source: source, ObservedAt: &at,
	}
	if session == "" {
		q.Collection = kitchen
	}
	return do(p, p.m.SavePerception, q).MemoryID
}

// senses saves a perception of every kind that has a viewer.
func (p *planter) senses() {
	now := time.Now().Add(-10 * time.Minute).Truncate(time.Second).UTC()
	add := func(kind, sense, words string, data []byte, mediaType string, metadata robotmem.Object) {
		p.s.perceptions[kind] = p.save("", sense, words, data, mediaType, "", now, metadata)
		now = now.Add(time.Second)
	}
	add("image", "visual", "the table before the first grasp", picturePNG(7), "image/png", nil)
	add("depth", "visual", "depth of the table before the first grasp", depthPNG(), "image/png", robotmem.Object{"kind": "depth", "units": "mm"})
	add("wrench", "tactile", "wrench of a peg that jams", wrenchCSV(3), "text/csv", robotmem.Object{"kind": "wrench", "units": map[string]any{"force": "N", "torque": "Nm"}})
	add("sound", "auditory", "the bearing squeaks while turning", chirpWAV(2), "audio/wav", nil)
	add("pcd", "spatial", "the shelf as a coloured cloud", cloudPCD(), "application/vnd.pcd", robotmem.Object{"frame_id": "camera_depth_optical_frame"})
	add("mug", "spatial", "a mug scanned from all sides", cloudMug(), "application/x-pcd", robotmem.Object{"frame_id": "turntable"})
	add("trajectory", "proprioceptive", "the way from the sink to the shelf", trajectoryTUM(1_700_000_000, 60), "text/x-tum", robotmem.Object{"frame_id": "map"})
	add("scan", "spatial", "a sweep of the laser in the corridor", scanJSON(), "application/json", robotmem.Object{"kind": "laser_scan", "frame_id": "base_scan"})
	add("blob", "proprioceptive", "state of the firmware after the fall", blob(), "application/octet-stream", nil)
	add("text", "procedural", "log of the gripper's firmware", []byte("12:04:01 open\n12:04:02 close 12.5 N\n12:04:03 slip 3.2 mm\n12:04:03 close 13 N\n"), "text/plain", nil)
}
