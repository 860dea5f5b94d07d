package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/local"
)

// The memory whose bits are flipped: facts with contexts and places, episodes,
// changed and forgotten memories, perceptions in the file and in the folder, raw
// and coded, vectors, snapshots of the indexes, and pages that are free again.

const (
	flipFacts    = 120
	flipSessions = 3
	// flipRules are few, so that opening costs the file's time and not theirs.
	flipRules = "tags:\n  - {tag: grip, display_name: Grip, match: [gripper]}\n" +
		"categories:\n  - {category: lesson, match: [moved]}\n" +
		"confidence: {base: 0.5, step: 0.1, cap: 0.9, context_over: 5, causal: [because]}\n" +
		"scope:\n  - {name: snake, kind: entity, needs: \"_\", regex: '\\w+_\\w+'}\n"
)

// flipEmbedder makes vectors of the words' hashes.
type flipEmbedder struct{}

func (flipEmbedder) State() robotmem.EmbedderState {
	return robotmem.EmbedderState{Model: "fake:words"}
}

func (flipEmbedder) Embed(_ context.Context, _ robotmem.Purpose, texts []string) ([][]float32, error) {
	out := make([][]float32, len(texts))
	for i, text := range texts {
		out[i] = make([]float32, 64)
		out[i][0] = 0.1
		for word := range strings.FieldsSeq(text) {
			h := fnv.New32a()
			_, _ = h.Write([]byte(word)) // never fails
			out[i][h.Sum32()%64]++
		}
	}
	return out, nil
}

func flipNow() time.Time { return time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC) }

func flipOptions(path string, rules []byte) local.Options {
	return local.Options{Path: path, Taxonomy: rules, Embedder: flipEmbedder{}, Clock: flipNow, Location: time.UTC, BusyTimeout: time.Second}
}

// fillFlips writes the memory, as a robot would, and returns its ids.
func fillFlips(ctx context.Context, m *local.Node) error {
	random := rand.New(rand.NewPCG(1, 2))
	for s := range flipSessions {
		session, err := m.StartSession(ctx, &robotmem.StartSessionRequest{Context: robotmem.Object{"task": "dock", "round": s}})
		if err != nil {
			return err
		}
		for i := range flipFacts / flipSessions {
			n := s*flipFacts/flipSessions + i
			_, err := m.Learn(ctx, &robotmem.LearnRequest{
				Insight: fmt.Sprintf("at shelf %d the gripper held part %c%d with %d N%s", n, 'a'+n%26, n, 5+n%20, strings.Repeat(" and it was said again", (n%7)*(n%5)*12)),
				Context: robotmem.Object{
					"params": map[string]any{"force": 5 + n%20, "tool": fmt.Sprint("tool ", n%4)}, "task": map[string]any{"success": n%3 > 0},
					"spatial": map[string]any{"position": []any{float64(n % 11), float64(n / 11), 0.5}, "frame_id": "map"}, "note": strings.Repeat("n", (n%9)*300),
				},
				Tags: []string{fmt.Sprint("line-", n%3)}, SessionID: session.SessionID,
			})
			if err != nil {
				return err
			}
		}
		if err := fillPerceptions(ctx, m, session.SessionID, random, s); err != nil {
			return err
		}
		score := 0.5
		if _, err := m.EndSession(ctx, &robotmem.EndSessionRequest{SessionID: session.SessionID, OutcomeScore: &score, UsedMemoryIDs: []int64{1, 2}}); err != nil {
			return err
		}
	}
	for id := int64(3); id < 30; id += 3 {
		_, uerr := m.Update(ctx, &robotmem.UpdateRequest{MemoryID: id, NewContent: fmt.Sprintf("shelf %d was moved to hall %d", id, id%4)})
		_, ferr := m.Forget(ctx, &robotmem.ForgetRequest{MemoryID: id + 1, Reason: "the part was another"})
		if err := errors.Join(uerr, ferr); err != nil {
			return err
		}
	}
	// Payloads that go leave free pages behind.
	if _, err := m.Retain(ctx, &robotmem.RetainRequest{Budgets: []robotmem.Budget{{PerceptionType: "auditory", MaxBytes: 1}}, Apply: true}); err != nil {
		return err
	}
	if _, err := m.Repair(ctx, &robotmem.RepairRequest{}); err != nil { // works out all features
		return err
	}
	for range 1000 {
		stats, err := m.Stats(ctx, &robotmem.StatsRequest{})
		if err != nil {
			return err
		}
		if stats.Backlog == 0 && stats.ToCompare == 0 {
			return m.Warm(ctx)
		}
		time.Sleep(10 * time.Millisecond)
	}
	return errors.New("the vectors were not made")
}

func fillPerceptions(ctx context.Context, m *local.Node, session string, random *rand.Rand, s int) error {
	trace := func(rows int) []byte {
		var out bytes.Buffer
		out.WriteString("t,fx,fy,fz\n")
		for i := range rows {
			fmt.Fprintf(&out, "%.3f,%.2f,%.2f,%d\n", float64(i)/100, random.NormFloat64(), 9.81+random.Float64(), i%(7+s))
		}
		return out.Bytes()
	}
	noise := func(n int) []byte {
		out := make([]byte, n)
		for i := range out {
			out[i] = byte(random.Uint32())
		}
		return out
	}
	for i, p := range []struct {
		kind, media string
		data        []byte
	}{
		{"tactile", "text/csv", trace(200)},
		{"tactile", "text/csv", trace(16_000)}, // in the folder, coded
		{"procedural", "application/octet-stream", noise(20_000)},
		{"procedural", "application/octet-stream", noise(300_000)}, // in the folder, raw
		{"auditory", "application/octet-stream", noise(90_000)},    // goes again
		{"visual", "", nil},
	} {
		r := &robotmem.SavePerceptionRequest{Description: fmt.Sprintf("what sensor %d gave in round %d", i, s), PerceptionType: p.kind, MediaType: p.media, SessionID: session, Source: fmt.Sprint("sensor ", i), DataBase64: p.data}
		if _, err := m.SavePerception(ctx, r); err != nil {
			return err
		}
	}
	return nil
}

