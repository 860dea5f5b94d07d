package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/admin"
	"github.com/robotmem/robotmem-go/robotmem/local"
)

// The files of a memory are damaged, and it is asked everything. Children do it,
// so that a panic or a hang ends one of them and is counted.
//
// In the files of a closed memory an answer may differ from the right one only if it is an error
// or names itself degraded, or if doctor --deep calls the memory unhealthy. No answer may show a
// text or a payload that was never stored, whatever the doctor says. In the log of a killed node
// SQLite reads up to the first damaged frame: an older state is allowed there, a text or a
// payload that was never stored is not.

// The outcomes of a damage, from the best to the worst. The last three break a promise.
const (
	flipEqual   = "equal: every answer was right"
	flipOlder   = "older: answers of the time before the damaged frame"
	flipNamed   = "named: by an error, by degraded or by doctor --deep"
	flipRefused = "refused: the file does not open"
	flipUnclear = "UNCLEAR: an error of a kind that does not say what to do"
	flipWrong   = "WRONG: an answer differs, and nothing says so"
	flipShown   = "WRONG TEXT SHOWN: a text or a payload that was never stored"
)

var flipRanks = []string{flipEqual, flipOlder, flipNamed, flipRefused, flipUnclear, flipWrong, flipShown}

const flipLimit = time.Minute // for one damage, before it counts as a hang
const flipKeeps = 5           // damaged images that one child keeps

// flipPlan is what the role "flips" does.
type flipPlan struct {
	Dir, Keep string
	Seed      uint64
	Log       bool
}

// flipTried is what a child says: what it is about to do, or what came of it.
type flipTried struct {
	Begun   string `json:",omitempty"`
	Outcome string `json:",omitempty"`
	Bit     bool   `json:",omitempty"` // one bit was flipped
	Why     string `json:",omitempty"` // of a broken promise
}

// flips damages the files of a closed memory, or the log of a killed node.
func flips(ctx context.Context, r *rig) error {
	dir, log := r.dir, r.name == "log"
	if memory, err := os.MkdirTemp("/dev/shm", "torture-"); err == nil { // faster than a disk
		dir = memory
		defer func() { _ = os.RemoveAll(memory) }()
	}

	outcomes := map[string]int{flipWrong: 0, flipShown: 0} // printed in any case
	errs := make([]error, runtime.GOMAXPROCS(0))

	var all sync.WaitGroup

	for i := range errs {
		p := flipPlan{Dir: filepath.Join(dir, fmt.Sprint(i)), Keep: r.dir, Seed: r.rand.Uint64(), Log: log}
		all.Go(func() {
			for ; errs[i] == nil && ctx.Err() == nil && r.left() > 0; p.Seed++ {
				errs[i] = r.superviseFlips(ctx, p, outcomes)
			}
		})
	}

	all.Wait()

	for _, name := range flipRanks {
		if n, ok := outcomes[name]; ok {
			r.note("%d %s", n, name)
		}
	}

	return errors.Join(append(errs, ctx.Err())...)
}

// left is how many faults are still to be made.
func (r *rig) left() int { r.mu.Lock(); defer r.mu.Unlock(); return r.times - r.faults }

// superviseFlips follows a child until it has done enough, panics or hangs.
func (r *rig) superviseFlips(ctx context.Context, plan flipPlan, outcomes map[string]int) error {
	said := make(chan line)
	p, err := r.startRole(ctx, "flips", plan, func(l line) { said <- l })
	if err != nil {
		return err
	}

	go func() {
		p.heard.Wait()
		close(said)
	}()

	doing, hang := "", time.AfterFunc(flipLimit, func() { p.kill() })
	for l := range said {
		hang.Reset(flipLimit)

		switch {
		case l.Failed != "":
			err = errors.New(l.Failed)
		case l.Flip.Begun != "":
			doing = l.Flip.Begun
		default:
			if l.Flip.Bit {
				r.fault()
			}
			r.mu.Lock()
			outcomes[l.Flip.Outcome]++
			r.mu.Unlock()
			if l.Flip.Why != "" {
				r.broken("%s: %s: %s", doing, l.Flip.Outcome, l.Flip.Why)
			}
		}
		if r.left() <= 0 {
			_ = p.stdin.Close()
		}
	}

	hang.Stop()
	<-p.gone
	if !p.cmd.ProcessState.Success() && err == nil && ctx.Err() == nil {
		r.broken("%s: no answer within %v, or it died: %s: %s", doing, flipLimit, p.cmd.ProcessState, &p.stderr)

		var damaged image
		if damaged, err = readImage(plan.Dir); err == nil {
			err = damaged.write(filepath.Join(plan.Keep, fmt.Sprint("died-", plan.Seed)))
		}
	}

	return err
}

