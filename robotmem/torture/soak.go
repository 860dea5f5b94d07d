package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// The soak asks two nodes over HTTP, one that is open and one with tokens, and
// one over stdio that shares the first one's file. What is asked is made from
// the description that the nodes give of themselves: valid requests, requests
// at the bounds of what is allowed, and broken ones, beside JSON-RPC of both
// eras and connections that do not behave. A fault is a request that was
// refused: it reached the node, and the node said why.

const (
	soakAskers = 2 // goroutines that ask one node
	// What a node at rest may have more of than after the first third of the
	// soak: connections to the file are opened when they are first needed, and
	// what it has learnt since is in the memory of its indexes.
	moreGoroutines, moreFiles = 10, 10
	moreMemory                = 96 << 20 // bytes, and a quarter of what it had
	restTime                  = 3 * time.Second
	soakPatience              = time.Minute // for one answer, with every other under way
	// One answer in so many may say that the node is busy.
	busyShare = 100
)

// soaker is what all that ask share.
type soaker struct {
	*rig
	api *api

	mu       sync.Mutex // guards what follows
	requests map[string]int
	codes    map[int]int
	busy     int // answers and ends of streams that are a 503
}

func soak(ctx context.Context, r *rig) error {
	s := &soaker{rig: r, requests: map[string]int{}, codes: map[int]int{}}
	open, err := startNode(ctx, r, "open", false)
	if err != nil {
		return err
	}
	defer open.kill()
	guarded, err := startNode(ctx, r, "guarded", true)
	if err != nil {
		return err
	}
	defer guarded.kill()
	nodes := []*node{open, guarded}
	if s.api, err = readAPI(ctx, open); err != nil {
		return err
	}
	pipe, err := startPipe(ctx, s, open)
	if err != nil {
		return err
	}
	defer pipe.kill()

	s.ask(ctx, r.time/3, nodes, pipe)
	first := s.rest(ctx, nodes, pipe)
	s.ask(ctx, r.time-r.time/3, nodes, pipe)
	if err := ctx.Err(); err != nil {
		return err
	}
	measured := s.grown(first, s.rest(ctx, nodes, pipe))
	pipe.settle()
	for _, n := range nodes {
		s.remembered(ctx, n)
	}
	for _, p := range []*process{open.process, guarded.process, pipe.process} {
		if err := p.stop(); err != nil {
			r.broken("%s did not end as it should: %v", p.name, err)
		}
		for _, line := range p.panics() {
			r.broken("%s: %s", p.name, line)
		}
	}
	s.tell()
	return measured
}

// ask asks all nodes for a time, and returns when every answer is there.
func (s *soaker) ask(ctx context.Context, d time.Duration, nodes []*node, pipe *pipe) {
	ending, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	var askers sync.WaitGroup
	start := func(n *node, do func(*asker, context.Context)) {
		a := &asker{soaker: s, node: n, rand: rand.New(rand.NewPCG(s.rand.Uint64(), s.rand.Uint64()))}
		askers.Go(func() {
			for ending.Err() == nil {
				do(a, ctx) // a request that was begun is not cut off
			}
		})
	}
	for _, n := range nodes {
		for range soakAskers {
			start(n, (*asker).request)
		}
		start(n, (*asker).rpc)
		start(n, (*asker).misbehave)
	}
	start(nodes[0], func(a *asker, _ context.Context) { pipe.send(a) })
	askers.Wait()
}

// count notes a request by what it was, and its answer.
func (s *soaker) count(class string, code int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests[class]++
	s.codes[code]++
	if code == http.StatusServiceUnavailable {
		s.busy++
	}
	if code >= http.StatusBadRequest {
		s.fault()
	}
}

// rest lets go of all connections and waits until the nodes need no less.
func (s *soaker) rest(ctx context.Context, nodes []*node, pipe *pipe) []gauges {
	out := make([]gauges, len(nodes)+1)
	var resting sync.WaitGroup
	for i, n := range nodes {
		resting.Go(func() { out[i] = n.atRest(ctx, min(restTime, s.time/10)) })
	}
	resting.Wait()
	out[len(nodes)] = pipe.gauges()
	return out
}