// answers are what a memory says to all questions, by question.
type answers map[string]flipAnswer

type flipAnswer struct {
	text string
	err  error
	// degraded: a part of the node says that it could not answer.
	degraded bool
}

// askAll puts all questions.
func askAll(ctx context.Context, m *local.Node, last int64) answers {
	out := answers{}
	put := func(name string, v any, err error) {
		data, jerr := robotmem.EncodeJSON(v)
		out[name] = flipAnswer{text: string(data), err: errors.Join(err, jerr)}
	}
	for id := int64(1); id <= last; id++ {
		if id%6 == 0 { // list answers all of every memory, for less
			v, err := m.Get(ctx, &robotmem.GetRequest{MemoryID: id})
			put(fmt.Sprint("get ", id), v, err)
		}
		if id < 30 {
			h, err := m.History(ctx, &robotmem.HistoryRequest{MemoryID: id})
			put(fmt.Sprint("history ", id), h, err)
		}
		if id%(flipFacts/flipSessions+6) > flipFacts/flipSessions || id == flipFacts+6*flipSessions {
			d, err := m.Data(ctx, &robotmem.DataRequest{MemoryID: id})
			put(fmt.Sprint("data ", id), d, err)
		}
	}
	list, err := m.List(ctx, &robotmem.ListRequest{Status: "all", Limit: 1000})
	put("list", list, err)
	sessions, err := m.Sessions(ctx, &robotmem.SessionsRequest{})
	put("sessions", sessions, err)
	if sessions != nil {
		for i, s := range sessions.Sessions {
			v, err := m.Session(ctx, &robotmem.SessionRequest{SessionID: s.SessionID})
			put(fmt.Sprint("session ", i), v, err)
		}
	}
	paths, err := m.Paths(ctx, &robotmem.PathsRequest{})
	put("paths", paths, err)
	collections, err := m.Collections(ctx, &robotmem.CollectionsRequest{})
	put("collections", collections, err)
	recallAll(ctx, m, out)
	return out
}

func recallAll(ctx context.Context, m *local.Node, out answers) {
	for name, r := range map[string]*robotmem.RecallRequest{
		"words":   {Query: "gripper held part"},
		"rare":    {Query: "shelf 77"},
		"meaning": {Query: "moved to hall"},
		"filter":  {Query: "part", ContextFilter: robotmem.Object{"params.force": map[string]any{"$lt": 9}, "task.success": true}},
		"place":   {SpatialSort: &robotmem.SpatialSort{Field: "spatial.position", Target: []float64{3, 4, 0.5}, FrameID: "map"}},
		"tags":    {Tags: []string{"line-2"}, Type: "fact"},
		"like":    {Like: &robotmem.Like{MemoryID: flipFacts/flipSessions + 1}},
	} {
		r.N = 40
		res, err := m.Recall(ctx, r)
		a := flipAnswer{err: err}
		if res != nil {
			a.degraded = len(res.Degraded) > 0
			var lines []string // their order may hang on what was read first
			for _, found := range res.Memories {
				lines = append(lines, fmt.Sprintf("%d %s", found.MemoryID, found.Content))
			}
			slices.Sort(lines)
			a.text = strings.Join(lines, "\n")
		}
		out["recall by "+name] = a
	}
}

// flipImage is a memory as it lies on a disk: its files, by name.
type flipImage map[string][]byte

const flipDB = "memory.db"

func readImage(dir string) (flipImage, error) {
	out := flipImage{}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasSuffix(path, "-shm") {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err == nil {
			out[name], err = os.ReadFile(path)
		}
		return err
	})
	return out, err
}

func (im flipImage) write(dir string) error {
	for name, data := range im {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, data, 0o600)); err != nil {
			return err
		}
	}
	return nil
}

// makeImages builds the memory in dir and returns it as a node that was closed
// leaves it, and as one that died: with all that it last wrote in the log.
func makeImages(ctx context.Context, dir string) (closed, live flipImage, err error) {
	path := filepath.Join(dir, flipDB)
	m, err := local.Open(ctx, flipOptions(path, []byte(flipRules)))
	if err != nil {
		return nil, nil, err
	}
	if err := fillFlips(ctx, m); err != nil {
		return nil, nil, errors.Join(err, m.Close())
	}
	if err := m.Close(); err != nil {
		return nil, nil, err
	}
	if closed, err = readImage(dir); err != nil {
		return nil, nil, err
	}
	if m, err = local.Open(ctx, flipOptions(path, []byte(flipRules))); err != nil {
		return nil, nil, err
	}
	for i := range 12 {
		_, lerr := m.Learn(ctx, &robotmem.LearnRequest{Insight: fmt.Sprintf("before the crash at door %d it was %d degrees", i, i*7)})
		_, uerr := m.Update(ctx, &robotmem.UpdateRequest{MemoryID: int64(50 + i), NewContent: fmt.Sprintf("the part of shelf %d is gone since the %dth", 50+i, i)})
		err = errors.Join(err, lerr, uerr)
	}
	time.Sleep(300 * time.Millisecond) // what works in the background comes to its end
	live, rerr := readImage(dir)
	return closed, live, errors.Join(err, rerr, m.Close())
}
