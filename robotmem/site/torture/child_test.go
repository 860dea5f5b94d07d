package torture

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/fleet"
	"github.com/robotmem/robotmem-go/robotmem/local"
	"github.com/robotmem/robotmem-go/robotmem/site"
	"github.com/robotmem/robotmem-go/web"
)

// roleVariable says what a child process of the test is.
const roleVariable = "ROBOTMEM_TORTURE"

// role is a process of the fleet: a node of the site, or a robot.
type role struct {
	// Of a node.
	Database, Address, Payloads string
	// Of a robot.
	Path   string
	Name   string // in its texts
	Clock  time.Duration
	Seed   uint64
	Writes bool
}

// line is what a robot tells of what it has done. It is written when the memory has acknowledged it.
type line struct {
	Op      string // wrote, purged or synced
	UID     string
	Text    string
	Refused []string // uids that the site has refused, of a sync
	Known   int      // how many lines came before the sync began
	Moved   int64    // memories that the sync has sent or received
}

func runRole(text string) error {
	var r role
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	if r.Path == "" {
		return serve(ctx, &r)
	}

	return live(ctx, &r)
}

// serve is a node of the site.
func serve(ctx context.Context, r *role) error {
	o := site.Options{Payloads: r.Payloads, Patience: 3 * time.Second}
	o.Location, o.Logger = time.UTC, slog.New(slog.DiscardHandler)
	s, err := site.Connect(ctx, r.Database, o)
	if err != nil {
		return err
	}
	defer s.Close()
	g := s.Guard()
	defer g.Close()

	l, err := new(net.ListenConfig).Listen(ctx, "tcp", r.Address)
	if err != nil {
		return err
	}
	server := &http.Server{ReadHeaderTimeout: time.Minute, Handler: web.NewServer(g, web.Options{
		Lookup: s.Caller, TenantRate: s.Rate, Fleet: site.Handler(g.Robots),
	}).Handler}
	go func() { <-ctx.Done(); _ = server.Close() }()
	if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}

	return nil
}

// live is a robot: it changes its memory, and sends and fetches all the time.
func live(ctx context.Context, r *role) error {
	n, err := local.Open(ctx, r.Path, local.Options{
		Location: time.UTC, Logger: slog.New(slog.DiscardHandler),
		Clock: func() time.Time { return time.Now().Add(r.Clock) },
	})
	if err != nil {
		return err
	}
	defer n.Close()
	p, err := fleet.PeerOf(n)
	if err != nil || p == nil {
		return fmt.Errorf("the site of the robot: %v, %w", p, err)
	}

	var (
		mu    sync.Mutex // guards told
		told  int
		tell  = json.NewEncoder(os.Stdout)
		moved int64
	)
	say := func(l line) {
		mu.Lock()
		defer mu.Unlock()
		if l.Op != "synced" {
			told++
		}
		_ = tell.Encode(&l)
	}

	replicator := fleet.NewReplicator(n, *p, &http.Client{Timeout: 5 * time.Second}, slog.New(slog.DiscardHandler))
	syncs := make(chan struct{})
	go func() {
		defer close(syncs)
		for ctx.Err() == nil {
			mu.Lock()
			before := told
			mu.Unlock()
			err := replicator.Once(ctx)
			status, _ := replicator.Status(context.Background())
			if err == nil {
				l := line{Op: "synced", Known: before, Moved: status.Sent + status.Received - moved}
				moved = status.Sent + status.Received
				for _, note := range status.Refused {
					l.Refused = append(l.Refused, note.UID)
				}
				say(l)
			} else if !r.Writes {
				fmt.Fprintln(os.Stderr, r.Name, err)
			}
			select {
			case <-ctx.Done():
			case <-time.After(20 * time.Millisecond):
			}
		}
	}()

	rng := rand.New(rand.NewPCG(r.Seed, 1))
	for i := 0; r.Writes && ctx.Err() == nil; i++ {
		if err := change(ctx, n, rng, fmt.Sprintf("%s wrote %d of %d", r.Name, i, r.Seed), say); err != nil && ctx.Err() == nil {
			return err
		}
		time.Sleep(time.Duration(rng.IntN(12)) * time.Millisecond)
	}
	<-ctx.Done()
	<-syncs

	return nil
}

// change makes one change of the robot's own memories.
func change(ctx context.Context, n *local.Node, rng *rand.Rand, text string, say func(line)) error {
	dice := rng.IntN(20)
	own, err := some(ctx, n, rng)
	if err != nil {
		return err
	}

	switch {
	case dice < 8 || own == nil:
		collection := "default"
		if dice == 0 {
			collection = "extra"
		}
		res, err := n.Learn(ctx, &robotmem.LearnRequest{Insight: text, Collection: collection})
		if err == nil && res.Status == "created" {
			say(line{Op: "wrote", UID: res.UID, Text: text})
		}
		return err
	case dice < 15:
		_, err := n.Update(ctx, &robotmem.UpdateRequest{MemoryID: own.MemoryID, NewContent: text})
		if err == nil {
			say(line{Op: "wrote", UID: own.UID, Text: text})
		}
		return settled(err)
	case dice < 17:
		_, err := n.Forget(ctx, &robotmem.ForgetRequest{MemoryID: own.MemoryID, Reason: "it is of no use"})
		return settled(err)
	case dice < 19:
		_, err := n.Restore(ctx, &robotmem.MemoryRequest{MemoryID: own.MemoryID})
		return settled(err)
	case rng.IntN(4) == 0:
		_, err := n.Forget(ctx, &robotmem.ForgetRequest{MemoryID: own.MemoryID, Purge: true, Reason: "asked for"})
		if err == nil {
			say(line{Op: "purged", UID: own.UID})
		}
		return settled(err)
	}

	return nil
}

// settled drops the errors of a change of a memory that the site has changed meanwhile.
func settled(err error) error {
	if errors.Is(err, robotmem.NotFound) || errors.Is(err, robotmem.Conflict) {
		return nil
	}
	return err
}

// some returns a memory of the robot's own, nil without one.
func some(ctx context.Context, n robotmem.Service, rng *rand.Rand) (*robotmem.Memory, error) {
	l, err := n.List(ctx, &robotmem.ListRequest{Limit: 200, Status: "all"})
	if err != nil {
		return nil, err
	}
	for _, i := range rng.Perm(len(l.Memories)) {
		m, err := n.Get(ctx, &robotmem.MemoryRequest{MemoryID: l.Memories[i].MemoryID})
		if err != nil {
			return nil, settled(err)
		}
		if m.Provenance == nil || m.Provenance.Tool != fleet.Tool {
			return m, nil
		}
	}

	return nil, nil
}
