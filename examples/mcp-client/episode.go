package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/robotmem/robotmem-go/robotmem"
)

const collection = "assembly-cell"

var task = map[string]any{"name": "insert the 8 mm peg", "part": "peg-8mm"}

// insertPeg is the controller: recall, act, learn. It returns the number of pushes.
func insertPeg(ctx context.Context, m *memory) (attempts int, err error) {
	s, err := m.startSession(ctx, robotmem.StartSessionRequest{
		Collection: collection,
		Context:    robotmem.Object{"task": task, "robot": map[string]any{"id": "arm-1"}},
	})
	if err != nil {
		return 0, err
	}
	fmt.Printf("  start_session: %d memories of %s\n", s.ActiveMemoriesCount, s.Collection)

	forces := []float64{4, 6, 8, 10, 12} // to try without memories
	known, err := m.recall(ctx, robotmem.RecallRequest{
		Query: "force that seats the 8 mm peg", Collection: collection, ForSession: s.SessionID, Type: "fact",
		ContextFilter: robotmem.Object{"task.success": true, "task.part": "peg-8mm"}, N: 1,
	})
	if err != nil {
		return 0, err
	}

	var used []int64

	for _, best := range known.Memories {
		force, err := pushForce(best)
		if err != nil {
			return 0, err
		}
		fmt.Printf("  recall: [%d] %s\n", best.MemoryID, best.Content)
		forces, used = []float64{force}, []int64{best.MemoryID}
	}
	if len(known.Memories) == 0 {
		fmt.Println("  recall: nothing, so it has to be found out")
	}

	hole := peg{seatsAt: 7.5}

	var (
		last   attempt
		learnt int64
	)

	for _, force := range forces {
		last = hole.push(force)
		attempts++
		if learnt, err = record(ctx, m, s.SessionID, last); err != nil {
			return 0, err
		}
		if last.ok {
			break
		}
	}
	if len(used) == 0 {
		if err := tidy(ctx, m, s.SessionID, learnt, last); err != nil {
			return 0, err
		}
	}

	score := 0.0
	if last.ok {
		score = 1 / float64(attempts)
	}
	end, err := m.endSession(ctx,
		robotmem.EndSessionRequest{SessionID: s.SessionID, OutcomeScore: &score, UsedMemoryIDs: used})
	if err != nil {
		return 0, err
	}
	fmt.Println("  end_session:", end.Summary.Text)
	if !last.ok {
		return attempts, errors.New("the peg was not seated")
	}

	return attempts, nil
}

// pushForce reads the parameter of a recalled memory, not its words.
func pushForce(m robotmem.Memory) (float64, error) {
	var params struct {
		PushForce float64 `json:"push_force"`
	}
	data, err := json.Marshal(m.Context["params"])
	if err != nil {
		return 0, err
	}
	if err := json.Unmarshal(data, &params); err != nil || params.PushForce == 0 {
		return 0, fmt.Errorf("memory %d has no params.push_force", m.MemoryID)
	}

	return params.PushForce, nil
}

// record stores the result of one push, and the trace of one that jammed.
func record(ctx context.Context, m *memory, session string, a attempt) (int64, error) {
	insight := fmt.Sprintf("push_force=%g N seats the 8 mm peg", a.force)
	if !a.ok {
		insight = fmt.Sprintf("push_force=%g N jams the 8 mm peg at a depth of %g mm", a.force, a.depth)
	}
	about := robotmem.Object{
		"params": map[string]any{"push_force": a.force, "depth_mm": a.depth},
		"task":   map[string]any{"name": task["name"], "part": task["part"], "success": a.ok},
		"robot":  map[string]any{"id": "arm-1"},
		"env":    map[string]any{"sim_or_real": "sim"},
	}
	res, err := m.learn(ctx, robotmem.LearnRequest{Insight: insight, Context: about, SessionID: session})
	if err != nil {
		return 0, err
	}
	fmt.Printf("  learn: [%d] %s, %s\n", res.MemoryID, res.Status, insight)
	if a.ok {
		return res.MemoryID, nil
	}
	p, err := call[robotmem.SavePerceptionResponse](ctx, m, "save_perception", robotmem.SavePerceptionRequest{
		Description:    fmt.Sprintf("axial force while the 8 mm peg jammed at %g N", a.force),
		PerceptionType: "tactile", MediaType: "text/csv", Data: a.trace,
		Context: about, SessionID: session,
	})
	if err != nil {
		return 0, err
	}
	fmt.Printf("  save_perception: [%d] %s, %d bytes\n", p.MemoryID, p.MediaType, p.Bytes)

	return res.MemoryID, nil
}

// tidy corrects the memory: it updates a fact with a more exact one, and forgets a wrong fact.
func tidy(ctx context.Context, m *memory, session string, seated int64, a attempt) error {
	u, err := m.update(ctx, robotmem.UpdateRequest{
		MemoryID:   seated,
		NewContent: fmt.Sprintf("push_force=%g N seats the 8 mm peg at the full depth of %g mm", a.force, a.depth),
	})
	if err != nil {
		return err
	}
	fmt.Printf("  update: [%d] version %d, %s\n", u.MemoryID, u.Version, u.NewContent)

	wrong, err := m.learn(ctx, robotmem.LearnRequest{
		Insight: "push_force=1 N seats the 8 mm peg",
		Context: robotmem.Object{
			"params": map[string]any{"push_force": 1}, "task": map[string]any{"part": "peg-8mm", "success": true},
		},
		SessionID: session,
	})
	if err != nil {
		return err
	}
	f, err := m.forget(ctx,
		robotmem.ForgetRequest{MemoryID: wrong.MemoryID, Reason: "the force sensor had not been zeroed"})
	if err != nil {
		return err
	}
	fmt.Printf("  forget: [%d] %s: %s\n", f.MemoryID, f.Content, f.Reason)

	return nil
}