// grown compares a node at rest with what it needed early in the soak. It fails
// if that could not be read: nothing is less than anything.
func (s *soaker) grown(first, last []gauges) (err error) {
	for i, name := range []string{"open", "guarded", "stdio"} {
		a, b := first[i], last[i]
		goroutines := "not measured" // a node over stdio has no page of figures
		if overHTTP := name != "stdio"; overHTTP {
			goroutines = fmt.Sprintf("%d then %d", a.goroutines, b.goroutines)
			if a.goroutines == 0 || b.goroutines == 0 {
				err = errors.Join(err, fmt.Errorf("the goroutines of %s could not be read", name))
			}
		}
		if a.files == 0 || b.files == 0 || a.memory == 0 || b.memory == 0 {
			err = errors.Join(err, fmt.Errorf("the files and the memory of %s could not be read", name))
		}
		s.note("%s: goroutines %s, files %d then %d, memory %d MiB then %d MiB", name, goroutines, a.files, b.files, a.memory>>20, b.memory>>20)
		if b.goroutines > a.goroutines+moreGoroutines {
			s.broken("%s has %d goroutines at rest, and had %d", name, b.goroutines, a.goroutines)
		}
		if b.files > a.files+moreFiles {
			s.broken("%s has %d files open at rest, and had %d", name, b.files, a.files)
		}
		if b.memory > a.memory+a.memory/4+moreMemory {
			s.broken("%s takes %d MiB at rest, and took %d", name, b.memory>>20, a.memory>>20)
		}
	}
	return err
}

// remembered asks for every fact that the node has acknowledged, and for a
// check-up.
func (s *soaker) remembered(ctx context.Context, n *node) {
	var doctor struct {
		Healthy bool
		Checks  []struct{ Name, Status, Detail string }
	}
	if err := n.get(ctx, "/api/doctor?deep=true", &doctor); err != nil {
		s.broken("%s: doctor: %v", n.name, err)
	} else if !doctor.Healthy {
		s.broken("%s is not healthy: %+v", n.name, doctor.Checks)
	}
	facts := n.texts()
	s.acknowledged(len(facts))
	for _, id := range slices.Sorted(maps.Keys(facts)) {
		var memory struct{ Content string }
		switch err := n.get(ctx, fmt.Sprintf("/api/memory/%d", id), &memory); {
		case err != nil && n.mayBeGone(id) && strings.Contains(err.Error(), fmt.Sprintf("memory %d was purged", id)):
			// as it was asked for
		case err != nil:
			s.lost("%s: memory %d: %v", n.name, id, err)
		case !slices.Contains(facts[id], memory.Content):
			s.lost("%s: memory %d says %.80q, and was told %.80q", n.name, id, memory.Content, facts[id])
		}
	}
}

// tell notes what was asked and answered. A node may be busy, but not as a rule.
func (s *soaker) tell() {
	s.mu.Lock()
	defer s.mu.Unlock()
	answers := 0
	for code, n := range s.codes {
		if code > 0 {
			answers += n
		}
	}
	s.note("503, busy: %d of %d answers", s.busy, answers)
	if s.busy*busyShare > answers {
		s.broken("%d of %d answers were 503: more than one in %d", s.busy, answers, busyShare)
	}
	var parts []string
	for _, class := range slices.Sorted(maps.Keys(s.requests)) {
		parts = append(parts, fmt.Sprintf("%d %s", s.requests[class], class))
	}
	s.note("requests: %s", strings.Join(parts, ", "))
	parts = nil
	for _, code := range slices.Sorted(maps.Keys(s.codes)) {
		parts = append(parts, fmt.Sprintf("%d× %d", s.codes[code], code))
	}
	s.note("answers: %s", strings.Join(parts, ", "))
}

// asker makes one request after the other.
type asker struct {
	*soaker
	node *node
	rand *rand.Rand
}

// one picks from a list.
func one[T any](r *rand.Rand, of ...T) T { return of[r.IntN(len(of))] }

// hung reports whether a call ended for the want of an answer.
func hung(err error) bool { return errors.Is(err, context.DeadlineExceeded) }
