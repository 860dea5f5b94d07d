// Grasp lets a simulated arm pick wet and dry objects for 200 episodes: without memory,
// with recall, and with advise. It prints how often each policy succeeded and draws it.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"math/rand/v2"
	"os"
	"path/filepath"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/local"
)

func main() {
	episodes, seeds := flag.Int("episodes", 200, "episodes of a run"), flag.Int("seeds", 20, "runs of each policy")
	plot := flag.String("plot", "grasp.svg", "file for the plot; empty for none")
	flag.Parse()
	results, err := compare(context.Background(), *episodes, *seeds)
	if err == nil && *plot != "" {
		err = os.WriteFile(*plot, []byte(draw(results)), 0o644)
	}
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%-20s %-12s last %d episodes\n", "policy", "all", last(*episodes))
	for _, r := range results {
		fmt.Printf("%-20s %-12s %s\n", r.name, r.rate(0, *episodes), r.rate(*episodes-last(*episodes), *episodes))
	}
}

func last(episodes int) int { return episodes / 4 }

// policy chooses a grip force in newtons for an object.
type policy func(ctx context.Context, m *local.Node, s situation, r *rand.Rand) (float64, error)

func guess(_ context.Context, _ *local.Node, _ situation, r *rand.Rand) (float64, error) {
	return 2 + 28*r.Float64(), nil
}

func withRecall(ctx context.Context, m *local.Node, s situation, r *rand.Rand) (float64, error) {
	found, err := m.Recall(ctx, &robotmem.RecallRequest{
		Query: s.task(), ContextFilter: robotmem.Object{"object": s.Object, "wet": s.Wet, "task.success": true}, N: 1})
	if err != nil || len(found.Memories) == 0 {
		return 2 + 28*r.Float64(), err
	}
	return force(found.Memories[0].Params)
}

func withAdvise(ctx context.Context, m *local.Node, s situation, r *rand.Rand) (float64, error) {
	advice, err := m.Advise(ctx, &robotmem.AdviseRequest{
		ContextFilter: robotmem.Object{"object": s.Object, "wet": s.Wet}, Explore: true, Seed: r.Int64()})
	if err != nil || advice.Suggestion == nil || advice.Suggestion.Rate < 0.5 { // nothing works yet
		return 2 + 28*r.Float64(), err
	}
	return advice.Suggestion.Parameters["params.grip_force"].(float64), nil
}

func best(_ context.Context, _ *local.Node, s situation, _ *rand.Rand) (float64, error) {
	low, high := s.limits()
	return (low + high) / 2, nil
}

func force(params any) (f float64, err error) {
	p, _ := params.(map[string]any)
	_, err = fmt.Sscan(fmt.Sprint(p["grip_force"]), &f)
	return f, err
}

// compare runs every policy with every seed. In the poisoned runs one stored outcome in
// ten is wrong.
func compare(ctx context.Context, episodes, seeds int) ([]result, error) {
	results := []result{{name: "without memory", choose: guess}, {name: "recall", choose: withRecall}, {name: "advise", choose: withAdvise},
		{name: "advise, 10 % wrong", choose: withAdvise, wrong: 0.1}, {name: "best possible", choose: best}}
	for i := range results {
		for seed := range seeds {
			run, err := live(ctx, &results[i], episodes, uint64(seed))
			if err != nil {
				return nil, err
			}
			results[i].runs = append(results[i].runs, run)
		}
	}
	return results, nil
}

// live runs one life of the arm, with a memory of its own.
func live(ctx context.Context, p *result, episodes int, seed uint64) (run []bool, err error) {
	dir, err := os.MkdirTemp("", "robotmem-grasp-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	m, err := local.Open(ctx, filepath.Join(dir, "memory.db"), local.Options{})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, m.Close()) }()
	world, r := rand.New(rand.NewPCG(seed, 1)), rand.New(rand.NewPCG(seed, 2))
	for episode := range episodes {
		s := situations[world.IntN(len(situations))]
		f, err := p.choose(ctx, m, s, r)
		if err != nil {
			return nil, err
		}
		success := s.grasp(f, world)
		run = append(run, success)
		told := success != (world.Float64() < p.wrong)
		_, err = m.Learn(ctx, &robotmem.LearnRequest{Insight: fmt.Sprintf("%s with %.1f N, success %t", s.task(), f, told), Context: robotmem.Object{
			"episode": episode, "object": s.Object, "wet": s.Wet, "params": map[string]any{"grip_force": f}, "task": map[string]any{"success": told}}})
		if err != nil {
			return nil, err
		}
	}
	return run, nil
}
