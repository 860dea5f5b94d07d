package site

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/fleet"
	"github.com/robotmem/robotmem-go/robotmem/local"
	"github.com/robotmem/robotmem-go/robotmem/robotmemtest/rounds"
)

// killedVariable names the memory that a child process replicates until it is killed.
const killedVariable = "ROBOTMEM_TEST_REPLICATE"

// replicateUntilKilled is the child of TestAKilledRobotLosesAndDoublesNothing.
func replicateUntilKilled(path string) error {
	ctx := context.Background()
	n, err := local.Open(ctx, path, local.Options{})
	if err != nil {
		return err
	}
	p, err := fleet.PeerOf(n)
	if err != nil {
		return err
	}
	r := fleet.NewReplicator(n, *p, nil, nil)
	if err := r.Greet(ctx, false); err != nil {
		return err
	}
	if err := r.Push(ctx); err != nil {
		return err
	}
	return n.Close()
}

// A robot whose process is killed at random moments of the sync loses and doubles nothing.
func TestAKilledRobotLosesAndDoublesNothing(t *testing.T) {
	skipShort(t)
	t.Parallel()
	s := newSite(t)
	path := filepath.Join(t.TempDir(), "arm.db")
	n, err := local.Open(t.Context(), path, local.Options{})
	if err != nil {
		t.Fatal(err)
	}
	p := &fleet.Peer{URL: s.url, Robot: "arm", Replica: "0190a000-0000-7000-8000-00000000abcd"}
	if err := errors.Join(p.Save(n), n.Close()); err != nil {
		t.Fatal(err)
	}
	kills, facts := rounds.Of(10, 100), 0
	rng := rand.New(rand.NewPCG(1, 9))
	start := func() *exec.Cmd {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), killedVariable+"="+path)
		cmd.Stderr = os.Stderr
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		return cmd
	}
	between := 0
	for k := range kills {
		n, err := local.Open(t.Context(), path, local.Options{})
		if err != nil {
			t.Fatal(err)
		}
		req := &robotmem.LearnBatchRequest{KeepDuplicates: true}
		for range 60 {
			facts++
			req.Items = append(req.Items, robotmem.LearnRequest{Insight: fmt.Sprintf("fact %d of the killed robot", facts)})
		}
		if _, err := n.LearnBatch(t.Context(), req); err != nil {
			t.Fatal(err)
		}
		if id := int64(1 + rng.IntN(facts)); k%3 == 0 {
			_, err := n.Update(t.Context(), &robotmem.UpdateRequest{MemoryID: id, NewContent: fmt.Sprintf("fact %d of the killed robot", id), Context: robotmem.Object{"again": k}})
			if err != nil {
				t.Fatal(err)
			}
		}
		if err := n.Close(); err != nil {
			t.Fatal(err)
		}
		child := start()
		time.Sleep(time.Duration(rng.IntN(300)) * time.Millisecond)
		_ = child.Process.Kill()
		_ = child.Wait()
		if there := len(texts(t, s.Node)); there > 0 && there < facts {
			between++
		}
	}
	if err := start().Wait(); err != nil {
		t.Fatal(err)
	}
	got := texts(t, s.Node)
	for i := 1; i <= facts; i++ {
		if n := got[fmt.Sprintf("fact %d of the killed robot", i)]; n != 1 {
			t.Errorf("fact %d is there %d times", i, n)
		}
	}
	t.Logf("%d kills, %d facts; after %d of them a part had arrived", kills, len(got), between)
}