// flipper damages one image and asks.
type flipper struct {
	flipPlan
	image  image
	asked  []question
	truth  []answer
	stored map[string]bool // all texts and payloads that were ever stored
}

// question is a request of an operation.
type question struct{ op, request string }

// answer is a response without what may differ between two right ones.
type answer struct {
	data     string // JSON
	value    any    // of it
	err      error
	degraded bool
	shown    []string // texts, and the sums of payloads
}

// volatile are the fields of responses that may differ: counters of recalls and
// uses, and figures of one recall.
var volatile = []string{"access_count", "return_count", "last_accessed", "query_ms", "score", "relevance", "recalled"}

// texts are the fields of responses that show what a caller has stored as text.
var texts = []string{"content", "summary", "note"}

// ask puts a question; right is the right answer if there is one.
func ask(ctx context.Context, e *local.Node, q question, right answer) (a answer) {
	res, err := robotmem.OpByName(q.op).Call(ctx, e, []byte(q.request))
	if err != nil {
		return answer{err: err}
	}
	if d, ok := res.(*robotmem.DataResponse); ok {
		a.shown = append(a.shown, sumOf(d.DataBase64))
		d.DataBase64 = nil
	}
	data, err := json.Marshal(res)
	if a.data = string(data); err == nil && a.data == right.data && a.shown == nil {
		return right
	}
	a.err = errors.Join(err, json.Unmarshal(data, &a.value))
	a.read(a.value)

	return a
}

// read takes what is shown out of a response, removes what is volatile, and sorts
// memories by their ids: the order of a recall may depend on counters.
func (a *answer) read(v any) {
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			a.read(item)
		}
	case map[string]any:
		for _, name := range volatile {
			delete(v, name)
		}

		for name, field := range v {
			text, isText := field.(string)
			switch {
			case isText && slices.Contains(texts, name):
				a.shown = append(a.shown, text)
			case name == "degraded" && field != nil:
				a.degraded = a.degraded || len(field.([]any)) > 0
			default:
				a.read(field)
			}
		}
		if list, ok := v["memories"].([]any); ok {
			id := func(v any) float64 { return v.(map[string]any)["memory_id"].(float64) }
			slices.SortFunc(list, func(a, b any) int { return cmp.Compare(id(a), id(b)) })
		}
	}
}

// flipFiles is the role "flips".
func flipFiles(ctx context.Context, arg []byte, out *output) error {
	f := &flipper{}
	if err := json.Unmarshal(arg, &f.flipPlan); err != nil {
		return err
	}

	var err error
	if f.image, err = makeImage(context.Background(), f.Dir, f.Log); err == nil {
		err = f.learnTruth(context.Background())
	}
	if err != nil {
		return fmt.Errorf("the undamaged memory: %w", err)
	}

	random := rand.New(rand.NewPCG(f.Seed, 1))
	kept := 0

	for n := 0; ctx.Err() == nil; n++ {
		d, readOnly := f.image.draw(random), random.IntN(4) == 0
		if f.Log {
			d = f.image.drawLog(random)
		}
		if slices.Equal(d.data, f.image[d.file]) {
			continue
		}
		out.say(line{Flip: &flipTried{Begun: fmt.Sprintf("%s, seed %d, damage %d, read-only %t", d.what, f.Seed, n, readOnly)}})
		damaged := maps.Clone(f.image)
		damaged[d.file] = d.data
		tried, err := f.try(context.Background(), damaged, readOnly)
		tried.Bit = d.bit
		if tried.Why != "" && kept < flipKeeps {
			kept++
			err = damaged.write(filepath.Join(f.Keep, fmt.Sprintf("wrong-%d-%d", f.Seed, n)))
		}
		if err != nil {
			return err
		}
		out.say(line{Flip: &tried})
	}

	return os.RemoveAll(f.Dir)
}

