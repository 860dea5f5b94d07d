// Fleet is two robots that share what they learn: one finds a corridor blocked, the other asks before
// it leaves its dock, and takes the detour. README.md says how to start a site; run.sh does all of it.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/google/uuid"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/fleet"
	"github.com/robotmem/robotmem-go/robotmem/local"
)

func main() {
	dir := flag.String("dir", "fleet-memories", "folder of the robots' memories")
	site := flag.String("site", "http://127.0.0.1:7878", "address of a node of the site")
	token := flag.String("token", "", "token of the site, if it needs one")
	flag.Usage = func() {
		fmt.Fprintln(os.Stderr, "usage: fleet [flags] lab|dock\n  lab   the robot lift drives through the lab and learns\n  dock  the robot cart asks before it leaves its dock")
		flag.PrintDefaults()
	}
	flag.Parse()
	does := map[string]func(context.Context, *robot) error{"lab": inTheLab, "dock": atTheDock}[flag.Arg(0)]
	if does == nil {
		flag.Usage()
		os.Exit(2)
	}
	if err := run(*dir, *site, *token, flag.Arg(0), does); err != nil {
		fmt.Fprintln(os.Stderr, "fleet:", err)
		os.Exit(1)
	}
}

// robot is one robot with its own memory and what connects it with the site.
type robot struct {
	name   string
	memory *local.Node
	site   *fleet.Replicator
}

func run(dir, site, token, place string, does func(context.Context, *robot) error) (err error) {
	ctx := context.Background()
	name := map[string]string{"lab": "lift", "dock": "cart"}[place]
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	path := filepath.Join(dir, name+".db")
	memory, err := local.Open(ctx, path, local.Options{})
	if err != nil {
		return err
	}
	defer func() {
		if e := memory.Close(); err == nil {
			err = e
		}
	}()
	peer, err := fleet.PeerOf(path)
	if err != nil {
		return err
	}
	if peer == nil { // the first start; robotmem fleet join does the same
		peer = &fleet.Peer{
			URL: site, Token: token, Robot: name, Replica: uuid.NewString(),
			Subscribe: []fleet.Subscription{{Collection: "navigation", Where: robotmem.Object{"map": "hall-2"}}},
			Trust:     map[string]float64{"other": 0.9, "simulation": 0.5},
		}
		if err := peer.Save(path); err != nil {
			return err
		}
	}
	return does(ctx, &robot{name, memory, fleet.NewReplicator(memory, *peer, nil, nil)})
}

// inTheLab drives, finds the corridor blocked, and learns it.
func inTheLab(ctx context.Context, r *robot) error {
	_, err := r.memory.Learn(ctx, &robotmem.LearnRequest{
		Insight: "corridor B is blocked by a pallet at the fire door", Collection: "navigation",
		Context: robotmem.Object{
			"map": "hall-2", "corridor": "B", "robot": r.name, "task": map[string]any{"name": "drive", "success": false},
			"spatial": map[string]any{"position": []any{12.4, 3.1}, "frame_id": "map"},
		},
	})
	if err != nil {
		return err
	}
	// A robot that runs on would call r.site.Run(ctx) once, beside its work.
	if err := r.site.Once(ctx); err != nil {
		fmt.Printf("%s: learnt that corridor B is blocked; the site is away, it will be sent later (%v)\n", r.name, err)
		return nil
	}
	fmt.Printf("%s: learnt that corridor B is blocked, and the site has it\n", r.name)
	return nil
}

// atTheDock asks what went wrong on the way before it drives.
func atTheDock(ctx context.Context, r *robot) error {
	from := "the site"
	if err := r.site.Once(ctx); err != nil {
		from = "its copy, because the site is away"
	}
	begun := time.Now()
	res, err := r.memory.Recall(ctx, &robotmem.RecallRequest{
		Query: "corridor blocked", Collection: "navigation", N: 3,
		ContextFilter: robotmem.Object{"map": "hall-2", "corridor": "B", "outcome": "failure"},
	})
	if err != nil {
		return err
	}
	if len(res.Memories) == 0 {
		fmt.Printf("%s: nothing is known against corridor B: takes the short way through it\n", r.name)
		return nil
	}
	m := res.Memories[0]
	fmt.Printf("%s: asked before it left (%v, from %s): %q, learnt by %s\n", r.name, time.Since(begun).Round(100*time.Microsecond), from, m.Content, m.Provenance.Robot)
	fmt.Printf("%s: takes the detour through corridor C\n", r.name)
	return nil
}
