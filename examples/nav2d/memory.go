package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/local"
)

// A robot stores three kinds of facts: a blocked cell, a straight corridor that it
// drove, and the result of a whole trip. Each has its place, so that a later robot
// can recall the facts around a point instead of all of them.
const (
	kindBump     = "bump"
	kindCorridor = "corridor"
	kindTrip     = "trip"
)

// episode is one session in one world.
type episode struct {
	m          *local.Node
	collection string // one for each world
	id         string
	used       []int64
}

func startEpisode(ctx context.Context, m *local.Node, collection string, w *world) (*episode, error) {
	s, err := m.StartSession(ctx, &robotmem.StartSessionRequest{
		Collection: collection,
		Context: robotmem.Object{
			"task": map[string]any{"name": "drive to the goal", "goal": point(w.goal)},
			"env":  map[string]any{"sim_or_real": "sim", "map_id": collection},
		},
	})
	if err != nil {
		return nil, err
	}

	return &episode{m: m, collection: collection, id: s.SessionID}, nil
}

func (e *episode) end(ctx context.Context, d drive) error {
	// A bump is a step without progress. A trip without bumps scores 1.
	score := float64(d.steps-d.bumps) / float64(d.steps)
	_, err := e.m.EndSession(ctx,
		&robotmem.EndSessionRequest{SessionID: e.id, OutcomeScore: &score, UsedMemoryIDs: e.used})
	return err
}

// fact is a fact to learn from a drive.
type fact struct {
	kind    string
	insight string
	success bool
	params  map[string]any
	spatial map[string]any // position, and for a corridor its ends
}

func (e *episode) learn(ctx context.Context, f fact) error {
	f.spatial["frame_id"], f.spatial["map_id"] = "map", e.collection
	about := robotmem.Object{
		"spatial": f.spatial,
		"task":    map[string]any{"name": f.kind, "success": f.success},
		"env":     map[string]any{"sim_or_real": "sim"},
	}
	if f.params != nil {
		about["params"] = f.params
	}
	_, err := e.m.Learn(ctx, &robotmem.LearnRequest{Insight: f.insight, SessionID: e.id, Context: about})

	return err
}

func (e *episode) bumped(ctx context.Context, at cell, heading int) error {
	into := at.next(heading)

	return e.learn(ctx, fact{
		kind: kindBump,
		insight: fmt.Sprintf("collision: cell (%d, %d) is blocked, felt when driving %s", into.x, into.y,
			headings[heading].name),
		spatial: map[string]any{"position": point(into)},
	})
}

func (e *episode) drove(ctx context.Context, from, to cell) error {
	middle := []float64{float64(from.x+to.x) / 2, float64(from.y+to.y) / 2}

	return e.learn(ctx, fact{
		kind:    kindCorridor,
		insight: fmt.Sprintf("corridor from (%d, %d) to (%d, %d) is free", from.x, from.y, to.x, to.y),
		success: true,
		spatial: map[string]any{"position": middle, "from": point(from), "to": point(to)},
	})
}

func (e *episode) arrived(ctx context.Context, w *world, d drive) error {
	return e.learn(ctx, fact{
		kind: kindTrip,
		insight: fmt.Sprintf("reached the goal (%d, %d) from (%d, %d) in %d steps with %d collisions",
			w.goal.x, w.goal.y, w.start.x, w.start.y, d.steps, d.bumps),
		success: true,
		params:  map[string]any{"steps": d.steps, "collisions": d.bumps},
		spatial: map[string]any{"position": point(w.goal)},
	})
}

// tile is the side of the squares in which the map is recalled. The circle around a
// square has fewer cells than the limit of one recall.
const tile = 6

// remember recalls the blocked and the driven cells of a world, square by square. The
// second session gets no other data from the first.
func (e *episode) remember(ctx context.Context) (belief, error) {
	known := belief{}

	for x := tile / 2; x < width+tile/2; x += tile {
		for y := tile / 2; y < height+tile/2; y += tile {
			center := []float64{float64(x), float64(y)}
			// The radius is half the diagonal. The position of a corridor is its middle; a
			// recall of another square finds it if it is outside of this one.
			radius := math.Sqrt2 * tile / 2
			for _, kind := range []string{kindBump, kindCorridor} {
				found, err := e.around(ctx, center, radius,
					robotmem.Object{"task.name": kind, "task.success": kind == kindCorridor})
				if err != nil {
					return nil, err
				}

				for _, m := range found {
					if err := known.add(kind, m); err != nil {
						return nil, err
					}
					if !slices.Contains(e.used, m.MemoryID) {
						e.used = append(e.used, m.MemoryID)
					}
				}
			}
		}
	}

	return known, nil
}

// around recalls the memories that pass the filter within radius of a point.
func (e *episode) around(
	ctx context.Context, center []float64, radius float64, filter robotmem.Object,
) ([]robotmem.Memory, error) {
	const most = 100 // the limit of one recall
	res, err := e.m.Recall(ctx, &robotmem.RecallRequest{
		Collection: e.collection, N: most, ForSession: e.id, ContextFilter: filter,
		SpatialSort: &robotmem.SpatialSort{
			Field: "spatial.position", Target: center, MaxDistance: &radius, MapID: e.collection,
		},
	})
	if err != nil {
		return nil, err
	}

	return res.Memories, nil
}

// belief is the map of a robot: its cells are blocked, free or, if absent, unknown.
type belief map[cell]state

type state int

const (
	_ state = iota // unknown
	free
	blocked
)

// add adds the cells of one recalled memory.
func (b belief) add(kind string, m robotmem.Memory) error {
	var where struct {
		Position []float64 `json:"position"`
		From     []float64 `json:"from"`
		To       []float64 `json:"to"`
	}
	data, err := json.Marshal(m.Spatial)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(data, &where); err != nil {
		return fmt.Errorf("memory %d has no place: %w", m.MemoryID, err)
	}
	if kind == kindBump {
		b[toCell(where.Position)] = blocked
		return nil
	}
	b.line(toCell(where.From), toCell(where.To))

	return nil
}

// line marks a straight line as free.
func (b belief) line(from, to cell) {
	for at := from; ; at = (cell{at.x + sign(to.x-at.x), at.y + sign(to.y-at.y)}) {
		b[at] = free
		if at == to {
			return
		}
	}
}

func sign(n int) int { return max(-1, min(1, n)) }

func point(c cell) []float64 { return []float64{float64(c.x), float64(c.y)} }

func toCell(p []float64) cell { return cell{int(p[0]), int(p[1])} }