// learnTruth asks everything of the memory before any damage.
func (f *flipper) learnTruth(ctx context.Context) error {
	if err := f.image.write(f.Dir); err != nil {
		return err
	}

	e, err := openImage(ctx, f.Dir, imageOptions())
	if err != nil {
		return err
	}

	list, err := e.List(ctx, &robotmem.ListRequest{Status: "all", Limit: 1000})
	sessions, serr := e.Sessions(ctx, &robotmem.SessionsRequest{})
	// As in try: the mean of all vectors counts in recall.
	if err := errors.Join(err, serr, e.Warm(ctx)); err != nil {
		return err
	}

	f.asked = []question{
		{"list", `{"status":"all","limit":1000}`}, {"sessions", `{}`}, {"collections", `{}`}, {"categories", `{}`},
		{"paths", `{}`}, {"places", `{"field":"spatial.position"}`},
		{"recall", `{"query":"the gripper slips often","n":40}`}, {"recall", `{"query":"imagen17"}`}, {
			"recall", `{"query":"glass on the wet table","n":40}`,
		},
		{"recall", `{"query":"wheel","n":40,"context_filter":{"params.force":{"$lt":9},"task.success":true}}`},
		{"recall", `{"n":40,"spatial_sort":{"field":"spatial.position","target":[3,4],"frame_id":"map"}}`},
		{"recall", `{"n":40,"type":"perception"}`},
	}

	for i, m := range list.Memories {
		one := fmt.Sprintf(`{"memory_id":%d}`, m.MemoryID)
		f.asked = append(f.asked, question{"history", one})
		// List answers the same fields of all.
		if i%6 == 0 {
			f.asked = append(f.asked, question{"get", one})
		}
		if m.SHA256 != "" && m.Status == "active" {
			f.asked = append(f.asked, question{"data", one})
		}
		if m.MediaType == "text/csv" {
			f.asked = append(f.asked, question{"recall", `{"n":40,"like":` + one + `}`})
		}
	}

	for _, s := range sessions.Sessions {
		one := fmt.Sprintf(`{"session_id":%q}`, s.SessionID)
		f.asked = append(f.asked, question{"session", one}, question{"session_memories", one})
	}

	f.stored = map[string]bool{}
	for _, q := range f.asked {
		a := ask(ctx, e, q, answer{})
		if a.err != nil || a.degraded {
			err = errors.Join(err, fmt.Errorf("%s: %w", q, a.err))
		}

		f.truth = append(f.truth, a)
		for _, shown := range a.shown {
			f.stored[shown] = true
		}
	}

	d, derr := e.Doctor(ctx, &admin.DoctorRequest{Deep: true})
	if derr == nil && !d.Healthy {
		derr = fmt.Errorf("the doctor says %+v", d.Checks)
	}

	return errors.Join(err, derr, e.Close())
}

// try opens a damaged image and compares all answers with the truth. The error is
// not the memory's.
func (f *flipper) try(ctx context.Context, damaged image, readOnly bool) (t flipTried, err error) {
	if err := damaged.write(f.Dir); err != nil {
		return t, err
	}

	t.Outcome = flipEqual
	// A worse outcome takes the place of a better one.
	worse := func(outcome, why string) {
		if rank := slices.Index(flipRanks, outcome); rank > slices.Index(flipRanks, t.Outcome) {
			t.Outcome, t.Why = outcome, why
		}
	}
	fails := func(doing string, err error, named string) {
		switch kind := robotmem.KindOf(err); kind {
		case robotmem.Corrupt, robotmem.Unavailable, robotmem.Conflict:
			worse(named, "")
		default:
			cause := err
			for inner := err; inner != nil; inner = errors.Unwrap(inner) {
				// Of an internal error, which the answer does not show.
				cause = inner
			}
			worse(flipUnclear, fmt.Sprintf("%s fails as %s: %v (%v)", doing, kind, err, cause))
		}
	}
	o := imageOptions()
	o.ReadOnly = readOnly
	e, err := openImage(ctx, f.Dir, o)
	if err != nil {
		fails("opening", err, flipRefused)
		return t, nil
	}

	if err := e.Warm(ctx); err != nil {
		fails("loading the indexes", err, flipNamed)
	}

	differs := ""

	for i, q := range f.asked {
		a, want := ask(ctx, e, q, f.truth[i]), f.truth[i]
		for _, shown := range a.shown {
			if !f.stored[shown] {
				worse(flipShown, fmt.Sprintf("%s: %.300q", q, shown))
			}
		}

		switch {
		case a.err != nil && !errors.Is(a.err, robotmem.NotFound):
			fails(fmt.Sprint(q), a.err, flipNamed)
		case a.degraded:
			worse(flipNamed, "")
		case differs == "" && (a.err != nil || !reflect.DeepEqual(a.value, want.value)):
			differs = q.String() + ": " + difference(a, want)
		}
	}

	if differs != "" && f.Log {
		worse(flipOlder, "")
	} else if differs != "" {
		d, err := e.Doctor(ctx, &admin.DoctorRequest{Deep: true})
		switch {
		case err != nil:
			fails("doctor", err, flipNamed)
		case d.Healthy:
			worse(flipWrong, differs)
		default:
			worse(flipNamed, "")
		}
	}

	if err := e.Close(); err != nil {
		fails("closing", err, flipNamed)
	}

	return t, nil
}

func (q question) String() string { return q.op + " " + q.request }

// difference shows where two answers begin to differ.
func difference(got, want answer) string {
	a, _ := json.Marshal(got.value) // of what was unmarshaled
	b, _ := json.Marshal(want.value)

	at := 0
	for at < min(len(a), len(b)) && a[at] == b[at] {
		at++
	}
	at = max(0, at-60)

	return fmt.Sprintf("got …%.150s (%v), want …%.150s", a[at:], got.err, b[at:])
}
