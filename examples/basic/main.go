// Basic records one episode with the Go library: a gripper tries two forces on a
// wet glass, and recalls its memories before the next attempt.
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/local"
)

func main() {
	log.SetFlags(0)
	if err := run(context.Background()); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context) (err error) {
	dir, err := os.MkdirTemp("", "robotmem-basic-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	m, err := local.Open(ctx, filepath.Join(dir, "memory.db"), local.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, m.Close()) }()

	session, err := m.StartSession(ctx, &robotmem.StartSessionRequest{
		Collection: "kitchen",
		Context:    robotmem.Object{"task": map[string]any{"name": "put the wet glass away"}},
	})
	if err != nil {
		return err
	}

	// Facts with different numbers are different facts. Store the failed attempt too.
	var held int64

	for _, try := range []struct {
		insight  string
		force    float64
		position []float64
		success  bool
	}{
		{"grip_force=8 N lets the wet glass slip", 8, []float64{0.42, 0.10, 0.05}, false},
		{"grip_force=12.5 N holds the wet glass", 12.5, []float64{0.43, 0.11, 0.05}, true},
		{"grip_force=6 N holds the dry mug", 6, []float64{1.60, 0.80, 0.05}, true},
	} {
		learnt, err := m.Learn(ctx, &robotmem.LearnRequest{
			Insight:   try.insight,
			SessionID: session.SessionID,
			Context: robotmem.Object{
				"params":  map[string]any{"grip_force": try.force},
				"spatial": map[string]any{"position": try.position, "frame_id": "map"},
				"task":    map[string]any{"success": try.success},
			},
		})
		if err != nil {
			return err
		}
		fmt.Printf("learnt %d, %s, %s\n", learnt.MemoryID, learnt.Status, try.insight)
		if try.force == 12.5 {
			held = learnt.MemoryID
		}
	}

	trace, err := m.SavePerception(ctx, &robotmem.SavePerceptionRequest{
		Description:    "finger force while the wet glass slipped at 8 N",
		PerceptionType: "tactile",
		MediaType:      "text/csv",
		Data:           "t,Fz\n0.00,8.0\n0.02,8.1\n0.04,5.2\n0.06,0.3\n",
		SessionID:      session.SessionID,
	})
	if err != nil {
		return err
	}
	fmt.Printf("sensed %d, %d bytes of %s\n", trace.MemoryID, trace.Bytes, trace.MediaType)

	// Recall what worked less than half a metre from here.
	reach := 0.5
	found, err := m.Recall(ctx, &robotmem.RecallRequest{
		Query:         "how hard to grip the glass",
		Collection:    "kitchen",
		ForSession:    session.SessionID,
		ContextFilter: robotmem.Object{"task.success": true},
		SpatialSort: &robotmem.SpatialSort{
			Field: "spatial.position", Target: []float64{0.40, 0.10, 0.05}, FrameID: "map", MaxDistance: &reach,
		},
	})
	if err != nil {
		return err
	}

	for _, memory := range found.Memories {
		fmt.Printf("recalled %d, %.3f m away: %s\n", memory.MemoryID, *memory.Distance, memory.Content)
	}

	success := 1.0
	ended, err := m.EndSession(ctx, &robotmem.EndSessionRequest{
		SessionID: session.SessionID, OutcomeScore: &success, UsedMemoryIDs: []int64{held},
	})
	if err != nil {
		return err
	}
	fmt.Println("ended:", ended.Summary.Text)

	return nil
}
